"""Summary of a table of sequences: shares right with errors beside theory, and lengths at which half are."""

import math

import numpy as np

from experiments.contract import Table
from experiments.sequences import theory
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
