"""Phase diagrams: in which states a memory ends over load and temperature, when it starts at a stored pattern.

The classical network is sampled by heat-bath dynamics at temperature T, the modern one is iterated to its fixed point
at β = 1/T. A map is refined where neighbouring cells disagree; curves of the classical overlap against T at a few
loads are refined where retrieval is lost. Lines of theory are replica-symmetric (Amit, Gutfreund & Sompolinsky):
wrong below the line of Almeida and Thouless, as is all of the spin glass; lines of the modern network are annealed
at its size. A network of finite size leaves a metastable state in time: the temperature at which half of the retrievals
are lost belongs to a number of sweeps, `burn_in` + `sweeps`, and to the criterion of `retrieval`. An end is one of

    retrieval      held by the target     (spins: most of the frozen state lies along it; modern: most of the weight)
    other_pattern  held by another single pattern
    mixture        ordered without one    (spin glass; metastable mixture of patterns)
    disorder       not ordered            (paramagnet; average over all patterns)
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import product

from experiments import contract
from experiments.contract import Cost, Point, Row
from experiments.phase_diagram import diagrams, measurement
from experiments.phase_diagram.config import CURVE, CURVED, LENGTHS, MAP, MEMORIES, Config, Effort, Map, efforts
from experiments.phase_diagram.figure import panels
from experiments.phase_diagram.refinement import Cell, coarse, further_cells, further_places
from experiments.phase_diagram.summary import summarise
from experiments.shared import draws, grids
from hopfield.memories import find

__all__ = ["X_AXIS", "Config", "check", "cost", "measure", "panels", "points", "refine", "summarise"]

X_AXIS = "load"
PARITY = "odd"
"""Parity of the numbers of patterns of the classical network, the same at all sizes."""
EDGES = ("load_low", "load_high", "temperature_low", "temperature_high")
"""Columns of the edges of a cell; a curve has none."""
TEMPERATURES = 2
"""Temperatures that share one draw of patterns in one call."""


def check(config: Config) -> None:
    """Check that maps have no more patterns than can be stored; else ValueError."""
    for name in MEMORIES:
        area = getattr(config, name)
        most = find(name).scaling.num_patterns(area.load[1], area.neurons)
        if most * area.neurons > 2**28:
            raise ValueError(f"{name}.load must give N={area.neurons} fewer than 2^28 / N patterns, got {most:.3g}")


def _map_points(config: Config, memory: str, cells: Sequence[Cell]) -> list[Point]:
    """One point for each cell of a map, and draw of patterns, measured at the middle of the cell."""
    area = getattr(config, memory)
    found = []
    for cell in cells:
        left, right, lower, upper = cell.bounds(*area.cells)
        low, high = (area.load[0] + part * (area.load[1] - area.load[0]) for part in (left, right))
        cold, middle, warm = diagrams.of_memory(memory).temperatures(area, lower, upper)
        place = {"temperature": middle} | dict(zip(EDGES, (low, high, cold, warm), strict=True)) | cell._asdict()
        found += _points_of_draws({"study": MAP, "memory": memory}, area, area.queries, (low + high) / 2, place)
    return found


def _curve_points(config: Config, effort: Effort, load: float, places: Sequence[tuple[float, int]]) -> list[Point]:
    """One point for each temperature, with its level of refinement, and draw of patterns."""
    found = []
    for temperature, level in places:
        place = {"temperature": temperature} | dict.fromkeys(EDGES) | Cell(level, 0, 0)._asdict()
        found += _points_of_draws({"study": CURVE, "memory": CURVED}, effort, config.curves.queries, load, place)
    return found


def _points_of_draws(kind: dict, effort: Map | Effort, queries: int, load: float, place: dict) -> list[Point]:
    """Points of all draws of patterns at a place of a map or curve, no more queries of each than there are patterns."""
    stored = _pattern_count(kind["memory"], load, effort.neurons)
    point = kind | {"neurons": effort.neurons, "asked": load, "patterns": stored} | place
    point |= {"queries": min(queries, stored)} | _length(effort)
    return [point | {"sample": sample} for sample in range(effort.samples)]


def _pattern_count(memory: str, load: float, neurons: int) -> int:
    """Number of patterns nearest to a load that is asked for, of one parity where fields are integers."""
    return find(memory).rounded(load, neurons, PARITY)


def _length(effort: Map | Effort) -> dict[str, int]:
    """Columns of how long the dynamics of a map or of a curve run."""
    return {name: getattr(effort, name, 0) for name in LENGTHS}


def cost(config: Config) -> Cost:
    """Cost of the maps, were half of the cells cut at every level of refinement, and of the curves."""
    parts = []
    for memory in config.memories if MAP in config.studies else []:
        area = getattr(config, memory)
        part = _cost(memory, area, area.queries, area.load[1], area.cells[0] * area.cells[1] * area.samples)
        parts.append(part._replace(operations=2**area.levels * part.operations / 2))
    for effort, load in _curves(config):
        drawn = len(config.curves.temperatures) * effort.samples
        parts.append(_cost(CURVED, effort, config.curves.queries, load, drawn))
    return contract.total(parts)


def _cost(memory: str, effort: Map | Effort, queries: int, load: float, drawn: int) -> Cost:
    """Cost of a number of draws at one load."""
    neurons, stored = effort.neurons, _pattern_count(memory, load, effort.neurons)
    queries = min(queries, stored)
    work = diagrams.of_memory(memory).work(neurons, stored, sum(_length(effort).values()))
    return Cost(drawn, max(neurons * max(neurons, stored), queries * stored), drawn * queries * work)


def points(config: Config) -> list[Point]:
    """The coarse cells of every map and the given temperatures of every curve."""
    grid = []
    for memory in config.memories if MAP in config.studies else []:
        grid += _map_points(config, memory, coarse(*getattr(config, memory).cells))
    for effort, load in _curves(config):
        grid += _curve_points(config, effort, load, [(t, 0) for t in config.curves.temperatures])
    return grid


def _curves(config: Config) -> list[tuple[Effort, float]]:
    """Effort and load of every curve, loads that store the same number of patterns once."""
    found = {}
    if CURVE in config.studies and CURVED in config.memories:
        for load, effort in product(config.curves.loads, efforts(config.curves)):
            found.setdefault((effort, _pattern_count(CURVED, load, effort.neurons)), load)
    return [(effort, load) for (effort, _), load in found.items()]


def refine(config: Config, rows: Sequence[Row]) -> list[Point]:
    """Points to refine by: quarters of cells beside another regime, middles of intervals in which retrieval is lost."""
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
        further += _map_points(config, memory, further_cells(regimes, getattr(config, memory).levels))
    for effort, load in _curves(config):
        places = curves[effort.neurons, effort.burn_in, effort.sweeps, load]
        shares = {
            place: sum(row["retrieval"] for row in rows) / sum(row["queries"] for row in rows)
            for place, rows in places.items()
        }
        further += _curve_points(config, effort, load, further_places(shares, config.curves.levels))
    return further


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """Rows of points; temperatures that share a draw of patterns are measured together."""
    grid = measurement.grid(lambda point: _program(config, point))
    return grids.rows(grid, config.seed, wanted, known_columns=_place)


def _program(config: Config, point: Point) -> diagrams.Program:
    """Program of a point, padded to the largest load of its map or curves."""
    area, curves = getattr(config, point["memory"]), config.curves
    asked, most = (curves.queries, max(curves.loads)) if point["study"] == CURVE else (area.queries, area.load[1])
    largest = _pattern_count(point["memory"], most, point["neurons"])
    padding = draws.rows_to_draw(point["patterns"], largest, point["neurons"])
    queries = min(asked, padding)  # not the point's, so that few patterns need no program of their own
    length = {name: point[name] for name in LENGTHS}
    return diagrams.Program(point["memory"], point["neurons"], padding, queries, TEMPERATURES, **length)


def _place(point: Point) -> dict[str, float]:
    """Place of a point: its load and its β."""
    load = find(point["memory"]).scaling.load(point["patterns"], point["neurons"])
    return {"load": load, "beta": 1 / point["temperature"]}
