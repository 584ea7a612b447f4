"""Continuous memories at a temperature: overlaps by start, equilibrium, free energies of all states, maps over load."""

from typing import cast

import numpy as np
from scipy.optimize import brentq

from experiments.contract import Row, Summary, Table, records
from experiments.figures.panel import (
    Axis,
    Heat,
    Panel,
    Series,
    curves,
    entry,
    level,
    theory_line,
    upright,
)
from experiments.figures.style import MARKERS, ordered
from experiments.statistics.clusters import means_by_group
from experiments.statistics.deviations import errors_apart, share_within_two
from experiments.statistics.estimates import tidy
from hopfield.theory import thermal

MIXED, ENOUGH = 1.01, 400
"""R̂ below which chains count as mixed, and least effective number of samples (Vehtari et al. 2021)."""
WEIGHTED = 100
"""Least effective number of weighted samples by which equilibrium is known."""
KIND = ["kernel", "ensemble"]
KEYS = [*KIND, "neurons", "patterns", "load", "temperature"]
KNOWN = ["one_pattern", "critical", "sharpness"]
STARTS = {"pattern": "the pattern", "another": "the longest other", "random": "random points"}
OVERLAP, EQUILIBRIUM, FREE = "overlap", "overlap in equilibrium", "free energy"
SETTLED, MIXED_ALONE = "at equilibrium", "mixed, from the pattern"
QUANTITIES = {
    "rhat": "R̂",
    "rhat_pattern": "R̂ from the pattern",
    "settled": SETTLED,
    "mixed": MIXED_ALONE,
    "accepted": "accepted",
}
AT_ONE, AT_ANY, AT_NONE = "at the pattern", "at any pattern", "near no pattern"
CROSSED, TRANSITION = "as deep as near no pattern", "states at patterns end"
RANDOM = "random-energy model"
KINDS = {AT_ONE: "exact", AT_ANY: RANDOM, AT_NONE: RANDOM, CROSSED: RANDOM, TRANSITION: RANDOM}
"""Kinds of theory of the lines, all for N → ∞."""
LOADS = {CROSSED: "-", "retrieval state ends": "--", TRANSITION: "-.", "no other in reach": ":"}
"""Loads of theory over the maps, and their lines."""
BELOW = 0.7
"""Share of the load of theory below which a typical draw of some ten components has no other pattern that matters."""


def summarise(table: Table) -> Summary:
    """States by their starts with errors over draws, beside equilibrium and the exact overlap with one pattern.

    A draw is at equilibrium where the chains of all starts are mixed: R̂ < 1.01 and 400 independent samples. Where all
    draws are, overlaps are held against weighted independent samples of the same draws. Where the chains from the
    pattern alone are mixed, and the load is well below theory's, they are held against one pattern that is alone.
    """
    enough = table["effective_pattern"] >= ENOUGH
    table = table.assign(
        settled=((table["rhat"] < MIXED) & (table["effective"] >= ENOUGH)).astype(float),
        mixed=((table["rhat_pattern"] < MIXED) & enough).astype(float),
        known=table["equilibrium"].where(table["weighted"] >= WEIGHTED),
    )
    estimates: list[Row] = []
    for kind, rows in table.groupby(KIND, sort=False):
        about = {**dict(zip(KIND, kind, strict=True)), "headline": True}
        estimates.append({"quantity": SETTLED, "value": float(rows["settled"].mean()), **about})
        estimates.append({"quantity": MIXED_ALONE, "value": float(rows["mixed"].mean()), **about})
    states = _states(table)
    estimates += _overlaps_by_start(table) + _of_all(table) + _held(table, states)
    for name, quantity in QUANTITIES.items():
        means = means_by_group(table, KEYS, name, "sample")
        estimates += tidy(means.drop(columns="stderr"), KEYS, {"mean": quantity})
    return Summary(estimates, [*_loads(states), *_free_energies(states)])


def _states(table: Table) -> Table:
    """What is known of each state, and whether all of its draws are at equilibrium, and mixed."""
    return table.groupby([*KEYS, *KNOWN], sort=False, dropna=False)[["settled", "mixed"]].mean().reset_index()


def _overlaps_by_start(table: Table) -> list[Row]:
    found: list[Row] = []
    for start in STARTS:
        for name, quantity in ((f"overlap_{start}", OVERLAP), (f"energy_{start}", "energy")):
            lost = table.loc[np.isinf(table[name]), KEYS].drop_duplicates()  # in no pattern's reach: no mean energy
            reached = table.merge(lost, on=KEYS, how="left", indicator="reach").query("reach == 'left_only'")
            means = means_by_group(reached, [*KEYS, "one_pattern"], name, "sample")
            kind = {}
            if name == "overlap_pattern":
                means, kind = means.rename(columns={"one_pattern": "theory"}), {"kind": "exact, one pattern"}
            last = (means["temperature"] == table["temperature"].min()) & (means["load"] == means["load"].max())
            known = tidy(means, KEYS, {"mean": quantity}, start=start, **kind)
            told = last & (name == "overlap_pattern")
            found += [row | {"headline": bool(yes)} for row, yes in zip(known, told, strict=True)]
    return found


def _of_all(table: Table) -> list[Row]:
    """Overlap and free energy in equilibrium, where enough weighted samples know them."""
    overlaps = means_by_group(table, KEYS, "known", "sample")
    free = means_by_group(table[table["known"].notna()], KEYS, "free_energy", "sample")
    found = tidy(overlaps, KEYS, {"mean": EQUILIBRIUM})
    return found + tidy(free, KEYS, {"mean": FREE})


def _held(table: Table, states: Table) -> list[Row]:
    """Shares of states within two errors of what they are held against, and the largest deviations."""
    found: list[Row] = []
    starts = [f"overlap_{start}" for start in STARTS]
    table = table.assign(
        settled_apart=table[starts].mean(axis=1) - table["known"],
        mixed_apart=table["overlap_pattern"] - table["one_pattern"],
    )
    low = states["load"] < BELOW * states["critical"]
    cases = (("equilibrium", "settled", states["settled"] == 1), ("one pattern", "mixed", low & (states["mixed"] == 1)))
    for name, column, chosen in cases:
        rows = table.merge(states.loc[chosen, KEYS], on=KEYS)
        for kind, part in rows.dropna(subset=f"{column}_apart").groupby(KIND, sort=False):
            about = {**dict(zip(KIND, kind, strict=True)), "headline": True}
            means: Table = means_by_group(part, KEYS, f"{column}_apart", "sample")
            pairs = zip(means["mean"], means["stderr"], strict=True)
            apart = [errors_apart(mean, error, 0.0, 1) for mean, error in pairs]
            largest = float(means["mean"].abs().max())
            found.append({"quantity": f"within two errors of {name}", "value": share_within_two(apart), **about})
            found.append({"quantity": f"largest deviation from {name}", "value": largest, **about})
    return found


def _largest(states: Table) -> list[tuple[Row, Table]]:
    states = states[states["neurons"] == states["neurons"].max()]
    return [(dict(zip(KIND, kind, strict=True)), rows) for kind, rows in states.groupby(KIND, sort=False)]


def _heats(rows: Table) -> np.ndarray:
    """Temperatures of lines, from edge to edge of the map."""
    ends = np.exp(_edges(np.log(np.sort(rows["temperature"].unique()))))
    return np.geomspace(ends[0], ends[-1], 200)


def _loads(states: Table) -> list[Row]:
    """Loads of theory against temperature, over the map of each kernel at the largest size."""
    found: list[Row] = []
    for about, rows in _largest(states):
        heat = _heats(rows)
        loads = [np.full(heat.size, rows["critical"].iloc[0])]
        names = list(LOADS)[3:]
        if about["kernel"] == "lse":
            of = (thermal.critical_load, thermal.stable_load, thermal.transition_load)
            loads = [load(heat, rows["sharpness"].iloc[0], about["ensemble"]) for load in of]
            names = list(LOADS)[:3]
        found += [
            {"quantity": f"load, {name}", **about, "x": x.tolist(), "y": heat.tolist()}
            for name, x in zip(names, loads, strict=True)
        ]
    return found


def _free_energies(states: Table) -> list[Row]:
    """Free energies of the states by temperature for N → ∞, at the middle load, and where those at patterns end."""
    found: list[Row] = []
    for about, rows in _largest(states):
        heat, loads = _heats(rows), sorted(rows["load"].unique())
        load, b, ensemble = loads[len(loads) // 2], rows["sharpness"].iloc[0], about["ensemble"]
        lines = {
            AT_ONE: thermal.free_energy(heat, about["kernel"], b),
            AT_ANY: thermal.patterns_free_energy(load, heat, about["kernel"], b, ensemble),
        }
        if about["kernel"] == "lse":
            lines[AT_NONE] = np.full(heat.size, thermal.random_energy(load, b, ensemble))
        found += [
            {"quantity": name, **about, "load": load, "kind": KINDS[name], "x": heat.tolist(), "y": y.tolist()}
            for name, y in lines.items()
        ]
        for name, place in _changes(load, b, about).items():
            at = {"x": [place], "y": [float(thermal.random_energy(load, b, ensemble))]}
            found.append({"quantity": name, **about, "load": load, "kind": KINDS[name], **at})
    return found


def _changes(load: float, b: float, about: Row) -> dict[str, float]:
    """Temperatures of lse at which states near no pattern are as deep as those of the pattern, and as all patterns'."""
    found = {}
    for name, of in ((CROSSED, thermal.critical_load), (TRANSITION, thermal.transition_load)):
        apart = lambda log_heat, of=of: float(of(np.exp(log_heat), b, about["ensemble"])) - load
        if about["kernel"] == "lse" and apart(-10) > 0 > apart(10):
            found[name] = float(np.exp(cast(float, brentq(apart, -10, 10))))
    return found


TEMPERATURE = Axis("temperature $T$", "log")
NAMES = {"lse": "log-sum-exp", "lsr": "log-sum-ReLU"}
ENSEMBLES = {"sphere": "on the sphere", "gaussian": "Gaussian"}


def _title(about: Row) -> str:
    return f"{NAMES[about['kernel']]}, patterns {ENSEMBLES[about['ensemble']]}"


def panels(table: Table, summary: Summary) -> list[Panel]:
    """For every kernel and ensemble overlaps and free energies against T and a map; then whether chains agree."""
    states = summary.of(OVERLAP)
    for name in (SETTLED, MIXED_ALONE):
        states = states.merge(
            summary.of(name, headline=False)[[*KEYS, "value"]].rename(columns={"value": name}), on=KEYS
        )
    shown: list[Panel] = []
    for about, rows in _largest(states):
        shown.append(_overlaps(about, rows, summary.of(EQUILIBRIUM, **about)))
        shown.append(_energies(about, summary))
        shown.append(_map(about, rows[rows["start"] == rows["start"].iloc[0]], summary.lines))
    return [*shown, _agreement(summary)]


def _overlaps(about: Row, rows: Table, equilibrium: Table) -> Panel:
    """Means by start, filled where all draws are at equilibrium, and equilibrium itself; at three loads at most."""
    loads = sorted(rows["load"].unique())
    loads = sorted({loads[0], loads[len(loads) // 2], loads[-1]})
    looks, found = ordered([f"{load}" for load in loads]), []
    for load in loads:
        color = looks[f"{load}"]["color"]
        known = equilibrium[equilibrium["load"] == load] if len(equilibrium) else equilibrium
        if len(known):
            known = known.sort_values("temperature")
            found.append(Series(known["temperature"], known["value"], color=color, linestyle="-", linewidth=1.0))
        for number, (start, part) in enumerate(rows[rows["load"] == load].groupby("start", sort=False)):
            for settled, some in part.groupby(part[SETTLED] == 1):
                face = None if settled else "none"
                look = {"color": color, "marker": MARKERS[list(STARTS).index(str(start))], "markerfacecolor": face}
                label = rf"$\alpha={load:.2f}$" if number == 0 else ""
                found.append(Series(some["temperature"], some["value"], some["stderr"], label=label, **look))
    one = rows[rows["start"] == "pattern"].drop_duplicates("temperature").sort_values("temperature")
    if len(one):
        found.append(theory_line(one["temperature"], one["theory"], label="one pattern, exact"))
    axis = Axis(r"overlap $\langle m\rangle$ with the pattern", limits=(None, 1.03))
    return Panel(_title(about), TEMPERATURE, axis, [*found, *_signs(rows)], legend=f"$N={rows['neurons'].iloc[0]}$")


def _signs(rows: Table) -> list[Series]:
    """Entries of the legend for starts, and for points at equilibrium."""
    signs = [
        entry(f"from {STARTS[start]}", marker=MARKERS[list(STARTS).index(start)], markerfacecolor="none")
        for start in rows["start"].unique()
    ]
    return [*signs, entry("filled: at equilibrium", marker="o"), entry("equilibrium, weighted", linestyle="-")]


def _energies(about: Row, summary: Summary) -> Panel:
    """Free energies of the states for N → ∞, where they cross, and the measured one of all states."""
    looks = {AT_ONE: ("#0072B2", "-"), AT_ANY: ("#D55E00", "--"), AT_NONE: ("0.25", ":")}
    found, load = [], float("nan")
    for name, (color, style) in looks.items():
        for line in records(summary.line(name, **about)):
            load, label = line["load"], f"{name}, {line['kind']}"
            found.append(theory_line(line["x"], line["y"], label=label, color=color, linestyle=style, linewidth=1.6))
    for line in records(summary.line(CROSSED, **about)):
        found.append(Series(line["x"], line["y"], label=CROSSED, color="#0072B2", marker="X", markersize=7))
    for line in records(summary.line(TRANSITION, **about)):
        found.append(upright(line["x"][0], label=f"{TRANSITION}: transition", color="#D55E00", linestyle="-."))
    free = summary.of(FREE, **about)
    free = free[free["load"] == load] if len(free) else free
    if len(free):
        measured = curves(free, "temperature", "value")[0]
        measured.label, measured.linestyle = f"measured, all states, N = {free['neurons'].iloc[0]}", ""
        found.append(measured)
    title = rf"free energies at $\alpha={load:.2f}$"
    return Panel(
        title,
        TEMPERATURE,
        Axis("free energy per neuron"),
        found,
        legend=r"lines: $N\to\infty$",
        key=_title(about) + title,
    )


def _map(about: Row, rows: Table, lines: Table) -> Panel:
    cells = rows.pivot_table(index="temperature", columns="load", values="value")
    loads, heats = (np.asarray(names, float) for names in (cells.columns, cells.index))
    heat = Heat(cells.to_numpy(float), _edges(loads), np.exp(_edges(np.log(heats))), r"overlap $\langle m\rangle$")
    found = [
        Series(line["x"], line["y"], label=rf"{name}, $N\to\infty$", color="#d55e00", linestyle=style, linewidth=2.0)
        for name, style in LOADS.items()
        for line in records(
            lines[(lines[KIND] == list(about.values())).all(axis=1) & (lines["quantity"] == f"load, {name}")]
        )
    ]
    ends = (float(heat.x[0]), float(heat.x[-1]))
    y = Axis("temperature $T$", "log", (float(heat.y[0]), float(heat.y[-1])))
    start = STARTS[rows["start"].iloc[0]]
    return Panel(
        f"overlap from {start}", Axis(r"load $\alpha = \ln M / N$", limits=ends), y, found, heat, key=_title(about)
    )


def _agreement(summary: Summary) -> Panel:
    """R̂ of all starts against R̂ from the pattern alone, less 1."""
    both = summary.of("R̂").merge(summary.of("R̂ from the pattern"), on=KEYS, suffixes=("", "_alone"))
    both = both.assign(**{name: (both[name] - 1).clip(lower=1e-4) for name in ("value", "value_alone")})
    both["name"] = [_title(row) for row in records(both)]
    found = curves(both, "value_alone", "value", by="name")
    for series in found:
        series.linestyle = ""
    lines = [level(MIXED - 1, label="0.01: mixed below"), upright(MIXED - 1)]
    x, y = (Axis(rf"$\hat R - 1$ of chains from {of}", "log") for of in ("the pattern alone", "all starts"))
    return Panel("whether chains agree", x, y, [*found, *lines])


def _edges(middles: np.ndarray) -> np.ndarray:
    if len(middles) == 1:
        return middles[0] + np.array([-0.5, 0.5])
    inner = (middles[1:] + middles[:-1]) / 2
    return np.concatenate([[2 * middles[0] - inner[0]], inner, [2 * middles[-1] - inner[-1]]])
