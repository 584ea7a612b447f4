"""How fast this is beside what one would otherwise write or install, as ratios measured in one run.

    python scripts/benchmark.py [--only NAME] [--with-capacity] [--repetitions 7] [--size published] [--json PATH]

Both sides of a case solve the same problems, in turn and in one process, so that whatever else the machine is doing
meets both alike; the ratio is the median over these pairs. Their results are compared, too: a fast wrong answer stops
the benchmark. The first run of each side, which compiles, is stated by itself.

A case is a function in CASES that returns a `Case`; nothing else has to know it.
"""

import argparse
import contextlib
import json
import math
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from hopfield import hebb_couplings, retrieve
from hopfield.memories import find

ROOT = Path(__file__).resolve().parent.parent
SIZES = ("small", "published")
PACKAGES = ("hopfield", "jax", "jaxlib", "numpy")
RETAINED = 0.8
"""Final overlap above which a pattern counts as retained."""
SIGMAS = 4.0
"""Standard errors by which means of the two sides may differ."""


class BenchmarkError(Exception):
    """The sides of a case did not do the same, or one of them did not run."""


@dataclass
class Run:
    """One side solving one problem: the seconds it took, in total and in the stages it names, and peak memory in MiB.

    Memory is only known where a side runs in a process of its own.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    memory: float | None = None

    @contextlib.contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Note the time spent in the body."""
        start = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - start


class Side(NamedTuple):
    """One way to solve a problem: what it is called in the table, and the function that does it and names its stages."""

    label: str
    solve: Callable[[Any, Run], Any]


@dataclass(frozen=True)
class Case:
    """A problem and two ways to solve it.

    Attributes:
        what: one sentence saying what is compared.
        shapes: sizes of the problem.
        draw: the problem of one repetition, made outside the timed region.
        ours, theirs: the two sides.
        check: from problems and both sides' results, one each per repetition, the figures that show their agreement;
            raises BenchmarkError where they disagree.
        once: takes too long to repeat or to run in advance.
    """

    what: str
    shapes: dict[str, int]
    draw: Callable[[int], Any]
    ours: Side
    theirs: Side
    check: Callable[[list, list, list], dict[str, float]]
    once: bool = False


class Spread(NamedTuple):
    """Median, smallest and largest over the repetitions."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        return cls(float(np.median(values)), min(values), max(values))


@dataclass(frozen=True)
class Outcome:
    """What was measured of a case; seconds and ratios by stage, those of `theirs` over `ours` pair by pair."""

    name: str
    what: str
    shapes: dict[str, int]
    repetitions: int
    labels: dict[str, str]
    seconds: dict[str, dict[str, list[float]]]
    first_seconds: dict[str, float]
    memory: dict[str, float]
    agreement: dict[str, float]

    def spread(self, side: str, stage: str) -> Spread:
        return Spread.of(self.seconds[side][stage])

    def ratio(self, stage: str) -> Spread:
        """How many times as long theirs takes."""
        pairs = zip(self.seconds["theirs"][stage], self.seconds["ours"][stage], strict=True)
        return Spread.of([theirs / ours for theirs, ours in pairs])

    @property
    def stages(self) -> list[str]:
        return list(self.seconds["ours"])

    def record(self) -> dict[str, Any]:
        """Everything measured and derived, as JSON can hold it."""
        sides = {side: {stage: self.spread(side, stage)._asdict() for stage in self.stages} for side in self.labels}
        ratios = {stage: self.ratio(stage)._asdict() for stage in self.stages}
        compiling = {
            side: max(first - sides[side]["total"]["median"], 0.0) for side, first in self.first_seconds.items()
        }
        return asdict(self) | {"spread": sides, "ratio": ratios, "compile_seconds": compiling}


def measure(name: str, case: Case, repetitions: int) -> Outcome:
    """Run both sides in turn, after a first run of each, and compare what they return.

    Raises:
        BenchmarkError: the results disagree.
    """
    sides = {"theirs": case.theirs, "ours": case.ours}
    repetitions = 1 if case.once else repetitions
    problems = [case.draw(number) for number in range(repetitions)]
    first = {} if case.once else {key: _timed(side, problems[0])[1].seconds["total"] for key, side in sides.items()}
    results: dict[str, list] = {key: [] for key in sides}
    runs: dict[str, list[Run]] = {key: [] for key in sides}
    for problem in problems:
        for key, side in sides.items():
            result, run = _timed(side, problem)
            results[key].append(result)
            runs[key].append(run)
    stages = [stage for stage in runs["ours"][0].seconds if stage in runs["theirs"][0].seconds]
    return Outcome(
        name,
        case.what,
        case.shapes,
        repetitions,
        {key: side.label for key, side in sides.items()},
        {key: {stage: [run.seconds[stage] for run in runs[key]] for stage in stages} for key in sides},
        first,
        {key: max(run.memory for run in runs[key] if run.memory) for key in sides if runs[key][0].memory},
        case.check(problems, results["ours"], results["theirs"]),
    )


def _timed(side: Side, problem: Any) -> tuple[Any, Run]:
    run = Run()
    start = time.perf_counter()
    result = side.solve(problem, run)
    return result, Run({"total": time.perf_counter() - start, **run.seconds}, run.memory)


class Stored(NamedTuple):
    """Spin patterns to store [M, N], of which the first are the queries; the same on the device; a number to seed by."""

    patterns: np.ndarray
    on_device: jax.Array
    number: int


def asynchronous(size: str, workspace: Path) -> Case:
    """Random-sequential retrieval at zero temperature close to the critical load, coupling matrix included."""
    del workspace
    neurons, patterns, probes = {"small": (200, 20, 4), "published": (2000, 276, 32)}[size]

    @jax.jit
    def weights(stored):
        return hebb_couplings(find("classical").build(stored))

    @jax.jit
    def dynamics(couplings, queries, keys):
        settle = lambda query, key: retrieve(couplings, query, dynamics="asynchronous", key=key)  # noqa: E731
        return jax.vmap(settle)(queries, keys).state

    def draw(number: int) -> Stored:
        chance = np.random.default_rng((1982, number)).random((patterns, neurons))
        spins = np.where(chance < 0.5, -1, 1).astype(np.float32)
        return Stored(spins, jax.device_put(spins), number)

    def event_driven(problem: Stored, run: Run) -> np.ndarray:
        keys = jax.random.split(jax.random.key(problem.number), probes)
        with run.stage("couplings"):
            couplings = jax.block_until_ready(weights(problem.on_device))
        with run.stage("dynamics"):
            return np.asarray(dynamics(couplings, problem.on_device[:probes], keys))

    def plain(problem: Stored, run: Run) -> np.ndarray:
        rng = np.random.default_rng(problem.number)
        with run.stage("couplings"):
            couplings = problem.patterns.T @ problem.patterns / neurons
            np.fill_diagonal(couplings, 0)
        with run.stage("dynamics"):
            return np.stack([sweep_until_still(couplings, query, rng) for query in problem.patterns[:probes]])

    return Case(
        what="Asynchronous retrieval of stored patterns, event-driven against one neuron after the other.",
        shapes={"neurons": neurons, "patterns": patterns, "probes": probes},
        draw=draw,
        ours=Side("hopfield, event-driven", event_driven),
        theirs=Side("numpy, plain sweeps", plain),
        check=same_fixed_points,
    )


def sweep_until_still(couplings: np.ndarray, query: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Zero-temperature dynamics as one writes them in numpy: every neuron in a fresh random order, until none moves."""
    state = query.copy()
    moved = True
    while moved:
        moved = False
        for i in rng.permutation(state.size):
            field = couplings[i] @ state
            new = 1.0 if field > 0 else -1.0 if field < 0 else state[i]
            if new != state[i]:
                state[i] = new
                moved = True
    return state


def same_fixed_points(problems: list[Stored], ours: list[np.ndarray], theirs: list[np.ndarray]) -> dict[str, float]:
    """Check that every final state is a fixed point, and that both sides retain as much, on average over all queries.

    The two visit neurons in different orders, so that single final states may differ.
    """
    overlaps: dict[str, np.ndarray] = {}
    for side, results in (("ours", ours), ("theirs", theirs)):
        for problem, states in zip(problems, results, strict=True):
            patterns, spins = problem.patterns.astype(float), states.astype(float)
            fields = (spins @ patterns.T) @ patterns - len(patterns) * spins  # sums of integers: exact
            if (np.abs(spins) != 1).any() or (fields * spins < 0).any():
                raise BenchmarkError(f"a final state of {side} is not a fixed point")
        pairs = zip(problems, results, strict=True)
        overlaps[side] = np.concatenate([np.mean(states * p.patterns[: len(states)], axis=1) for p, states in pairs])
    figures: dict[str, float] = {"final states, all fixed points": 2 * overlaps["ours"].size}
    for name, ends in (
        ("retained share", {side: (overlap > RETAINED).astype(float) for side, overlap in overlaps.items()}),
        ("mean overlap", overlaps),
    ):
        difference = ends["ours"] - ends["theirs"]
        error = difference.std() / math.sqrt(difference.size)
        if abs(difference.mean()) > SIGMAS * error:
            raise BenchmarkError(f"{name} must agree, got a difference of {difference.mean():.2g} ± {error:.2g}")
        figures |= {f"{name}, {side}": float(end.mean()) for side, end in ends.items()}
        figures[f"{name}, error of the difference"] = float(error)
    return figures


def capacity(size: str, workspace: Path) -> Case:
    """The whole command, from the start of the process to the figure, with nothing compiled before and again after."""
    options = ["memories=[classical]", "neurons=[50,100]", "samples=4"] if size == "small" else []
    cache = workspace / "cache"

    def command(name: str) -> Callable[[Any, Run], bytes]:
        def solve(_, run: Run) -> bytes:
            return _run_capacity(options, workspace / name, cache, run)

        return solve

    def same_tables(_, ours: list[bytes], theirs: list[bytes]) -> dict[str, float]:
        if ours != theirs:
            raise BenchmarkError("the tables with an empty and with a filled compilation cache must be the same")
        return {"rows of the table, the same in both": ours[0].count(b"\n") - 1}

    return Case(
        what="python -m experiments.run conf=capacity, whole process, with its compilation cache filled and empty.",
        shapes={},
        draw=lambda number: number,
        ours=Side("filled cache", command("filled")),
        theirs=Side("empty cache", command("empty")),
        check=same_tables,
        once=True,
    )


def _run_capacity(options: Sequence[str], output: Path, cache: Path, run: Run) -> bytes:
    """Run the command in a process of its own and return its table. Raises BenchmarkError if it fails."""
    words = ["-m", "experiments.run", "conf=capacity", "wandb.mode=disabled", f"output={output}", *options]
    environment = {key: value for key, value in os.environ.items() if key != "JAX_COMPILATION_CACHE_DIR"}
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            [sys.executable, *words],
            cwd=ROOT,
            env=environment | {"XDG_CACHE_HOME": str(cache)},
            stdout=said,
            stderr=said,
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            said.seek(0)
            raise BenchmarkError(f"conf=capacity ended with {process.returncode}: {said.read().decode()}")
    run.memory = _mebibytes(usage.ru_maxrss)
    return (output / "table.csv").read_bytes()


CASES: dict[str, Callable[[str, Path], Case]] = {"asynchronous": asynchronous, "capacity": capacity}
LONG = ("capacity",)
"""Cases that run only when asked for."""


def table(outcome: Outcome) -> str:
    """What was measured of a case, in aligned columns."""
    sizes = ", ".join(f"{name} {value}" for name, value in outcome.shapes.items())
    times = f"{outcome.repetitions} repetition{'s' if outcome.repetitions > 1 else ''}: median (lowest – highest)"
    rows = [["", *(outcome.labels[side] for side in ("ours", "theirs")), "ratio"]]
    for stage in outcome.stages:
        seconds = [_written(outcome.spread(side, stage), 1e3, "ms") for side in ("ours", "theirs")]
        rows.append([stage, *seconds, _written(outcome.ratio(stage))])
    for name, values, unit in (
        ("first run", outcome.first_seconds, "s"),
        ("of it compiling", outcome.record()["compile_seconds"], "s"),
        ("peak memory", outcome.memory, "MiB"),
    ):
        if values:
            rows.append([name, *(f"{values[side]:.3g} {unit}" for side in ("ours", "theirs")), ""])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    agreed = [f"{name}: {value:.5g}" for name, value in outcome.agreement.items()]
    return "\n".join([f"{outcome.name}: {outcome.what}", ", ".join(filter(None, (sizes, times))), *lines, *agreed])


def _written(spread: Spread, factor: float = 1.0, unit: str = "") -> str:
    return (
        f"{spread.median * factor:.4g} {unit}".rstrip() + f" ({spread.low * factor:.4g} – {spread.high * factor:.4g})"
    )


def environment() -> dict[str, Any]:
    """Versions, processor, device and how busy the machine is."""
    versions = {"python": platform.python_version()} | {name: metadata.version(name) for name in PACKAGES}
    listing = Path("/proc/cpuinfo")
    models = (
        [line for line in listing.read_text().splitlines() if line.startswith("model name")] if listing.exists() else []
    )
    return {
        "versions": versions,
        "processor": models[0].partition(":")[2].strip() if models else platform.processor(),
        "cores": os.cpu_count(),
        "device": jax.devices()[0].device_kind,
        "load": os.getloadavg()[0],
    }


def _mebibytes(peak: int) -> float:
    return peak / 2 ** (20 if sys.platform == "darwin" else 10)  # macOS counts bytes, Linux kibibytes


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {value}")
    return value


def main(argv: Sequence[str] | None = None) -> int:
    """Run the chosen cases and print their tables; 0 if both sides of each agree."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", choices=CASES, help="one case instead of all")
    parser.add_argument("--with-capacity", action="store_true", help="also time the whole capacity experiment, twice")
    parser.add_argument("--repetitions", type=_positive, default=7, metavar="R", help="timed runs of each side")
    parser.add_argument("--size", choices=SIZES, default="published", help="small is for trying it out")
    parser.add_argument("--json", type=Path, metavar="PATH", help="where to write everything measured")
    options = parser.parse_args(argv)
    chosen = [options.only] if options.only else [n for n in CASES if n not in LONG or options.with_capacity]
    before = environment()
    names = ", ".join(f"{name} {version}" for name, version in before["versions"].items())
    print(
        f"{names}\n{before['cores']} cores of {before['processor']}, JAX device {before['device']}, {before['load']:.1f} busy"
    )
    outcomes: list[Outcome] = []
    try:
        with tempfile.TemporaryDirectory() as workspace:
            for name in chosen:
                outcomes.append(measure(name, CASES[name](options.size, Path(workspace)), options.repetitions))
                print(f"\n{table(outcomes[-1])}", flush=True)
    except BenchmarkError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    peak = _mebibytes(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    print(f"\npeak memory of this process {peak:.4g} MiB; {os.getloadavg()[0]:.1f} processes busy at the end")
    if options.json:
        record = {
            "size": options.size,
            "environment": before,
            "load_after": os.getloadavg()[0],
            "peak_memory_mib": peak,
        }
        options.json.write_text(
            json.dumps(record | {"cases": [outcome.record() for outcome in outcomes]}, indent=2) + "\n"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
