"""Panels of a retrieval figure: critical inverse temperatures against load, beside theory, and what they deviate."""

import numpy as np

from experiments.contract import Table
from experiments.figures import labels
from experiments.figures.panel import Axis, Panel, Series, entry, guide, theory_line
from experiments.figures.style import THEORY, series
from experiments.retrieval.summary import FAMILY
from experiments.shared import convergence, kappa_theory

LARGE = {"linestyle": "-", "linewidth": 0.8}


def _word(criterion: str, max_steps: int) -> str:
    """A criterion in the words of a legend."""
    return {"target_weight": "at the start", "first_weight": "after one update"}.get(
        criterion, convergence.WORDS[convergence.end(max_steps)]
    )


def _look(looks: dict, ensemble: str, criterion: str) -> dict:
    """Look of an ensemble's points: full at the start, grey after one update, open where states have converged."""
    face = {"first_weight": "0.75", "converged_weight": "none"}.get(criterion)
    return looks[ensemble] | {"linestyle": "", "markerfacecolor": face}


def critical_kappa(frame: Table) -> list[Panel]:
    """Critical κ/N against ln M / N: one step and converged, annealed theory and its limit."""
    frame = frame.reindex(columns=[*frame, *(name for name in ("stderr", "theory") if name not in frame)])
    frame = frame.assign(load=np.log(frame["patterns"]) / frame["neurons"])
    looks, found, faces = series(list(dict.fromkeys(frame["ensemble"]))), [], {}
    for (ensemble, criterion, steps), rows in frame.groupby(["ensemble", "criterion", "max_steps"], sort=False):
        size, look = rows["neurons"], _look(looks, ensemble, criterion)
        found.append(Series(rows["load"], rows["value"] / size, rows["stderr"] / size, **look))
        faces[_word(criterion, steps)] = look["markerfacecolor"] or "0.3"
    for key, rows in frame.dropna(subset=["theory"]).groupby(["memory", *FAMILY[1:], "criterion"], sort=False):
        memory, ensemble, neurons, criterion = key
        counts = np.unique(np.geomspace(rows["patterns"].min() / 2, 2 * rows["patterns"].max(), 30).astype(int))
        theory = [kappa_theory.critical_kappa(memory, ensemble, neurons, count, criterion) for count in counts]
        lines = np.array([np.nan if kappa is None else kappa / neurons for kappa in theory])
        found.append(theory_line(np.log(counts) / neurons, lines, color=looks[ensemble]["color"]))
    found += [entry(labels.patterns(name), **look | {"linestyle": ""}) for name, look in looks.items()]
    found += [entry(word, color="0.3", marker="o", markerfacecolor=face) for word, face in faces.items()]
    if frame["theory"].notna().any():
        found.append(entry("annealed theory at that $N$", **THEORY))
    found += _limits(frame, looks)
    x, y = Axis(r"load $\alpha = \ln M / N$", "log"), Axis(r"critical $\lambda = \kappa / N$", "log")
    same = (frame[FAMILY] == frame[FAMILY].iloc[0]).all(axis=1) & frame["theory"].notna()
    deviation = [_deviation(frame[same], looks)] if same.any() else []
    return [Panel("critical inverse temperature", x, y, found), *deviation]


def _limits(frame: Table, looks: dict) -> list[Series]:
    """Critical κ/N of the start for N → ∞, for memories and patterns with theory and loads that are kept at all."""
    loads, found = np.geomspace(frame["load"].min(), frame["load"].max(), 100), []
    for memory, ensemble in dict.fromkeys(zip(frame["memory"], frame["ensemble"], strict=True)):
        line = kappa_theory.limit(ensemble, loads) if kappa_theory.covers(memory, ensemble) else loads * np.nan
        if np.isfinite(line).any():
            found.append(Series(loads, line, color=looks[ensemble]["color"], **LARGE))
    return [*found, *([entry(r"at the start, $N\to\infty$", **LARGE)] if found else [])]


def _deviation(frame: Table, looks: dict) -> Panel:
    """Measured over predicted critical κ of one family, in per cent."""
    found = []
    for (ensemble, criterion), rows in frame.groupby(["ensemble", "criterion"], sort=False):
        theory, look = rows["theory"].to_numpy(float), _look(looks, ensemble, criterion)
        percent, error = 100 * (rows["value"] / theory - 1), 100 * rows["stderr"] / theory
        label = _word(criterion, int(rows["max_steps"].min()))
        found.append(Series(rows["patterns"], percent, error, label=label, **look))
    title = (
        f"critical $\\kappa$ over theory, {labels.patterns(frame['ensemble'].iloc[0])}, $N={frame['neurons'].iloc[0]}$"
    )
    x, y = Axis("patterns $M$", "log"), Axis("measured / annealed − 1 (%)")
    return Panel(title, x, y, [*found, guide(0.0)])
