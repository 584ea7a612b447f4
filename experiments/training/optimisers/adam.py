"""Adam."""

import optax

from experiments.training.settings import Knobs, Setting

OWN = {"learning_rate": (3e-3,)}


def make(setting: Setting, knobs: Knobs) -> optax.GradientTransformation:
    """The transform."""
    return optax.adam(knobs.learning_rate)
