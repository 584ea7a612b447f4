"""Summary of the capacity of fast-weight memories: means beside theory, and the load at which half of the keys fail."""

from typing import Any

import numpy as np

from experiments.contract import Table
from experiments.statistics.clusters import by_group
from experiments.statistics.columns import headline
from experiments.statistics.crossings import half_crossing
from experiments.statistics.deviations import errors_apart, share_within_two

KEYS = ["rule", "neurons", "patterns"]


def summarise(table: Table) -> dict:
    """Shares of keys found with errors over draws, how many lie within two of theory, and the half-way loads."""
    counts = table.assign(right=(table["found"] * table["asked"]).round(), draws=1)
    shares: Table = by_group(counts, KEYS, "right", "asked", "sample")
    about = table.groupby(KEYS, sort=False)[["load", "theory"]].first().reset_index()
    shares = shares.merge(about, on=KEYS)
    every = counts[counts["asked"] == counts["patterns"]]
    whole: Table = by_group(every, KEYS, "all", "draws", "sample")
    shares["apart"] = [
        errors_apart(row["mean"], row["stderr"], row["theory"], 1 / (row["high"] - row["low"]) - 1)
        for row in shares.to_dict("records")
    ]
    halves, scalars = [], {}
    for (rule, neurons), rows in table.groupby(["rule", "neurons"], sort=False):
        crossing = half_crossing(rows["load"], 1 - rows["found"], rows["sample"])
        entry: dict[str, Any] = {"rule": rule, "neurons": neurons, "load": crossing.value, "stderr": crossing.stderr}
        mean = rows.groupby("load")[["theory"]].mean().reset_index()
        theory = half_crossing(mean["load"], 1 - mean["theory"], np.zeros(len(mean)))
        halves.append(entry | {"theory": theory.value})
        scalars |= headline(f"half/{rule}/D={neurons}", crossing.value, crossing.stderr, theory=theory.value)
    for rule, rows in shares.groupby("rule", sort=False):
        scalars[f"within_two_errors/{rule}"] = share_within_two(rows["apart"])
        scalars[f"largest_deviation/{rule}"] = float(np.abs(rows["mean"] - rows["theory"]).max())
    bars = ["mean", "stderr", "low", "high"]
    return {
        "shares": shares[[*KEYS, "load", *bars, "theory"]].to_dict("records"),
        "all_keys": whole[[*KEYS, *bars]].to_dict("records"),
        "half": halves,
        "scalars": scalars,
    }
