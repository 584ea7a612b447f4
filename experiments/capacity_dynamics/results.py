"""Results of the capacity by dynamics: critical loads by order, size and start, and energies beside theory."""

from typing import cast

import numpy as np
import pandas

from experiments.contract import Table
from experiments.figures.panel import SHARE, Axis, Panel, curves, guide, level, shares, theory_line, upright
from experiments.figures.style import series
from experiments.statistics.clusters import by_group, means_by_group
from experiments.statistics.columns import headline
from experiments.statistics.extrapolation import extrapolate
from experiments.statistics.thresholds import critical_load
from hopfield.theory import classical, one_step

CURVE = ["order", "start", "neurons"]
LIMIT = float(classical.spinodal().load)


def summarise(table: Table) -> dict:
    """Loads at which half are retained with their limits in N^(−2/3), and energies where the retained end.

    `energy_theory` is replica symmetric at T = 0, null beyond its spinodal, 0.1379.
    """
    critical, scalars = [], {}
    for key, rows in table.groupby(CURVE, sort=False):
        curve = dict(zip(CURVE, cast(tuple, key), strict=True))
        cluster = rows["patterns"].astype(str) + "/" + rows["sample"].astype(str)
        found = critical_load(rows["load"], rows["retained"], rows["queries"], cluster)
        if found.found:
            fit = {"load": found.value, "stderr": found.stderr, "width": found.width}
            critical.append(curve | fit | {"chi2": found.chi2, "dof": found.dof, "method": found.method})
            name = "critical_load/{order}/m={start:g}/N={neurons}".format(**curve)
            scalars |= headline(name, found.value, found.stderr, limit=LIMIT)
    kept = table[table["retained"] > 0]
    energies: Table = means_by_group(kept, [*CURVE, "patterns", "load"], "energy_retained", "sample", "retained")
    energies = energies.rename(columns={"mean": "energy", "stderr": "energy_stderr"})
    energies["energy_theory"] = classical.replica(energies["load"].to_numpy(float)).free_energy
    known = energies[energies["energy_theory"].notna() & (energies["neurons"] == energies["neurons"].max())]
    for row in known[known["load"] == known["load"].max()].to_dict("records"):
        name = "energy/{order}/m={start:g}/N={neurons}/load={load:.4g}".format(**row)
        scalars |= headline(name, row["energy"], row["energy_stderr"], theory=row["energy_theory"])
    shown = [*CURVE, "patterns", "load", "energy", "energy_stderr", "energy_theory"]
    limits = _limits(critical)
    return {
        "critical_load": critical,
        "limits": limits,
        "energies": energies[shown].replace({np.nan: None}).to_dict("records"),
        "scalars": scalars,
    }


def _limits(critical: list[dict]) -> list[dict]:
    """Limits of every order and start with exponents 1/2 and 2/3, where three sizes or more were measured."""
    found = []
    for key in dict.fromkeys((entry["order"], entry["start"]) for entry in critical):
        rows = [entry for entry in critical if (entry["order"], entry["start"]) == key]
        if len(rows) >= 3:
            columns = ([entry[name] for entry in rows] for name in ("neurons", "load", "stderr"))
            fits = extrapolate(*columns, exponents=(1 / 2, 2 / 3), free=False)
            found += [dict(zip(CURVE, key, strict=False)) | fit for fit in fits]
    return found


def panels(table: Table, summary: dict) -> list[Panel]:
    """Shares retained, critical loads against size and start, and energies of the retained less theory's."""
    critical: Table = pandas.DataFrame(summary["critical_load"], columns=[*CURVE, "load", "stderr"])
    looks, starts = series(list(dict.fromkeys(table["order"]))), table["start"].unique()
    first = table[table["start"] == starts.max()]
    shown = [_retained(first[first["neurons"] == first["neurons"].max()], looks)]
    sizes = critical[critical["start"] == starts.max()].assign(place=lambda rows: rows["neurons"] ** (-2 / 3))
    rows = sizes.rename(columns={"stderr": "load_stderr"})
    limit = [
        level(LIMIT, "replica symmetric", linestyle=":"),
        level(one_step.spinodal().load, "1RSB"),
    ]
    if rows["neurons"].nunique() > 1:
        found = curves(rows, "place", "load", by="order", looks=looks)
        x = Axis(r"$N^{-2/3}$", limits=(0, None))
        shown.append(Panel("half retained, by size", x, Axis(r"critical load $\alpha_{50}$"), [*found, *limit]))
    if critical["start"].nunique() > 1:
        largest = critical[critical["neurons"] == critical["neurons"].max()].rename(columns={"stderr": "load_stderr"})
        found = curves(largest, "start", "load", by="order", looks=looks)
        title = f"half retained, by start, $N={largest['neurons'].max()}$"
        shown.append(Panel(title, Axis("overlap of the start"), Axis(r"$\alpha_{50}$"), found))
    return [*shown, _energies(pandas.DataFrame(summary["energies"]), starts.max(), looks)]


def _retained(rows: Table, looks: dict) -> Panel:
    cluster = rows["patterns"].astype(str) + "/" + rows["sample"].astype(str)
    counted = by_group(rows.assign(cluster=cluster), ["order", "load"], "retained", "queries", "cluster")
    found = [*shares(counted, "load", by="order", looks=looks), guide(0.5)]
    found.append(upright(LIMIT, "replica symmetric, $N\\to\\infty$", linestyle=":"))
    title = f"from the pattern, $N={rows['neurons'].iloc[0]}$"
    return Panel(title, Axis(r"load $\alpha = M/N$"), Axis("share retained ($m > 0.8$)", limits=SHARE), found)


def _energies(energies: Table, start: float, looks: dict) -> Panel:
    """Energy per spin where the retained end, above −½, that of a single pattern."""
    rows = energies[(energies["start"] == start) & (energies["neurons"] == energies["neurons"].max())]
    rows = rows.assign(above=rows["energy"] + 0.5, above_stderr=rows["energy_stderr"].astype(float))
    found = curves(rows, "load", "above", by="order", looks=looks)
    grid = np.linspace(rows["load"].min(), LIMIT, 80)
    found.append(theory_line(grid, classical.replica(grid).free_energy + 0.5, "replica symmetric, $T=0$"))
    y = Axis(r"$E/N + \frac{1}{2}$ of the retained")
    return Panel(f"energies, $N={rows['neurons'].iloc[0]}$", Axis(r"load $\alpha = M/N$"), y, found)
