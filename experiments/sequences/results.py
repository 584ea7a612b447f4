"""Results of a table of sequences: shares right with errors beside theory, and lengths at which half are."""

import math
from typing import Any

import numpy as np
import pandas

from experiments.contract import Table
from experiments.figures import panel
from experiments.figures.panel import SHARE, Axis, Panel, Series, level, theory_line
from experiments.figures.style import series
from experiments.sequences import theory
from experiments.sequences.config import EXPONENTIAL
from experiments.statistics.clusters import by_group, curves, means_by_group
from experiments.statistics.crossings import straight_crossing
from experiments.statistics.deviations import errors_apart, share_within_two

CURVE = ["degree", "learning", "correlation", "neurons"]


def summarise(table: Table) -> dict:
    """`lengths`: every measured length; `half`: the length at which half of the sequences are whole."""
    table = table.assign(draws=1)
    lengths, half = [], []
    for curve, rows in curves(table, CURVE):
        entries = _lengths(curve, rows)
        lengths += entries
        half.append(curve | _half_success(curve, entries))
    return {"lengths": lengths, "half": half, "scalars": _scalars(lengths, half)}


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
        theories = (theory.bit_error(rule, neurons, num_patterns), theory.chance_right(rule, neurons, num_patterns, 1))
        theories = (
            *theories,
            theory.chance_right(rule, neurons, num_patterns, num_patterns),
            theory.gaussian(rule, neurons, num_patterns),
        )
        names = ("bit_error_theory", "right_theory", "whole_theory", "whole_gaussian")
        lengths.append(curve | entry | dict(zip(names, theories if _has_theory(curve) else [None] * 4, strict=True)))
    return lengths


def _has_theory(curve: dict) -> bool:
    """Whether the theory applies to a curve: independent patterns, learned by the plain rule."""
    return curve["learning"] == "plain" and curve["correlation"] == 0


def _half_success(curve: dict, lengths: list[dict]) -> dict:
    """Point where the share of whole sequences passes one half, interpolated in ln P, with theory of the plain rule."""
    log_length = np.log([entry["patterns"] for entry in lengths])
    half = straight_crossing(log_length, [entry["whole"] - 0.5 for entry in lengths])
    measured = None if np.isnan(half) else float(np.exp(half))
    expected, published = None, None
    if _has_theory(curve):
        expected = theory.length(curve["degree"], curve["neurons"], 0.5)
        published = theory.published_capacities(curve["degree"], curve["neurons"])
    published_halves = dict(zip(("P_T", "P_S"), published or (None, None), strict=True))
    return {"patterns": measured, "independent_bits": expected} | published_halves


def _scalars(lengths: list[dict], half: list[dict]) -> dict[str, float]:
    scalars = {}
    for entry in half:
        if entry["patterns"] is not None:
            name = f"half_of_sequences/d={entry['degree']}/N={entry['neurons']}"
            name += "" if entry["learning"] == "plain" else f"/{entry['learning']}"
            name += "" if entry["correlation"] == 0 else f"/c={entry['correlation']:g}"
            scalars[name] = entry["patterns"]
    within = share_within_two(_errors_from_theory(entry) for entry in lengths if entry["bit_error_theory"] is not None)
    return scalars if math.isnan(within) else scalars | {"bit_errors_within_two_standard_errors": within}


def _errors_from_theory(entry: dict) -> float:
    """Standard errors between the measured and the exact error of a spin, NaN of one draw."""
    seen, expected, error, low, high = (
        entry[f"bit_error{name}"] for name in ("", "_theory", "_stderr", "_low", "_high")
    )
    return errors_apart(seen, error, expected, 1 / (high - low) - 1)


def panels(table: Table, summary: dict) -> list[Panel]:
    """Whole sequences against P for every rule, then measured against exact errors of a bit, then the rest."""
    lengths: Table = pandas.DataFrame(summary["lengths"])
    plain = lengths[(lengths["learning"] == "plain") & (lengths["correlation"] == 0)]
    others = lengths[(lengths["learning"] != "plain") | (lengths["correlation"] != 0)]
    shown = [_whole(rows, str(rule), summary["half"]) for rule, rows in plain.groupby("degree", sort=False)]
    shown += [_bits(plain)] if len(plain) else []
    if len(others):
        measured = set(others["correlation"])
        shown.append(_correlated(lengths[[c in measured for c in lengths["correlation"]]]))
    return shown


def _name(rule: str) -> str:
    return "exponential" if rule == EXPONENTIAL else f"$d={rule}$"


def _whole(rows: Table, rule: str, half: list[dict]) -> Panel:
    """Share of whole sequences and of single transitions against the number of patterns."""
    looks = series([str(size) for size in sorted(rows["neurons"].unique())])
    filled = {size: look | {"linestyle": "", "markersize": 4} for size, look in looks.items()}
    hollow = {size: look | {"markerfacecolor": "white"} for size, look in filled.items()}
    found = panel.curves(rows, "patterns", "whole", by="neurons", label="$N={}$", looks=filled)
    found += panel.curves(rows, "patterns", "right", by="neurons", label=lambda size: "", looks=hollow)
    for size, part in rows.groupby("neurons"):
        color = looks[str(size)]["color"]
        grid = np.unique(np.geomspace(2, 3 * part["patterns"].max(), 40).round().astype(int))
        for whole, line in ((True, "--"), (False, ":")):
            chances = [theory.chance_right(rule, int(size), int(p), int(p) if whole else 1) for p in grid]
            found.append(theory_line(grid, chances, color=color, linestyle=line))
        found += _published(half, rule, int(size), color)
    if rule != EXPONENTIAL:
        found += [panel.entry(f"published $P_{sign}$", color="0.4", marker=mark) for sign, mark in (("S", 6), ("T", 7))]
    found += [
        panel.entry("whole sequence: theory", linestyle="--"),
        panel.entry("one step (open): theory", linestyle=":"),
    ]
    share = Axis("share right", limits=SHARE, ticks=[(k / 5, f"{k / 5:g}") for k in range(6)])
    return Panel(_name(rule), Axis("patterns $P$", "log"), share, found)


def _published(half: list[dict], rule: str, size: int, color: str) -> list[Series]:
    """Marks of the published capacities of a rule and size."""
    known = [entry for entry in half if (entry["degree"], entry["neurons"], entry["learning"]) == (rule, size, "plain")]
    marks: list[tuple[str, Any]] = [("P_S", 6), ("P_T", 7)]
    return [
        Series([one[place]], [0.03], color=color, marker=mark) for one in known if one["P_T"] for place, mark in marks
    ]


def _bits(rows: Table) -> Panel:
    """Measured over exact errors of a bit, at every length. Where none were seen, the ratio is 0 with its upper bar."""
    exact = rows["bit_error_theory"].astype(float)
    names = ["bit_error", "bit_error_low", "bit_error_high"]
    rows = rows.drop(columns=names).join(rows[names].div(exact, axis=0))
    looks = {
        name: look | {"linestyle": "", "markersize": 4}
        for name, look in series([str(rule) for rule in rows["degree"]]).items()
    }
    found = panel.curves(
        rows, "bit_error_theory", "bit_error", by="degree", label=lambda rule: _name(str(rule)), looks=looks
    )
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
    return Panel("correlated patterns", x, y, panel.curves(pandas.concat(found), "correlation", "right", by="name"))
