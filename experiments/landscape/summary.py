"""Summary of a landscape: shares of kinds with errors over draws, their energies and stabilities, distinct minima."""

from typing import cast

import numpy as np

from experiments.contract import Table
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
