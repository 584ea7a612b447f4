"""Summary of continuous memories at a temperature: means with errors over draws, beside exact ones of one pattern."""

from experiments.contract import Table
from experiments.statistics.clusters import means_by_group
from experiments.statistics.columns import headline
from experiments.statistics.deviations import errors_apart, share_within_two
from experiments.thermal.config import ENOUGH, MIXED

KEYS = ["kernel", "neurons", "patterns", "load", "temperature"]
KNOWN = ["one_pattern", "critical", "stable"]
BELOW = 0.7
"""Share of the load of theory below which a typical draw of some ten components has no other pattern that matters."""


def summarise(table: Table) -> dict:
    """States with errors over draws, and beside them the exact mean overlap with one pattern (`one_pattern`).

    `mixed` is the share of draws whose chains are: R̂ < 1.01 and 400 independent samples. Where it is 1, and the load
    well below that of theory, the overlaps are held against theory, which lets no other pattern matter there.
    """
    table = table.assign(mixed=((table["rhat"] < MIXED) & (table["effective"] >= ENOUGH)).astype(float))
    states: Table = means_by_group(table, [*KEYS, *KNOWN[:2]], "overlap", "sample").rename(
        columns={"mean": "overlap", "stderr": "overlap_stderr"}
    )
    for name in ("energy", "rhat", "effective", "mixed", "accepted"):
        states[name] = means_by_group(table, [*KEYS, *KNOWN[:2]], name, "sample")["mean"]
    scalars = {"mixed": float(table["mixed"].mean()), "largest_rhat": float(table["rhat"].max())}
    for kernel, rows in states.groupby("kernel", sort=False):
        alone = rows[(rows["load"] < BELOW * rows["critical"]) & (rows["mixed"] == 1)]
        columns = alone[["overlap", "overlap_stderr", "one_pattern", "clusters"]].itertuples(index=False)
        if len(alone):
            scalars[f"within_two_errors/{kernel}"] = share_within_two(errors_apart(*entry) for entry in columns)
            scalars[f"largest_deviation/{kernel}"] = float((alone["overlap"] - alone["one_pattern"]).abs().max())
        cold = rows[rows["temperature"] == rows["temperature"].min()]
        for row in cold[cold["load"] == cold["load"].max()].to_dict("records"):
            name = f"overlap/{kernel}/N={row['neurons']}/alpha={row['load']:.3f}/T={row['temperature']:g}"
            scalars |= headline(name, row["overlap"], row["overlap_stderr"])
    return {"states": states.drop(columns="clusters").to_dict("records"), "scalars": scalars}
