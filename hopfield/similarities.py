"""Similarities: how a state x is compared with the stored patterns ξ_μ, s_μ = similarity(x, patterns)."""

import abc
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from hopfield._arguments import check_methods, of_patterns, real_matrix, shown
from hopfield._arrays import Patterns, Scores
from hopfield._names import Named, Table
from hopfield._numerics import shrunk_median, unit
from hopfield._pytrees import Node, fill
from hopfield.metrics.forms import Full, Metric
from hopfield.spaces import Box, Euclidean, Known, Space, Sphere, Spins, State


class Similarity(Node, abc.ABC):
    """Scores of a state against stored patterns, written through `keys`, the patterns as the comparison sees them.

    A subclass must define `__call__`, `spin_flip` and, for updates, `minimiser`, or `proximal_step` where a step needs
    all patterns at once. It may define, in this order: `summed`, the rows that `minimiser` reads; `has_exact_step` and
    `linear`, what is known of it; `width` and `keys`, where patterns are no states; `of_states` and `flips`.

    Example:
        >>> from hopfield import similarities
        >>> similarities.Dot()(jnp.array([1.0, 2.0]), jnp.eye(2)).tolist()
        [1.0, 2.0]
    """

    def __init_subclass__(cls, **options):
        check_methods(cls, __call__=of_patterns)
        super().__init_subclass__(**options)

    @abc.abstractmethod
    def __call__(self, state: State, patterns: Patterns) -> Scores:
        """s_μ(x) [M]."""

    @abc.abstractmethod
    def spin_flip(self, state: State, old, new, column: Array) -> Array:
        """Exact change of the scores when a spin of `state` goes from old to new, given its column of the keys."""

    def minimiser(
        self, state: State, moment: Float[Array, "K"], mass: Array, *, space: Space, known: Known = None
    ) -> State:
        """`proximal_step` from moment = Σ_μ weights_μ summed_μ and mass = Σ_μ weights_μ. The default: TypeError."""
        one, other = type(self).__name__, type(space).__name__
        raise TypeError(f"{one} has no step by blocks in {other}: it needs all patterns at once")

    def proximal_step(
        self, state: State, patterns: Patterns, weights: Scores, space: Space, known: Known = None
    ) -> State:
        """argmin over the space of R(x) − Σ_μ weights_μ s_μ(x): the second half of one update."""
        return self.minimiser(state, weights @ self.summed(patterns), jnp.sum(weights), space=space, known=known)

    def summed(self, patterns: Patterns) -> Float[Array, "M K"]:
        """Rows [M, K] whose weighted sum `minimiser` needs: it can be formed block by block."""
        return patterns

    def has_exact_step(self, space: Space, monotone: bool = True) -> bool:
        """True if `proximal_step` is the exact minimiser on this space, a condition of the descent theorem.

        Args:
            space: where states live.
            monotone: whether weights are never negative; with negative weights the problem may not be convex.
        """
        return True

    linear: ClassVar[bool] = False
    """True if scores are linear in every unit of a state, so that a hidden unit, 0, has the mean of both scores."""

    def width(self, patterns: Any) -> int:
        """N, the number of components of a state that patterns of shape [M, K] can be compared with."""
        return patterns.shape[1]

    def keys(self, patterns: Patterns) -> Patterns:
        """Keys [M, N] of the patterns. Column i is compared with component i of a state."""
        return patterns

    def of_states(self, states: Float[Array, "Q N"], patterns: Patterns) -> Float[Array, "Q M"]:
        """s_μ(x) of many states, row by row in memory as the passes over patterns read them."""
        return jax.vmap(self, (0, None))(states, patterns)

    def flips(self, state: State) -> Bool[Array, ""]:
        """True if `spin_flip` is exact from this state. The state may have hidden units, 0."""
        return jnp.ones((), bool)

    def known_fields(self, state: State, fields: Float[Array, "N"]) -> Float[Array, "N"]:
        """Local fields from scores and the steps between −1 and +1. NaN where scores do not determine them."""
        exact = jnp.ones(state.shape, bool) if self.linear else jnp.abs(state) == 1
        return jnp.where(exact & self.flips(state), fields, jnp.nan)


class Dot(Similarity):
    """s_μ = ξ_μ·x.

    Example:
        >>> from hopfield import similarities
        >>> similarities.Dot()(jnp.array([1.0, 2.0]), jnp.eye(2)).tolist()
        [1.0, 2.0]
    """

    linear: ClassVar[bool] = True

    def __call__(self, state, patterns):
        return patterns @ state

    def of_states(self, states, patterns):
        return states @ patterns.T

    def spin_flip(self, state, old, new, column):
        return (new - old) * column

    def minimiser(self, state, moment, mass, *, space, known=None):
        return space.project(moment, state, known=known)


class Bilinear(Similarity):
    """s_μ = x^a g_ab ξ_μ^b with any metric g of `hopfield.metrics`, symmetric or not.

    A matrix g [N, K] becomes `metrics.Full(g)`, for states [N] and patterns [M, K]. A metric has one head.

    Example:
        >>> from hopfield import metrics, similarities
        >>> compare = similarities.Bilinear(metrics.Scaled(2, 3.0))
        >>> compare(jnp.array([1.0, 2.0]), jnp.eye(2)).tolist()
        [3.0, 6.0]
    """

    metric: Metric
    linear: ClassVar[bool] = True

    def __init__(self, metric: Metric | Float[Array, "N K"]) -> None:
        metric = metric if isinstance(metric, Metric) else Full(real_matrix("metric", metric))
        if metric.leading:
            raise ValueError(f"metric must be of one head, got heads {metric.leading}: map over them with jax.vmap")
        fill(self, metric=metric)

    def __call__(self, state, patterns):
        return self.metric.right(patterns) @ self.metric.left(state[None, :])[0]

    def of_states(self, states, patterns):
        return self.metric.left(states) @ self.metric.right(patterns).T

    def width(self, patterns):
        return self.metric.widths[0]

    def keys(self, patterns):
        return jax.vmap(self._slope)(self.metric.right(patterns))

    def spin_flip(self, state, old, new, column):
        return (new - old) * column

    def summed(self, patterns):
        return self.metric.right(patterns)

    def minimiser(self, state, moment, mass, *, space, known=None):
        return space.project(self._slope(moment), state, known=known)

    def _slope(self, compared: Float[Array, "R"]) -> State:
        """∂(left(x) · compared)/∂x [N]."""
        origin = jnp.zeros(self.metric.widths[0], jnp.result_type(compared, *jax.tree.leaves(self.metric)))
        there, pull = jax.vjp(lambda x: self.metric.left(x[None, :])[0], origin)
        return pull(compared.astype(there.dtype))[0]


class SquaredDistance(Similarity):
    """s_μ = −½‖x − ξ_μ‖². The ½ makes it the dot product up to −½‖x‖² − ½‖ξ_μ‖², at the same β.

    Example:
        >>> from hopfield import similarities
        >>> similarities.SquaredDistance()(jnp.array([1.0, 2.0]), jnp.eye(2)).tolist()
        [-2.0, -1.0]
    """

    def __call__(self, state, patterns):
        difference = patterns - state[None, :]
        return -0.5 * jnp.sum(difference * difference, axis=1)

    def spin_flip(self, state, old, new, column):
        return (new - old) * (column - 0.5 * (new + old))

    def has_exact_step(self, space, monotone=True):
        return monotone or not isinstance(space, Box)

    def minimiser(self, state, moment, mass, *, space, known=None):
        return space.project(moment, state, curvature=mass, known=known)


class Cosine(Similarity):
    """s_μ = ξ_μ·x / (‖ξ_μ‖ ‖x‖), zero where either vanishes. Linear in the state on a sphere and on spins only.

    Example:
        >>> from hopfield import similarities
        >>> print(similarities.Cosine()(jnp.array([3.0, 4.0]), jnp.eye(2)).round(3))
        [0.6 0.8]
    """

    def __call__(self, state, patterns):
        return unit(patterns) @ unit(state)

    def keys(self, patterns):
        return unit(patterns)

    def spin_flip(self, state, old, new, column):
        return (new - old) * column / jnp.sqrt(jnp.asarray(state.size, state.dtype))

    def flips(self, state):
        return jnp.all(jnp.abs(state) == 1)  # a hidden unit would change the norm, and with it all scores

    def has_exact_step(self, space, monotone=True):
        return isinstance(space, Sphere | Spins)

    def summed(self, patterns):
        return unit(patterns)

    def minimiser(self, state, moment, mass, *, space, known=None):
        # Where the scores are not linear in the state, the field to first order: their slope.
        field = moment if self.has_exact_step(space) else jax.vjp(unit, state)[1](moment)[0]
        return space.project(field, state, known=known)


class Manhattan(Similarity):
    """s_μ = −Σ_i |x_i − ξ_μi|. Its response in Euclidean space is a weighted median, shrunk when R = ½‖x‖².

    Example:
        >>> from hopfield import similarities
        >>> similarities.Manhattan()(jnp.array([1.0, 2.0]), jnp.eye(2)).tolist()
        [-2.0, -2.0]
    """

    def __call__(self, state, patterns):
        return -jnp.sum(jnp.abs(patterns - state[None, :]), axis=1)

    def spin_flip(self, state, old, new, column):
        return jnp.abs(column - old) - jnp.abs(column - new)

    def has_exact_step(self, space, monotone=True):
        return isinstance(space, Spins) or (isinstance(space, Euclidean) and (monotone or space.flat))

    def proximal_step(self, state, patterns, weights, space, known=None):
        if isinstance(space, Spins):  # −|x − ξ| on spins: xξ − 1 for |ξ| ≤ 1, as much as at its sign beyond
            return space.project(weights @ jnp.clip(patterns, -1.0, 1.0), state, known=known)
        if not isinstance(space, Euclidean):
            return space.project(_slope(self, state, patterns, weights), state, known=known)
        new = jax.vmap(shrunk_median, (1, None, None))(patterns, weights, 1.0 if space.confined else 0.0)
        new = jnp.where(jnp.sum(weights) <= 0, state if space.flat else jnp.zeros_like(state), new)
        return new if known is None else jnp.where(known, state, new)


def _slope(similarity: Similarity, state: State, patterns: Patterns, weights: Scores) -> State:
    """Σ_μ weights_μ ∂s_μ/∂x, the field to first order where no exact response is known."""
    return jax.vjp(lambda x: similarity(x, patterns), state)[1](weights)[0]


_KINDS = {"dot": Dot, "squared_distance": SquaredDistance, "cosine": Cosine, "manhattan": Manhattan}
SimilarityLike = Similarity | Metric | str
NAMES = {name: Named(kind) for name, kind in _KINDS.items()}
"""The one table of names, of all that need no metric."""
_TABLE = Table(Similarity, "similarities", NAMES)


def names() -> tuple[str, ...]:
    """Every name of a similarity."""
    return tuple(NAMES)


def as_similarity(similarity: SimilarityLike) -> Similarity:
    """Similarity that is given, `Bilinear` of a metric, or named as in `find`. Raises TypeError for anything else."""
    if isinstance(similarity, Metric):
        return Bilinear(similarity)
    if hasattr(similarity, "shape") or similarity == "bilinear":
        raise TypeError(f"similarity must be Bilinear(g) for a metric or a matrix g, got {shown(similarity)}")
    return _TABLE.part(similarity)


def find(spec: str) -> Similarity:
    """Similarity by its name, as `cosine`. ValueError for any other."""
    return _TABLE.find(spec)
