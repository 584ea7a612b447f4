"""Results of a landscape: shares of kinds with errors over draws, their energies and stabilities, distinct minima."""

from typing import cast

import numpy as np
import pandas

from experiments.contract import Table
from experiments.figures import labels
from experiments.figures.panel import SHARE, Axis, Panel, curves
from experiments.figures.style import series
from experiments.landscape.config import CONTINUOUS, KINDS
from experiments.statistics.clusters import clustered_mean
from experiments.statistics.columns import headline

CURVE = ["memory", "neurons", "temperature", "patterns"]


def summarise(table: Table) -> dict:
    """`kinds`: share, energy and stability of every kind of end; `minima`: distinct ends per draw by kind."""
    kinds, minima = [], []
    for key, rows in table.groupby(CURVE, sort=False):
        curve = dict(zip(CURVE, cast(tuple, key), strict=True))
        for number, name in enumerate(KINDS):
            alike = rows["kind"] == number
            mean = clustered_mean(alike.astype(float), rows["sample"])
            entry = curve | {"kind": name, "share": mean.mean, "stderr": mean.stderr}
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
    return {"kinds": kinds, "minima": minima, "scalars": _scalars(kinds, minima)}


def _scalars(kinds: list[dict], minima: list[dict]) -> dict[str, float]:
    scalars = {}
    for entry in kinds:
        name = (
            f"{entry['kind']}/{entry['memory']}/N={entry['neurons']}/M={entry['patterns']}/T={entry['temperature']:g}"
        )
        if entry["share"] > 0 and np.isfinite(entry["stderr"]):
            scalars |= headline(name, entry["share"], entry["stderr"])
    for entry in minima:
        if entry["memory"] in CONTINUOUS:
            about = f"{entry['memory']}/N={entry['neurons']}/M={entry['patterns']}/T={entry['temperature']:g}"
            scalars |= {f"emergent/{about}": entry["emergent"], f"certified/{about}": entry["certified"]}
    return scalars


AGAINST_PATTERNS = ["memory", "neurons", "temperature"]
MOST = 8
"""Panels at most: of shares, those where several kinds of ends are frequent. The summary has all."""


def panels(table: Table, summary: dict) -> list[Panel]:
    """Shares for every memory, size and temperature, energies on spins, emergent minima of continuous memories."""
    kinds: Table = pandas.DataFrame(summary["kinds"]).rename(columns={"stderr": "share_stderr"})
    minima: Table = pandas.DataFrame(summary["minima"])
    groups = list(kinds.groupby(AGAINST_PATTERNS, sort=False))
    on_spins = [rows for key, rows in groups if key[0] not in CONTINUOUS]
    others = minima[minima["memory"].isin(CONTINUOUS)]
    last = [*map(_energies, on_spins[:1]), *([_minima(others)] if len(others) else [])]
    largest = lambda group: group[1].groupby("patterns")["share"].max().mean()
    told = sorted(groups, key=largest)[: MOST - len(last)]
    return [*(_shares(rows, key) for key, rows in groups if any(key == kept for kept, _ in told)), *last]


def _name(memory: str, neurons: int, temperature: float) -> str:
    return f"{labels.memory(memory)}, $N={neurons}$, $T={temperature:g}$"


def _patterns() -> Axis:
    return Axis("patterns $M$", "log")


def _shares(rows: Table, key: tuple) -> Panel:
    title = _name(*key)
    found = curves(rows, "patterns", "share", by="kind", looks=series(list(KINDS)))
    return Panel(title, _patterns(), Axis("share of starts", limits=SHARE), found)


def _energies(rows: Table) -> Panel:
    known = rows[rows["energy"].notna()].drop(columns="energy_stderr", errors="ignore")
    found = curves(known, "patterns", "energy", by="kind", looks=series(list(KINDS)))
    return Panel(f"{labels.memory(rows['memory'].iloc[0])}: energies", _patterns(), Axis("energy per neuron"), found)


def _minima(rows: Table) -> Panel:
    names = [_name(*key) for key in rows[AGAINST_PATTERNS].itertuples(index=False)]
    found = curves(rows.assign(name=names), "patterns", "emergent", by="name")
    return Panel("emergent minima, certified", _patterns(), Axis("minima found that are no pattern"), found)
