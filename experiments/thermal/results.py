"""Continuous memories at a temperature: means beside exact ones of one pattern, maps over load and heat, mixing."""

import numpy as np
import pandas

from experiments.contract import Table
from experiments.figures.panel import Axis, Heat, Panel, Series, curves, level, theory_line
from experiments.figures.style import ordered
from experiments.statistics.clusters import means_by_group
from experiments.statistics.columns import headline
from experiments.statistics.deviations import errors_apart, share_within_two
from hopfield.theory import thermal

MIXED, ENOUGH = 1.01, 400
"""R̂ below which chains count as mixed, and least effective number of samples (Vehtari et al. 2021)."""
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


TEMPERATURE = Axis("temperature $T$", "log")
NAMES = {"lse": "log-sum-exp", "lsr": "log-sum-ReLU"}


def panels(table: Table, summary: dict) -> list[Panel]:
    """For every kernel overlaps against T, and the map over load and T; for all of them whether chains are mixed."""
    states: Table = pandas.DataFrame(summary["states"])
    states = states[states["neurons"] == states["neurons"].max()]
    kinds = list(states.groupby("kernel", sort=False))
    shown = [_overlaps(str(kernel), rows) for kernel, rows in kinds]
    shown += [_map(str(kernel), rows) for kernel, rows in kinds]
    rhat = curves(states.assign(kernel=states["kernel"].map(NAMES)), "load", "rhat", by="kernel")
    for series in rhat:
        series.linestyle = ""
    mixed = level(MIXED, label="1.01: mixed below")
    return [*shown, Panel(r"whether chains agree", _load(), Axis(r"$\hat R$ of the overlap"), [*rhat, mixed])]


def _load() -> Axis:
    return Axis(r"load $\alpha = \ln M / N$")


def _overlaps(kernel: str, rows: Table) -> Panel:
    """Means of all draws, those of mixed chains filled; theory is exact for one pattern."""
    looks = ordered([f"{load}" for load in sorted(rows["load"].unique())])
    found = curves(rows, "temperature", "overlap", by="load", label=r"$\alpha={:.2f}$", looks=looks)
    for (_, part), series in zip(rows.groupby("load", sort=False), found, strict=True):
        series.markerfacecolor = "none" if (part["mixed"] < 1).any() else None
    one = rows.drop_duplicates("temperature").sort_values("temperature")
    found.append(theory_line(one["temperature"], one["one_pattern"], label="one pattern, exact"))
    title = f"{NAMES[kernel]}, $N={rows['neurons'].iloc[0]}$"
    axis = Axis(r"overlap $\langle m\rangle$ with the pattern", limits=(None, 1.03))
    return Panel(title, TEMPERATURE, axis, found, legend="hollow: not all chains mixed")


def _map(kernel: str, rows: Table) -> Panel:
    cells = rows.pivot_table(index="temperature", columns="load", values="overlap")
    loads, heats = (np.asarray(names, float) for names in (cells.columns, cells.index))
    heat = Heat(cells.to_numpy(float), _edges(loads), np.exp(_edges(np.log(heats))), r"overlap $\langle m\rangle$")
    line = np.geomspace(heat.y[0], heat.y[-1], 200)
    if kernel == "lse":
        found = [
            _drawn(thermal.critical_load(line), line, r"as deep as states near no pattern, $N\to\infty$", "-"),
            _drawn(thermal.stable_load(line), line, r"retrieval state ends, $N\to\infty$", "--"),
        ]
    else:
        found = [_drawn(np.full(200, rows["critical"].iloc[0]), line, r"no other pattern in reach, $N\to\infty$", "-")]
    ends = (float(heat.x[0]), float(heat.x[-1]))
    y = Axis("temperature $T$", "log", (float(heat.y[0]), float(heat.y[-1])))
    return Panel(NAMES[kernel], Axis(r"load $\alpha = \ln M / N$", limits=ends), y, found, heat)


def _drawn(load: np.ndarray, heat: np.ndarray, label: str, line: str) -> Series:
    return Series(load, heat, label=label, color="#d55e00", linestyle=line, linewidth=2.0)


def _edges(middles: np.ndarray) -> np.ndarray:
    if len(middles) == 1:
        return middles[0] + np.array([-0.5, 0.5])
    inner = (middles[1:] + middles[:-1]) / 2
    return np.concatenate([[2 * middles[0] - inner[0]], inner, [2 * middles[-1] - inner[-1]]])
