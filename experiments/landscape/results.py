"""Results of a landscape: shares of kinds with errors over draws, their energies and stabilities, distinct minima."""

from typing import cast

import numpy as np
import pandas

from experiments.contract import Summary, Table
from experiments.figures import labels
from experiments.figures.panel import SHARE, Axis, Panel, curves
from experiments.figures.style import series
from experiments.landscape.config import CONTINUOUS, KINDS
from experiments.statistics.clusters import clustered_mean
from experiments.statistics.estimates import tidy

CURVE = ["memory", "neurons", "temperature", "patterns"]


def summarise(table: Table) -> Summary:
    """Share, energy and stability of every kind of end, and the distinct minima of a draw by kind."""
    kinds, minima = [], []
    for key, rows in table.groupby(CURVE, sort=False):
        curve = dict(zip(CURVE, cast(tuple, key), strict=True))
        for number, name in enumerate(KINDS):
            alike = rows["kind"] == number
            mean = clustered_mean(alike.astype(float), rows["sample"])
            entry = curve | {"end": name, "share": mean.mean, "share_stderr": mean.stderr}
            for column in ("energy", "stability"):
                values = rows.loc[alike, column]
                entry[column] = float(values.mean()) if alike.any() else None
            kinds.append(entry)
        settled = rows[rows["settled"] == 1]
        # The energy, flat at a minimum, is known better than the state.
        same = {"mark": settled["mark"].round(3)}
        if curve["memory"] in CONTINUOUS:
            same["energy"] = settled["energy"].round(6)
        distinct = settled.assign(**same).drop_duplicates(["sample", *same])
        draws = rows["sample"].nunique()
        counts = {name: float((distinct["kind"] == i).sum() / draws) for i, name in enumerate(KINDS)}
        emergent = float((distinct["kind"] > KINDS.index("reversed")).sum() / draws)
        minima.append(curve | counts | {"emergent": emergent, "certified": float(rows["settled"].mean())})
    estimates = tidy(pandas.DataFrame(kinds), ["end", *CURVE], QUANTITIES)
    for row in estimates:
        row["headline"] = row["quantity"] == SHARE_OF and row["value"] > 0 and bool(np.isfinite(row["stderr"]))
    for row in tidy(pandas.DataFrame(minima), CURVE, MINIMA):
        told = row["memory"] in CONTINUOUS and row["quantity"] in (MINIMA["emergent"], MINIMA["certified"])
        estimates.append(row | {"headline": told})
    return Summary(estimates)


SHARE_OF = "share of starts"
QUANTITIES = {"share": SHARE_OF, "energy": "energy", "stability": "stability"}
MINIMA = {name: f"minima a draw, {name}" for name in KINDS} | {"emergent": "emergent", "certified": "certified"}


AGAINST_PATTERNS = ["memory", "neurons", "temperature"]
MOST = 8
"""Panels at most: of shares, those where several kinds of ends are frequent. The summary has all."""


def panels(table: Table, summary: Summary) -> list[Panel]:
    """Shares for every memory, size and temperature, energies on spins, emergent minima of continuous memories."""
    groups = list(summary.of(SHARE_OF).groupby(AGAINST_PATTERNS, sort=False))
    energies, minima = summary.of("energy"), summary.of(MINIMA["emergent"])
    on_spins = [key for key, _ in groups if key[0] not in CONTINUOUS]
    others = minima[minima["memory"].isin(CONTINUOUS)]
    first = [energies[(energies[AGAINST_PATTERNS] == list(key)).all(axis=1)] for key in on_spins[:1]]
    last = [*map(_energies, first), *([_minima(others)] if len(others) else [])]
    largest = lambda group: group[1].groupby("patterns")["value"].max().mean()
    told = sorted(groups, key=largest)[: MOST - len(last)]
    return [*(_shares(rows, key) for key, rows in groups if any(key == kept for kept, _ in told)), *last]


def _name(memory: str, neurons: int, temperature: float) -> str:
    return f"{labels.memory(memory)}, $N={neurons}$, $T={temperature:g}$"


def _patterns() -> Axis:
    return Axis("patterns $M$", "log")


def _shares(rows: Table, key: tuple) -> Panel:
    title = _name(*key)
    found = curves(rows, "patterns", "value", by="end", looks=series(list(KINDS)))
    return Panel(title, _patterns(), Axis("share of starts", limits=SHARE), found)


def _energies(rows: Table) -> Panel:
    found = curves(rows[rows["value"].notna()], "patterns", "value", by="end", looks=series(list(KINDS)))
    return Panel(f"{labels.memory(rows['memory'].iloc[0])}: energies", _patterns(), Axis("energy per neuron"), found)


def _minima(rows: Table) -> Panel:
    names = [_name(*key) for key in rows[AGAINST_PATTERNS].itertuples(index=False)]
    greys = [str(round(shade, 2)) for shade in np.linspace(0.0, 0.6, len(set(names)))]  # colours are kinds of ends
    looks = {name: look | {"color": grey} for grey, (name, look) in zip(greys, series(names).items(), strict=True)}
    found = curves(rows.assign(name=names), "patterns", "value", by="name", label="{}", looks=looks)
    return Panel("emergent minima, certified", _patterns(), Axis("minima found that are no pattern"), found)
