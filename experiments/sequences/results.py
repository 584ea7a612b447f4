"""Results of a table of sequences: shares right with errors beside theory, and lengths at which half are."""

import math

import numpy as np
import pandas

from experiments.contract import Row, Summary, Table
from experiments.figures import panel
from experiments.figures.panel import SHARE, Axis, Panel, Series, level, theory_line
from experiments.figures.style import series
from experiments.sequences import theory
from experiments.sequences.config import EXPONENTIAL
from experiments.statistics.clusters import by_group, curves, means_by_group
from experiments.statistics.crossings import straight_crossing
from experiments.statistics.deviations import errors_apart, share_within_two
from experiments.statistics.estimates import tidy

CURVE = ["degree", "learning", "correlation", "neurons"]


def summarise(table: Table) -> Summary:
    """Means at every measured length, and the length at which half of the sequences are whole."""
    table = table.assign(draws=1)
    lengths, half = [], []
    for curve, rows in curves(table, CURVE):
        entries = _lengths(curve, rows)
        lengths += entries
        half.append(_half_success(curve, entries))
    frame, estimates = pandas.DataFrame(lengths).rename(columns={"draws": "clusters"}), half
    for name, quantity in QUANTITIES.items():
        kind = "exact" if name == BITS else "independent bits"
        estimates += tidy(frame, [*CURVE, "patterns"], {name: quantity}, kind=kind)
    within = share_within_two(_errors_from_theory(entry) for entry in lengths if entry["bit_error_theory"] is not None)
    if not math.isnan(within):
        estimates.append({"quantity": "bit errors within two standard errors", "value": within, "headline": True})
    return Summary(estimates, _lines(table))


BITS = "bit_error"
QUANTITIES = {
    "whole": "share of sequences that are whole",
    "right": "share of transitions that are right",
    BITS: "share of bits that are wrong",
    "overlap": "overlap",
}
HALF = "half of sequences"


def _lines(table: Table) -> list[Row]:
    """Theory of the plain rule on independent patterns: shares against P, and the published capacities."""
    found: list[Row] = []
    plain = table[(table["learning"] == "plain") & (table["correlation"] == 0)]
    for about, rows in curves(plain, ["degree", "neurons"]):
        grid = np.unique(np.geomspace(2, 3 * rows["patterns"].max(), 40).round().astype(int)).tolist()
        for name, steps in (("whole", None), ("right", 1)):
            chances = [theory.chance_right(about["degree"], about["neurons"], p, steps or p) for p in grid]
            found.append({"quantity": QUANTITIES[name], **about, "kind": "independent bits", "x": grid, "y": chances})
        whole = {"quantity": QUANTITIES["whole"], **about, "kind": "Gaussian"}
        measured = sorted(int(p) for p in rows["patterns"].unique())
        shares = [theory.gaussian(about["degree"], about["neurons"], p) for p in measured]
        found.append(whole | {"x": measured, "y": shares})
        published = theory.published_capacities(about["degree"], about["neurons"])
        for sign, number in zip(("T", "S"), published or (), strict=False):
            found.append({"quantity": f"published P_{sign}", **about, "x": [number], "y": [0.03]})
    return found


def _lengths(curve: dict, rows: Table) -> list[dict]:
    """Shares and errors at every length, beside theory of the plain rule."""
    rule, neurons = curve["degree"], curve["neurons"]
    whole = by_group(rows, ["patterns"], "whole", "draws", "sample")
    right = by_group(rows, ["patterns"], "right", "patterns", "sample")
    spins = rows.assign(spins=rows["patterns"] * neurons)
    spins["wrong"] = (spins["bit_error"] * spins["spins"]).round()
    bits = by_group(spins, ["patterns"], "wrong", "spins", "sample")
    ends = means_by_group(rows, ["patterns"], "overlap", "sample", "draws")
    lengths = []
    for i, num_patterns in enumerate(int(x) for x in whole["patterns"]):
        entry = {"patterns": num_patterns, "draws": int((rows["patterns"] == num_patterns).sum())}
        for name, frame in (("whole", whole), ("right", right), ("bit_error", bits)):
            entry |= {name: float(frame["mean"].iloc[i])}
            entry |= {f"{name}_{side}": float(frame[side].iloc[i]) for side in ("low", "high")}
        entry |= {"overlap": float(ends["mean"].iloc[i])}
        for name, frame in (("bit_error", bits), ("overlap", ends)):
            entry |= {f"{name}_stderr": float(frame["stderr"].iloc[i])}
        theories = [theory.bit_error(rule, neurons, num_patterns)]
        theories += [theory.chance_right(rule, neurons, num_patterns, steps) for steps in (1, num_patterns)]
        names = ("bit_error_theory", "right_theory", "whole_theory")
        lengths.append(curve | entry | dict(zip(names, theories if _has_theory(curve) else [None] * 3, strict=True)))
    return lengths


def _has_theory(curve: dict) -> bool:
    """True if the theory applies to a curve: independent patterns, learned by the plain rule."""
    return curve["learning"] == "plain" and curve["correlation"] == 0


def _half_success(curve: dict, lengths: list[dict]) -> dict:
    """Point where the share of whole sequences passes one half, interpolated in ln P, with theory of the plain rule."""
    log_length = np.log([entry["patterns"] for entry in lengths])
    half = straight_crossing(log_length, [entry["whole"] - 0.5 for entry in lengths])
    measured = None if np.isnan(half) else float(np.exp(half))
    expected = theory.length(curve["degree"], curve["neurons"], 0.5) if _has_theory(curve) else None
    entry = {"value": measured, "theory": expected, "kind": "independent bits", "headline": measured is not None}
    return {"quantity": HALF, **curve, **entry}


def _errors_from_theory(entry: dict) -> float:
    """Standard errors between the measured and the exact error of a spin, NaN of one draw."""
    seen, expected, error, low, high = (
        entry[f"bit_error{name}"] for name in ("", "_theory", "_stderr", "_low", "_high")
    )
    return errors_apart(seen, error, expected, 1 / (high - low) - 1)


def panels(table: Table, summary: Summary) -> list[Panel]:
    """Whole sequences against P for every rule, then measured against exact errors of a bit, then the rest."""
    wholes, rights, bits = (summary.of(QUANTITIES[name]) for name in ("whole", "right", BITS))
    plain = wholes[_is_plain(wholes)]
    shown = [
        _whole(rows, rights[_is_plain(rights)], str(rule), summary)
        for rule, rows in plain.groupby("degree", sort=False)
    ]
    shown += [_bits(bits[_is_plain(bits)])] if len(plain) else []
    others = rights[~_is_plain(rights)]
    if len(others):
        shown.append(_correlated(rights[rights["correlation"].isin(others["correlation"])]))
    return shown


def _is_plain(rows: Table) -> Table:
    return (rows["learning"] == "plain") & (rows["correlation"] == 0)


def _name(rule: str) -> str:
    return "exponential" if rule == EXPONENTIAL else f"$d={rule}$"


def _whole(rows: Table, rights: Table, rule: str, summary: Summary) -> Panel:
    """Share of whole sequences and of single transitions against the number of patterns."""
    looks = series([str(size) for size in sorted(rows["neurons"].unique())])
    filled = {size: look | {"linestyle": "", "markersize": 4} for size, look in looks.items()}
    hollow = {size: look | {"markerfacecolor": "white"} for size, look in filled.items()}
    rights = rights[rights["degree"] == rule]
    found = panel.curves(rows, "patterns", "value", by="neurons", label="$N={}$", looks=filled)
    found += panel.curves(rights, "patterns", "value", by="neurons", label=lambda size: "", looks=hollow)
    for size in sorted(rows["neurons"].unique()):
        color, about = looks[str(size)]["color"], {"degree": rule, "neurons": size}
        for name, line in (("whole", "--"), ("right", ":")):
            known = summary.line(QUANTITIES[name], **about, kind="independent bits").iloc[0]
            found.append(theory_line(known["x"], known["y"], color=color, linestyle=line))
        for sign, mark in (("S", 6), ("T", 7)):
            known = summary.line(f"published P_{sign}", **about)
            found += [Series(x, y, color=color, marker=mark) for x, y in zip(known["x"], known["y"], strict=True)]
    if rule != EXPONENTIAL:
        found += [panel.entry(f"published $P_{sign}$", color="0.4", marker=mark) for sign, mark in (("S", 6), ("T", 7))]
    found += [
        panel.entry("whole sequence: independent bits", linestyle="--"),
        panel.entry("one step (open): independent bits", linestyle=":"),
    ]
    share = Axis("share right", limits=SHARE, ticks=[(k / 5, f"{k / 5:g}") for k in range(6)])
    return Panel(_name(rule), Axis("patterns $P$", "log"), share, found)


def _bits(rows: Table) -> Panel:
    """Measured over exact errors of a bit, at every length. Where none were seen, the ratio is 0 with its upper bar."""
    names = ["value", "low", "high"]
    rows = rows.drop(columns=names).join(rows[names].div(rows["theory"], axis=0))
    looks = {
        name: look | {"linestyle": "", "markersize": 4}
        for name, look in series([str(rule) for rule in rows["degree"]]).items()
    }
    found = panel.curves(rows, "theory", "value", by="degree", label=lambda rule: _name(str(rule)), looks=looks)
    x, y = Axis(r"exact error of a spin $\varepsilon$", "log"), Axis("measured over exact", limits=(-0.1, 3))
    return Panel("one step", x, y, [*found, level(1.0)])


def _correlated(rows: Table) -> Panel:
    """Transitions right against the mean overlap of patterns, with either way of learning, at each rule's largest N."""
    found = []
    for (rule, learning), part in rows.groupby(["degree", "learning"], sort=False):
        part = part[part["neurons"] == part["neurons"].max()]
        part = part[part["patterns"] == part["patterns"].max()]
        size = f"$N={part['neurons'].max()}$, $P={part['patterns'].max()}$"
        found.append(part.assign(name=f"{_name(str(rule))}, {str(learning).replace('_', '-')}, {size}"))
    x, y = Axis("mean overlap of patterns $c$"), Axis("transitions right", limits=(-0.03, 1.05))
    return Panel(
        "correlated patterns", x, y, panel.curves(pandas.concat(found), "correlation", "value", by="name", label="{}")
    )
