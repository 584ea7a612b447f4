"""Interactive panels: panels as traces of plotly, with a text for every point; pictures as they are drawn."""

import base64
import io
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import to_hex, to_rgb

from experiments.figures import draw, words
from experiments.figures.panel import Axis, Heat, Panel, Series

MOST = 4000
"""Points of one series at most: beyond them every second, third … is shown."""
_MARKERS: dict[str | int, str] = {
    "o": "circle", ".": "circle", "s": "square", "D": "diamond", "d": "diamond-tall", "P": "cross", "X": "x",
    "^": "triangle-up", "v": "triangle-down", "<": "triangle-left", ">": "triangle-right", "*": "star",
    "x": "x-thin-open", "+": "cross-thin-open", "|": "line-ns-open", "_": "line-ew-open",
    6: "triangle-up", 7: "triangle-down",
}  # fmt: skip
_DASHES = {"-": "solid", "--": "dash", "-.": "dashdot", ":": "dot"}


def spec(panel: Panel) -> dict[str, Any]:
    """A panel for the script of a report: its title, traces, entries of the legend and axes, or its picture."""
    title = words.plain_text(panel.title) or words.plain_text(panel.y.label)
    if panel.draw is not None:
        return {"title": title, "picture": _picture(panel)}
    entries, traces = _legend(panel.series), []
    for series in filter(_has_points, panel.series):
        group = next((number for number, entry in enumerate(entries) if series in entry[1]), -1)
        name = words.plain_text(entries[group][0]) if group >= 0 else ""
        traces.append(_trace(series, panel, name, group))
    legend = [
        {"name": words.plain_text(label), "colour": to_hex(members[0].color), "marker": bool(members[0].marker)}
        for label, members in entries
    ]
    return {
        "title": title,
        "traces": [*([] if panel.heat is None else [_heat(panel.heat)]), *traces],
        "legend": legend,
        "texts": _texts(panel.heat),
        "x": _axis(panel.x, panel.ends("x")),
        "y": _axis(panel.y, panel.ends("y")),
        "image": panel.heat is not None,
    }


def _picture(panel: Panel) -> str:
    figure, file = draw.figure([panel], width=draw.WIDTH * panel.span + 1.0), io.BytesIO()
    figure.axes[0].set_title("")
    figure.savefig(file, format="png", dpi=130, metadata={"Software": None})
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode("ascii")


def _legend(series: Sequence[Series]) -> list[tuple[str, list[Series]]]:
    """Legend entries of a panel, each with the series it shows or hides: its own and unnamed ones of its colour."""
    entries: dict[str, list[Series]] = {}
    for part in series:
        if part.label and _has_points(part):
            entries.setdefault(part.label, []).append(part)
    for part in series:
        owner = next((members for members in entries.values() if to_hex(members[0].color) == to_hex(part.color)), None)
        if not part.label and owner is not None:
            owner.append(part)
    return list(entries.items())


def _has_points(series: Series) -> bool:
    """True if there is something to draw, and not an entry of the legend alone."""
    return len(series.x) + len(series.y) > 0


def _trace(series: Series, panel: Panel, name: str, group: int) -> dict[str, Any]:
    colour, grey = to_hex(series.color), bool(np.ptp(to_rgb(series.color)) < 0.02)
    common = {"name": name, "group": group, "grey": grey, "type": "scatter"}
    x, y = series.x, series.y
    if series.kind == "band":
        assert series.top is not None
        outline = {"x": _list([*x, *x[::-1]]), "y": _list([*y, *series.top[::-1]])}
        look = {"mode": "lines", "fill": "toself", "fillcolor": colour, "opacity": max(0.15, series.alpha * 0.6)}
        return common | outline | look | {"line": {"width": 0, "color": colour}, "hoverinfo": "skip"}
    if series.kind == "level":
        x, y = np.array(panel.ends("x")), np.repeat(y, 2)
    elif series.kind == "upright":
        x, y = np.repeat(x, 2), np.array(panel.ends("y"))
    chosen = slice(None, None, max(1, -(-len(x) // MOST)))
    marker, open_ = _MARKERS.get(series.marker, "circle"), series.markerfacecolor in ("white", "w", "none")
    trace: dict[str, Any] = common | {
        "x": _list(x[chosen]),
        "y": _list(y[chosen]),
        "mode": "+".join(word for word, sign in (("lines", series.linestyle), ("markers", series.marker)) if sign)
        or "none",
        "line": {"color": colour, "width": 1.6, "dash": _dash(series.linestyle)},
        "marker": {
            "color": colour,
            "size": 4 if series.marker == "." else 7,
            "symbol": marker + "-open" * (open_ and "open" not in marker),
        },
        "opacity": max(0.2, series.alpha),
        "hovertemplate": "%{text}<extra></extra>",
        "text": [_point_text(series, (x, y), number, panel, name) for number in range(len(x))[chosen]],
    }
    for key, error in (("error_x", series.x_error), ("error_y", series.error)):
        if error is not None:
            above, below = (_list(each[chosen]) for each in (error[1], error[0]))
            trace[key] = {"type": "data", "symmetric": False, "array": above, "arrayminus": below, "color": colour}
            trace[key] |= {"thickness": 1, "width": 2}
    return trace


def _point_text(series: Series, places: Any, number: int, panel: Panel, name: str) -> str:
    """Text of a point: its x and y with their errors, and its samples if they are known."""
    lines = [f"<b>{words.markup(name.replace('$', chr(92) + '$'))}</b>"] if name else []
    for axis, values, error in ((panel.x, places[0], series.x_error), (panel.y, places[1], series.error)):
        text = f"{words.markup(axis.label) or '·'}: {_format_number(values[number])}"
        if error is not None:
            below, above = float(error[0][number]), float(error[1][number])
            even = math.isclose(below, above, rel_tol=0.02)
            text += f" ± {_format_number(above)}" if even else f" +{_format_number(above)} −{_format_number(below)}"
        lines.append(text)
    if series.samples is not None and (count := int(series.samples[number])):
        lines.append(f"{count} sample{'s' * (count > 1)}")
    return "<br>".join(lines)


def _heat(cells: Heat) -> dict[str, Any]:
    scale = [[step / 10, to_hex(colormaps[cells.colours](step / 10))] for step in range(11)]
    label, values = words.markup(cells.label), np.asarray(cells.values, float)
    texts = cells.texts or [[f"{_format_number(value)}" for value in row] for row in values]
    return {
        "type": "heatmap", "x": _list(cells.x), "y": _list(cells.y), "z": [_list(row) for row in values],
        "zmin": cells.limits[0], "zmax": cells.limits[1], "colorscale": scale, "text": texts, "group": -1,
        "hoverongaps": False, "showscale": bool(label), "colorbar": {"title": {"text": label, "side": "right"}},
        "hovertemplate": f"%{{x:.4g}}, %{{y:.4g}}<br>{label}: %{{text}}<extra></extra>",
    }  # fmt: skip


def _texts(cells: Heat | None) -> list[dict[str, Any]]:
    """Texts of cells, each in the middle of its own."""
    if cells is None or cells.texts is None:
        return []
    x, y = ((np.asarray(edges)[:-1] + np.asarray(edges)[1:]) / 2 for edges in (cells.x, cells.y))
    return [
        {"x": float(x[j]), "y": float(y[i]), "text": words.markup(text), "showarrow": False}
        for i, row in enumerate(cells.texts)
        for j, text in enumerate(row)
    ][:200]


def _axis(axis: Axis, ends: tuple[float, float]) -> dict[str, Any]:
    logarithmic = axis.scale == "log"
    limits = [math.log10(end) if logarithmic else end for end in ends]
    ticks = list(axis.ticks or ())
    settings: dict[str, Any] = {"title": words.markup(axis.label), "type": "log" if logarithmic else "linear"}
    settings["range"] = limits
    if axis.ticks is not None:
        settings["tickvals"] = [float(place) for place, _ in ticks]
        settings["ticktext"] = [words.markup(text) for _, text in ticks]
    settings["positive"] = bool(min(ends) > 0 and all(_is_number(text) for _, text in ticks))
    return settings


def _is_number(text: str) -> bool:
    try:
        return not text or math.isfinite(float(text))
    except ValueError:
        return False


def _list(values: Any) -> list[float | None]:
    return [float(f"{value:.6g}") if math.isfinite(value) else None for value in np.asarray(values, float).ravel()]


def _format_number(value: float) -> str:
    return f"{float(value):.4g}" if math.isfinite(value) else "unknown"


def _dash(line: Any) -> str:
    if isinstance(line, tuple):
        return ",".join(f"{1.5 * part:g}px" for part in line[1])
    return _DASHES.get(line, "solid")
