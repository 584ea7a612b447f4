"""Results of random features: errors by size, and the exponent with which they fall."""

from typing import Any, cast

import numpy as np
import pandas

from experiments.contract import Row, Summary, Table
from experiments.figures import panel
from experiments.figures.panel import SHARE, Axis, Panel, Series, theory_line
from experiments.figures.style import THEORY, series
from experiments.statistics.clusters import curves, jackknife
from experiments.statistics.estimates import tidy
from experiments.statistics.lines import straight_line

CURVE = ["map", "neurons", "patterns", "beta"]
QUANTITIES = {"sum": "squared_error", "log_energy": "squared_log_error", "retrieval": "squared_distance"}
SMALL = 0.25
"""Largest predicted error of the sizes that an exponent is taken from: beyond, logarithms are not linear in it."""


def summarise(table: Table) -> Summary:
    """Root mean squares at every size Y, their slopes against Y on logarithmic axes, and the mean slopes."""
    sizes, exponents = [], []
    for curve, rows in curves(table, CURVE):
        for features, part in rows.groupby("features"):
            entry = curve | {"features": int(cast(int, features)), "clusters": part["sample"].nunique()}
            entry |= {name: float(part[name].mean()) for name in SHARES}
            sizes.append(entry | {name: _root(part[column]) for name, column in QUANTITIES.items()})
        exponents += [{"of": name} | curve | _exponent(rows, column) for name, column in QUANTITIES.items()]
    estimates = tidy(pandas.DataFrame(sizes), [*CURVE, "features"], {name: name for name in (*QUANTITIES, *SHARES)})
    each = [{name: value for name, value in entry.items() if name != "without"} for entry in exponents]
    means = _means(exponents)
    return Summary([*estimates, *({"quantity": "exponent of a curve", **entry} for entry in each), *means])


SHARES = ("failed", "lost", "predicted")


def _root(squares: Table) -> float | None:
    """Root of the mean over draws. None if a draw is missing."""
    return None if squares.isna().any() else float(np.sqrt(squares.mean()))


def _exponent(rows: Table, column: str) -> dict:
    """Slope of ln RMS against ln Y over sizes where all is small, its error by leaving out one draw at a time.

    `without`: the slopes without each draw, whose patterns other curves share.
    """
    small = rows.groupby("features")["predicted"].mean() <= SMALL
    known = rows.groupby("features")[column].apply(lambda values: values.notna().all())
    wide = rows[rows["features"].isin(small.index[small & known])]
    squares = wide.pivot_table(index="sample", columns="features", values=column)
    squares = squares.loc[:, (squares > 0).sum() > 1]  # one pattern is read without any error
    if min(squares.shape) < 2:
        return {"value": None}
    values, size = squares.to_numpy(), np.log(squares.columns.to_numpy(float))

    def slope(kept: np.ndarray) -> float:
        return straight_line(size, 0.5 * np.log(values[kept].mean(axis=0))).slope

    samples = squares.index.to_numpy()
    without = {sample: slope(samples != sample) for sample in samples}
    found = {"value": slope(samples == samples), "stderr": jackknife([*without.values()])}
    return found | {"samples": len(samples), "without": without}


def _means(exponents: list[dict]) -> list[Row]:
    """Weighted means over the curves, their errors by leaving out one draw of all curves at a time."""
    means = []
    for quantity in QUANTITIES:
        found = [entry for entry in exponents if entry["of"] == quantity and entry["value"] is not None]
        if found:
            weights = np.array([max(entry["stderr"], 1e-3) ** -2 for entry in found])
            every = sorted(set().union(*(entry["without"] for entry in found)))
            slopes = [[entry["without"].get(sample, entry["value"]) for entry in found] for sample in every]
            mean = float(np.average([entry["value"] for entry in found], weights=weights))
            error = jackknife(np.average(slopes, axis=1, weights=weights).tolist())
            entry = {"value": mean, "stderr": error, "samples": len(every), "headline": True}
            means.append({"quantity": "exponent", "of": quantity, **entry})
    return means


SCALE = ["neurons", "patterns", "beta"]
MARKERS = "osv^DPX*"
SIZE = "size of the memory $Y$"


def panels(table: Table, summary: Summary) -> list[Panel]:
    """Log-energy and retrieval against Y with lines of slope −½, measured against predicted, share that fails.

    All panels at the first N, M and β, one of them at all.
    """
    names = [*CURVE, "features"]
    sizes = summary.of("predicted")[names]
    for name in (*QUANTITIES, *SHARES):
        values = summary.of(name)[[*names, "value"]].rename(columns={"value": name})
        sizes = sizes.merge(values, on=names, how="left")
    first = sizes[(sizes[SCALE] == sizes[SCALE].iloc[0]).all(axis=1)]
    where = _scale(first)
    failed = [Series(rows["features"], rows["failed"], label=kind, **look) for kind, rows, look in _curves(first)]
    return [
        _against_size(first, "log_energy", r"RMS error of $\beta E$", f"energy, {where}"),
        _against_size(first, "retrieval", "RMS distance of the ends", f"retrieval, {where}"),
        Panel(
            f"queries that fail loudly, {where}",
            Axis(SIZE, "log"),
            Axis("queries without an energy", limits=SHARE),
            failed,
        ),
        _predicted(sizes),
    ]


def _scale(rows: Table) -> str:
    return "$N={:g}$, $M={:g}$, $\\beta={:g}$".format(*rows[SCALE].iloc[0])


def _curves(sizes: Table) -> list[tuple[str, Table, Any]]:
    """Map, rows and look of every curve. The map sets the colour; N, M and β set the marker."""
    colours = series(list(dict.fromkeys(sizes["map"])))
    markers = dict(zip(sizes.groupby(SCALE, sort=False).groups, MARKERS * len(sizes), strict=False))
    found = []
    for key, rows in sizes.groupby(["map", *SCALE], sort=False):
        kind, *scale = cast(tuple, key)
        found.append((kind, rows, colours[kind] | {"marker": markers[tuple(scale)]}))
    return found


def _against_size(sizes: Table, name: str, label: str, title: str) -> Panel:
    found = []
    for kind, rows, look in _curves(sizes):
        known = rows[rows[name].notna()]
        found.append(Series(known["features"], known[name], label=kind, **look | {"linestyle": ""}))
        if len(known):
            last, y = known.iloc[-1], known["features"].to_numpy(float)
            line = float(last[name]) * np.sqrt(last["features"] / y)
            found.append(theory_line(y, line, color=look["color"]))
    slope = panel.entry(r"$\propto Y^{-1/2}$ through the last point", **THEORY)
    return Panel(title, Axis(SIZE, "log"), Axis(label, "log"), [*found, slope])


def _predicted(sizes: Table) -> Panel:
    """Measured against predicted errors of all N, M and β, told apart by marker."""
    drawn, found, marks = _curves(sizes), [], {}
    for kind, rows, look in drawn:
        label = kind if kind not in [part.label for part in found] else ""
        found.append(Series(rows["predicted"], rows["sum"], label=label, **look | {"linestyle": ""}))
        marks[look["marker"]] = _scale(rows)
    found += [panel.entry(text, color="0.4", marker=mark) for mark, text in marks.items()] if len(marks) > 1 else []
    ends = np.array([sizes["predicted"].min(), 2.0])
    x = Axis("error that the memory foretells", "log", (ends[0] / 1.5, 3))
    y = Axis("RMS relative error of the sum", "log", (ends[0] / 1.5, 30))
    return Panel("foretold error", x, y, [*found, theory_line(ends, ends, "as foretold")])
