"""Figure of the worked examples: attention, weights and entropy by temperature, Jacobian, claims of capacity."""

from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import NullLocator

from experiments.contract import Table
from experiments.figures.panels import fill, legend
from experiments.figures.style import THEORY, panels, series
from experiments.statistics.lines import straight_line
from experiments.worked_examples.printed import SCORES
from hopfield.observables import thermodynamics

INFINITY = 8.0
"""Place of T = ∞ on the logarithmic axis."""
RIGHT: dict[str, Any] = {
    "linestyle": "none",
    "marker": "o",
    "markerfacecolor": "none",
    "markeredgecolor": "0.35",
    "markersize": 7,
    "markeredgewidth": 0.9,
    "zorder": 3,
}
CLAIM: dict[str, Any] = {"color": "#D55E00", "linestyle": "--", "linewidth": 1.3, "zorder": 1}
WRONG: dict[str, Any] = {
    "linestyle": "none",
    "marker": "x",
    "color": "black",
    "markersize": 6.5,
    "markeredgewidth": 1.4,
    "zorder": 4,
}


def plot(table: Table, summary: dict) -> Figure:
    """Pictures of the examples with the printed numbers, two in a row. Crosses mark wrong numbers."""
    kinds = (
        ("attention", _attention),
        ("temperature", _weights),
        ("jacobian", _jacobian),
        ("temperature", _entropy),
        ("capacity", _plot_retained_load),
        ("capacity", _exponential),
    )
    examples = {name: table[table["example"] == name] for name, _ in kinds}
    drawn = [partial(kind, rows=examples[name]) for name, kind in kinds if len(examples[name])]
    columns = min(2, len(drawn))
    figure, axes = panels(-(-len(drawn) // columns), columns, width=4.6 * columns, height=3.9)
    fill(axes.ravel(), drawn)
    return figure


def _cells(ax: Axes, rows: Table, quantity: str, left: float, limit: float) -> list[float]:
    """Matrix as shaded cells, each with its computed number above the printed one. Returns the columns' places."""
    shades = colormaps["PuOr_r"]
    rows = rows[rows["quantity"] == quantity]
    for i, (_, line) in enumerate(rows.groupby("row", sort=False)):
        for column, cell in line.groupby("column"):
            x, value = left + column - 1, cell["value"].iloc[0]
            fill = shades(0.5 + 0.35 * value / limit)
            ax.add_patch(Rectangle((x - 0.5, i - 0.5), 1, 1, facecolor=fill, edgecolor="white", linewidth=2))
            ax.text(x, i - 0.12, f"{value:.4f}", ha="center", va="center", fontsize=11)
            texts = dict.fromkeys(map(_printed_text, cell.itertuples()))
            ax.text(x, i + 0.22, "printed\n" + ", ".join(texts), ha="center", va="center", fontsize=8, color="0.15")
    return [left + column - 1 for column in sorted(rows["column"].unique())]


def _printed_text(number: Any) -> str:
    return f"{number.printed:.{number.decimals}f}{'' if number.right else ' (wrong)'}"


def _matrix(ax: Axes, width: float, rows: list[str]) -> None:
    ax.set(xlim=(-0.55, width - 0.45), ylim=(len(rows) - 0.45, -0.55), yticks=range(len(rows)), yticklabels=rows)
    ax.grid(False)
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)


def _attention(ax: Axes, rows: Table) -> None:
    """Weights of the keys and output of each query."""
    keys = _cells(ax, rows, "A", 0, 1.5)
    outputs = _cells(ax, rows, "O", len(keys) + 0.35, 1.5)
    _matrix(ax, outputs[-1] + 1, ["query 1", "query 2"])
    labels = [f"$A$, key {i + 1}" for i in range(len(keys))] + [f"$O_{i + 1}$" for i in range(len(outputs))]
    ax.set_xticks(keys + outputs, labels)
    ax.set_title("attention of 2 queries on 3 keys", loc="left")


def _jacobian(ax: Axes, rows: Table) -> None:
    """Softmax of two scores, and its Jacobian."""
    inputs = _cells(ax, rows, "J", 0, 0.5)
    weights = rows[rows["quantity"] == "a"]  # printed as a row, shown as the column that it is
    column = weights.assign(row=[f"row {i}" for i in weights["column"]], column=1)
    places = inputs + _cells(ax, column, "a", len(inputs) + 0.35, 1.5)
    _matrix(ax, places[-1] + 1, ["$i = 1$", "$i = 2$"])
    ax.set_xticks(places, [*(rf"$\partial a_i / \partial s_{i + 1}$" for i in range(len(inputs))), "$a_i$"])
    ax.set_title("softmax of the scores [1, 2] and its Jacobian", loc="left")


def _place(rows: Table, document: str) -> np.ndarray:
    """Temperatures on the axis, the documents a little apart where both print a number."""
    aside = {"guide": 0.94, "notes": 1.06}.get(document, 1.0)
    return np.array([min(float(row.removeprefix("T=")), INFINITY) for row in rows["row"]]) * aside


def _against_temperature(ax: Axes, rows: Table, label: str | None, **look: Any) -> None:
    """Computed values as filled markers, printed ones as open circles where right and crosses where wrong."""
    once, look["linestyle"] = rows.drop_duplicates("row"), "none"
    ax.plot(_place(once, ""), once["value"], label=label, **look)
    for document, of in rows.groupby("document", sort=False):
        for look, numbers in ((RIGHT, of[of["right"]]), (WRONG, of[~of["right"]])):
            ax.plot(_place(numbers, document), numbers["printed"], **look)


def _legend(ax: Axes, rows: Table) -> None:
    ax.plot([], [], label="printed, right", **RIGHT)
    ax.plot([], [], label="printed, wrong", **WRONG)
    pairs = "pairs: guide left, notes right" if rows["document"].nunique() > 1 else None
    legend(ax, title=pairs, title_fontsize=8)


def _temperature_axis(ax: Axes) -> None:
    ticks = [0.25, 0.5, 1, 2]
    ax.set(xscale="log", xlabel="temperature $T$", xlim=(0.2, INFINITY * 1.25))
    ax.set_xticks([*ticks, INFINITY], [*(f"{tick:g}" for tick in ticks), r"$\infty$"])
    ax.xaxis.set_minor_locator(NullLocator())


def _curves() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Temperatures, weights [T, M] and entropies [T] between the printed ones."""
    grid = np.geomspace(0.2, 0.7 * INFINITY, 120)
    weights = thermodynamics.gibbs(jnp.broadcast_to(jnp.asarray(SCORES), (len(grid), len(SCORES))), 1 / grid)
    return grid, np.asarray(weights), np.asarray(thermodynamics.entropy(weights))


def _weights(ax: Axes, rows: Table) -> None:
    """Weights of the three scores against temperature."""
    grid, weights, _ = _curves()
    names = [f"score {score:g}" for score in SCORES]
    for column, (name, look) in enumerate(series(names).items(), start=1):
        ax.plot(grid, weights[:, column - 1], color=look["color"], linestyle=look["linestyle"])
        chosen = rows[(rows["quantity"] == "p") & (rows["column"] == column)]
        _against_temperature(ax, chosen, name, **look)
    _temperature_axis(ax)
    ax.set(ylabel="weight $p$", ylim=(-0.03, 1.05))
    ax.set_title("weights of the scores [2, 1, 0]", loc="left")
    _legend(ax, rows)


def _entropy(ax: Axes, rows: Table) -> None:
    """Entropy of the weights against temperature, with its limit ln M."""
    grid, _, entropy = _curves()
    look = series(["computed"])["computed"]
    ax.plot(grid, entropy, color=look["color"])
    _against_temperature(ax, rows[rows["quantity"] == "H"], "computed", **look)
    limit: dict[str, Any] = {**THEORY, "label": r"$\ln 3$"}
    ax.axhline(np.log(len(SCORES)), **limit)
    _temperature_axis(ax)
    ax.set(ylabel="entropy $H$ (nats)", ylim=(-0.03, 1.2))
    ax.set_title("entropy of the weights of [2, 1, 0]", loc="left")
    _legend(ax, rows)


def _rows_with_size(rows: Table, quantity: str) -> Table:
    """Rows of a quantity with their series and their size, taken from the name of the row."""
    chosen = rows[rows["quantity"] == quantity].drop_duplicates("row")
    parts = chosen["row"].str.rpartition("=")
    return chosen.assign(series=parts[0], size=parts[2].astype(float))


def _plot_retained_load(ax: Axes, rows: Table) -> None:
    """Load at which half of the patterns are retained against N^(-2/3), beside the claim of 0.14."""
    found = _rows_with_size(rows, "M/N")
    place = found["size"] ** (-2 / 3)
    limit = found[place == 0].iloc[0]
    sizes = found[place > 0]
    ends = [0, place.max()]
    line = straight_line(place[place > 0], sizes["value"], sizes["stderr"])
    ax.plot(ends, line.at(ends), color="0.75", linewidth=0.9, zorder=0)
    look: dict[str, Any] = series(["measured"])["measured"] | {"linestyle": "none"}
    label = f"half retained; extrapolated {limit['value']:.4f} ± {limit['stderr']:.4f}"
    ax.errorbar(place, found["value"], found["stderr"], label=label, **look)
    ax.axhline(limit["printed"], label=f"printed: {limit['printed']:g} $N$", **CLAIM)
    theory: dict[str, Any] = {**THEORY, "label": rf"RS theory, $N\to\infty$: {limit['theory']:.4f}"}
    ax.axhline(limit["theory"], **theory)
    ax.set_xticks(place, ["$\\infty$" if np.isinf(size) else f"{size:g}" for size in found["size"]])
    ax.set(xlabel="neurons $N$, on an axis of $N^{-2/3}$", ylabel="load $M/N$", ylim=(0.13, None))
    ax.set_title("claim of $0.14\\,N$: classical network", loc="left")
    legend(ax)


def _exponential(ax: Axes, rows: Table) -> None:
    """Logarithm of the number of patterns of which half are kept against d, beside the claim of e^(d/2)."""
    found, exponents = _rows_with_size(rows, "ln M/d"), rows[rows["quantity"] == "d ln M/dd"].drop_duplicates("row")
    slopes = exponents.set_index("row")
    names = {name: name.removesuffix(" d") for name in found["series"].unique()}
    looks = series(list(names))
    for name, line in found.groupby("series", sort=False):
        label, look = names[name], looks[name]
        if label in slopes.index:
            slope = slopes.loc[label]
            middle = (line["size"] * line["value"]).mean() - slope["theory"] * line["size"].mean()
            theory: dict[str, Any] = {**THEORY, "color": look["color"]}
            ax.plot(line["size"], middle + slope["theory"] * line["size"], **theory)
            label += f": {slope['value']:.3f} ± {slope['stderr']:.3f}, $\\alpha_1={slope['theory']:.3f}$"
        ax.errorbar(
            line["size"], line["size"] * line["value"], line["size"] * line["stderr"],
            label=label, **{**look, "linestyle": "none"},
        )  # fmt: skip
    sizes = np.array([0.0, found["size"].max() + 1])
    ax.plot(sizes, found["printed"].iloc[0] * sizes, label="printed: $e^{d/2}$", **CLAIM)
    limit: dict[str, Any] = {**THEORY, "label": r"slope $\alpha_1(\lambda)$, $d\to\infty$"}
    ax.plot([], [], **limit)
    ax.set(xlabel="dimension $d$", ylabel=r"$\ln M_{50}$", xlim=(found["size"].min() - 2, sizes[1]), ylim=(0, 17))
    ax.set_title("claim of $e^{d/2}$: slope of $\\ln M_{50}$ in $d$", loc="left")
    legend(ax)
