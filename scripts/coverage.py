"""Coverage of 68 % intervals: how often the errors that summaries print hold the truth, over many seeds.

`python scripts/coverage.py [STUDY ...]` measures studies (all of them: STUDIES) with every seed from 0 on and writes
their rows into the table of docs/coverage.md. An interval reaches one `stderr` to either side, and from `low` to `high`
where all draws agree. The truth is theory where exact at that size, else the mean over seeds, less its own error.
"""

import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas

from experiments.contract import NUMBERS, InputError, Row, Table
from experiments.runner import boundary, registry

PAGE = Path(__file__).resolve().parent.parent / "docs" / "coverage.md"
_TABLE = re.compile(r"(?<=<!-- coverage -->\n\n).*?(?=\n\n<!-- end of coverage -->)", re.DOTALL)
HEAD = """\
| study | quantity | numbers | draws | truth | spread / error | one error holds it | two | |
|---|---|---|---|---|---|---|---|---|"""
ONE, RANGE = 0.683, (0.60, 0.76)
"""Share that an interval of one error should hold, and shares that are close to it."""


class Study(NamedTuple):
    """An experiment with options beside its defaults, which are of smoke scale."""

    experiment: str
    options: dict[str, Any] = {}  # noqa: RUF012
    seeds: int = 20


STUDIES = {
    **{name: Study(name) for name in registry.names()},
    "capacity": Study(
        "capacity",
        {
            "memories": ["classical"],
            "dynamics": ["asynchronous"],
            "neurons": [100],
            "loads": [0.13, 0.16, 0.19, 0.21, 0.23, 0.25, 0.28, 0.31, 0.35],
            "samples": 12,
        },
    ),
    "capacity, exponential": Study(
        "capacity",
        {
            "memories": ["exponential"],
            "dynamics": ["asynchronous"],
            "neurons": [10],
            "loads": [0.45, 0.5, 0.53, 0.56, 0.58, 0.6, 0.62, 0.65, 0.7],
            "samples": 20,
            "max_steps": 1,
        },
    ),
    "basins": Study("basins", {"overlaps": [0.1, 0.2, 0.3, 0.36, 0.42, 0.48, 0.54, 0.6, 0.7, 0.8, 0.9]}),
    "capacity_dynamics": Study(
        "capacity_dynamics", {"neurons": [100], "loads": [0.14, 0.18, 0.2, 0.22, 0.24, 0.28, 0.32], "samples": 12}
    ),
    "capacity_features": Study("capacity_features", {"features": [64, 256, 1024], "samples": 8}),
    "capacity_gardner": Study(
        "capacity_gardner", {"neurons": [20], "loads": [0.5, 1.0, 1.5, 2.0, 2.5, 3.0], "samples": 8}
    ),
    "capacity_sparse": Study("capacity_sparse", {"around": [0.6, 1.0, 1.4, 1.8, 2.2, 2.6], "samples": 8}),
    "capacity_structured": Study(
        "capacity_structured", {"loads": [0.08, 0.13, 0.18, 0.23, 0.28, 0.35, 0.45], "samples": 12}
    ),
    "thermal": Study("thermal", {"samples": 6}),
}
"""What is measured, by name. Defaults with too few loads or draws for an error have more."""
REMARKS = {
    ("capacity_gardner", "share retained"): "errors a fifth too large",
    ("capacity_linear", "share of draws with all keys found"): "draws are 0 or 1; errors are too large",
    ("entropy", "rising"): "too small, not explained",
    ("overlap_dynamics", "share retained"): "too large, of four draws",
    ("papers", "starts that end in the stored cycle"): "two draws, ten as published",
    ("sequences", "overlap"): "too small, not explained",
    ("thermal", "overlap"): "theory is of a pattern alone, at these sizes it is not",
}
"""What is to be said of a quantity of a study."""


def table(study: Study, seed: int) -> Table:
    """Rows that a study measures with one seed."""
    experiment, config = registry.load(study.experiment), registry.options(study.experiment)(seed=seed, **study.options)
    points, refine = experiment.points(config), getattr(experiment, "refine", lambda config, rows: [])
    key = lambda row: tuple(row[name] for name in points[0])
    rows: dict[tuple, Row] = {}
    while wanted := [point for point in points if key(point) not in rows]:
        rows |= {key(row): row for row in experiment.measure(config, wanted)}
        points += [point for point in refine(config, [rows[key(point)] for point in points]) if key(point) not in rows]
    return pandas.DataFrame([rows[key(point)] for point in points]).fillna(np.nan)  # as tables are read back


def estimates(study: Study) -> Table:
    """Estimates of all seeds, with one column of seeds."""
    summarise = registry.load(study.experiment).summarise
    found = [summarise(table(study, seed)).estimates.assign(seed=seed) for seed in range(study.seeds)]
    return floats(pandas.concat(found, ignore_index=True))


def floats(frame: Table) -> Table:
    """Estimates with all columns of numbers, missing ones as NaN."""
    numbers = frame.reindex(columns=["value", "stderr", "low", "high", "theory", "samples"]).astype(float)
    return frame.assign(**numbers).reindex(columns=list(dict.fromkeys([*frame, *numbers, "kind"])))


def numbers(frame: Table, seeds: int) -> Iterator[Table]:
    """Estimates of one number with an error each, with their distance from the truth, also in errors (`pull`).

    A number counts that three quarters of the seeds have, and that is not the same in all.
    """
    labels = [column for column in frame if column not in {*NUMBERS, "seed"}]
    frame = frame[np.isfinite(frame["value"]) & np.isfinite(frame["stderr"])]
    for _, each in frame.groupby(labels, dropna=False, sort=False):
        exact = str(each["kind"].iloc[0]).startswith("exact") and each["theory"].notna().all()
        apart = each["value"] - (each["theory"] if exact else each["value"].mean())
        apart = apart.where(~np.isclose(each["value"], each["value"] - apart, rtol=1e-9, atol=1e-12), 0.0)
        apart = apart if exact else apart / np.sqrt(1 - 1 / len(each))
        beyond = (each["value"] - each["low"].where(apart > 0, each["high"])).abs().fillna(0.0)
        error = each["stderr"].where(each["stderr"] > 0, beyond)
        if len(each) >= 0.75 * seeds and each["value"].nunique() > 1:
            pull = (apart.abs() / error).where(apart != 0, 0.0)
            yield each.assign(apart=apart, error=error, pull=pull, exact=exact)


def rows(name: str) -> Iterator[str]:
    """Rows of the table, one for each quantity of a study."""
    study = STUDIES[name]
    found: dict[str, list[Table]] = {}
    for each in numbers(estimates(study), study.seeds):
        found.setdefault(each["quantity"].iloc[0], []).append(each)
    for quantity, several in found.items():
        every: Table = pandas.concat(several)
        ratios = [np.sqrt(np.mean(each["apart"] ** 2) / np.mean(each["error"] ** 2)) for each in several]
        one, error = share(every, 1)
        two, _ = share(every, 2)
        outside = max(RANGE[0] - one, one - RANGE[1]) > 2 * error
        draws = "–".join(f"{n:.0f}" for n in sorted({every["samples"].min(), every["samples"].max()}) if n == n)
        truth = " and ".join({True: "exact", False: "seeds"}[kind] for kind in sorted(every["exact"].unique()))
        cells = [name, quantity, f"{len(several)}", draws, truth, f"{np.median(ratios):.2f}"]
        cells += [f"{'**' * outside}{one:.0%} ± {error:.0%}{'**' * outside}", f"{two:.0%}"]
        yield " | ".join(["", *cells, REMARKS.get((name, quantity), ""), ""]).strip()


def share(every: Table, errors: float) -> tuple[float, float]:
    """Share of intervals of so many errors that hold the truth, and its error, over seeds, whose numbers go together.

    The error is no less than if all numbers were independent.
    """
    by_seed = every["pull"].le(errors).groupby(every["seed"]).mean()
    least = np.sqrt(ONE * (1 - ONE) / len(every))
    return float(by_seed.mean()), max(float(by_seed.std(ddof=1) / len(by_seed) ** 0.5), float(least))


def _study(line: str) -> str:
    """Study that a row of the table is of."""
    return line.removeprefix("| ").split(" | ")[0]


def main(argv: list[str]) -> int:
    """Write the rows of studies into the page."""
    if unknown := sorted({*argv} - {*STUDIES}):
        raise InputError(f"STUDY must be any of {', '.join(STUDIES)}, got {', '.join(unknown)}")
    page = PAGE.read_text(encoding="utf-8")
    (kept,) = _TABLE.findall(page)
    lines = kept.splitlines()[2:]
    for name in argv or STUDIES:
        begun = time.process_time()
        made = list(rows(name))
        lines = [line for line in lines if _study(line) != name] + made
        lines.sort(key=lambda line: [*STUDIES].index(_study(line)))
        written = "\n".join([HEAD, *lines]).replace("\\", r"\\")
        PAGE.write_text(_TABLE.sub(written, page), encoding="utf-8")
        print("\n".join(made), f"{name}: {time.process_time() - begun:.0f} s", sep="\n", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(boundary.run_command(lambda: main(sys.argv[1:]), final=True))
