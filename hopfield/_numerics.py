"""Floating-point ground rules shared by the library: accumulation types, tolerances, maxima, norms, medians, roots.

NaN in, NaN out: where a guard chooses between a formula and its limit, the limit's condition is the one to write down
(`mass == 0`, `p <= 0`), because NaN compares as false and is to take the formula.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial, wraps
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.ad_checkpoint import checkpoint_name
from jax.core import Tracer
from jax.typing import ArrayLike
from jaxtyping import Array, Float

EXACT_DEGREE = 33
"""The largest degree of a power whose binomial coefficients are 32-bit integers."""

KEPT = "kept"
"""Name of the sums, thresholds and results that are saved for a derivative which recomputes the scores."""


def saved_for_derivative(x: Array) -> Array:
    """x, marked as a value that is saved for a derivative which recomputes the scores."""
    return checkpoint_name(x, KEPT)


def by_its_rule(function: Callable) -> Callable:
    """A function with a derivative rule, for a call inside another rule.

    JAX forgets a rule inside a rule inside a scan, and differentiates what stands under it, unless it is a checkpoint.
    """
    return jax.checkpoint(function, prevent_cse=False)


def accumulation_dtype(dtype) -> jnp.dtype:
    """The type in which sums over patterns are accumulated: float32, or float64 where the input is float64."""
    with jax.numpy_dtype_promotion("standard"):
        return jnp.promote_types(dtype, jnp.float32)


def wide(array: Array) -> Array:
    """The array in the type in which sums over patterns are accumulated."""
    return array.astype(accumulation_dtype(array.dtype))


def tolerance(dtype) -> float:
    """Relative step below which an iterate counts as a fixed point: 100 units in the last place of `dtype`."""
    return 100.0 * float(jnp.finfo(dtype).eps)


def is_traced(*arrays) -> bool:
    """True if any leaf is a tracer, so that its values cannot be inspected."""
    return any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(arrays))


def on_host(array: Any) -> Any:
    """An array that a CPU holds as NumPy's, whose operations compile nothing; anything else as it is."""
    held = isinstance(array, jax.Array) and not is_traced(array) and array.is_fully_addressable
    if not held or jnp.issubdtype(array.dtype, jax.dtypes.extended):
        return array
    return np.asarray(array) if all(device.platform == "cpu" for device in array.devices()) else array


def violated(condition: Callable[..., Any], *arrays) -> bool:
    """True if a condition is known to fail for some entry of the arrays. It is never known for traced arrays.

    A condition of operators alone, such as `abs(x) == 1`, compiles nothing on a CPU: arrays there are NumPy's.
    """
    if is_traced(*arrays):
        return False
    with jax.ensure_compile_time_eval(), np.errstate(all="ignore"):  # what a compiled function closes over has values
        return not bool(np.all(on_host(condition(*map(on_host, arrays)))))


def nan_outside(value: Array, inside: ArrayLike) -> Array:
    """A traced number, which cannot be refused: unchanged inside its range, else NaN."""
    return jnp.where(inside, value, jnp.nan)


def carried(body: Callable, start: Any) -> Any:
    """The start of a loop's carry; within `jax.shard_map` it varies over all devices over which the body makes it vary.

    JAX demands that what goes round a loop varies alike before and after a turn, and a count of zero varies nowhere.
    """
    if not jax.sharding.get_abstract_mesh().manual_axes:
        return start
    leaves, tree = jax.tree.flatten(start)
    axes = [_varying(jax.typeof(x)) for x in leaves]
    while True:
        after = jax.make_jaxpr(body)(tree.unflatten(leaves)).out_avals
        grown = [_varying(made) - before for made, before in zip(after, axes, strict=True)]
        if not any(grown):
            return tree.unflatten(leaves)
        pairs = zip(leaves, grown, strict=True)
        leaves = [jax.lax.pcast(x, tuple(more), to="varying") if more else x for x, more in pairs]
        axes = [before | more for before, more in zip(axes, grown, strict=True)]


def _varying(kind: Any) -> frozenset:
    """Axes of a mesh along which an array of that type differs from device to device."""
    return kind.vma if hasattr(kind, "vma") else kind.manual_axis_type.varying


def while_loop(condition: Callable, body: Callable, start: Any) -> Any:
    """`jax.lax.while_loop`, within `jax.shard_map` as well."""
    return jax.lax.while_loop(condition, body, carried(body, start))


def fori_loop(lower: Any, upper: Any, body: Callable, start: Any) -> Any:
    """`jax.lax.fori_loop`, within `jax.shard_map` as well."""
    return jax.lax.fori_loop(lower, upper, body, carried(partial(body, lower), start))


def scan(body: Callable, start: Any, rows: Any = None, length: int | None = None) -> tuple[Any, Any]:
    """`jax.lax.scan` of one row or more, within `jax.shard_map` as well."""
    turn = lambda carry: body(carry, jax.tree.map(lambda x: x[0], rows))[0]
    return jax.lax.scan(body, carried(turn, start), rows, length)


def absent(like: Array) -> Array:
    """NaN of a shape and type for a number that does not exist; `jax_debug_nans` lets it pass."""
    with jax.debug_nans(False):
        return jnp.full_like(like, jnp.nan)


def lets_infinities_pass(function: Callable) -> Callable:
    """A function in which masked scores are −∞ on the way, which `jax_debug_infs` is not to take for mistakes."""

    @wraps(function)
    def inner(*arguments: Any, **named: Any) -> Any:
        with jax.debug_infs(False):
            return function(*arguments, **named)

    return inner


def positive_part(x: Array) -> Array:
    """[x]₊ with the one-sided derivative 0 at 0, where JAX's maximum has ½: an x cut off at 0 stays cut off."""
    return jnp.where(x <= 0, 0.0, x)


def largest(x: Array, axis: int | None = None, keepdims: bool = False) -> Array:
    """Maximum along an axis: −∞ if it is empty, NaN if any entry is NaN (XLA's own loses it at some shapes on CPUs)."""
    top = jnp.max(x, axis=axis, keepdims=keepdims, initial=-jnp.inf)
    return jnp.where(jnp.any(jnp.isnan(x), axis=axis, keepdims=keepdims), jnp.nan, top)


@jax.custom_batching.custom_vmap
def anywhere(flags):
    """True if any flag of a whole batch is set: one condition for all, so that `vmap` computes one branch."""
    return jnp.any(flags)


@anywhere.def_vmap
def _of_batch(size, batched, flags):
    return anywhere(flags), False


def top_k(x: Array, count: int) -> tuple[Array, Array]:
    """The largest entries along the last axis and their indices, NaN first. XLA puts a NaN of negative sign last."""
    return jax.lax.top_k(jnp.where(jnp.isnan(x), jnp.nan, x), count)


def power_of_two(size: Array) -> Array:
    """The power of two just above a size ≥ 0, 1 for zero, ∞ and NaN: dividing by it is exact.

    Limited so that its reciprocal, by which XLA may multiply instead, is a normal number, too.
    """
    kind = jnp.finfo(size.dtype)
    exponent = jax.lax.bitcast_convert_type(jax.lax.stop_gradient(size), f"uint{kind.bits}") >> kind.nmant
    power = jax.lax.bitcast_convert_type(jnp.clip(exponent + 1, 1, 2 * kind.maxexp - 3) << kind.nmant, size.dtype)
    return jnp.where((size > 0) & (size < jnp.inf), power, 1.0)


def power_scale(size: Array, degree: int) -> Array:
    """Divisor of numbers up to a size ≥ 0 before powers are taken: 2^k, or the size where (½)ⁿ vanishes."""
    return power_of_two(size) if degree <= EXACT_DEGREE else jax.lax.stop_gradient(jnp.where(size == 0, 1.0, size))


def safe_norm(x: Float[Array, "*axes"], axis: int | None = None, keepdims: bool = False) -> Float[Array, "..."]:
    """Euclidean norm at any scale, whose gradient at zero is zero instead of NaN."""
    scale = power_of_two(largest(jnp.abs(x), axis=axis, keepdims=True))
    square = jnp.sum(jnp.square(x / scale), axis=axis, keepdims=True)
    zero = square == 0
    norm = scale * jnp.where(zero, 0.0, jnp.sqrt(jnp.where(zero, 1.0, square)))
    return norm if keepdims else jnp.squeeze(norm, axis)


def unit(x: Float[Array, "*axes"], axis: int = -1) -> Float[Array, "*axes"]:
    """x / ‖x‖ along `axis`, at any scale. The zero vector stays zero."""
    x = x / power_of_two(largest(jnp.abs(x), axis=axis, keepdims=True))
    norm = safe_norm(x, axis=axis, keepdims=True)
    return x / jnp.where(norm == 0, 1.0, norm)


def along_axis(axis: int, mask: Array | None, first: Array, *more: ArrayLike) -> list[Array]:
    """Arrays in the accumulation type and shape of the first, with `axis` moved last. The mask is the second."""
    dtype = accumulation_dtype(first.dtype)
    used = jnp.ones(first.shape, bool) if mask is None else jnp.broadcast_to(mask, first.shape)
    others = [jnp.broadcast_to(jnp.asarray(array, dtype), first.shape) for array in more]
    return [jnp.moveaxis(array, axis, -1) for array in (first.astype(dtype), used, *others)]


def map_rows(function: Callable, arrays: Sequence[Array], ranks: Sequence[int]) -> Array:
    """`function` mapped over the leading axes, the same for all arrays, whose last `ranks` axes are its arguments."""
    leading = arrays[0].shape[: arrays[0].ndim - ranks[0]]
    flat = [
        array.reshape((math.prod(leading), *array.shape[array.ndim - rank :]))
        for array, rank in zip(arrays, ranks, strict=True)
    ]
    results = jax.vmap(function)(*flat)
    return results.reshape((*leading, *results.shape[1:]))


def shrunk_median(points: Float[Array, "M"], weights: Float[Array, "M"], stiffness: float) -> Float[Array, ""]:
    """Weighted median shrunk to zero, the response of Manhattan similarities in Euclidean space.

    argmin_t ½ stiffness t² + Σ_μ weights_μ |t − points_μ|, exactly: its slope is piecewise linear and rises.
    """
    order = jnp.argsort(points)
    t, w = points[order], weights[order]
    below = jnp.cumsum(w)
    pull = 2.0 * below - below[-1]  # slope of the sum just above t_k; 2·before − total just under it
    slope = stiffness * t + pull
    k = jnp.minimum(jnp.argmax(slope >= 0), t.size - 1)
    k = jnp.where(jnp.any(slope >= 0), k, t.size - 1)
    left = 2.0 * (below[k] - w[k]) - below[-1]
    at_kink = stiffness * t[k] + left <= 0
    crossing = jnp.where(stiffness > 0, -left / jnp.where(stiffness > 0, stiffness, 1.0), t[k])
    beyond = jnp.where(stiffness > 0, -below[-1] / jnp.where(stiffness > 0, stiffness, 1.0), t[-1])
    least = jnp.where(jnp.any(slope >= 0), jnp.where(at_kink, t[k], crossing), beyond)
    return jnp.where(jnp.isnan(below[-1]), jnp.nan, least)


@partial(jax.jit, static_argnums=0)  # without it, the loop would be compiled anew at every call
def increasing_root(function: Callable, low: Array, high: Array, parameters) -> Array:
    """Elementwise root t of an increasing `function(t, parameters)` in [low, high], by bisection to the last bit.

    The derivative in `parameters` is −∂function/∂parameters / ∂function/∂t, by the implicit function theorem, and is
    itself differentiable, so that sparse maps have exact gradients of every order (Amos & Kolter 2017).

    Args:
        function: defined once, at the top of a module: another object is another program.
        low, high: ends of the bracket.
        parameters: pytree of arrays; where NaN in it reaches the function, the root is NaN.
    """
    return _root(function, low, high, parameters)


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _root(function: Callable, low: Array, high: Array, parameters) -> Array:
    def halve(_, bracket):
        low, high = bracket
        middle = 0.5 * (low + high)
        above = function(middle, parameters) >= 0
        return jnp.where(above, low, middle), jnp.where(above, middle, high)

    # Each halving gains one bit; the eight extra absorb a bracket wider than the root is large.
    bits = jnp.finfo(low.dtype).nmant + 8
    lost = jnp.isnan(function(0.5 * (low + high), parameters))
    start = carried(lambda bracket: halve(0, bracket), (low, high))
    low, high = jax.lax.fori_loop(0, bits, halve, start)
    return jnp.where(lost, jnp.nan, 0.5 * (low + high))


@_root.defjvp
def _root_jvp(function, primals, tangents):
    low, high, parameters = primals
    root = _root(function, low, high, parameters)
    _, moved = jax.jvp(lambda p: function(root, p), (parameters,), (tangents[2],))
    _, slope = jax.jvp(lambda t: function(t, parameters), (root,), (jnp.ones_like(root),))
    return root, jnp.where(slope <= 0, 0.0, -moved / jnp.where(slope <= 0, 1.0, slope))
