"""Figure of the capacity of sparse patterns: critical loads by activity, disturbed couplings, bits, biased Hebb."""

from functools import partial

import numpy as np
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.capacity_sparse import rules
from experiments.capacity_sparse.config import COVARIANCE
from experiments.contract import Table
from experiments.figures.panels import gallery, legend, log_axis, point_style, theory_style
from experiments.figures.style import series
from hopfield.theory import sparse


def plot(table: Table, summary: dict) -> Figure:
    """Panels for the families of rules that were measured."""
    loads, critical = pandas.DataFrame(summary["loads"]), pandas.DataFrame(summary["critical"])
    drawn = []
    if len(critical):
        critical = critical.astype({"load": float, "stderr": float})  # null, where none was found, is NaN and not drawn
        covariance = critical[critical["rule"].isin(COVARIANCE)]
        others = critical[~critical["rule"].isin(COVARIANCE)]
        drawn += [partial(_by_activity, table=covariance)] if len(covariance) else []
        drawn += [partial(_plot_disturbed, table=others)] if len(others) else []
    covariance, hebb = (loads[loads["rule"].isin(rules)] for rules in (COVARIANCE, ["hebb"]))
    willshaw = loads[loads["rule"] == "willshaw"]
    drawn += [partial(_bits, table=covariance)] if len(covariance) else []
    drawn += [partial(_willshaw, table=willshaw)] if len(willshaw) else []
    drawn += [partial(_plot_biased, table=hebb)] if len(hebb) else []
    return gallery(drawn)


def _by_activity(ax: Axes, table: Table) -> None:
    """Critical load against activity by rule, for all sizes, with replica-symmetric theory as lines."""
    looks = series(list(COVARIANCE))
    sizes = sorted(table["neurons"].unique())
    grid = np.geomspace(table["activity"].min() * 0.8, 0.5, 25)
    for rule, rows in table.groupby("rule", sort=False):
        look = looks[str(rule)]
        line = [rules.find(str(rule)).critical_load(float(a)) or np.nan for a in grid]
        ax.plot(grid, line, **theory_style(color=look["color"]))
        for size, part in rows.groupby("neurons"):
            shade = {"markersize": 3 + 1.5 * sizes.index(size), "linestyle": "none"}
            label = str(rule) if size == sizes[-1] else None
            ax.errorbar(part["activity"], part["load"], part["stderr"], label=label, **point_style(look, shade))
    ax.plot(grid, sparse.sparse_limit(grid), color="0.5", linestyle=":", label=r"$1/(2a|\ln a|)$")
    ax.plot([], [], label="replica symmetric", **theory_style())
    log_axis(ax)
    ax.set(yscale="log", xlabel="activity $a$", ylabel=r"critical load $\alpha_c = M/N$")
    several = f" to ${sizes[-1]}$ by size of mark" if len(sizes) > 1 else ""
    ax.set_title(f"covariance rule, $N={sizes[0]}$" + several, loc="left")
    legend(ax)


def _plot_disturbed(ax: Axes, table: Table) -> None:
    """Critical load of disturbed couplings against N^(−2/3), the limits of theory at 0."""
    looks = series(list(dict.fromkeys(table["rule"])))
    for rule, rows in table.groupby("rule", sort=False):
        look = looks[str(rule)]
        ax.errorbar(
            rows["neurons"] ** (-2 / 3),
            rows["load"],
            rows["stderr"],
            label=f"{rule}, none found" if rows["load"].isna().all() else str(rule),
            **point_style(look, {"linestyle": ":"}),
        )
        ax.plot([0], [rows["theory"].iloc[0]], color=look["color"], marker="_", markersize=14, linestyle="none")
    ax.plot([], [], color="0.4", marker="_", markersize=10, linestyle="none", label="replica symmetric")
    ax.set(xlabel=r"$N^{-2/3}$", ylabel=r"critical load $\alpha_c = M/N$", ylim=(0, None))
    ax.set_title("disturbed Hebb couplings", loc="left")
    legend(ax)


def _bits(ax: Axes, table: Table) -> None:
    """Bits per synapse against activity at the best measured load, of the largest network."""
    looks = series(list(COVARIANCE))
    size = table["neurons"].max()
    grid = np.geomspace(table["activity"].min() * 0.8, 0.5, 25)
    for rule, rows in table[table["neurons"] == size].groupby("rule", sort=False):
        look = looks[str(rule)] | {"linestyle": "none"}
        best = rows.groupby("activity")["bits"].max()
        ax.plot(best.index, best, label=str(rule), **look)
        ends = [sparse.spinodal(float(a), rules.find(str(rule)).offset(float(a))) for a in grid]
        line = [c.load * sparse.information(a, c.on, c.off) for a, c in zip(grid, ends, strict=True)]
        ax.plot(grid, line, **theory_style(color=look["color"]))
    ax.plot([], [], label="replica symmetric, at capacity", **theory_style())
    log_axis(ax)
    ax.set(xlabel="activity $a$", ylabel="bits per synapse", ylim=(0, None))
    ax.set_title(f"information, $N={size}$", loc="left")
    legend(ax)


def _willshaw(ax: Axes, table: Table) -> None:
    """Bits per synapse of Willshaw's memory against the share of synapses that are on."""
    looks = series([str(size) for size in sorted(table["neurons"].unique())])
    for size, rows in table.groupby("neurons"):
        look = looks[str(size)]
        active = rules.active(int(size))
        label = f"N = {size}, K = {active}"
        ax.plot(rows["density"], rows["bits"], label=label, **look | {"linestyle": "none"})
        counts = np.unique(np.geomspace(2, 1.2 * rows["patterns"].max(), 60).round())
        line = sparse.willshaw_information(int(size), active, counts)
        density = sparse.willshaw_density(int(size), active, counts)
        ax.plot(density, line, **theory_style(color=look["color"]))
    ax.axhline(np.log(2), color="0.5", linestyle=":", label=r"$\ln 2$, $N\to\infty$")
    ax.plot([], [], label="theory at N", **theory_style())
    ax.set(xlabel="synapses that are on", ylabel="bits per synapse", ylim=(0, 0.75))
    ax.set_title("Willshaw", loc="left")
    legend(ax)


def _plot_biased(ax: Axes, table: Table) -> None:
    """Errors after one step of plain Hebb couplings against the number of patterns over 1/m₀²."""
    size = table["neurons"].max()
    looks = series([f"{a:g}" for a in sorted(table["activity"].unique())])
    for activity, rows in table[table["neurons"] == size].groupby("activity"):
        look, bias = looks[f"{activity:g}"], 1 - 2 * float(activity)
        x = (rows["patterns"] - 1) * bias**2
        label = f"$m_0={bias:.2g}$"
        ax.errorbar(
            x, rows["wrong_one"], rows["wrong_one_stderr"], label=label, **point_style(look, {"linestyle": "none"})
        )
        counts = np.arange(1, rows["patterns"].max() + 2)
        line = sparse.biased_hebb_error(bias, counts)
        ax.plot((counts - 1) * bias**2, line, **theory_style(color=look["color"]))
    ax.axvline(1.0, color="0.8", linewidth=0.8, zorder=0)
    ax.plot([], [], label=r"$N\to\infty$", **theory_style())
    ax.set(xlabel=r"$(M-1)\,m_0^2$", ylabel="wrong spins after one step")
    ax.set_title(f"plain Hebb, biased patterns, $N={size}$", loc="left")
    legend(ax)
