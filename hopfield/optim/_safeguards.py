"""Safeguards of a natural step, the same for every form of the curvature: fall-back, trust radius, reduction ratio.

A step that is not finite stays so unless its loss is judged: NaN in, NaN out, and `finite` and `accepted` of the state
say so. What a later step starts from is never such a one.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, cast

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array

from hopfield._arguments import number_scalar, real_scalar
from hopfield._arrays import Tree
from hopfield.fisher import Fisher
from hopfield.fisher.solvers import SolveInfo, dot, inlined_conjugate_gradient, norm, over, selected, unit
from hopfield.optim._transform import Call

TINY = 5e-324
"""The least positive number."""
WIDEN, NARROW = 4.0, 0.5
"""Factors of the damping after a step that gained less than a quarter, or more than three quarters, of the forecast."""
LEAST, MOST = 1e-10, 1e6
ROUNDED = 1e-3
"""Relative residual of a direct solver up to which it is taken as a solution."""


def finite(tree: Tree) -> Array:
    """Whether every entry is finite. This is not the square of the norm, which may overflow for finite entries."""
    return jnp.all(jnp.stack([jnp.all(jnp.isfinite(x)) for x in jax.tree.leaves(tree)]))


def still(tree: Tree) -> Array:
    """Whether every entry is zero. This is not the square of the norm, which may vanish for entries that are not."""
    return jnp.all(jnp.stack([jnp.all(x == 0) for x in jax.tree.leaves(tree)]))


@partial(jax.jit, static_argnames=("max_iterations",))
def refine_solution(
    curvature: Fisher,
    vector: Tree,
    damping: ArrayLike,
    solution: Tree,
    info: SolveInfo,
    tolerance: ArrayLike,
    max_iterations: int,
) -> tuple[Tree, SolveInfo]:
    """Direct solution, replaced by conjugate gradients where its residual shows rounding."""
    right = jax.tree.map(lambda v, p: jnp.asarray(v, p.dtype), vector, curvature.params)
    product = curvature.linearised()
    by_cg = lambda: inlined_conjugate_gradient(product, right, damping, None, None, tolerance, max_iterations)
    return jax.lax.cond(info.residual <= jnp.maximum(tolerance, ROUNDED), lambda: (solution, info), by_cg)


def or_gradient(direction: Tree, grads: Tree, fine: Array) -> Tree:
    """The direction where `fine` holds, else the gradient, which is scaled down to length one if it is longer."""
    size = jnp.maximum(norm(grads), 1.0)
    return selected(fine, direction, jax.tree.map(lambda g: (g / size).astype(g.dtype), grads))


def shrink_to_radius(curvature: Fisher, step: Tree, radius: Any) -> Tree:
    """Step, shrunk to a length √(dᵀ F d) of at most `radius`. None leaves it unchanged."""
    if radius is None:
        return step
    size = unit(step)
    length = size * jnp.sqrt(jnp.maximum(curvature.quadratic(over(step, size)), 0.0))
    shrink = jnp.minimum(1.0, radius / jnp.where(length > 0, length, 1.0))
    return jax.tree.map(lambda d: (shrink * d).astype(d.dtype), step)


def accept_or_reject(
    curvature: Fisher, grads: Tree, step: Tree, state: Any, params: Tree, call: Call
) -> tuple[Tree, Any]:
    """The step if the loss falls, else zero, and the next damping (Marquardt 1963; Martens 2010, §4.1).

    Args:
        curvature: F, of the quadratic model ∇·d + ½ dᵀ F d that the fall of the loss is measured against.
        state: with `damping`, `accepted` and `gain`, which are replaced.
    """
    predicted = dot(grads, step) + 0.5 * curvature.quadratic(step)
    value, value_fn = cast(Array, call.value), cast(Callable, call.value_fn)
    after = value_fn(jax.tree.map(lambda p, d: p + d, params, step))
    fell = jnp.asarray(after - value, predicted.dtype)
    gain = fell / jnp.where(predicted != 0, predicted, 1.0)
    accepted = jnp.isfinite(after) & ((fell <= 0) | still(step))
    gain = jnp.where(jnp.isfinite(gain), gain, -jnp.inf)
    factor = jnp.where(gain > 0.75, NARROW, jnp.where(gain < 0.25, WIDEN, 1.0))
    # What a sum in floating point cannot resolve is no verdict on the damping.
    settled = jnp.abs(predicted) <= 10 * jnp.finfo(predicted.dtype).eps * jnp.abs(value)
    factor = jnp.where(settled, 1.0, jnp.where(accepted, factor, WIDEN))
    damping = jnp.clip(state.damping * factor, LEAST, MOST).astype(state.damping.dtype)
    step = selected(accepted, step, jax.tree.map(jnp.zeros_like, step))
    return step, state._replace(damping=damping, accepted=accepted, gain=jnp.asarray(gain, state.gain.dtype))


def share(name: str, value: Any) -> Any:
    """A number in [0, 1). ValueError for any other."""
    if not 0 <= number_scalar(name, value, "a number in [0, 1)") < 1:
        raise ValueError(f"{name} must lie in [0, 1), got {value}")
    return value


def check(damping: Any, initial_damping: float, trust_radius: Any, *, zero: bool) -> None:
    """Check that a damping, its start and a trust radius are in range, 0 if `zero`. ValueError otherwise."""
    if isinstance(damping, str) and damping != "lm":
        raise ValueError(f"damping must be a number, a schedule or 'lm', got {damping!r}")
    if not (isinstance(damping, str) or callable(damping)):
        real_scalar("damping", damping, f"{'at least 0' if zero else 'positive'} and finite", 0.0 if zero else TINY)
    real_scalar("initial_damping", initial_damping, "positive and finite", TINY)
    if trust_radius is not None:
        real_scalar("trust_radius", trust_radius, "positive or None", TINY, math.inf)
