"""Columns of the table of throughput, each with its meaning and unit."""

from experiments.columns import Column, shared

COLUMNS = shared("task", "neurons", "patterns") | {
    "axis": Column("what is varied", kind=str),
    "queries": Column("queries of one call", "count", kind=int),
    "compile_s": Column("time of compilation", "s"),
    "run_s": Column("time of the best run", "s"),
    "run_median_s": Column("time of the median run", "s"),
    "rows_per_s": Column("pattern–query pairs per second", "1/s"),
    "flop_per_s": Column("operations per second", "1/s"),
    "product_flop_per_s": Column("operations per second of a matrix product run in alternation", "1/s"),
    "share": Column("flop_per_s over product_flop_per_s"),
    "argument_bytes": Column("memory of the inputs", "bytes", kind=int),
    "temporary_bytes": Column("memory that the program holds beside its inputs and outputs", "bytes", kind=int),
}
