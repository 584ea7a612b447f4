"""The hand derivations of `gradients` against automatic differentiation of attention, and against finite differences.

Finite differences are taken of a second attention, in numpy (`_in_numpy`), so that they are a judge of their own:
neither JAX nor the library's maps take part in them, but for the potential of a separation that numpy does not know.
"""

import math
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from hopfield._arguments import real_array, real_rows
from hopfield._numerics import tolerance
from hopfield.attention import core
from hopfield.attention._arguments import inverse_temperature
from hopfield.attention._in_numpy import output_and_weights, rounding
from hopfield.attention.gradients import attention_gradients
from hopfield.attention.mask_views import allowed
from hopfield.metrics import Metric, as_metric
from hopfield.separations import LogSumExp, Separation, as_separation

Rows = Float[Array, "*axes"]
STEPS = (1e-4, 1e-5)
"""Steps of the finite differences along a direction of length 1, the shorter one only where a kink is within reach."""
ROUGH_STEPS = (3e-2, 3e-3)
"""Steps where weights are known in single precision only."""


class Agreement(NamedTuple):
    """Limits within which gradients agree. Errors are relative to the gradient, or to 1 if that is larger.

    Example:
        >>> from hopfield import attention
        >>> x = jnp.eye(2)
        >>> attention.verify_gradients(x, x, x, agreement=attention.Agreement(components=True)).passed
        True
    """

    autodiff: float | None = None
    """Largest difference from automatic differentiation; 1000 units in the last place if None."""
    difference: float = 1e-9
    """Largest difference from finite differences, or `autodiff` if that is larger: what double precision can tell."""
    components: bool = False
    """True for a finite difference of every component, False for one along a random direction."""


class Check(NamedTuple):
    """One input's gradient by hand against two other routes. Errors are relative to the gradient, or to 1 if larger."""

    input: str
    size: int
    magnitude: float
    """Largest component of the gradient."""
    autodiff: float
    """Largest difference from automatic differentiation."""
    difference: float
    """Difference from finite differences, along one random direction, or the largest of all components."""
    tolerance: float
    """Largest `autodiff` that passes."""
    difference_tolerance: float
    """Largest `difference` that passes."""
    passed: bool


class Verification(NamedTuple):
    """All inputs of one attention, and whether every gradient agrees with both routes."""

    checks: tuple[Check, ...]
    dtype: str
    passed: bool

    def table(self) -> list[dict]:
        """One dict per input."""
        return [check._asdict() for check in self.checks]

    def __str__(self) -> str:
        head = f"{'input':<18}{'size':>6}{'largest':>11}{'autodiff':>11}{'difference':>12}  verdict"
        lines = [
            f"{c.input:<18}{c.size:>6}{c.magnitude:>11.2e}{c.autodiff:>11.1e}{c.difference:>12.1e}  "
            f"{'agrees' if c.passed else 'differs'}"
            for c in self.checks
        ]
        verdict = f"{sum(c.passed for c in self.checks)} of {len(self.checks)} gradients agree in {self.dtype}"
        return "\n".join([head, *lines, verdict])


def verify_gradients(
    query: Rows,
    key: Rows,
    value: Rows,
    output_gradient: Rows | None = None,
    *,
    metric: Metric | ArrayLike | None = None,
    beta: ArrayLike | None = None,
    separation: Separation | str = LogSumExp(),
    bias: Array | None = None,
    mask: Any = None,
    temperature: ArrayLike | None = None,
    agreement: Agreement = Agreement(),
    seed: int = 0,
) -> Verification:
    """Gradients by hand of every input against automatic differentiation and finite differences.

    Args:
        query, key, value, metric, beta, separation, bias, mask, temperature: as in `attention_gradients`.
        agreement: how close gradients must come, and how finite differences are taken.
        output_gradient: gradient of the output; drawn from `seed` if None.
        seed: of the output's gradient and of the directions of the finite differences.

    Returns:
        One check per input and per parameter of the metric. Any separation with a Jacobian by hand is
        checked; finite differences of a user-defined one use its potential.
        Sparse weights have kinks where a key enters or leaves the support: finite differences step short of them, and
        differ only for inputs within 2e-5 of one.
    """
    rng, separation = np.random.default_rng(seed), as_separation(separation)
    query, key, value = (real_rows(name, x, 2) for name, x in (("query", query), ("key", key), ("value", value)))
    mask = allowed(mask, query.shape[-2], key.shape[-2], max(query.ndim, key.ndim, value.ndim))
    inputs = _inputs(query, key, value, as_metric(metric), beta, bias, temperature)

    output, pull_back = jax.vjp(partial(_read_out, separation=separation, mask=mask), inputs)
    if output_gradient is None:
        output_gradient = jnp.asarray(rng.normal(size=output.shape), output.dtype)
    options = {name: inputs[name] for name in ("metric", "beta", "bias", "temperature")}
    hand = attention_gradients(query, key, value, output_gradient, separation=separation, mask=mask, **options)
    routes = _leaves_by_path(hand._asdict()), _leaves_by_path(pull_back(output_gradient)[0])
    drawing = None if agreement.components else rng
    differences = _differences(inputs, np.asarray(output_gradient, float), separation, mask, drawing, routes[0])
    return _compare(*routes, differences, agreement, output.dtype)


def _compare(hand: dict, automatic: dict, differences: dict[str, float], agreement: Agreement, dtype) -> Verification:
    limit = 10 * tolerance(dtype) if agreement.autodiff is None else agreement.autodiff
    limits = limit, max(limit, agreement.difference)
    checks = tuple(_check(name, hand[name], automatic[name], differences[name], limits) for name in automatic)
    return Verification(checks, str(dtype), all(check.passed for check in checks))


def _read_out(inputs: dict[str, Any], separation: Separation, mask: Array | None) -> Array:
    scores = core.scores(
        inputs["query"], inputs["key"], metric=inputs["metric"], beta=inputs["beta"], bias=inputs["bias"]
    )
    p = core.weights(scores, separation=separation, mask=mask, temperature=inputs["temperature"])
    return core.read(p, inputs["value"])


def _inputs(query, key, value, metric, beta, bias, temperature) -> dict[str, Any]:
    """All inputs of attention by name; omitted ones have their defaults, so that each has a gradient."""
    scale = inverse_temperature(beta, query)
    if bias is None:
        leading = np.broadcast_shapes(query.shape[:-2], key.shape[:-2])
        bias = jnp.zeros((*leading, query.shape[-2], key.shape[-2]), query.dtype)
    heat = jnp.asarray(1.0 if temperature is None else temperature, query.dtype)
    inputs = {"query": query, "key": key, "value": value, "metric": metric}
    return inputs | {"beta": scale.astype(query.dtype), "bias": real_array("bias", bias), "temperature": heat}


def _leaves_by_path(tree: Any) -> dict[str, np.ndarray]:
    """Leaves by their path, "query" or "metric.factor", in double precision."""
    leaves = jax.tree_util.tree_flatten_with_path(tree)[0]
    return {jax.tree_util.keystr(path, simple=True, separator="."): np.asarray(leaf, float) for path, leaf in leaves}


def _check(name: str, hand: np.ndarray, automatic: np.ndarray, difference: float, limits: tuple[float, float]) -> Check:
    largest = float(np.max(np.abs(automatic), initial=0.0))
    error = float(np.max(np.abs(hand - automatic), initial=0.0)) / max(1.0, largest)
    passed = error <= limits[0] and difference <= limits[1]  # NaN fails
    return Check(name, hand.size, largest, error, difference, *limits, passed)


def _differences(inputs, output_gradient, separation, mask, rng, hand: dict[str, np.ndarray]) -> dict[str, float]:
    """Largest error of each gradient against central differences of fourth order of the loss: along a random direction,
    or, without `rng`, along every axis.
    """
    leaves, structure = jax.tree.flatten(jax.tree.map(lambda leaf: np.asarray(leaf, float), inputs))
    shape = (inputs["query"].shape[-2], inputs["key"].shape[-2])
    mask = np.ones(shape, bool) if mask is None else np.asarray(mask)

    def loss(place, moved):
        displaced = jax.tree.unflatten(structure, [*leaves[:place], moved, *leaves[place + 1 :]])
        output, p = output_and_weights(displaced, separation, mask)
        return float(np.sum(output * output_gradient)), p > 0

    errors, steps = {}, STEPS if rounding(separation) < 1e-12 else ROUGH_STEPS
    for place, (name, leaf) in enumerate(_leaves_by_path(inputs).items()):
        apart = [0.0]
        for d in _directions(leaf.shape, rng):
            slope = _slope(lambda t, place=place, leaf=leaf, d=d: loss(place, leaf + t * d), steps)
            apart.append(abs(float(np.sum(hand[name] * d)) - slope))
        largest = float(np.max(np.abs(hand[name]), initial=0.0))
        errors[name] = float(np.max(apart)) / max(1.0, largest)  # NaN if any is
    return errors


def _directions(shape: tuple[int, ...], rng: np.random.Generator | None) -> Iterable[np.ndarray]:
    """Directions of length 1: a random one, or without `rng` all axes."""
    if rng is None:
        return (axis.reshape(shape) for axis in np.eye(math.prod(shape)))
    d = rng.normal(size=shape)
    return [d / max(float(np.sqrt(np.sum(d * d))), 1e-300)]


def _slope(along: Callable[[float], tuple[float, np.ndarray]], steps: tuple[float, ...] = STEPS) -> float:
    """Derivative at 0 of a function that also returns which keys are read. These must not change within the stencil.

    Where they do at every step, as at a kink itself, it is the derivative of the side on which they stay the same.
    """
    slope = np.nan
    for step in steps:
        at = {k: along(k * step) for k in (-2, -1, 0, 1, 2)}
        same = {k for k, (_, support) in at.items() if np.array_equal(support, at[0][1])}
        slope = (8 * (at[1][0] - at[-1][0]) - (at[2][0] - at[-2][0])) / (12 * step)
        if len(same) == len(at):
            return slope
        side = next((side for side in (1, -1) if {side, 2 * side} <= same), 0)
        if side:
            slope = side * (4 * at[side][0] - 3 * at[0][0] - at[2 * side][0]) / (2 * step)
    return slope
