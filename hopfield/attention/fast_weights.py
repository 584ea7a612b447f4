"""Fast weights: a matrix that stores pairs of a key and a value as they come, read by one product with a query.

    outer            S ← a S + s k vᵀ                linear attention (Schmidhuber 1992; Katharopoulos et al. 2020)
    delta            S ← a S + s k (v − a kᵀS)ᵀ      what the key reads is written over (Schlag et al. 2021)
    pseudo_inverse   S = argmin Σ_i s_i ‖v_i − k_iᵀS‖² + ridge ‖S‖²    recursive least squares, a fading old terms

With a decay a < 1 of its own at every step the delta rule is the gated one (Yang, Kautz & Hatamizadeh 2025).
Decays are kept as logarithms, so that 0.9995 is not 1 in 16 bits and the product of many has a logarithm.
"""

from collections.abc import Callable
from functools import partial
from typing import ClassVar, Literal, cast, get_args

import jax
import jax.numpy as jnp
from flax import struct
from jax.scipy.linalg import solve_triangular
from jax.typing import ArrayLike, DTypeLike
from jaxtyping import Array, Float

from hopfield import theory
from hopfield._arguments import integer, one_of, real_array, real_scalar, shown
from hopfield._numerics import accumulation_dtype, nan_outside, violated
from hopfield._pytrees import Node, changed, fill

Rule = Literal["outer", "delta", "pseudo_inverse"]


class FastWeights(Node):
    """A memory of pairs in a matrix S [D, V], empty at first.

    Args:
        width: D of keys. values: V of values, D if None.
        rule: "outer"; "delta", stable for s ‖k‖² ≤ 2; or "pseudo_inverse".
        ridge: > 0, of the pseudo-inverse.
        dtype: of the state, at least float32.
    Raises:
        ValueError: a width below 1, an unknown rule, a ridge that is not positive.

    Example:
        >>> memory = FastWeights(4, 2, "delta")
        >>> key = jnp.array([0.0, 1.0, 0.0, 0.0])
        >>> memory.write(key, jnp.array([1.0, -1.0])).read(key)
        Array([ 1., -1.], dtype=float32)
    """

    RULES: ClassVar[tuple[Rule, ...]] = get_args(Rule)

    matrix: Float[Array, "D V"]
    inverse: Float[Array, "D D"] | None = None
    """(Σ s k kᵀ + ridge)⁻¹, of the pseudo-inverse alone."""
    rule: Rule = struct.field(pytree_node=False, default="outer")

    def __init__(
        self,
        width: int,
        values: int | None = None,
        rule: Rule | str = "outer",
        *,
        ridge: float = 1e-3,
        dtype: DTypeLike | None = None,
    ) -> None:
        rule = one_of("rule", rule, self.RULES)
        real_scalar("ridge", ridge, "a positive number", 1e-30)
        dtype, width = accumulation_dtype(jnp.result_type(float) if dtype is None else dtype), integer("width", width)
        inverse = jnp.eye(width, dtype=dtype) / ridge if rule == "pseudo_inverse" else None
        matrix = jnp.zeros((width, width if values is None else integer("values", values)), dtype)
        fill(self, matrix=matrix, inverse=inverse, rule=rule)

    replace = changed

    def read(self, query: Float[Array, "D"]) -> Float[Array, "V"]:
        """Read-out qᵀS [V] of a query [D]."""
        return self._row("query", query, 0) @ self.matrix

    def write(
        self, key: Float[Array, "D"], value: Float[Array, "V"], *, strength: ArrayLike = 1.0, decay: ArrayLike = 1.0
    ) -> "FastWeights":
        """The memory after one more pair of strength s ≥ 0; a decay 0 ≤ a ≤ 1 weakens what it held before."""
        rows = self._row("key", key, 0)[None], self._row("value", value, 1)[None]
        return _compiled(self, (rows[0], *rows, *self._factors(1, strength, decay, None)))[0]

    def forget(self, key: Float[Array, "D"]) -> "FastWeights":
        """The memory in which this key reads zero.

        With the pseudo-inverse all other stored keys read what they did, to the ridge, while they and it are
        independent, at most D; of more, least squares divide among all what this key held.
        The pseudo-inverse still counts the key: written again, it reads the mean, by strength, of zero and its value.
        """
        key = self._row("key", key, 0)
        along = key if self.inverse is None else self.inverse @ key
        size = key @ along
        return changed(self, matrix=self.matrix - jnp.outer(along / jnp.where(size == 0, 1.0, size), key @ self.matrix))

    def attend(
        self,
        query: Float[Array, "T D"],
        key: Float[Array, "T D"],
        value: Float[Array, "T V"],
        *,
        strength: Float[Array, "T"] | None = None,
        decay: Float[Array, "T"] | None = None,
        log_decay: Float[Array, "T"] | None = None,
        chunk: int = 16,
    ) -> tuple[Float[Array, "T V"], "FastWeights"]:
        """A sequence written pair by pair, query t read after pair t; and the memory at its end.

        Parallel within chunks and linear in T: the same numbers as `write` and `read` in a loop, to rounding. Batch
        and heads by `jax.vmap`; differentiable in all floating arguments, the memory included.

        Args:
            query, key, value: one row per step.
            strength: s_t ≥ 0; 1 if None. A strength of 0 writes nothing, and has no gradient in the pseudo-inverse.
            decay: 0 ≤ a_t ≤ 1; 1 if None. A decay of 0 forgets all before, which least squares cannot.
            log_decay: log a_t ≤ 0 in its place, −∞ to forget all before.
            chunk: steps done together; one at a time where least squares have a decay, whose prior spans a^−chunk.
                Such keys have to keep spanning all D directions: along one that none has had for T steps the inverse
                grows as a^−T, and its rounding spoils the others (by 17 % at a = 0.9 and T = 60, to NaN from T = 100).
                Without a decay rounding adds up to 0.3 % in 2000 steps of one key, as other keys read it.
        Raises:
            ValueError: shapes that do not fit, chunk < 1.
        Source: Yang et al. 2024, eqs. 8 to 11 (arXiv:2406.06484); of least squares, Gaussian conditioning by Cholesky.
        """
        widths = [self.matrix.shape[0], *self.matrix.shape]
        rows = [real_array(name, x) for name, x in (("query", query), ("key", key), ("value", value))]
        chunk, steps = integer("chunk", chunk), len(jnp.atleast_1d(rows[1]))
        for name, x, width in zip(("query", "key", "value"), rows, widths, strict=True):
            if x.shape != (steps, width):
                raise ValueError(f"{name} must be [{steps}, {width}], got shape {x.shape}")
        rows += self._factors(steps, strength, decay, log_decay)
        fades = decay is not None or log_decay is not None
        alone = self.rule == "pseudo_inverse" and fades  # float32 has no room for a^−chunk
        return _attend(self, tuple(rows), 1 if alone else max(1, min(chunk, steps)))

    def capacity(self) -> float:
        """Number of pairs of random unit vectors at which half of the keys still find their value, by theory.

        Source: `hopfield.theory.linear.capacity`.
        """
        width, values = self.matrix.shape
        return theory.linear.capacity(width, self.rule, values=values)

    def _row(self, name: str, x: ArrayLike, axis: int) -> Array:
        row = real_array(name, x)
        if row.shape != self.matrix.shape[axis : axis + 1]:
            raise ValueError(f"{name} must have shape [{self.matrix.shape[axis]}], got {row.shape}")
        return row.astype(self.matrix.dtype)

    def _factors(
        self, steps: int, strength: ArrayLike | None, decay: ArrayLike | None, log_decay: ArrayLike | None
    ) -> list[Array]:
        """Strengths of the steps and logarithms of their decays, in the type of the state."""
        if decay is not None and log_decay is not None:
            raise ValueError("log_decay must be left out beside decay, whose logarithm it is")
        dtype = self.matrix.dtype
        strength = _of_steps("strength", 1.0 if strength is None else strength, steps, dtype)
        if decay is None:
            logs = _of_steps("log_decay", 0.0 if log_decay is None else log_decay, steps, dtype)
        else:
            kept = _of_steps("decay", decay, steps, dtype)
            gone = kept == 0  # where the logarithm has no derivative
            logs = jnp.where(gone, -jnp.inf, jnp.log(jnp.where(gone, 1.0, kept)))
        if self.rule == "pseudo_inverse" and violated(lambda x: x != -jnp.inf, logs):
            raise ValueError("decay must be above 0 in least squares, which have a prior, got 0.0")
        return [strength, logs]


RANGES: dict[str, tuple[str, Callable[[Array], Array]]] = {
    "strength": ("finite and at least 0", lambda x: (x >= 0) & (x < jnp.inf)),
    "decay": ("in [0, 1]", lambda x: (x >= 0) & (x <= 1)),
    "log_decay": ("at most 0", lambda x: x <= 0),
}


def _of_steps(name: str, value: ArrayLike, steps: int, dtype: DTypeLike) -> Array:
    """Numbers of the steps, or one for all, in their range; ValueError for others, NaN for others that are traced."""
    (contract, inside), numbers = RANGES[name], real_array(name, value)
    if numbers.shape not in ((), (1,), (steps,)):
        raise ValueError(f"{name} must be [{steps}], got shape {numbers.shape}")
    if violated(lambda x: inside(x) | (x != x), numbers):
        raise ValueError(f"{name} must be {contract}, got {shown(value)}")
    return jnp.broadcast_to(nan_outside(numbers, inside(numbers)).astype(dtype), (steps,))


@partial(jax.jit, static_argnums=2)
def _attend(memory: FastWeights, rows: tuple, chunk: int) -> tuple[Array, FastWeights]:
    steps, dtype = len(rows[0]), rows[2].dtype
    count = max(1, -(-steps // chunk))

    def chunked(x: Array) -> Array:
        x = jnp.pad(x.astype(memory.matrix.dtype), [(0, count * chunk - steps)] + [(0, 0)] * (x.ndim - 1))
        return x.reshape(count, chunk, *x.shape[1:])

    parts = tuple(chunked(x) for x in rows)
    memory, outputs = jax.lax.scan(_step, memory, parts)
    return outputs.reshape(count * chunk, -1)[:steps].astype(dtype), memory


def _step(memory: FastWeights, part: tuple) -> tuple[FastWeights, Array]:
    """Memory after a chunk of (query, key, value, strength, log decay), and what the chunk's queries read."""
    return (_least_squares if memory.rule == "pseudo_inverse" else _products)(memory, part)


def _products(memory: FastWeights, part: tuple) -> tuple[FastWeights, Array]:
    """S_t = γ_t S_0 + Σ_(i ≤ t) (γ_t/γ_i) k_i u_iᵀ with γ_t the decays up to t, u_i = s_i (v_i − what k_i reads)."""
    query, key, value, strength, log = part
    size = len(key)
    later = jnp.tri(size, k=-1, dtype=bool)  # sums of their own, as differences of sums lose a 0 behind −∞
    fade = jnp.exp(jnp.cumsum(jnp.where(later, log[:, None], 0.0), axis=0)) * jnp.tri(size, dtype=log.dtype)
    since = jnp.exp(jnp.cumsum(log))[:, None]
    written = strength[:, None] * value
    if memory.rule == "delta":
        mutual = strength[:, None] * jnp.tril(fade * (key @ key.T), -1)
        written = written - strength[:, None] * since * (key @ memory.matrix)
        written = _unit_inverse(mutual) @ written
    outputs = since * (query @ memory.matrix) + (fade * (query @ key.T)) @ written
    return changed(memory, matrix=since[-1:] * memory.matrix + (key * fade[-1][:, None]).T @ written), outputs


def _unit_inverse(lower: Array) -> Array:
    """(1 + L)⁻¹ of a strictly lower L [C, C], from the inverses of its diagonal blocks, twice as wide at every step.

    Matrix products alone: a batch of LAPACK's triangular solves waits for threads of the pool that it runs on, so that
    two programs at once on a CPU may never end.
    """
    size = len(lower)
    whole = 1 << (size - 1).bit_length()
    lower = jnp.pad(lower, (0, whole - size))
    inverse = jnp.ones((whole, 1, 1), lower.dtype)
    while (width := inverse.shape[1]) < whole:
        count = whole // (2 * width)
        block = jnp.arange(count)
        below = lower.reshape(count, 2 * width, count, 2 * width)[block, width:, block, :width]
        upper, under = inverse[0::2], inverse[1::2]
        left = jnp.concatenate([upper, -(under @ below @ upper)], axis=1)
        inverse = jnp.concatenate([left, jnp.concatenate([jnp.zeros_like(under), under], axis=1)], axis=2)
    return inverse[0, :size, :size]


def _least_squares(memory: FastWeights, part: tuple) -> tuple[FastWeights, Array]:
    """Regression on a chunk with the state before it as prior. The first t rows of the factor serve step t."""
    query, key, value, strength, log = part
    size, inverse = len(key), cast(Array, memory.inverse)
    gone = jnp.exp(jnp.cumsum(log))
    unused = strength == 0  # where the root has no derivative
    root = jnp.where(unused, 0.0, jnp.sqrt(jnp.where(unused, 1.0, strength) / gone))[:, None]
    key, value = root * key, root * value
    spread = key @ inverse
    factor = jnp.linalg.cholesky(jnp.eye(size, dtype=spread.dtype) + spread @ key.T)
    surprise = solve_triangular(factor, value - key @ memory.matrix, lower=True)
    gain = solve_triangular(factor, spread, lower=True)
    outputs = query @ memory.matrix + jnp.tril(query @ gain.T) @ surprise
    inverse = (inverse - gain.T @ gain) / gone[-1]
    return changed(memory, matrix=memory.matrix + gain.T @ surprise, inverse=inverse), outputs


_compiled = jax.jit(_step)
