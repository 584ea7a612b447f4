"""Summary of the detection of novel queries: areas under the ROC curve and weights left over, beside theory."""

import numpy as np

from experiments.contract import Table
from experiments.statistics.clusters import means_by_group
from experiments.statistics.deviations import errors_apart, share_within_two
from hopfield.theory import novelty

KEYS = ["neurons", "patterns", "kappa", "overlap"]


def summarise(table: Table) -> dict:
    """Means with errors over pairs of memories, and how many areas lie within two errors of theory.

    `theory` of the areas is exact, `theory_known` and `theory_novel` of the weights left over are annealed.
    """
    areas: Table = means_by_group(table, KEYS, "auc", "sample")[[*KEYS, "mean", "stderr", "clusters"]]
    areas = areas.rename(columns={"mean": "auc"})
    for name in ("left_known", "left_novel"):
        areas[name] = means_by_group(table, KEYS, name, "sample")["mean"]
    places = [[row[name] for name in KEYS] for row in areas.to_dict("records")]
    areas["theory"] = [float(novelty.auc(*place)) for place in places]
    areas["theory_known"] = [novelty.leftover(*place) for place in places]
    areas["theory_novel"] = [novelty.leftover(*place[:3]) for place in places]
    known = areas[["auc", "stderr", "theory", "clusters"]].itertuples(index=False)
    scalars = {
        "within_two_errors": share_within_two(errors_apart(*area) for area in known),
        "largest_deviation": float(np.abs(areas["auc"] - areas["theory"]).max()),
    }
    return {"areas": areas.drop(columns="clusters").to_dict("records"), "scalars": scalars}
