"""Panels of a retrieval figure: critical inverse temperatures against load, beside theory, and what they deviate."""

from experiments.contract import Summary, Table, records
from experiments.figures import labels
from experiments.figures.panel import Axis, Panel, Series, entry, guide, theory_lines
from experiments.figures.style import THEORY, series
from experiments.retrieval.lines import FAMILY, LIMIT, LOADS
from experiments.shared import convergence

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


def critical_kappa(frame: Table, summary: Summary) -> list[Panel]:
    """Critical κ/N against ln M / N: one step and converged, annealed theory and its limit."""
    frame = frame.reindex(columns=[*frame, *(name for name in ("stderr", "theory") if name not in frame)])
    looks, found, faces = series(list(dict.fromkeys(frame["ensemble"]))), [], {}
    for (ensemble, criterion, steps), rows in frame.groupby(["ensemble", "criterion", "max_steps"], sort=False):
        size, look = rows["neurons"], _look(looks, ensemble, criterion)
        found.append(Series(rows["load"], rows["value"] / size, rows["stderr"] / size, **look))
        faces[_word(criterion, steps)] = look["markerfacecolor"] or "0.3"
    found += theory_lines(summary.line(LOADS), lambda line: {"color": looks[line["ensemble"]]["color"]})
    found += [entry(labels.patterns(name), **look | {"linestyle": ""}) for name, look in looks.items()]
    found += [entry(word, color="0.3", marker="o", markerfacecolor=face) for word, face in faces.items()]
    if frame["theory"].notna().any():
        found.append(entry("annealed theory at that $N$", **THEORY))
    found += _limits(summary, looks)
    x, y = Axis(r"load $\alpha = \ln M / N$", "log"), Axis(r"critical $\lambda = \kappa / N$", "log")
    same = (frame[FAMILY] == frame[FAMILY].iloc[0]).all(axis=1) & frame["theory"].notna()
    deviation = [_deviation(frame[same], looks)] if same.any() else []
    return [Panel("critical inverse temperature", x, y, found), *deviation]


def _limits(summary: Summary, looks: dict) -> list[Series]:
    """Critical κ/N of the start for N → ∞."""
    limits = records(summary.line(LIMIT))
    found = [Series(line["x"], line["y"], color=looks[line["ensemble"]]["color"], **LARGE) for line in limits]
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
