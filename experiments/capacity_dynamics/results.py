"""Results of the capacity by dynamics: critical loads by order, size and start, shifts of curves, and energies."""

from typing import cast

import numpy as np

from experiments.contract import Row, Summary, Table
from experiments.figures.panel import SHARE, Axis, Panel, Series, curves, guide, level, shares, theory_line, upright
from experiments.figures.style import series
from experiments.statistics.clusters import by_group, means_by_group
from experiments.statistics.estimates import tidy
from experiments.statistics.extrapolation import extrapolate, laws
from experiments.statistics.student import freedom, half_interval
from experiments.statistics.thresholds import critical_load
from hopfield.theory import classical, one_step

CURVE = ["order", "start", "neurons"]
LIMIT = float(classical.spinodal().load)


def summarise(table: Table) -> Summary:
    """Loads at which half are retained, by order the shift of the whole curve, and energies where the retained end.

    Limits of loads are in N^(−1/2) and N^(−2/3); the shifts have the laws of `extrapolation.laws`, and one law ends at
    none. Theory of the energy is replica symmetric at T = 0; beyond its spinodal, 0.1379, there is none.
    """
    critical: list[Row] = []
    for key, rows in table.groupby(CURVE, sort=False):
        curve = dict(zip(CURVE, cast(tuple, key), strict=True))
        cluster = rows["patterns"].astype(str) + "/" + rows["sample"].astype(str)
        found = critical_load(rows["load"], rows["retained"], rows["queries"], cluster)
        if found.found:
            entry = {"value": found.value, "stderr": found.stderr, "limit": LIMIT, "kind": KIND}
            entry |= {"fit_width": found.width, "chi2": found.chi2, "dof": found.dof, "fit": found.method}
            entry |= {"samples": rows["sample"].nunique(), "headline": True}
            critical.append({"quantity": CRITICAL, **curve, **entry})
    kept = table[table["retained"] > 0]
    energies: Table = means_by_group(kept, [*CURVE, "patterns", "load"], "energy_retained", "sample", "retained")
    energies["theory"] = classical.replica(energies["load"].to_numpy(float)).free_energy
    known = energies[energies["theory"].notna() & (energies["neurons"] == energies["neurons"].max())]
    last = known.index[known["load"] == known["load"].max()]
    found = tidy(energies, [*CURVE, "patterns", "load"], {"mean": ENERGY}, kind=KIND)
    found = [row | {"headline": place in last} for place, row in zip(energies.index, found, strict=True)]
    shifts = _shifts(table)
    more = {"limits": _limits(critical), "shifts": _laws(shifts)}
    return Summary([*critical, *shifts, *found], _lines(table, energies), more=more)


CRITICAL, SHIFT, ENERGY, KIND = "critical load", "shift of the curve", "energy of the retained", "replica symmetric"


def _shifts(table: Table) -> list[Row]:
    """How far the curve of every order lies to the right of the first's, ∫(share − share of the first) dα.

    The difference of their mean thresholds, where the loads hold both curves whole. Both are measured on the same
    draws and queries, which most often end alike under both, so that the difference has the smaller error.
    """
    rows: list[Row] = []
    first, *others = dict.fromkeys(table["order"])
    shares = table.assign(share=table["retained"] / table["queries"])
    for key, part in shares.groupby(["start", "neurons"], sort=False):
        wide: Table = part.pivot(index=["load", "sample"], columns="order", values="share")
        for order in (name for name in others if name in wide):
            apart: Table = (wide[order] - wide[first]).groupby("load").agg(["mean", "var", "count"])
            width = np.gradient(apart.index.to_numpy(float)) if len(apart) > 1 else np.full(1, np.nan)
            width[[0, -1]] /= 2  # the trapezoid rule
            variance = width**2 * apart["var"] / apart["count"]
            clusters = np.repeat(variance / apart["count"], apart["count"])
            error = half_interval(float(np.sqrt(variance.sum())), freedom(clusters)) if variance.any() else 0.0
            curve = dict(zip(CURVE, (order, *cast(tuple, key)), strict=True))
            value = float(width @ apart["mean"])
            rows.append({"quantity": SHIFT, **curve, "value": value, "stderr": error, "samples": apart["count"].min()})
    return rows


def _laws(shifts: list[Row]) -> list[dict]:
    """Laws of every order's shift with the size, where four sizes or more were measured."""
    found = []
    for key in dict.fromkeys((row["order"], row["start"]) for row in shifts):
        rows = [row for row in shifts if (row["order"], row["start"]) == key and row["stderr"] > 0]
        sizes, values, errors = ([row[name] for row in rows] for name in ("neurons", "value", "stderr"))
        told = laws(sizes, values, errors, {"none": 0.0}, least=1)
        found += [dict(zip(CURVE, key, strict=False)) | law for law in told]
    return found


def _lines(table: Table, energies: Table) -> list[Row]:
    """Loads where retrieval ends, N → ∞, with and without broken symmetry, and energies up to there."""
    broken = one_step.spinodal()
    ends = {KIND: LIMIT, "1RSB": broken.load}
    found = [{"quantity": CRITICAL, "kind": kind, "x": [], "y": [load]} for kind, load in ends.items()]
    rows = energies[(energies["start"] == table["start"].max()) & (energies["neurons"] == energies["neurons"].max())]
    grid = np.linspace(rows["load"].min(), LIMIT, 80)
    values = classical.replica(grid).free_energy
    found.append({"quantity": ENERGY, "kind": KIND, "x": grid.tolist(), "y": np.asarray(values).tolist()})
    return [*found, {"quantity": ENERGY, "kind": "1RSB", "x": [broken.load], "y": [broken.energy]}]


def _limits(critical: list[dict]) -> list[dict]:
    """Limits of every order and start with exponents 1/2 and 2/3, where three sizes or more were measured."""
    found = []
    for key in dict.fromkeys((entry["order"], entry["start"]) for entry in critical):
        rows = [entry for entry in critical if (entry["order"], entry["start"]) == key]
        if len(rows) >= 3:
            columns = ([entry[name] for entry in rows] for name in ("neurons", "value", "stderr"))
            fits = extrapolate(*columns, exponents=(1 / 2, 2 / 3), free=False)
            found += [dict(zip(CURVE, key, strict=False)) | fit for fit in fits]
    return found


def panels(table: Table, summary: Summary) -> list[Panel]:
    """Shares retained, critical loads against size and start, and energies of the retained less theory's."""
    critical = summary.of(CRITICAL)
    critical = critical.reindex(columns=[*critical, *(name for name in CURVE if name not in critical)])
    looks, starts = series(list(dict.fromkeys(table["order"]))), table["start"].unique()
    first = table[table["start"] == starts.max()]
    ends = summary.line(CRITICAL).set_index("kind")["y"].str[0]
    shown = [_retained(first[first["neurons"] == first["neurons"].max()], looks, ends[KIND])]
    rows = critical[critical["start"] == starts.max()].assign(place=lambda rows: rows["neurons"] ** (-2 / 3))
    limit = [
        level(ends[KIND], KIND, linestyle=":"),
        level(ends["1RSB"], "1RSB"),
    ]
    x = Axis(r"$N^{-2/3}$", limits=(0, None))
    if rows["neurons"].nunique() > 1:
        found = curves(rows, "place", "value", by="order", looks=looks)
        shown.append(Panel("half retained, by size", x, Axis(r"critical load $\alpha_{50}$"), [*found, *limit]))
    shifts = summary.of(SHIFT)
    if shifts["neurons"].nunique() > 1:
        rows = shifts[shifts["start"] == starts.max()].assign(place=lambda rows: rows["neurons"] ** (-2 / 3))
        name = next(iter(looks))
        found = [*curves(rows, "place", "value", by="order", looks=looks), level(0.0)]
        shown.append(Panel(f"shift from {name}", x, Axis(r"shift $\int\Delta p\,d\alpha$"), found))
    if critical["start"].nunique() > 1:
        largest = critical[critical["neurons"] == critical["neurons"].max()]
        found = curves(largest, "start", "value", by="order", looks=looks)
        title = f"half retained, by start, $N={largest['neurons'].max()}$"
        shown.append(Panel(title, Axis("overlap of the start"), Axis(r"$\alpha_{50}$"), found))
    return [*shown, _energies(summary, starts.max(), looks)]


def _retained(rows: Table, looks: dict, limit: float) -> Panel:
    cluster = rows["patterns"].astype(str) + "/" + rows["sample"].astype(str)
    counted = by_group(rows.assign(cluster=cluster), ["order", "load"], "retained", "queries", "cluster")
    found = [*shares(counted, "load", by="order", looks=looks), guide(0.5)]
    found.append(upright(limit, "replica symmetric, $N\\to\\infty$", linestyle=":"))
    start = rows["start"].iloc[0]
    title = f"from {'the pattern' if start == 1 else f'an overlap of {start:g}'}, $N={rows['neurons'].iloc[0]}$"
    return Panel(title, Axis(r"load $\alpha = M/N$"), Axis("share retained ($m > 0.8$)", limits=SHARE), found)


def _energies(summary: Summary, start: float, looks: dict) -> Panel:
    """Energy per spin where the retained end, above −½, a single pattern's."""
    energies, (line, broken) = summary.of(ENERGY), summary.line(ENERGY).to_dict("records")
    rows = energies[(energies["start"] == start) & (energies["neurons"] == energies["neurons"].max())]
    rows = rows.assign(**{name: rows[name] + 0.5 for name in ("value", "low", "high") if name in rows})
    found = curves(rows, "load", "value", by="order", looks=looks)
    found.append(theory_line(line["x"], np.asarray(line["y"]) + 0.5, "replica symmetric, $T=0$"))
    found.append(Series(broken["x"], np.asarray(broken["y"]) + 0.5, label="end of 1RSB", color="black", marker="+"))
    y = Axis(r"$E/N + \frac{1}{2}$ of the retained")
    return Panel(f"energies, $N={rows['neurons'].iloc[0]}$", Axis(r"load $\alpha = M/N$"), y, found)
