"""Summary of learning from examples: overlaps beside theory, and how many examples half of the patterns need."""

import numpy as np

from experiments.contract import Table
from experiments.statistics.clusters import curves, means_by_group
from experiments.statistics.columns import headline
from experiments.statistics.crossings import half_crossing
from experiments.statistics.deviations import errors_apart, share_within_two
from hopfield.theory import examples as theory

CURVE = ["rule", "neurons", "patterns", "load", "quality"]
CLEAN = 0.95
"""Share retained from which the mean overlap is that of the retrieval state alone."""


def summarise(table: Table) -> dict:
    """`states`: overlap and share retained with errors over draws, theory beside; `needed`: examples for half of them.

    The theory of `needed` is the least number with a retrieval state for N → ∞; dynamics that start in the pattern end
    near it up to somewhat larger loads, as they do in the classical network, and so need fewer.
    """
    states: Table = means_by_group(table, [*CURVE, "examples"], "overlap", "sample").rename(
        columns={"mean": "overlap", "stderr": "overlap_stderr"}
    )
    kept = means_by_group(table, [*CURVE, "examples"], "retained", "sample")
    states["retained"], states["retained_stderr"] = kept["mean"], kept["stderr"]
    states["theory"] = [
        float(theory.overlap(row["load"], row["quality"], row["examples"], supervised=row["rule"] == "supervised"))
        for row in states.to_dict("records")
    ]
    needed, scalars = [], {}
    for curve, rows in curves(table, CURVE):
        half = half_crossing(np.log(rows["examples"]), rows["retained"], rows["sample"])
        least = theory.examples_needed(curve["load"], curve["quality"], supervised=curve["rule"] == "supervised")
        number = float(np.exp(half.value))
        error = number * half.stderr
        needed.append(curve | {"examples": number, "stderr": error, "theory": least if np.isfinite(least) else np.nan})
        name = f"needed/{curve['rule']}/N={curve['neurons']}/alpha={curve['load']:.3f}/r={curve['quality']:g}"
        if np.isfinite(number):
            scalars |= headline(name, number, error, limit=float(least))
    for rule, rows in states.groupby("rule", sort=False):
        clean = rows[(rows["retained"] >= CLEAN) & rows["theory"].notna()]
        columns = clean[["overlap", "overlap_stderr", "theory", "clusters"]].itertuples(index=False)
        if len(clean):
            scalars[f"within_two_errors/{rule}"] = share_within_two(errors_apart(*entry) for entry in columns)
            scalars[f"largest_deviation/{rule}"] = float((clean["overlap"] - clean["theory"]).abs().max())
    return {"states": states.drop(columns="clusters").to_dict("records"), "needed": needed, "scalars": scalars}
