"""Figure of a landscape: shares of kinds of ends against patterns, energies of the kinds, minima of continuous ones."""

import pandas

from experiments.contract import Table
from experiments.figures.panel import SHARE, Axis, Panel, curves
from experiments.figures.style import series
from experiments.landscape.config import CONTINUOUS, KINDS

CURVE = ["memory", "neurons", "temperature"]


def panels(table: Table, summary: dict) -> list[Panel]:
    """Shares for every memory, size and temperature, energies on spins, emergent minima of continuous memories."""
    kinds: Table = pandas.DataFrame(summary["kinds"]).rename(columns={"stderr": "share_stderr"})
    minima: Table = pandas.DataFrame(summary["minima"])
    shown = [_shares(rows, key) for key, rows in kinds.groupby(CURVE, sort=False)]
    on_spins = [rows for key, rows in kinds.groupby(CURVE, sort=False) if key[0] not in CONTINUOUS]
    others = minima[minima["memory"].isin(CONTINUOUS)]
    return [*shown, *map(_energies, on_spins[:1]), *([_minima(others)] if len(others) else [])]


def _patterns() -> Axis:
    return Axis("patterns $M$", "log")


def _shares(rows: Table, key: tuple) -> Panel:
    title = "{}, $N={}$, $T={:g}$".format(*key)
    found = curves(rows, "patterns", "share", by="kind", looks=series(list(KINDS)))
    return Panel(title, _patterns(), Axis("share of starts", limits=SHARE), found)


def _energies(rows: Table) -> Panel:
    known = rows[rows["energy"].notna()].drop(columns="energy_stderr", errors="ignore")
    found = curves(known, "patterns", "energy", by="kind", looks=series(list(KINDS)))
    return Panel(f"{rows['memory'].iloc[0]}: energies", _patterns(), Axis("energy per neuron"), found)


def _minima(rows: Table) -> Panel:
    names = ["{}, $N={}$, $T={:g}$".format(*key) for key in rows[CURVE].itertuples(index=False)]
    found = curves(rows.assign(name=names), "patterns", "emergent", by="name")
    return Panel("emergent minima, certified", _patterns(), Axis("minima found that are no pattern"), found)
