"""Summary of a capacity table: critical loads beside theory, extrapolations, overlaps, and warnings."""

from typing import Any

import numpy as np
import pandas

from experiments.capacity import lines, theory
from experiments.capacity.bracket import HEADLINES, logarithmic
from experiments.capacity.scales import CURVE
from experiments.columns import CRITERIA as CRITERIA_WORDS
from experiments.contract import Row, Summary, Table
from experiments.shared import convergence, corruptions, pattern_sets
from experiments.shared.corruptions import CLEAN
from experiments.shared.memories import find
from experiments.shared.retention import CUTS
from experiments.statistics.clusters import by_group, curves, means_by_group
from experiments.statistics.crossings import half_crossing
from experiments.statistics.estimates import tidy
from experiments.statistics.extrapolation import extrapolate, laws
from experiments.statistics.thresholds import critical_load, critical_loads
from hopfield.theory import classical, one_step
from hopfield.theory.base import flips

CRITERIA = (*CUTS, "fixed_point", "exact", "target_weight", "converged_weight")
EXTRAPOLATED = tuple(CUTS)
"""Criteria whose critical load M / N^(n−1) has a limit that it nears as a power of N.

Whole patterns that are fixed or exact have no finite load there at all. With ln M / N the shifts of the weights fall
faster than any power (exact theory at each N stands beside them), and the other shifts from N ≤ 30 are no power law.
"""


def summarise(table: Table) -> Summary:
    """Critical loads of every curve and criterion with theory, their extrapolation, overlaps and notes."""
    critical = [entry for curve, rows in curves(table, CURVE) for entry in _critical(curve, rows)]
    known = _laws(critical)
    rest = [entry for entry in critical if not known or entry["memory"] != "classical"]
    overlaps: Table = pandas.DataFrame(_overlaps(table))
    estimates = [_estimate(entry) for entry in critical]
    for kind, rows in overlaps.groupby("kind", sort=False) if len(overlaps) else ():
        estimates += tidy(rows, [*CURVE, "load"], {"mean": "final overlap"}, kind=kind)
    estimates += convergence.cut_estimates(table)
    symbols = {memory: find(memory).scaling.symbol for memory in table["memory"].unique()}
    counts = [row for entry in critical if (row := _count(entry, symbols[entry["memory"]]))]
    known_lines = [*lines.of_table(table, symbols), *lines.of_patterns(table, counts)]
    notes = [*_notes(table), *_misfits(critical), *_out_of_range(table, critical)]
    more = {
        "extrapolation": _extrapolations(rest),
        "laws": known,
        "symbols": symbols,
        "parameters": lines.parameters_of(table),
    }
    more["integers"] = [memory for memory in symbols if find(memory).integer_fields]
    return Summary([*estimates, *counts], known_lines, notes, more)


CRITICAL = "critical load"


def _estimate(entry: dict) -> Row:
    """A critical load as a row; those by the headlines of its memory are printed."""
    told = entry["criterion"] in HEADLINES[logarithmic(entry["memory"])]
    about = {name: entry[name] for name in (*CURVE, "criterion")}
    names = ("stderr", "theory", "limit", "kind", "cut", "fit_width", "chi2", "dof", "samples")
    fit = {name: entry[name] for name in names} | {"fit": entry["method"]}
    return {"quantity": CRITICAL, **about, "value": entry["load"], **fit, "headline": told}


def _count(entry: dict, symbol: str) -> Row | None:
    """A critical load by its memory's criterion as a number of patterns, from one error below to one above."""
    loads = entry["load"] + np.array([0, -1, 1]) * entry["stderr"]
    value, low, high = theory.patterns_at(entry["memory"], loads, entry["neurons"]).tolist()
    if entry["criterion"] != lines.headline_of(symbol) or np.isnan(value):  # of a memory whose code is not run
        return None
    about = {name: entry[name] for name in (*CURVE, "criterion", "samples")}
    return {"quantity": lines.PATTERNS, **about, "value": value, "low": low, "high": high}


def critical_of(summary: Summary, **columns: Any) -> Table:
    """Critical loads of a summary, with the cut of criteria that have one."""
    found = summary.of(CRITICAL, **columns)
    found = found.reindex(columns=list(dict.fromkeys([*found, *CURVE, "criterion", "stderr", "theory", "limit"])))
    return found.assign(load=found["value"], least=found["criterion"].map(CUTS).astype(float))


def shares(table: Table) -> Table:
    """Share of queries that pass each criterion, with errors over samples, of every curve at every load."""
    counted = table.assign(cluster=_clusters(table))
    found = [
        by_group(counted.dropna(subset=[name]), [*CURVE, "load"], name, "queries", "cluster").assign(criterion=name)
        for name in CRITERIA
        if name in table and table[name].notna().any()
    ]
    return pandas.concat(found, ignore_index=True).rename(columns={"mean": "share"})


def _clusters(rows: Table) -> Any:
    """Labels of the disorder samples of one curve. Sizes of a stream share them, since their patterns are nested."""
    if pattern_sets.is_streamed(str(rows["ensemble"].iloc[0])):
        return rows["sample"]
    return rows["patterns"].astype(str) + "/" + rows["sample"].astype(str)


def _critical(curve: dict, rows: Table) -> list[dict]:
    """Loads where half of the queries pass each criterion, and where one step leaves a fixed share of wrong spins."""
    found = {}
    cuts = sorted((name for name in CUTS if name in rows and rows[name].notna().any()), key=CUTS.__getitem__)
    if cuts:  # of one form, and in their order
        used = rows.dropna(subset=cuts)
        several = critical_loads(used["load"], [used[name] for name in cuts], used["queries"], _clusters(used))
        found = dict(zip(cuts, several, strict=True))
    for criterion in CRITERIA:
        used = rows.dropna(subset=[criterion]) if criterion in rows else rows[:0]
        if criterion not in CUTS and not used.empty:  # couplings have no weight on a pattern
            found[criterion] = critical_load(used["load"], used[criterion], used["queries"], _clusters(used))
    thresholds = [
        {"criterion": criterion, "load": load.value, "stderr": load.stderr}
        | {"fit_width": load.width, "chi2": load.chi2, "dof": load.dof, "method": load.method, "misfit": load.misfit}
        for criterion in CRITERIA
        if criterion in found and (load := found[criterion]).found
    ]
    samples = {"samples": rows["sample"].nunique()}
    return [
        curve | entry | samples | {"cut": _cut_share(entry, rows)} | _theory(curve, entry["criterion"], rows)
        for entry in thresholds + _one_step(rows)
    ]


def _cut_share(entry: dict, rows: Table) -> float:
    """Share of queries cut around the critical load of a criterion that judges where dynamics end, NaN of others."""
    ends = entry["criterion"] in (*CUTS, "exact", "converged_weight")
    return convergence.cut_share(rows, "load", entry["load"]) if ends else np.nan


def _one_step(rows: Table) -> list[dict]:
    """The load at which one step leaves a share of wrong spins, which theory knows exactly at every size."""
    level = theory.WRONG
    mean = rows.groupby("load")["one_step_error"].transform("mean")
    near = rows[(mean > level / 4) & (mean < 4 * level)]
    if near["load"].nunique() < 2 or not theory.has_one_step_error(str(rows["memory"].iloc[0])):
        return []
    crossing = half_crossing(near["load"], near["one_step_error"], near["sample"], near["queries"], level=level)
    if not np.isfinite(crossing.stderr):
        return []
    entry = {"criterion": "one_step_error", "load": crossing.value, "stderr": crossing.stderr}
    return [entry | {"fit_width": None, "chi2": 0.0, "dof": 0, "method": "crossing", "misfit": False}]


def _theory(curve: dict, criterion: str, rows: Table) -> dict:
    """Theory of a criterion: the load at this N and for N → ∞, and the kind of the first that there is."""
    beta = rows["beta"].iloc[0]
    entry = {"theory": None, "limit": None, "kind": None}
    if curve["ensemble"] not in pattern_sets.DRAWN:
        return entry
    start, end = corruptions.flipped_fraction(curve["corruption"]), convergence.end_of_curve(rows)
    arguments = (start, None if pandas.isna(beta) else float(beta))
    even = bool((rows["patterns"] % 2 == 0).all())
    at_size = theory.critical_load(curve["memory"], criterion, curve["neurons"], *arguments, even=even, end=end)
    limit = theory.critical_load(curve["memory"], criterion, None, *arguments, end=end)
    predicted = at_size is not None or limit is not None
    kind = theory.kind(curve["memory"], criterion, end, start == 0) if predicted else None
    counts = np.sort(rows["patterns"].unique())
    shares = theory.success(curve["memory"], criterion, curve["neurons"], counts, *arguments)
    if at_size is not None and (shares is not None or criterion == "one_step_error"):
        kind = "exact"
    return entry | {"theory": at_size, "limit": limit, "kind": kind}


def _extrapolations(critical: list[dict]) -> list[dict]:
    chosen = [e for e in critical if e["criterion"] in EXTRAPOLATED and not logarithmic(e["memory"])]
    if not chosen:
        return []
    fits = []
    names = ["memory", "dynamics", "corruption", "ensemble", "criterion"]
    frame: Table = pandas.DataFrame(chosen)
    for family, rows in curves(frame, names):
        fits += [family | fit for fit in extrapolate(rows["neurons"], rows["load"], rows["stderr"])]
    return fits


def _laws(critical: list[dict]) -> list[dict]:
    """Limits of the classical network at rest from clean starts, by law of the approach and by cut."""
    chosen = [
        e for e in critical if e["memory"] == "classical" and e["criterion"] in EXTRAPOLATED and e["limit"] is not None
    ]
    known = {"replica symmetric": classical.spinodal()[0], "one step of breaking": one_step.spinodal().load}
    fits = []
    for family, rows in curves(pandas.DataFrame(chosen), [*CURVE[:-1], "criterion"]) if chosen else ():
        limits = known if family["corruption"] == CLEAN else {}
        fits += [family | fit for fit in laws(rows["neurons"], rows["load"], rows["stderr"], limits)]
    return fits


def _overlaps(table: Table) -> list[dict]:
    """Mean final overlap of all queries from clean starts at every load, beside theory: no cut enters.

    Theory is of N → ∞ at rest, and exact after a single step.
    """
    overlaps = []
    for curve, rows in curves(table[table["corruption"] == CLEAN], CURVE):
        beta, counts = rows["beta"].iloc[0], np.sort(rows["patterns"].unique())
        size = curve["neurons"], counts, None if pandas.isna(beta) else float(beta)
        expected = theory.final_overlap(curve["memory"], *size, convergence.end_of_curve(rows))
        if expected is None or curve["ensemble"] not in pattern_sets.DRAWN:
            continue
        at_rest = convergence.end_of_curve(rows) == convergence.REST
        known, kind = ("limit", theory.kind(curve["memory"], "retained")) if at_rest else ("theory", "exact")
        means: Table = means_by_group(rows.assign(cluster=_clusters(rows)), ["load"], "overlap", "cluster", "queries")
        for load, mean, stderr, predicted in zip(means["load"], means["mean"], means["stderr"], expected, strict=True):
            overlaps.append(curve | {"load": load, "mean": mean, "stderr": stderr, known: predicted, "kind": kind})
    return overlaps


def _notes(table: Table) -> list[str]:
    """Warnings: of ties at odd and even numbers of patterns, dynamics that were cut, starts that flip nothing."""
    notes = convergence.notes(table, ["memory", "dynamics"], "retained")
    for memory, rows in table.groupby("memory", sort=False):
        if find(str(memory)).integer_fields and rows["patterns"].mod(2).nunique() > 1:
            notes.append(
                f"{memory} was measured at odd and even numbers of patterns: ties, which an even number allows, move "
                "thresholds by order 1/N, and fits over both are not to be trusted beyond their chi2"
            )
    for start, rows in table.groupby("corruption", sort=False):
        share = corruptions.flipped_fraction(str(start))
        sizes = [str(size) for size in rows["neurons"].unique() if share and not flips(share, size)]
        if sizes:
            notes.append(f"{start} flips no spin at N={', '.join(sizes)}, where its curves are those of clean starts")
    return notes


def _misfits(critical: list[dict]) -> list[str]:
    """Warnings of critical loads whose fit χ² rejects, one for each memory."""
    rejected: dict[str, list[str]] = {}
    for entry in critical:
        if entry["misfit"]:
            told = f"{CRITERIA_WORDS[entry['criterion']]} at N={entry['neurons']} ({entry['chi2']:.3g}/{entry['dof']})"
            rejected.setdefault(entry["memory"], []).append(told)
    return [
        f"{memory}: chi2/dof rejects the fitted curves of {'; '.join(told)}: the loads are those of the monotone curves"
        for memory, told in rejected.items()
    ]


def _out_of_range(table: Table, critical: list[dict]) -> list[str]:
    """Warnings of curves without a critical load, all of whose loads, of several, lie on one side of it."""
    found = {(*(entry[name] for name in CURVE), entry["criterion"]) for entry in critical}
    missing: dict[tuple[str, str, bool], list[float]] = {}
    for curve, rows in curves(table, CURVE):
        for name in HEADLINES[logarithmic(curve["memory"])]:
            if name not in rows or rows[name].isna().any() or (*curve.values(), name) in found:
                continue
            passed, total = (rows.groupby("load")[column].sum() for column in (name, "queries"))
            all_pass, none_pass = 2 * passed.iloc[-1] > total.iloc[-1], 2 * passed.iloc[0] < total.iloc[0]
            if len(passed) > 1 and all_pass != none_pass:
                end = passed.index[-1 if all_pass else 0]
                missing.setdefault((curve["memory"], name, bool(all_pass)), []).append(float(end))
    merged: dict[tuple[str, bool, int, float], list[str]] = {}
    for (memory, name, all_pass), ends in missing.items():
        where = memory, all_pass, len(ends), max(ends) if all_pass else min(ends)
        merged.setdefault(where, []).append(CRITERIA_WORDS[name])
    several = {str(memory): len(rows.drop_duplicates(CURVE)) for memory, rows in table.groupby("memory")}
    return [_advice(*where, several[where[0]], names) for where, names in merged.items()]


def _advice(memory: str, all_pass: bool, count: int, end: float, of: int, names: list[str]) -> str:
    """Sentence on criteria that half of the queries pass at no measured load of so many curves, and loads to try."""
    side, side_of_half, factors = ("highest", "more", (1.5, 2.0)) if all_pass else ("lowest", "less", (0.25, 0.5))
    tried, word = ",".join(f"{factor * end:.2g}" for factor in factors), f"per_memory.{memory}.loads"
    told = f"{side_of_half} than half of the queries still pass {', '.join(names)} at the {side} load, {end:g}"
    return f"{memory}: {told}, of {count} of {of} curves: try {word}=[{tried}]"
