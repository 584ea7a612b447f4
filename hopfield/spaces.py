"""Spaces of states, each with a convex potential R that defines how a field h is projected back onto a state."""

import abc
from functools import partial

import jax.numpy as jnp
from flax import struct
from jax.scipy.special import xlogy
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from hopfield._arguments import check_methods, flag, of_field, of_state, positive_scalar, real_array
from hopfield._arrays import Known as Known
from hopfield._arrays import State as State
from hopfield._arrays import as_known as as_known
from hopfield._arrays import one_state as one_state
from hopfield._names import Named, Table
from hopfield._numerics import increasing_root, largest, nan_outside, safe_norm, tolerance
from hopfield._pytrees import Node, fill


class Space(Node, abc.ABC):
    """A set of states with a convex potential R.

    Example:
        >>> from hopfield import spaces
        >>> print(spaces.Spins().violation(jnp.array([[1.0, -1.0], [1.0, 0.5]])))
        0.5
    """

    def __init_subclass__(cls, **options):
        check_methods(cls, potential=of_state, project=of_field)
        super().__init_subclass__(**options)

    @property
    def flat(self) -> bool:
        """True if R is constant on the space, so that only the direction of a field matters."""
        return False

    @abc.abstractmethod
    def potential(self, state: State) -> Float[Array, ""]:
        """R(x)."""

    @abc.abstractmethod
    def project(self, field: State, state: State, curvature: ArrayLike = 0.0, known: Known = None) -> State:
        """argmin over the space of R(x) + ½ c‖x‖² − field·x, units in `known` held at `state`.

        Args:
            field: h [N].
            state: current state [N]; kept wherever the minimiser is not unique.
            curvature: c ≥ 0, the quadratic part of distance-like similarities.
            known: units that must not move [N].
        """

    @abc.abstractmethod
    def violation(self, states: Array) -> Array:
        """Distance of states [..., N] from the space: the largest of any component, 0 inside."""


def _clamp(new: State, state: State, known: Known) -> State:
    return new if known is None else jnp.where(known, state, new)


def aligned(field: Array, spin: Array) -> Array:
    """The sign of a field; the spin itself for a field of exactly zero, NaN for NaN."""
    field, spin = real_array("field", field), real_array("spin", spin)
    return jnp.where(field == 0, spin, jnp.sign(field)).astype(spin.dtype)


class Euclidean(Space):
    """ℝᴺ with R = ½‖x‖², or R = 0 when not `confined` (for distances, whose energies are confining without R).

    Example:
        >>> from hopfield import spaces
        >>> spaces.Euclidean().potential(jnp.array([3.0, 4.0])).item()
        12.5
    """

    confined: bool = struct.field(pytree_node=False, default=True)

    def __post_init__(self) -> None:
        fill(self, confined=flag("confined", self.confined))

    @property
    def flat(self) -> bool:
        return not self.confined

    def potential(self, state):
        return 0.5 * jnp.sum(state * state) if self.confined else jnp.zeros((), state.dtype)

    def project(self, field, state, curvature: ArrayLike = 0.0, known=None):
        stiffness = jnp.asarray(curvature + (1.0 if self.confined else 0.0), field.dtype)
        new = jnp.where(stiffness <= 0, state, field / jnp.where(stiffness <= 0, 1.0, stiffness))
        return _clamp(new, state, known)

    def violation(self, states):
        return jnp.zeros((), jnp.result_type(states))


class _Flat(Space):
    """A space on which R = 0."""

    @property
    def flat(self) -> bool:
        return True

    def potential(self, state):
        return jnp.zeros((), state.dtype)


class Spins(_Flat):
    """{−1, +1}ᴺ, R = 0; project takes the sign and keeps the spin where the field is exactly zero.

    Example:
        >>> from hopfield import spaces
        >>> spaces.Spins().project(jnp.array([0.3, 0.0]), jnp.array([-1.0, -1.0])).tolist()
        [1.0, -1.0]
    """

    def project(self, field, state, curvature: ArrayLike = 0.0, known=None):
        return _clamp(aligned(field, state), state, known)

    def violation(self, states):
        return largest(jnp.abs(jnp.abs(states) - 1.0))


class Sphere(_Flat):
    """The sphere of a given radius in ℝᴺ, R = 0. Clamped units keep their part of the radius, the others fill it.

    If the clamped units alone are longer than the radius, no state exists: the other units are NaN.

    Example:
        >>> from hopfield import spaces
        >>> print(spaces.Sphere(1.0).project(jnp.array([3.0, 4.0]), jnp.array([1.0, 0.0])).round(3))
        [0.6 0.8]
    """

    radius: Float[Array, ""] | float = 1.0

    def __post_init__(self) -> None:
        fill(self, radius=positive_scalar("radius", self.radius))

    def project(self, field, state, curvature: ArrayLike = 0.0, known=None):
        # Only the direction matters: no square may overflow or vanish on the way to it.
        free = field if known is None else jnp.where(known, 0.0, field)
        most = largest(jnp.abs(free))
        free = free / jnp.where(most == 0, 1.0, most)
        norm = safe_norm(free)
        if known is None:
            return jnp.where(norm == 0, state, self.radius * free / jnp.where(norm == 0, 1.0, norm))
        kept = jnp.sum((jnp.where(known, state, 0.0) / self.radius) ** 2)
        rest = self.radius * jnp.sqrt(jnp.maximum(1.0 - kept, 0.0))
        new = jnp.where(norm == 0, state, rest * free / jnp.where(norm == 0, 1.0, norm))
        return _clamp(nan_outside(new, kept <= 1.0 + tolerance(new.dtype)), state, known)

    def violation(self, states):
        return largest(jnp.abs(safe_norm(states, axis=-1) - self.radius))


class Box(Space):
    """Graded neurons in [−1, 1]ᴺ at temperature T: x = tanh(h/T) (Hopfield 1984; Krotov & Hopfield 2021, eq. 4).

    Lagrangian L(h) = T Σ ln 2cosh(h/T), whose Legendre transform is
    R(x) = T Σ [(1+x)/2 ln (1+x)/2 + (1−x)/2 ln (1−x)/2].

    Example:
        >>> from hopfield import spaces
        >>> spaces.Box(1.0).project(jnp.array([0.0, 50.0]), jnp.zeros(2)).tolist()
        [0.0, 1.0]
    """

    temperature: Float[Array, ""] | float = 1.0

    def __post_init__(self) -> None:
        fill(self, temperature=positive_scalar("temperature", self.temperature))

    def potential(self, state):
        up, down = 0.5 * (1.0 + state), 0.5 * (1.0 - state)
        return self.temperature * jnp.sum(xlogy(up, up) + xlogy(down, down))

    def lagrangian(self, field: State) -> Float[Array, ""]:
        """L(h) = T Σ ln 2cosh(h/T), with ∇L = project and L(h) + R(x) = h·x at x = project(h)."""
        return self.temperature * jnp.sum(jnp.logaddexp(field / self.temperature, -field / self.temperature))

    def project(self, field, state, curvature: ArrayLike = 0.0, known=None):
        curvature = jnp.broadcast_to(jnp.asarray(curvature, field.dtype), field.shape)
        low, high = jnp.full_like(field, -1.0), jnp.full_like(field, 1.0)
        bent = increasing_root(_box_stationarity, low, high, (field, curvature, self.temperature))
        new = jnp.where(curvature <= 0, jnp.tanh(field / self.temperature), bent)
        return _clamp(new, state, known)

    def violation(self, states):
        return largest(jnp.maximum(jnp.abs(states) - 1.0, 0.0))


def _box_stationarity(x, parameters):
    field, curvature, temperature = parameters
    return x - jnp.tanh((field - curvature * x) / temperature)


NAMES: dict[str, Named] = {
    "euclidean": Named(Euclidean),
    "unconfined": Named(partial(Euclidean, confined=False)),
    "spins": Named(Spins),
    "sphere": Named(Sphere, float),
    "box": Named(Box, float),
}
"""The one table of names: `unconfined` is ℝᴺ with R = 0, `sphere:20` has the radius 20, `box:0.5` is at T = 0.5."""
_TABLE = Table(Space, "spaces", NAMES)


def names() -> tuple[str, ...]:
    """Every name of a space."""
    return tuple(NAMES)


def as_space(space: Space | str) -> Space:
    """Space that is given, or named as in `find`. Raises TypeError for anything else."""
    return _TABLE.part(space)


def find(spec: str) -> Space:
    """Space by "name" or "name:number": `spins`, `sphere`, `sphere:20`. ValueError for all else."""
    return _TABLE.find(spec)
