"""States at a temperature: chains from several starts, and independent samples that are weighted to equilibrium.

Independent samples x are drawn from the sum over patterns of what each alone would have, q ∝ Σ_μ e^{−N e(m_μ)/T}, whose
norm is one integral for each pattern, and weighted by e^{−E/T}/q: means of all states, whatever chains do. At T = 1/b
log-sum-exp has equal weights, as its Boltzmann factor is that sum.
"""

from functools import partial
from typing import Any

import flax.struct
import jax
import jax.numpy as jnp
from jax.scipy.special import betaln, logsumexp
from jaxtyping import Array

from hopfield import Memory
from hopfield.dynamics import Thermal, langevin
from hopfield.patterns import gaussian, sphere
from hopfield.separations import LogReLU

CELLS = 4096
"""Cells of the cosine with a pattern, by which one pattern's states are integrated and drawn."""
BATCH = 64
"""States, or patterns, that are handled side by side."""
STARTS = ("pattern", "another", "random")


class SharpReLU(LogReLU):
    """F = log Σ [1 + z − b]₊: support from an overlap of 1 − 1/b on, for scores z = b m."""

    sharpness: float = flax.struct.field(pytree_node=False, default=1.0)

    def _inside(self, z, mask):
        return super()._inside(z - self.sharpness, mask)


def patterns(program, key: Array) -> Array:
    """Patterns [M, N] of the ensemble, the first one of norm √N."""
    if program.ensemble == "sphere":
        return sphere(key, program.num_patterns, program.neurons)
    stored = gaussian(key, program.num_patterns, program.neurons)
    return stored.at[0].set(stored[0] * (program.neurons**0.5 / jnp.linalg.norm(stored[0])))


def memory_of(program, stored: Array) -> tuple[Memory, float]:
    """A memory whose energy is of the order N, and how far it lies above −1 per neuron in a pattern that is alone."""
    space = f"sphere:{program.neurons**0.5!r}"
    if program.kernel == "lse":
        return Memory(stored, beta=program.sharpness, space=space), 0.0
    separation = SharpReLU(program.sharpness)
    return Memory(stored, beta=program.sharpness / program.neurons, separation=separation, space=space), 1.0


def chains(program, memory: Memory, stored: Array, key: Array, temperature: Any) -> Thermal:
    """Chains [starts, chains] of states at a temperature."""
    point_key, chain_key = jax.random.split(key)
    longest = stored[1 + jnp.argmax(jnp.linalg.norm(stored[1:], axis=1))]
    points = sphere(point_key, program.chains, program.neurons)
    if program.kernel == "lsr":
        points = jax.vmap(partial(_in_reach, stored=stored, least=1 - 1 / program.sharpness))(points)
    same = lambda state: jnp.broadcast_to(state, points.shape)
    known = {"pattern": same(stored[0]), "another": same(longest), "random": points}
    starts = jnp.stack([known[name] for name in program.starts])
    keys = jax.random.split(chain_key, starts.shape[:2])
    run = partial(langevin, samples=program.length, every=program.every, burn_in=program.burn_in)
    return jax.vmap(jax.vmap(lambda start, key: run(memory, start, key, temperature)))(starts, keys)


def _in_reach(point: Array, stored: Array, least: float) -> Array:
    """The point, or, where its overlaps with all patterns are below `least`, one half-way into the nearest's reach."""
    size, norms = point.size, jnp.linalg.norm(stored, axis=1) / point.size**0.5
    overlaps = stored @ point / size
    nearest = jnp.argmax(jnp.where(norms > least, overlaps, -jnp.inf))
    along = stored[nearest] / norms[nearest]
    cosine = 0.5 * (1 + least / norms[nearest])
    across = point - along * (along @ point / size)
    across = across * (size**0.5 / jnp.linalg.norm(across))
    moved = cosine * along + jnp.sqrt(1 - cosine**2) * across
    return jnp.where(jnp.max(overlaps) > least, point, moved)


def equilibrium(program, memory: Memory, stored: Array, key: Array, temperature: Array) -> dict[str, Array]:
    """Mean overlap with the first pattern, free energy per neuron and effective number of weighted samples."""
    size, count = program.neurons, program.independent
    pattern_key, *keys = jax.random.split(key, 5)
    norms = jnp.linalg.norm(stored, axis=1) / size**0.5
    cosines = (2 * jnp.arange(CELLS) + 1.0) / CELLS - 1

    def log_density(norm: Array) -> Array:
        room = 0.5 * (size - 3) * jnp.log1p(-(cosines**2)) - betaln(0.5, 0.5 * (size - 1))
        return room + jnp.log(2 / CELLS) - size * _energy(program, norm * cosines) / temperature

    def draw(norm: Array, pattern: Array, keys: Array) -> Array:
        middle = jax.random.choice(keys[0], cosines, p=jax.nn.softmax(log_density(norm)))
        cosine = middle + jax.random.uniform(keys[1], (), minval=-1 / CELLS, maxval=1 / CELLS)
        noise, along = jax.random.normal(keys[2], (size,)), pattern / norm
        across = noise - along * (along @ noise / size)
        return cosine * along + jnp.sqrt((1 - cosine**2) * size) * across / jnp.linalg.norm(across)

    totals = jax.lax.map(lambda norm: logsumexp(log_density(norm)), norms, batch_size=BATCH)
    chosen = jax.random.categorical(pattern_key, totals, shape=(count,))
    each = jax.vmap(lambda key: jax.random.split(key, 3))(jax.random.split(keys[0], count))
    states = jax.lax.map(lambda one: draw(*one), (norms[chosen], stored[chosen], each), batch_size=BATCH)
    _, lowest = memory_of(program, stored)

    def log_weight(state: Array) -> Array:
        alone = logsumexp(-size * _energy(program, stored @ state / size) / temperature)
        factor = (size * lowest - memory.energy(state)) / temperature
        return jnp.where(alone == -jnp.inf, -jnp.inf, factor - alone)  # on the very edge of a support

    log_weights = jax.lax.map(log_weight, states, batch_size=BATCH)
    weights = jax.nn.softmax(log_weights)
    log_sum = logsumexp(totals) + logsumexp(log_weights) - jnp.log(count)
    return {
        "equilibrium": weights @ (states @ stored[0]) / size,
        "free_energy": -temperature * log_sum / size,
        "weighted": 1 / jnp.sum(weights**2),
    }


def _energy(program, overlap: Array) -> Array:
    """Energy per neuron of a pattern that is alone, by x·ξ/N: +∞ outside the support of lsr."""
    if program.kernel == "lse":
        return -overlap
    inside = 1 - program.sharpness + program.sharpness * overlap
    return jnp.where(inside > 0, -1 - jnp.log(jnp.maximum(inside, 1e-30)) / program.sharpness, jnp.inf)
