"""Figure of a comparison of optimisers: two rows of panels, steps above time, for each kind of batch."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.contract import Table
from experiments.figures.panels import LETTERS, log_axis
from experiments.figures.style import COLOURS, THEORY, panels
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
}
LOOKS: dict[str, dict[str, Any]] = {
    rule: {"color": colour, "marker": marker, "linestyle": line}
    for rule, colour, marker, line in zip(
        LABELS,
        (*(COLOURS[i] for i in (4, 1, 6, 0, 2, 5, 3)), "0.55"),
        ("o", "s", "^", "D", "v", "P", "X", "<"),
        ("--", "--", (0, (6, 1, 1, 1)), (0, (3, 3)), "-", "-", ":", ":"),
        strict=True,
    )
}
"""First-order rules dashed, natural gradients dotted where approximate; those by conjugate gradients cover others."""
KINDS = {"full": "full batch", "mini": "mini-batches"}
MEASURES = {"step": "step", "seconds": "time (s)"}
TOTALS = {"step": "steps", "seconds": "seconds"}


def plot(table: Table, summary: dict) -> Figure:
    """Excess loss against steps and time at each conditioning, and the cost of the target against conditioning.

    A run that diverged ends in a cross, at the rim where it is beyond it, and the legend counts those of every rule.
    """
    batches, conditioning = list(table["batch"].unique()), sorted(table["conditioning"].unique())
    figure, axes = panels(2 * len(batches), len(conditioning) + 1, width=3.2 * (len(conditioning) + 1), height=2.5)
    letters = iter(LETTERS * 4)
    for line, (batch, measure) in zip(axes, ((b, m) for b in batches for m in MEASURES), strict=True):
        rows = table[table["batch"] == batch]
        for ax, value in zip(line, conditioning, strict=False):
            _descent(ax, rows[rows["conditioning"] == value], measure)
            ax.set_title(f"{next(letters)}  {KINDS[batch]}, conditioning {value:g}", loc="left")
        _totals(line[-1], rows, summary, measure)
        line[-1].set_title(f"{next(letters)}  {KINDS[batch]}, to the target", loc="left")
        line[0].set_ylabel("excess loss / target's")
    shown = [pair for ax in axes.flat for pair in zip(*ax.get_legend_handles_labels(), strict=True)]
    handles = {label: handle for handle, label in reversed(shown)}  # the first of each: its line, if there is one
    known = [rule for rule, label in LABELS.items() if label in handles]
    place: dict[str, Any] = {"loc": "outside upper center", "ncols": min(4, len(known)), "fontsize": 8.5}
    lost = table.groupby("rule")["diverged"].sum()
    texts = [LABELS[rule] + (f" (× {lost[rule]} diverged)" if lost[rule] else "") for rule in known]
    figure.legend([handles[LABELS[rule]] for rule in known], texts, **place)
    return figure


def _descent(ax: Axes, rows: Table, measure: str) -> None:
    """The median over problems of the excess, in units of the target's, against steps (plus one) or time."""
    for rule, own in rows.groupby("rule", sort=False):
        line = _typical(own, measure)
        if line is not None:
            ax.loglog(line[0], line[1], **LOOKS[rule] | {"marker": None}, label=LABELS[rule])
            ax.loglog(line[0][-1:], line[1][-1:], **LOOKS[rule] | {"linestyle": "none"})
    ax.axhline(1.0, **THEORY)
    low, high = ax.get_ylim()
    ax.set_ylim(max(low, 5e-3), min(high, 1e3))
    for _, run in rows[rows["diverged"].astype(bool)].iterrows():
        _cross(ax, run, measure)
    ax.set_xlabel(MEASURES[measure])


def _cross(ax: Axes, run: Any, measure: str) -> None:
    """The end of a run that diverged."""
    (curve,) = curves({"optimum": [run["optimum"]], "curve": [run["curve"]]})
    end = curve["excess"][-1] / (run["target"] - run["optimum"])
    level = min(end, ax.get_ylim()[1]) if np.isfinite(end) else ax.get_ylim()[1]
    look = {"color": LOOKS[run["rule"]]["color"], "marker": "x", "ls": "none", "label": LABELS[run["rule"]]}
    ax.plot(max(curve[measure][-1], ax.get_xlim()[0]), level, **look, clip_on=False)


def _typical(own: Table, measure: str) -> tuple[np.ndarray, np.ndarray] | None:
    """Places and the median over problems of the interpolated logarithm of the excess, as far as every run went."""
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


def _totals(ax: Axes, rows: Table, summary: dict, measure: str) -> None:
    """Steps or seconds to the target of every problem and their median; a rule that missed it most times is absent."""
    name = TOTALS[measure]
    entries = [entry for entry in summary["results"] if entry["batch"] == rows["batch"].iloc[0]]
    for rule, own in rows.groupby("rule", sort=False):
        look = LOOKS[rule]
        ax.plot(own["conditioning"], own[name], color=look["color"], marker=look["marker"], ls="none", ms=3, alpha=0.4)
        found = [(entry["conditioning"], entry[name]) for entry in entries if entry["rule"] == rule]
        x, y = np.array(sorted(found), float).T if found else (np.array([]), np.array([]))
        ax.plot(x, y, **look)
    ax.set(xscale="log", xlabel="conditioning (absent: missed)", ylabel=f"{name} to the target")
    if rows[name].notna().any():
        log_axis(ax, "y")
    else:
        ax.text(0.5, 0.5, "no rule reached the target", transform=ax.transAxes, ha="center", color="0.4")
