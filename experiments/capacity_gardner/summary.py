"""Summary of learning up to Gardner's bound: shares and stabilities beside theory, and the load that is half held."""

import numpy as np

from experiments.capacity_gardner.config import LEARNED
from experiments.contract import Table
from experiments.statistics.clusters import means_by_group
from experiments.statistics.columns import headline
from experiments.statistics.crossings import half_crossing
from hopfield.theory import gardner

KEYS = ["rule", "neurons", "bias", "patterns", "load"]


def summarise(table: Table) -> dict:
    """Means with errors over draws; beside them Cover's share of spins and the largest κ of Gardner.

    `held_theory` is exact for unbiased patterns and the best rule; `stability_theory` is for N → ∞, zero beyond the
    bound, where no κ > 0 exists.
    """
    first = table[table["flipped"] == table["flipped"].min()]
    learned = {name: means_by_group(first, KEYS, name, "sample") for name in ("held", "stability", "fixed")}
    means: Table = learned["held"][KEYS]
    for name, found in learned.items():
        means = means.assign(**{name: found["mean"], f"{name}_stderr": found["stderr"]})
    ours = means["rule"].str.partition(":")[0].isin(LEARNED)
    plain = ours & (means["bias"] == 0) & ~means["rule"].str.contains(":")
    means["held_theory"] = np.where(plain, gardner.cover(means["neurons"], means["patterns"]), np.nan)
    best = gardner.largest_stability(means["load"], means["bias"])
    means["stability_theory"] = np.where(means["rule"] == "adatron", best, np.nan)
    kept: Table = means_by_group(table, [*KEYS, "flipped"], "retained", "sample").rename(
        columns={"mean": "retained", "stderr": "retained_stderr"}
    )
    shown = [*KEYS, "flipped", "retained", "retained_stderr"]
    return {
        "learned": means.to_dict("records"),
        "retained": kept[shown].to_dict("records"),
        "scalars": _scalars(first, means),
    }


def _scalars(first: Table, means: Table) -> dict[str, float]:
    """Load at which half of the spins are held, of unbiased patterns; its theory is Cover's, 2 (N − 1)/N."""
    scalars: dict[str, float] = {}
    learned = first["rule"].str.startswith(LEARNED) & (first["bias"] == 0)
    for (rule, neurons), rows in first[learned].groupby(["rule", "neurons"], sort=False):
        half = half_crossing(rows["load"], 1 - rows["held"], rows["sample"])
        exact = 2 * (neurons - 1) / neurons if rule in LEARNED else float("nan")
        scalars |= headline(f"half_held/{rule}/N={neurons}", half.value, half.stderr, theory=exact)
    rows = means[(means["rule"] == "adatron") & (means["bias"] == 0) & (means["stability_theory"] > 0)]
    if len(rows):
        rows = rows[rows["neurons"] == rows["neurons"].max()]
        apart = (rows["stability"] - rows["stability_theory"]).abs().max()
        scalars["largest_deviation_of_stability/adatron"] = float(apart)
    return scalars
