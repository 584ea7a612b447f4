"""Phase diagrams: in which states a memory ends over load and temperature, when it starts at a stored pattern.

The classical network is sampled by heat-bath dynamics at temperature T, the modern one is iterated to its fixed point
at β = 1/T. A map is refined where neighbouring cells disagree; curves of the classical overlap against T at a few
loads are refined where retrieval is lost. Lines of theory are replica-symmetric (Amit, Gutfreund & Sompolinsky):
wrong below the line of Almeida and Thouless, as is all of the spin glass; those of the modern network are annealed at
its size. A network of finite size leaves a metastable state in time: the temperature at which half of the retrievals
are lost belongs to a number of sweeps, `burn_in` + `sweeps`, and to the criterion of `retrieval`. An end is one of

    retrieval      held by the target     (spins: most of the frozen state lies along it; modern: most of the weight)
    other_pattern  held by another single pattern
    mixture        ordered without one    (spin glass; metastable mixture of patterns)
    disorder       not ordered            (paramagnet; average over all patterns)
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import product
from math import exp, log

from experiments import contract
from experiments.contract import Cost
from experiments.phase_diagram import measurement
from experiments.phase_diagram.config import CURVE, MAP, MEMORIES, Config, Curves, Effort, Map, efforts, logarithmic
from experiments.phase_diagram.figure import plot
from experiments.phase_diagram.refinement import Cell, between, coarse, cut
from experiments.phase_diagram.summary import summarise
from experiments.shared import draws, program
from hopfield.memories import find

__all__ = ["X_AXIS", "Config", "check", "cost", "measure", "plot", "points", "refine", "summarise"]

X_AXIS = "load"
PARITY = "odd"
"""Parity of the numbers of patterns of the classical network, the same at all sizes."""
EDGES = ("load_low", "load_high", "temperature_low", "temperature_high")
"""Columns of the edges of a cell; a curve has none."""
TEMPERATURES = 2
"""Temperatures that share one draw of patterns in one call."""


def check(config: Config) -> None:
    """Refuse maps of more patterns than can be stored, in one sentence."""
    for name in MEMORIES:
        area = getattr(config, name)
        most = find(name).scaling.num_patterns(area.load[1], area.neurons)
        if most * area.neurons > 2**28:
            raise ValueError(f"{name}.load must give N={area.neurons} fewer than 2^28 / N patterns, got {most:.3g}")


def _map_points(config: Config, memory: str, cells: Sequence[Cell]) -> list[dict]:
    """One point for each cell of a map, and draw of patterns, measured at the middle of the cell."""
    area = getattr(config, memory)
    found = []
    for cell in cells:
        low, high, cold, warm = _edges(config, memory, cell)
        stored = _stored(memory, (low + high) / 2, area.neurons)
        point = {
            "study": MAP,
            "memory": memory,
            "neurons": area.neurons,
            "asked": (low + high) / 2,
            "patterns": stored,
            "temperature": (cold * warm) ** 0.5 if logarithmic(memory) else (cold + warm) / 2,
            **dict(zip(EDGES, (low, high, cold, warm), strict=True)),
            "level": cell.level,
            "column": cell.column,
            "row": cell.row,
            "queries": _queries(area, stored),
            "burn_in": getattr(area, "burn_in", 0),
            "sweeps": getattr(area, "sweeps", 0),
            "max_steps": getattr(area, "max_steps", 0),
        }
        found += [point | {"sample": sample} for sample in range(area.samples)]
    return found


def _stored(memory: str, load: float, neurons: int) -> int:
    """Number of patterns nearest to a load that is asked for, of one parity where fields are integers."""
    return find(memory).rounded(load, neurons, PARITY)


def _edges(config: Config, memory: str, cell: Cell) -> tuple[float, float, float, float]:
    """Lowest and highest load, lowest and highest temperature of a cell."""
    area = getattr(config, memory)
    left, right, lower, upper = cell.bounds(*area.cells)
    low, high = (area.load[0] + part * (area.load[1] - area.load[0]) for part in (left, right))
    if logarithmic(memory):
        ratio = log(area.beta[1] / area.beta[0])
        return low, high, 1 / (area.beta[0] * exp(upper * ratio)), 1 / (area.beta[0] * exp(lower * ratio))
    cold, warm = (area.temperature[0] + part * (area.temperature[1] - area.temperature[0]) for part in (lower, upper))
    return low, high, cold, warm


def _curve_points(config: Config, effort: Effort, load: float, places: Sequence[tuple[float, int]]) -> list[dict]:
    """One point for each temperature, with its level of refinement, and draw of patterns."""
    neurons, samples, burn_in, sweeps = effort
    shared = {"study": CURVE, "memory": "classical", "neurons": neurons, "asked": load}
    shared["patterns"] = _stored("classical", load, neurons)
    queries = _queries(config.curves, shared["patterns"])
    length = {"queries": queries, "burn_in": burn_in, "sweeps": sweeps, "max_steps": 0}
    edges, cell = dict.fromkeys(EDGES), {"column": 0, "row": 0}
    return [
        shared | {"temperature": temperature} | edges | {"level": level} | cell | length | {"sample": sample}
        for temperature, level in places
        for sample in range(samples)
    ]


def cost(config: Config) -> Cost:
    """Cost of the whole run, from the options alone."""
    parts = []
    for memory in config.memories if MAP in config.studies else []:
        area = getattr(config, memory)
        stored, cells = _stored(memory, area.load[1], area.neurons), area.cells[0] * area.cells[1] * area.samples
        steps = area.neurons * (area.burn_in + area.sweeps) if memory == "classical" else 100 * stored
        size, queries = area.neurons * max(stored, area.neurons if memory == "classical" else 0), _queries(area, stored)
        work = 2**area.levels * cells * queries * steps * area.neurons / 2
        parts.append(Cost(cells, max(size, queries * stored), work))
    curves = config.curves
    for (neurons, samples, burn_in, sweeps), load in _curves(config):
        cells, queries = len(set(curves.temperatures)) * samples, _queries(curves, _stored("classical", load, neurons))
        steps = queries * (burn_in + sweeps)
        parts.append(Cost(cells, neurons * max(neurons, queries), cells * steps * neurons**2))
    return contract.total(parts)


def _queries(area: Map | Curves, num_patterns: int) -> int:
    """Number of queries of a draw: no more than there are patterns."""
    return min(area.queries, num_patterns)


def points(config: Config) -> list[dict]:
    """The coarse cells of every map and the given temperatures of every curve."""
    grid = []
    for memory in dict.fromkeys(config.memories if MAP in config.studies else []):
        grid += _map_points(config, memory, coarse(*getattr(config, memory).cells))
    for effort, load in _curves(config):
        grid += _curve_points(config, effort, load, [(t, 0) for t in dict.fromkeys(config.curves.temperatures)])
    return grid


def _curves(config: Config) -> list[tuple[Effort, float]]:
    """Effort and load of every curve, loads that store the same number of patterns once."""
    found = {}
    if CURVE in config.studies and "classical" in config.memories:
        for load, effort in product(config.curves.loads, efforts(config.curves)):
            found.setdefault((effort, _stored("classical", load, effort.neurons)), load)
    return [(effort, load) for (effort, _), load in found.items()]


def refine(config: Config, rows: Sequence[dict]) -> list[dict]:
    """Quarters of cells whose neighbours hold another regime, middles of intervals in which retrieval is lost."""
    maps, curves = defaultdict(lambda: defaultdict(list)), defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row["study"] == MAP:
            maps[row["memory"]][Cell(row["level"], row["column"], row["row"])].append(row)
        else:
            key = tuple(row[name] for name in ("neurons", "burn_in", "sweeps", "asked"))
            curves[key][row["temperature"], row["level"]].append(row)
    further = []
    for memory, cells in maps.items():
        regimes = {cell: measurement.majority(members) for cell, members in cells.items()}
        further += _map_points(config, memory, cut(regimes, getattr(config, memory).levels))
    for effort, load in _curves(config):
        places = curves[effort.neurons, effort.burn_in, effort.sweeps, load]
        shares = {
            place: sum(row["retrieval"] for row in rows) / sum(row["queries"] for row in rows)
            for place, rows in places.items()
        }
        further += _curve_points(config, effort, load, between(shares, config.curves.levels))
    return further


def measure(config: Config, wanted: Sequence[dict]) -> Iterator[dict]:
    """Rows of points; temperatures that share a draw of patterns are measured together."""
    grid = measurement.grid(lambda point: _program(config, point))
    return program.rows(grid, config.seed, wanted, known=_place)


def _program(config: Config, point: dict) -> measurement.Program:
    padding = _padding(config, point)
    area = config.curves if point["study"] == CURVE else getattr(config, point["memory"])
    queries = _queries(area, padding)  # not those of the point, so that few patterns need no program of their own
    effort = {name: point[name] for name in ("burn_in", "sweeps", "max_steps")}
    return measurement.Program(point["memory"], point["neurons"], padding, queries, TEMPERATURES, **effort)


def _padding(config: Config, point: dict) -> int:
    """Padded number of patterns: no load of the map or of the curves asks for more."""
    area = getattr(config, point["memory"])
    most = max(config.curves.loads) if point["study"] == CURVE else area.load[1]
    largest = _stored(point["memory"], most, point["neurons"])
    return draws.padded(point["patterns"], largest, point["neurons"])


def _place(point: dict) -> dict[str, float]:
    """Place of a point: its load and its β."""
    load = find(point["memory"]).scaling.load(point["patterns"], point["neurons"])
    return {"load": load, "beta": 1 / point["temperature"]}
