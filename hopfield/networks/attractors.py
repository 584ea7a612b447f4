"""Attractors of a network that is given: where many starts come to rest, how often, and how heat moves between them."""

import warnings
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from hopfield._arguments import integer, one_of, positive_scalar, random_key, real_matrix
from hopfield._pytrees import changed
from hopfield.couplings import Couplings, asymmetry, square_matrix, symmetric
from hopfield.dynamics.asynchronous import ORDERS
from hopfield.dynamics.heat_bath import glauber
from hopfield.dynamics.retrieval import retrieve
from hopfield.networks.asymmetric import AsymmetricCouplings
from hopfield.patterns import spins
from hopfield.spaces import State

BATCH = 256
"""Starts that run side by side."""


class Attractors(NamedTuple):
    """States at rest [A, N], the largest basin first, with the share of starts that ends in each, and their energies.

    `unsettled` is the share of starts that were still moving at the limit of steps; `energies` are NaN for asymmetric
    couplings.

    Example:
        >>> from hopfield.networks import attractors
        >>> pair = attractors.find_attractors([[0.0, 1.0], [1.0, 0.0]], jax.random.key(0), starts=64)
        >>> sorted(pair.states.tolist()), pair.energies.tolist(), pair.unsettled
        ([[-1.0, -1.0], [1.0, 1.0]], [-1.0, -1.0], 0.0)
    """

    states: Float[Array, "A N"]
    basins: Float[Array, "A"]
    energies: Float[Array, "A"]
    unsettled: float


def as_couplings(matrix: Couplings | Float[Array, "N N"], bias: Float[Array, "N"] | None = None) -> Couplings:
    """The network of a matrix W [N, N], W_ij what j sends to i: with an energy if it is symmetric, else without.

    A matrix that `Couplings` takes is symmetric; of any other a warning says that it is taken as directed.

    Args:
        matrix: W, finite, its diagonal dropped; `Couplings` as they are.
        bias: field from outside [N].
    """
    if isinstance(matrix, Couplings):
        return matrix
    rows = square_matrix("matrix", matrix)
    if symmetric(rows):
        return Couplings(rows, bias=bias)
    warnings.warn(
        f"matrix differs from its transpose by up to {asymmetry(rows):.3g}: taken as directed, W_ij from j to i, which"
        " has no energy and may never come to rest (AsymmetricCouplings takes it without a warning)",
        stacklevel=2,
    )
    return AsymmetricCouplings(rows, bias=bias)


def find_attractors(
    couplings: Couplings | Float[Array, "N N"],
    key: Array,
    *,
    starts: int = 1000,
    dynamics: str = "asynchronous",
    max_steps: int = 200,
) -> Attractors:
    """Fixed points at zero temperature that random starts reach by asynchronous sweeps.

    Args:
        couplings: `Couplings`, `AsymmetricCouplings` or a matrix W [N, N], which `as_couplings` converts.
        key: JAX random key of starts and orders.
        starts: random states to begin from; attractors with basins well below 1/starts are not seen.
        dynamics: "asynchronous" or "sequential".
        max_steps: sweeps of one start at most.
    """
    network, number = as_couplings(couplings), integer("starts", starts)
    one_of("dynamics", dynamics, ORDERS)
    start_key, order_key = jax.random.split(random_key("key", key))
    ends, rested = [], []
    for first in range(0, number, BATCH):
        begin = spins(start_key, BATCH, network.matrix.shape[0], first=first, dtype=network.matrix.dtype)
        keys = jax.vmap(lambda i: jax.random.fold_in(order_key, i))(first + jnp.arange(BATCH))
        end = _rest(network, begin, keys, max_steps, dynamics)
        ends.append(np.asarray(end.state))
        rested.append(np.asarray(end.converged))
    state, rest = (np.concatenate(parts)[:number] for parts in (ends, rested))
    states, counts = np.unique(state[rest], axis=0, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    found = jnp.asarray(states[order].reshape(-1, network.matrix.shape[0]), network.matrix.dtype)
    energies = jax.vmap(network.energy)(found) if len(found) else jnp.zeros(0, found.dtype)
    return Attractors(found, jnp.asarray(counts[order] / number), energies, float(1 - rest.mean()))


def _rest(network: Couplings, begin: State, keys: Array, max_steps: int, dynamics: str):
    run = lambda state, key: retrieve(network, state, dynamics=dynamics, key=key, max_steps=max_steps)
    return jax.vmap(run)(begin, keys)


def transitions(
    couplings: Couplings | Float[Array, "N N"],
    states: Float[Array, "A N"],
    key: Array,
    temperature: float,
    *,
    runs: int = 100,
    sweeps: int = 100,
) -> Float[Array, "A B"]:
    """Shares [A, A + 1] of heat-bath runs from each attractor that come to rest in each, the last column in none.

    Args:
        couplings: as for `find_attractors`.
        states: attractors [A, N].
        key: JAX random key.
        temperature: T > 0, in units of the energy.
        runs: chains from each attractor.
        sweeps: sweeps of the heat bath before the state is let come to rest.
    """
    network, number = as_couplings(couplings), integer("runs", runs)
    rows = jnp.asarray(real_matrix("states", states), network.matrix.dtype)
    warm: Any = positive_scalar("temperature", temperature)
    chain_key = random_key("key", key)

    def ends_in(start: State, chain: Array) -> Int[Array, ""]:
        hot, cold = jax.random.split(chain)
        heated = glauber(network, start, hot, warm, sweeps=sweeps).state
        end = retrieve(network, heated, dynamics="asynchronous", key=cold, max_steps=200).state
        same = jnp.all(rows == end[None, :], axis=1)
        return jnp.where(jnp.any(same), jnp.argmax(same), rows.shape[0])

    keys = jax.random.split(chain_key, (rows.shape[0], number))
    ends = np.asarray(jax.vmap(lambda start, chains: jax.lax.map(lambda c: ends_in(start, c), chains))(rows, keys))
    counts = np.stack([np.bincount(row, minlength=len(rows) + 1) for row in ends])
    return jnp.asarray(counts / number)


def shuffled(couplings: Couplings, key: Array) -> Couplings:
    """A null model: the same couplings off the diagonal in random places, pairs of symmetric ones together.

    Args:
        couplings: `Couplings` or `AsymmetricCouplings`.
        key: JAX random key.
    """
    size = couplings.matrix.shape[0]
    places = np.triu_indices(size, 1) if type(couplings) is Couplings else np.nonzero(~np.eye(size, dtype=bool))
    values = jax.random.permutation(random_key("key", key), couplings.matrix[places])
    matrix = jnp.zeros_like(couplings.matrix).at[places].set(values)
    return changed(couplings, matrix=matrix + matrix.T if type(couplings) is Couplings else matrix)
