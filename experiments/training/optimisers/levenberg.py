"""Natural gradient with the damping of Levenberg and Marquardt."""

import optax

from experiments.training.optimisers._natural import SOLVED, shared_keywords, solver_keywords
from experiments.training.settings import Knobs, Setting
from hopfield.optim import natural_gradient

OWN = SOLVED


def make(setting: Setting, knobs: Knobs) -> optax.GradientTransformation:
    """The transform."""
    return natural_gradient(knobs.learning_rate, **shared_keywords(knobs, adaptive=True), **solver_keywords(setting))
