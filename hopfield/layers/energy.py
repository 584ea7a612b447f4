"""EnergyTransformerBlock: attention and a Hopfield memory as one energy of all tokens, and descent on it."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from flax import nnx
from flax.typing import Dtype, Initializer
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float, Int

from hopfield._arguments import instance, integer, positive_array, real_array
from hopfield._arrays import product, same_rank
from hopfield._numerics import accumulation_dtype, map_rows, safe_norm, tolerance, wide
from hopfield._pytrees import Node
from hopfield.attention.encodings import Encoding
from hopfield.dynamics import CONVERGED, NOT_A_NUMBER, STEP_LIMIT
from hopfield.layers._fixed import FixedParam, FixedTree
from hopfield.layers._iteration import States
from hopfield.layers._reading import KeyValues, in_blocks, queries_at_once
from hopfield.layers._scope import MaskLike, Scope, Scores, scope_of
from hopfield.layers.learned_positions import as_positions
from hopfield.layers.options import DEFAULT, AssociationOptions, points_to_options
from hopfield.metrics import Metric
from hopfield.observables import thermodynamics
from hopfield.separations import Polynomial, Separation, as_separation

Tokens = Float[Array, "*b T F"]
EPSILON = 1e-5


class EnergyReport(NamedTuple):
    """Tokens after the descent and how it went.

    Example:
        >>> from flax import nnx
        >>> from hopfield.layers import EnergyTransformerBlock
        >>> block = EnergyTransformerBlock(8, 2, 16, rngs=nnx.Rngs(0))
        >>> energies = block.inspect(jnp.ones((5, 8))).energy
        >>> bool((jnp.diff(energies) <= 0).all())
        True
    """

    state: Tokens
    energy: Float[Array, "steps *b"]
    """Total energy before the first step and after every step."""
    weights: Float[Array, "*b H T T"]
    """Attention weights at the end."""
    entropy: Float[Array, "*b H T"]
    """Shannon's, of those weights, in nats."""
    status: Int[Array, "*b"]
    """Index of `dynamics.STATUS`: converged where the last step had no force, to rounding."""

    @property
    def converged(self) -> Bool[Array, "*b"]:
        """True if the tokens are at rest."""
        return self.status == CONVERGED


class EnergyTransformerBlock(nnx.Module):
    """x ← x − step ∂E/∂g, repeated, with g the normalised tokens and E the energy of attention and of a memory.

        E = −Σ_h Σ_i F(β k_hj · q_hi over j ≠ i)/β − Σ_i F'(ξ g_i)      q = W_q g, k = W_k g
        g = e^γ (x − mean x)/√(var x + ε) + δ

    g is the gradient of a convex function of x, so that E falls along dx/dt = −∂E/∂g, and at every step if it is small.

    Source: Hoover et al. 2023 (arXiv:2302.07253), where F is log-sum-exp and F' = Σ [z]₊²/2.

    Example:
        >>> from flax import nnx
        >>> from hopfield.layers import EnergyTransformerBlock
        >>> EnergyTransformerBlock(8, 2, 16, rngs=nnx.Rngs(0))(jnp.ones((5, 8))).shape
        (5, 8)
    """

    @points_to_options
    def __init__(
        self,
        features: int,
        num_heads: int,
        num_patterns: int,
        *,
        head_features: int | None = None,
        options: AssociationOptions = DEFAULT,
        memory: Separation | str | None = None,
        steps: int = 12,
        step_size: ArrayLike = 0.1,
        kernel_init: Initializer = nnx.initializers.normal(0.02),
        param_dtype: Dtype = jnp.float32,
        rngs: nnx.Rngs,
    ) -> None:
        """Build the block.

        Args:
            features, num_heads, num_patterns: width of tokens F; heads H; stored patterns M of the memory.
            head_features: width of a head, F / H if None.
            options: of the attention: separation F, β, metric, positions and block; nothing moves or is read in it.
            memory: F' of the memory, Σ [z]₊²/2 if None.
            steps: of the descent; step_size: > 0.
        Raises:
            ValueError: heads that do not divide the features, or an option outside its range or without meaning here.
        """
        for name, value in (("features", features), ("num_heads", num_heads), ("num_patterns", num_patterns)):
            integer(name, value, 1)
        if head_features is None and features % num_heads:
            raise ValueError(f"num_heads must divide the {features} features, got {num_heads}")
        instance("rngs", rngs, nnx.Rngs)
        instance("options", options, AssociationOptions)
        step_size = positive_array("step_size", step_size, accumulation_dtype(param_dtype), finite=False)
        unread = ("update_steps", "memory_slots", "window", "window_first", "score", "learn_alpha", "learn_null_score")
        options.refuse("an EnergyTransformerBlock", *unread)
        width = features // num_heads if head_features is None else head_features
        self.features, self.steps, self.block = features, integer("steps", steps, 1), options.block
        self.separation = FixedTree(as_separation(options.separation), constant=True)
        self.memory = FixedTree(Polynomial(2, rectified=True) if memory is None else as_separation(memory))
        self.beta = options.learned_beta(num_heads, width, param_dtype)
        self.metric = nnx.data(options.learned_metric(num_heads, width, param_dtype, rngs))
        self.positions = nnx.data(as_positions(options.positions, num_heads, width, param_dtype))
        self.query = nnx.Param(kernel_init(rngs.params(), (num_heads, features, width), param_dtype))
        self.key = nnx.Param(kernel_init(rngs.params(), (num_heads, features, width), param_dtype))
        self.patterns = nnx.Param(kernel_init(rngs.params(), (num_patterns, features), param_dtype))
        self.log_scale, self.shift = (nnx.Param(jnp.zeros(shape, param_dtype)) for shape in ((), features))
        self.step_size = FixedParam(step_size.astype(accumulation_dtype(param_dtype)))

    def __call__(self, x: Tokens, *, mask: MaskLike = None, bias: Scores | None = None) -> Tokens:
        """Tokens after the descent [*b, T, F].

        Args:
            x: tokens [*b, T, F].
            mask: as for `HopfieldAttention`: True where token i may read token j, never itself. A term of the energy
                moves both tokens, so that padding is to be masked in its row and in its column.
            bias: real numbers added to the scores, broadcast to [*b, H, T, T].
        """
        energy, x, scope = self._energy_of(x, mask, bias)
        return _descend(energy, x, scope, self.steps, self.block)[0].astype(x.dtype)

    def inspect(self, x: Tokens, *, mask: MaskLike = None, bias: Scores | None = None) -> EnergyReport:
        """The descent with its energies, and the weights, their entropy and the status at its end."""
        energy, x, scope = self._energy_of(x, mask, bias)
        state, energies, moved = _descend(energy, x, scope, self.steps, self.block)
        tokens = energy.normalised(state)
        energies = jnp.concatenate([energies, energy.slopes(tokens, scope, self.block)[0][None]])
        query, key = energy.queries_and_keys(tokens)
        weights = energy.reading(key, scope).memory(query).weights(query)
        status = jnp.where(moved[-1] <= tolerance(moved.dtype), CONVERGED, STEP_LIMIT)
        status = jnp.where(jnp.isnan(moved[-1] + energies[-1]), NOT_A_NUMBER, status)
        return EnergyReport(state.astype(x.dtype), energies, weights, thermodynamics.entropy(weights), status)

    def energy(self, x: Tokens, *, mask: MaskLike = None, bias: Scores | None = None) -> Float[Array, "*b"]:
        """E of the tokens, of attention and memory together."""
        energy, x, scope = self._energy_of(x, mask, bias)
        return energy.slopes(energy.normalised(x), scope, self.block)[0]

    def _energy_of(self, x: Tokens, mask: MaskLike, bias: Scores | None) -> tuple["_Energy", Tokens, Scope]:
        """The energy at the parameters' present values, the tokens at their places, and what each may read."""
        x = real_array("x", x, self.patterns.dtype)
        if x.ndim < 2 or x.shape[-1] != self.features:
            raise ValueError(f"x must be tokens [..., T, {self.features}], got shape {x.shape}")
        encoding = None if self.positions is None else self.positions()
        x = x if encoding is None else encoding.add_to_inputs(x, jnp.arange(x.shape[-2]))
        energy = _Energy(
            query=self.query[...],
            key=self.key[...],
            patterns=self.patterns[...],
            log_scale=self.log_scale[...],
            shift=self.shift[...],
            step_size=self.step_size[...],
            beta=self.beta(),
            separation=self.separation.value,
            memory=self.memory.value,
            metric=None if self.metric is None else self.metric(),
            encoding=encoding,
        )
        return (
            energy,
            x,
            scope_of(mask, bias, (*x.shape[:-1], len(self.query[...]), 1), x.shape[-2]).replace(others=True),
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
    metric: Metric | None
    encoding: Encoding | None

    def normalised(self, x: Tokens) -> Tokens:
        x = wide(x)
        centred = x - jnp.mean(x, axis=-1, keepdims=True)
        scale = jnp.exp(self.log_scale) / jnp.sqrt(jnp.mean(centred**2, axis=-1, keepdims=True) + EPSILON)
        return jnp.add(*same_rank(centred * scale, self.shift))

    def queries_and_keys(self, g: Tokens) -> tuple[States, States]:
        """Queries and keys of the tokens by head, turned to their places."""
        rows = [product(g[..., None, :, :], w.astype(g.dtype)) for w in (self.query, self.key)]
        if self.encoding is None:
            return rows[0], rows[1]
        places = jnp.arange(g.shape[-2])
        return self.encoding.rotate(rows[0], places), self.encoding.rotate(rows[1], places)

    def reading(self, key: States, scope: Scope) -> KeyValues:
        """Keys of the tokens by head with all that compares them; the energy reads nothing out of them."""
        options = {"metric": self.metric, "encoding": self.encoding, "separation": self.separation}
        return KeyValues(key, key, self.beta.astype(key.dtype), scope, **options)

    def slopes(self, g: Tokens, scope: Scope, block: int | None) -> tuple[Float[Array, "*b"], Tokens]:
        """Energy of the tokens [*b] and its derivative in g, both formed a block of queries at a time.

        The derivative is formed along with the energy, so that its own, in training, needs the memory of one block.
        """
        (query, key), pull = jax.vjp(self.queries_and_keys, g)
        reading = self.reading(key, scope)

        def part(reading: KeyValues, rows: States, row) -> tuple[tuple[Array, States], States]:
            def attention(key, rows):
                potential = reading.replace(key=key).memory(rows, row).potential(rows)
                potential = jnp.where(potential == -jnp.inf, 0.0, potential)  # a token that may read none adds nothing
                return -jnp.sum(potential), -jnp.sum(potential, axis=(-2, -1))

            (_, energies), (d_key, d_rows) = jax.value_and_grad(attention, (0, 1), has_aux=True)(reading.key, rows)
            return (energies, d_key), d_rows

        (energies, d_key), d_query = in_blocks(part, reading, query, queries_at_once(query.shape, key.shape[-2], block))
        memory, d_g = jax.vjp(self.memory_energy, g)
        return energies + memory, pull((d_query, d_key))[0] + d_g(jnp.ones_like(memory))[0]

    def memory_energy(self, g: Tokens) -> Float[Array, "*b"]:
        """Energy of the memory alone, −Σ F of its patterns' scores with every token."""
        return -jnp.sum(map_rows(self.memory.potential, [product(g, self.patterns.T.astype(g.dtype))], [1]), axis=-1)


@partial(jax.jit, static_argnames=("steps", "block"))
def _descend(energy: _Energy, x: Tokens, scope: Scope, steps: int, block: int | None) -> tuple[Tokens, Array, Array]:
    """Tokens after the descent, in float32 at least, as small steps need; per step energies [steps, *b] and forces."""

    def step(x: Tokens, _) -> tuple[Tokens, tuple[Array, Array]]:
        energies, force = energy.slopes(energy.normalised(x), scope, block)
        flat = (*x.shape[:-2], x.shape[-2] * x.shape[-1])
        size, whole = (safe_norm(rows.reshape(flat), axis=-1) for rows in (force.astype(x.dtype), x))
        return x - (energy.step_size * force).astype(x.dtype), (energies, size / jnp.maximum(whole, 1.0))

    state, (energies, moved) = jax.lax.scan(step, wide(x), length=steps)
    return state, energies, moved
