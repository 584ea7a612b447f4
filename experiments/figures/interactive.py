"""Interactive panels: the data of a drawn figure as traces of plotly, with a text for every point."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.colors import to_hex

from experiments.figures import words
from experiments.figures.extraction import Axis, Panel, Series

Samples = Callable[[str, float], str]
"""Words on a point with a label at a place: how many samples it has, say."""

MOST = 4000
"""Points of one series at most: beyond them every second, third … is shown."""
_MARKERS = {
    "o": "circle", ".": "circle", "s": "square", "D": "diamond", "d": "diamond-tall", "P": "cross", "X": "x",
    "^": "triangle-up", "v": "triangle-down", "<": "triangle-left", ">": "triangle-right", "*": "star",
    "x": "x-thin-open", "+": "cross-thin-open", "|": "line-ns-open", "_": "line-ew-open",
}  # fmt: skip
_DASHES = {"-": "solid", "--": "dash", "-.": "dashdot", ":": "dot"}


def spec(panel: Panel, samples: Samples = lambda label, x: "") -> dict[str, Any]:
    """A panel for the script of a report: its title, traces, entries of the legend and axes.

    Args:
        panel: what was drawn.
        samples: a few words about a point, from its label and its x.
    """
    entries, traces = _legend(panel.series), []
    for series in panel.series:
        group = next((number for number, entry in enumerate(entries) if series in entry[1]), -1)
        name = words.plain_text(entries[group][0]) if group >= 0 else ""
        traces.append(_image(series, panel) if series.kind == "image" else _trace(series, panel, name, group, samples))
    legend = [
        {"name": words.plain_text(label), "colour": to_hex(members[0].colour[:3]), "marker": bool(members[0].marker)}
        for label, members in entries
    ]
    texts = [
        {"x": _place(x, panel.x), "y": _place(y, panel.y), "text": words.markup(text), "showarrow": False}
        for x, y, text in panel.texts
    ]
    return {
        "title": words.plain_text(panel.title) or words.plain_text(panel.y.label),
        "traces": traces,
        "legend": legend,
        "texts": texts[:200],
        "x": _axis(panel.x),
        "y": _axis(panel.y),
        "image": any(series.kind == "image" for series in panel.series),
    }


def _legend(series: Sequence[Series]) -> list[tuple[str, list[Series]]]:
    """Legend entries of a panel, each with the series it shows or hides: its own and unnamed ones of its colour."""
    entries: list[tuple[str, list[Series]]] = []
    for part in series:
        if not part.label or part.kind == "image":
            continue
        same = next((entry for entry in entries if entry[0] == part.label), None)
        if same is None:
            entries.append((part.label, [part]))
        else:
            same[1].append(part)
    for part in series:
        owner = next((entry for entry in entries if entry[1][0].colour[:3] == part.colour[:3]), None)
        if not part.label and part.kind != "image" and owner is not None:
            owner[1].append(part)
    return entries


def _trace(series: Series, panel: Panel, name: str, group: int, samples: Samples) -> dict[str, Any]:
    colour, grey = to_hex(series.colour[:3]), bool(np.ptp(series.colour[:3]) < 0.02)
    common = {"x": _list(series.x), "y": _list(series.y), "name": name, "group": group, "grey": grey, "type": "scatter"}
    if series.kind == "area":
        look = {"mode": "lines", "fill": "toself", "fillcolor": colour, "opacity": max(0.15, series.colour[3] * 0.6)}
        return common | look | {"line": {"width": 0, "color": colour}, "hoverinfo": "skip"}
    every = max(1, -(-len(series.x) // MOST))
    chosen = slice(None, None, every)
    trace: dict[str, Any] = common | {
        "x": _list(series.x[chosen]),
        "y": _list(series.y[chosen]),
        "mode": "+".join(word for word, sign in (("lines", series.line), ("markers", series.marker)) if sign) or "none",
        "line": {"color": colour, "width": 1.6, "dash": _dash(series.line)},
        "marker": {"color": colour, "size": 4 if series.marker == "." else 7, "symbol": _symbol(series.marker)},
        "opacity": max(0.2, series.colour[3]),
        "hovertemplate": "%{text}<extra></extra>",
        "text": [_point_text(series, number, panel, name, samples) for number in range(len(series.x))[chosen]],
    }
    for key, error in (("error_x", series.x_error), ("error_y", series.y_error)):
        if error is not None:
            above, below = (_list(each[chosen]) for each in (error[1], error[0]))
            trace[key] = {"type": "data", "symmetric": False, "array": above, "arrayminus": below, "color": colour}
            trace[key] |= {"thickness": 1, "width": 2}
    return trace


def _point_text(series: Series, number: int, panel: Panel, name: str, samples: Samples) -> str:
    """Text of a point: its x and y with their errors, and its samples if they are known."""
    lines = [f"<b>{words.markup(name.replace('$', chr(92) + '$'))}</b>"] if name else []
    for axis, values, error in ((panel.x, series.x, series.x_error), (panel.y, series.y, series.y_error)):
        text = f"{words.markup(axis.label) or '·'}: {_format_number(values[number])}"
        if error is not None:
            below, above = float(error[0][number]), float(error[1][number])
            even = math.isclose(below, above, rel_tol=0.02)
            text += f" ± {_format_number(above)}" if even else f" +{_format_number(above)} −{_format_number(below)}"
        lines.append(text)
    known = samples(f"{panel.title} {series.label or name}", float(series.x[number]))
    return "<br>".join([*lines, *([known] if known else [])])


def _image(series: Series, panel: Panel) -> dict[str, Any]:
    assert series.values is not None
    if series.values.ndim == 3:
        x, y = series.x, series.y
        size = {"x0": (x[0] + x[1]) / 2, "dx": x[1] - x[0], "y0": (y[0] + y[1]) / 2, "dy": y[1] - y[0]}
        scale = 255 if series.values.max() <= 1 else 1
        return {"type": "image", "z": np.rint(series.values[..., :3] * scale).astype(int).tolist(), "group": -1} | size
    values = np.log10(series.values) if series.logarithmic else series.values
    low, high = (math.log10(end) for end in series.limits) if series.logarithmic else series.limits
    scale = [[step / 10, to_hex(series.colours(step / 10))] for step in range(11)]
    texts = [[f"{_format_number(value)}" for value in row] for row in series.values]
    label = words.markup(panel.colour_label)
    return {
        "type": "heatmap", "x": _list(series.x), "y": _list(series.y), "z": [_list(row) for row in values],
        "zmin": low, "zmax": high, "colorscale": scale, "text": texts, "group": -1, "hoverongaps": False,
        "colorbar": {"title": {"text": ("log<sub>10</sub> " if series.logarithmic else "") + label, "side": "right"}},
        "hovertemplate": f"%{{x:.4g}}, %{{y:.4g}}<br>{label}: %{{text}}<extra></extra>",
    }  # fmt: skip


def _axis(axis: Axis) -> dict[str, Any]:
    kind = "log" if axis.scale == "log" else "linear"
    ends = [_place(end, axis) for end in axis.limits]
    settings: dict[str, Any] = {"title": words.markup(axis.label), "type": kind, "range": ends}
    if axis.ticks and kind == "linear":
        settings["tickvals"] = [place for place, _ in axis.ticks]
        settings["ticktext"] = [words.markup(text) for _, text in axis.ticks]
    settings["positive"] = bool(min(axis.limits) > 0 and all(_is_number(text) for _, text in axis.ticks))
    return settings


def _is_number(text: str) -> bool:
    try:
        return not text or math.isfinite(float(text))
    except ValueError:
        return False


def _place(value: float, axis: Axis) -> float:
    """A coordinate as plotly counts it: on a logarithmic axis its logarithm."""
    return math.log10(value) if axis.scale == "log" and value > 0 else float(value)


def _list(values: Any) -> list[float | None]:
    return [float(f"{value:.6g}") if math.isfinite(value) else None for value in np.asarray(values, float).ravel()]


def _format_number(value: float) -> str:
    return f"{float(value):.4g}" if math.isfinite(value) else "unknown"


def _dash(line: Any) -> str:
    if isinstance(line, tuple):
        return ",".join(f"{1.5 * part:g}px" for part in line)
    return _DASHES.get(line, "solid")


def _symbol(marker: str) -> str:
    return _MARKERS.get(marker, "circle")
