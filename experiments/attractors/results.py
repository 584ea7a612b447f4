"""Summary and figure of attractors: their number, basins and energies, beside shuffled copies."""

import numpy as np
import pandas

from experiments.contract import Row, Summary, Table
from experiments.figures.panel import SHARE, Axis, Heat, Panel, Series, band, curves, upright
from experiments.figures.style import series
from experiments.statistics.clusters import standard_error, wilson

OF_A_NETWORK = ("attractors", "effective", "largest_basin", "unsettled", "energy", "exist")
"""Numbers of one network; `effective` is e^H of the basins."""
NEAR = 0.8
"""|overlap| from which an end counts as a state that was given."""


def summarise(table: Table) -> Summary:
    """Numbers of the network given, beside the mean of its copies, escape times, and its attractors, as `states`."""
    cold = table[table["temperature"] == 0]
    own = cold[(cold["null"] == 0) & (cold["settled"] == 1)]
    columns = ["energy", "nearest", "overlap", "axis_1", "axis_2"]
    found = own.groupby("end", sort=False)[columns].first()
    found.insert(0, "basin", own.groupby("end", sort=False).size() / cold["start"].nunique())
    found = found.sort_values("basin", ascending=False, kind="stable").reset_index()
    networks = pandas.DataFrame([{"null": null} | _numbers(rows) for null, rows in cold.groupby("null")])
    copies = networks[networks["null"] > 0]
    estimates = [
        {
            "quantity": name.replace("_", " "),
            "value": networks[name].iloc[0],
            "headline": bool(networks[name].notna().iloc[0]),
        }
        for name in OF_A_NETWORK
    ]
    for name in OF_A_NETWORK:
        mean = {"value": copies[name].mean(), "stderr": _error(copies[name]), "samples": len(copies)}
        about = {"network": "shuffled", **mean, "headline": bool(np.isfinite(mean["value"]))}
        estimates.append({"quantity": name.replace("_", " "), **about})
    for number, rows in cold[cold["null"] == 0].groupby("nearest"):
        if number >= 0:
            near = rows["overlap"].abs()
            largest, basin = float(near.max()), float((near > NEAR).sum() / cold["start"].nunique())
            for quantity, value in (("largest overlap", largest), ("basin", basin)):
                estimates.append({"quantity": quantity, "state": int(number), "value": value, "headline": True})
    estimates += _escapes(table[table["temperature"] > 0])
    return Summary(estimates, more={"states": found.to_dict("records")})


def _numbers(rows: Table) -> dict[str, float]:
    settled = rows[rows["settled"] == 1]
    basins = settled.groupby("end").size().to_numpy() / max(len(settled), 1)
    return {
        "attractors": float(len(basins)),
        "effective": float(np.exp(-np.sum(basins * np.log(basins)))),
        "largest_basin": float(basins.max(initial=0.0)),
        "unsettled": float(1 - rows["settled"].mean()),
        "energy": float(rows["energy"].mean()),
        "exist": float(rows["exist"].iloc[0]),
    }


def _error(values: Table) -> float:
    return standard_error(values) if values.notna().all() else float("nan")


def _escapes(warm: Table) -> list[Row]:
    """Share of runs that end in another attractor: of the network given by its starts, of the null by its copies."""
    rows = []
    for temperature, part in warm.groupby("temperature"):
        own, copies = part[part["null"] == 0]["left"], part[part["null"] > 0].groupby("null")["left"].mean()
        low, high = (float(end) for end in wilson(own.sum(), len(own)))
        about = {"quantity": LEFT, "temperature": temperature}
        rows.append(about | {"network": "given", "value": own.mean(), "low": low, "high": high})
        mean, error = copies.mean(), standard_error(copies)
        ends = {"low": max(mean - error, 0.0), "high": min(mean + error, 1.0)}
        rows.append(about | {"network": "shuffled", "value": mean, **ends, "samples": len(copies)})
    return rows


LEFT = "share of runs that end elsewhere"


DRAWN = 60
"""Attractors that the plane of principal axes shows, the largest basins."""
NETWORKS = ["given", "shuffled"]


def panels(table: Table, summary: Summary) -> list[Panel]:
    """Attractors on two principal axes, their basins, energies of ends, and the share that heat makes leave."""
    cold = table[table["temperature"] == 0]
    found: Table = pandas.DataFrame(summary.more["states"])
    shown = [_plane(found, cold[cold["null"] == 0])] if len(found) else []
    shown.append(_ranked(cold))
    if cold["energy"].notna().all():
        shown.append(_energies(cold))
    escapes = curves(summary.of(LEFT), "temperature", "value", by="network", looks=series(NETWORKS))
    heat = Axis(r"$T$ over the field on a spin")
    return [*shown, Panel("runs that end elsewhere", heat, Axis("share of heat-bath runs", limits=SHARE), escapes)]


def _plane(found: Table, rows: Table) -> Panel:
    """Attractors, in size by their basin, over the energy that their two coordinates alone bring."""
    found = found.astype({"overlap": float, "energy": float})  # null of all where there are none
    far = 1.15 * max(float(found[["axis_1", "axis_2"]].abs().to_numpy().max()), 0.1)
    grid = np.linspace(-far, far, 61)
    middle = (grid[1:] + grid[:-1]) / 2
    values = -0.5 * (
        rows["eigenvalue_1"].iloc[0] * middle[None, :] ** 2 + rows["eigenvalue_2"].iloc[0] * middle[:, None] ** 2
    )
    label = "energy per neuron in the plane" if found["energy"].notna().all() else "weighted square, halved"
    heat = Heat(values, grid, grid, label, (float(values.min()), float(values.max())), colours="Greys_r")
    states = [_state(row) for row in found.head(DRAWN).to_dict("records")]
    near = found[found["overlap"].abs() > 0.8].drop_duplicates("nearest")
    names = [
        Series([row["axis_1"]], [row["axis_2"]], label=f"state {row['nearest']:d}, $m={row['overlap']:.2f}$", **look)
        for row, look in zip(near.to_dict("records"), series(list(near["nearest"].astype(str))).values(), strict=True)
    ]
    x, y = [Axis(f"projection on axis {i}, over $\\sqrt{{N}}$", limits=(-far, far)) for i in (1, 2)]
    return Panel("attractors, area by basin", x, y, [*states, *names], heat)


def _state(row: dict) -> Series:
    size = 4 + 30 * np.sqrt(row["basin"])
    look = {"marker": "o", "color": "#d55e00", "markerfacecolor": "none", "markersize": float(size)}
    return Series([row["axis_1"]], [row["axis_2"]], **look)


def _ranked(cold: Table) -> Panel:
    """Shares of starts of the first, second, … attractor; of the copies the range that holds the middle 68 %."""
    basins = [
        np.sort(rows.loc[rows["settled"] == 1, "end"].value_counts().to_numpy())[::-1] / len(rows)
        for _, rows in cold.groupby("null")
    ]
    longest = max(map(len, basins))
    every = np.stack([np.pad(each, (0, longest - len(each))) for each in basins])
    rank, starts = np.arange(1, longest + 1), cold["start"].nunique()
    low, middle, high = np.quantile(every[1:], (0.16, 0.5, 0.84), axis=0)
    own = basins[0]
    error = np.sqrt(own * (1 - own) / starts)
    floor = 0.5 / starts
    found = [
        band(rank, np.maximum(low, floor), np.maximum(high, floor), color=series(NETWORKS)["shuffled"]["color"]),
        Series(
            rank,
            np.where(middle > 0, middle, np.nan),
            label="shuffled",
            **series(NETWORKS)["shuffled"] | {"marker": ""},
        ),
        Series(rank[: len(own)], own, error, label="given", **series(NETWORKS)["given"]),
    ]
    return Panel("basins", Axis("rank of the attractor", "log"), Axis("share of starts", "log", (floor, 1.3)), found)


def _energies(cold: Table) -> Panel:
    """Shares of starts that end at or below an energy, of the network given and of every copy."""
    found = []
    for null, rows in sorted(cold.groupby("null"), key=lambda pair: -pair[0]):
        energy = np.sort(rows["energy"])
        name = "shuffled" if null else "given"
        look = {"color": series(NETWORKS)[name]["color"], "linestyle": "-", "alpha": 0.35 if null else 1.0}
        steps = np.repeat(energy, 2), np.concatenate([[0.0], np.repeat(np.arange(1, len(energy)), 2), [len(energy)]])
        found.append(Series(steps[0], steps[1] / len(energy), label=name if null <= 1 else "", **look))
    found.append(upright(cold.loc[cold["null"] == 0, "bound"].iloc[0], label=r"$-\lambda_{\max}/2$, bound of given"))
    return Panel("energies of ends", Axis("energy per neuron"), Axis("share of starts below", limits=SHARE), found)
