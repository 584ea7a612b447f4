"""Summary of a retrieval table: critical κ with errors beside theory, and the states retrieved above it."""

import math
from typing import Any

import numpy as np

from experiments.contract import Table
from experiments.shared import convergence, kappa_theory
from experiments.shared.corruptions import CLEAN
from experiments.shared.retrievals import CURVE
from experiments.statistics.clusters import curves, means_by_group
from experiments.statistics.columns import headline
from experiments.statistics.crossings import half_crossing
from experiments.statistics.thresholds import critical_load

FAMILY = ["memory", "ensemble", "neurons"]
COMPARED = ("overlap", "entropy")
THEORY = "annealed: the sum over the other patterns at its mean, at the measured N and M"
MEANS = {"target_weight": "start_weight", "first_weight": "first_weight"}
"""Columns whose means are one half at the critical κ of the start and of one update."""
JUST_ABOVE = 1.05
"""Multiple of the critical κ of theory around which measured and predicted states are compared in a number."""


def summarise(table: Table) -> dict:
    """summary.json: `critical_kappa` from clean and from corrupted starts, `above_critical`, `scalars`.

    `theory`, `overlap_theory` and `entropy_theory` are annealed, at the measured N and M; of converged states there is
    none where a single update was made (`max_steps`).
    """
    critical, corrupted, unresolved, above = [], [], [], []
    for curve, rows in curves(table.dropna(subset=["kappa"]), CURVE):
        start = curve.pop("corruption")
        for criterion in kappa_theory.CRITERIA if start == CLEAN else ("converged_weight",):
            entry, reason = _critical(curve, rows, criterion, start == CLEAN)
            if reason:
                unresolved.append(curve | {"corruption": start, "criterion": criterion, "reason": reason})
            elif start == CLEAN:
                critical.append(entry)
            else:
                corrupted.append(entry | {"corruption": start})
        above += _states_above_critical(curve, rows) if start == CLEAN else []
    return {
        "critical_kappa": critical,
        "critical_kappa_corrupted": corrupted,
        "unresolved": unresolved,
        "above_critical": above,
        "theory": THEORY,
        "notes": convergence.notes(table, ["memory", "ensemble"], "success"),
        "scalars": _scalars(table, critical, above),
    }


def _critical(curve: dict, rows: Table, criterion: str, clean: bool) -> tuple[dict, str]:
    """One entry of `critical_kappa`, or the reason why it is missing. The fits are in ln κ."""
    log_kappa = np.log(rows["kappa"])
    if criterion in MEANS:
        found = half_crossing(log_kappa, rows[MEANS[criterion]], rows["sample"], rows["queries"])
    else:
        found = critical_load(log_kappa, rows["success"], rows["queries"], rows["sample"])
    kappa = math.exp(found.value)
    entry = curve | {"criterion": criterion, "kappa": kappa, "stderr": kappa * found.stderr}
    known = clean and (criterion in MEANS or convergence.end_of_curve(rows) == convergence.REST)
    theory = kappa_theory.critical_kappa(*curve.values(), criterion=criterion) if known else None
    cut = None if criterion in MEANS else convergence.cut_share(rows, "kappa", kappa)
    entry |= {"step_limit_share": cut, "theory": theory, "max_steps": int(rows["max_steps"].min())}
    return entry, found.reason


def _states_above_critical(curve: dict, rows: Table) -> list[dict]:
    """Measured and predicted states of the queries that succeed, at every κ from the critical one of theory on."""
    critical = kappa_theory.critical_kappa(*curve.values(), criterion="converged_weight")
    if critical is None or convergence.end_of_curve(rows) != convergence.REST:
        return []
    if curve["ensemble"] == "gaussian":  # theory is of the median norm, not of an average over norms
        return []
    kept = rows[(rows["kappa"] > 1.001 * critical) & (rows["success"] > 0)]
    if kept.empty:
        return []
    columns = {
        name: means_by_group(kept, "kappa", f"{name}_kept", "sample", "success") for name in ("overlap", "entropy")
    }
    kappas = columns["overlap"]["kappa"].to_numpy(float)
    share = kept.groupby("kappa")["success"].sum() / rows.groupby("kappa")["queries"].sum().loc[kappas]
    theory = kappa_theory.converged(*curve.values(), kappas=kappas)
    entries = []
    for i, kappa in enumerate(kappas):
        entry = curve | {"kappa": kappa, "ratio": kappa / critical, "success": float(share.iloc[i])}
        for name, means in columns.items():
            entry |= {name: means["mean"].iloc[i], f"{name}_stderr": means["stderr"].iloc[i]}
            entry |= {f"{name}_theory": float(getattr(theory, name)[i])}
        entries.append(entry)
    return entries


def _scalars(table: Table, critical: list[dict], above: list[dict]) -> dict[str, float]:
    """Critical κ of every memory and ensemble where most is stored, worst disagreements, and queries cut short."""
    scalars = {}
    most = table.groupby(["memory", "ensemble"])["patterns"].max()
    for entry in critical:
        if entry["patterns"] == most[entry["memory"], entry["ensemble"]]:
            name = "critical_kappa/{memory}/{ensemble}/N={neurons}/M={patterns}/{criterion}".format(**entry)
            scalars |= headline(name, entry["kappa"], entry["stderr"], theory=entry["theory"])
    family = main_family(table)
    critical, above = ([entry for entry in rows if family.items() <= entry.items()] for rows in (critical, above))
    name = "largest_deviation/{memory}/{ensemble}/N={neurons}".format(**family)
    for criterion in kappa_theory.CRITERIA:
        apart = [abs(e["kappa"] / e["theory"] - 1) for e in critical if e["criterion"] == criterion and e["theory"]]
        scalars |= {f"{name}/critical_kappa/{criterion}": max(apart)} if apart else {}
    near = [entry for entry in above if abs(entry["ratio"] / JUST_ABOVE - 1) < 1e-4]
    for column in COMPARED:
        apart = [abs(entry[column] - entry[f"{column}_theory"]) for entry in near]
        scalars |= {f"{name}/{column}_at_{JUST_ABOVE:g}_critical": float(max(apart))} if apart else {}
    return scalars | {"step_limit_share": convergence.cut_share(table)}


def main_family(table: Table) -> dict[str, Any]:
    """Memory, ensemble and size of the curves with the most numbers of patterns, the first of equals."""
    counts = table.groupby(FAMILY, sort=False)["patterns"].nunique()
    memory, ensemble, neurons = counts.index[int(np.argmax(counts))]
    return {"memory": memory, "ensemble": ensemble, "neurons": int(neurons)}
