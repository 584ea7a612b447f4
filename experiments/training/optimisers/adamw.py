"""Adam with decoupled weight decay."""

import optax

from experiments.training.settings import Knobs, Setting

OWN = {"learning_rate": (2e-3,), "weight_decay": (1e-2,)}


def make(setting: Setting, knobs: Knobs) -> optax.GradientTransformation:
    """The transform."""
    return optax.adamw(knobs.learning_rate, weight_decay=knobs.weight_decay)
