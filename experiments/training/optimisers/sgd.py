"""Stochastic gradient descent with momentum."""

import optax

from experiments.training.settings import Knobs, Setting

OWN = {"learning_rate": (3e-2,), "momentum": 0.9}


def make(setting: Setting, knobs: Knobs) -> optax.GradientTransformation:
    """The transform."""
    return optax.sgd(knobs.learning_rate, momentum=setting.momentum)
