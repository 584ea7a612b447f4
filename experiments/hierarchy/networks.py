"""Networks of digits as graphs: a flat memory of whole digits, and a memory of parts that make up digits."""

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Int

from hopfield import graphs

POSITIONS, PIXELS = 4, 16
"""Quadrants of a digit of 8 × 8 pixels, and pixels of each."""
ABSENT = -1e4
"""Field on a unit that stands for nothing stored."""
ROUNDS = 10
"""Steps of Lloyd's algorithm, by which parts are learned."""

Dictionary = Float[Array, "Q K P"]
Codes = Int[Array, "M Q"]


def pixel_energy(dictionary: Dictionary, pixels: Float[Array, "Q P"], parts: Float[Array, "Q K"]) -> Float[Array, ""]:
    """−Σ p (D·x − ½‖D‖²). The norm is subtracted so that the entry D nearest to the pixels has the largest field."""
    field = jnp.einsum("qkp,qp->qk", dictionary, pixels) - 0.5 * jnp.sum(dictionary**2, axis=-1)
    return -jnp.sum(parts * field)


def composition_energy(
    stored: tuple[Codes, Array], parts: Float[Array, "Q K"], wholes: Float[Array, "M"]
) -> Float[Array, ""]:
    """−J Σ_μ h_μ Σ_q p_q[c_μq]: a whole is the part of every position that its code names."""
    codes, strength = stored
    agreement = jnp.sum(parts[jnp.arange(codes.shape[1])[None], codes], axis=1)
    return -strength * jnp.sum(wholes * agreement)


def flat(digits: Float[Array, "M Q P"], used: Array, beta: ArrayLike) -> graphs.Graph:
    """Pixels and one softmax layer, a unit for each digit: the modern network with distances for scores."""
    layers = {
        "pixels": graphs.Layer(digits.shape[1:]),
        "wholes": graphs.Layer(digits.shape[:1], graphs.Softmax(jnp.asarray(beta))),
    }
    return graphs.Graph(layers, [(("pixels", "wholes"), graphs.Formula(digit_energy, digits)), _absent("wholes", used)])


def digit_energy(
    digits: Float[Array, "M Q P"], pixels: Float[Array, "Q P"], wholes: Float[Array, "M"]
) -> Float[Array, ""]:
    """−Σ h (ξ·x − ½‖ξ‖²): energy of pixels x and units h, one for each stored digit ξ."""
    return pixel_energy(digits.reshape(1, len(digits), -1), pixels.reshape(1, -1), wholes[None])


def hierarchical(
    digits: Float[Array, "M Q P"], used: Array, num_parts: int, beta: ArrayLike, strength: ArrayLike
) -> graphs.Graph:
    """Pixels, a softmax layer of parts for every quadrant, and one of wholes, each the four parts of a stored digit."""
    dictionary, codes = learn_parts(digits, used, num_parts)
    softmax = graphs.Softmax(jnp.asarray(beta))
    layers = {
        "pixels": graphs.Layer(digits.shape[1:]),
        "parts": graphs.Layer((POSITIONS, num_parts), softmax),
        "wholes": graphs.Layer(digits.shape[:1], softmax),
    }
    joined = (codes, jnp.asarray(strength))
    synapses = [
        (("pixels", "parts"), graphs.Formula(pixel_energy, dictionary)),
        (("parts", "wholes"), graphs.Formula(composition_energy, joined)),
    ]
    known = jnp.broadcast_to(jnp.arange(num_parts) < jnp.sum(used), (POSITIONS, num_parts))  # others are copies
    return graphs.Graph(layers, [*synapses, _absent("wholes", used), _absent("parts", known)])


def rest(graph: graphs.Graph, used: Array) -> dict[str, Array]:
    """States at zero field. Hidden units that store no pattern are switched off."""
    return graph.zeros() | {
        name: jnp.where(jnp.arange(state.shape[-1]) < jnp.sum(used), state, ABSENT)
        for name, state in graph.zeros().items()
        if name != "pixels"
    }


def learn_parts(digits: Float[Array, "M Q P"], used: Array, num_parts: int) -> tuple[Dictionary, Codes]:
    """Parts of every quadrant by k-means from the first digits on, and the nearest part of every digit."""
    start = jnp.swapaxes(digits[jnp.arange(num_parts) % jnp.maximum(jnp.sum(used), 1)], 0, 1)

    def nearest(parts: Array) -> Array:
        return jnp.argmin(jnp.sum(parts**2, axis=-1)[None] - 2 * jnp.einsum("mqp,qkp->mqk", digits, parts), axis=-1)

    def step(parts: Array, _: None) -> tuple[Array, None]:
        member = jax.nn.one_hot(nearest(parts), num_parts) * used[:, None, None]
        count = jnp.sum(member, axis=0)[..., None]
        mean = jnp.einsum("mqk,mqp->qkp", member, digits) / jnp.maximum(count, 1)
        return jnp.where(count > 0, mean, parts), None

    parts, _ = jax.lax.scan(step, start, length=ROUNDS)
    return parts, nearest(parts)


def numbers(num_parts: int, num_patterns: int) -> int:
    """Numbers that a memory stores: pixels of whole digits, or pixels of parts and four names of parts per digit."""
    if num_parts == 0:
        return POSITIONS * PIXELS * num_patterns
    return POSITIONS * (PIXELS * min(num_parts, num_patterns) + num_patterns)


def _absent(layer: str, used: Array) -> tuple[str, graphs.Bias]:
    return layer, graphs.Bias(jnp.where(used, 0.0, ABSENT))
