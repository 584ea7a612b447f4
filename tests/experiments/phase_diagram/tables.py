"""Tables of the phase diagram for its tests: the rows of whole runs."""

import json

from experiments.phase_diagram import experiment as phase_diagram
from experiments.phase_diagram.config import Config
from experiments.system import files


def rows_of(config: Config) -> list[dict]:
    """Every row of a run, refined points included, as the ledger would hand them on."""
    points = phase_diagram.points(config)
    rows: list[dict] = []
    while points:
        measured = {key_of(row, points[0]): row for row in phase_diagram.measure(config, points)}
        rows += [json.loads(files.encode(measured[key_of(point, point)])) for point in points]
        points = phase_diagram.refine(config, rows)
    return rows


def key_of(row: dict, point: dict) -> str:
    return files.fingerprint({name: row[name] for name in point})
