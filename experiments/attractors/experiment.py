"""Attractors of a network that is given: where random starts come to rest, and which states heat makes it leave.

At T = 0 every start makes asynchronous sweeps until no spin moves. At T > 0 it goes on from there with heat-bath
sweeps, and comes to rest again. The null model has the same couplings in other places; a symmetric
pair stays together. Asymmetric couplings have no energy, and may never come to rest.
"""

import hashlib
import itertools
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array
from sklearn.covariance import LedoitWolf
from sklearn.datasets import load_wine

from experiments import contract
from experiments.attractors.results import panels, summarise
from experiments.columns import Column, shared
from experiments.contract import Cost, Point, Row, grid_axis, option
from experiments.shared import draws
from experiments.shared.axes import product_of
from experiments.shared.notes import note
from hopfield import Couplings, glauber, retrieve
from hopfield.networks.attractors import as_couplings, shuffled
from hopfield.patterns import datasets, spins

WINE = "wine"
"""The couplings that ship: partial correlations of 13 measurements of 178 wines, and 3 cultivars' means."""


@dataclass
class Config(contract.Config):
    """Options of the attractors of a network that is given; the defaults are smoke scale."""

    couplings: str = option(WINE, "file of the matrix W [N, N] (.npy, .csv), W_ij from j to i; wine: one that ships")
    states: str | None = option(
        None, "file of states [S, N] to look for, spins (.npy, .csv); null: none, or wine's own"
    )
    starts: int = option(50, "random states to start from", least=2, most=10**6, extends=True)
    nulls: int = option(4, "copies whose couplings are shuffled, the null model", least=2, most=1000, extends=True)
    temperatures: list[float] = grid_axis(
        [0.3],
        "T of heat-bath runs that leave an attractor, in units of √(Σ_ij W_ij²/N), the field on a spin",
        above=0,
        most=100,
    )
    sweeps: int = option(50, "sweeps of a heat-bath run", least=1, most=10_000)
    max_steps: int = option(200, "sweeps at zero temperature after which a start is cut", least=1)


COLUMNS = shared("neurons", "temperature") | {
    "null": Column("0 for the network that is given, else the number of its shuffled copy", kind=int),
    "start": Column("number of the random start", kind=int),
    "end": Column("name of the state that the start ends in, a hash of its spins", kind=str),
    "settled": Column("1 if that is a fixed point, 0 if it was still moving", kind=int),
    "left": Column("1 if it is another one than at temperature 0, 0 otherwise", kind=int),
    "energy": Column("energy per neuron of the end; empty where couplings are asymmetric"),
    "bound": Column("least energy per neuron that the largest eigenvalue allows; empty as the energy is"),
    "exist": Column("fixed points that there are, counted over all states; empty for more than 16 neurons"),
    "nearest": Column("number of the given state of largest |overlap|, −1 if none is given", kind=int),
    "overlap": Column("its overlap with the end", "−1 to 1"),
    "axis_*": Column("projection of the end on the eigenvector * of the symmetric part of the couplings, over √N"),
    "eigenvalue_*": Column("eigenvalue * of the symmetric part of the couplings, largest first"),
}


__all__ = ["X_AXIS", "Config", "check", "cost", "measure", "panels", "points", "summarise"]
X_AXIS = "temperature"
COUNTED = 16
"""Neurons up to which all states are looked at."""


def check(config: Config) -> None:
    """Check that couplings are a square matrix and states spins of as many neurons; else ValueError."""
    network, states = _given(config)
    if not np.isin(states, (-1, 1)).all() or states.shape[1] != network.matrix.shape[0]:
        raise ValueError(f"states must be spins, +1 or -1, of {network.matrix.shape[0]} neurons, got {config.states}")


def points(config: Config) -> list[Point]:
    """One point per copy of the network, temperature and start."""
    temperatures = [0.0, *config.temperatures]
    return product_of(null=range(config.nulls + 1), temperature=temperatures, start=range(config.starts))


def cost(config: Config) -> Cost:
    """Cost of all starts: some twenty sweeps at T = 0, and the heat bath's."""
    size = _given(config)[0].matrix.shape[0]
    number = config.starts * (config.nulls + 1)
    warm = len(config.temperatures) * config.sweeps
    return Cost(
        number * (1 + len(config.temperatures)), size * max(size, config.starts), number * size**2 * (20 + warm)
    )


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """Rows of points. Starts of one network and temperature run side by side; each depends on its number alone."""
    given, states = _given(config)
    key, shuffling = draws.keys(config.seed)
    group = lambda point: (point["null"], point["temperature"])
    for (null, warm), members in itertools.groupby(sorted(wanted, key=group), group):
        network, part = shuffled(given, jax.random.fold_in(shuffling, null)) if null else given, list(members)
        shared, energy, axes = _about(network)
        number = jnp.asarray([point["start"] for point in part])
        end = cold = _rest(network, number, jax.random.fold_in(key, null), config.max_steps)
        if warm:
            unit = float(np.sqrt(np.sum(np.square(network.matrix, dtype=np.float64)) / len(network.matrix)))
            heat = jnp.asarray(warm * unit * float(network.scale), network.matrix.dtype)
            end = _heated(network, cold[0], number, key, heat, config.sweeps, config.max_steps)
        for point, before, state, settled in zip(part, *map(np.asarray, (cold[0], *end)), strict=True):
            about = {"settled": int(settled), "left": int(np.any(before != state)), "energy": energy(state)}
            yield point | shared | about | _place(axes, states, state)


@partial(jax.jit, static_argnames="max_steps")
def _rest(network: Couplings, number: Array, key: Array, max_steps: int) -> tuple[Array, Array]:
    def rest(start: Array) -> tuple[Array, Array]:
        begin, order = jax.random.split(jax.random.fold_in(key, start))
        state = spins(begin, 1, network.matrix.shape[0], dtype=network.matrix.dtype)[0]
        end = retrieve(network, state, dynamics="asynchronous", key=order, max_steps=max_steps)
        return end.state, end.converged

    return jax.vmap(rest)(number)


@partial(jax.jit, static_argnames=("sweeps", "max_steps"))
def _heated(network: Couplings, state: Array, number: Array, key: Array, heat, sweeps: int, max_steps: int):
    def excursion(begin: Array, start: Array) -> tuple[Array, Array]:
        hot, order = jax.random.split(jax.random.fold_in(jax.random.fold_in(key, 2**31), start))
        warmed = glauber(network, begin, hot, heat, sweeps=sweeps).state
        end = retrieve(network, warmed, dynamics="asynchronous", key=order, max_steps=max_steps)
        return end.state, end.converged

    return jax.vmap(excursion)(state, number)


def _about(network: Couplings) -> tuple[Row, Callable[[np.ndarray], float], np.ndarray]:
    """Columns that all rows of a network share, its energy per neuron, and its two principal axes [2, N]."""
    matrix, symmetric = np.asarray(network.matrix, np.float64) * float(network.scale), type(network) is Couplings
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    axes = vectors[:, :-3:-1].T
    axes = axes * np.where(axes.sum(axis=1, keepdims=True) < 0, -1.0, 1.0)
    exist = np.nan
    if len(matrix) <= COUNTED:
        every = np.array(list(itertools.product((-1.0, 1.0), repeat=len(matrix))))
        exist = float(np.sum(np.all(every * (every @ matrix) >= 0, axis=1)))  # column i: what spin i receives
    shared = {"neurons": len(matrix), "bound": float(-values[-1] / 2) if symmetric else np.nan, "exist": exist}
    shared |= {f"eigenvalue_{i}": float(values[-i]) for i in (1, 2)}
    return shared, lambda x: float(-0.5 * x @ matrix @ x / len(x)) if symmetric else np.nan, axes


def _place(axes: np.ndarray, states: np.ndarray, end: np.ndarray) -> Row:
    """Name of an end, the given state nearest to the end, and the end's place on the axes."""
    overlaps, place = states @ end / len(end), axes @ end / np.sqrt(len(end))
    nearest = int(np.argmax(np.abs(overlaps))) if len(states) else -1
    return {
        "end": hashlib.sha256(np.packbits(end > 0).tobytes()).hexdigest()[:12],
        "nearest": nearest,
        "overlap": float(overlaps[nearest]) if len(states) else np.nan,
        "axis_1": float(place[0]),
        "axis_2": float(place[1]),
    }


def _given(config: Config) -> tuple[Couplings, np.ndarray]:
    """The network, and the states to look for [S, N], none of them if none are given."""
    matrix: Any
    matrix, states = _wine() if config.couplings == WINE else (datasets.from_file(config.couplings), None)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        network = as_couplings(matrix)
    for warning in told:
        note(f"couplings of {config.couplings}: {warning.message}")
    if config.states is not None:
        states = np.asarray(datasets.from_file(config.states))
    return network, np.empty((0, network.matrix.shape[0])) if states is None else states


def _wine() -> tuple[np.ndarray, np.ndarray]:
    """Partial correlations of 13 measurements, shrunk by Ledoit and Wolf's rule, and the signs of cultivars' means."""
    rows, kinds = load_wine(return_X_y=True)
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    precision: Any = LedoitWolf().fit(rows).precision_
    width = np.sqrt(np.diag(precision))
    states = np.stack([np.sign(rows[kinds == kind].mean(axis=0)) for kind in np.unique(kinds)])
    return np.where(np.eye(len(width), dtype=bool), 0.0, -precision / np.outer(width, width)), states
