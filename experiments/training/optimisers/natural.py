"""Natural gradient."""

import optax

from experiments.training.optimisers._natural import SOLVED, shared_keywords, solver_keywords
from experiments.training.settings import Knobs, Setting
from hopfield.optim import natural_gradient

OWN = SOLVED | {"damping_rule": "fixed"}


def make(setting: Setting, knobs: Knobs) -> optax.GradientTransformation:
    """The transform."""
    return natural_gradient(
        knobs.learning_rate,
        **shared_keywords(knobs, adaptive=setting.damping_rule == "reduction"),
        **solver_keywords(setting),
    )
