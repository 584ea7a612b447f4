"""Summary of a table of ways to compute attention: growth with length, crossovers with dense attention, errors."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from experiments.contract import Table
from experiments.statistics.columns import headline
from experiments.statistics.crossings import straight_crossing
from experiments.statistics.lines import straight_line


def summarise(table: Table) -> dict:
    """Length at which each method overtakes dense attention, the growth of its cost with length, and its error."""
    growth, overtaking, scalars = [], [], {}
    for (direction, method), rows in table.groupby(["pass", "method"], sort=False):
        rows = rows.sort_values("length")
        entry: dict[str, Any] = {"pass": direction, "method": method, "longest": int(rows["length"].iloc[-1])}
        upper = rows[rows["length"] >= rows["length"].max() / 8]
        for name in ("seconds", "megabytes"):
            usable = upper[upper[name] > 0]
            fit = len(usable) > 1
            logs = np.log(usable["length"]), np.log(usable[name])
            entry[f"{name}_exponent"] = straight_line(*logs).slope if fit else float("nan")
        entry |= {"seconds": float(rows["seconds"].iloc[-1]), "megabytes": float(rows["megabytes"].iloc[-1])}
        known = rows[rows["error"].notna()]
        if len(known):
            entry |= {"error": float(known["error"].iloc[-1]), "error_stderr": float(known["error_stderr"].iloc[-1])}
            scalars |= headline(f"error/{method}", entry["error"], entry["error_stderr"])
        growth.append(entry)
        dense = table[(table["pass"] == direction) & (table["method"] == "dense")]
        if method != "dense" and len(dense):
            crossing = crossover(dense["length"], dense["seconds"], rows["length"], rows["seconds"])
            overtaking.append({"pass": direction, "method": method, "length": crossing})
            scalars[f"crossover/{direction}/{method}"] = crossing
    return {"growth": growth, "crossover": overtaking, "scalars": scalars}


def crossover(
    dense_length: Iterable[int], dense_seconds: Iterable[float], length: Iterable[int], seconds: Iterable[float]
) -> float:
    """Length from which a method stays faster than dense attention. NaN where it never does at the lengths of both.

    Interpolated where the ratio of times passes 1, linearly in the logarithms.
    """
    both = sorted(set(map(int, dense_length)) & set(map(int, length)))
    theirs = dict(zip(map(int, dense_length), dense_seconds, strict=True))
    ours = dict(zip(map(int, length), seconds, strict=True))
    logs = np.array([np.log(ours[n] / theirs[n]) for n in both])
    if not both or logs[-1] >= 0:
        return float("nan")
    if logs.max() < 0:
        return float(both[0])
    return float(np.exp(straight_crossing(np.log(both), logs, last=True)))
