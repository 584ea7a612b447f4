"""Continuous memories at a temperature: Langevin chains on the sphere from several starts, beside thermodynamics.

M = e^{αN} patterns on the sphere of radius √N, or Gaussian ones of which the one asked for is scaled to that norm;
energies are defined in `hopfield.theory.thermal`, per neuron of the order 1. Chains start in the pattern, in the
longest of the others, and at random points. A row is at equilibrium where R̂ of all of its chains is below 1.01 and
400 samples are independent. Chains from the pattern alone may agree without that: they are mixed within its basin.
Independent samples that need no chain are weighted to equilibrium (`sampling`), for its overlap and its free energy.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import NamedTuple

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
from experiments.thermal import sampling
from experiments.thermal.results import panels, summarise
from experiments.thermal.sampling import STARTS
from hopfield.observables.correlations import correlation_time, split_rhat
from hopfield.theory import thermal
from hopfield.theory.thermal import ENSEMBLES, KERNELS


@dataclass
class Config(contract.Config):
    """Options of continuous memories at a temperature; the defaults are smoke scale."""

    kernels: list[str] = grid_axis(list(KERNELS), among=KERNELS)
    ensembles: list[str] = grid_axis(["sphere", "gaussian"], among=ENSEMBLES)
    neurons: list[int] = grid_axis([8], "numbers of components N", least=4)
    loads: list[float] = grid_axis([0.2, 0.5], "loads ln M / N", above=0, most=2)
    temperatures: list[float] = grid_axis([0.2, 1.0], "temperatures T", above=0, most=100)
    sharpness: float = option(8.0, "b, inverse width of a pattern's basin in overlap", above=1, most=1000)
    samples: int = option(2, "draws of patterns", least=2, extends=True)
    starts: list[str] = option(
        list(STARTS), "starts of chains: the pattern, the longest other, random points", among=STARTS, nonempty=True
    )
    chains: int = option(4, "chains from each start", least=2, most=1024)
    length: int = option(50, "states that each chain keeps", least=8)
    every: int = option(5, "Langevin steps from one to the next", least=1)
    burn_in: int = option(100, "steps before the first", least=0)
    independent: int = option(500, "independent samples weighted to equilibrium", least=2, most=10**6)


COLUMNS = shared("ensemble", "neurons", "patterns", "load", "temperature", "sample") | {
    "kernel": Column("lse, the log of a sum of exponentials, or lsr, of rectified overlaps", kind=str),
    "overlap_pattern": Column("mean of x·ξ/N over chains that began in the pattern ξ", "−1 to 1"),
    "overlap_another": Column("the same, of chains that began in the longest of the other patterns", "−1 to 1"),
    "overlap_random": Column("the same, of chains that began at random points", "−1 to 1"),
    "energy_pattern": Column("mean energy per neuron of chains that began in the pattern, −1 where that is alone"),
    "energy_another": Column("the same, of chains that began in the longest of the other patterns"),
    "energy_random": Column("the same, of chains that began at random points"),
    "rhat": Column("R̂ of chains of all starts, the larger of overlap and energy", "at least about 1"),
    "rhat_pattern": Column("R̂ of chains that began in the pattern alone", "at least about 1"),
    "effective": Column("effective number of samples of the overlap, all chains", "count"),
    "effective_pattern": Column("the same, of chains that began in the pattern", "count"),
    "equilibrium": Column("overlap of all states, by weighted independent samples", "−1 to 1"),
    "free_energy": Column("free energy of all states per neuron, by weighted independent samples"),
    "weighted": Column("effective number of weighted independent samples", "count"),
    "one_pattern": Column("mean overlap with a pattern that is stored alone, exact at this N", "0 to 1"),
    "critical": Column(
        "load at which states near no pattern are as deep, of lse; to which no other is in reach, of lsr"
    ),
    "stable": Column("load to which lse has a retrieval state; empty of lsr"),
    "transition": Column("load to which all states are at patterns, and above which at none, for N → ∞"),
    "sharpness": Column("sharpness b of the energy"),
    "accepted": Column("share of Langevin steps accepted", "0 to 1"),
}


__all__ = ["X_AXIS", "Config", "cost", "measure", "panels", "points", "summarise"]
X_AXIS = "temperature"


class Program(NamedTuple):
    """Structure of a compiled measurement: the values that select its program. All others are traced."""

    kernel: str
    ensemble: str
    neurons: int
    num_patterns: int
    sharpness: float
    starts: tuple[str, ...]
    chains: int
    length: int
    every: int
    burn_in: int
    independent: int

    @property
    def cost(self) -> float:
        """Rough multiplications of one draw."""
        states = self.chains * len(self.starts) * (self.burn_in + self.length * self.every) + self.independent
        return 4.0 * self.num_patterns * self.neurons * states + sampling.CELLS * self.independent


def points(config: Config) -> list[Point]:
    """One point per kernel, ensemble, size, load, temperature and draw."""
    grid: list[Point] = []
    for kernel, ensemble, neurons in product(config.kernels, config.ensembles, config.neurons):
        number = lambda load, neurons=neurons: max(2, round(float(np.exp(load * neurons))))
        for patterns in loads.counts(config.loads, number, f"{kernel}, {ensemble} at N={neurons}"):
            place = {"kernel": [kernel], "ensemble": [ensemble], "neurons": [neurons], "patterns": [patterns]}
            grid += product_of(**place, temperature=config.temperatures, sample=range(config.samples))
    return grid


def cost(config: Config) -> Cost:
    """Cost of all chains."""
    programs = [_program(config, point) for point in points(config)]
    beside = max(sampling.BATCH, config.chains * len(config.starts))
    most = max(max(program.num_patterns, sampling.CELLS) * max(program.neurons, beside) for program in programs)
    return Cost(len(programs), most, sum(program.cost for program in programs))


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """Rows of points. Draws depend on the seed, N, M and their number; chains on the temperature besides."""
    traced = {"sample": np.uint32, "temperature": np.float32}
    grid = Grid(partial(_program, config), one, traced, most=16, call_cost=1e9)
    yield from grids.rows(grid, config.seed, wanted, known_columns=partial(_known, config))


def _known(config: Config, point: Point) -> Row:
    heat, kernel, b = point["temperature"], point["kernel"], config.sharpness
    loads = {"critical": thermal.support_load(b, point["ensemble"]), "stable": math.nan}
    loads["transition"] = loads["critical"]
    if kernel == "lse":
        of = {name: getattr(thermal, f"{name}_load") for name in ("critical", "stable", "transition")}
        loads = {name: load(heat, b, point["ensemble"]) for name, load in of.items()}
    return {
        "load": float(np.log(point["patterns"]) / point["neurons"]),
        "one_pattern": thermal.mean_overlap(point["neurons"], heat, kernel, b),
        "sharpness": b,
        **{name: float(load) for name, load in loads.items()},
    }


def _program(config: Config, point: Point) -> Program:
    shape = point["kernel"], point["ensemble"], point["neurons"], point["patterns"], config.sharpness
    starts = tuple(name for name in STARTS if name in config.starts)
    chains = config.chains, config.length, config.every, config.burn_in
    return Program(*shape, starts, *chains, config.independent)


def one(program: Program, seed: Array, data: Data, draw: Draw, each: Each) -> Measured:
    """Overlaps and energies of chains by their starts, how well the chains agree, and equilibrium."""
    pattern_key, chain_key = draws.keys(seed, program.neurons, program.num_patterns, draw["sample"])
    run_key, independent_key = jax.random.split(chain_key)
    stored = sampling.patterns(program, pattern_key)
    memory, lowest = sampling.memory_of(program, stored)
    chains = sampling.chains(program, memory, stored, run_key, draw["temperature"])
    overlaps = chains.states @ stored[0] / program.neurons
    energies = chains.energies / program.neurons - lowest
    independent = jnp.sum(program.length / jnp.maximum(2 * _times(overlaps), 1.0), axis=1)
    found = {"accepted": jnp.mean(chains.accepted), "rhat": jnp.nan, "effective": jnp.sum(independent)}
    for name in STARTS:
        place = program.starts.index(name) if name in program.starts else None
        found[f"overlap_{name}"] = jnp.nan if place is None else jnp.mean(overlaps[place])
        found[f"energy_{name}"] = jnp.nan if place is None else jnp.mean(energies[place])
    own = program.starts.index("pattern") if "pattern" in program.starts else None
    found["rhat_pattern"] = jnp.nan if own is None else _rhat(overlaps[own], energies[own])
    found["effective_pattern"] = jnp.nan if own is None else independent[own]
    if own is not None and len(program.starts) > 1:
        found["rhat"] = _rhat(*(jnp.reshape(series, (-1, program.length)) for series in (overlaps, energies)))
    return found | sampling.equilibrium(program, memory, stored, independent_key, draw["temperature"])


def _times(series: Array) -> Array:
    return jax.vmap(jax.vmap(lambda chain: correlation_time(chain).time))(series)


def _rhat(overlaps: Array, energies: Array) -> Array:
    """The larger R̂ of the two: chains in different patterns other than the one asked for differ in energy alone."""
    return jnp.maximum(split_rhat(overlaps), split_rhat(energies))
