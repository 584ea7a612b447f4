"""Panel of a retrieval figure: critical inverse temperatures against load, beside theory."""

import numpy as np
import pandas
from matplotlib.axes import Axes

from experiments.contract import Table
from experiments.figures import labels
from experiments.figures.panels import legend, log_axis, point_style, theory_style
from experiments.figures.style import series
from experiments.retrieval.summary import FAMILY
from experiments.shared import convergence, kappa_theory


def _word(criterion: str, max_steps: int) -> str:
    """A criterion in the words of a legend."""
    return "one step" if criterion == "target_weight" else convergence.WORDS[convergence.end(max_steps)]


def critical_kappa(ax: Axes, entries: list[dict]) -> None:
    """Critical κ/N against ln M / N: one step and converged, annealed theory at that size and the limit of large N."""
    frame: Table = pandas.DataFrame(entries)
    known = frame[["stderr", "theory"]].astype(float)  # null in the summary
    frame = frame.assign(load=np.log(frame["patterns"]) / frame["neurons"], **dict(known.items()))
    looks = series(list(dict.fromkeys(frame["ensemble"])))
    for key, rows in frame.groupby(["ensemble", "criterion", "max_steps"], sort=False):
        ensemble, criterion, max_steps = key
        face = {"markerfacecolor": "none"} if criterion == "converged_weight" else {}
        label = f"{labels.patterns(ensemble)}, {_word(criterion, max_steps)}"
        bars = rows["stderr"] / rows["neurons"]
        look = point_style(looks[ensemble], linestyle="none", **face)
        ax.errorbar(rows["load"], rows["kappa"] / rows["neurons"], bars, label=label, **look)
    for key, rows in frame.dropna(subset=["theory"]).groupby(["memory", *FAMILY[1:], "criterion"], sort=False):
        memory, ensemble, neurons, criterion = key
        counts = np.unique(np.geomspace(rows["patterns"].min() / 2, 2 * rows["patterns"].max(), 30).astype(int))
        theory = [kappa_theory.critical_kappa(memory, ensemble, neurons, count, criterion) for count in counts]
        lines = np.array([np.nan if kappa is None else kappa / neurons for kappa in theory])
        ax.plot(np.log(counts) / neurons, lines, **theory_style(color=looks[ensemble]["color"]))
    if frame["theory"].notna().any():
        ax.plot([], [], **theory_style(label="annealed theory at that $N$"))
    _limits(ax, frame, looks)
    log_axis(ax)
    ax.set(yscale="log", xlabel=r"load $\alpha = \ln M / N$", ylabel=r"critical $\lambda = \kappa / N$")
    ax.set_title("critical inverse temperature", loc="left")
    legend(ax)
    same = (frame[FAMILY] == frame[FAMILY].iloc[0]).all(axis=1) & frame["theory"].notna()
    if same.any():
        _deviation(ax.inset_axes((0.64, 0.1, 0.35, 0.23)), frame[same], looks)


def _limits(ax: Axes, frame: Table, looks: dict) -> None:
    """Critical κ/N of one step for N → ∞, for memories and patterns with theory and loads that are kept at all."""
    loads, drawn = np.geomspace(frame["load"].min(), frame["load"].max(), 100), False
    for memory, ensemble in dict.fromkeys(zip(frame["memory"], frame["ensemble"], strict=True)):
        line = kappa_theory.limit(ensemble, loads) if kappa_theory.covers(memory, ensemble) else loads * np.nan
        if np.isfinite(line).any():
            ax.plot(loads, line, color=looks[ensemble]["color"], linewidth=0.8, zorder=1)
            drawn = True
    if drawn:
        ax.plot([], [], color="0.25", linewidth=0.8, label=r"one step, $N\to\infty$")


def _deviation(ax: Axes, frame: Table, looks: dict) -> None:
    """Measured over predicted critical κ of one family, in per cent."""
    ax.axhline(0.0, color="0.8", linewidth=0.8, zorder=0)
    for key, rows in frame.groupby(["ensemble", "criterion"], sort=False):
        face = {"markerfacecolor": "none"} if key[1] == "converged_weight" else {}
        theory = rows["theory"].to_numpy(float)
        bars = 100 * (rows["kappa"] / theory - 1), 100 * rows["stderr"] / theory
        ax.errorbar(rows["patterns"], *bars, **point_style(looks[key[0]], linestyle="none", markersize=3.5, **face))
    ax.set_xscale("log")
    ax.tick_params(labelsize=7)
    ax.tick_params(which="minor", labelbottom=False)
    ax.set_title(
        "measured / annealed − 1 (%)\n"
        + f"{labels.patterns(frame['ensemble'].iloc[0])}, $N={frame['neurons'].iloc[0]}$, by $M$",
        fontsize=7,
    )
