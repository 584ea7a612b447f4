"""Figure of the capacity of sparse patterns: critical loads by activity, disturbed couplings, bits, biased Hebb."""

from typing import Any

import numpy as np
import pandas

from experiments.capacity_sparse import rules
from experiments.capacity_sparse.config import COVARIANCE
from experiments.contract import Table
from experiments.figures.panel import Axis, Panel, Series, curves, entry, level, theory_line, upright
from experiments.figures.style import THEORY, series
from hopfield.theory import sparse

LIMIT = {"color": "0.4", "marker": "_", "markersize": 12}
DOTTED = {"color": "0.5", "linestyle": ":"}


def panels(table: Table, summary: dict) -> list[Panel]:
    """Panels for the families of rules that were measured."""
    loads, critical = pandas.DataFrame(summary["loads"]), pandas.DataFrame(summary["critical"])
    shown = []
    if len(critical):
        critical = critical.astype({"load": float, "stderr": float})  # null, where none was found, is NaN and not drawn
        of_covariance: Table = critical["rule"].isin(COVARIANCE)
        shown += [_by_activity(critical[of_covariance])] if of_covariance.any() else []
        shown += [] if of_covariance.all() else [_disturbed(critical[~of_covariance])]
    for kind, names in ((_bits, COVARIANCE), (_willshaw, ["willshaw"]), (_biased, ["hebb"])):
        rows = loads[loads["rule"].isin(names)]
        shown += [kind(rows)] if len(rows) else []
    return shown


def _activities(table: Table) -> np.ndarray:
    return np.geomspace(table["activity"].min() * 0.8, 0.5, 25)


def _by_activity(table: Table) -> Panel:
    """Critical load against activity by rule, for all sizes, with replica-symmetric theory as lines."""
    looks, sizes, grid = series(list(COVARIANCE)), sorted(table["neurons"].unique()), _activities(table)
    found = []
    for rule, rows in table.groupby("rule", sort=False):
        color = looks[str(rule)]["color"]
        line = [rules.find(str(rule)).critical_load(float(a)) or np.nan for a in grid]
        found.append(theory_line(grid, line, color=color))
        for size, part in rows.groupby("neurons"):
            look = looks[str(rule)] | {"markersize": 3 + 1.5 * sizes.index(size), "linestyle": ""}
            label = str(rule) if size == sizes[-1] else ""
            found.append(Series(part["activity"], part["load"], part["stderr"], label=label, **look))
    for place, size in enumerate(sizes if len(sizes) > 1 else []):
        found.append(entry(f"$N={size}$", color="0.4", marker="o", markersize=3 + 1.5 * place))
    dotted: Any = DOTTED
    found.append(Series(grid, sparse.sparse_limit(grid), label=r"$1/(2a|\ln a|)$", **dotted))
    found.append(entry("replica symmetric", **THEORY))
    x, y = Axis("activity $a$", "log"), Axis(r"critical load $\alpha_c = M/N$", "log")
    title = "covariance rule" if len(sizes) > 1 else f"covariance rule, $N={sizes[0]}$"
    return Panel(title, x, y, found)


def _disturbed(table: Table) -> Panel:
    """Critical load of disturbed couplings against N^(−2/3), the limits of theory at 0."""
    table = table.assign(place=table["neurons"] ** (-2 / 3)).rename(columns={"stderr": "load_stderr"})
    lost = table.groupby("rule")["load"].transform(lambda load: load.isna().all())
    table = table.assign(name=table["rule"] + np.where(lost, ", none found", ""))
    looks = {name: look | {"linestyle": ":"} for name, look in series(list(table["name"])).items()}
    found = curves(table, "place", "load", by="name", looks=looks)
    for name, rows in table.groupby("name", sort=False):
        found.append(Series([0], [rows["theory"].iloc[0]], **LIMIT | {"color": looks[str(name)]["color"]}))
    found.append(entry("replica symmetric", **LIMIT))
    x, y = Axis(r"$N^{-2/3}$"), Axis(r"critical load $\alpha_c = M/N$", limits=(0, None))
    return Panel("disturbed Hebb couplings", x, y, found)


def _bits(table: Table) -> Panel:
    """Bits per synapse against activity at the best measured load, of the largest network."""
    size, grid = table["neurons"].max(), _activities(table)
    rows = table[table["neurons"] == size].groupby(["rule", "activity"], sort=False, as_index=False)["bits"].max()
    looks = {name: look | {"linestyle": ""} for name, look in series(list(COVARIANCE)).items()}
    found = curves(rows, "activity", "bits", by="rule", looks=looks)
    for rule in dict.fromkeys(rows["rule"]):
        ends = [sparse.spinodal(float(a), rules.find(str(rule)).offset(float(a))) for a in grid]
        line = [c.load * sparse.information(a, c.on, c.off) for a, c in zip(grid, ends, strict=True)]
        found.append(theory_line(grid, line, color=looks[str(rule)]["color"]))
    found.append(entry("replica symmetric, at capacity", **THEORY))
    y = Axis("bits per synapse", limits=(0, None))
    return Panel(f"information, $N={size}$", Axis("activity $a$", "log"), y, found)


def _willshaw(table: Table) -> Panel:
    """Bits per synapse of Willshaw's memory against the share of synapses that are on."""
    looks, found = series([str(size) for size in sorted(table["neurons"].unique())]), []
    for size, rows in table.groupby("neurons"):
        look, active = looks[str(size)], rules.active(int(size))
        label = f"$N={size}$, $K={active}$"
        found.append(Series(rows["density"], rows["bits"], label=label, **look | {"linestyle": ""}))
        counts = np.unique(np.geomspace(2, 1.2 * rows["patterns"].max(), 60).round())
        line = sparse.willshaw_information(int(size), active, counts)
        density = sparse.willshaw_density(int(size), active, counts)
        found.append(theory_line(density, line, color=look["color"]))
    found += [level(np.log(2), r"$\ln 2$, $N\to\infty$", **DOTTED), entry("theory at $N$", **THEORY)]
    return Panel("Willshaw", Axis("synapses that are on"), Axis("bits per synapse", limits=(0, 0.75)), found)


def _biased(table: Table) -> Panel:
    """Errors after one step of plain Hebb couplings against the number of patterns over 1/m₀²."""
    size = table["neurons"].max()
    rows = table[table["neurons"] == size].assign(bias=1 - 2 * table["activity"])
    rows = rows.assign(place=(rows["patterns"] - 1) * rows["bias"] ** 2)
    rows = rows.sort_values("activity", kind="stable")
    looks = {name: look | {"linestyle": ""} for name, look in series([str(bias) for bias in rows["bias"]]).items()}
    found = curves(rows, "place", "wrong_one", by="bias", label="$m_0={:.2g}$", looks=looks)
    for bias, part in rows.groupby("bias"):
        step = 2 if part["patterns"].mod(2).nunique() == 1 else 1  # at even and odd numbers theory differs
        counts = np.arange(part["patterns"].min(), part["patterns"].max() + 1, step)
        line = sparse.biased_hebb_error(bias, counts)
        found.append(theory_line((counts - 1) * float(bias) ** 2, line, color=looks[str(bias)]["color"]))
    found += [upright(1.0, color="0.8", linestyle="-", linewidth=0.8), entry(r"theory, $N\to\infty$", **THEORY)]
    title = f"plain Hebb, biased patterns, $N={size}$"
    return Panel(title, Axis(r"$(M-1)\,m_0^2$"), Axis("wrong spins after one step"), found)
