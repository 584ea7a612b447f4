"""Times of the library beside what one would otherwise write or install, as ratios measured in one run.

    python scripts/benchmark.py [--only NAME] [--long] [--repetitions 7] [--size published] [--json PATH]
                                [--figure PATH]

Both sides of a comparison solve the same problems, in turn and in one process, so that whatever else the machine is
doing meets both alike; the ratio is the median over these pairs. Their results are compared, too: a fast wrong answer
stops the benchmark. The first run of each side, which compiles, is stated by itself. The comparisons are in the folder
`benchmarks`, a file each.
"""

import argparse
import importlib.util
import json
import os
import platform
import re
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
from benchmarks import MEBIBYTE, SIZES, BenchmarkError, Case, MissingPeer, Run, Side, find, names

from experiments.contract import InputError, StoppedError
from experiments.runner import boundary
from experiments.system.versions import version

PACKAGES = ("hopfield", "jax", "jaxlib", "flax", "numpy")
PEERS = ("torch",)
"""Stated where installed."""
OURS, THEIRS = SIDES = ("ours", "theirs")


class Spread(NamedTuple):
    """Median, smallest and largest over the repetitions."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        return cls(float(np.median(values)), min(values), max(values))

    def written(self, seconds: bool = True) -> str:
        """Text of the spread, to three digits, seconds in the unit that suits the median."""
        factor, unit = (1.0, "") if not seconds else (1.0, " s") if self.median >= 1 else (1e3, " ms")
        middle, low, high = (f"{value:.0f}" if value >= 100 else f"{value:.3g}" for value in np.multiply(factor, self))
        return f"{middle}{unit}" + (f" ({low} – {high})" if self.low < self.high else "")


@dataclass(frozen=True)
class Outcome:
    """Measurement of a case, side by side: seconds of every stage in every repetition, and the rest."""

    name: str
    what: str
    shapes: dict[str, int]
    repetitions: int
    labels: dict[str, str]
    seconds: dict[str, dict[str, list[float]]]
    first_seconds: dict[str, float]
    memory_mib: dict[str, float]
    agreement: dict[str, float]

    @property
    def spreads(self) -> dict[str, dict[str, Spread]]:
        """Seconds of ours and theirs by stage, and the ratio: how many times as long theirs takes."""
        spreads = {}
        for stage, ours in self.seconds[OURS].items():
            theirs = self.seconds[THEIRS][stage]
            ratios = [their / our for our, their in zip(ours, theirs, strict=True)]
            spreads[stage] = {OURS: Spread.of(ours), THEIRS: Spread.of(theirs), "ratio": Spread.of(ratios)}
        return spreads

    @property
    def compile_seconds(self) -> dict[str, float]:
        """Seconds that the first run takes beyond the median one, by side."""
        usual = self.spreads["total"]
        return {side: max(first - usual[side].median, 0.0) for side, first in self.first_seconds.items()}

    def record(self) -> dict[str, Any]:
        """Measured and derived numbers, as JSON can hold them."""
        spreads = {
            stage: {side: spread._asdict() for side, spread in sides.items()} for stage, sides in self.spreads.items()
        }
        return asdict(self) | {"compile_seconds": self.compile_seconds, "spreads": spreads}

    def table(self) -> str:
        """The same for the eye, in aligned columns."""
        rows = [["", *(self.labels[side] for side in SIDES), "ratio"]]
        for stage, spread in self.spreads.items():
            rows.append([stage, *(spread[side].written() for side in SIDES), spread["ratio"].written(seconds=False)])
        for name, values, unit in (
            ("first run", self.first_seconds, "s"),
            ("of it compiling", self.compile_seconds, "s"),
            ("peak memory", self.memory_mib, "MiB"),
        ):
            if values:
                rows.append([name, *(f"{values[side]:.3g} {unit}" for side in SIDES), ""])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["   ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
        sizes = [f"{value} {name}" for name, value in self.shapes.items()]
        shown = ", ".join([*sizes, f"{self.repetitions} × each side in turn: median (lowest – highest)"])
        agreed = [f"{name}: {value:.5g}" for name, value in self.agreement.items()]
        return "\n".join([f"{self.name}: {self.what}", shown, *lines, *agreed])


def measure(name: str, case: Case, repetitions: int) -> Outcome:
    """Run both sides in turn, after a first run of each, and compare what they return.

    Raises:
        BenchmarkError: the results disagree.
    """
    sides = {THEIRS: case.theirs, OURS: case.ours}
    problems = [case.draw(number) for number in range(1 if case.once else repetitions)]
    first = {} if case.once else {key: _time_side(side, problems[0])[1].seconds["total"] for key, side in sides.items()}
    results: dict[str, list] = {key: [] for key in sides}
    runs: dict[str, list[Run]] = {key: [] for key in sides}
    for problem in problems:
        for key, side in sides.items():
            result, run = _time_side(side, problem)
            results[key].append(result)
            runs[key].append(run)
    stages = [stage for stage in runs[OURS][0].seconds if stage in runs[THEIRS][0].seconds]
    memory = {key: [run.memory for run in runs[key] if run.memory is not None] for key in sides}
    return Outcome(
        name=name,
        what=case.what,
        shapes=case.shapes,
        repetitions=len(problems),
        labels={key: side.label for key, side in sides.items()},
        seconds={key: {stage: [run.seconds[stage] for run in runs[key]] for stage in stages} for key in sides},
        first_seconds=first,
        memory_mib={key: max(peaks) for key, peaks in memory.items() if peaks},
        agreement=case.check(problems, results[OURS], results[THEIRS]),
    )


def _time_side(side: Side, problem: Any) -> tuple[Any, Run]:
    run = Run()
    start = time.perf_counter()
    result = side.solve(problem, run)
    return result, Run({"total": time.perf_counter() - start, **run.seconds}, run.memory)


def environment() -> dict[str, Any]:
    """Versions, processor, device and how many processes keep the machine busy."""
    listing = Path("/proc/cpuinfo")
    lines = listing.read_text().splitlines() if listing.exists() else []
    installed = [*PACKAGES, *(name for name in PEERS if importlib.util.find_spec(name))]
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "versions": {"python": platform.python_version()} | {name: version(name) for name in installed},
        "processor": models[0] if models else platform.processor(),
        "cores": os.cpu_count(),
        "device": jax.devices()[0].device_kind,
        "busy": os.getloadavg()[0],
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Run the chosen comparisons and print their tables. Returns 0 if the two sides of each agree, else 1."""
    return boundary.run_command(lambda: _run_comparisons(_options(argv)))


def _run_comparisons(options: argparse.Namespace) -> int:
    machine = environment()
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    print(f"{versions}\n{machine['cores']} × {machine['processor']}, JAX on {machine['device']}")
    chosen = [options.only] if options.only else list(names())
    outcomes: list[Outcome] = []
    try:
        for name in chosen:
            module = find(name)
            if getattr(module, "LONG", False) and not (options.only or options.long):
                continue
            with tempfile.TemporaryDirectory() as workspace:
                try:
                    case = module.case(options.size, Path(workspace))
                except MissingPeer as missing:
                    print(f"\n{name}: skipped, {missing}", flush=True)
                    continue
                outcomes.append(measure(name, case, options.repetitions))
            print(f"\n{outcomes[-1].table()}", flush=True)
    except BenchmarkError as error:
        raise StoppedError(str(error)) from error
    peak, busy = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MEBIBYTE, os.getloadavg()[0]
    print(f"\n{machine['busy']:.1f} processes busy before, {busy:.1f} after; peak memory here {peak:.0f} MiB")
    if options.json:
        about = {"size": options.size, "environment": machine, "busy_after": busy, "peak_memory_mib": peak}
        cases = [outcome.record() for outcome in outcomes]
        options.json.write_text(json.dumps(about | {"cases": cases}, indent=2) + "\n", encoding="utf-8")
    if options.figure:
        draw(outcomes, options.figure)
    return 0


def draw(outcomes: Sequence[Outcome], path: Path) -> None:
    """Ratios of all cases with their ranges, the greatest above. To the right of 1 this library is faster."""
    from matplotlib.figure import Figure

    from experiments.figures import style

    ratio = lambda outcome: outcome.spreads["total"]["ratio"].median
    outcomes = sorted(outcomes, key=ratio)
    with style.style():
        figure = Figure(figsize=(8.5, 0.9 + 0.5 * len(outcomes)), layout="constrained")
        ax = figure.subplots()
        for place, outcome in enumerate(outcomes):
            middle, low, high = outcome.spreads["total"]["ratio"]
            ax.barh(place, middle - 1, left=1, height=0.55, color=style.COLOURS[0 if middle >= 1 else 1], alpha=0.75)
            ax.plot([low, high], [place, place], color="black", linewidth=1.1)
            end, side, gap = (max(high, 1.0), "left", 3) if middle >= 1 else (low, "right", -3)
            place_of_text: Any = {"xytext": (gap, 0), "textcoords": "offset points", "ha": side, "va": "center"}
            ax.annotate(f"{middle:.2g}", (end, place), fontsize=8.5, **place_of_text)
        titles = [re.split(r", | against ", outcome.what)[0] for outcome in outcomes]
        rivals = [outcome.labels[THEIRS] for outcome in outcomes]
        labels = [f"{title}\nagainst {rival}" for title, rival in zip(titles, rivals, strict=True)]
        ax.set_yticks(range(len(outcomes)), labels)
        ax.axvline(1, color="black", linewidth=0.8)
        ax.set_xscale("log")
        ax.margins(x=0.1)
        ax.xaxis.set_major_formatter("{x:g}")
        ax.grid(axis="y", visible=False)
        ax.set_xlabel("time of the other over time of this, median and range")
        figure.savefig(path)


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = boundary.Parser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", choices=names(), help="one comparison instead of all short ones")
    parser.add_argument("--long", action="store_true", help="also those that take minutes, such as a whole experiment")
    parser.add_argument("--repetitions", type=boundary.count, default=7, metavar="R", help="timed runs of each side")
    parser.add_argument("--size", choices=SIZES, default="published", help="small is for trying it out")
    parser.add_argument("--json", type=Path, metavar="PATH", help="where to write everything measured")
    parser.add_argument("--figure", type=Path, metavar="PATH", help="where to draw the ratios (.svg, .png or .pdf)")
    given = parser.parse_args(argv)
    for name in ("json", "figure"):
        path = getattr(given, name)
        if path is not None and (path.is_dir() or not path.absolute().parent.is_dir()):
            raise InputError(f"--{name} must be a file in an existing folder, got {path}")
    if given.figure is not None and given.figure.suffix not in (".svg", ".png", ".pdf"):
        raise InputError(f"--figure must end in .svg, .png or .pdf, got {given.figure}")
    return given


if __name__ == "__main__":
    sys.exit(boundary.run_command(lambda: _run_comparisons(_options(None)), final=True))
