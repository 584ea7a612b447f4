"""Relaxation of retrieval states: correlation and escape times of the overlap near the spinodal load, at temperature T.

Heat-bath sweeps start at a stored pattern. Columns of a start: `observed`, the sweeps made; `exposure`, those until its
overlap falls below ½, or all of them, where `left` is 0; `time`, the integrated autocorrelation time in sweeps of the
overlap after `burn_in` sweeps, and the `window` it was summed to, and `mean`, its mean, of starts that never left. Both
times belong to the `sweeps` of observation: a slower fluctuation is not seen, and a later escape neither.
"""

from collections.abc import Iterator, Sequence
from itertools import product

from experiments.contract import Cost, Point, Row
from experiments.relaxation import measurement, theory
from experiments.relaxation.config import Config
from experiments.relaxation.figure import panels
from experiments.relaxation.summary import summarise
from experiments.shared import draws, grids, loads
from experiments.shared.axes import product_of

__all__ = ["X_AXIS", "Config", "check", "cost", "measure", "panels", "points", "summarise"]

X_AXIS = "load"
LARGEST = 2**20
"""Entries of all stored patterns at most; sizes of which a degree asks for more are left out."""


def _curves(config: Config) -> list[Point]:
    """Degree, temperature, size, load and odd number of patterns of every network that is not too large."""
    networks = product_of(degree=config.degrees, temperature=config.temperatures, neurons=config.neurons)
    last = lambda network: theory.spinodal_load(network["degree"], network["temperature"])
    what = "degree {degree} at T={temperature:g}, N={neurons}"
    return loads.curves(networks, config.around, last, what, least=1, largest=LARGEST)


def check(config: Config) -> None:
    """Check that every temperature has a retrieval state and some network is small enough; else ValueError."""
    for degree, temperature in product(config.degrees, config.temperatures):
        if not theory.spinodal_load(degree, temperature) > 0:
            raise ValueError(f"temperatures must leave degree {degree} a retrieval state, got {temperature}")
    _curves(config)


def points(config: Config) -> list[Point]:
    """One point per network, sample and pattern started from."""
    return [
        curve | {"sample": sample, "query": query}
        for curve in _curves(config)
        for sample in range(config.samples)
        for query in range(min(config.queries, curve["patterns"]))
    ]


def cost(config: Config) -> Cost:
    """Cost of all draws of every network, each with the heat-bath sweeps of all its queries."""
    return grids.cost(_grid(config), _curves(config), config.samples)


def _grid(config: Config) -> grids.Grid:
    """Grid with one program of a network for all its loads and temperatures."""
    padding = draws.largest(_curves(config), "degree", "neurons")
    kept = config.queries, config.burn_in, config.sweeps
    return measurement.grid(lambda at: measurement.Program(at["degree"], at["neurons"], padding(at), *kept))


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """Rows of points."""
    observed = {"observed": config.burn_in + config.sweeps}
    yield from grids.rows(_grid(config), config.seed, wanted, known_columns=lambda point: observed)
