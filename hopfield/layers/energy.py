"""EnergyTransformerBlock: attention and a Hopfield memory as one energy of all tokens, and descent on it."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from flax import nnx
from flax.typing import Dtype, Initializer
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float, Int

from hopfield import separations
from hopfield._checks import whole
from hopfield._numerics import accumulation_dtype, map_rows, safe_norm, tolerance
from hopfield._pytrees import Node
from hopfield.attention import core
from hopfield.attention._arguments import MaskLike, allowed_by_head, positive_in
from hopfield.dynamics import CONVERGED, NOT_A_NUMBER, STEP_LIMIT
from hopfield.layers._options import Buffer, InverseTemperature
from hopfield.layers.metrics import FixedParam
from hopfield.metrics._arrays import aligned
from hopfield.observables import thermodynamics
from hopfield.separations import Separation

Tokens = Float[Array, "*b T F"]
EPSILON = 1e-5


class Descent(NamedTuple):
    """Tokens after the descent and how it went."""

    state: Tokens
    energy: Float[Array, "steps *b"]
    """Total energy before the first step and after every step."""
    weights: Float[Array, "*b H T T"]
    """Attention weights at the end."""
    entropy: Float[Array, "*b H T"]
    """Shannon's, of those weights, in nats."""
    status: Int[Array, "*b"]
    """Index of `dynamics.STATUS`: converged where the last step moved nothing, to rounding."""


class EnergyTransformerBlock(nnx.Module):
    """x ← x − step ∂E/∂g, repeated, with g the normalised tokens and E the energy of attention and of a memory.

        E = −Σ_h Σ_i F(β k_hj · q_hi over j ≠ i)/β − Σ_i F'(ξ g_i)      q = W_q g, k = W_k g
        g = e^γ (x − mean x)/√(var x + ε) + δ

    g is the gradient of a convex function of x, so that E falls along dx/dt = −∂E/∂g, and at every step if it is small.

    Source: Hoover et al. 2023 (arXiv:2302.07253), where F is log-sum-exp and F' = Σ [z]₊²/2.
    """

    def __init__(
        self,
        features: int,
        num_heads: int,
        patterns: int,
        *,
        head_features: int | None = None,
        separation: Separation | str = "softmax",
        memory: Separation | str | None = None,
        beta: ArrayLike | None = None,
        learn_beta: bool = False,
        steps: int = 12,
        step_size: ArrayLike = 0.1,
        kernel_init: Initializer = nnx.initializers.normal(0.02),  # noqa: B008 - a pure function
        param_dtype: Dtype = jnp.float32,
        rngs: nnx.Rngs,
    ):
        """Build the block.

        Args:
            features, num_heads, patterns: widths of tokens F; heads H; stored patterns of the memory.
            head_features: width of a head, F / H if None.
            separation: F of the attention; memory: F' of the memory, Σ [z]₊²/2 if None.
            beta, learn_beta: as in `HopfieldAttention`.
            steps: of the descent; step_size: > 0.
        Raises:
            ValueError: heads that do not divide the features, or an option outside its range.
        """
        for name, value in (("features", features), ("num_heads", num_heads), ("patterns", patterns)):
            whole(name, value, 1)
        if head_features is None and features % num_heads:
            raise ValueError(f"num_heads must divide the {features} features, got {num_heads}")
        positive_in(param_dtype, "step_size", step_size, finite=False)
        width = features // num_heads if head_features is None else head_features
        self.features, self.steps = features, whole("steps", steps, 1)
        self.separation = Buffer(separation)
        self.memory = Buffer(separations.polynomial(2, rectified=True) if memory is None else memory)
        self.beta = InverseTemperature(beta, num_heads, width, learn_beta, param_dtype)
        self.query = nnx.Param(kernel_init(rngs.params(), (num_heads, features, width), param_dtype))
        self.key = nnx.Param(kernel_init(rngs.params(), (num_heads, features, width), param_dtype))
        self.patterns = nnx.Param(kernel_init(rngs.params(), (patterns, features), param_dtype))
        self.log_scale = nnx.Param(jnp.zeros((), param_dtype))
        self.shift = nnx.Param(jnp.zeros((features,), param_dtype))
        self.step_size = FixedParam(jnp.asarray(step_size, param_dtype))

    def __call__(self, x: Tokens, *, mask: MaskLike = None) -> Tokens:
        """Tokens after the descent [*b, T, F].

        Args:
            x: tokens [*b, T, F].
            mask: as for `HopfieldAttention`: True where token i may read token j, never itself. A term of the energy
                moves both tokens, so that padding is to be masked in its row and in its column.
        """
        return _descend(self._held(x), x, _others(x, mask), self.steps)[0]

    def inspect(self, x: Tokens, *, mask: MaskLike = None) -> Descent:
        """The descent with its energies, and the weights, their entropy and the status at its end."""
        held, others = self._held(x), _others(x, mask)
        state, energies, moved = _descend(held, x, others, self.steps)
        tokens = held.normalised(state)
        energies = jnp.concatenate([energies, held.energy(tokens, others)[None]])
        weights = core.weights(held.scores(tokens), separation=held.separation, mask=others)
        status = jnp.where(moved[-1] <= tolerance(x.dtype), CONVERGED, STEP_LIMIT)
        status = jnp.where(jnp.isnan(moved[-1]), NOT_A_NUMBER, status)
        return Descent(state, energies, weights, thermodynamics.entropy(weights), status)

    def energy(self, x: Tokens, *, mask: MaskLike = None) -> Float[Array, "*b"]:
        """E of the tokens, of attention and memory together."""
        held = self._held(x)
        return held.energy(held.normalised(x), _others(x, mask))

    def _held(self, x: Tokens) -> "_Energy":
        """The energy at the parameters' present values, for tokens of its width."""
        if x.ndim < 2 or x.shape[-1] != self.features:
            raise ValueError(f"x must be tokens [..., T, {self.features}], got shape {x.shape}")
        return _Energy(
            query=self.query[...],
            key=self.key[...],
            patterns=self.patterns[...],
            log_scale=self.log_scale[...],
            shift=self.shift[...],
            step_size=self.step_size[...],
            beta=self.beta(),
            separation=self.separation(),
            memory=self.memory(),
        )


class _Energy(Node):
    """The energy of all tokens as a function of arrays."""

    query: Float[Array, "H F D"]
    key: Float[Array, "H F D"]
    patterns: Float[Array, "M F"]
    log_scale: Float[Array, ""]
    shift: Float[Array, "F"]
    step_size: Float[Array, ""]
    beta: Float[Array, "*h"]
    separation: Separation
    memory: Separation

    def normalised(self, x: Tokens) -> Tokens:
        x = x.astype(accumulation_dtype(x.dtype))
        centred = x - jnp.mean(x, axis=-1, keepdims=True)
        scale = jnp.exp(self.log_scale) / jnp.sqrt(jnp.mean(centred**2, axis=-1, keepdims=True) + EPSILON)
        scaled, shift = aligned(centred * scale, self.shift)
        return scaled + shift

    def scores(self, g: Tokens) -> Float[Array, "*b H T T"]:
        g = g[..., None, :, :]
        query, key = (jnp.matmul(*aligned(g, w.astype(g.dtype))) for w in (self.query, self.key))
        return core.scores(query, key, beta=self.beta.astype(g.dtype))

    def energy(self, g: Tokens, others: Bool[Array, "*b H T T"]) -> Float[Array, "*b"]:
        scores = self.scores(g)
        others = jnp.broadcast_to(others, scores.shape)
        potential = map_rows(self.separation.potential, [scores, others], [1, 1])
        some = jnp.any(others, axis=-1)
        potential = jnp.where(some, potential, 0.0)  # a token that may read none adds nothing
        potential, beta = aligned(potential, self.beta[..., None].astype(scores.dtype))
        stored = jnp.matmul(*aligned(g, self.patterns.T.astype(g.dtype)))
        memory = map_rows(self.memory.potential, [stored], [1])
        return -jnp.sum(potential / beta, axis=(-2, -1)) - jnp.sum(memory, axis=-1)


@partial(jax.jit, static_argnames=("steps",))
def _descend(held: _Energy, x: Tokens, others: Array, steps: int) -> tuple[Tokens, Array, Array]:
    """State, the energies before each step [steps, *b] and how far each step moved it, relative to its size."""

    def slope(g: Tokens) -> tuple[Array, Array]:
        energies = held.energy(g, others)
        return jnp.sum(energies), energies

    def step(x: Tokens, _) -> tuple[Tokens, tuple[Array, Array]]:
        force, energies = jax.grad(slope, has_aux=True)(held.normalised(x))
        new = x - (held.step_size * force).astype(x.dtype)
        flat = (*x.shape[:-2], -1)
        size = safe_norm(new.reshape(flat) - x.reshape(flat), axis=-1)
        return new, (energies, size / jnp.maximum(safe_norm(x.reshape(flat), axis=-1), 1.0))

    state, (energies, moved) = jax.lax.scan(step, x, length=steps)
    return state, energies, moved


def _others(x: Tokens, mask) -> Bool[Array, "*b H T T"]:
    """Tokens that each token may read: the mask's, but never itself."""
    others = ~jnp.eye(x.shape[-2], dtype=bool)
    others = others.reshape((1,) * (x.ndim - 1) + others.shape)
    mask = allowed_by_head(mask, x.shape[-2], x.shape[-2], x.ndim + 1)
    return others if mask is None else jnp.logical_and(*aligned(others, mask))
