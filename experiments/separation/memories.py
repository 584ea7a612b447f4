"""Memories of the comparison of image retrieval: similarity × separation by name."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from experiments.bounds import suggestion
from hopfield import Memory, separations, similarities
from hopfield.similarities import Cosine, Similarity, SquaredDistance
from hopfield.spaces import Euclidean, Space

DISTANCES = ("euclidean", "manhattan")
SIMILARITIES = ("dot", "cosine", "correlation", *DISTANCES)
SEPARATIONS = ("rectified", "softmax", "entmax", "sparsemax", "normmax", "top_k", "epanechnikov", "max")
"""Names of `separations.NAMES` whose weights are never negative and stay inside float32."""
DEGREES = range(2, 13)
"""Degrees n of rectified powers; weights are powers n − 1, which must stay inside float32."""
NEAR = 1e-3
"""Distance in units of the mean one below which a reciprocal grows no further."""


class SingleShot(Similarity):
    """A comparison that is read out once: no update is defined for it."""

    def spin_flip(self, state: Array, old: Array, new: Array, column: Array) -> Array:
        raise TypeError(f"{type(self).__name__} is for reading, it has no dynamics")

    def proximal_step(
        self, state: Array, patterns: Array, weights: Array, space: Space, known: Array | None = None
    ) -> Array:
        raise TypeError(f"{type(self).__name__} is for reading, it has no dynamics")


class Correlation(SingleShot):
    """Pearson's correlation coefficient: the cosine after each has lost its own mean, blind to brightness."""

    def __call__(self, state: Array, patterns: Array) -> Array:
        centred = patterns - jnp.mean(patterns, axis=1, keepdims=True)
        return Cosine()(state - jnp.mean(state), centred)


class Reciprocal(SingleShot):
    """1 / distance, in units of `unit`: a distance made positive and growing with similarity (Millidge et al. 2022)."""

    distance: Similarity
    unit: Float[Array, ""]

    def __call__(self, state: Array, patterns: Array) -> Array:
        return 1.0 / (NEAR - self.distance(state, patterns) / self.unit)


def check(similarity: str, separation: str) -> None:
    """Check that both names mean something; else ValueError."""
    if similarity not in SIMILARITIES:
        near = suggestion(similarity, SIMILARITIES)
        raise ValueError(f"similarities must be any of {', '.join(SIMILARITIES)}, got {similarity!r}{near}")
    name, colon, _ = separation.partition(":")
    if name not in SEPARATIONS:
        raise ValueError(f"separations must be any of {', '.join(SEPARATIONS)}, got {separation!r}")
    numbered = separations.NAMES[name].number is not None
    if bool(colon) != numbered:
        wanted = "with a number, as in entmax:1.5" if numbered else "without a number"
        raise ValueError(f"separations must name {name} {wanted}, got {separation!r}")
    potential = separations.find(separation)
    if getattr(potential, "degree", DEGREES[0]) not in DEGREES:
        raise ValueError(f"separations must have degrees from {DEGREES[0]} to {DEGREES[-1]}, got {separation!r}")


def combines(similarity: str, separation: str) -> bool:
    """True if the two make a memory: the Epanechnikov kernel is a function of distances alone."""
    return separation != "epanechnikov" or similarity in DISTANCES


def has_beta(separation: str) -> bool:
    """True if the read-out depends on β; it divides out of powers, and the maximum is its limit."""
    return separation != "max" and not _is_power(separation)


def iterates(similarity: str, separation: str) -> bool:
    """True if the memory's update is the read-out itself, so that reading it again and again descends in energy."""
    return similarity in ("dot", "euclidean") and not _is_power(separation)


def build(similarity: str, separation: str, images: Array, mask: Array, beta: Array, unit: Array) -> Memory:
    """The memory of a pair; traceable.

    Powers need scores that are positive and grow with the similarity: they get the reciprocal of a distance, as in
    Millidge et al. 2022, and the positive part of the other scores. Distances alone confine a state.

    Args:
        similarity, separation: a pair that combines.
        images: stored images [M, N].
        mask: images in use [M].
        beta: inverse temperature.
        unit: from `gap`; reciprocals measure distances in it.
    """
    compare, is_distance = _similarity(similarity), similarity in DISTANCES
    if is_distance and _is_power(separation):
        compare, is_distance = Reciprocal(compare, unit), False
    space = Euclidean(confined=not is_distance)
    return Memory(images, beta, mask=mask, similarity=compare, separation=separations.find(separation), space=space)


def gap(similarity: str, images: np.ndarray) -> float:
    """Mean lead of an image's score with itself over its scores with the others: the unit in which β is counted."""
    scores = np.asarray(jax.jit(jax.vmap(_similarity(similarity), (0, None)))(images, images), np.float64)
    own, others = np.trace(scores), scores.sum() - np.trace(scores)
    return float(own / len(scores) - others / (scores.size - len(scores)))


def _is_power(separation: str) -> bool:
    return separation.partition(":")[0] == "rectified"


def _similarity(name: str) -> Similarity:
    own = {"correlation": Correlation, "euclidean": SquaredDistance}
    return own[name]() if name in own else similarities.find(name)
