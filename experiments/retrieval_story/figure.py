"""Figure of the stories: the states as pictures, energy, entropy and weights beside them, and a landscape."""

import base64
import io
from functools import partial
from typing import Any

import numpy as np
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.contract import Summary, Table
from experiments.figures import style
from experiments.figures.panel import Axis, Panel, Series, free, heat
from experiments.retrieval_story.config import PLANE, SIDE, STORED, decode, label, plain_name
from experiments.retrieval_story.summary import courses, ending, patterns, with_ensembles
from experiments.shared import corruptions

SHOWN = (0, 1, 2, 3)
"""Steps that are shown beside the last one."""
STEPS = 8
"""Steps that curves show."""
GAP = 2
"""Pixels between pictures."""
RANGE = {"spins": (-1.0, 1.0), "sphere": (-1.1, 1.9)}
"""States drawn white and black."""


def panels(table: Table, summary: Summary) -> list[Panel]:
    """Pictures of the first and the last query, energies, entropies and weights of the first, and landscapes below."""
    table = with_ensembles(table, summary.more["ensembles"])
    queries = list(dict.fromkeys((part["target"].iloc[0], part["corruption"].iloc[0]) for _, part in courses(table)))
    queries = list(dict.fromkeys((queries[0], queries[-1])))
    betas = sorted(table.loc[table["part"] == PLANE, "beta"].unique())
    betas = list(dict.fromkeys((*betas[:1], *betas[-1:])))
    rows = len(_labels(table))
    tall: dict[str, Any] = {"span": 2, "height": 0.8 * rows}
    return [
        *(free(partial(_pictures, table=table, query=query), _title(query), **tall) for query in queries),
        _course(table, queries[0], "energy"),
        _course(table, queries[0], "entropy"),
        _weights(table, queries[0]),
        *(free(partial(_landscape, table=table, beta=beta), f"landscape, {label('modern', beta)}") for beta in betas),
        _longest(table, summary),
    ]


def frames(table: Table, summary: Summary) -> list[dict[str, Any]]:
    """The pictures of every query as an animated panel of the report, one frame a step."""
    table = with_ensembles(table, summary.more["ensembles"])
    queries = dict.fromkeys((part["target"].iloc[0], part["corruption"].iloc[0]) for _, part in courses(table))
    return [{"title": _title(query), "frames": _animation_frames(table, query)} for query in queries]


def _animation_frames(table: Table, query: tuple[int, str]) -> list[dict[str, str]]:
    images = []
    for step in sorted(_stories(table, query)["step"].unique()):
        figure = Figure(figsize=(7.5, 2.3), layout="constrained")
        ax = figure.subplots()
        rows = [part[part["step"] == step].iloc[0] for _, part in courses(_rows_of_query(table, query))]
        ax.imshow(_mosaic([[_picture(row, table) for row in rows]]), cmap="Greys", vmin=0, vmax=1)
        ax.set_xticks(_places(len(rows)), [_short_label(row).replace(", ", "\n") for row in rows])
        ax.set_yticks([])
        ax.grid(visible=False)
        file = io.BytesIO()
        figure.savefig(file, format="png", dpi=100, metadata={"Software": None})
        said = "; ".join(
            f"{plain_name(row['memory'], row['beta'])}: E {row['energy']:.3g}, S {row['entropy']:.2f}" for row in rows
        )
        image = "data:image/png;base64," + base64.b64encode(file.getvalue()).decode("ascii")
        images.append({"image": image, "text": f"step {step}: {said}"})
    return images


def _title(query: tuple[int, str]) -> str:
    return f"digit {query[0]}, {corruptions.label(query[1])}"


def _stories(table: Table, query: tuple[int, str]) -> Table:
    """The rows of all stories of a query."""
    rows = table[(table["part"] != PLANE) & (table["target"] == query[0])]
    return rows[rows["corruption"] == query[1]]


def _rows_of_query(table: Table, query: tuple[int, str]) -> Table:
    """Rows of all stories of a query and of the stored patterns."""
    return table.loc[_stories(table, query).index.union(table.index[table["part"] == STORED])]


def _labels(table: Table) -> list[str]:
    return list(dict.fromkeys(_short_label(part.iloc[0]) for _, part in courses(table)))


def _short_label(row: Any) -> str:
    return label(row["memory"], float(row["beta"]))


def _picture(row: Any, table: Table) -> np.ndarray:
    """A state as shades from 0 to 1 [8, 8]."""
    low, high = RANGE[row["ensemble"]]
    return np.clip((decode(row["state"]) - low) / (high - low), 0, 1).reshape(SIDE, SIDE)


def _mosaic(pictures: list[list[np.ndarray]]) -> np.ndarray:
    """Rows of pictures as one, NaN between them."""
    size = SIDE + GAP
    canvas = np.full((size * len(pictures) - GAP, size * len(pictures[0]) - GAP), np.nan)
    for i, row in enumerate(pictures):
        for j, picture in enumerate(row):
            canvas[i * size : i * size + SIDE, j * size : j * size + SIDE] = picture
    return canvas


def _places(count: int) -> np.ndarray:
    return np.arange(count) * (SIDE + GAP) + (SIDE - 1) / 2


def _pictures(ax: Axes, table: Table, query: tuple[int, str]) -> None:
    """Memories down, steps across: the stored pattern, the first steps and the last one, with the name of the end."""
    pictures, names, ends = [], [], []
    for _, part in courses(_stories(table, query)):
        kind, last = part["ensemble"].iloc[0], part["step"].max()
        goal = table[(table["part"] == STORED) & (table["memory"] == kind) & (table["target"] == query[0])].iloc[0]
        shown = [goal, *(part[part["step"] == step].iloc[0] for step in (*(s for s in SHOWN if s < last), last))]
        pictures.append([_picture(row, table) for row in shown])
        names.append(_short_label(shown[-1]).replace(", ", "\n"))
        ends.append(ending(shown[-1], patterns(table, kind)))
        steps = ["stored", *(str(row["step"]) for row in shown[1:])]
    ax.imshow(_mosaic(pictures), cmap="Greys", vmin=0, vmax=1, interpolation="none")
    ax.set_xticks(_places(len(steps)), steps)
    ax.set_yticks(_places(len(names)), names)
    for place, end in zip(_places(len(ends)), ends, strict=True):
        text = end.replace("mixture ", "mixture\n")
        ax.text(len(steps) * (SIDE + GAP) - 1, place, text, va="center", fontsize=8.5)
    ax.grid(visible=False)
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.set(xlabel="step")


def _course(table: Table, query: tuple[int, str], name: str) -> Panel:
    """Energy, from 1 at the start to 0 at the end, or entropy against the step."""
    looks, found = style.series(_labels(table)), []
    for _, part in courses(_stories(table, query)):
        values = part[name].to_numpy()
        if name == "energy":
            values = (values - values[-1]) / (np.ptp(values) or 1.0)
        words = _short_label(part.iloc[0])
        found.append(Series(part["step"], values, label=words, **looks[words]))
    y = Axis("entropy of weights $H$ (nats)")
    if name == "energy":
        y = Axis("$(E-E_{end})/(E_{start}-E_{end})$", "log", (1e-4, 1.6))
    x = Axis("step", limits=(-0.2, min(STEPS, table["step"].max()) + 0.2))
    return Panel(f"{name}, digit {query[0]}", x, y, found)


def _weights(table: Table, query: tuple[int, str]) -> Panel:
    """Weights of the stored digits at the end of each story."""
    parts = [part.iloc[-1] for _, part in courses(_stories(table, query))]
    cells = pandas.DataFrame([decode(row["weights"]) for row in parts], index=[_short_label(row) for row in parts])
    title = f"weights at the end, digit {query[0]}"
    return heat(cells, Axis("stored digit"), Axis(""), title, label="weight")


def _longest(table: Table, summary: Summary) -> Panel:
    """Weights of the stored digits at every step of the story that goes on longest."""
    stories = [part for _, part in courses(table)]  # in the order of the summary's
    steps = [story["steps"] for story in summary.more["stories"]]
    rows = stories[steps.index(max(steps))]
    first, cells = rows.iloc[0], pandas.DataFrame([decode(text) for text in rows["weights"]])
    title = f"weights, digit {first['target']}, {_short_label(first)}"
    panel = heat(cells, Axis("stored digit"), Axis("step"), title, label="weight")
    panel.y.ticks = [(step, str(step)) for step in range(0, len(cells), max(1, -(-len(cells) // 8)))]
    return panel


def _landscape(ax: Axes, table: Table, beta: float) -> None:
    """Energy of a modern memory of two digits over the plane that they span, with retrievals."""
    rows = table[(table["part"] == PLANE) & (table["beta"] == beta)]
    pair = [int(number) for number in rows["corruption"].iloc[0].split(",")]
    corners = patterns(table, "sphere")[pair]
    x = np.linspace(-0.55, 1.55, 33)
    grid = np.stack(np.meshgrid(x, x), axis=-1).reshape(-1, 2)
    scores, size = grid @ (corners @ corners.T), np.sum((grid @ corners) ** 2, axis=1)
    levels = (size / 2 - np.logaddexp(*(beta * scores.T)) / beta).reshape(len(x), len(x))
    ax.contour(x, x, levels, levels=levels.min() + np.ptp(levels) * np.linspace(0.05, 1, 9) ** 2, cmap="cividis")
    for _, part in rows.groupby("target"):
        path = np.array([decode(text) for text in part.sort_values("step")["state"]]) @ np.linalg.pinv(corners)
        ax.plot(*path.T, color=style.COLOURS[1], linewidth=1.0, marker=".", markersize=4)
        ax.plot(*path[-1], color="black", marker="*", markersize=8)
    for number, place in zip(pair, ((1, 0), (0, 1)), strict=True):
        ax.annotate(f"{number}", place, xytext=(10, 7), textcoords="offset points", fontweight="bold", fontsize=11)
        ax.plot(*place, color="black", marker="s", markersize=4, linestyle="none")
    ax.set(xlabel=f"digit {pair[0]}", ylabel=f"digit {pair[1]}", aspect="equal")
