"""Theory of a published memory from its separation alone, where its own file states none."""

from collections.abc import Callable
from functools import cache
from typing import Any, cast

import numpy as np

from hopfield import theory
from hopfield.memory import Memory
from hopfield.separations.streams import log_weight, summand
from hopfield.similarities import Dot, SquaredDistance


def derived_theory(blueprint: Any, load: Callable[[float, float], float] | None) -> "theory.derived.Derived | None":
    """Theory from the separation, of a `memories.Blueprint` of a sum over patterns of a function of their overlap."""
    model, spins = blueprint.sample, blueprint.ensemble == "spins"
    if not isinstance(model, Memory) or not isinstance(model.similarity, Dot if spins else Dot | SquaredDistance):
        return None
    if summand(model.separation, np.arange(3.0), 0.1) is None:
        return None
    squared = isinstance(model.similarity, SquaredDistance)

    @cache
    def parts(neurons: int, beta: float | None) -> "theory.derived.Parts":
        chosen = beta if blueprint.takes_beta else None
        model = cast(Memory, blueprint.build(np.ones((1, neurons), np.float32), beta=chosen))
        exact = blueprint.beta if chosen is None else chosen
        heat = float(model.beta) if exact is None else float(exact)
        return theory.derived.Parts(
            lambda scores: cast(np.ndarray, summand(model.separation, scores, heat)),
            lambda scores: log_weight(model.separation, scores, heat),
            lambda t, m: -0.5 * (1.0 + m**2) + m * t if squared else m * t,
        )

    return theory.derived.Derived(parts, blueprint.ensemble, load)
