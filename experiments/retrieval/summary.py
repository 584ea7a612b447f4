"""Summary of a retrieval table: critical κ with errors beside theory, and the states retrieved above it."""

import math
from collections.abc import Iterator

import numpy as np

from experiments.contract import Row, Summary, Table
from experiments.retrieval import lines
from experiments.shared import convergence, kappa_theory
from experiments.shared.corruptions import CLEAN
from experiments.shared.retrievals import CURVE
from experiments.statistics.clusters import curves, means_by_group
from experiments.statistics.crossings import half_crossing
from experiments.statistics.estimates import tidy
from experiments.statistics.thresholds import critical_load

THEORY = "annealed: the sum over the other patterns at its mean, at the measured N and M"
MEANS = {"target_weight": "start_weight", "first_weight": "first_weight"}
"""Columns whose means are one half at the critical κ of the start and of one update."""
JUST_ABOVE = 1.05
"""Multiple of the critical κ of theory around which measured and predicted states are compared in a number."""


def summarise(table: Table) -> Summary:
    """Critical κ from clean and from corrupted starts, and the states that succeed above it.

    Theory is annealed, at the measured N and M; of converged states there is none where a single update was made.
    """
    critical, unresolved, above = list[Row](), [], list[Row]()
    scanned = table.dropna(subset=["kappa"])
    for curve, rows in curves(scanned, CURVE):
        start = curve.pop("corruption")
        for criterion in kappa_theory.CRITERIA if start == CLEAN else ("converged_weight",):
            entry, reason = _critical(curve, rows, criterion, start == CLEAN)
            if reason:
                unresolved.append(curve | {"corruption": start, "criterion": criterion, "reason": reason})
            else:
                critical.append(entry | {"corruption": start})
        above += _states_above_critical(curve, rows) if start == CLEAN else []
    most = table.groupby(["memory", "ensemble"])["patterns"].max()
    for entry in critical:
        last = entry["patterns"] == most[entry["memory"], entry["ensemble"]]
        entry["headline"] = entry["corruption"] == CLEAN and bool(last)
    clean = [entry for entry in critical if entry["corruption"] == CLEAN]
    estimates = [*critical, *_deviations(table, clean, above), *above]
    estimates += convergence.cut_estimates(table)
    notes = convergence.notes(table, ["memory", "ensemble"], "success")
    known = lines.of_table(scanned, clean) if len(scanned) else ()
    return Summary(estimates, list(known), notes, {"unresolved": unresolved, "theory": THEORY})


CRITICAL = "critical κ"
QUANTITIES = {"overlap": "overlap of successes", "entropy": "entropy of successes"}


def _critical(curve: dict, rows: Table, criterion: str, clean: bool) -> tuple[dict, str]:
    """One critical κ, or the reason why it is missing. The fits are in ln κ."""
    log_kappa = np.log(rows["kappa"])
    if criterion in MEANS:
        found = half_crossing(log_kappa, rows[MEANS[criterion]], rows["sample"], rows["queries"])
    else:
        found = critical_load(log_kappa, rows["success"], rows["queries"], rows["sample"])
    kappa = math.exp(found.value)
    about = {"criterion": criterion, "value": kappa, "stderr": kappa * found.stderr, "kind": "annealed"}
    entry = {"quantity": CRITICAL, **curve, **about, "samples": rows["sample"].nunique()}
    known = clean and (criterion in MEANS or convergence.end_of_curve(rows) == convergence.REST)
    theory = kappa_theory.critical_kappa(*curve.values(), criterion=criterion) if known else None
    cut = None if criterion in MEANS else convergence.cut_share(rows, "kappa", kappa)
    entry |= {"cut": cut, "theory": theory, "max_steps": int(rows["max_steps"].min())}
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
    entries: list[Row] = []
    for name, means in columns.items():
        known = means.assign(**curve, ratio=kappas / critical, success=share.to_numpy(), theory=getattr(theory, name))
        of = [*curve, "kappa", "ratio", "success"]
        entries += tidy(known, of, {"mean": QUANTITIES[name]}, kind="annealed")
    return entries


def _deviations(table: Table, critical: list[Row], above: list[Row]) -> Iterator[Row]:
    """Worst disagreements with theory of the family with the most numbers of patterns."""
    family = lines.main_family(table)
    critical, above = ([entry for entry in rows if family.items() <= entry.items()] for rows in (critical, above))
    for criterion in kappa_theory.CRITERIA:
        known = [entry for entry in critical if entry["criterion"] == criterion and entry["theory"]]
        if apart := [abs(entry["value"] / entry["theory"] - 1) for entry in known]:
            about = {"quantity": f"largest deviation of {CRITICAL}", **family, "criterion": criterion}
            yield {**about, "value": max(apart), "headline": True}
    for quantity in QUANTITIES.values():
        near = [e for e in above if e["quantity"] == quantity and abs(e["ratio"] / JUST_ABOVE - 1) < 1e-4]
        if near:
            about = {"quantity": f"largest deviation of {quantity}", **family, "ratio": JUST_ABOVE}
            yield {**about, "value": float(max(abs(e["value"] - e["theory"]) for e in near)), "headline": True}
