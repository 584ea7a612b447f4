"""Summary of attractors: their number, basins and energies, beside shuffled copies."""

import numpy as np
import pandas

from experiments.contract import Table
from experiments.statistics.clusters import standard_error, wilson
from experiments.statistics.columns import headline

OF_A_NETWORK = ("attractors", "effective", "largest_basin", "unsettled", "energy", "exist")
"""Numbers of one network; `effective` is e^H of the basins."""
NEAR = 0.8
"""|overlap| from which an end counts as a state that was given."""


def summarise(table: Table) -> dict:
    """Attractors of the network given (`states`), its numbers beside the mean of the copies (`networks`), `escapes`."""
    cold = table[table["temperature"] == 0]
    own = cold[(cold["null"] == 0) & (cold["settled"] == 1)]
    columns = ["energy", "nearest", "overlap", "axis_1", "axis_2"]
    found = own.groupby("end", sort=False)[columns].first()
    found.insert(0, "basin", own.groupby("end", sort=False).size() / cold["start"].nunique())
    found = found.sort_values("basin", ascending=False, kind="stable").reset_index()
    networks = pandas.DataFrame([{"null": null} | _numbers(rows) for null, rows in cold.groupby("null")])
    copies = networks[networks["null"] > 0]
    beside = [
        {
            "name": name,
            "given": networks[name].iloc[0],
            "null": copies[name].mean(),
            "null_stderr": _error(copies[name]),
        }
        for name in OF_A_NETWORK
    ]
    scalars = {entry["name"]: entry["given"] for entry in beside if not np.isnan(entry["given"])}
    for entry in beside:
        if not np.isnan(entry["null"]):
            scalars |= headline(f"{entry['name']}/shuffled", entry["null"], entry["null_stderr"])
    for number, rows in cold[cold["null"] == 0].groupby("nearest"):
        if number >= 0:
            scalars[f"largest_overlap/state={number}"] = float(rows["overlap"].abs().max())
            scalars[f"basin/state={number}"] = float((rows["overlap"].abs() > NEAR).sum() / cold["start"].nunique())
    return {
        "states": found.to_dict("records"),
        "networks": beside,
        "escapes": _escapes(table[table["temperature"] > 0]).to_dict("records"),
        "scalars": scalars,
    }


def _numbers(rows: Table) -> dict[str, float]:
    settled = rows[rows["settled"] == 1]
    basins = settled.groupby("end").size().to_numpy() / max(len(settled), 1)
    return {
        "attractors": float(len(basins)),
        "effective": float(np.exp(-np.sum(basins * np.log(basins)))),
        "largest_basin": float(basins.max(initial=0.0)),
        "unsettled": float(1 - rows["settled"].mean()),
        "energy": float(rows["energy"].mean()),
        "exist": float(rows["exist"].iloc[0]),
    }


def _error(values: Table) -> float:
    return standard_error(values) if values.notna().all() else float("nan")


def _escapes(warm: Table) -> Table:
    """Share of runs that end in another attractor: of the network given by its starts, of the null by its copies."""
    rows = []
    for temperature, part in warm.groupby("temperature"):
        own, copies = part[part["null"] == 0]["left"], part[part["null"] > 0].groupby("null")["left"].mean()
        low, high = (float(end) for end in wilson(own.sum(), len(own)))
        rows.append(
            {"temperature": temperature, "network": "given", "left": own.mean(), "left_low": low, "left_high": high}
        )
        mean, error = copies.mean(), standard_error(copies)
        rows.append(
            {
                "temperature": temperature,
                "network": "shuffled",
                "left": mean,
                "left_low": max(mean - error, 0.0),
                "left_high": min(mean + error, 1.0),
            }
        )
    return pandas.DataFrame(rows)
