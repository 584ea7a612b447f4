"""Summary of the basins of attraction: critical initial overlaps beside theory, and the ends of all queries."""

import numpy as np

from experiments.basins import theory
from experiments.contract import Table
from experiments.shared import convergence
from experiments.statistics.clusters import curves
from experiments.statistics.columns import distinct_name, headline
from experiments.statistics.thresholds import critical_load

CURVE = ["memory", "dynamics", "neurons", "patterns"]
"""Columns that tell one curve against the initial overlap from another."""


def summarise(table: Table) -> dict:
    """Critical initial overlaps, and for every curve the shares of queries by their final state.

    `cycles` and `step_limit` are the shares that end in a 2-cycle or are cut, wherever that is.
    """
    critical, ends = [], []
    for curve, rows in curves(table, CURVE):
        curve |= {"load": float(rows["load"].iloc[0])}
        threshold = critical_load(rows["start_overlap"], rows["right"], rows["queries"], rows["sample"])
        fit = {"width": abs(threshold.width), "chi2": threshold.chi2, "dof": threshold.dof, "method": threshold.method}
        critical.append(curve | {"overlap": threshold.value, "stderr": threshold.stderr} | fit)
        total = rows["queries"].sum()
        counts = {"right": rows["right"], "other": rows["some"] - rows["right"]}
        counts |= {"nowhere": rows["queries"] - rows["some"] - rows["reversed"]}
        counts |= {name: rows[name] for name in ("reversed", "cycles", "step_limit")}
        ends.append(curve | {name: count.sum() / total for name, count in counts.items()})
    _add_theory(critical, table)
    notes = convergence.notes(table, ["memory", "dynamics"], "right")
    return {"critical_overlap": critical, "ends": ends, "notes": notes, "scalars": _scalars(critical)}


def _add_theory(critical: list[dict], table: Table) -> None:
    """Set `theory` and `theory_name` of every critical overlap. `theory` is NaN at loads without a theory."""
    for family, rows in curves(table, CURVE[:3]):
        entries = [entry for entry in critical if family.items() <= entry.items()]
        loads = np.array([entry["load"] for entry in entries])
        found = theory.lines(rows, loads)
        for i, entry in enumerate(entries):
            entry["theory"] = float(found[0].overlaps[i]) if found else float("nan")
            entry["theory_name"] = " ".join(found[0].label.split()) if found else None


def _scalars(critical: list[dict]) -> dict[str, float]:
    """Critical overlaps of the largest size of every memory."""
    largest = {}
    for entry in critical:
        largest[entry["memory"]] = max(entry["neurons"], largest.get(entry["memory"], 0))
    scalars = {}
    for entry in critical:
        if entry["neurons"] == largest[entry["memory"]] and entry["method"] != "none":
            name = f"critical_overlap/{entry['memory']}/{entry['dynamics']}/load={{}}"
            name = distinct_name(scalars, name, entry["load"], 3)
            scalars |= headline(name, entry["overlap"], entry["stderr"], theory=entry["theory"])
    return scalars
