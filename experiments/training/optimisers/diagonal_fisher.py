"""Natural gradient with the diagonal of the Fisher matrix."""

import optax

from experiments.training.optimisers._natural import AVERAGED, shared_keywords
from experiments.training.settings import Knobs, Setting
from hopfield.optim import diagonal_fisher

OWN = AVERAGED


def make(setting: Setting, knobs: Knobs) -> optax.GradientTransformation:
    """The transform."""
    return diagonal_fisher(knobs.learning_rate, **shared_keywords(knobs, adaptive=setting.damping_rule == "reduction"))
