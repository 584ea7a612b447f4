"""Columns of the table of phase_diagram, each with its meaning and unit."""

from experiments.columns import Column, shared

COLUMNS = shared(
    "memory",
    "neurons",
    "patterns",
    "temperature",
    "queries",
    "max_steps",
    "sample",
    "load",
    "beta",
    "step_limit",
) | {
    "study": Column("map, or curve against T", kind=str),
    "asked": Column("load that was asked for, from which M is rounded", "as load"),
    "load_low": Column("lower edge of the cell in load", "as load"),
    "load_high": Column("upper edge of the cell in load", "as load"),
    "temperature_low": Column("lower edge of the cell in temperature", "scores"),
    "temperature_high": Column("upper edge of the cell in temperature", "scores"),
    "level": Column("how often the cell was cut", "count", kind=int),
    "column": Column("column of the cell in its map", kind=int),
    "row": Column("row of the cell in its map", kind=int),
    "burn_in": Column("sweeps before averages are taken", "sweeps", kind=int),
    "sweeps": Column("sweeps over which averages are taken", "sweeps", kind=int),
    "retrieval": Column("queries that end held by the target", "count of queries", kind=int),
    "other_pattern": Column("queries that end held by another single pattern", "count of queries", kind=int),
    "mixture": Column("queries that end ordered without a single pattern", "count of queries", kind=int),
    "disorder": Column("queries that end not ordered", "count of queries", kind=int),
    "overlap": Column("mean overlap m, of spins averaged over the sweeps, of the modern network at its end", "−1 to 1"),
    "self_overlap": Column("overlap q of two time averages", "−1 to 1"),
    "drift": Column("change of the overlap m between the halves of the sweeps"),
}
