"""Storage capacity: how many patterns a memory of N neurons holds, for any memory, dynamics and starting corruption.

For every disorder sample the stored patterns are drawn anew and a few of them are queried. Each query is judged by

    fixed_point       one update leaves the clean pattern unchanged (real states: to 1 % of its norm)
    one_step_error    share of wrong spins after one update of all from the start, ½(1 − overlap) (real states: none)
    retained          overlap with the pattern above 0.8 where the dynamics end; retained_0.7, retained_0.9 above those
    exact             every spin right where the dynamics end (real states: within 1 % of the pattern's norm)
    target_weight     more than half of the read-out's weight on the pattern at the start
    converged_weight  more than half of it where the dynamics end

and the load at which half of the queries pass is the critical load of that criterion; for the one-step error,
0.5 % of the spins are wrong there. Final overlaps of dense memories spread over all values, so that their threshold
moves with the cut, and at small N the classical network's does: read it with the cut, or m(α) in its place.
The overlap with a sparse pattern is P₁ − P₀, shares of neurons on among those that should be and should not be.

Without `loads` or `patterns` they are looked for: M doubles, at a few samples, until the queries fail, and loads across
the fall follow at all samples (`bracket`).

Loads are rounded to odd numbers of patterns where fields are sums of M integers (classical, dense; `parity`): at an
even M and an even N fields can vanish, a tie keeps the spin, and the threshold lies higher by order 1/N. Numbers
given as `patterns` are taken as they are; the column `parity` says which they are, and a note warns of a mixture.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import NamedTuple

from experiments import contract
from experiments.capacity import bracket, scales, streamed
from experiments.capacity.config import Config
from experiments.capacity.scales import CURVE
from experiments.contract import Cost, Point, Row, Summary, Table
from experiments.figures.panel import Panel
from experiments.shared import corruptions, draws, pattern_sets, retention
from experiments.shared.notes import note
from hopfield.memories import find
from hopfield.patterns import corruption

__all__ = [
    "X_AXIS",
    "Config",
    "check",
    "cost",
    "measure",
    "measure_piece",
    "panels",
    "pieces",
    "points",
    "refine",
    "refines",
    "shares",
    "summarise",
]

X_AXIS = "load"


def check(config: Config) -> None:
    """Check that memories, starts and numbers can be measured; else ValueError."""
    for name in config.per_memory:  # more of them than memories: `memories=[classical]` on the command line is enough
        find(name)
    for memory, scale in scales.by_memory(config).items():
        scales.check(scale, memory)
        for ensemble in config.ensembles:
            if pattern_sets.is_streamed(ensemble):
                if scale.bracketed:
                    raise ValueError(f"loads must be given for {ensemble}, whose patterns are passed once, got null")
                streamed.check(memory, scale.dynamics, scale.max_steps, config.clamp)
            scales.check_ensemble(scale, memory, ensemble, config.neurons)


def leaves_units(config: Config) -> bool:
    """True if a start differs from its pattern in some units and leaves the others."""
    starts = [corruption(spec) for scale in scales.by_memory(config).values() for spec in scale.corruption]
    return any(start.amount and start.kind != "noise" for start in starts)


def rounds(config: Config) -> bool:
    """True if loads of a memory with integer fields are asked for."""
    return any(
        find(memory).integer_fields and scale.patterns is None for memory, scale in scales.by_memory(config).items()
    )


def takes_neurons(config: Config) -> bool:
    """True if `neurons` is used: random ensembles need it, and other ensembles check a given number against theirs."""
    return config.neurons is not None or bool(set(config.ensembles) & set(pattern_sets.DRAWN))


def cost(config: Config) -> Cost:
    """Cost of all draws, the sum over ensembles, memories and sizes."""
    return contract.total(
        scales.cost(scale, memory, ensemble, size)
        for ensemble, (memory, scale) in product(config.ensembles, scales.by_memory(config).items())
        for size in scales.widths(scale, ensemble)
    )


def points(config: Config) -> list[Point]:
    """One point per memory, dynamics, size, corruption, number of patterns and disorder sample."""
    curves = list(_curves(config))
    for memory, scale in {curve.point["memory"]: curve.scale for curve in curves}.items():
        if scale.bracketed:
            note(f"loads of {memory} are looked for, M doubling until queries fail: {scales.in_words(scale)}")
    return _points_of(curves)


def refines(config: Config) -> bool:
    """True if loads of a memory are looked for."""
    return any(scale.bracketed for scale in scales.by_memory(config).values())


def refine(config: Config, rows: Sequence[Row]) -> list[Point]:
    """Points across the fall of the queries, of memories without given loads; before it is found, larger M."""
    measured: dict[tuple, list[Row]] = {}
    for row in rows:
        measured.setdefault(tuple(row[name] for name in CURVE), []).append(row)
    grid = []
    for curve in _curves(config):
        if curve.scale.bracketed:
            rows = measured[tuple(curve.point[name] for name in CURVE)]
            counts, samples = scales.further(curve.scale, curve.point, rows)
            grid.append(curve._replace(counts=counts, samples=samples))
    return _points_of(grid)


class Curve(NamedTuple):
    """Points that differ in their number of patterns and their sample alone."""

    point: Point
    scale: scales.FullScale
    counts: Sequence[int]
    samples: int


def _curves(config: Config) -> Iterator[Curve]:
    """Curves with the numbers of patterns and of samples that are measured before anything is known."""
    for ensemble, (memory, scale) in product(config.ensembles, scales.by_memory(config).items()):
        beta = find(memory).beta if scale.beta is None else scale.beta
        starts = dict.fromkeys(corruptions.name(spec, config.clamp) for spec in scale.corruption)
        for dynamics, neurons, start in product(scale.dynamics, scales.widths(scale, ensemble), starts):
            curve = {"memory": memory, "dynamics": dynamics, "neurons": neurons, "patterns": 0, "corruption": start}
            curve |= {"ensemble": ensemble, "beta": beta, "max_steps": scale.max_steps, "queries": 0}
            counts = scales.pattern_counts(scale, memory, neurons, ensemble)
            yield Curve(curve, scale, counts, scales.coarse_samples(scale, neurons))


def _points_of(curves: Iterable[Curve]) -> list[Point]:
    return [
        curve.point | {"patterns": number, "queries": scales.num_queries(curve.scale, number), "sample": sample}
        for curve in curves
        for number in curve.counts
        for sample in range(curve.samples)
    ]


def pieces(config: Config, wanted: Sequence[Point]) -> list[Point]:
    """Pieces of the passes over streamed patterns, from whose counts the rows of the wanted points follow."""
    passed = _streamed_points(wanted)
    return streamed.pieces(_streamed_points(_points_of(_curves(config))), passed) if passed else []


def measure_piece(config: Config, piece: Point) -> Row:
    """Row of one piece: counts of its streamed patterns, packed into text."""
    return streamed.measure_piece(config.seed, piece)


def measure(config: Config, wanted: Sequence[Point], done: Sequence[Row] | None = None) -> Iterator[Row]:
    """Rows of points, through one compiled program for each structure. Passes over streams come last.

    Args:
        config: the options.
        wanted: those to measure.
        done: rows of the pieces of their passes, which are measured here if not given.
    """
    stored = [point for point in wanted if not pattern_sets.is_streamed(point["ensemble"])]
    curves = list(_curves(config))
    chosen, paddings = {curve.point["memory"]: curve.scale for curve in curves}, _paddings(curves)
    kind = lambda point: _program(config, point, chosen[point["memory"]], paddings)
    yield from retention.rows(config.seed, stored, kind, scales.columns_of)
    if done is None:
        done = [measure_piece(config, piece) for piece in pieces(config, wanted)]
    yield from streamed.rows(config.seed, _streamed_points(wanted), done)


def _streamed_points(wanted: Sequence[Point]) -> list[Point]:
    return [point for point in wanted if pattern_sets.is_streamed(point["ensemble"])]


def _paddings(curves: Iterable[Curve]) -> dict[tuple, int]:
    """Padded number of patterns of each (memory, neurons, patterns)."""
    draws_of: dict[tuple[str, int], Counter[int]] = {}
    row_cost: dict[tuple[str, int], float] = {}
    for point, scale, counts, samples in curves:
        if not (scale.bracketed or pattern_sets.is_streamed(point["ensemble"])):
            size = point["memory"], point["neurons"]
            draws_of.setdefault(size, Counter()).update(dict.fromkeys(counts, samples))
            row_cost[size] = retention.row_cost(size[0], min(scale.dynamics), size[1], scale.queries)  # the dearest
    rows = {size: draws.rows_for_counts(several, row_cost[size]) for size, several in draws_of.items()}
    return {(*size, number): most for size, found in rows.items() for number, most in found.items()}


def _program(config: Config, point: Point, scale: scales.FullScale, paddings: dict[tuple, int]) -> retention.Program:
    kind, amount = corruptions.parts(point["corruption"])
    size = point["patterns"], point["neurons"]
    if scale.bracketed:
        padding = min(bracket.padding(*size), scales.held(point["ensemble"]))
    else:
        padding = paddings[point["memory"], size[1], size[0]]
    return retention.Program(
        memory=point["memory"],
        dynamics=point["dynamics"],
        neurons=point["neurons"],
        padding=padding,
        queries=scales.num_queries(scale, padding),  # of all M of the padding: those numbered from M on do not count
        corruption=kind if amount else "none",
        ensemble=point["ensemble"],
        clamp=config.clamp,
        max_steps=point["max_steps"],
    )


def summarise(table: Table) -> Summary:
    """Critical loads of every curve and criterion with theory, their extrapolation, overlaps and notes."""
    from experiments.capacity import summary  # pandas and the fits of scipy, which no measurement takes

    return summary.summarise(table)


def shares(table: Table) -> Table:
    """Share of queries that pass each criterion, with errors over samples, of every curve at every load."""
    from experiments.capacity import summary

    return summary.shares(table)


def panels(table: Table, summary: Summary) -> list[Panel]:
    """Success against load for every memory, critical number of patterns against neurons, theory on top."""
    from experiments.capacity import figure

    return figure.panels(table, summary)
