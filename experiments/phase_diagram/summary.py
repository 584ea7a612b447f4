"""Summary of phase diagrams: the measured end of retrieval, its overlaps and its maps, beside theory."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas

from experiments.contract import Row, Summary, Table
from experiments.phase_diagram import diagrams, measurement, theory
from experiments.phase_diagram.config import LENGTHS, MEMORIES
from experiments.phase_diagram.refinement import Cell, leaves
from experiments.shared import convergence
from experiments.statistics.clusters import clustered_mean
from experiments.statistics.estimates import tidy
from experiments.statistics.extrapolation import extrapolate
from experiments.statistics.thresholds import critical_load
from hopfield.theory import classical

MARGIN = 3.0
"""Widths of the rounding by which a temperature must lie below the measured line to count as away from it."""
LINE = ("asked", "neurons", "burn_in", "sweeps")
CRITERION = f"half of the queries are held by their pattern: m² > q/2, q > {diagrams.FROZEN:g}"
"""Meaning of a measured end of retrieval, which belongs to its number of sweeps."""


def summarise(table: Table) -> Summary:
    """Temperatures at which retrieval ends, overlaps beside the replica theory, and agreement of the maps with theory.

    `theory` and `thermodynamic` are replica-symmetric and of N → ∞, right above `almeida_thouless`, the temperature T_R
    where symmetry breaks (null: below 1e-4). Loads are those stored, `asked` those asked for. `dense` has the lines of
    dense memories, `zero_temperature` the capacity of the classical network with and without broken symmetry. Theory is
    of states at rest: beside a map of a single update it is null.
    """
    curves = table[table["study"] == "curve"]
    lines = [_line(rows) for _, rows in curves.groupby(list(LINE), sort=False)]
    overlaps = [entry for line in lines for entry in _overlaps(curves, line)]
    limits = _limits(overlaps)
    maps = [_map(rows) for rows in maps_of(table)]
    of = [*(name for name in LINE if name != "asked"), "load", "temperature"]
    estimates = _told(lines, limits, maps)
    if overlaps:
        known = pandas.DataFrame(overlaps).rename(columns=lambda name: name.replace("_theory", "_limit"))
        quantities = {"overlap": "overlap", "self_overlap": "self-overlap"}
        estimates += tidy(known, of, quantities, kind="replica symmetric")
        estimates += tidy(known, of, {"retrieval": "share of queries that retrieve", "drift": "drift of the overlap"})
    more = {
        "retrieval_line": lines,
        "extrapolation": _extrapolation(lines),
        "overlap_limit": limits,
        "agreement": _agreement(overlaps, limits),
        "maps": maps,
        "theory": {memory: diagrams.of_memory(memory).theory for memory in MEMORIES},
        "zero_temperature": theory.zero_temperature(),
        "dense": [{"degree": n} | theory.dense_lines(n)._asdict() for n in theory.DEGREES],
    }
    known = [*_curve_lines(overlaps), *_map_lines(table)]
    return Summary(estimates, known, convergence.notes(table, ["memory"], "retrieval"), more)


MAP, OVERLAP = "line of a map", "overlap"


def stored_loads(frame: Table) -> dict[float, float]:
    """Load that the largest network stores, by load asked for. They differ: numbers of patterns are whole and odd."""
    return frame.sort_values("neurons", kind="stable").groupby("asked", sort=False)["load"].last().to_dict()


def commonest(frame: Table) -> Table:
    """Overlaps at the sweeps that were measured at most sizes."""
    burn_in, sweeps = frame.groupby(["burn_in", "sweeps"])["neurons"].nunique().idxmax()
    return frame[(frame["burn_in"] == burn_in) & (frame["sweeps"] == sweeps)]


def _curve_lines(overlaps: list[dict]) -> Iterator[Row]:
    """Overlap of retrieval states against temperature, to where they end, at each load that is stored."""
    frame = commonest(pandas.DataFrame(overlaps)) if overlaps else pandas.DataFrame()
    known = bool(overlaps) and bool(frame["overlap_theory"].notna().to_numpy().any())
    for load in stored_loads(frame).values() if known else ():
        end = float(classical.spinodal_temperature(load))
        if np.isfinite(end):
            temperatures = end - (end - 0.02) * np.linspace(0, 1, 200) ** 2
            edge = float(classical.retrieval_overlap(load, end - 1e-9))
            about = {"quantity": OVERLAP, "load": load, "kind": "replica symmetric"}
            overlap = classical.retrieval_overlap(load, temperatures)
            yield {**about, "x": temperatures.tolist(), "y": overlap.tolist()}
            yield {**about, "edge": True, "x": [end, end], "y": [0.0, edge]}


def _map_lines(table: Table) -> Iterator[Row]:
    """Lines of theory on each map, by its number; a line of one point is a mark."""
    for number, area in enumerate(maps_of(table)):
        first, found = area.iloc[0], cells(area)
        diagram, low, high = diagrams.of_memory(first["memory"]), found["bottom"].min(), found["top"].max()
        heights = np.geomspace(low, high, 121) if diagram.yscale == "log" else np.linspace(low, high, 241)
        loads = np.linspace(found["load_low"].min(), found["load_high"].max(), 241)
        for x, y, label in diagram.lines(theory.end_of(area), loads, heights, int(first["neurons"])):
            line = {"x": np.atleast_1d(x).tolist(), "y": np.atleast_1d(y).tolist()}
            yield {"quantity": MAP, "map": number, "memory": first["memory"], "label": label, **line}


def maps_of(table: Table) -> list[Table]:
    """Rows of every map. A map has one memory and one effort, and its coarsest cells fit into one grid."""
    rows = table[table["study"] == "map"]
    if rows.empty:
        return []
    edges = rows[["memory", "temperature_low", "temperature_high"]].itertuples(index=False, name=None)
    *_, start, height = np.array([diagrams.of_memory(memory).edges(cold, warm) for memory, cold, warm in edges]).T
    sides = {"column": (rows["load_low"], rows["load_high"] - rows["load_low"]), "row": (start, height)}
    grid = [rows[name] for name in ("memory", "neurons", *LENGTHS)]
    for place, (low, length) in sides.items():
        grid += [(length * 2.0 ** rows["level"]).round(9), (low - rows[place] * length).round(9)]
    return [part for _, part in rows.groupby(grid, sort=False)]


def cells(rows: Table) -> Table:
    """One row for each uncut cell of a map: edges, means over its draws, and `regime`, which most queries are in.

    `bottom` and `top` are edges on the vertical axis, `area` is that on the scale on which cells are equal.

    Args:
        rows: the rows of one map.
    """
    groups = {Cell(*map(int, key)): group for key, group in rows.groupby(["level", "column", "row"], sort=False)}
    found, diagram = [], diagrams.of_memory(rows["memory"].iloc[0])
    for cell in leaves(groups):
        group = groups[cell]
        entry = group.iloc[0][["load_low", "load_high", "temperature_low", "temperature_high"]].to_dict()
        left, right, *sides = entry.values()
        bottom, top, _, height = diagram.edges(*sides)
        entry |= {"bottom": bottom, "top": top, "area": (right - left) * height}
        means = {name: group[name].mean() for name in ("load", "temperature", "beta", "overlap", "self_overlap")}
        found.append(entry | means | {"level": cell.level, "regime": measurement.majority(group.to_dict("records"))})
    return pandas.DataFrame(found)


def _line(rows: Table) -> dict:
    """Temperature at which half of the queries of one curve have lost their pattern, and over what width they do."""
    found = critical_load(rows["temperature"], rows["retrieval"], rows["queries"], rows["sample"])
    load = float(rows["load"].iloc[0])
    entry: dict[str, Any] = {"load": load} | {name: rows[name].iloc[0].item() for name in LINE}
    entry |= {"observed_sweeps": entry["burn_in"] + entry["sweeps"], "criterion": CRITERION}
    entry |= {"temperature": found.value, "stderr": found.stderr}
    entry |= {"width": found.width, "chi2": found.chi2, "dof": found.dof, "method": found.method}
    at_rest = theory.end_of(rows) == convergence.REST
    return entry | {
        "theory": float(classical.spinodal_temperature(load)) if at_rest else None,
        "thermodynamic": float(classical.thermodynamic_temperature(load)) if at_rest else None,
        "almeida_thouless": theory.almeida_thouless(load) if at_rest else None,
    }


def _overlaps(curves: Table, line: dict) -> list[dict]:
    """Overlap and self-overlap at each temperature of one curve, beside the replica theory."""
    rows = curves[(curves[list(LINE)] == [line[name] for name in LINE]).all(axis=1)]
    found = []
    for temperature, group in rows.groupby("temperature"):
        known = classical.replica(line["load"], temperature) if line["theory"] is not None else None
        entry: dict[str, Any] = {name: line[name] for name in ("load", *LINE)} | {"temperature": temperature}
        entry["level"] = int(group["level"].iloc[0])
        entry["retrieval"] = group["retrieval"].sum() / group["queries"].sum()
        for name, of in (("overlap", "overlap"), ("self_overlap", "q")):
            mean = clustered_mean(group[name], group["sample"], group["queries"])
            entry |= {name: mean.mean, f"{name}_stderr": mean.stderr}
            entry |= {f"{name}_theory": None if known is None else float(getattr(known, of))}
        entry["drift"] = float(np.average(group["drift"], weights=group["queries"]))
        entry["away"] = known is not None and bool(temperature <= line["temperature"] - MARGIN * line["width"])
        found.append(entry)
    return found


def _limits(overlaps: list[dict]) -> list[dict]:
    """Overlaps extrapolated to infinite size, linearly in 1/N, at temperatures away from the line at every size.

    Offsets from theory at the stored load are extrapolated, as M is rounded; the limit belongs to the load asked for.
    """
    if not overlaps:
        return []
    frame: Table = pandas.DataFrame(overlaps)
    found = []
    for key, rows in frame[frame["level"] == 0].groupby(["asked", "burn_in", "sweeps", "temperature"]):
        load, burn_in, sweeps, temperature = key
        same = (frame["burn_in"] == burn_in) & (frame["sweeps"] == sweeps)
        least = max(frame.loc[same, "neurons"].nunique(), 2)
        if len(rows) < least or not rows["away"].all() or not (rows["overlap_stderr"] > 0).all():
            continue
        offset = rows["overlap"] - rows["overlap_theory"]
        fit = extrapolate(rows["neurons"], offset, rows["overlap_stderr"], (1.0,), free=False)[0]
        theory = float(classical.retrieval_overlap(load, temperature))
        entry = {"load": load, "burn_in": burn_in, "sweeps": sweeps, "temperature": temperature}
        entry |= {"overlap": theory + fit["load"], "stderr": fit["stderr"], "theory": theory}
        found.append(entry | {"amplitude": fit["amplitude"], "chi2": fit["chi2"], "dof": fit["dof"]})
    return found


def _extrapolation(lines: list[dict]) -> list[dict]:
    """The measured line against size, by load and sweeps, with several exponents."""
    found = []
    for key in dict.fromkeys(tuple(line[name] for name in ("asked", "burn_in", "sweeps")) for line in lines):
        load, burn_in, sweeps = key
        same = [line for line in lines if (line["asked"], line["burn_in"], line["sweeps"]) == key]
        theory = float(classical.spinodal_temperature(load))
        chosen = [line for line in same if line["stderr"] > 0 and line["theory"] is not None]
        # M is rounded: theory gives the difference between the loads stored and asked for
        moved = [line["temperature"] - line["theory"] + theory for line in chosen]
        sizes, errors = ([line[name] for line in chosen] for name in ("neurons", "stderr"))
        for fit in extrapolate(sizes, moved, errors):
            fit["temperature"] = fit.pop("load")
            found.append({"load": load, "burn_in": burn_in, "sweeps": sweeps, "theory": theory} | fit)
    return found


def _agreement(overlaps: list[dict], limits: list[dict]) -> list[dict]:
    """Deviation of the overlaps away from the line from the replica theory, by load and size (null: extrapolated)."""
    curves: dict[tuple, list[tuple[float, float]]] = {}
    for entry in overlaps:
        if entry["away"] and entry["overlap_stderr"] > 0:
            own = curves.setdefault((entry["load"], entry["neurons"], entry["burn_in"], entry["sweeps"]), [])
            own.append((entry["overlap"] - entry["overlap_theory"], entry["overlap_stderr"]))
    for entry in limits:
        own = curves.setdefault((entry["load"], None, entry["burn_in"], entry["sweeps"]), [])
        own.append((entry["overlap"] - entry["theory"], entry["stderr"]))
    found = []
    for key, pairs in curves.items():
        offset, error = np.array(pairs).T
        worst = {"largest_offset": np.abs(offset).max(), "largest_score": np.abs(offset / error).max()}
        chi2 = {"chi2": np.sum((offset / error) ** 2), "temperatures": len(pairs)}
        found.append(dict(zip(("load", "neurons", "burn_in", "sweeps"), key, strict=True)) | worst | chi2)
    return found


def _map(rows: Table) -> dict:
    """Number of cells a map took, and the largest distance from the line of theory of a cell that contradicts it."""
    memory, neurons = rows["memory"].iloc[0], int(rows["neurons"].iloc[0])
    found = cells(rows)
    finest = 4 ** int(found["level"].max()) * int((rows["level"] == 0).sum() // rows["sample"].nunique())
    area, held = found["area"], found["regime"] == "retrieval"
    wrong = held != diagrams.of_memory(memory).retrieves(neurons, *found[["load", "temperature"]].to_numpy(float).T)
    known = theory.end_of(rows) == convergence.REST
    return {
        "memory": memory,
        "neurons": neurons,
        **{name: int(rows[name].iloc[0]) for name in LENGTHS},
        "cells": len(found),
        "measured": len(rows.groupby(["level", "column", "row"])),
        "finest": finest,
        "contradicting": int(wrong.sum()) if known else None,
        "contradicting_area": float(area[wrong].sum() / area.sum()) if known else None,
        "regimes": {name: float(area[found["regime"] == name].sum() / area.sum()) for name in diagrams.REGIMES},
        "step_limit": int(rows["step_limit"].sum()),
    }


def _told(lines: list[dict], limits: list[dict], maps: list[dict]) -> list[Row]:
    """The measured end of retrieval with its sweeps, and how well overlaps and maps agree with theory."""
    told: list[Row] = []
    for line in lines:
        about = {name: line[name] for name in ("load", "neurons", "burn_in", "sweeps")}
        entry = {"value": line["temperature"], "stderr": line["stderr"], "limit": line["theory"]}
        entry |= {name: line[name] for name in ("width", "chi2", "dof")} | {"fit": line["method"]}
        entry |= {"kind": "replica symmetric", "headline": line["stderr"] > 0}
        told.append({"quantity": "temperature at which half is lost", **about, **entry})
    if limits:
        scores = [abs(entry["overlap"] - entry["theory"]) / entry["stderr"] for entry in limits]
        told.append({"quantity": "largest score of the overlap limit", "value": max(scores), "headline": True})
    for entry in maps:
        if entry["contradicting_area"] is not None:
            about = {name: entry[name] for name in ("memory", "neurons", *LENGTHS)}
            value = {"value": entry["contradicting_area"], "headline": True}
            told.append({"quantity": "area that contradicts theory", **about, **value})
    return told
