"""The hand derivations of `gradients` against automatic differentiation of attention, and against finite differences.

Finite differences are taken of a second attention, written here in numpy and in double precision, so that they are a
judge of their own: neither JAX nor the library's maps take part in them.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from hopfield._numerics import real_array, tolerance
from hopfield.attention import core
from hopfield.attention._arguments import allowed, inverse_temperature
from hopfield.attention.gradients import attention_gradients
from hopfield.metrics import Block, Diagonal, Full, LowRank, Metric, Projected, Scaled, as_metric
from hopfield.separations import Entmax, Exponential, LogSumExp, Normmax, Separation, SoftmaxOne, Sparsemax, TopK

Rows = Float[Array, "*axes"]
STEPS = (1e-4, 1e-5)
"""Steps of the finite differences along a direction of length 1, the shorter one only where a kink is within reach."""
DIFFERENCE_TOLERANCE = 1e-9
"""What finite differences in double precision can tell apart, above their rounding at the shorter step."""


class Check(NamedTuple):
    """One input's gradient by hand against the two other routes; errors relative to the gradient, or to 1 if larger."""

    input: str
    size: int
    magnitude: float
    """Largest component of the gradient."""
    autodiff: float
    """Largest difference from automatic differentiation."""
    difference: float
    """Difference from finite differences, along one random direction."""
    tolerance: float
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
    separation: Separation = LogSumExp(),  # noqa: B008, a frozen node
    bias: Array | None = None,
    mask: Any = None,
    temperature: ArrayLike | None = None,
    seed: int = 0,
) -> Verification:
    """Gradients by hand of every input against automatic differentiation and finite differences.

    Args:
        query, key, value, metric, beta, separation, bias, mask, temperature: as in `attention_gradients`.
        output_gradient: gradient of the output; drawn from `seed` if None.
        seed: of the output's gradient and of the directions of the finite differences.

    Returns:
        One check per input and per parameter of the metric. A gradient agrees if it is within 1000 units in the last
        place of automatic differentiation, and within those or 1e-9 of finite differences, whichever is larger.
        Sparse weights have kinks where a key enters or leaves the support: finite differences step short of them, and
        differ only for inputs within 2e-5 of one.
    """
    rng = np.random.default_rng(seed)
    query, key, value = (real_array(name, x) for name, x in (("query", query), ("key", key), ("value", value)))
    mask = allowed(mask, query.shape[-2], key.shape[-2], max(query.ndim, key.ndim, value.ndim))
    inputs = _inputs(query, key, value, as_metric(metric), beta, bias, temperature)

    found, pull_back = jax.vjp(partial(_attended, separation=separation, mask=mask), inputs)
    if output_gradient is None:
        output_gradient = jnp.asarray(rng.normal(size=found.shape), found.dtype)
    options = {name: inputs[name] for name in ("metric", "beta", "bias", "temperature")}
    hand = attention_gradients(query, key, value, output_gradient, separation=separation, mask=mask, **options)
    routes = _named(hand._asdict()), _named(pull_back(output_gradient)[0])
    differences = _differences(inputs, np.asarray(output_gradient, float), separation, mask, rng, routes[0])
    return _verified(*routes, differences, found.dtype)


def _verified(hand: dict, automatic: dict, differences: dict[str, float], dtype) -> Verification:
    limit = 10 * tolerance(dtype)
    checks = tuple(_check(name, hand[name], automatic[name], differences[name], limit) for name in automatic)
    return Verification(checks, str(dtype), all(check.passed for check in checks))


def _attended(given: dict[str, Any], separation: Separation, mask: Array | None) -> Array:
    scores = core.scores(given["query"], given["key"], metric=given["metric"], beta=given["beta"], bias=given["bias"])
    p = core.weights(scores, separation=separation, mask=mask, temperature=given["temperature"])
    return core.read(p, given["value"])


def _inputs(query, key, value, metric, beta, bias, temperature) -> dict[str, Any]:
    """Every input, those left out by their defaults, so that there is a gradient of each."""
    scale = inverse_temperature(beta, query)
    if bias is None:
        leading = np.broadcast_shapes(query.shape[:-2], key.shape[:-2])
        bias = jnp.zeros((*leading, query.shape[-2], key.shape[-2]), query.dtype)
    heat = jnp.asarray(1.0 if temperature is None else temperature, query.dtype)
    given = {"query": query, "key": key, "value": value, "metric": metric}
    return given | {"beta": scale.astype(query.dtype), "bias": real_array("bias", bias), "temperature": heat}


def _named(tree: Any) -> dict[str, np.ndarray]:
    """Leaves by their path, "query" or "metric.factor", in double precision."""
    leaves = jax.tree_util.tree_flatten_with_path(tree)[0]
    return {jax.tree_util.keystr(path, simple=True, separator="."): np.asarray(leaf, float) for path, leaf in leaves}


def _check(name: str, hand: np.ndarray, automatic: np.ndarray, difference: float, limit: float) -> Check:
    largest = float(np.max(np.abs(automatic), initial=0.0))
    error = float(np.max(np.abs(hand - automatic), initial=0.0)) / max(1.0, largest)
    passed = error <= limit and difference <= max(limit, DIFFERENCE_TOLERANCE)  # NaN fails
    return Check(name, hand.size, largest, error, difference, limit, passed)


def _differences(inputs, output_gradient, separation, mask, rng, hand: dict[str, np.ndarray]) -> dict[str, float]:
    """Error of each gradient along a random direction d, against central differences of fourth order of the loss."""
    leaves, structure = jax.tree.flatten(jax.tree.map(lambda leaf: np.asarray(leaf, float), inputs))
    shape = (inputs["query"].shape[-2], inputs["key"].shape[-2])
    mask = np.ones(shape, bool) if mask is None else np.asarray(mask)

    def loss(place, moved):
        given = jax.tree.unflatten(structure, [*leaves[:place], moved, *leaves[place + 1 :]])
        output, p = _output(given, separation, mask)
        return float(np.sum(output * output_gradient)), p > 0

    errors = {}
    for place, (name, leaf) in enumerate(_named(inputs).items()):
        d = rng.normal(size=leaf.shape)
        d = d / max(float(np.sqrt(np.sum(d * d))), 1e-300)
        slope = _slope(lambda t, place=place, leaf=leaf, d=d: loss(place, leaf + t * d))
        largest = float(np.max(np.abs(hand[name]), initial=0.0))
        errors[name] = abs(float(np.sum(hand[name] * d)) - slope) / max(1.0, largest)
    return errors


def _slope(along: Callable[[float], tuple[float, np.ndarray]]) -> float:
    """Derivative at 0 of a function that also tells which keys are read: those must not change within the stencil."""
    slope = np.nan
    for step in STEPS:
        at = {k: along(k * step) for k in (-2, -1, 1, 2)}
        slope = (8 * (at[1][0] - at[-1][0]) - (at[2][0] - at[-2][0])) / (12 * step)
        if all(np.array_equal(support, at[1][1]) for _, support in at.values()):
            break
    return slope


def _output(given: dict[str, Any], separation: Separation, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Attention in numpy, and its weights."""
    raw = _form(given["metric"], given["query"], given["key"])
    scores = given["beta"][..., None, None] * raw + given["bias"]
    z = scores / given["temperature"][..., None, None]
    p = _weights(z, separation, np.broadcast_to(mask, np.broadcast_shapes(z.shape, mask.shape)))
    return p @ given["value"], p


def _form(metric: Any, x: np.ndarray, y: np.ndarray) -> Any:
    """x g y in numpy."""
    match metric:
        case Scaled(scale=scale):
            return scale[..., None, None] * (x @ np.swapaxes(y, -1, -2))
        case Diagonal(entries=entries):
            return (x * entries[..., None, :]) @ np.swapaxes(y, -1, -2)
        case Full(matrix=matrix):
            return x @ matrix @ np.swapaxes(y, -1, -2)
        case LowRank(factor=factor):
            return x @ (np.swapaxes(factor, -1, -2) @ factor) @ np.swapaxes(y, -1, -2)
        case Projected(w_query=wq, w_key=wk, b_query=bq, b_key=bk):
            left = x @ wq + (0.0 if bq is None else bq[..., None, :])
            right = y @ wk + (0.0 if bk is None else bk[..., None, :])
            return left @ np.swapaxes(right, -1, -2)
        case Block(metrics=metrics):
            ends = np.cumsum([(0, 0), *(part.widths for part in metrics)], axis=0)
            pairs = zip(ends[:-1], ends[1:], metrics, strict=True)
            forms = [_form(part, x[..., a[0] : b[0]], y[..., a[1] : b[1]]) for a, b, part in pairs]
            return np.sum(np.broadcast_arrays(*forms), axis=0)
    return x @ np.swapaxes(y, -1, -2)


def _weights(z: np.ndarray, separation: Separation, mask: np.ndarray) -> np.ndarray:
    """Weights of rows in numpy; rows with nothing to read are zero."""
    z = np.where(mask, z, -np.inf)
    top = np.max(z, axis=-1, keepdims=True)
    z = z - np.where(np.isfinite(top), top, 0.0)
    match separation:
        case Entmax(alpha=alpha):
            a = float(alpha)
            w = _powers(_threshold((a - 1) * z, 1 / (a - 1)), 1 / (a - 1))
        case Sparsemax():
            w = _threshold(z, 1.0)
        case Normmax(alpha=alpha):
            a = float(alpha)
            w = _powers(_threshold(z, a / (a - 1)), 1 / (a - 1))
        case TopK(count=k):
            w = np.where(z >= np.sort(z, axis=-1)[..., -min(int(k), z.shape[-1]), None], np.exp(z), 0.0)
        case Exponential():
            return np.exp(z + np.where(np.isfinite(top), top, 0.0))
        case _:
            w = np.exp(z)
    total = np.sum(w, axis=-1, keepdims=True)
    if isinstance(separation, SoftmaxOne):
        total = total + np.exp(-np.where(np.isfinite(top), top, 0.0))
    return w / np.where(total > 0, total, 1.0)


def _powers(u: np.ndarray, exponent: float) -> np.ndarray:
    return np.where(u > 0, np.where(u > 0, u, 1.0) ** exponent, 0.0)


def _threshold(z: np.ndarray, exponent: float) -> np.ndarray:
    """[z − τ]₊ with τ in [−1, 0] such that Σ [z − τ]₊^exponent = 1, for rows whose largest entry is 0."""
    low, high = np.full((*z.shape[:-1], 1), -1.0), np.zeros((*z.shape[:-1], 1))
    for _ in range(60):
        middle = 0.5 * (low + high)
        below = np.sum(_powers(z - middle, exponent), axis=-1, keepdims=True) < 1
        low, high = np.where(below, low, middle), np.where(below, middle, high)
    return np.maximum(z - 0.5 * (low + high), 0.0)
