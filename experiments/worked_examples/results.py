"""Results of the worked examples: how many printed numbers are right, corrections of the others, claims of capacity."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from experiments.contract import Row, Summary, Table
from experiments.figures.panel import Axis, Heat, Panel, Series, entry, level, theory_line
from experiments.figures.style import THEORY, series
from experiments.statistics.lines import straight_line
from experiments.worked_examples.printed import CAPACITY, SCORES
from hopfield.observables import thermodynamics


def summarise(table: Table) -> Summary:
    """Count of printed numbers that are right, the examples line by line with what is wrong first, the claims."""
    table = table.fillna({"row": ""})
    capacity = table[table["example"] == CAPACITY].drop_duplicates(["quantity", "row"])
    table = table[table["example"] != CAPACITY]
    wrong = table[~table["right"]]
    counted = {"numbers": len(table), "numbers right": int(table["right"].sum()), "numbers wrong": len(wrong)}
    estimates: list[Row] = [{"quantity": name, "value": count} for name, count in counted.items()]
    estimates += _claims(capacity)
    lines: list[Row] = []
    for (example, document, row, quantity), line in table.groupby(
        ["example", "document", "row", "quantity"], sort=False
    ):
        about = {"quantity": f"{example} ({document}) {' '.join(filter(None, (quantity, row)))}"}
        values = " ".join(f"{value:.4f}" for value in line["value"])
        printed = " ".join(f"{p:.{d}f}" for p, d in zip(line["printed"], line["decimals"], strict=True))
        lines.append(about | {"said": f"{values}  printed {printed}  {'right' if line['right'].all() else 'wrong'}"})
    estimates += sorted(lines, key=lambda line: line["said"].endswith("right"))  # what is wrong is read first
    return Summary([row | {"headline": row.get("headline", True)} for row in estimates])


def _claims(capacity: Table) -> list[Row]:
    """Numbers measured for the claims, with their errors and theory; both claims are headlines, in words."""
    words = {
        "M/N": "claim 0.14 N patterns, half are retained at M/N",
        "d ln M/dd": "claim e^(d/2) patterns, exponent",
    }
    numbers = ["row", "value", "stderr", "theory"]
    return [
        {name: row[name] for name in numbers}
        | {"quantity": words.get(quantity, quantity), "headline": quantity in words}
        for quantity, row in zip(capacity["quantity"], capacity.to_dict("records"), strict=True)
    ]


INFINITY = 8.0
"""Place of T = ∞ on the logarithmic axis."""
RIGHT: dict[str, Any] = {"color": "0.35", "marker": "o", "markerfacecolor": "none", "markersize": 7, "zorder": 3}
WRONG: dict[str, Any] = {"color": "black", "marker": "x", "markersize": 6.5, "zorder": 4}
CLAIM: dict[str, Any] = {"color": "0.0", "linestyle": "-.", "linewidth": 1.3, "zorder": 1}
GAP = 0.35
"""Room between two matrices, in cells."""


def panels(table: Table, summary: Summary) -> list[Panel]:
    """Pictures of the examples with the printed numbers. Crosses mark wrong numbers."""
    kinds = (
        ("attention", _attention),
        ("temperature", _weights),
        ("jacobian", _jacobian),
        ("temperature", _entropy),
        ("capacity", _retained_load),
        ("capacity", _exponential),
    )
    examples = {name: table[table["example"] == name] for name, _ in kinds}
    return [kind(examples[name]) for name, kind in kinds if len(examples[name])]


def _matrices(parts: list[tuple[Table, float]], rows: list[str], columns: list[str], title: str) -> Panel:
    """Two matrices side by side as cells, each with its computed number above the printed one.

    Args:
        parts: rows of the table of each, and the value of its darkest cell.
        rows, columns: names of them.
        title: of the panel.
    """
    values, texts, widths = [], [], []
    for part, limit in parts:
        lines = [line.groupby("column") for _, line in part.groupby("row", sort=False)]
        values.append([[cell["value"].iloc[0] / limit for _, cell in line] for line in lines])
        texts.append([[_cell(cell) for _, cell in line] for line in lines])
        widths.append(len(values[-1][0]))
    gap = [[np.nan]] * len(rows)
    edges = np.cumsum([-0.5, *[1] * widths[0], GAP, *[1] * widths[1]])
    middles = np.delete((edges[:-1] + edges[1:]) / 2, widths[0])
    ticks = list(zip(middles.tolist(), columns, strict=True))
    heat = Heat(
        np.hstack([values[0], gap, values[1]]),
        edges,
        np.arange(len(rows) + 1) - 0.5,
        limits=(-1.4, 1.4),
        colours="PuOr_r",
        texts=[[*first, "", *second] for first, second in zip(*texts, strict=True)],
    )
    y = Axis("", limits=(len(rows) - 0.5, -0.5), ticks=list(enumerate(rows)))
    return Panel(title, Axis("", ticks=ticks), y, heat=heat)


def _cell(numbers: Table) -> str:
    """The computed number, and below it the printed ones."""
    printed = "\n".join(dict.fromkeys(map(_printed_text, numbers.itertuples())))
    return f"{numbers['value'].iloc[0]:.4f}\nprinted\n{printed}"


def _printed_text(number: Any) -> str:
    return f"{number.printed:.{number.decimals}f}{'' if number.right else ' (wrong)'}"


def _attention(rows: Table) -> Panel:
    """Weights of the keys and output of each query."""
    weights, outputs = (rows[rows["quantity"] == name] for name in ("A", "O"))
    names = [f"key {number}" for number in sorted(weights["column"].unique())]
    names += [f"$O_{number}$" for number in sorted(outputs["column"].unique())]
    title = "attention of 2 queries on 3 keys"
    return _matrices([(weights, 1.5), (outputs, 1.5)], ["query 1", "query 2"], names, title)


def _jacobian(rows: Table) -> Panel:
    """Softmax of two scores, and its Jacobian."""
    slopes, weights = (rows[rows["quantity"] == name] for name in ("J", "a"))
    column = weights.assign(row=[f"row {i}" for i in weights["column"]], column=1)  # printed as a row
    names = [rf"$\partial a_i / \partial s_{number}$" for number in sorted(slopes["column"].unique())] + ["$a_i$"]
    title = "softmax of the scores [1, 2] and its Jacobian"
    return _matrices([(slopes, 0.5), (column, 1.5)], ["$i = 1$", "$i = 2$"], names, title)


def _place(rows: Table, document: str) -> np.ndarray:
    """Temperatures on the axis, the documents a little apart where both print a number."""
    aside = {"guide": 0.94, "notes": 1.06}.get(document, 1.0)
    return np.array([min(float(row.removeprefix("T=")), INFINITY) for row in rows["row"]]) * aside


def _against_temperature(rows: Table, label: str, **look: Any) -> list[Series]:
    """Computed values as filled markers, printed ones as open circles where right and crosses where wrong."""
    once = rows.drop_duplicates("row")
    look |= {"linestyle": "", "label": label}
    found = [Series(_place(once, ""), once["value"], **look)]
    for document, of in rows.groupby("document", sort=False):
        marked: Any = ((RIGHT, of[of["right"]]), (WRONG, of[~of["right"]]))
        for mark, numbers in marked:
            found.append(Series(_place(numbers, str(document)), numbers["printed"], **mark))
    return found


def _temperatures(rows: Table, title: str, y: Axis, found: list[Series]) -> Panel:
    """Panel against temperature, with entries for printed numbers."""
    ticks = [*((tick, f"{tick:g}") for tick in (0.25, 0.5, 1, 2)), (INFINITY, r"$\infty$")]
    marks = [entry("printed number that is right", **RIGHT), entry("printed number that is wrong", **WRONG)]
    pairs = "pairs: guide left, notes right" if rows["document"].nunique() > 1 else ""
    x = Axis("temperature $T$", "log", (0.2, INFINITY * 1.25), ticks)
    return Panel(title, x, y, [*found, *marks], legend=pairs)


def _curves() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Temperatures, weights [T, M] and entropies [T] between the printed ones."""
    grid = np.geomspace(0.2, 0.7 * INFINITY, 120)
    weights = thermodynamics.boltzmann_weights(
        jnp.broadcast_to(jnp.asarray(SCORES), (len(grid), len(SCORES))), 1 / grid
    )
    return grid, np.asarray(weights), np.asarray(thermodynamics.entropy(weights))


def _weights(rows: Table) -> Panel:
    """Weights of the three scores against temperature."""
    (grid, weights, _), found = _curves(), []
    for column, (name, look) in enumerate(series([f"score {score:g}" for score in SCORES]).items(), start=1):
        found.append(Series(grid, weights[:, column - 1], color=look["color"], linestyle=look["linestyle"]))
        chosen = rows[(rows["quantity"] == "p") & (rows["column"] == column)]
        found += _against_temperature(chosen, name, **look)
    return _temperatures(rows, "weights of the scores [2, 1, 0]", Axis("weight $p$", limits=(-0.03, 1.05)), found)


def _entropy(rows: Table) -> Panel:
    """Entropy of the weights against temperature, with its limit ln M."""
    grid, _, entropy = _curves()
    look = series(["computed"])["computed"]
    computed = _against_temperature(rows[rows["quantity"] == "H"], "computed", **look)
    found = [
        Series(grid, entropy, color=look["color"], linestyle="-"),
        *computed,
        level(np.log(len(SCORES)), r"$\ln 3$"),
    ]
    y = Axis("entropy $H$ (nats)", limits=(-0.03, 1.2))
    return _temperatures(rows, "entropy of the weights of [2, 1, 0]", y, found)


def _rows_with_size(rows: Table, quantity: str) -> Table:
    """Rows of a quantity with their series and their size, taken from the name of the row."""
    chosen = rows[rows["quantity"] == quantity].drop_duplicates("row")
    parts = chosen["row"].str.rpartition("=")
    return chosen.assign(series=parts[0], size=parts[2].astype(float))


def _retained_load(rows: Table) -> Panel:
    """Load at which half of the patterns are retained against N^(-2/3), beside the claim of 0.14."""
    found = _rows_with_size(rows, "M/N")
    place = found["size"] ** (-2 / 3)
    limit, sizes, ends = found[place == 0].iloc[0], found[place > 0], [0, place.max()]
    line = straight_line(place[place > 0], sizes["value"], sizes["stderr"])
    label = f"half retained; extrapolated {limit['value']:.4f} ± {limit['stderr']:.4f}"
    look = series(["measured"])["measured"] | {"linestyle": "", "label": label}
    drawn = [
        Series(ends, line.at(ends), color="0.75", linestyle="-", linewidth=0.9, zorder=0),
        Series(place, found["value"], found["stderr"], **look),
        level(limit["printed"], f"printed: {limit['printed']:g} $N$", **CLAIM),
        level(limit["theory"], rf"RS theory, $N\to\infty$: {limit['theory']:.4f}"),
    ]
    names = [r"$\infty$" if np.isinf(size) else f"{size:g}" for size in found["size"]]
    x = Axis("neurons $N$, on an axis of $N^{-2/3}$", ticks=list(zip(place, names, strict=True)))
    y = Axis("load $M/N$", limits=(0.13, None))
    return Panel("claim of $0.14\\,N$: classical network", x, y, drawn)


def _exponential(rows: Table) -> Panel:
    """Logarithm of the number of patterns at which half are kept against d, beside the claim of e^(d/2)."""
    found, exponents = _rows_with_size(rows, "ln M/d"), rows[rows["quantity"] == "d ln M/dd"].drop_duplicates("row")
    slopes, drawn = exponents.set_index("row"), []
    looks = series(list(found["series"].unique()))
    for name, line in found.groupby("series", sort=False):
        label, look, size = str(name).removesuffix(" d"), looks[str(name)], line["size"]
        if label in slopes.index:
            slope = slopes.loc[label]
            middle = (size * line["value"]).mean() - slope["theory"] * size.mean()
            drawn.append(theory_line(size, middle + slope["theory"] * size, color=look["color"]))
            label += f": {slope['value']:.3f} ± {slope['stderr']:.3f}, $\\alpha_1={slope['theory']:.3f}$"
        drawn.append(Series(size, size * line["value"], size * line["stderr"], label=label, **look | {"linestyle": ""}))
    sizes = np.array([0.0, found["size"].max() + 1])
    drawn.append(Series(sizes, found["printed"].iloc[0] * sizes, label="printed: $e^{d/2}$", **CLAIM))
    drawn.append(entry(r"slope $\alpha_1(\lambda)$, $d\to\infty$", **THEORY))
    x, y = Axis("dimension $d$", limits=(found["size"].min() - 2, sizes[1])), Axis(r"$\ln M_{50}$", limits=(0, 17))
    return Panel("claim of $e^{d/2}$: slope of $\\ln M_{50}$ in $d$", x, y, drawn)
