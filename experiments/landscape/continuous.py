"""Minima that starts in continuous memories end in, in double precision, certified by slope and Hessian.

modern         E = ½‖x‖² − β⁻¹ ln Σ e^{β ξ·x}
epanechnikov   E = −β⁻¹ ln Σ [1 − β‖x−ξ‖²/2]₊
"""

from collections.abc import Iterator

import numpy as np
from scipy.special import softmax

from experiments.contract import Row
from experiments.landscape.config import KINDS, LARGEST, RETRIEVED

Float = np.ndarray
STEPS = 2000
SLOPE = 1e-8
"""Largest slope of a certified minimum, with a Hessian whose smallest eigenvalue is above 0."""


def rows(seed: int, draw: dict, starts: list[int]) -> Iterator[Row]:
    """Ends of every start of a draw. Patterns have norm √N, and a start lies between three of them.

    Args:
        seed: of the experiment.
        draw: memory, neurons, patterns, temperature and number of the draw.
        starts: numbers of the starts.
    """
    neurons, count, temperature = draw["neurons"], draw["patterns"], draw["temperature"]
    beta = 1.0 / temperature if draw["memory"] == "modern" else 2.0 / (neurons * temperature)
    drawn = np.random.default_rng([seed, neurons, count, draw["sample"]])
    patterns = drawn.normal(size=(count, neurons))
    patterns *= np.sqrt(neurons) / np.linalg.norm(patterns, axis=1, keepdims=True)
    for start in starts:
        own = np.random.default_rng([seed, neurons, count, draw["sample"], start])
        x = own.dirichlet(np.ones(3)) @ patterns[own.permutation(count)[:3]]
        for _ in range(STEPS):
            weights = shares(draw["memory"], beta, patterns, x)
            new = weights @ patterns if weights.any() else x
            still, x = np.linalg.norm(new - x) < 1e-12 * np.sqrt(neurons), new
            if still:
                break
        yield draw | {"start": start} | _certificate(draw["memory"], beta, patterns, x)


def shares(memory: str, beta: float, patterns: Float, x: Float) -> Float:
    """Weights of the patterns in a state, which sum to 1. All are zero if no pattern is within reach."""
    if memory == "modern":
        return softmax(beta * (patterns @ x))
    weights = (beta * np.sum((patterns - x) ** 2, axis=1) < 2).astype(np.float64)
    return weights / max(weights.sum(), 1e-300)


def _certificate(memory: str, beta: float, patterns: Float, x: Float) -> dict:
    """Kind, energy per neuron, slope and smallest eigenvalue of the Hessian of a state."""
    neurons = patterns.shape[1]
    weights = shares(memory, beta, patterns, x)
    mean = weights @ patterns
    if memory == "modern":
        scores = beta * (patterns @ x)
        energy = 0.5 * x @ x - (np.log(np.sum(np.exp(scores - scores.max()))) + scores.max()) / beta
        centred = (patterns - mean) * np.sqrt(weights)[:, None]
        least, slope = 1 - beta * np.linalg.norm(centred, 2) ** 2, np.linalg.norm(x - mean)
    else:
        inside = np.maximum(1 - 0.5 * beta * np.sum((patterns - x) ** 2, axis=1), 0)
        mass, reached = inside.sum(), int((inside > 0).sum())
        energy = -np.log(mass) / beta if mass > 0 else np.inf
        slope = reached * np.linalg.norm(x - mean) / mass if mass > 0 else np.inf
        least = reached / mass if mass > 0 else 0.0
    return {
        "kind": _kind(np.sort(weights)[::-1]),
        "overlap": float(np.max(patterns @ x) / neurons),
        "energy": float(energy / neurons) if np.isfinite(energy) else None,
        "stability": float(least),
        "gradient": float(slope) if np.isfinite(slope) else None,
        "settled": int(slope < SLOPE and least > 0),
        "mark": float(np.cos(np.arange(neurons)) @ x),
    }


def _kind(weights: Float) -> int:
    """Index in KINDS by the weights in descending order: one above 0.9, three alike, at most five, or more."""
    if weights[0] > RETRIEVED:
        return KINDS.index("pattern")
    if weights[2] > 0.5 * weights[0] and weights[:3].sum() > RETRIEVED:
        return KINDS.index("mixture")
    return KINDS.index("asymmetric" if weights[:LARGEST].sum() > RETRIEVED else "glassy")
