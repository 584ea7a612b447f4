"""Tables of the explorer page: `python scripts/explorer.py CAPACITY PHASES`, folders of runs of the configurations.

Writes docs/_static/explorer/tables.js: shares of queries retrieved against load, by memory and size, and overlaps over
load and temperature on the cells of the finest level, with the lines of theory.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas

from experiments.capacity import theory
from experiments.contract import InputError, Table
from experiments.phase_diagram import diagrams
from experiments.phase_diagram.config import MEMORIES as MAPPED
from experiments.phase_diagram.summary import cells
from experiments.runner import boundary
from experiments.statistics.clusters import standard_error
from hopfield.theory import classical, spherical

TARGET = Path(__file__).resolve().parent.parent / "docs" / "_static" / "explorer" / "tables.js"
CRITERIA = {"retained": "end above an overlap of 0.8", "converged_weight": "end with more than half of the weight"}
MEMORIES = {
    "classical": "retained",
    "dense:3": "retained",
    "exponential": "converged_weight",
    "modern": "converged_weight",
}
COLUMNS = ("memory", "corruption", "beta", *CRITERIA)
"""Columns that a run of a capacity has, and others have not."""


def capacity(table: Table) -> dict[str, Any]:
    """Curves [load, share, standard error over samples] of every memory, by size, with β.

    Theory is the load at which half are retrieved: its limit, and by size where known, else None.

    Raises:
        InputError: a memory was not measured with clean starts, or at several β.
    """
    found = {}
    for memory, criterion in MEMORIES.items():
        rows = table[(table["memory"] == memory) & (table["corruption"] == "clean")]
        betas = rows["beta"].unique()
        if len(betas) != 1:
            wanted = ", ".join(MEMORIES)
            raise InputError(f"CAPACITY must hold clean starts of {wanted} at one β each, got {len(betas)} of {memory}")
        beta = None if np.isnan(betas[0]) else float(betas[0])
        shares = (rows[criterion] / rows["queries"]).groupby([rows["neurons"], rows["load"].round(6)])
        share = shares.agg(["mean", standard_error])
        sizes = {
            int(size): [[load, round(mean, 4), round(error, 4)] for (_, load), mean, error in part.itertuples()]
            for size, part in share.groupby(level=0)
        }
        limit, *known = (theory.critical_load(memory, criterion, size, 0, beta) for size in (None, *sizes))
        at_size = dict(zip(sizes, known, strict=True))
        entry = {"criterion": CRITERIA[criterion], "beta": beta, "limit": limit, "theory": at_size, "sizes": sizes}
        found[memory.partition(":")[0]] = entry
    return found


def phases(table: Table) -> dict[str, Any]:
    """Maps of overlap and regime with the edges of their cells, and lines of theory.

    Raises:
        InputError: a network has no map.
    """
    rows, found = table[table["study"] == "map"], {}
    if missing := [memory for memory in MAPPED if memory not in set(rows["memory"])]:
        raise InputError(f"PHASES must hold maps of {', '.join(MAPPED)}, got none of {', '.join(missing)}")
    for memory in MAPPED:
        area, diagram = rows[rows["memory"] == memory], diagrams.of_memory(memory)
        neurons, leaves = int(area["neurons"].iloc[0]), cells(area)
        low, high = leaves["bottom"].to_numpy(float), leaves["top"].to_numpy(float)
        edges = leaves[["load_low", "load_high"]].to_numpy(float)
        x, y = (np.unique(np.round(part, 9)) for part in (edges, np.stack([low, high])))
        regimes = list(diagrams.REGIMES)
        overlap, regime = np.zeros((len(y) - 1, len(x) - 1)), np.zeros((len(y) - 1, len(x) - 1), int)
        for (left, right), bottom, top, m, kind in zip(
            edges, low, high, leaves["overlap"], leaves["regime"], strict=True
        ):
            inside = np.ix_(
                (y[:-1] > bottom - 1e-6) & (y[1:] < top + 1e-6), (x[:-1] > left - 1e-6) & (x[1:] < right + 1e-6)
            )
            overlap[inside], regime[inside] = m, regimes.index(kind)
        found[memory] = {
            "neurons": neurons,
            "log": diagram.yscale == "log",
            "title": "load M/N" if memory == "classical" else "load ln M / N",
            "x": x.round(6).tolist(),
            "y": y.round(6).tolist(),
            "overlap": overlap.round(3).tolist(),
            "regime": regime.tolist(),
            "words": [*diagram.words],
            "lines": [line | _inside(line, x, y) for line in _lines(memory, neurons, x, y)],
        }
    return found


def _lines(memory: str, neurons: int, x: np.ndarray, y: np.ndarray) -> list[dict[str, Any]]:
    if memory == "modern":
        betas = np.geomspace(y[0], y[-1], 80)
        loads = spherical.critical_load(neurons, betas * neurons, "converged_weight")
        return [{"name": "retrieval ends (annealed)", "x": loads, "y": betas}]
    loads, cold = np.linspace(x[0], x[-1], 60), np.linspace(0.01, 0.99, 80)
    return [
        {"name": "T_M, retrieval ends", "x": classical.spinodal_load(cold), "y": cold},
        {"name": "T_c, retrieval is stable below", "x": classical.thermodynamic_load(cold), "y": cold},
        {"name": "T_g, spins freeze", "x": loads, "y": classical.spin_glass_temperature(loads)},
    ]


def _inside(line: dict[str, Any], x: np.ndarray, y: np.ndarray) -> dict[str, list[float]]:
    a, b = np.asarray(line["x"], float), np.asarray(line["y"], float)
    kept = (a >= x[0]) & (a <= x[-1]) & (b >= y[0]) & (b <= y[-1])
    return {"x": a[kept].round(5).tolist(), "y": b[kept].round(5).tolist()}


def _table(name: str, folder: str, columns: tuple[str, ...]) -> Table:
    """Table of a run. Raises InputError without a table, or for one of another experiment."""
    path = Path(folder) / "table.csv"
    if not path.is_file():
        raise InputError(f"{name} must be the folder of a run, got {folder}, without table.csv")
    table = pandas.read_csv(path)
    if missing := [column for column in columns if column not in table]:
        raise InputError(f"{name} must be a run of its configuration, got {folder}, without {', '.join(missing)}")
    return table


def main(argv: list[str]) -> int:
    """Write the tables of two runs."""
    if len(argv) != 2:
        raise InputError(f"explorer.py must be followed by the folders of a capacity and a phase diagram, got {argv}")
    measured = _table("CAPACITY", argv[0], COLUMNS), _table("PHASES", argv[1], ("study", "memory"))
    told = {"capacity": capacity(measured[0]), "phases": phases(measured[1])}
    TARGET.write_text(f"const TABLES = {json.dumps(told, ensure_ascii=False)};\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(boundary.run_command(lambda: main(sys.argv[1:]), final=True))
