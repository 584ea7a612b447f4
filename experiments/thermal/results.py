"""Continuous memories at a temperature: means beside exact ones of one pattern, maps over load and heat, mixing."""

import numpy as np

from experiments.contract import Row, Summary, Table
from experiments.figures.panel import Axis, Heat, Panel, Series, curves, level, theory_line
from experiments.figures.style import ordered
from experiments.statistics.clusters import means_by_group
from experiments.statistics.deviations import errors_apart, share_within_two
from experiments.statistics.estimates import tidy
from hopfield.theory import thermal

MIXED, ENOUGH = 1.01, 400
"""R̂ below which chains count as mixed, and least effective number of samples (Vehtari et al. 2021)."""
KEYS = ["kernel", "neurons", "patterns", "load", "temperature"]
KNOWN = ["one_pattern", "critical", "stable"]
OVERLAP = "overlap"
QUANTITIES = {
    "energy": "energy",
    "rhat": "R̂",
    "effective": "effective samples",
    "mixed": "mixed",
    "accepted": "accepted",
}
BELOW = 0.7
"""Share of the load of theory below which a typical draw of some ten components has no other pattern that matters."""


def summarise(table: Table) -> Summary:
    """States with errors over draws, beside the exact mean overlap with one pattern.

    A draw is mixed where its chains are: R̂ < 1.01 and 400 independent samples. Where all draws are, and the load is
    well below theory's, the overlaps are held against theory, which lets no other pattern matter there.
    """
    table = table.assign(mixed=((table["rhat"] < MIXED) & (table["effective"] >= ENOUGH)).astype(float))
    estimates: list[Row] = [
        {"quantity": "mixed", "value": float(table["mixed"].mean()), "headline": True},
        {"quantity": "largest R̂", "value": float(table["rhat"].max()), "headline": True},
    ]
    states: Table = means_by_group(table, [*KEYS, *KNOWN[:2]], "overlap", "sample").rename(
        columns={"one_pattern": "theory"}
    )
    for name, quantity in QUANTITIES.items():
        means = means_by_group(table, KEYS, name, "sample")
        estimates += tidy(means.drop(columns="stderr"), KEYS, {"mean": quantity})
        states[name] = means_by_group(table, [*KEYS, *KNOWN[:2]], name, "sample")["mean"]
    for kernel, rows in states.groupby("kernel", sort=False):
        alone = rows[(rows["load"] < BELOW * rows["critical"]) & (rows["mixed"] == 1)]
        columns = alone[["mean", "stderr", "theory", "clusters"]].itertuples(index=False)
        if len(alone):
            about = {"kernel": kernel, "headline": True}
            share = share_within_two(errors_apart(*entry) for entry in columns)
            estimates.append({"quantity": "within two errors", "value": share, **about})
            apart = float((alone["mean"] - alone["theory"]).abs().max())
            estimates.append({"quantity": "largest deviation", "value": apart, **about})
        last = (rows["temperature"] == rows["temperature"].min()) & (rows["load"] == rows["load"].max())
        known = tidy(rows, KEYS, {"mean": OVERLAP}, kind="exact, one pattern")
        estimates += [row | {"headline": told} for row, told in zip(known, last, strict=True)]
    return Summary(estimates, _lines(states))


def _lines(states: Table) -> list[Row]:
    """Loads of theory against temperature, over the map of each kernel at the largest size."""
    states, found = states[states["neurons"] == states["neurons"].max()], []
    for kernel, rows in states.groupby("kernel", sort=False):
        ends = np.exp(_edges(np.log(np.sort(rows["temperature"].unique()))))
        heat = np.geomspace(ends[0], ends[-1], 200)
        loads = {"no other pattern in reach": np.full(200, rows["critical"].iloc[0])}
        if kernel == "lse":
            loads = {
                "as deep as states near no pattern": thermal.critical_load(heat),
                "retrieval state ends": thermal.stable_load(heat),
            }
        found += [
            {"quantity": name, "kernel": kernel, "x": x.tolist(), "y": heat.tolist()} for name, x in loads.items()
        ]
    return found


TEMPERATURE = Axis("temperature $T$", "log")
NAMES = {"lse": "log-sum-exp", "lsr": "log-sum-ReLU"}


def panels(table: Table, summary: Summary) -> list[Panel]:
    """For every kernel overlaps against T, and the map over load and T; for all of them whether chains are mixed."""
    states = summary.of(OVERLAP)
    for name in ("mixed", "R̂"):
        states = states.merge(summary.of(name)[[*KEYS, "value"]].rename(columns={"value": name}), on=KEYS)
    states = states[states["neurons"] == states["neurons"].max()]
    kinds = list(states.groupby("kernel", sort=False))
    shown = [_overlaps(str(kernel), rows) for kernel, rows in kinds]
    shown += [_map(str(kernel), rows, summary.lines) for kernel, rows in kinds]
    rhat = curves(states.assign(kernel=states["kernel"].map(NAMES)), "load", "R̂", by="kernel")
    for series in rhat:
        series.linestyle = ""
    mixed = level(MIXED, label="1.01: mixed below")
    return [*shown, Panel(r"whether chains agree", _load(), Axis(r"$\hat R$ of the overlap"), [*rhat, mixed])]


def _load() -> Axis:
    return Axis(r"load $\alpha = \ln M / N$")


def _overlaps(kernel: str, rows: Table) -> Panel:
    """Means of all draws, filled for mixed chains; theory is exact for one pattern."""
    looks = ordered([f"{load}" for load in sorted(rows["load"].unique())])
    found = curves(rows, "temperature", "value", by="load", label=r"$\alpha={:.2f}$", looks=looks)
    for (_, part), series in zip(rows.groupby("load", sort=False), found, strict=True):
        series.markerfacecolor = "none" if (part["mixed"] < 1).any() else None
    one = rows.drop_duplicates("temperature").sort_values("temperature")
    found.append(theory_line(one["temperature"], one["theory"], label="one pattern, exact"))
    title = f"{NAMES[kernel]}, $N={rows['neurons'].iloc[0]}$"
    axis = Axis(r"overlap $\langle m\rangle$ with the pattern", limits=(None, 1.03))
    return Panel(title, TEMPERATURE, axis, found, legend="hollow: not all chains mixed")


def _map(kernel: str, rows: Table, lines: Table) -> Panel:
    cells = rows.pivot_table(index="temperature", columns="load", values="value")
    loads, heats = (np.asarray(names, float) for names in (cells.columns, cells.index))
    heat = Heat(cells.to_numpy(float), _edges(loads), np.exp(_edges(np.log(heats))), r"overlap $\langle m\rangle$")
    found = [
        Series(x, y, label=rf"{name}, $N\to\infty$", color="#d55e00", linestyle=style, linewidth=2.0)
        for (name, x, y), style in zip(
            lines.loc[lines["kernel"] == kernel, ["quantity", "x", "y"]].itertuples(index=False),
            ("-", "--"),
            strict=False,
        )
    ]
    ends = (float(heat.x[0]), float(heat.x[-1]))
    y = Axis("temperature $T$", "log", (float(heat.y[0]), float(heat.y[-1])))
    return Panel(NAMES[kernel], Axis(r"load $\alpha = \ln M / N$", limits=ends), y, found, heat)


def _edges(middles: np.ndarray) -> np.ndarray:
    if len(middles) == 1:
        return middles[0] + np.array([-0.5, 0.5])
    inner = (middles[1:] + middles[:-1]) / 2
    return np.concatenate([[2 * middles[0] - inner[0]], inner, [2 * middles[-1] - inner[-1]]])
