"""Natural gradient with Kronecker factors."""

import optax

from experiments.training.optimisers._natural import AVERAGED, shared_keywords
from experiments.training.settings import Knobs, Setting
from hopfield.optim import kronecker_natural_gradient

OWN = AVERAGED


def make(setting: Setting, knobs: Knobs) -> optax.GradientTransformation:
    """The transform."""
    return kronecker_natural_gradient(
        knobs.learning_rate, **shared_keywords(knobs, adaptive=setting.damping_rule == "reduction")
    )
