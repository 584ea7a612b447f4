"""Figure of a retrieval table: one step and converged retrieval against κ, critical κ, and what changes them."""

from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.contract import Table
from experiments.figures import labels
from experiments.figures.panels import Panel, gallery, legend, log_axis, point_style, shares, theory_style
from experiments.figures.style import series
from experiments.retrieval.critical import critical_kappa
from experiments.retrieval.summary import FAMILY, main_family
from experiments.shared import convergence, corruptions, kappa_theory
from experiments.statistics.clusters import by_group, means_by_group

KAPPA = r"inverse temperature $\kappa = \beta\|\xi\|^2$"
RATIO = r"$\kappa$ / converged critical $\kappa$ of annealed theory"
ANNEALED = "annealed theory"
"""Theory that puts the sum over the other patterns at its mean, at the measured size."""
WORDS = {"memory": labels.memory, "ensemble": labels.patterns, "corruption": corruptions.label}
"""Words of a reader for the names in a column."""


def plot(table: Table, summary: dict) -> Figure:
    """Weight, success, state and steps against κ, critical κ against load, memories and ensembles side by side.

    Panels for whatever the table holds, three in a row.
    """
    return gallery(_panels(table, summary))


def _panels(table: Table, summary: dict) -> list[Panel]:
    clean, panels = table[table["corruption"] == corruptions.CLEAN], []
    scanned = table.dropna(subset=["kappa"])
    if len(scanned):
        main = _main(scanned)
        panels += [partial(_one_step, table=main), partial(_success, table=main)]
        entries = [e for e in summary["critical_kappa"] if e["memory"] == main["memory"].iloc[0]]
        entries = [entry for entry in entries if entry["ensemble"] in kappa_theory.RANDOM]
        if len(entries) > 2:
            panels.append(partial(critical_kappa, entries=entries))
        if any(_critical_kappa_of_states(main, num_patterns) is not None for num_patterns in main["patterns"].unique()):
            panels += [partial(_state, table=main, name=name) for name in ("overlap", "entropy")]
        panels.append(partial(_steps, table=main))
    sides = [
        (table, ["memory", "ensemble", "neurons", "patterns"], "corruption", "starts"),
        (clean, ["memory", "neurons", "patterns"], "ensemble", "kinds of patterns"),
        (clean, ["ensemble", "neurons", "patterns"], "memory", "memories"),
    ]
    for rows, shared, varied, title in sides:
        side = _richest(rows, shared, varied) if len(rows) else rows
        if side[varied].nunique() > 1:
            panels.append(partial(_side_by_side, table=side, varied=varied, title=title))
    if not panels:  # nothing has a β: levels are all there is to show
        side = _richest(table, ["ensemble", "neurons", "patterns", "corruption"], "memory")
        panels.append(partial(_side_by_side, table=side, varied="memory", title="memories"))
    return panels


def _richest(table: Table, shared: list[str], varied: str) -> Table:
    """The rows that share these columns and hold the most values of another, the first of equals."""
    kinds = {key: rows[varied].nunique() for key, rows in table.groupby(shared, sort=False)}
    best = max(kinds, key=lambda key: kinds[key])
    return table[(table[shared] == list(best)).all(axis=1)]


def _main(table: Table) -> Table:
    """The curves of the main family, from the clean start if there is one."""
    family = table[(table[FAMILY] == list(main_family(table).values())).all(axis=1)]
    start = corruptions.CLEAN if (family["corruption"] == corruptions.CLEAN).any() else family["corruption"].iloc[0]
    return family[family["corruption"] == start]


def _means(rows: Table, name: str, by: str = "kappa", weights: str = "queries") -> Table:
    return means_by_group(rows, by, name, "sample", weights)


def _curves(table: Table) -> list[tuple[int, Table, dict[str, Any]]]:
    """Number of patterns, rows and look of every curve of a family."""
    looks = series([str(num_patterns) for num_patterns in table["patterns"].unique()])
    return [(key, rows, looks[str(key)]) for key, rows in table.groupby("patterns", sort=False)]


def _family(table: Table) -> tuple[str, str, int]:
    return tuple(table[FAMILY].iloc[0])


def _critical_kappa_of_states(table: Table, num_patterns: int) -> float | None:
    """Critical κ of theory for converged states of a curve. None unless starts are clean and patterns of equal norm."""
    return None if table["ensemble"].iloc[0] == "gaussian" else _critical_kappa(table, num_patterns)


def _critical_kappa(table: Table, num_patterns: int) -> float | None:
    """Critical κ of theory for converged updates of a curve. None unless starts are clean and updates may converge."""
    memory, ensemble, neurons = _family(table)
    clean = table["corruption"].iloc[0] == corruptions.CLEAN
    if not clean or convergence.end_of_curve(table[table["patterns"] == num_patterns]) != convergence.REST:
        return None
    return kappa_theory.critical_kappa(memory, ensemble, int(neurons), int(num_patterns), "converged_weight")


def _named_axes(ax: Axes, table: Table, title: str, **axes: Any) -> None:
    memory, ensemble, neurons = _family(table)
    ax.set(**axes)
    ax.set_title(
        f"{title} ({labels.memory(memory)}, {labels.patterns(ensemble)}, $N={neurons}$)", loc="left", fontsize=9.5
    )


def _one_step(ax: Axes, table: Table) -> None:
    """Mean weight on the pattern at the start, against κ, with the annealed weight."""
    grid, drawn = np.geomspace(table["kappa"].min(), table["kappa"].max(), 300), False
    for num_patterns, rows, look in _curves(table):
        means = _means(rows, "one_step_weight")
        weight = kappa_theory.one_step_weight(*_family(table), num_patterns, grid)
        line = {}
        if weight is not None and table["corruption"].iloc[0] == corruptions.CLEAN:
            ax.plot(grid, weight, **theory_style(color=look["color"]))
            line = {"linestyle": "none"}
            drawn = True
        ax.errorbar(
            means["kappa"], means["mean"], means["stderr"], label=f"$M={num_patterns}$", **point_style(look, **line)
        )
    if drawn:
        ax.plot([], [], **theory_style(label=ANNEALED))
    ax.axhline(0.5, color="0.8", linewidth=0.8, zorder=0)
    words = {"xlabel": KAPPA, "ylabel": r"mean weight on the pattern, $p_\mathrm{target}$"}
    log_axis(ax)
    _named_axes(ax, table, "first step", **words)
    legend(ax)


def _success(ax: Axes, table: Table) -> None:
    """Share of queries that end with most weight on the pattern, against κ, with annealed thresholds as lines."""
    lines = []
    for num_patterns, rows, look in _curves(table):
        shares(ax, _shares(rows), "kappa", label=f"$M={num_patterns}$", **look)
        critical = _critical_kappa(table, num_patterns)
        if critical is not None:
            lines.append(critical)
            ax.axvline(critical, **theory_style(color=look["color"]))
    log_axis(ax)
    if lines:  # the transitions are narrow: nothing happens elsewhere
        ax.plot([], [], **theory_style(label=ANNEALED))
        ax.set(xscale="linear", xlim=(0.3 * min(lines), 1.1 * max(lines)))
    _named_axes(
        ax,
        table,
        convergence.WORDS[convergence.end_of_curve(table)],
        xlabel=KAPPA,
        ylabel=r"share ending with $p_\mathrm{target} > ½$",
    )
    legend(ax)


def _shares(rows: Table) -> Table:
    return by_group(rows, ["kappa"], "success", "queries", "sample")


def _state(ax: Axes, table: Table, name: str) -> None:
    """Overlap or entropy of successful queries above the critical κ of theory, against κ in units of it."""
    words = {"overlap": "overlap $m$ of successes", "entropy": "entropy $H$ of successes (nats)"}
    ratios = np.append(1 + np.geomspace(1e-4, 0.02, 60), np.linspace(1.021, 1.2, 60))
    for num_patterns, rows, look in _curves(table):
        critical = _critical_kappa_of_states(table, num_patterns)
        if critical is None:
            continue
        theory = kappa_theory.converged(*_family(table), num_patterns, ratios * critical)
        ax.plot(ratios, getattr(theory, name), **theory_style(color=look["color"]))
        near = rows[(rows["kappa"] > 0.97 * critical) & (rows["kappa"] < 1.2 * critical) & (rows["success"] > 0)]
        if len(near):
            means = _means(near, f"{name}_kept", weights="success")
            look = point_style(look, linestyle="none", label=f"$M={num_patterns}$")
            ax.errorbar(means["kappa"] / critical, means["mean"], means["stderr"], **look)
    ax.axvline(1.0, color="0.8", linewidth=0.8, zorder=0)
    ax.plot([], [], **theory_style(label=ANNEALED))
    _named_axes(ax, table, "above the line", xlabel=RATIO, ylabel=words[name])
    legend(ax)


def _steps(ax: Axes, table: Table) -> None:
    """Mean number of updates until nothing moves: critical slowing down."""
    scaled = all(
        _critical_kappa_of_states(table, num_patterns) is not None for num_patterns in table["patterns"].unique()
    )
    for num_patterns, rows, look in _curves(table):
        means = _means(rows, "steps")
        kappa = means["kappa"] / (_critical_kappa_of_states(table, num_patterns) if scaled else 1.0)
        ax.errorbar(kappa, means["mean"], means["stderr"], label=f"$M={num_patterns}$", **point_style(look))
    log_axis(ax)
    words = (
        "updates until still" if convergence.end_of_curve(table) == convergence.REST else "updates that move, of one"
    )
    _named_axes(ax, table, "updates", xlabel=RATIO if scaled else KAPPA, ylabel=words)
    legend(ax)


def _side_by_side(ax: Axes, table: Table, varied: str, title: str) -> None:
    """Curves that differ in one respect: success against κ, or the final overlap where memories differ."""
    column, words = "success", r"share ending with $p_\mathrm{target} > ½$"
    if varied == "memory":
        column, words = "overlap", r"mean final overlap $m$"
    keys = [key for key, _ in table.groupby(varied, sort=False)]
    looks = series([str(key) for key in keys])
    for label, rows in table.groupby(varied, sort=False):
        words_ = WORDS[varied](label)
        look = looks[str(label)] | {"label": words_}
        if rows["kappa"].isna().all():
            level = _means(rows.assign(kappa=0.0), column)["mean"].iloc[0]
            colour, line = look["color"], look["linestyle"]
            ax.axhline(level, color=colour, linestyle=line, linewidth=1.2, label=f"{look['label']} (any $\\kappa$)")
        elif column == "success":
            shares(ax, _shares(rows), "kappa", **look)
        else:
            means = _means(rows, column)
            ax.errorbar(means["kappa"], means["mean"], means["stderr"], **point_style(look))
    shared = {name: table[name].iloc[0] for name in ("memory", "ensemble", "neurons", "patterns") if name != varied}
    parts = [WORDS[name](str(shared[name])) for name in ("memory", "ensemble") if name in shared]
    parts += [f"${'N' if name == 'neurons' else 'M'}={shared[name]}$" for name in ("neurons", "patterns")]
    log_axis(ax)
    ax.set(xlabel=KAPPA, ylabel=words, ylim=(-0.03, 1.05))
    ax.set_title(f"{title} ({', '.join(parts)})", loc="left", fontsize=9.5)
    legend(ax)
