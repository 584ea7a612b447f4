"""Panels of a capacity figure that hold measurements against theory: critical loads, one step, overlaps, sizes."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas

from experiments.capacity.lines import LIMIT, ONE_STEP, PATTERNS, bimodal, headline_of, one_step_rows, overlap_rows
from experiments.capacity.summary import critical_of
from experiments.contract import Summary, Table, records
from experiments.figures import labels
from experiments.figures.panel import Axis, Panel, Series, curves, entry, level, theory_line, theory_lines
from experiments.figures.style import COLOURS, LINES, THEORY, series
from experiments.shared import convergence
from experiments.shared.corruptions import CLEAN
from experiments.statistics.clusters import by_group, means_by_group
from experiments.statistics.extrapolation import best_fit


def limit_label(line: Mapping[str, Any], load: float | None = None) -> str:
    """Label of theory for an infinite network by its kind: replica symmetric (RS), annealed, or of one step."""
    single = line.get("end", convergence.REST) != convergence.REST and line["criterion"] not in STARTS
    name = labels.theory(["one-step" if single else line.get("kind")], r"$N\to\infty$")
    return name + ("" if load is None else f": {load:.4f}")


STARTS = ("target_weight", "fixed_point", "one_step_error")
"""Criteria of a start or a single update, wherever dynamics end."""


def settings(rows: Table, summary: Summary) -> str:
    """Words for how the rows were measured: dynamics, samples and queries, the parity of several M if it matters."""
    dynamics = " and ".join(dict.fromkeys(rows["dynamics"]))
    chosen = rows["parity"].nunique() == 1 < rows["patterns"].nunique()
    parity = f", {rows['parity'].iloc[0]} $M$" if chosen and rows["memory"].iloc[0] in summary.more["integers"] else ""
    counts = rows.groupby("neurons")["sample"].max() + 1
    samples = " to ".join(str(count) for count in dict.fromkeys((counts.min(), counts.max())))
    return f"{dynamics}, {samples} samples × {rows['queries'].max()}{parity}"


def load_label(symbol: str) -> str:
    """Label of an axis of loads, by their formula."""
    symbol = symbol.replace("ln M", r"\ln M").replace(" ", r"\,")
    return rf"load $\alpha = {symbol}$"


def passing(rows: Table, criterion: str, by: list[str]) -> Table:
    """Share of queries that pass a criterion, with intervals over disorder samples."""
    return by_group(_clustered(rows), by, criterion, "queries", "cluster")


def mean_overlap(rows: Table, by: list[str]) -> Table:
    """Mean final overlap of all queries, with errors over disorder samples."""
    return means_by_group(_clustered(rows), by, "overlap", "cluster", "queries")


def _clustered(rows: Table) -> Table:
    """Rows with the disorder sample that each belongs to."""
    return rows.assign(cluster=rows["patterns"].astype(str) + "/" + rows["sample"].astype(str))


def critical_patterns(summary: Summary, table: Table) -> Panel:
    """Number of patterns at which half of the queries pass, against the number of neurons, with theory.

    Sizes whose loads do not reach that far are named in the legend.
    """
    frame = summary.of(PATTERNS)
    clean = frame[frame["corruption"] == CLEAN]
    frame = clean if len(clean) else frame
    found, known = [], []
    for memory, look in series(list(frame["memory"])).items():
        rows: Table = frame[frame["memory"] == memory]
        rows = rows[rows["dynamics"] == rows["dynamics"].iloc[0]]
        size, middle, low, high = (rows[name].to_numpy(float) for name in ("neurons", "value", "low", "high"))
        label = _label_with_open_sizes(memory, size, table)
        found.append(Series(size, middle, [middle - low, high - middle], label=label, **look | {"linestyle": ""}))
        about = {name: rows[name].iloc[0] for name in ("memory", "dynamics", "corruption")}
        limits = summary.line(PATTERNS, **about)
        found += theory_lines(limits, color=look["color"])
        known += map(limit_label, records(limits))
    if known:
        name = r" theory, $N\to\infty$"
        found.append(entry(", ".join(dict.fromkeys(each.removesuffix(name) for each in known)) + name, **THEORY))
    sizes = sorted(set(frame["neurons"]))
    ticks = [(size, str(size)) for size in sizes] if len(sizes) <= 8 else None
    x, y = Axis("neurons $N$", "log", ticks=ticks), Axis("patterns at half success $M$", "log")
    return Panel("critical number of patterns", x, y, found)


def _label_with_open_sizes(memory: str, sizes: np.ndarray, table: Table) -> str:
    """Label of a memory, with the measured sizes that have no critical number."""
    missing = sorted(set(table.loc[table["memory"] == memory, "neurons"]) - set(sizes.astype(int)))
    return labels.memory(memory) + (f" (not at $N={', '.join(map(str, missing))}$)" if missing else "")


def one_step_error(table: Table, summary: Summary) -> Panel:
    """Wrong neurons after one step against load, with the exact finite-size prediction through every curve."""
    rows = _clustered(one_step_rows(table))
    several = rows["memory"].nunique() > 1
    groups, known, found = list(rows.groupby(["memory", "neurons"], sort=False)), False, []
    looks = series([str(key) for key, _ in groups])
    for (memory, neurons), curve in groups:
        look = looks[str((memory, neurons))] | {"linestyle": ""}
        means = means_by_group(curve, ["load"], "one_step_error", "cluster", "queries")
        label = rf"{labels.memory(memory)}, $N={neurons}$" if several else f"$N={neurons}$"
        positive = means[means["mean"] > 0]
        found.append(Series(positive["load"], positive["mean"], positive["stderr"], label=label, **look))
        exact = theory_lines(summary.line(ONE_STEP, memory=memory, neurons=neurons), color=look["color"])
        found, known = [*found, *exact], known or bool(exact)
    found += [entry("exact at that $N$", **THEORY)] if known else []
    y = Axis("share wrong after one step")
    if (rows["one_step_error"] > 0).any():  # bars that reach down to nothing would stretch the axis without end
        means = rows.groupby(["memory", "neurons", "load"])["one_step_error"].mean()
        y = Axis(y.label, "log", (means[means > 0].min() / 5, 1.0))
    label = r"load $\alpha$ in each memory's scaling" if several else load_label(summary.more["symbols"][memory])
    legend = "" if several else settings(rows, summary)
    return Panel("one-step error", Axis(label), y, found, legend=legend)


def retained_overlap(table: Table, line: Mapping[str, Any], summary: Summary) -> Panel:
    """Final overlap against load with the theory of the infinite network: of what is retained where overlaps are
    bimodal, of all queries where they spread and a cut would decide.

    Args:
        table: rows of one memory.
        line: theory of them.
        summary: of the table.
    """
    symbol = summary.more["symbols"][line["memory"]]
    column, weight = ("overlap_retained", "retained") if bimodal(symbol) else ("overlap", "queries")
    rows = _clustered(overlap_rows(table))
    means = means_by_group(rows, ["neurons", "load"], column, "cluster", weight)
    looks = {size: look | {"linestyle": ""} for size, look in series([str(n) for n in rows["neurons"]]).items()}
    found = curves(means.assign(mean=1 - means["mean"]), "load", "mean", by="neurons", label="$N={}$", looks=looks)
    deficit = 1 - np.asarray(line["y"], float)
    if np.isfinite(deficit).any():  # beyond the theory's limit there is no line
        found.append(theory_line(line["x"], deficit, limit_label({**line, "criterion": "retained"})))
    y = Axis(rf"$1 - m$ of {'retained' if bimodal(symbol) else 'all'} queries", "log", _above(means, deficit))
    title = "overlap of what is retained" if bimodal(symbol) else f"final overlap, {labels.memory(line['memory'])}"
    return Panel(title, Axis(load_label(symbol)), y, found, legend=settings(table, summary))


def _above(means: Table, deficit: np.ndarray) -> tuple[float | None, None]:
    """Limits that end a little below the least measured value: theory and error bars fall without end to no load."""
    seen = 1 - means["mean"].to_numpy(float)
    least, known = seen[seen > 0].min(initial=np.inf), deficit[np.isfinite(deficit)]
    return (min(least, known.max() if known.size else np.inf) / 5 if np.isfinite(least) else None), None


def extrapolation(summary: Summary, table: Table) -> Panel:
    """Critical load against 1/N with the best fit, and the fits, of all exponents, that end lowest and highest."""
    fits: Table = pandas.DataFrame(summary.more["extrapolation"])
    headline = headline_of(summary.more["symbols"][fits["memory"].iloc[0]])
    fits = fits[fits["criterion"] == headline]
    for name in ("corruption", "dynamics"):
        fits = fits[fits[name] == fits[name].iloc[0]]
    points: Table = critical_of(summary).merge(
        fits[["memory", "dynamics", "corruption", "criterion"]].drop_duplicates()
    )
    size = points["neurons"].to_numpy(float)
    found = [Series(1 / size, points["load"], points["stderr"], color="black", marker="o", label="measured")]
    grid, best = np.geomspace(size.min() / 1.2, size.max() * 20, 80), best_fit(fits.to_dict("records"))
    ends = sorted(fits.to_dict("records"), key=lambda fit: fit["load"])
    shown = [*([best] if best is not None else []), ends[0], ends[-1]]
    for place, fit in enumerate(fit for number, fit in enumerate(shown) if fit not in shown[:number]):
        x, chosen = fit["exponent"], best is not None and fit["load"] == best["load"]
        name = f"$x={x:.2f}$ (free)" if fit["free_exponent"] else f"$x={x:.2g}$"
        label = rf"{name}: {fit['load']:.4f}({fit['stderr'] * 1e4:.0f}), $\chi^2$/dof {fit['chi2']:.1f}/{fit['dof']}"
        look = {"color": COLOURS[place % len(COLOURS)], "linestyle": LINES[place % len(LINES)]}
        look["linewidth"] = 1.8 if chosen else 1.0
        found.append(Series(1 / grid, fit["load"] + fit["amplitude"] * grid**-x, label=label, **look))
    about = {name: points[name].iloc[0] for name in ("memory", "corruption")}
    end = convergence.end_of_curve(table[table["dynamics"] == points["dynamics"].iloc[0]])
    for line in records(summary.line(LIMIT, **about, end=end)):
        found.append(level(line["x"][0], limit_label(line, line["x"][0])))
    x, y = Axis("$1/N$", "log"), Axis(r"critical load $\alpha_{50}$")
    return Panel("extrapolation in size", x, y, found, legend=r"fits $\alpha + c\,N^{-x}$")
