"""Figure of a comparison of optimisers: descent at the hardest conditioning, and the cost of the target, by batch."""

from typing import Any

import numpy as np

from experiments.contract import Summary, Table
from experiments.figures.panel import Axis, Panel, Series, entry, level
from experiments.figures.style import COLOURS
from experiments.optimisers.summary import curves

LABELS = {
    "sgd": "SGD, momentum",
    "adam": "Adam",
    "lbfgs": "L-BFGS",
    "cg": "natural, CG + LM",
    "cholesky": "natural, Cholesky + LM",
    "kernel": "natural, kernel",
    "kronecker": "natural, Kronecker",
    "diagonal": "natural, diagonal",
    "muon": "Muon",
}
LOOKS: dict[str, dict[str, Any]] = {
    rule: {"color": colour, "marker": marker, "linestyle": line}
    for rule, colour, marker, line in zip(
        LABELS,
        (*(COLOURS[i] for i in (4, 1, 6, 0, 2, 5, 3)), "0.55", "0.2"),
        ("o", "s", "^", "D", "v", "P", "X", "<", ">"),
        ("--", "--", (0, (6, 1, 1, 1)), (0, (3, 3)), "-", "-", ":", ":", "--"),
        strict=True,
    )
}
"""First-order rules dashed, natural gradients dotted where approximate; those by conjugate gradients cover others."""
KINDS = {"full": "full batch", "mini": "mini-batches"}
MEASURES = {"step": "step", "seconds": "time (s)"}
TOTALS = {"step": "steps", "seconds": "seconds"}
LEVELS = (5e-3, 1e3)
"""Excess losses shown, in units of the target's."""


def panels(table: Table, summary: Summary) -> list[Panel]:
    """Excess loss at the hardest conditioning, and cost of the target against conditioning where several were measured.

    A run that diverged ends in a cross, at the rim if it is beyond it, and the legend counts the crosses of every rule.
    """
    shown, lost = [], table.groupby("rule")["diverged"].sum()
    labels = {rule: text + (f" (× {lost[rule]} diverged)" if lost.get(rule) else "") for rule, text in LABELS.items()}
    for batch, rows in table.groupby("batch", sort=False):
        hardest = rows[rows["conditioning"] == rows["conditioning"].max()]
        shown += [_descent(hardest, measure, labels) for measure in MEASURES]
        if rows["conditioning"].nunique() > 1:
            known = {measure: summary.of(TOTALS[measure], batch=batch) for measure in MEASURES}
            shown += [_totals(rows, known[measure], measure, labels) for measure in MEASURES]
    return shown


def _descent(rows: Table, measure: str, labels: dict[str, str]) -> Panel:
    """The median over problems of the excess, in units of the target's, against steps (plus one) or time."""
    found: list[Series] = []
    for rule, own in rows.groupby("rule", sort=False):
        line = _typical(own, measure)
        if line is not None:
            look: Any = LOOKS[str(rule)]
            found.append(Series(*line, **look | {"marker": ""}))
            found.append(entry(labels[str(rule)], **look))
            found.append(Series(line[0][-1:], line[1][-1:], **look | {"linestyle": ""}))
    x, y = Axis(MEASURES[measure], "log"), Axis("excess loss / target's", "log")
    kind, value = KINDS[str(rows["batch"].iloc[0])], rows["conditioning"].iloc[0]
    panel = Panel(kind if value == 1 else f"{kind}, conditioning {value:g}", x, y, [*found, level(1.0)])
    low, high = panel.ends("y")
    y.limits = max(low, LEVELS[0]), min(high, LEVELS[1])
    known = {part.label for part in found}
    crosses = [_cross(run, measure, panel) for _, run in rows[rows["diverged"].astype(bool)].iterrows()]
    for rule, cross in zip(rows.loc[rows["diverged"].astype(bool), "rule"], crosses, strict=True):
        cross.label = "" if labels[rule] in known else labels[rule]
    panel.series = [*panel.series, *crosses]
    return panel


def _cross(run: Any, measure: str, panel: Panel) -> Series:
    """The end of a run that diverged."""
    (curve,) = curves({"optimum": [run["optimum"]], "curve": [run["curve"]]})
    end, top = curve["excess"][-1] / (run["target"] - run["optimum"]), panel.ends("y")[1]
    place = max(curve[measure][-1], panel.ends("x")[0])
    look = {"color": LOOKS[run["rule"]]["color"], "marker": "x"}
    return Series([place], [min(end, top) if np.isfinite(end) else top], **look)


def _typical(own: Table, measure: str) -> tuple[np.ndarray, np.ndarray] | None:
    """Places and the median over problems of the interpolated logarithm of the excess, up to the median end of runs."""
    scale = (own["target"] - own["optimum"]).to_numpy(float)
    lines = []
    for run, unit in zip(curves(own), scale, strict=True):
        fine = np.isfinite(run["excess"]) & (run[measure] > 0)
        if fine.any():
            lines.append((np.log(run[measure][fine]), np.log(np.maximum(run["excess"][fine] / unit, 1e-4))))
    if not lines:
        return None
    end = float(np.median([x[-1] for x, _ in lines]))
    first = min(max(x[0] for x, _ in lines), end)
    grid = np.linspace(first, end, 60) if end > first else np.array([end])
    middle = np.median([np.interp(grid, x, y) for x, y in lines], axis=0)
    return np.exp(grid), np.exp(middle)


def _totals(rows: Table, medians: Table, measure: str, labels: dict[str, str]) -> Panel:
    """Steps or seconds to the target of every problem and their median; a rule that missed it most times is absent."""
    name, found = TOTALS[measure], []
    for rule, own in rows.groupby("rule", sort=False):
        look = LOOKS[str(rule)]
        dots = {"color": look["color"], "marker": look["marker"], "markersize": 3, "alpha": 0.4}
        found.append(Series(own["conditioning"], own[name], **dots))
        middle = medians[medians["rule"] == rule].sort_values("conditioning")
        label = labels[str(rule)] if len(middle) else ""
        found.append(Series(middle["conditioning"], middle["value"], label=label, **look))
    reached = "" if rows[name].notna().any() else ": no rule reached it"
    title = f"{KINDS[str(rows['batch'].iloc[0])]}, to the target{reached}"
    return Panel(
        title, Axis("conditioning (no point: target not reached)", "log"), Axis(f"{name} to the target", "log"), found
    )
