"""Natural gradient with the damping of Levenberg and Marquardt."""

from experiments.training.optimisers._natural import SOLVED, Natural, of_model, solver_keywords
from experiments.training.settings import Knobs, Setting
from hopfield.optim import natural_gradient

OWN = SOLVED


def make(setting: Setting, knobs: Knobs) -> Natural:
    """The optimiser of a model."""
    return of_model(natural_gradient, knobs, adaptive=True, **solver_keywords(setting))
