"""Options that natural gradients share."""

from collections.abc import Callable
from typing import Any

from experiments.training.settings import Knobs, Setting
from hopfield.optim import NaturalOptimiser

Natural = Callable[[Callable], NaturalOptimiser]
BOUNDED: dict[str, Any] = {"damping": (0.1,), "trust_radius": 0.3}
# Of approximate forms nearly all steps end at the trust radius at 0.1 and beyond: higher rates do the same again.
AVERAGED = BOUNDED | {"learning_rate": (0.03, 0.1), "damping_rule": "fixed"}
SOLVED = BOUNDED | {"learning_rate": (0.1, 0.3, 1.0), "solver": "auto", "momentum": 0.0}


def of_model(factory: Callable, knobs: Knobs, *, adaptive: bool, **more: Any) -> Natural:
    """The optimiser of a model: longest step, and damping, adapted to the fall of the loss or not."""
    damping = {"damping": "lm", "initial_damping": knobs.damping} if adaptive else {"damping": knobs.damping}
    options = damping | {"trust_radius": knobs.trust_radius} | more
    return lambda model: factory(model, "categorical", knobs.learning_rate, **options)


def solver_keywords(setting: Setting) -> dict[str, Any]:
    """Keywords of the forms that solve for their step."""
    return {"solver": setting.solver, "momentum": setting.momentum, "max_iterations": 20}
