"""Continuous memories at a temperature: Langevin chains on the sphere that start in a pattern, beside thermodynamics.

M = e^{αN} Gaussian patterns, one of them scaled to the norm √N, which is the one asked for; energies are defined in
`hopfield.theory.thermal`, per neuron of the order 1. A mean counts as one of equilibrium in the basin where R̂ of its
chains is below 1.01 and 400 samples are independent; other rows are told apart by those two columns.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import NamedTuple

import flax.struct
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from experiments import contract
from experiments.columns import Column, shared
from experiments.contract import Cost, Point, Row, grid_axis, option
from experiments.shared import draws, grids, loads
from experiments.shared.axes import product_of
from experiments.shared.grids import Data, Draw, Each, Grid, Measured
from experiments.thermal.results import panels, summarise
from hopfield import Memory
from hopfield.dynamics import langevin
from hopfield.observables.correlations import correlation_time, split_rhat
from hopfield.patterns import gaussian
from hopfield.separations import LogReLU
from hopfield.theory import thermal

KERNELS = ("lse", "lsr")


@dataclass
class Config(contract.Config):
    """Options of continuous memories at a temperature; the defaults are smoke scale."""

    kernels: list[str] = grid_axis(list(KERNELS), among=KERNELS)
    neurons: list[int] = grid_axis([8], "numbers of components N", least=4)
    loads: list[float] = grid_axis([0.2, 0.5], "loads ln M / N", above=0, most=2)
    temperatures: list[float] = grid_axis([0.2, 1.0], "temperatures T", above=0, most=100)
    sharpness: float = option(8.0, "b, inverse width of a pattern's basin in overlap", above=1, most=1000)
    samples: int = option(2, "draws of patterns", least=2, extends=True)
    chains: int = option(4, "chains that start in the pattern", least=2, most=1024)
    length: int = option(50, "states that each chain keeps", least=8)
    every: int = option(5, "Langevin steps from one to the next", least=1)
    burn_in: int = option(100, "steps before the first", least=0)


COLUMNS = shared("neurons", "patterns", "load", "temperature", "sample") | {
    "kernel": Column("lse, the log of a sum of exponentials, or lsr, of rectified overlaps", kind=str),
    "overlap": Column("mean of x·ξ/N over chains and samples", "−1 to 1"),
    "energy": Column("mean energy per neuron, −1 at a pattern that is alone"),
    "rhat": Column("R̂ of the overlap, of chains that began in the pattern", "at least about 1"),
    "effective": Column("effective number of samples of the overlap", "count"),
    "one_pattern": Column("mean overlap with a pattern that is stored alone, exact at this N", "0 to 1"),
    "critical": Column(
        "load at which states near no pattern are as deep, of lse; to which no other is in reach, of lsr"
    ),
    "stable": Column("load to which lse has a retrieval state; empty of lsr"),
    "accepted": Column("share of Langevin steps accepted", "0 to 1"),
}


__all__ = ["X_AXIS", "Config", "cost", "measure", "panels", "points", "summarise"]
X_AXIS = "temperature"


class SharpReLU(LogReLU):
    """F = log Σ [1 + z − b]₊: support from an overlap of 1 − 1/b on, for scores z = b m."""

    sharpness: float = flax.struct.field(pytree_node=False, default=1.0)

    def _inside(self, z, mask):
        return super()._inside(z - self.sharpness, mask)


class Program(NamedTuple):
    """Structure of a compiled measurement: the values that select its program. All others are traced."""

    kernel: str
    neurons: int
    num_patterns: int
    sharpness: float
    chains: int
    length: int
    every: int
    burn_in: int

    @property
    def cost(self) -> float:
        """Rough multiplications of one draw."""
        return 4.0 * self.num_patterns * self.neurons * self.chains * (self.burn_in + self.length * self.every)


def points(config: Config) -> list[Point]:
    """One point per kernel, size, load, temperature and draw."""
    grid: list[Point] = []
    for kernel, neurons in product(config.kernels, config.neurons):
        number = lambda load, neurons=neurons: max(2, round(float(np.exp(load * neurons))))
        for patterns in loads.counts(config.loads, number, f"{kernel} at N={neurons}"):
            place = {"kernel": [kernel], "neurons": [neurons], "patterns": [patterns]}
            grid += product_of(**place, temperature=config.temperatures, sample=range(config.samples))
    return grid


def cost(config: Config) -> Cost:
    """Cost of all chains."""
    programs = [_program(config, point) for point in points(config)]
    most = max(program.num_patterns * max(program.neurons, program.chains) for program in programs)
    return Cost(len(programs), most, sum(program.cost for program in programs))


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """Rows of points. Draws depend on the seed, N, M and their number; chains on the temperature besides."""
    traced = {"sample": np.uint32, "temperature": np.float32}
    grid = Grid(partial(_program, config), one, traced, most=16, call_cost=1e9)
    yield from grids.rows(grid, config.seed, wanted, known_columns=partial(_known, config))


def _known(config: Config, point: Point) -> Row:
    heat, lse = point["temperature"], point["kernel"] == "lse"
    return {
        "load": float(np.log(point["patterns"]) / point["neurons"]),
        "one_pattern": thermal.mean_overlap(point["neurons"], heat, point["kernel"], config.sharpness),
        "critical": float(thermal.critical_load(heat) if lse else thermal.support_load(config.sharpness)),
        "stable": float(thermal.stable_load(heat, config.sharpness)) if lse else math.nan,
    }


def _program(config: Config, point: Point) -> Program:
    shape = point["kernel"], point["neurons"], point["patterns"], config.sharpness
    return Program(*shape, config.chains, config.length, config.every, config.burn_in)


def one(program: Program, seed: Array, data: Data, draw: Draw, each: Each) -> Measured:
    """Overlaps and energies of chains that start in a pattern, and how well they agree."""
    pattern_key, chain_key = draws.keys(seed, program.neurons, program.num_patterns, draw["sample"])
    stored = gaussian(pattern_key, program.num_patterns, program.neurons)
    target = stored[0] * (program.neurons**0.5 / jnp.linalg.norm(stored[0]))
    memory, lowest = _memory(program, stored.at[0].set(target))
    _, keys = draws.numbers_and_keys(chain_key, program.chains)
    run = partial(langevin, samples=program.length, every=program.every, burn_in=program.burn_in)
    chains = jax.vmap(lambda key: run(memory, target, key, draw["temperature"]))(keys)
    overlaps = chains.states @ target / program.neurons
    times = jax.vmap(correlation_time)(overlaps).time
    return {
        "overlap": jnp.mean(overlaps),
        "energy": jnp.mean(chains.energies) / program.neurons - lowest,
        "rhat": split_rhat(overlaps),
        "effective": jnp.sum(program.length / jnp.maximum(2 * times, 1.0)),
        "accepted": jnp.mean(chains.accepted),
    }


def _memory(program: Program, stored: Array) -> tuple[Memory, float]:
    """A memory whose energy is of the order N, and how far it lies above −1 per neuron in a pattern that is alone."""
    space = f"sphere:{program.neurons**0.5!r}"
    if program.kernel == "lse":
        return Memory(stored, beta=program.sharpness, space=space), 0.0
    memory = Memory(
        stored, beta=program.sharpness / program.neurons, separation=SharpReLU(program.sharpness), space=space
    )
    return memory, 1.0
