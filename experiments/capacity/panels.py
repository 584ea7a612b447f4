"""Panels of a capacity figure that hold measurements against theory: critical loads, one step, overlaps, sizes."""

import itertools

import numpy as np
import pandas
from matplotlib.axes import Axes

from experiments.capacity import theory
from experiments.contract import Table
from experiments.figures import labels
from experiments.figures.panels import legend, log_axis, point_style, theory_style
from experiments.figures.style import COLOURS, LINES, series
from experiments.shared import convergence, corruptions
from experiments.shared.corruptions import CLEAN
from experiments.shared.memories import find
from experiments.statistics.clusters import by_group, means_by_group
from experiments.statistics.extrapolation import best_fit


def limit_label(memory: str, criterion: str, load: float | None = None, end: str = convergence.REST) -> str:
    """Label of theory for an infinite network: replica symmetric (RS), annealed, or of one step."""
    words = {"replica symmetric": "RS theory", "annealed": "annealed"}
    single = end != convergence.REST and criterion not in STARTS
    name = "one-step theory" if single else words.get(theory.kind(memory, criterion) or "", "theory")
    return rf"{name}, $N\to\infty$" + ("" if load is None else f": {load:.4f}")


STARTS = ("target_weight", "fixed_point", "one_step_error")
"""Criteria of a start or a single update, wherever dynamics end."""


def ends_of(rows: Table) -> list[str]:
    """Names, as by `convergence.end`, of the states where dynamics end, each once, for all dynamics among the rows."""
    return list(dict.fromkeys(convergence.end_of_curve(part) for _, part in rows.groupby("dynamics", sort=False)))


def symbol_of(memory: str) -> str:
    """Formula of a memory's load."""
    return find(memory).scaling.symbol


def load_label(memory: str) -> str:
    """Label of an axis of loads."""
    symbol = symbol_of(memory).replace("ln M", r"\ln M").replace(" ", r"\,")
    return rf"load $\alpha = {symbol}$"


def betas_of(table: Table) -> dict[str, float | None]:
    """β of every memory, 1 for a memory without one."""
    betas = table.drop_duplicates("memory").set_index("memory")["beta"].to_dict()
    return {memory: None if pandas.isna(beta) else float(beta) for memory, beta in betas.items()}


def headline_of(memory: str) -> str:
    """The criterion a memory is judged by: weight where weights are probabilities in its theory, else retention."""
    return "target_weight" if symbol_of(memory) == "ln M / N" else "retained"


def passing(rows: Table, criterion: str, by: list[str]) -> Table:
    """Share of queries that pass a criterion, with intervals over disorder samples."""
    cluster = rows["patterns"].astype(str) + "/" + rows["sample"].astype(str)
    return by_group(rows.assign(cluster=cluster), by, criterion, "queries", "cluster")


def critical_patterns(ax: Axes, critical: list[dict], table: Table) -> None:
    """Number of patterns at which half of the queries pass, against the number of neurons, with theory.

    Sizes whose loads do not reach that far are named in the legend.
    """
    betas = betas_of(table)
    frame: Table = pandas.DataFrame(critical)
    clean = frame[frame["corruption"] == CLEAN]
    frame = clean if len(clean) else frame
    looks = series(list(frame["memory"]))
    known = []
    for memory, look in looks.items():
        rows: Table = frame[frame["memory"] == memory]
        headline = headline_of(memory)
        rows = rows[(rows["criterion"] == headline) & (rows["dynamics"] == rows["dynamics"].iloc[0])]
        if rows.empty:
            continue
        size, load, error = (rows[name].to_numpy(float) for name in ("neurons", "load", "stderr"))
        patterns = np.vectorize(find(memory).scaling.num_patterns, otypes=[float])
        middle, low, high = patterns(load, size), patterns(load - error, size), patterns(load + error, size)
        bars = np.clip([middle - low, high - middle], 0, None)
        ax.errorbar(
            size, middle, bars, label=_label_with_open_sizes(memory, size, table), **point_style(look, linestyle="none")
        )
        grid = np.geomspace(size.min(), size.max(), 20) if size.max() > size.min() else size
        start = corruptions.flipped_fraction(rows["corruption"].iloc[0])
        own = (table["memory"] == memory) & (table["dynamics"] == rows["dynamics"].iloc[0])
        end = convergence.end_of_curve(table[own])
        limit = theory.critical_load(memory, headline, None, start, betas[memory], end=end)
        if limit is not None:
            ax.plot(grid, patterns(np.full_like(grid, limit), grid), **theory_style(color=look["color"]))
            known.append(limit_label(memory, headline, end=end))
    if known:
        ax.plot([], [], **theory_style(label=known[0] if len(set(known)) == 1 else r"theory, $N\to\infty$"))
    ax.set(xscale="log", xlabel="neurons $N$", ylabel="patterns at half success $M$")
    log_axis(ax, "y")
    sizes = sorted(set(frame["neurons"]))
    if len(sizes) <= 8:
        ax.set_xticks(sizes, [str(size) for size in sizes], rotation=45 if len(sizes) > 5 else 0)
        ax.set_xticks([], minor=True)
    ax.set_title("critical number of patterns", loc="left")
    legend(ax)


def _label_with_open_sizes(memory: str, sizes: np.ndarray, table: Table) -> str:
    """Label of a memory, with the measured sizes that have no critical number."""
    missing = sorted(set(table.loc[table["memory"] == memory, "neurons"]) - set(sizes.astype(int)))
    return labels.memory(memory) + (f" (not at $N={', '.join(map(str, missing))}$)" if missing else "")


def one_step_error(ax: Axes, table: Table) -> None:
    """Wrong neurons after one step against load, with the exact finite-size prediction through every curve."""
    rows = table[(table["corruption"] == table["corruption"].iloc[0])]
    rows = rows.assign(cluster=rows["patterns"].astype(str) + "/" + rows["sample"].astype(str))
    several = rows["memory"].nunique() > 1
    rows = rows[rows["dynamics"] == rows["dynamics"].iloc[0]] if not several else rows
    largest = rows.groupby("memory")["neurons"].transform("max")
    rows = rows[rows["neurons"] == largest] if several else rows
    looks, known = series([str(key) for key, _ in rows.groupby(["memory", "neurons"], sort=False)]), False
    for key, curve in rows.groupby(["memory", "neurons"], sort=False):
        memory, neurons = key
        look = looks[str(key)] | {"linestyle": "none"}
        means = means_by_group(curve, ["load"], "one_step_error", "cluster", "queries")
        label = rf"{labels.memory(memory)}, $N={neurons}$" if several else f"$N={neurons}$"
        positive = means[means["mean"] > 0]
        ax.errorbar(positive["load"], positive["mean"], positive["stderr"], label=label, **point_style(look))
        counts = np.sort(curve["patterns"].unique())
        loads = np.sort(curve["load"].unique())
        start = corruptions.flipped_fraction(curve["corruption"].iloc[0])
        exact = theory.one_step_error(memory, neurons, counts, start, betas_of(curve)[memory])
        if exact is not None:
            shown = exact > 1e-9
            ax.plot(loads[shown], exact[shown], **theory_style(color=look["color"]))
            known = True
    if known:
        ax.plot([], [], **theory_style(label="theory at that $N$"))
    scale = "log" if (rows["one_step_error"] > 0).any() else "linear"
    one = symbol_of(rows["memory"].iloc[0]) if rows["memory"].nunique() == 1 else None
    ax.set(
        yscale=scale, ylabel="share of neurons wrong after one step", xlabel=r"load $\alpha$ in each memory's scaling"
    )
    if one:
        ax.set_xlabel(load_label(rows["memory"].iloc[0]))
    if scale == "log":  # bars that reach down to nothing would stretch the axis without end
        means = rows.groupby(["memory", "neurons", "load"])["one_step_error"].mean()
        ax.set_ylim(means[means > 0].min() / 5, 1.0)
    ax.set_title("one-step error", loc="left")
    legend(ax)


def retained_overlap(ax: Axes, table: Table) -> None:
    """Final overlap against load with the theory of the infinite network: of what is retained where overlaps are
    bimodal, of all queries where they spread and a cut would decide.
    """
    memory = table["memory"].iloc[0]
    column, weight = ("overlap_retained", "retained") if bimodal(memory) else ("overlap", "queries")
    rows = table[(table["corruption"] == CLEAN) & (table["dynamics"] == table["dynamics"].iloc[0])]
    rows = rows[rows["memory"] == memory]
    rows = rows.assign(cluster=rows["patterns"].astype(str) + "/" + rows["sample"].astype(str))
    looks = series([str(size) for size in rows["neurons"].unique()])
    for size, curve in rows.groupby("neurons", sort=False):
        means = means_by_group(curve, ["load"], column, "cluster", weight)
        look = looks[str(size)] | {"linestyle": "none"}
        ax.errorbar(means["load"], 1 - means["mean"], means["stderr"], label=f"$N={size}$", **point_style(look))
    loads = np.linspace(rows["load"].min(), rows["load"].max(), 120)
    deficit = 1 - np.asarray(theory.retained_overlap(memory, loads))
    ax.plot(loads, deficit, **theory_style(label=limit_label(memory, "retained")))
    whose = "retained" if bimodal(memory) else "all"
    ax.set(yscale="log", xlabel=load_label(memory), ylabel=rf"$1 - m$ of {whose} queries")
    ax.set_title(_overlap_title(memory), loc="left")
    legend(ax)


def bimodal(memory: str) -> bool:
    """Whether final overlaps have two peaks with nothing between them."""
    return symbol_of(memory) == "M / N"


def _overlap_title(memory: str) -> str:
    return "overlap of what is retained" if bimodal(memory) else f"final overlap, {labels.memory(memory)}"


def extrapolation(ax: Axes, summary: dict, table: Table) -> None:
    """Critical load against N^−x with every fitted exponent, none hidden."""
    fits: Table = pandas.DataFrame(summary["extrapolation"])
    headline = headline_of(fits["memory"].iloc[0])
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
    for look, fit in zip(itertools.cycle(zip(COLOURS, LINES, strict=True)), fits.to_dict("records"), strict=False):
        x = fit["exponent"]
        name = f"$x={x:.2f}$ (free)" if fit["free_exponent"] else f"$x={x:.2g}$"
        label = rf"{name}: {fit['load']:.4f}({fit['stderr'] * 1e4:.0f}), $\chi^2$/dof {fit['chi2']:.1f}/{fit['dof']}"
        width = 1.8 if best is not None and fit["load"] == best["load"] else 1.0
        curve = fit["load"] + fit["amplitude"] * grid**-x
        ax.plot(1 / grid, curve, color=look[0], linestyle=look[1], linewidth=width, label=label)
    memory, start = points["memory"].iloc[0], corruptions.flipped_fraction(points["corruption"].iloc[0])
    end = convergence.end_of_curve(table[table["dynamics"] == points["dynamics"].iloc[0]])
    limit = theory.critical_load(memory, headline, None, start, betas_of(table)[memory], end=end)
    if limit is not None:
        ax.axhline(limit, **theory_style(label=limit_label(memory, headline, limit, end)))
    ax.set(xscale="log", xlabel="$1/N$", ylabel=r"critical load $\alpha_{50}$")
    ax.set_title("extrapolation in size", loc="left")
    legend(ax)
