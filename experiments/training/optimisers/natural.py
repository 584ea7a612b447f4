"""Natural gradient."""

from experiments.training.optimisers._natural import SOLVED, Natural, of_model, solver_keywords
from experiments.training.settings import Knobs, Setting
from hopfield.optim import natural_gradient

OWN = SOLVED | {"damping_rule": "fixed"}


def make(setting: Setting, knobs: Knobs) -> Natural:
    """The optimiser of a model."""
    return of_model(natural_gradient, knobs, adaptive=setting.damping_rule == "reduction", **solver_keywords(setting))
