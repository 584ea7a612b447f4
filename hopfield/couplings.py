"""Couplings: memories that are one matrix, and the Hebbian matrix of a classical memory."""

import warnings

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from hopfield._arguments import instance, one_of, positive_scalar, real_matrix, real_vector
from hopfield._numerics import is_traced, nan_outside, violated, wide
from hopfield._parts import check_classical
from hopfield._pytrees import Node, fill, unchecked
from hopfield.memory import DYNAMICS, Dynamics, Memory
from hopfield.separations import Linear
from hopfield.spaces import Known, Spins, State, as_known, one_state


class Couplings(Node):
    """A network on spins given by a symmetric matrix with zero diagonal: E = −scale (½ x·matrix x + bias·x).

    `scale` is kept apart so that Hebb's integer sums stay exact and a zero field is seen as the tie it is; `bias` is a
    field from outside, or minus a threshold, in the same units; None for none. `hebb_couplings` makes one of a memory.

    Args:
        matrix: symmetric [N, N]; its diagonal is dropped. Half precision becomes float32.
        scale: > 0.
        bias: [N].
    Raises:
        ValueError: the matrix is not square, finite and symmetric (to rounding, or with a warning to 1e-4 of each
            coupling), `scale` is not positive, or `bias` is no vector of N numbers.

    Example:
        >>> from hopfield import Couplings, retrieve
        >>> pair = Couplings([[0, 1], [1, 0]])
        >>> pair.energy(jnp.array([1.0, 1.0])).item(), retrieve(pair, jnp.array([1.0, -1.0])).state.tolist()
        (-1.0, [1.0, -1.0])
    """

    matrix: Float[Array, "N N"]
    scale: Float[Array, ""]
    bias: Float[Array, "N"] | None = None

    def __init__(
        self, matrix: Float[Array, "N N"], scale: ArrayLike = 1.0, bias: Float[Array, "N"] | None = None
    ) -> None:
        matrix = square_matrix("matrix", matrix)
        if violated(symmetric, matrix):
            raise ValueError(f"matrix must be symmetric for an energy to exist, got asymmetry {asymmetry(matrix):.3g}")
        if violated(_rounded, matrix):
            warnings.warn(
                f"matrix differs from its transpose by up to {asymmetry(matrix):.3g}: taken as symmetric, (W + Wᵀ)/2",
                stacklevel=2,
            )
        hollow = _hollow(matrix)
        hollow = nan_outside(hollow, symmetric(matrix)) if is_traced(matrix) else hollow
        bias = None if bias is None else real_vector("bias", bias, like=matrix[0]).astype(matrix.dtype)
        scale = jnp.asarray(positive_scalar("scale", scale, matrix.dtype), matrix.dtype)
        fill(self, matrix=hollow, scale=scale, bias=bias)

    @property
    def space(self) -> Spins:
        """Space of the states: couplings are of spins."""
        return Spins()

    def as_state(self, state: ArrayLike) -> State:
        """A state as an array of floating type. ValueError unless it is one state, as wide as the matrix."""
        return one_state(state, self.matrix.shape[0], self.matrix.dtype)

    def energy(self, state: State) -> Float[Array, ""]:
        """E(x) = −scale (½ x·matrix x + bias·x)."""
        return self.energy_at(self.cache(state), self.as_state(state))

    def energy_at(self, cache: Array, state: State) -> Float[Array, ""]:
        """Energy of a state from its unscaled fields, the `cache`."""
        twice = cache if self.bias is None else cache + self.bias
        return -0.5 * self.scale * jnp.dot(state, twice)

    def local_field(self, state: State) -> State:
        """scale (matrix x + bias) [N]."""
        return self.scale * self.cache(state)

    def update(self, state: State, known: Known = None) -> State:
        """One synchronous step, the sign of the local field [N]. Ties keep the spin."""
        state = self.as_state(state)
        return Spins().project(self.local_field(state), state, known=as_known(known, state))

    def cache(self, state: State) -> Array:
        """Unscaled fields [N], carried by one-neuron-at-a-time dynamics."""
        field = self.matrix @ self.as_state(state)
        return field if self.bias is None else field + self.bias

    def field_at(self, cache: Array, state: State, i) -> Float[Array, ""]:
        """Local field of neuron i."""
        return self.scale * cache[i]

    def advance(self, cache: Array, state: State, i, new) -> Array:
        """Fields after spin i of `state` has become `new`."""
        return cache + (new - state[i]) * self.matrix[i]

    def descends(self, dynamics: Dynamics = "synchronous") -> bool:
        """True if E never rises along the dynamics: true unless synchronous, which may end in 2-cycles (Goles 1985)."""
        return one_of("dynamics", dynamics, DYNAMICS) != "synchronous"

    def memory(self) -> Memory:
        """The same network as a classical Memory: patterns √λ_k v_k from the spectrum of W, shifted to be non-negative.

        The shift only adds a constant to the energy of spins, whose fields exclude the own spin anyway.

        Raises:
            ValueError: there is a bias, which no classical memory has.
        """
        if self.bias is not None:
            raise ValueError("couplings must have no bias to be a classical memory, got one")
        levels, vectors = jnp.linalg.eigh(self.scale * self.matrix)
        rows = (vectors * jnp.sqrt(jnp.maximum(levels - levels[0], 0.0))[None, :]).T
        beta = jnp.ones((), rows.dtype)
        return unchecked(Memory, patterns=rows, beta=beta, separation=Linear(), space=Spins())  # rows are no spins


def square_matrix(name: str, matrix: ArrayLike) -> Float[Array, "N N"]:
    """A matrix, of 16 bits as float32. ValueError unless finite and square."""
    rows = wide(real_matrix(name, matrix))
    if rows.shape[0] != rows.shape[1]:
        raise ValueError(f"{name} must be square, got shape {rows.shape}")
    return rows


@jax.jit
def symmetric(matrix: Float[Array, "N N"]) -> Array:
    """True if couplings are symmetric: but for 1e-4 of each, 1e-5 of the largest at either neuron, or for rounding.

    Rounding is 128 units in the last place of the largest entry, the diagonal included: an inverse of a matrix whose
    largest eigenvalue is 100 times its smallest loses as much.
    """
    size = jnp.where(jnp.eye(matrix.shape[0], dtype=bool), 0.0, jnp.abs(matrix))
    widest = jnp.nanmax(size, axis=1, initial=0.0)
    widest = jnp.maximum(widest[:, None], widest[None, :])
    border = jnp.maximum(jnp.maximum(1e-4 * size, 1e-5 * widest), 128.0 * jnp.finfo(matrix.dtype).eps * _entry(matrix))
    return ~jnp.any(2.0 * _apart(matrix) > border)  # NaN stays where it is


@jax.jit
def _rounded(matrix: Float[Array, "N N"]) -> Array:
    """True if a matrix differs from its transpose by no more than float32's rounding of its largest entry."""
    return ~jnp.any(2.0 * _apart(matrix) > 2e-6 * _entry(matrix))


def _entry(matrix: Float[Array, "N N"]) -> Array:
    return jnp.nanmax(jnp.abs(matrix), initial=0.0)


def _apart(matrix: Float[Array, "N N"]) -> Float[Array, "N N"]:
    """Half of what a pair's two couplings differ by, which does not overflow."""
    return jnp.abs(0.5 * matrix - 0.5 * matrix.T)


def asymmetry(matrix: Float[Array, "N N"]) -> float:
    """The most that the two couplings of a pair differ by."""
    with jax.ensure_compile_time_eval():
        return 2.0 * float(jnp.max(_apart(matrix)))


def hebb_couplings(memory: Memory) -> Couplings:
    """W = β Σ_μ ξ_μ ξ_μᵀ without its diagonal, of a classical memory. Raises ValueError for any other memory."""
    check_classical("memory", instance("memory", memory, Memory))
    return unchecked(Couplings, matrix=_hollow_gram(memory.stored()), scale=memory.beta)


@jax.jit
def _hollow(matrix: Float[Array, "N N"]) -> Float[Array, "N N"]:
    """(W + Wᵀ)/2 without its diagonal."""
    halves = jnp.where(jnp.eye(matrix.shape[0], dtype=bool), 0.0, 0.5 * matrix)  # whose sum does not overflow
    return halves + halves.T


@jax.jit  # op by op, the mask of the diagonal and its product would cost twice what the matrix does
def _hollow_gram(rows: Float[Array, "M N"]) -> Float[Array, "N N"]:
    gram = rows.T @ rows
    return jnp.where(jnp.eye(gram.shape[0], dtype=bool), 0.0, gram)
