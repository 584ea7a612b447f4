"""Natural gradient with the diagonal of the Fisher matrix."""

from experiments.training.optimisers._natural import AVERAGED, Natural, of_model
from experiments.training.settings import Knobs, Setting
from hopfield.optim import diagonal_fisher

OWN = AVERAGED


def make(setting: Setting, knobs: Knobs) -> Natural:
    """The optimiser of a model."""
    return of_model(diagonal_fisher, knobs, adaptive=setting.damping_rule == "reduction")
