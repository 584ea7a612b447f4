"""Results of the capacity of sparse patterns: critical loads beside theory, errors of one step, bits per synapse."""

from collections.abc import Iterator
from typing import Any, cast

import numpy as np
import pandas

from experiments.bounds import name_and_number
from experiments.capacity_sparse import rules
from experiments.capacity_sparse.config import COVARIANCE, CUTS
from experiments.contract import Row, Summary, Table
from experiments.figures import panel
from experiments.figures.panel import Axis, Panel, Series, curves, level, theory_lines, upright
from experiments.figures.style import THEORY, series
from experiments.statistics.clusters import shares_by_group
from experiments.statistics.estimates import tidy
from experiments.statistics.extrapolation import law_at, laws
from experiments.statistics.thresholds import critical_loads
from hopfield.theory import sparse

CURVE = ["rule", "activity", "neurons"]


def summarise(table: Table) -> Summary:
    """Means at every load, the loads where half of the patterns are retained, by cut, and their `laws` for N → ∞."""
    loads, critical = [], []
    for key, rows in table.groupby(CURVE, sort=False):
        curve = dict(zip(CURVE, cast(tuple, key), strict=True))
        loads += _loads(curve, rows)
        limit = rules.find(curve["rule"]).critical_load(curve["activity"])
        if limit is not None:
            nested = critical_loads(rows["load"], [rows[name] for name in CUTS], rows["asked"], rows["sample"])
            for name, found in zip(CUTS, nested, strict=True):
                entry = {"value": found.value, "stderr": found.stderr, "chi2": found.chi2, "dof": found.dof}
                entry |= {"fit": found.method, "samples": rows["sample"].nunique(), "criterion": name}
                about = {"limit": limit, "kind": "replica symmetric", "headline": name == _criterion(curve["rule"])}
                critical.append({"quantity": CRITICAL, **curve, **entry, **about})
    told = [*(entry | {"headline": entry["headline"] and bool(np.isfinite(entry["value"]))} for entry in critical)]
    means = tidy(pandas.DataFrame(loads), [*CURVE, "patterns", "load"], QUANTITIES)
    means = [row | ({"kind": rules.find(row["rule"]).KIND} if "theory" in row else {}) for row in means]
    return Summary(
        [*told, *_told(loads), *means], list(_lines(pandas.DataFrame(means))), more={"laws": _laws(critical)}
    )


CRITICAL, BITS, WRONG = "critical load", "bits per synapse", "wrong neurons after one step"
QUANTITIES = {
    "share": "share retained",
    "wrong_one": WRONG,
    "on": "active neurons that stay on",
    "off": "silent neurons that go on",
    "density": "share of synapses that are on",
    "bits": BITS,
}


def _criterion(rule: str) -> str:
    """Column by which a rule is judged: capacity's, but for the covariance rule, whose overlap falls to 0.7."""
    return "retained_0.5" if rule in COVARIANCE else "retained"


def _loads(curve: dict, rows: Table) -> list[dict]:
    """Means over draws at every number of patterns, and the bits per synapse that the final shares amount to."""
    rows = rows.assign(share=rows["retained"] / rows["asked"])
    active, spins = curve["activity"], rows["asked"] * curve["neurons"]
    trials = {"share": rows["asked"], "wrong_one": spins, "on": active * spins, "off": (1 - active) * spins}
    trials |= {"density": curve["neurons"] ** 2}
    counts = sorted(int(x) for x in rows["patterns"].unique())
    means: dict[str, Table] = {
        name: shares_by_group(rows, ["patterns"], name, number, "sample").set_index("patterns").reindex(counts)
        for name, number in trials.items()
        if rows[name].notna().any()
    }
    found = []
    for i, num_patterns in enumerate(counts):
        entry: dict[str, Any] = {"patterns": num_patterns, "load": num_patterns / curve["neurons"]}
        for name in means:
            entry[name] = float(means[name]["mean"].iloc[i])
            entry |= {f"{name}_{end}": float(means[name][end].iloc[i]) for end in ("stderr", "low", "high")}
        inside = np.clip([entry.get("on", np.nan), entry.get("off", np.nan)], 0, 1)
        if np.isfinite(inside).all():
            bits = sparse.information(curve["activity"], *inside)
            entry["bits"] = float(entry["load"] * bits)
        entry["wrong_one_theory"] = rules.wrong_share(curve["rule"], curve["neurons"], curve["activity"], num_patterns)
        entry["bits_theory"] = rules.find(curve["rule"]).bits(curve["neurons"], num_patterns)
        found.append(curve | entry)
    return found


def _laws(critical: list[dict]) -> list[dict]:
    """Limits of disturbed couplings by law of the approach and by cut, where four sizes from 1000 on were measured."""
    found = []
    for rule, criterion in dict.fromkeys((entry["rule"], entry["criterion"]) for entry in critical):
        rows = [entry for entry in critical if (entry["rule"], entry["criterion"]) == (rule, criterion)]
        if rule not in COVARIANCE:
            size, load, error = ([entry[name] for entry in rows] for name in ("neurons", "value", "stderr"))
            several = laws(size, load, error, {"replica symmetric": rows[0]["limit"]})
            found += [{"rule": rule, "criterion": criterion} | law for law in several]
    return found


def _told(loads: list[dict]) -> Iterator[Row]:
    """How many errors after one step lie within two of theory, and the most bits, of every rule."""
    for rule in dict.fromkeys(entry["rule"] for entry in loads):
        mine, about = [entry for entry in loads if entry["rule"] == rule], {"rule": rule, "headline": True}
        known = [e for e in mine if e["wrong_one_theory"] is not None and e["wrong_one_stderr"] > 0]
        if known and rule != "hebb":  # whose theory is an infinite network's
            apart = [abs(e["wrong_one"] - e["wrong_one_theory"]) / e["wrong_one_stderr"] for e in known]
            within = float(np.mean(np.array(apart) <= 2))
            yield {"quantity": "errors within two standard errors", **about, "value": within}
        bits = [entry["bits"] for entry in mine if "bits" in entry]
        if bits and name_and_number(rule)[0] != "hebb":
            yield {"quantity": f"most {BITS}", **about, "value": max(bits)}


LIMIT = {"color": "0.4", "marker": "_", "markersize": 12}
DOTTED = {"color": "0.5", "linestyle": ":"}


def panels(table: Table, summary: Summary) -> list[Panel]:
    """Panels for the families of rules that were measured."""
    disturbed = summary.of(CRITICAL, criterion="retained")
    families = (
        (_by_activity, summary.of(CRITICAL, criterion="retained_0.5", rule=[*COVARIANCE])),
        (_disturbed, disturbed[~disturbed["rule"].isin(COVARIANCE)] if len(disturbed) else disturbed),
        (_bits, summary.of(BITS, rule=[*COVARIANCE])),
        (_willshaw, summary.of(BITS, rule="willshaw")),
        (_biased, summary.of(WRONG, rule="hebb")),
    )
    return [panel_of(rows, summary) for panel_of, rows in families if len(rows)]


SPARSE_LIMIT, INFORMATION = "limit of sparse patterns", "bits per synapse at capacity"


def _lines(estimates: Table) -> Iterator[Row]:
    """Theory of the rules that were measured: by activity, by the share of synapses that are on, by patterns."""
    rows = estimates[estimates["quantity"] == BITS]
    of_covariance = rows[rows["rule"].isin(COVARIANCE)]
    if len(of_covariance):
        grid = np.geomspace(of_covariance["activity"].min() * 0.8, 0.5, 25)
        yield {"quantity": SPARSE_LIMIT, "x": grid.tolist(), "y": sparse.sparse_limit(grid).tolist()}
        for rule in dict.fromkeys(of_covariance["rule"]):
            ends = [sparse.spinodal(float(a), rules.find(rule).offset(float(a))) for a in grid]
            about = {"rule": rule, "kind": "replica symmetric", "x": grid.tolist()}
            yield {"quantity": CRITICAL, **about, "y": [end.load or None for end in ends]}
            bits = [end.load * sparse.information(a, end.on, end.off) for a, end in zip(grid, ends, strict=True)]
            yield {"quantity": INFORMATION, **about, "y": np.array(bits).tolist()}
    for size, own in rows[rows["rule"] == "willshaw"].groupby("neurons"):
        counts, active = np.unique(np.geomspace(2, 1.2 * own["patterns"].max(), 60).round()), rules.active(int(size))
        density = sparse.willshaw_density(int(size), counts, active)
        bits = sparse.willshaw_information(int(size), counts, active)
        yield {"quantity": BITS, "rule": "willshaw", "neurons": size, "x": density.tolist(), "y": bits.tolist()}
    for activity, own in _of_largest(estimates[(estimates["quantity"] == WRONG) & (estimates["rule"] == "hebb")]):
        bias, step = 1 - 2 * activity, 2 if own["patterns"].mod(2).nunique() == 1 else 1  # at even and odd M it differs
        counts = np.arange(own["patterns"].min(), own["patterns"].max() + 1, step)
        wrong = sparse.biased_hebb_error(counts, bias)
        x = (counts - 1) * float(bias) ** 2
        yield {"quantity": WRONG, "rule": "hebb", "activity": activity, "x": x.tolist(), "y": wrong.tolist()}


def _of_largest(rows: Table) -> Any:
    """Rows of the largest size by activity."""
    return rows[rows["neurons"] == rows["neurons"].max()].groupby("activity")


def _by_activity(table: Table, summary: Summary) -> Panel:
    """Critical load against activity by rule, for all sizes, with replica-symmetric theory as lines."""
    looks, sizes = series(list(COVARIANCE)), sorted(table["neurons"].unique())
    found = []
    for rule, rows in table.groupby("rule", sort=False):
        color = looks[str(rule)]["color"]
        found += theory_lines(summary.line(CRITICAL, rule=rule), color=color)
        for size, part in rows.groupby("neurons"):
            look = looks[str(rule)] | {"markersize": 3 + 1.5 * sizes.index(size), "linestyle": ""}
            label = str(rule) if size == sizes[-1] else ""
            found.append(Series(part["activity"], part["value"], part["stderr"], label=label, **look))
    for place, size in enumerate(sizes if len(sizes) > 1 else []):
        found.append(panel.entry(f"$N={size}$", color="0.4", marker="o", markersize=3 + 1.5 * place))
    dotted: Any = DOTTED
    sparse_limit = summary.line(SPARSE_LIMIT).iloc[0]
    found.append(Series(sparse_limit["x"], sparse_limit["y"], label=r"$1/(2a|\ln a|)$", **dotted))
    found.append(panel.entry("replica symmetric", **THEORY))
    x, y = Axis("activity $a$", "log"), Axis(r"critical load $\alpha_c = M/N$", "log")
    title = "covariance rule, $m > 0.5$" + (f", $N={sizes[0]}$" if len(sizes) == 1 else "")
    return Panel(title, x, y, found)


def _disturbed(table: Table, summary: Summary) -> Panel:
    """Critical load of disturbed couplings against N^(−2/3), limits of theory, powers of N with and without them."""
    table = table.assign(place=table["neurons"] ** (-2 / 3))
    lost = table.groupby("rule")["value"].transform(lambda load: load.isna().all())
    table = table.assign(name=table["rule"] + np.where(lost, ", none found", ""))
    looks = {name: look | {"linestyle": ""} for name, look in series(list(table["name"])).items()}
    found = curves(table, "place", "value", by="name", looks=looks)
    grid = np.linspace(1e-9, table["place"].max(), 100)
    for law in summary.more["laws"]:
        if law["law"].endswith("fitted") and law["criterion"] == "retained":
            error = f"({law['stderr'] * 1e4:.0f})" if law["stderr"] else ""  # none of the limit of theory
            label = (
                rf"{law['law'].partition(', ')[2]}: {law['load']:.4f}{error}, $\chi^2$ {law['chi2']:.1f}/{law['dof']}"
            )
            look = {"color": looks[law["rule"]]["color"], "linestyle": "-" if error else ":", "linewidth": 0.9}
            found.append(Series(grid, law_at(law, grid**-1.5), label=label, **look))
    for name, rows in table.groupby("name", sort=False):
        found.append(Series([0], [rows["limit"].iloc[0]], **LIMIT | {"color": looks[str(name)]["color"]}))
    found.append(panel.entry("replica symmetric", **LIMIT))
    x, y = Axis(r"$N^{-2/3}$"), Axis(r"critical load $\alpha_c = M/N$")
    return Panel("disturbed Hebb couplings, $m > 0.8$", x, y, found)


def _bits(table: Table, summary: Summary) -> Panel:
    """Bits per synapse against activity at the best measured load, of the largest network."""
    size = table["neurons"].max()
    rows = table[table["neurons"] == size].groupby(["rule", "activity"], sort=False, as_index=False)["value"].max()
    looks = {name: look | {"linestyle": ""} for name, look in series(list(COVARIANCE)).items()}
    found = curves(rows, "activity", "value", by="rule", looks=looks)
    found += theory_lines(summary.line(INFORMATION), lambda line: {"color": looks[line["rule"]]["color"]})
    found.append(panel.entry("replica symmetric, at capacity", **THEORY))
    y = Axis("bits per synapse", limits=(0, None))
    return Panel(f"information, $N={size}$", Axis("activity $a$", "log"), y, found)


def _willshaw(table: Table, summary: Summary) -> Panel:
    """Bits per synapse of Willshaw's memory against the share of synapses that are on."""
    on = summary.of(QUANTITIES["density"], rule="willshaw").rename(columns={"value": "density"})
    table = table.merge(on[[*CURVE, "patterns", "density"]], on=[*CURVE, "patterns"])
    looks, found = series([str(size) for size in sorted(table["neurons"].unique())]), []
    for size, rows in table.groupby("neurons"):
        look, active = looks[str(size)], rules.active(int(size))
        label = f"$N={size}$, $K={active}$"
        found.append(Series(rows["density"], rows["value"], label=label, **look | {"linestyle": ""}))
        found += theory_lines(summary.line(BITS, rule="willshaw", neurons=size), color=look["color"])
    found += [level(np.log(2), r"$\ln 2$, $N\to\infty$", **DOTTED), panel.entry("exact theory at $N$", **THEORY)]
    return Panel("Willshaw", Axis("synapses that are on"), Axis("bits per synapse", limits=(0, 0.75)), found)


def _biased(table: Table, summary: Summary) -> Panel:
    """Errors after one step of plain Hebb couplings against the number of patterns over 1/m₀²."""
    size = table["neurons"].max()
    rows = table[table["neurons"] == size].assign(bias=1 - 2 * table["activity"])
    rows = rows.assign(place=(rows["patterns"] - 1) * rows["bias"] ** 2)
    rows = rows.sort_values("activity", kind="stable")
    looks = {name: look | {"linestyle": ""} for name, look in series([str(bias) for bias in rows["bias"]]).items()}
    found = curves(rows, "place", "value", by="bias", label="$m_0={:.2g}$", looks=looks)
    for bias, part in rows.groupby("bias"):
        found += theory_lines(summary.line(WRONG, activity=part["activity"].iloc[0]), color=looks[str(bias)]["color"])
    found.append(upright(1.0, color="0.8", linestyle="-", linewidth=0.8))
    found.append(panel.entry(r"theory of Gaussian noise, $N\to\infty$", **THEORY))
    title = f"plain Hebb, biased patterns, $N={size}$"
    return Panel(title, Axis(r"$(M-1)\,m_0^2$"), Axis("wrong spins after one step"), found)
