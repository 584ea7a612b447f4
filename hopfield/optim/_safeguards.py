"""Safeguards of a natural step, the same for every form of the curvature: fall-back, trust radius, reduction ratio.

A step that is not finite stays so unless its loss is judged: NaN in, NaN out, and `finite` and `accepted` of the state
say so. The state kept for the next step is always finite.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, Self

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array

from hopfield._arguments import number_scalar, real_scalar
from hopfield._numerics import largest, power_of_two, safe_norm

TINY = 5e-324
"""The least positive number."""
WIDEN, NARROW = 4.0, 0.5
"""Factors of the damping after a step that was cut to less than a quarter, or gained nearly the forecast."""
ENOUGH, NEARLY = 0.25, 0.75
"""Shares of the forecast fall of the loss: enough for a step, and nearly all."""
LENGTHS, FEW = 5, 3
"""Numbers of lengths of a step: those tried, each half of the last, and those that leave the damping unchanged."""
LEAST, MOST = 1e-10, 1e6
ROUNDED = 1e-3
"""Relative residual of a direct solver up to which it is taken as a solution."""


def still(vector: Array) -> Array:
    """True if every entry is zero; the square of the norm may vanish for entries that are not zero."""
    return jnp.all(vector == 0)


def or_gradient(direction: Array, grads: Array, fine: Array) -> Array:
    """The direction where `fine` holds, else the gradient, which is scaled down to length one if it is longer."""
    return jnp.where(fine, direction, grads / jnp.maximum(safe_norm(grads), 1.0))


class Trial(NamedTuple):
    """The loss along a direction d by its quadratic model, −s ∇·d + ½ s² dᵀ F d for a step −s d.

    d is divided by a power of two near its largest entry, so that squares neither vanish nor overflow.
    """

    direction: Array
    size: Array
    slope: Array
    """∇·d."""
    bend: Array
    """dᵀ F d."""
    square: Array
    """dᵀ d."""

    @classmethod
    def along(cls, grads: Array, direction: Array, quadratic: Callable[[Array, Array], ArrayLike]) -> Self:
        """The model along a direction d; `quadratic` of d/u and of u, a power of two, is (d/u)ᵀ F (d/u)."""
        size = power_of_two(largest(jnp.abs(direction)))
        small = direction / size
        bend = jnp.maximum(quadratic(small, size), 0.0).astype(small.dtype)  # of data that may be wider
        return cls(direction, size, jnp.sum(grads * small), bend, jnp.sum(small * small))

    def forecast(self, length: Any) -> Array:
        """Change of the loss by a step of a length."""
        scaled = length * self.size
        return scaled * (0.5 * scaled * self.bend - self.slope)


def within_radius(trial: Trial, length: Any, radius: Any) -> Any:
    """Length of a step, shrunk until √(dᵀ F d) of the step is at most `radius`. None leaves it unchanged."""
    if radius is None:
        return length
    measured = jnp.abs(length) * trial.size * jnp.sqrt(trial.bend)
    return length * jnp.minimum(1.0, radius / jnp.where(measured > 0, measured, 1.0))


def tried(trial: Trial, length: Array, value: Array, after: Callable[[Array], Array], state: Any) -> tuple[Array, Any]:
    """A step along a direction, halved until the loss falls by a share of the forecast, and the next damping.

    The step is zero where the loss does not fall at any of `LENGTHS` lengths. Damping falls where the whole length
    gained nearly what was forecast and grows where an eighth of it did not (Armijo 1966; Marquardt 1963; Martens 2010,
    §4.1 and 4.6).

    Args:
        trial, length: the quadratic model that the fall of the loss is measured against, and the step's whole length.
        value, after: the loss before, and as a function of the step.
        state: with `damping`, `accepted`, `gain` and `lengths`, which are replaced.
    """

    def halved(last: tuple) -> tuple:
        count, length = last[0] + 1, jnp.where(last[0] == 0, last[1], 0.5 * last[1])
        predicted = trial.forecast(length)
        fell = jnp.asarray(after(-length * trial.direction) - value, predicted.dtype)
        gain = fell / jnp.where(predicted != 0, predicted, 1.0)
        # What a sum in floating point cannot resolve is no verdict.
        settled = jnp.abs(predicted) <= 10 * jnp.finfo(predicted.dtype).eps * jnp.abs(value)
        return count, length, fell, jnp.where(jnp.isfinite(gain), gain, -jnp.inf), settled

    first = jnp.zeros((), jnp.int32), jnp.asarray(length, trial.slope.dtype), *[trial.slope] * 2, jnp.zeros((), bool)
    going = lambda last: (last[0] == 0) | ((last[0] < LENGTHS) & (last[3] < ENOUGH) & ~last[4])
    count, length, fell, gain, settled = jax.lax.while_loop(going, halved, first)
    step = -length * trial.direction
    accepted = jnp.isfinite(fell) & ((fell <= 0) | still(step))
    shrinks, grows = (count == 1) & (gain > NEARLY), ~accepted | (count > FEW)
    factor = jnp.where(settled, 1.0, jnp.where(grows, WIDEN, jnp.where(shrinks, NARROW, 1.0)))
    damping = jnp.clip(state.damping * factor, LEAST, MOST).astype(state.damping.dtype)
    step = jnp.where(accepted, step, 0.0)
    gain = jnp.asarray(gain, state.gain.dtype)
    return step, state._replace(damping=damping, accepted=accepted, gain=gain, lengths=count)


def share(name: str, value: Any) -> Any:
    """A number in [0, 1). ValueError for any other."""
    if not 0 <= number_scalar(name, value, "a number in [0, 1)") < 1:
        raise ValueError(f"{name} must lie in [0, 1), got {value}")
    return value


def check_damping(damping: Any, initial_damping: float, trust_radius: Any, *, zero: bool) -> None:
    """Check that a damping, its start and a trust radius are in range, 0 if `zero`. ValueError otherwise."""
    if isinstance(damping, str) and damping != "lm":
        raise ValueError(f"damping must be a number, a schedule or 'lm', got {damping!r}")
    if not (isinstance(damping, str) or callable(damping)):
        real_scalar("damping", damping, f"{'at least 0' if zero else 'positive'} and finite", 0.0 if zero else TINY)
    real_scalar("initial_damping", initial_damping, "positive and finite", TINY)
    if trust_radius is not None:
        real_scalar("trust_radius", trust_radius, "positive or None", TINY, math.inf)
