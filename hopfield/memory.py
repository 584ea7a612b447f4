"""Memory: stored patterns with an energy, its update and its read-out.

    E(x) = R(x) − F(β s(x)) / β       scores s = similarity(x, patterns), weights p = ∇F(β s)
    x'   = argmin R(x) − Σ_μ p_μ s_μ(x)    (for dot products: project(Xᵀ p))

For F convex this is one step of majorise–minimise (the concave–convex procedure when s is linear), so E never rises.
On spins the update follows the exact local energy difference instead, the neuron's own spin excluded.

Patterns are an array, or a source of more of them than fit in memory: packed bits, a file, a random ensemble. The verbs
are the same, and read a source block by block.
Half precision is for storage: β, scores, weights, fields and energies are at least float32, states keep their type.
"""

from typing import Any, Literal, get_args

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float, Int

from hopfield import _numerics, large
from hopfield._arguments import boolean_array, integer, one_of, positive_scalar
from hopfield._numerics import accumulation_dtype, is_traced, wide
from hopfield._parts import check_dot_products, check_parts, checked_values
from hopfield._pytrees import Node, fill
from hopfield.large.reading import own_patterns
from hopfield.patterns.sources import Source, as_patterns
from hopfield.separations import Linear, LogSumExp, Polynomial, Separation, as_separation
from hopfield.separations.simplex import shannon_entropy
from hopfield.similarities import Dot, Similarity, SimilarityLike, as_similarity
from hopfield.spaces import Euclidean, Known, Space, Spins, State, as_known, as_space, one_state

Dynamics = Literal["synchronous", "asynchronous", "sequential"]
DYNAMICS: tuple[Dynamics, ...] = get_args(Dynamics)


class Memory(Node):
    """An associative memory: stored patterns, β, and the three choices, checked against each other.

    Args:
        patterns: [M, N], one per row: an array, or a source of them, which a memory-mapped array becomes by itself.
        beta: inverse temperature β > 0, kept in at least float32 and within its range; 1 by default, the unit of
            physics, where attention and its layers take 1/√N.
        values: what `read` returns instead of the patterns [M, V] (hetero-association).
        mask: patterns in use [M]; the others are padding and change nothing. None for a source.
        similarity, separation, space: the three choices, each an object or a name of `similarities.NAMES`,
            `separations.NAMES` and `spaces.NAMES`, as "cosine", "entmax:1.5", "sphere:20"; a metric is `Bilinear`.
    Raises:
        ValueError: a shape, a name, β or a combination that has no meaning, in one sentence.
        TypeError: one of the three choices is something else. (A warning: patterns astray by dot products.)

    Example:
        >>> from hopfield import Memory, separations
        >>> memory = Memory(jnp.eye(3), 8.0, separation=separations.LogSumExp())
        >>> print(memory.update(jnp.array([0.9, 0.1, 0.0])).round(2))
        [1. 0. 0.]
    """

    patterns: Float[Array, "M N"] | Source
    beta: Float[Array, ""]
    values: Float[Array, "M V"] | Source | None = None
    mask: Bool[Array, "M"] | None = None
    similarity: Similarity = Dot()
    separation: Separation = LogSumExp()
    space: Space = Euclidean()

    def __init__(
        self,
        patterns: Float[Array, "M N"] | Source,
        beta: ArrayLike = 1.0,
        *,
        values: Float[Array, "M V"] | Source | None = None,
        mask: Bool[Array, "M"] | None = None,
        similarity: SimilarityLike = Dot(),
        separation: Separation | str = LogSumExp(),
        space: Space | str = Euclidean(),
    ) -> None:
        patterns = as_patterns(patterns)
        similarity, separation, space = as_similarity(similarity), as_separation(separation), as_space(space)
        check_parts(patterns, similarity, space)
        values = None if values is None else checked_values(values, patterns)
        if mask is not None and isinstance(patterns, Source):
            raise ValueError("mask must be None for the patterns of a source, of which `part` cuts out some, got one")
        mask = None if mask is None else boolean_array("mask", mask, patterns.shape[:1])
        if isinstance(similarity, Dot):
            check_dot_products(patterns, mask, space, values)
        precision = accumulation_dtype(patterns.dtype)
        checked = jnp.asarray(positive_scalar("beta", beta, precision), precision)
        fill(self, patterns=patterns, beta=checked, values=values, mask=mask)
        fill(self, similarity=similarity, separation=separation, space=space)

    @property
    def walked(self) -> bool:
        """True if patterns are read from disk, outside compiled code, in a loop over parts."""
        return any(isinstance(rows, Source) and rows.walked for rows in (self.patterns, self.values))

    @property
    def classical(self) -> bool:
        """True if the memory is a network of couplings: ½‖z‖² of dot products with spins (Hopfield 1982)."""
        parts = isinstance(self.similarity, Dot) and isinstance(self.space, Spins)
        plain = type(self.separation) in (Linear, Polynomial)  # a subclass may have weights of its own
        return parts and plain and self.separation.degree == 2 and not self.separation.rectified  # type: ignore[attr]

    def as_state(self, state: ArrayLike) -> State:
        """A state as an array of floating type; ValueError unless it is one state, as wide as the memory's."""
        return one_state(state, self.similarity.width(self.patterns), self.patterns.dtype)

    def scores(self, state: State) -> Float[Array, "M"]:
        """s_μ(x) [M], zero where masked."""
        if isinstance(self.patterns, Source):
            return large.scores(self, self.as_state(state)[None])[0]
        scores = self.similarity(wide(self.as_state(state)), wide(self.patterns))
        return scores if self.mask is None else jnp.where(self.mask, scores, 0.0)

    def weights(self, state: State) -> Float[Array, "M"]:
        """p = ∇F(β s) [M]."""
        return self.separation.weights(self.beta * self.scores(state), self.mask)

    def shares(self, state: State) -> Float[Array, "M"]:
        """|p| / Σ|p| [M]: the part each pattern has in the read-out, finite at any β."""
        return self.separation.shares(self.beta * self.scores(state), self.mask)

    def energy(self, state: State) -> Float[Array, ""]:
        """E(x) = R(x) − F(β s)/β, at least in float32; Ramsauer's additive constants are left out."""
        state = wide(self.as_state(state))
        if isinstance(self.patterns, Source):
            return large.energy(self, state[None])[0]
        potential = self.separation.potential(self.beta * self.scores(state).astype(state.dtype), self.mask)
        return self.space.potential(state) - potential / self.beta

    def read(self, state: State) -> Float[Array, "V"]:
        """Σ_μ p_μ values_μ [V], the patterns themselves without `values`; with log-sum-exp this is attention."""
        state = self.as_state(state)
        values: Any = self.patterns if self.values is None else self.values
        if isinstance(self.patterns, Source):
            output = large.read(self, state[None]).output[0]
        else:
            output = self.weights(state) @ wide(_zeroed(values, self.mask))
        return output.astype(jnp.promote_types(state.dtype, values.dtype))

    def update(self, state: State, known: Known = None) -> State:
        """One synchronous step [N], units in `known` held fixed."""
        state = self.as_state(state)
        known = as_known(known, state)
        if isinstance(self.space, Spins):
            return self.space.project(self.local_field(state), state, known=known)
        # Where R is constant the scale of the weights is immaterial, and shares do not overflow.
        shares = self.space.flat and self.separation.monotone
        if isinstance(self.patterns, Source):
            (moment,), (mass,) = large.moments(self, state[None], shares=shares)
            new = self.similarity.minimiser(wide(state), moment, mass, space=self.space, known=known)
        else:
            weights = self.shares(state) if shares else self.weights(state)
            new = self.similarity.proximal_step(wide(state), self.stored(), weights, self.space, known)
        return new.astype(state.dtype)

    def statistics(self, state: State, target: ArrayLike | None = None, top: int = 1) -> large.Statistics:
        """Largest score β s, entropy of the shares in nats, share of pattern `target`, and the `top` largest scores.

        Args:
            state: a query [N].
            target: index of its own pattern; without one its share is NaN.
            top: how many of the largest scores to keep, with their patterns, 1 to M.
        """
        state, top = self.as_state(state), integer("top", top)
        if top > self.patterns.shape[0]:
            raise ValueError(f"top must be from 1 to the {self.patterns.shape[0]} patterns, got {top}")
        index: Any = target if is_traced(target) else np.asarray(0 if target is None else target)
        own = own_patterns(index[None], 1, self.patterns.shape[0], "target")
        if self.mask is not None or self.separation.by_blocks is None:
            found = _statistics(self, state, own[0], top)
        else:
            found = jax.tree.map(lambda x: x[0], large.statistics(self, state[None], targets=own, top=top).statistics)
        return found if target is not None else found._replace(target_weight=_numerics.absent(found.target_weight))

    def local_field(self, state: State) -> State:
        """Half the energy each spin would lose by being +1 rather than −1, all others as they are [N].

        Raises:
            TypeError: states are not spins.
        """
        state = wide(self.as_state(state))
        if isinstance(self.patterns, Source) and isinstance(self.space, Spins):
            return large.local_field(self, state[None])[0].astype(state.dtype)
        columns, scores = self.cache(state)
        steps = self.similarity.spin_flip(state, -1.0, 1.0, columns.T)
        fields = _fields(self.separation, scores, steps, state, self.beta, self.mask)
        return self.similarity.known_fields(state, fields).astype(state.dtype)

    def cache(self, state: State) -> tuple[Array, Array]:
        """Cache that one-neuron-at-a-time dynamics carry: the columns of the keys [N, M], and the scores [M]."""
        if not isinstance(self.space, Spins):
            raise TypeError(f"space must be Spins for states to have local fields, got {type(self.space).__name__}")
        scores = jnp.where(self.similarity.flips(wide(self.as_state(state))), self.scores(state), jnp.nan)
        return self.similarity.keys(self.stored()).T, scores

    def field_at(self, cache: tuple[Array, Array], state: State, i) -> Float[Array, ""]:
        """Local field of neuron i, scores taken from the cache."""
        (columns, scores), state = cache, wide(state)
        up, down = (scores + self.similarity.spin_flip(state, state[i], spin, columns[i]) for spin in (1.0, -1.0))
        return 0.5 * self.separation.potential_difference(up, down, self.beta, self.mask)

    def advance(self, cache: tuple[Array, Array], state: State, i, new) -> tuple[Array, Array]:
        """The cache after spin i of `state` has become `new`."""
        columns, scores = cache
        return columns, scores + self.similarity.spin_flip(wide(state), state[i], new, columns[i])

    def stored(self) -> Float[Array, "M N"]:
        """The patterns [M, N] in the type that sums are carried in, zero where masked.

        Raises:
            TypeError: the patterns are a source, which never gives all of them at once.
        """
        if isinstance(self.patterns, Source):
            kind = type(self.patterns).__name__
            raise TypeError(f"patterns must be an array where all of them are needed at once, got a source, {kind}")
        return wide(_zeroed(self.patterns, self.mask))

    def descends(self, dynamics: Dynamics = "synchronous") -> bool:
        """True if a theorem says that E never rises along these dynamics, for this combination of the three choices."""
        one_of("dynamics", dynamics, DYNAMICS)
        if isinstance(self.space, Spins) or dynamics != "synchronous":
            return isinstance(self.space, Spins) and dynamics != "synchronous"
        potential = self.separation.convex or (self.separation.quasiconvex and self.space.flat)
        return potential and self.similarity.has_exact_step(self.space, self.separation.monotone)


@jax.jit  # so that their conditions are compiled once, not at every call
def _fields(separation: Separation, *parts: Any) -> State:
    """Local fields [N] by the separation's own method."""
    return separation.fields(*parts)


def _statistics(memory: Memory, state: State, target: Int[Array, ""], top: int) -> large.Statistics:
    """`Memory.statistics` from all scores and shares at once; NaN is the share of a target below 0."""
    shares, z = memory.shares(state), memory.beta * memory.scores(state)
    z, index = _numerics.top_k(z if memory.mask is None else jnp.where(memory.mask, z, -jnp.inf), top)
    weight = jnp.where(target < 0, jnp.nan, shares.at[target].get(mode="fill", fill_value=jnp.nan))
    return large.Statistics(z[0], shannon_entropy(shares), weight, z, index)


def _zeroed(rows: Float[Array, "M K"], mask) -> Float[Array, "M K"]:
    return rows if mask is None else jnp.where(mask[:, None], rows, 0.0)
