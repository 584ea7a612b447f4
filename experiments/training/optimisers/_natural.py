"""Options that natural gradients share."""

from typing import Any

from experiments.training.settings import Knobs, Setting

BOUNDED: dict[str, Any] = {"damping": (0.1,), "trust_radius": 0.3}
# Of approximate forms nearly all steps end at the trust radius at 0.1 and beyond: higher rates do the same again.
AVERAGED = BOUNDED | {"learning_rate": (0.03, 0.1), "damping_rule": "fixed"}
SOLVED = BOUNDED | {"learning_rate": (0.1, 0.3, 1.0), "solver": "auto", "momentum": 0.0}


def shared_keywords(knobs: Knobs, *, adaptive: bool) -> dict[str, Any]:
    """Keywords of every form: likelihood, longest step, and damping, adapted to the fall of the loss or not."""
    shared: dict[str, Any] = {"likelihood": "categorical", "trust_radius": knobs.trust_radius}
    damping = {"damping": "lm", "initial_damping": knobs.damping} if adaptive else {"damping": knobs.damping}
    return shared | damping


def solver_keywords(setting: Setting) -> dict[str, Any]:
    """Keywords of the forms that solve for their step."""
    return {"solver": setting.solver, "momentum": setting.momentum, "max_iterations": 20}
