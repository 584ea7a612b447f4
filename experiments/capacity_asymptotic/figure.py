"""Figure of the asymptotic capacity experiment: thresholds against 1/N, and the curves behind them."""

import pandas

from experiments.contract import Table
from experiments.figures.panel import Axis, Panel, Series, curves, entry, level
from experiments.figures.style import ordered, series
from experiments.shared import corruptions
from experiments.shared.corruptions import CLEAN

NAMES = {"weight": "weight above ½", "spin": "a quarter of spins wrong"}
EXACT = {"color": "0.4", "linestyle": "-", "linewidth": 0.9}
LIMIT = {"color": "black", "marker": "_", "markersize": 12}
LOAD = r"load $\ln M / N$"


def panels(table: Table, summary: dict) -> list[Panel]:
    """Thresholds against 1/N beside their limits, and the shares of queries and spins lost from the first start."""
    first = table["corruption"].iloc[0]
    rows = _sum_samples(table[table["corruption"] == first])
    looks = ordered([str(size) for size in rows["neurons"].unique()])
    small = {size: look | {"markersize": 3} for size, look in looks.items()}
    shown = [_thresholds(pandas.DataFrame(summary["thresholds"]))]
    for name, title, label, half in (
        ("light", "weight", "queries without half of the weight", 0.5),
        ("spins", "one-step error", "wrong spins after one step", 0.25),
    ):
        found = curves(rows, "load", name, by="neurons", label="$N={}$", looks=small)
        title = f"{title}, {corruptions.label(first)}"
        shown.append(Panel(title, Axis(LOAD), Axis(label), [*found, level(half, "level of the threshold")]))
    return shown


def _thresholds(found: Table) -> Panel:
    found = found.assign(start=found["corruption"], place=1 / found["neurons"])
    keys = list(dict.fromkeys(zip(found["criterion"], found["start"], strict=True)))
    shown = []
    for key, look in zip(keys, series([str(key) for key in keys]).values(), strict=True):
        rows = found[(found["criterion"] == key[0]) & (found["start"] == key[1])]
        label = NAMES[key[0]] + ("" if key[1] == CLEAN else f", {corruptions.label(key[1])}")
        for method, face, size in (("sampled", look["color"], 4.5), ("enumerated", "none", 8)):
            part = rows[(rows["method"] == method) & rows["load"].notna()]
            mark = {"color": look["color"], "marker": look["marker"], "markerfacecolor": face, "markersize": size}
            shown.append(Series(part["place"], part["load"], part["stderr"], label=label, **mark))
            label = ""
        exact = rows[(rows["method"] == "sampled") & rows["theory"].notna()].sort_values("neurons")
        shown.append(Series(exact["place"], exact["theory"], **EXACT | {"color": look["color"]}))
        shown.append(Series([0], [rows["limit"].iloc[0]], **LIMIT))
    shown.append(entry("patterns enumerated", marker="o", color="0.4", markerfacecolor="none", markersize=8))
    shown += [entry("theory at $N$, exact", **EXACT)] if found["theory"].notna().any() else []
    shown.append(entry(r"theory, $N \to \infty$", **LIMIT))
    x = Axis(r"$1/N$", limits=(0, None))
    return Panel("thresholds against 1/N", x, Axis(r"threshold $\ln M / N$"), shown)


def _sum_samples(rows: Table) -> Table:
    """Shares of the sampled queries of each size and load, in the order of both."""
    rows = rows[rows["method"] == "sampled"].assign(wrong=rows["error"] * rows["queries"])
    sums = rows.groupby(["neurons", "load"])[["queries", "heavy", "wrong"]].sum().reset_index()
    return sums.assign(light=1 - sums["heavy"] / sums["queries"], spins=sums["wrong"] / sums["queries"])
