"""Coverage of 68 % intervals: how often the error that a summary prints holds the truth, over many seeds.

`python scripts/coverage.py [SEEDS]` measures four small experiments with every seed from 0 to SEEDS − 1 (60) and
prints a table for docs/results.md. The truth is exact theory at that size where known, else the mean over all
seeds, whose own error is taken off. `spread` is the values' over the mean of their errors.
`python scripts/coverage.py SEEDS EXPERIMENT ...` does the same with every number with an error of these experiments at
their defaults, of smoke scale, a row for each quantity.
"""

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas

from experiments.basins import experiment as basins
from experiments.capacity import experiment as capacity
from experiments.capacity import theory
from experiments.contract import NUMBERS, InputError, Row, records
from experiments.retrieval import experiment as retrieval
from experiments.runner import boundary, registry

SEEDS = 60


class Case(NamedTuple):
    """One number that an experiment measures: where its summary has it, and the truth if it is known."""

    name: str
    experiment: Any
    config: Callable[[int], Any]
    quantity: str
    criterion: str | None = None
    truth: float | None = None


def _capacity(**options: Any) -> Callable[[int], Any]:
    return lambda seed: capacity.Config(seed=seed, dynamics=["asynchronous"], **options)


EXPONENTIAL = _capacity(
    memories=["exponential"],
    neurons=[10],
    loads=[0.45, 0.5, 0.53, 0.56, 0.58, 0.6, 0.62, 0.65, 0.7],
    samples=20,
    max_steps=1,
)
CLASSICAL = _capacity(
    memories=["classical"], neurons=[100], loads=[0.13, 0.16, 0.19, 0.21, 0.23, 0.25, 0.28, 0.31, 0.35], samples=12
)
CASES = [
    Case(
        "exponential memory, N = 10, weight > ½ at the start, 20 draws",
        capacity,
        EXPONENTIAL,
        "critical load",
        "target_weight",
        theory.critical_load("exponential", "target_weight", 10, 0.0, 1.0),
    ),
    Case("classical, N = 100, final overlap > 0.8, 12 draws", capacity, CLASSICAL, "critical load", "retained"),
    Case(
        "modern on the sphere, N = 32, M = 100, half converge (critical κ), 12 draws",
        retrieval,
        lambda seed: retrieval.Config(seed=seed, neurons=[32], patterns=[100], samples=12, queries=8),
        "critical κ",
        "converged_weight",
    ),
    Case(
        "classical, N = 100, critical initial overlap at load 0.09, 8 draws",
        basins,
        lambda seed: basins.Config(
            seed=seed,
            memories=["classical"],
            overlaps=[0.1, 0.2, 0.3, 0.36, 0.42, 0.48, 0.54, 0.6, 0.7],
            per_memory={"classical": basins.Scale(neurons=[100], loads=[0.09], samples=8)},
        ),
        "critical overlap",
    ),
]


def found(case: Case, seed: int) -> Row:
    """The estimate of a case, measured with one seed."""
    config = case.config(seed)
    rows = case.experiment.measure(config, case.experiment.points(config))
    table = pandas.DataFrame(rows).fillna(np.nan)  # a β that is none, as a table that is read back has it
    by = {} if case.criterion is None else {"criterion": case.criterion}
    (estimate,) = records(case.experiment.summarise(table).of(case.quantity, **by))
    return estimate


def row(case: Case, seeds: int) -> str:
    """Row of the table: truth, mean value, spread over error, and the shares of intervals that hold the truth."""
    several = pandas.DataFrame([found(case, seed) for seed in range(seeds)])
    value, error = several["value"].to_numpy(float), several["stderr"].to_numpy(float)
    truth = value.mean() if case.truth is None else case.truth
    pull = np.abs(value - truth) / error / (np.sqrt(1 - 1 / seeds) if case.truth is None else 1.0)
    numbers = [
        f"{value.mean():.5f}({value.std(ddof=1) / seeds**0.5 * 1e5:.0f})",
        f"{value.std(ddof=1) / error.mean():.2f}",
    ]
    kind = "mean of seeds" if case.truth is None else f"{case.truth:.5f} exact"
    shares = [f"{np.mean(pull < sigma):.0%}" for sigma in (1, 2)]
    return " | ".join(["", case.name, kind, *numbers, *shares, ""]).strip()


def rows_of(name: str, seeds: int) -> list[str]:
    """Rows of an experiment at its defaults, one for each quantity with errors; the truth is the mean over seeds."""
    several = [_estimates(name, seed).assign(seed=seed) for seed in range(seeds)]
    frame = pandas.concat(several, ignore_index=True)
    labels = [column for column in frame if column not in {*NUMBERS, "seed"}]
    found: dict[str, list[np.ndarray]] = {}
    for _, each in frame.groupby(labels, dropna=False, sort=False):
        value, error = each["value"].to_numpy(float), each["stderr"].to_numpy(float)
        if len(each) == seeds and np.isfinite(value).all() and (error > 0).all():
            apart = (value - value.mean()) / np.sqrt(1 - 1 / seeds)
            found.setdefault(each["quantity"].iloc[0], []).append(np.stack([apart / error, apart, error]))
    told = []
    for quantity, numbers in found.items():
        pull, apart, error = np.stack(numbers, axis=1)
        ratio = np.sqrt(np.mean(apart**2, axis=1)) / error.mean(axis=1)
        shares = [f"{np.mean(np.abs(pull) < sigma):.0%}" for sigma in (1, 2)]
        told.append(" | ".join(["", f"{name}: {quantity}", f"{len(pull)}", f"{np.median(ratio):.2f}", *shares, ""]))
    return [line.strip() for line in told]


def _estimates(name: str, seed: int) -> pandas.DataFrame:
    """Estimates of an experiment at its defaults."""
    experiment, config = registry.load(name), registry.options(name)(seed=seed)
    rows = list(experiment.measure(config, experiment.points(config)))
    frame: Any = experiment.summarise(pandas.DataFrame(rows).fillna(np.nan)).estimates
    return frame.reindex(columns=list(dict.fromkeys([*frame, "value", "stderr"])))


def main(argv: list[str]) -> int:
    """Print the table."""
    if argv and not (argv[0].isdecimal() and int(argv[0]) > 1):
        raise InputError(f"coverage.py must be followed by a number of seeds, 2 at least, or nothing, got {argv}")
    if unknown := sorted({*argv[1:]} - {*registry.names()}):
        raise InputError(f"EXPERIMENT must be any of {', '.join(registry.names())}, got {', '.join(unknown)}")
    if len(argv) > 1:
        print(
            "| experiment and quantity | numbers | spread / error | one error holds it | two |\n|---|---|---|---|---|"
        )
        for name in argv[1:]:
            print("\n".join(rows_of(name, int(argv[0]))), flush=True)
        return 0
    print("| number | truth | mean | spread / error | one error holds it | two |\n|---|---|---|---|---|---|")
    for case in CASES:
        print(row(case, int(argv[0]) if argv else SEEDS), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(boundary.run_command(lambda: main(sys.argv[1:]), final=True))
