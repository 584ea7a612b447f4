"""Natural gradient with Kronecker factors."""

from experiments.training.optimisers._natural import AVERAGED, Natural, of_model
from experiments.training.settings import Knobs, Setting
from hopfield.optim import kronecker_natural_gradient

OWN = AVERAGED


def make(setting: Setting, knobs: Knobs) -> Natural:
    """The optimiser of a model."""
    return of_model(kronecker_natural_gradient, knobs, adaptive=setting.damping_rule == "reduction")
