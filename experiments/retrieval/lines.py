"""Theory that a retrieval figure draws, annealed: lines beside the numbers of its table."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas

from experiments.contract import Row, Table
from experiments.shared import convergence, corruptions, kappa_theory

FAMILY = ["memory", "ensemble", "neurons"]
START, CONVERGED, LOADS, LIMIT = "weight at the start", "critical κ of converged states", "critical λ", "limit of λ"
STATES = {"overlap": "overlap of converged states", "entropy": "entropy of converged states"}
RATIOS = np.append(1 + np.geomspace(1e-4, 0.02, 60), np.linspace(1.021, 1.2, 60))
"""κ in units of the critical one, at which converged states are drawn."""
LEAST = 3
"""Critical κ of random patterns from which on they are drawn against the load."""


def main_family(table: Table) -> dict[str, Any]:
    """Memory, ensemble and size of the curves with the most numbers of patterns, the first of equals."""
    counts = table.groupby(FAMILY, sort=False)["patterns"].nunique()
    memory, ensemble, neurons = counts.index[int(np.argmax(counts))]
    return {"memory": memory, "ensemble": ensemble, "neurons": int(neurons)}


def main_rows(table: Table) -> Table:
    """The curves of the main family, from the clean start if there is one."""
    family = table[(table[FAMILY] == list(main_family(table).values())).all(axis=1)]
    start = corruptions.CLEAN if (family["corruption"] == corruptions.CLEAN).any() else family["corruption"].iloc[0]
    return family[family["corruption"] == start]


def drawn(critical: Table) -> Table:
    """Critical κ of random patterns, with their load."""
    rows = critical[critical["ensemble"].isin(kappa_theory.RANDOM)] if len(critical) else critical
    return rows.assign(load=np.log(rows["patterns"]) / rows["neurons"]) if len(rows) else rows


def of_table(table: Table, critical: list[Row]) -> Iterator[Row]:
    """Lines of theory beside the rows of a table.

    Args:
        table: rows with a κ.
        critical: the critical κ from clean starts.
    """
    main = main_rows(table)
    family = main_family(table)
    if main["corruption"].iloc[0] == corruptions.CLEAN:
        yield from _of_counts(main, family)
    frame: Table = pandas.DataFrame(critical).reindex(columns=[*FAMILY, "patterns", "criterion", "theory"])
    frame = drawn(frame[frame["memory"] == family["memory"]])
    if len(frame) >= LEAST:
        yield from _loads(frame)
        yield from _limits(frame)


def _of_counts(main: Table, family: dict[str, Any]) -> Iterator[Row]:
    """For each number of patterns the weight at the start, and where and how states converge."""
    grid = np.geomspace(main["kappa"].min(), main["kappa"].max(), 300)
    for count in main["patterns"].unique().tolist():
        about, key = {**family, "patterns": count}, [*family.values(), count]
        weight = kappa_theory.start_weight(*key, grid)
        if weight is not None:
            yield {"quantity": START, **about, "x": grid.tolist(), "y": weight.tolist()}
        if convergence.end_of_curve(main[main["patterns"] == count]) != convergence.REST:
            continue
        critical = kappa_theory.critical_kappa(*key, criterion="converged_weight")
        if critical is None:
            continue
        yield {"quantity": CONVERGED, **about, "x": [critical], "y": []}
        if family["ensemble"] != "gaussian":  # theory is of one norm
            states = kappa_theory.converged(*key, kappas=RATIOS * critical)
            for name, quantity in STATES.items():
                yield {"quantity": quantity, **about, "x": RATIOS.tolist(), "y": getattr(states, name).tolist()}


def _loads(frame: Table) -> Iterator[Row]:
    """Critical κ/N against ln M / N at the measured sizes."""
    for key, rows in frame.dropna(subset=["theory"]).groupby([*FAMILY, "criterion"], sort=False):
        memory, ensemble, neurons, criterion = key
        counts = np.unique(np.geomspace(rows["patterns"].min() / 2, 2 * rows["patterns"].max(), 30).astype(int))
        known = [kappa_theory.critical_kappa(memory, ensemble, neurons, count, criterion) for count in counts]
        y = [None if kappa is None else kappa / neurons for kappa in known]
        about = {"memory": memory, "ensemble": ensemble, "neurons": neurons, "criterion": criterion}
        yield {"quantity": LOADS, **about, "x": (np.log(counts) / neurons).tolist(), "y": y}


def _limits(frame: Table) -> Iterator[Row]:
    """Critical κ/N of the start for N → ∞, for memories and patterns with theory and loads that are kept at all."""
    loads = np.geomspace(frame["load"].min(), frame["load"].max(), 100)
    for memory, ensemble in dict.fromkeys(zip(frame["memory"], frame["ensemble"], strict=True)):
        line = kappa_theory.limit(ensemble, loads) if kappa_theory.covers(memory, ensemble) else loads * np.nan
        if np.isfinite(line).any():
            yield {"quantity": LIMIT, "memory": memory, "ensemble": ensemble, "x": loads.tolist(), "y": line.tolist()}
