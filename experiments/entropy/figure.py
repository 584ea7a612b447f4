"""Figure of an entropy table: retrievals step by step as bands, who rises, and entropy against temperature."""

import itertools
import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.contract import Table
from experiments.entropy import theory
from experiments.figures import labels
from experiments.figures.panels import Panel, fill, legend
from experiments.figures.style import LINES, THEORY, panels, series
from experiments.shared import convergence, corruptions

SHOWN = (0.5, 1.05, 1.4, 2.0)
"""Values of β drawn along retrievals, or those measured nearest to them: below, at and above the critical one."""
RATIO = r"$\beta\,/\,\beta_c^{\mathrm{sphere}}$ (annealed)"
AXES = {
    "entropy": r"entropy $H$ of the weights",
    "overlap": r"overlap $m$ with the pattern",
    "step_size": r"step $\|\Delta x\|$",
}


def plot(table: Table, summary: dict) -> Figure:
    """Entropy, overlap, steps and free energy along retrievals of the first memory and ensemble, and against β."""
    table = table.sort_values(["ratio", "step"], kind="stable")
    shown = table[(table["memory"] == table["memory"].iloc[0]) & (table["ensemble"] == _first_value(table, "ensemble"))]
    clean, corrupted = _ends(_in_order(table, "corruption"))
    followed = shown[shown["step"] > 0]["ratio"].unique()
    shown = shown[shown["ratio"].isin(followed)]
    along = shown[shown["ratio"].isin([_nearest(followed, wanted) for wanted in SHOWN])]
    above = _nearest(followed, SHOWN[-1])
    real = _in_order(table, "ensemble")[-1 if len(_in_order(table, "ensemble")) < 3 else 1]
    drawn: list[Panel] = [
        partial(_bands, table=along, start=clean, quantity="entropy"),
        partial(_bands, table=along, start=corrupted, quantity="entropy"),
        partial(_balance, table=shown[shown["ratio"] == above], start=corrupted, summary=summary),
        partial(_bands, table=along, start=corrupted, quantity="overlap"),
        partial(_bands, table=along, start=corrupted, quantity="step_size"),
        partial(_separations, table=table[(table["ensemble"] == real) & (table["ratio"] == above)], start=corrupted),
        partial(_rising, table=table, summary=summary),
        partial(_plot_fixed_query, table=table, start=clean),
        partial(_final, table=table, start=clean),
    ]
    figure, axes = panels(3, 3, width=12.0, height=4.0)
    fill(axes.ravel(), drawn)
    return figure


def _in_order(table: Table, column: str) -> list:
    """Distinct values of a column in the order of the table's index, which is that of the run's options."""
    return list(table.sort_index()[column].unique())


def _first_value(table: Table, column: str) -> Any:
    return _in_order(table, column)[0]


def _ends(starts: Sequence[str]) -> tuple[str, str]:
    """Two starts: the clean one, or the first if none is clean, and the first other one."""
    clean = corruptions.CLEAN if corruptions.CLEAN in starts else starts[0]
    return clean, next((start for start in starts if start != clean), clean)


def _nearest(ratios: Sequence[float], wanted: float) -> float:
    return min(ratios, key=lambda ratio: abs(math.log(ratio / wanted)))


def _ratio_axis(ax: Axes, ratios: np.ndarray) -> None:
    """β on a log axis, its ticks as plain numbers a factor of 2 or 4 apart."""
    low, high = math.floor(math.log2(min(ratios))), math.ceil(math.log2(max(ratios)))
    ticks = [2.0**power for power in range(low, high + 1, 1 if high - low < 7 else 2)]
    ax.set(xscale="log", xlabel=RATIO)
    ax.set_xticks(ticks, [f"{tick:g}" if tick >= 0.1 else f"1/{1 / tick:g}" for tick in ticks])
    ax.set_xticks([], minor=True)


def _nats(ax: Axes, num_patterns: int) -> None:
    ax.axhline(math.log(num_patterns), color="0.75", linewidth=0.8, zorder=0)
    ax.annotate(r"$\ln M$", (1, math.log(num_patterns)), (-2, -2), ("axes fraction", "data"), "offset points",
                ha="right", va="top", color="0.45", fontsize=8)  # fmt: skip


def _band(ax: Axes, rows: Table, quantity: str, label: str, look: dict[str, Any]) -> None:
    low, high = (rows[f"{quantity}_{end}"].to_numpy(float) for end in ("low", "high"))
    ax.fill_between(rows["step"], low, high, color=look["color"], alpha=0.08, linewidth=0)
    for end in (low, high):  # where queries part in two, a band fills all: its rims are what tells
        ax.plot(rows["step"], end, color=look["color"], linestyle=look["linestyle"], linewidth=0.6)
    ax.plot(rows["step"], rows[quantity], label=label, **look)


def _bands(ax: Axes, table: Table, start: str, quantity: str) -> None:
    """Median and band of a quantity along retrievals, one curve per β."""
    rows = table[table["corruption"] == start]
    looks = series([str(ratio) for ratio in rows["ratio"].unique()])
    for ratio, curve in rows.groupby("ratio"):
        label = rf"{ratio:g} $\beta_c$"
        if quantity == "step_size":  # what has arrived moves by rounding alone
            curve = curve[curve[quantity] > 1e-10].assign(step_size_low=lambda x: x["step_size_low"].clip(lower=1e-10))
        if quantity == "entropy":
            label += f": {curve['rising'].iloc[-1]:.0%} rise"
        _band(ax, curve, quantity, label, looks[str(ratio)])
    ax.set(xlabel="update $t$", ylabel=AXES[quantity])
    if quantity == "entropy":
        _nats(ax, rows["patterns"].iloc[0])
        ax.set_ylim(bottom=-0.2)
    if quantity == "step_size":
        ax.set(yscale="log")
    ax.set_title(f"{rows['ensemble'].iloc[0]}, {corruptions.label(start)}", loc="left")
    legend(ax, title=_about_band(rows), title_fontsize=8)


def _balance(ax: Axes, table: Table, start: str, summary: dict) -> None:
    """Φ = ⟨E⟩ − T H and the energy along the retrievals of one β, the largest drawn."""
    rows = table[table["corruption"] == start]
    heat = {f"heat{end}": -rows[f"thermal_entropy{end}"] / rows["beta"] for end in ("", "_low", "_high")}
    rows = rows.assign(**heat)
    names = {
        "mean_energy": r"$\langle E\rangle$",
        "heat": "$-T\\,H$",
        "free_energy": r"$\Phi=\langle E\rangle-T\,H$",
        "energy": r"$E(x)=\frac{1}{2}\|x\|^2+\Phi$",
    }
    looks = series(list(names))
    for quantity, label in names.items():
        _band(ax, rows, quantity, label, looks[quantity])
    worst = max(entry["residual"] for entry in summary["checks"])
    ax.set(xlabel="update $t$", ylabel="energy")
    ax.set_title(_title(rows, start), loc="left")
    balance = rf"$|\Phi-\langle E\rangle+T\,H|<${_power_of_ten_above(worst)} at every step"
    legend(ax, title=f"{_about_band(rows)}\n{balance}", title_fontsize=8)


def _about_band(rows: Table, drawn: str = "band") -> str:
    """Legend of the bands around medians: no error of these, but where most of the queries lie."""
    words = f"{100 * rows['band'].iloc[0]:g}% band of queries"
    return f"median and {words}" if drawn == "band" else f"median; {drawn}: {words}"


def _title(rows: Table, start: str) -> str:
    return rf"{rows['ensemble'].iloc[0]}, {corruptions.label(start)}, {rows['ratio'].iloc[0]:g} $\beta_c$"


def _power_of_ten_above(value: float) -> str:
    """Formula of the power of ten next above a residual."""
    return rf"$10^{{{math.floor(math.log10(max(value, 1e-18))) + 1}}}$"


def _separations(ax: Axes, table: Table, start: str) -> None:
    """Effective number of patterns along retrievals for every separation, at one β."""
    rows = table[table["corruption"] == start]
    looks = series(_in_order(rows, "memory"))
    for memory, look in looks.items():
        _band(ax, rows[rows["memory"] == memory], "effective_number", labels.memory(memory), look)
    ax.set(xlabel="update $t$", ylabel=r"effective number $e^H$ of patterns", yscale="log")
    ax.set_title(_title(rows, start), loc="left")
    legend(ax, title=_about_band(rows), title_fontsize=8)


def _rising(ax: Axes, table: Table, summary: dict) -> None:
    """Share of retrievals along which the entropy rises, for the first memory, by ensemble and start."""
    shares: Table = pandas.DataFrame(summary["rising"])
    shares = shares[shares["memory"] == _first_value(table, "memory")]
    lines: dict[str, Any] = dict(zip(_in_order(table, "corruption"), itertools.cycle(LINES), strict=False))
    for ensemble in _in_order(table, "ensemble"):
        rows = shares[shares["ensemble"] == ensemble]
        for start, line in lines.items():
            first, curve = start == next(iter(lines)), rows[rows["corruption"] == start].sort_values("ratio")
            error = curve["rising_stderr"].fillna(0.0).astype(float)
            look: dict[str, Any] = series(_in_order(table, "ensemble"))[ensemble] | {"linestyle": line}
            ax.errorbar(curve["ratio"], curve["rising"], error, label=ensemble if first else None, **look)
    for start, line in lines.items():
        ax.plot([], [], color="0.3", linestyle=line, label=corruptions.label(start))
    _ratio_axis(ax, shares["ratio"])
    ax.set(ylabel="share of retrievals", ylim=(-0.03, 1.03))
    least = f"{table['least_rise'].iloc[0]:g} nats"
    ax.set_title(f"{labels.memory(_first_value(table, 'memory'))}: a step raises $H$ by {least} or more", loc="left")
    legend(ax)


def _plot_fixed_query(ax: Axes, table: Table, start: str) -> None:
    """Entropy of one and the same query against β, and −dΦ/dT of the same from finite differences."""
    rows = table[
        (table["step"] == 0) & (table["corruption"] == start) & (table["memory"] == _first_value(table, "memory"))
    ]
    looks = series(_in_order(table, "ensemble"))
    for ensemble, look in looks.items():
        curve = rows[rows["ensemble"] == ensemble].sort_values("ratio")
        ax.fill_between(curve["ratio"], curve["thermal_entropy_low"], curve["thermal_entropy_high"],
                        color=look["color"], alpha=0.18, linewidth=0)  # fmt: skip
        ax.plot(curve["ratio"], curve["thermal_entropy"], color=look["color"], linestyle=look["linestyle"])
        ax.plot(curve["ratio"], curve["slope"], color=look["color"], marker=look["marker"], linestyle="none",
                markerfacecolor="white", label=ensemble)  # fmt: skip
    if start == corruptions.CLEAN:
        ax.plot(*theory.line(rows, theory.start_entropy), **THEORY, label="annealed theory")
    ax.plot([], [], color="0.3", label="$H$")
    ax.plot([], [], color="0.3", marker="o", linestyle="none", markerfacecolor="white", label=r"$-d\Phi/dT$")
    _nats(ax, rows["patterns"].iloc[0])
    _ratio_axis(ax, rows["ratio"])
    ax.set(ylabel="entropy $H$")
    ax.set_title(f"one query at every temperature, {corruptions.label(start)}", loc="left")
    legend(ax, title=_about_band(rows), title_fontsize=8)


def _final(ax: Axes, table: Table, start: str) -> None:
    """Entropy where the retrievals were left, its band over queries as bars, with the theory of the sphere."""
    memory = _first_value(table, "memory")
    rows = table[(table["corruption"] == start) & (table["memory"] == memory) & (table["step"] > 0)]
    rows = rows[rows["step"] == rows["step"].max()]
    looks = series(_in_order(table, "ensemble"))
    for ensemble, look in looks.items():
        curve = rows[rows["ensemble"] == ensemble].sort_values("ratio")
        ends = np.abs(curve[["entropy_low", "entropy_high"]].to_numpy(float).T - curve["entropy"].to_numpy(float))
        look |= {"linestyle": "none"} if ensemble == "sphere" else {}
        ax.errorbar(curve["ratio"], curve["entropy"], ends, label=ensemble, **look)
    steps = int(rows["step"].max())
    if start == corruptions.CLEAN and convergence.end(steps) == convergence.REST:
        ax.plot(*theory.line(rows, theory.converged_entropy), **THEORY, label="annealed theory")
    _nats(ax, rows["patterns"].iloc[0])
    _ratio_axis(ax, rows["ratio"])
    ax.set(ylabel=f"$H$ after {steps} updates" if steps > 1 else "$H$ after one update")
    ax.set_title(f"where retrievals end, {corruptions.label(start)}", loc="left")
    legend(ax, title=_about_band(rows, "bars"), title_fontsize=8)
