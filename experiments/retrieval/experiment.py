"""Retrieval against the inverse temperature: what queries of a stored pattern give at every β, and where they fail.

The axis is κ = β‖ξ‖², the exponent of the pattern's own weight, for all ensembles: patterns have norm 1, Gaussian ones
in the mean square, and β = κ, but memories on spins keep their ±1 and take β = κ/N. In the units of theory for norm √N
this is λ = κ/N. Every query starts at its pattern, clean or corrupted, and is judged by

    start_weight      weight p_target of the read-out on the pattern at the start, by which the first update is made
    first_weight      the same after one update
    one_step_overlap  overlap with the pattern after one update
    target_weight     p_target where the updates end; above one half the query is a success
    overlap, entropy  ξ·x/‖ξ‖² and the entropy of the weights there; `_kept`: means over successes only
    steps             updates that moved the state, up to max_steps (`step_limit` counts the queries cut there)

The critical κ of the start and of one update is where the mean of start_weight and of first_weight is one half, the
converged one is where half of the queries succeed. That is a first-order transition: near it updates linger, and
successes drop at one blow. The theory beside all three is annealed, at the measured N and M.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from experiments import contract
from experiments.contract import Cost, Point, Row
from experiments.retrieval import streamed
from experiments.retrieval.config import Config, FullScan, scans
from experiments.retrieval.figure import panels
from experiments.retrieval.summary import summarise
from experiments.shared import corruptions, kappa_theory, pattern_sets, retrievals, streams
from experiments.shared.retrievals import CURVE
from hopfield import Memory
from hopfield.memories import find

__all__ = ["X_AXIS", "Config", "check", "cost", "has_beta", "has_theory", "measure", "panels", "points", "summarise"]
X_AXIS = "kappa"
SMALL = 512
"""Number of patterns that fewer are padded to, so that one program serves them all."""
TOGETHER = 8
"""Number of κ that one draw of patterns is queried at in one go."""


def _pairs(config: Config) -> Iterator[tuple[str, str]]:
    """Memory and ensemble of every curve."""
    for scan in scans(config):
        yield from product(scan.memories, scan.ensembles)


def has_beta(config: Config) -> bool:
    """True if a memory has an inverse temperature."""
    return any(find(memory).takes_beta for memory, _ in _pairs(config))


def has_theory(config: Config) -> bool:
    """True if theory predicts a critical κ of a memory on an ensemble."""
    return any(kappa_theory.covers(*pair) for pair in _pairs(config))


def check(config: Config) -> None:
    """Check that starts mean something, memories weigh their patterns, and patterns can be held.

    Raises:
        ValueError: one of them, in one sentence that begins with the option.
    """
    for scan in scans(config):
        for start in scan.corruption:
            corruptions.name(start)
        for memory, ensemble in product(scan.memories, scan.ensembles):
            _check_pair(scan, memory, ensemble)


def _check_pair(scan: FullScan, memory: str, ensemble: str) -> None:
    if not isinstance(find(memory).sample, Memory):
        raise ValueError(f"memories must have weights over patterns, got {memory}, a coupling matrix")
    spins = retrievals.on_spins(memory)
    if spins and ensemble in ("sphere", "gaussian"):
        raise ValueError(f"ensembles must be spins or real patterns for {memory}, which lives on spins, got {ensemble}")
    if ensemble == pattern_sets.GENERATED:
        streams.check_memory(memory)
    real = retrievals.data(ensemble, spins)
    widths = _widths(scan, ensemble)
    most = max(scan.patterns)
    if real is None:
        if most * max(widths) > 2**30 and ensemble != pattern_sets.GENERATED:
            raise ValueError(f"patterns must be at most 2^30 / neurons, got {most}")
    else:
        if scan.neurons is not None and set(scan.neurons) != {real.shape[1]}:
            raise ValueError(f"neurons must be {real.shape[1]} for the patterns of {ensemble}, got {scan.neurons}")
        if most > len(real):
            raise ValueError(f"patterns must be at most the {len(real)} of {ensemble}, got {most}")
    predicted = scan.around and kappa_theory.covers(memory, ensemble)
    if find(memory).takes_beta and not scan.kappas and not predicted:
        raise ValueError(f"kappas must not be empty for {memory} on {ensemble}, where no theory says where to look")


def _widths(scan: FullScan, ensemble: str) -> Sequence[int]:
    real = retrievals.data(ensemble, False)
    if real is not None:
        return [real.shape[1]]
    return [64] if scan.neurons is None else scan.neurons


def _kappas(scan: FullScan, memory: str, ensemble: str, neurons: int, num_patterns: int) -> list[float | None]:
    """The κ of a curve in ascending order, to six digits. A memory without κ has a single null."""
    if not find(memory).takes_beta:
        return [None]
    found = set(scan.kappas)
    for criterion in kappa_theory.CRITERIA:
        critical = kappa_theory.critical_kappa(memory, ensemble, neurons, num_patterns, criterion)
        found |= {multiple * critical for multiple in scan.around} if critical else set()
    return [*sorted({float(f"{kappa:.6g}") for kappa in found})]


def cost(config: Config) -> Cost:
    """Cost of all scans, the sum over their memories and ensembles."""
    return contract.total(
        _pair_cost(scan, memory, ensemble)
        for scan in scans(config)
        for memory, ensemble in product(scan.memories, scan.ensembles)
    )


def _pair_cost(scan: FullScan, memory: str, ensemble: str) -> Cost:
    curves, widths, most = len(scan.corruption) * len(scan.patterns), _widths(scan, ensemble), max(scan.patterns)
    kappas, widest = len(scan.kappas) + len(kappa_theory.CRITERIA) * len(scan.around), max(widths)
    queries = scan.samples * kappas * scan.queries * len(scan.corruption)
    points = scan.samples * kappas * curves * len(widths)
    if ensemble == pattern_sets.GENERATED:
        together = min(kappas * scan.queries * len(scan.corruption), streamed.TOGETHER)
        return Cost(points, together * (widest + 1) ** 2, 10 * queries * sum(scan.patterns) * sum(widths) * widest)
    return Cost(
        points, max(most * widest, scan.queries * max(most, SMALL)), 10 * queries * sum(scan.patterns) * sum(widths)
    )


def points(config: Config) -> list[Point]:
    """One point per memory, ensemble, size, number of patterns, start, κ and sample; none twice."""
    grid = {}
    for scan in scans(config):
        for memory, ensemble in product(scan.memories, scan.ensembles):
            for neurons, num_patterns, start in product(_widths(scan, ensemble), scan.patterns, scan.corruption):
                shared = [memory, ensemble, neurons, num_patterns, corruptions.name(start)]
                for kappa in _kappas(scan, memory, ensemble, neurons, num_patterns):
                    for sample in range(scan.samples):
                        point = dict(zip(CURVE, shared, strict=True)) | {"kappa": kappa, "sample": sample}
                        point |= {"queries": min(scan.queries, num_patterns), "max_steps": scan.max_steps}
                        grid.setdefault(tuple(point.values()), point)
    _check_curves(grid.values())
    return list(grid.values())


def _check_curves(wanted: Iterable[Point]) -> None:
    """Check that parts measure one curve with one number of updates, and one place of it with one of queries."""
    steps: dict[tuple, set] = {}
    queries: dict[tuple, set] = {}
    for point in wanted:
        curve = tuple(point[name] for name in CURVE)
        steps.setdefault(curve, set()).add(point["max_steps"])
        queries.setdefault((curve, point["kappa"]), set()).add(point["queries"])
    for name, found in (("max_steps", steps), ("queries", queries)):
        for curve, values in found.items():
            if len(values) > 1:
                where = " ".join(map(str, curve if name == "max_steps" else curve[0]))
                raise ValueError(f"{name} must be one number for all parts that measure {where}, got {sorted(values)}")


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """Rows of points, through one compiled program for each structure. Passes over streams come last."""
    stored = [point for point in wanted if point["ensemble"] != pattern_sets.GENERATED]
    yield from retrievals.rows(config.seed, stored, _program)
    yield from streamed.rows(config.seed, [p for p in wanted if p["ensemble"] == pattern_sets.GENERATED])


def _program(point: Point) -> retrievals.Program:
    kind, amount = corruptions.parts(point["corruption"])
    together = 1 if point["kappa"] is None else TOGETHER
    padding = max(SMALL, point["patterns"]) if point["ensemble"] in pattern_sets.UNIT_NORM else point["patterns"]
    return retrievals.Program(
        memory=point["memory"],
        ensemble=point["ensemble"],
        neurons=point["neurons"],
        padding=padding,
        masked=padding != point["patterns"],
        queries=point["queries"],
        corruption=kind if amount else "none",
        max_steps=point["max_steps"],
        kappas=together,
    )
