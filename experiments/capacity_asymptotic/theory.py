"""Theory of both thresholds of the exponential memory, for N → ∞ and at a finite size."""

from typing import cast

import numpy as np
from scipy.optimize import brentq

from hopfield.theory import exponential


def thresholds(beta: float, corruption: float) -> dict[str, float]:
    """Both loads for N → ∞."""
    return {
        "weight": float(exponential.target_weight_load(beta, corruption)),
        "spin": float(exponential.one_step_load(beta, corruption)),
    }


def spin_load(neurons: int, beta: float, corruption: float, near: float) -> float | None:
    """Load at which the exact one-step error is a quarter. None where that takes too long or does not happen."""

    def excess(load: float) -> float:
        num_patterns = float(round(np.exp(load * neurons)))
        return float(exponential.one_step_error(neurons, num_patterns, beta, corruption)) - 0.25

    low, high = near - 0.02, near + 0.08
    if neurons > 200 or low * neurons < 1 or excess(low) > 0 or excess(high) < 0:
        return None
    return float(cast(float, brentq(excess, low, high, xtol=1e-5)))
