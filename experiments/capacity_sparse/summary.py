"""Summary of the capacity of sparse patterns: critical loads beside theory, errors of one step, bits per synapse."""

from typing import Any, cast

import numpy as np

from experiments.bounds import name_and_number
from experiments.capacity_sparse import rules
from experiments.contract import Table
from experiments.statistics.clusters import means_by_group
from experiments.statistics.columns import headline
from experiments.statistics.extrapolation import extrapolate
from experiments.statistics.thresholds import critical_load
from hopfield.theory import sparse

CURVE = ["rule", "activity", "neurons"]


def summarise(table: Table) -> dict:
    """`loads`: every measured one; `critical`: where half of the patterns are retained; `limits`: for N → ∞."""
    loads, critical = [], []
    for key, rows in table.groupby(CURVE, sort=False):
        curve = dict(zip(CURVE, cast(tuple, key), strict=True))
        loads += _loads(curve, rows)
        limit = rules.find(curve["rule"]).critical_load(curve["activity"])
        if limit is not None:
            threshold = critical_load(rows["load"], rows["retained"], rows["asked"], rows["sample"])
            entry = {"load": threshold.value, "stderr": threshold.stderr, "reason": threshold.reason, "theory": limit}
            critical.append(curve | entry)
    limits = _limits(critical)
    return {"loads": loads, "critical": critical, "limits": limits, "scalars": _scalars(loads, critical, limits)}


def _loads(curve: dict, rows: Table) -> list[dict]:
    """Means over draws at every number of patterns, and the bits per synapse that the final shares amount to."""
    rows = rows.assign(share=rows["retained"] / rows["asked"])
    names = ["share", "wrong_one", "on", "off", "density"]
    counts = sorted(int(x) for x in rows["patterns"].unique())
    means: dict[str, Table] = {
        name: means_by_group(rows, ["patterns"], name, "sample").set_index("patterns").reindex(counts)
        for name in names
        if rows[name].notna().any()
    }
    found = []
    for i, num_patterns in enumerate(counts):
        entry: dict[str, Any] = {"patterns": num_patterns, "load": num_patterns / curve["neurons"]}
        for name in means:
            entry |= {name: float(means[name]["mean"].iloc[i]), f"{name}_stderr": float(means[name]["stderr"].iloc[i])}
        inside = np.clip([entry.get("on", np.nan), entry.get("off", np.nan)], 0, 1)
        if np.isfinite(inside).all():
            bits = sparse.information(curve["activity"], *inside)
            entry["bits"] = float(entry["load"] * bits)
        entry["wrong_theory"] = rules.wrong_share(curve["rule"], curve["neurons"], curve["activity"], num_patterns)
        entry["bits_theory"] = rules.find(curve["rule"]).bits(curve["neurons"], num_patterns)
        found.append(curve | entry)
    return found


def _limits(critical: list[dict]) -> list[dict]:
    """Critical loads extrapolated in N^(−2/3), as far as three sizes or more were measured."""
    found = []
    for rule, activity in dict.fromkeys((entry["rule"], entry["activity"]) for entry in critical):
        rows = [e for e in critical if (e["rule"], e["activity"]) == (rule, activity) and np.isfinite(e["load"])]
        if len(rows) >= 3:
            columns = ([entry[name] for entry in rows] for name in ("neurons", "load", "stderr"))
            (fit,) = extrapolate(*columns, exponents=(2 / 3,), free=False)
            kept = {name: fit[name] for name in ("load", "stderr", "chi2", "dof")}
            found.append({"rule": rule, "activity": activity, "theory": rows[0]["theory"]} | kept)
    return found


def _scalars(loads: list[dict], critical: list[dict], limits: list[dict]) -> dict[str, float]:
    scalars = {}
    for entry in critical:
        if np.isfinite(entry["load"]):
            name = f"critical_load/{entry['rule']}/a={entry['activity']:g}/N={entry['neurons']}"
            scalars |= headline(name, entry["load"], entry["stderr"], theory=entry["theory"])
    for entry in limits:
        name = f"critical_load/{entry['rule']}/a={entry['activity']:g}/limit"
        scalars |= headline(name, entry["load"], entry["stderr"], theory=entry["theory"])
    for rule in dict.fromkeys(entry["rule"] for entry in loads):
        known = [e for e in loads if e["rule"] == rule and e["wrong_theory"] is not None and e["wrong_one_stderr"] > 0]
        if known and rule != "hebb":  # of which theory is that of an infinite network
            apart = [abs(e["wrong_one"] - e["wrong_theory"]) / e["wrong_one_stderr"] for e in known]
            scalars[f"errors_within_two_standard_errors/{rule}"] = float(np.mean(np.array(apart) <= 2))
        bits = [entry["bits"] for entry in loads if entry["rule"] == rule and "bits" in entry]
        if bits and name_and_number(rule)[0] != "hebb":
            scalars[f"most_bits_per_synapse/{rule}"] = max(bits)
    return scalars
