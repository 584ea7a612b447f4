"""Stability of retrieved states: how the update stretches their neighbourhood, and which patterns hold them.

Near a fixed point x* the update multiplies deviations by its Jacobian J, β Cov_p(X) for log-sum-exp: the fixed point
attracts if the largest eigenvalue of J is below 1, and is born or lost at 1. Functions of one state,
to be batched with `jax.vmap`, on continuous spaces.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Int

from hopfield._arguments import instance, integer, random_key, real_rows, reals
from hopfield._numerics import safe_norm, unit, wide
from hopfield._pytrees import Node
from hopfield.couplings import Couplings
from hopfield.dynamics.models import as_model
from hopfield.dynamics.regimes import holding
from hopfield.memory import Memory
from hopfield.observables import overlaps, thermodynamics
from hopfield.observables._krylov import dominant, krylov
from hopfield.separations import LogSumExp
from hopfield.similarities import Dot
from hopfield.spaces import Euclidean, Spins, State
from hopfield.theory import bounds


class UpdateJacobian(Node):
    """J = ∂update/∂x at a state, an operator [N, N] that is never formed: `J @ tangent`. Built by `update_jacobian`."""

    memory: Memory
    state: State

    @jax.jit
    def __matmul__(self, tangent: State) -> State:
        return self.linear()(tangent)

    def linear(self) -> Callable[[State], State]:
        """t ↦ J t, the state's weights worked out once for any number of products."""
        memory, space = self.memory, self.memory.space
        if isinstance(memory.similarity, Dot) and isinstance(space, Euclidean):  # x' = Xᵀ p
            tilt, stored = _tilt(memory, self.state), memory.stored()
            return lambda tangent: memory.beta * (tilt(stored @ tangent) @ stored)
        return jax.linearize(memory.update, self.state)[1]

    @jax.jit
    def dense(self) -> Float[Array, "N N"]:
        """J as a matrix."""
        return jax.vmap(self.linear(), out_axes=1)(jnp.eye(self.state.size, dtype=self.state.dtype))


class Eigenpair(NamedTuple):
    """An eigenvalue λ, its unit eigenvector v [N], and ‖J v − λ v‖: a symmetric J has an eigenvalue that close to λ."""

    value: Float[Array, ""]
    vector: State
    residual: Float[Array, ""]


class Regime(NamedTuple):
    """Patterns that hold a state. See `regime`."""

    kind: Int[Array, ""]
    """Index into `dynamics.REGIMES`."""
    num_patterns: Int[Array, ""]
    """Smallest number of patterns that together hold HELD of the weight."""
    effective_number: Float[Array, ""]
    """e^H of the weights."""
    index: Int[Array, ""]
    """The heaviest pattern; −1 where there is none or the shares are not numbers."""
    share: Float[Array, ""]
    """Share of the weight of the heaviest pattern."""


def update_jacobian(memory: Memory, state: State) -> UpdateJacobian:
    """J = ∂update/∂x: β Xᵀ ∇²F(β s) X for dot products in ℝᴺ, which is β Cov_p(X) for log-sum-exp.

    Any other memory is differentiated forwards through its update.

    Raises:
        ValueError: the memory lives on spins, whose update has no derivative.
    """
    if isinstance(as_model("memory", memory).space, Spins):
        raise ValueError("memory must live in a continuous space for its update to have a Jacobian, got Spins")
    return UpdateJacobian(memory, memory.as_state(state))


def susceptibility(memory: Memory, state: State) -> Float[Array, "N N"]:
    """χ = ∂⟨ξ⟩/∂h = β Xᵀ ∇²F(β s) X, the answer of Σ_μ p_μ ξ_μ to a field h that adds h·ξ_μ to every score.

    For log-sum-exp it is β Cov_p(X), the fluctuations of the patterns at temperature 1/β; for dot products in ℝᴺ it
    is the Jacobian of the update as well. Symmetric, and positive semi-definite for convex F.
    """
    return _susceptibility(instance("memory", memory, Memory), memory.as_state(state))


@jax.jit
def _susceptibility(memory: Memory, state: State) -> Float[Array, "N N"]:
    stored = memory.stored()
    return memory.beta * (jax.vmap(_tilt(memory, state), 1, 1)(stored).T @ stored)


def largest_eigenvalue(jacobian: UpdateJacobian, key: Array, *, max_iterations: int = 32) -> Eigenpair:
    """Eigenvalue of J of the largest magnitude, from products J v alone (Arnoldi's method; Lanczos' for symmetric J).

    At a fixed point all eigenvalues are real where the update minimises a surrogate of the energy (`has_exact_step`
    similarities). The value is exact to rounding from max_iterations = N on; with fewer it has settled once `residual`
    is small, and until then lies below the largest eigenvalue of a symmetric J.

    Args:
        jacobian: from `update_jacobian`.
        key: JAX random key of the starting vector.
        max_iterations: products at most, at least 1; that many vectors of N numbers are kept.
    """
    key = random_key("key", key)
    return _largest_eigenvalue(
        instance("jacobian", jacobian, UpdateJacobian), key, max_iterations=integer("max_iterations", max_iterations)
    )


@partial(jax.jit, static_argnames="max_iterations")
def _largest_eigenvalue(jacobian: UpdateJacobian, key: Array, *, max_iterations: int) -> Eigenpair:
    state = wide(jacobian.state)
    linear = jacobian.replace(state=state).linear()
    start = unit(jax.random.normal(key, state.shape, state.dtype))
    basis, images = krylov(linear, start, min(max_iterations, state.size))
    value, coordinates = dominant(basis @ images.T)
    vector = unit(coordinates @ basis)
    return Eigenpair(value, vector, safe_norm(linear(vector) - value * vector))


def regime(memory: Memory, state: State) -> Regime:
    """Regime of a fixed point, one of `dynamics.REGIMES`, by the shares of the patterns in its read-out.

        not a number        a share is NaN
        no pattern          no pattern has any weight (outside the support of a sparse memory)
        single pattern      one pattern has more than half of the weight
        global average      it takes more than half of the patterns in use to hold 90 % of the weight
        metastable mixture  anything between: a mixture of `patterns` patterns

    The first regime that applies counts: two equally heavy patterns that are stored alone are a global average.

    Source: the three kinds of fixed point of Ramsauer et al. 2021 (arXiv:2008.02217); 90 % and half of the patterns
    are the criteria by which they call attention heads of BERT averaging, more than half of the weight is ours.
    """
    return _regime(instance("memory", memory, Memory), memory.as_state(state))


@jax.jit
def _regime(memory: Memory, state: State) -> Regime:
    kind, count, index, share = holding(memory, state)
    return Regime(kind, count, thermodynamics.effective_number(wide(memory.shares(state))), index, share)


def retrieval_error_bound(memory: Memory, distance: ArrayLike = 0.0) -> np.ndarray:
    """Largest possible ‖update(x) − ξ_μ‖ of states within `distance` of ξ_μ, per pattern [M]. NaN where masked.

    Worked out in numpy: the memory must not be traced.

    Args:
        memory: log-sum-exp of dot products in ℝᴺ.
        distance: ‖x − ξ_μ‖ ≥ 0, one number or an array [..., M], which is then the shape of the result.
    Raises:
        ValueError: the theorem is not about this memory.

    Source: Ramsauer et al. 2021, theorem 5, through `theory.bounds.retrieval_error`.
    """
    instance("memory", memory, Memory)
    parts = (memory.similarity, memory.separation, memory.space)
    if [type(part) for part in parts] != [Dot, LogSumExp, Euclidean]:
        got = ", ".join(type(part).__name__ for part in parts)
        raise ValueError(f"memory must be modern (Dot similarity, LogSumExp separation, Euclidean space), got {got}")
    used = np.ones(memory.patterns.shape[0], bool) if memory.mask is None else np.asarray(memory.mask)
    patterns = np.asarray(memory.stored(), np.float64)[used]
    if (near := reals("distance", distance, least=0)).ndim and near.shape[-1] not in (1, used.size):
        raise ValueError(f"distance must be one number or [..., {used.size}], got shape {near.shape}")
    near = np.broadcast_to(near, np.broadcast_shapes(near.shape, used.shape))
    bound = np.full(near.shape, np.nan)
    if len(patterns) == 1:  # nothing to be confused with
        bound[..., used] = 0.0
    elif len(patterns):
        gaps = np.asarray(overlaps.pattern_gap(jnp.asarray(patterns)))
        norm = np.max(np.linalg.norm(patterns, axis=1))
        bound[..., used] = bounds.retrieval_error(len(patterns), gaps, float(memory.beta), norm, near[..., used])
    return bound


def _tilt(memory: Memory, state: State) -> Callable[[Array], Array]:
    """u [M] ↦ ∇²F(β s) u, the response of the weights to a change of β s. For log-sum-exp it is p (u − p·u)."""
    if memory.separation.is_softmax:
        p = memory.weights(state)
        return lambda u: p * (u - jnp.dot(p, u))
    z = memory.beta * memory.scores(state)
    return jax.linearize(lambda z: memory.separation.weights(z, memory.mask), z)[1]


def stabilities(couplings: Couplings, patterns: Float[Array, "M N"]) -> Float[Array, "M N"]:
    """γ_i = ξ_i h_i / ‖W_i‖ [M, N]: how far every spin of a pattern is from its threshold, W_i the couplings of spin i.

    A pattern is a fixed point where all of its γ are positive; of Gardner's κ it is where they are at least κ.

    Args:
        couplings: `Couplings`, or `networks.AsymmetricCouplings`.
        patterns: [M, N]; NaN gives NaN.
    Source: Gardner 1988, eq. 3.
    """
    return _stabilities(instance("couplings", couplings, Couplings), real_rows("patterns", patterns, 2))


@jax.jit
def _stabilities(couplings: Couplings, patterns: Float[Array, "M N"]) -> Float[Array, "M N"]:
    norms = jax.vmap(safe_norm, 1)(couplings.matrix)  # of what a spin receives
    return patterns * jax.vmap(couplings.cache)(patterns) / jnp.where(norms == 0, 1.0, norms)[None, :]
