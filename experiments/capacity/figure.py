"""Figure of a capacity table: success against load, critical numbers of patterns, checks against theory."""

import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.capacity import theory
from experiments.figures import labels
from experiments.figures.style import COLOURS, LINES, MARKERS, THEORY, Table, series
from experiments.shared import corruptions, pattern_sets
from experiments.shared.corruptions import CLEAN
from experiments.statistics.clusters import by_group, means_by_group
from experiments.statistics.extrapolation import best_fit
from hopfield.memories import find
from hopfield.theory import bounds

Panel = Callable[[Axes], None]
CURVE = ["memory", "dynamics", "corruption", "neurons"]
CRITERION = {
    "retained": "share retained (final overlap > 0.8)",
    "target_weight": "share with weight on the pattern > ½",
    "converged_weight": "share that converges to weight > ½",
    "fixed_point": "share of patterns that are fixed points",
    "exact": "share recovered exactly",
}
ERROR: dict[str, Any] = {"capsize": 0, "elinewidth": 0.9, "linewidth": 1.0}


def plot(table: Table, summary: dict) -> Figure:
    """Success against load for every memory, critical number of patterns against neurons, theory on top.

    Panels for whatever the table holds, three in a row.
    """
    panels = _panels(table, summary)
    columns = min(3, len(panels)) if len(panels) != 4 else 2
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(4.1 * columns + 0.4, 3.35 * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for number, (ax, panel) in enumerate(zip(axes, panels, strict=False)):
        panel(ax)
        ax.set_title(f"{chr(ord('a') + number)}  {ax.get_title(loc='left')}", loc="left")
    for ax in axes[len(panels) :]:
        ax.set_axis_off()
    if not any(ax.get_legend() for ax in axes):  # panels of one comparison share theirs
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=min(4, len(labels)))
    return figure


def _theory(**look: Any) -> dict[str, Any]:
    return THEORY | look


def _look(*looks: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {key: value for look in (ERROR, *looks, more) for key, value in look.items()}


def _panels(table: Table, summary: dict) -> list[Panel]:
    memories = list(dict.fromkeys(table["memory"]))
    real = not set(table["ensemble"]) <= set(pattern_sets.DRAWN) or table["ensemble"].nunique() > 1
    if real or (len(memories) > 1 and len({_symbol(memory) for memory in memories}) == 1):
        return _side_by_side(table, real)
    panels: list[Panel] = [partial(_success, table=table, summary=summary, memory=memory) for memory in memories]
    critical = [entry for entry in summary["critical_load"] if entry["criterion"] == _headline(entry["memory"])]
    if len({entry["neurons"] for entry in critical}) > 1:
        panels.append(partial(_critical_patterns, critical=critical, betas=_betas(table)))
    panels.append(partial(_one_step_error, table=table))
    clean = (table["corruption"] == CLEAN).any()
    for memory in memories if clean and (len(memories) == 1 or not any(map(_bimodal, memories))) else []:
        if theory.retained_overlap(memory, 0.01) is not None:
            panels.append(partial(_retained_overlap, table=table[table["memory"] == memory]))
    if len(memories) == 1 and any(fit["criterion"] == _headline(memories[0]) for fit in summary["extrapolation"]):
        panels.append(partial(_extrapolation, summary=summary, betas=_betas(table)))
    return panels


def _side_by_side(table: Table, real: bool) -> list[Panel]:
    panels: list[Panel] = []
    for ensemble, start in dict.fromkeys(zip(table["ensemble"], table["corruption"], strict=True)):
        rows = table[(table["ensemble"] == ensemble) & (table["corruption"] == start)]
        for criterion in ("exact",) if real else ("fixed_point", "retained"):
            if criterion != "fixed_point" or start == table["corruption"].iloc[0]:
                panels.append(partial(_comparison, table=rows, criterion=criterion, real=real))
    return panels


def _limit(memory: str, criterion: str, load: float | None = None) -> str:
    """The label of theory for an infinite network: replica symmetric (RS) or annealed where it is."""
    words = {"replica symmetric": "RS theory", "annealed": "annealed"}
    name = words.get(theory.kind(memory, criterion) or "", "theory")
    return rf"{name}, $N\to\infty$" + ("" if load is None else f": {load:.4f}")


def _symbol(memory: str) -> str:
    return find(memory).scaling.symbol


def _load_label(memory: str) -> str:
    symbol = _symbol(memory).replace("ln M", r"\ln M").replace(" ", r"\,")
    return rf"load $\alpha = {symbol}$"


def _betas(table: Table) -> dict[str, float | None]:
    found = table.drop_duplicates("memory").set_index("memory")["beta"].to_dict()
    return {memory: None if pandas.isna(beta) else float(beta) for memory, beta in found.items()}


def _headline(memory: str) -> str:
    """The criterion a memory is judged by: weight where weights are probabilities in its theory, else retention."""
    return "target_weight" if _symbol(memory) == "ln M / N" else "retained"


def _shares(rows: Table, criterion: str, by: list[str]) -> Table:
    cluster = rows["patterns"].astype(str) + "/" + rows["sample"].astype(str)
    return by_group(rows.assign(cluster=cluster), by, criterion, "queries", "cluster")


def _bars(ax: Axes, shares: Table, x: str, **look: Any) -> None:
    below, above = shares["mean"] - shares["low"], shares["high"] - shares["mean"]
    ax.errorbar(shares[x], shares["mean"], np.clip([below, above], 0, None), **_look(look))


def _variants(rows: Table) -> dict[tuple, str]:
    """The (dynamics, corruption) of a memory's curves, in words that tell them apart."""
    found = {}
    for dynamics, start in dict.fromkeys(zip(rows["dynamics"], rows["corruption"], strict=True)):
        parts = [str(dynamics)] if rows["dynamics"].nunique() > 1 else []
        parts += [corruptions.label(start)] if rows["corruption"].nunique() > 1 else []
        found[dynamics, start] = ", ".join(parts)
    return found


def _success(ax: Axes, table: Table, summary: dict, memory: str) -> None:
    """Share of queries that pass against load, one curve per size; theory as vertical lines."""
    rows = table[table["memory"] == memory]
    criterion, beta = _headline(memory), _betas(rows)[memory]
    looks, variants = series([str(size) for size in rows["neurons"]]), _variants(rows)
    faces = dict(zip(variants, itertools.cycle((None, "white", "0.7", "none")), strict=False))
    for key, curve in rows.groupby(CURVE, sort=False):
        face = faces.get(key[1:3])
        look = looks[str(key[3])] | {"linestyle": LINES[list(variants).index(key[1:3]) % len(LINES)]}
        look |= {} if face is None else {"markerfacecolor": face}
        counts, loads = (np.sort(curve[name].unique()) for name in ("patterns", "load"))
        exact = theory.success(memory, criterion, key[3], counts, corruptions.flipped(key[2]), beta)
        if exact is not None:
            ax.plot(loads, exact, **_theory(color=look["color"]))
            look["linestyle"] = "none"
        label = f"$N={key[3]}$" if key[1:3] == next(iter(variants)) else None
        _bars(ax, _shares(curve, criterion, ["load"]), "load", label=label, **look)
    known = theory.success(memory, criterion, 10, np.array([10]), 0, beta) is not None
    for words, face, line in zip(variants.values(), faces.values(), itertools.cycle(LINES), strict=False):
        if words:
            look = {"linestyle": "none" if known else line, "markerfacecolor": face or "0.3"}
            ax.plot([], [], marker="o", color="0.3", label=words, **look)
    if known:
        ax.plot([], [], **_theory(label="exact at that $N$"))
    limit = theory.critical_load(memory, criterion, None, 0, beta)
    if limit is not None and (rows["corruption"] == CLEAN).any():
        ax.axvline(limit, **_theory(linestyle=":", label=_limit(memory, criterion, limit)))
    _converged(ax, rows, criterion)
    ax.axhline(0.5, color="0.8", linewidth=0.8, zorder=0)
    ax.set(xlabel=_load_label(memory), ylabel=CRITERION[criterion], ylim=(-0.03, 1.03))
    ax.set_title(labels.memory(memory), loc="left")
    ax.legend(loc="best", frameon=True, facecolor="white", edgecolor="none", framealpha=0.8, fontsize=7)


def _converged(ax: Axes, rows: Table, criterion: str) -> None:
    """The share that still has the weight once the dynamics have ended, at the largest size from its first start."""
    if criterion != "target_weight" or not rows["converged_weight"].notna().any():
        return
    size = rows["neurons"].max()
    curve = rows[(rows["neurons"] == size) & (rows["corruption"] == rows["corruption"].iloc[0])]
    look = {"color": "0.25", "marker": "x", "linestyle": LINES[2]}
    _bars(ax, _shares(curve, "converged_weight", ["load"]), "load", label=f"$N={size}$, converged", **look)


def _critical_patterns(ax: Axes, critical: list[dict], betas: dict[str, float | None]) -> None:
    """Number of patterns at which half of the queries pass, against the number of neurons, with theory."""
    frame: Table = pandas.DataFrame(critical)
    clean = frame[frame["corruption"] == CLEAN]
    frame = clean if len(clean) else frame
    looks = series(list(frame["memory"]))
    for memory, look in looks.items():
        rows: Table = frame[frame["memory"] == memory]
        headline = _headline(memory)
        rows = rows[(rows["criterion"] == headline) & (rows["dynamics"] == rows["dynamics"].iloc[0])]
        if rows.empty:
            continue
        size, load, error = (rows[name].to_numpy(float) for name in ("neurons", "load", "stderr"))
        patterns = np.vectorize(find(memory).scaling.patterns, otypes=[float])
        middle, low, high = patterns(load, size), patterns(load - error, size), patterns(load + error, size)
        bars = np.clip([middle - low, high - middle], 0, None)
        ax.errorbar(size, middle, bars, label=labels.memory(memory), **_look(look, linestyle="none"))
        grid = np.geomspace(size.min(), size.max(), 20) if size.max() > size.min() else size
        start = corruptions.flipped(rows["corruption"].iloc[0])
        limit = theory.critical_load(memory, headline, None, start, betas[memory])
        if limit is not None:
            ax.plot(grid, patterns(np.full_like(grid, limit), grid), **_theory(color=look["color"]))
    kinds = dict.fromkeys(_limit(memory, _headline(memory)) for memory in looks)
    ax.plot([], [], **_theory(label=next(iter(kinds)) if len(kinds) == 1 else r"theory, $N\to\infty$"))
    ax.set(xscale="log", yscale="log", xlabel="neurons $N$", ylabel="patterns at half success $M$")
    sizes = sorted(set(frame["neurons"]))
    if len(sizes) <= 8:
        ax.set_xticks(sizes, [str(size) for size in sizes], rotation=45 if len(sizes) > 5 else 0)
        ax.set_xticks([], minor=True)
    ax.set_title("critical number of patterns", loc="left")
    ax.legend(loc="best")


def _one_step_error(ax: Axes, table: Table) -> None:
    """Wrong neurons after one step against load, with the exact finite-size prediction through every curve."""
    rows = table[(table["corruption"] == table["corruption"].iloc[0])]
    rows = rows.assign(cluster=rows["patterns"].astype(str) + "/" + rows["sample"].astype(str))
    several = rows["memory"].nunique() > 1
    rows = rows[rows["dynamics"] == rows["dynamics"].iloc[0]] if not several else rows
    largest = rows.groupby("memory")["neurons"].transform("max")
    rows = rows[rows["neurons"] == largest] if several else rows
    looks = series([str(key) for key, _ in rows.groupby(["memory", "neurons"], sort=False)])
    for key, curve in rows.groupby(["memory", "neurons"], sort=False):
        memory, neurons = key
        look = looks[str(key)] | {"linestyle": "none"}
        means = means_by_group(curve, ["load"], "one_step_error", "cluster", "queries")
        label = rf"{labels.memory(memory)}, $N={neurons}$" if several else f"$N={neurons}$"
        positive = means[means["mean"] > 0]
        ax.errorbar(positive["load"], positive["mean"], positive["stderr"], label=label, **_look(look))
        counts = np.sort(curve["patterns"].unique())
        loads = np.sort(curve["load"].unique())
        start = corruptions.flipped(curve["corruption"].iloc[0])
        exact = theory.one_step_error(memory, neurons, counts, start, _betas(curve)[memory])
        if exact is not None:
            shown = exact > 1e-9
            ax.plot(loads[shown], exact[shown], **_theory(color=look["color"]))
    ax.plot([], [], **_theory(label="theory at that $N$"))
    scale = "log" if (rows["one_step_error"] > 0).any() else "linear"
    one = _symbol(rows["memory"].iloc[0]) if rows["memory"].nunique() == 1 else None
    ax.set(
        yscale=scale, ylabel="share of neurons wrong after one step", xlabel=r"load $\alpha$ in each memory's scaling"
    )
    if one:
        ax.set_xlabel(_load_label(rows["memory"].iloc[0]))
    if scale == "log":  # bars that reach down to nothing would stretch the axis without end
        means = rows.groupby(["memory", "neurons", "load"])["one_step_error"].mean()
        ax.set_ylim(means[means > 0].min() / 5, 1.0)
    ax.set_title("one-step error", loc="left")
    ax.legend(loc="lower right")


def _retained_overlap(ax: Axes, table: Table) -> None:
    """Final overlap against load with the theory of the infinite network: of what is retained where overlaps are
    bimodal, of all queries where they spread and a cut would decide.
    """
    memory = table["memory"].iloc[0]
    column, weight = ("overlap_retained", "retained") if _bimodal(memory) else ("overlap", "queries")
    rows = table[(table["corruption"] == CLEAN) & (table["dynamics"] == table["dynamics"].iloc[0])]
    rows = rows[rows["memory"] == memory]
    rows = rows.assign(cluster=rows["patterns"].astype(str) + "/" + rows["sample"].astype(str))
    looks = series([str(size) for size in rows["neurons"].unique()])
    for size, curve in rows.groupby("neurons", sort=False):
        means = means_by_group(curve, ["load"], column, "cluster", weight)
        look = looks[str(size)] | {"linestyle": "none"}
        ax.errorbar(means["load"], 1 - means["mean"], means["stderr"], label=f"$N={size}$", **_look(look))
    loads = np.linspace(rows["load"].min(), rows["load"].max(), 120)
    deficit = 1 - np.asarray(theory.retained_overlap(memory, loads))
    ax.plot(loads, deficit, **_theory(label=_limit(memory, "retained")))
    whose = "retained" if _bimodal(memory) else "all"
    ax.set(yscale="log", xlabel=_load_label(memory), ylabel=rf"$1 - m$ of {whose} queries")
    ax.set_title(_overlap_title(memory), loc="left")
    ax.legend(loc="best")


def _bimodal(memory: str) -> bool:
    """Whether final overlaps have two peaks with nothing between them."""
    return _symbol(memory) == "M / N"


def _overlap_title(memory: str) -> str:
    return "overlap of what is retained" if _bimodal(memory) else f"final overlap, {labels.memory(memory)}"


def _extrapolation(ax: Axes, summary: dict, betas: dict[str, float | None]) -> None:
    """Critical load against N^−x with every fitted exponent, none hidden."""
    fits: Table = pandas.DataFrame(summary["extrapolation"])
    headline = _headline(fits["memory"].iloc[0])
    fits = fits[fits["criterion"] == headline]
    fits = fits[fits["corruption"] == fits["corruption"].iloc[0]]
    fits = fits[fits["dynamics"] == fits["dynamics"].iloc[0]]
    points: Table = pandas.DataFrame(summary["critical_load"]).merge(
        fits[["memory", "dynamics", "corruption", "criterion"]].drop_duplicates()
    )
    size = points["neurons"].to_numpy(float)
    ax.errorbar(1 / size, points["load"], points["stderr"], color="k", marker="o", linestyle="none", label="measured")
    grid = np.geomspace(size.min() / 1.2, size.max() * 50, 80)
    best = best_fit(fits.to_dict("records"))
    for look, fit in zip(zip(COLOURS, LINES, strict=True), fits.to_dict("records"), strict=False):
        x = fit["exponent"]
        name = f"$x={x:.2f}$ (free)" if fit["free_exponent"] else f"$x={x:.2g}$"
        label = rf"{name}: {fit['load']:.4f}({fit['stderr'] * 1e4:.0f}), $\chi^2$/dof {fit['chi2']:.1f}/{fit['dof']}"
        width = 1.8 if best is not None and fit["load"] == best["load"] else 1.0
        curve = fit["load"] + fit["amplitude"] * grid**-x
        ax.plot(1 / grid, curve, color=look[0], linestyle=look[1], linewidth=width, label=label)
    memory, start = points["memory"].iloc[0], corruptions.flipped(points["corruption"].iloc[0])
    limit = theory.critical_load(memory, headline, None, start, betas[memory])
    if limit is not None:
        ax.axhline(limit, **_theory(label=_limit(memory, headline, limit)))
    ax.set(xscale="log", xlabel="$1/N$", ylabel=r"critical load $\alpha_{50}$")
    ax.set_title("extrapolation in size", loc="left")
    ax.legend(loc="upper left", fontsize=7)


def _comparison(ax: Axes, table: Table, criterion: str, real: bool) -> None:
    """All memories at the same task, against load or, for real patterns, against their number."""
    x = "patterns" if real else "load"
    curves = list(table.groupby(["memory", "dynamics", "neurons"], sort=False))
    looks = series([str(key) for key, _ in curves])
    several = table.groupby("memory")["dynamics"].nunique().max() > 1
    for number, (key, rows) in enumerate(curves):
        label = labels.memory(key[0]) + (f", {key[1]}" if several else "")
        label += f", $N={key[2]}$" if table["neurons"].nunique() > 1 else ""
        look = looks[str(key)] | {"markerfacecolor": "white" if number >= len(MARKERS) else looks[str(key)]["color"]}
        _bars(ax, _shares(rows, criterion, [x]), x, label=label, **look)
    if real:
        ax.set(xscale="log", xlabel="stored patterns $M$")
    else:
        gardner = float(bounds.gardner())
        ax.set_xlabel(_load_label(table["memory"].iloc[0]))
        if _symbol(table["memory"].iloc[0]) == "M / N" and table["load"].max() > 0.5 * gardner:
            ax.axvline(gardner, **_theory(label=f"Gardner's bound for any rule: {gardner:g}"))
    ax.set(ylabel=CRITERION[criterion], ylim=(-0.03, 1.03))
    start = corruptions.label(table["corruption"].iloc[0]) if criterion != "fixed_point" else "clean pattern, one step"
    ax.set_title(f"{table['ensemble'].iloc[0]}, {start}" if real else start, loc="left")
