"""Figure of the capacity of fast-weight memories: a panel for each rule, all sizes on one axis."""

import pandas

from experiments.contract import Table
from experiments.figures.panel import SHARE, Axis, Panel, entry, guide, shares
from experiments.figures.style import THEORY, series

LOAD = r"load $n\,\ln n\,/\,D^2$"
BARS = "bars: 68 % intervals"


def panels(table: Table, summary: dict) -> list[Panel]:
    """Share of keys found against n ln n / D², typical keys and all keys, theory as lines."""
    found, whole = pandas.DataFrame(summary["shares"]), pandas.DataFrame(summary["all_keys"])
    looks = series([str(size) for size in sorted(found["neurons"].unique())])
    shown = []
    for rule in dict.fromkeys(table["rule"]):
        rows = found[found["rule"] == rule]
        measured = shares(rows, "load", by="neurons", theory="theory", label="$D={}$", looks=looks)
        typical = [*measured, entry("theory", **THEORY), guide(0.5)]
        shown.append(
            Panel(f"{rule}: keys found", Axis(LOAD), Axis("share of keys found", limits=SHARE), typical, legend=BARS)
        )
    return [*shown, *([_all_keys(found, whole)] if len(whole) else [])]


def _all_keys(found: Table, whole: Table) -> Panel:
    """Draws in which every key is found, at the size at which all keys are asked for most often."""
    size = whole["neurons"].value_counts().idxmax()
    loads = found.set_index(["rule", "neurons", "patterns"])["load"]
    rows = whole[whole["neurons"] == size]
    rows = rows.assign(load=[loads[key] for key in rows[["rule", "neurons", "patterns"]].itertuples(index=False)])
    share = Axis("share of draws", limits=SHARE)
    return Panel(
        f"all keys of a draw found, $D={size}$", Axis(LOAD), share, shares(rows, "load", by="rule"), legend=BARS
    )
