"""Columns of the table of gradients, each with its meaning and unit."""

from experiments.columns import Column, shared

COLUMNS = shared("separation", "metric") | {
    "dtype": Column("number type of the inputs", kind=str),
    "mask": Column("mask of the case", kind=str),
    "shape": Column("shape of the case", kind=str),
    "input": Column("input whose gradient is taken", kind=str),
    "size": Column("entries of that input", "count", kind=int),
    "magnitude": Column("largest entry of the gradient"),
    "autodiff": Column("largest deviation from automatic differentiation"),
    "difference": Column("largest deviation from finite differences; empty where none are taken"),
    "tolerance": Column("largest autodiff allowed"),
    "difference_tolerance": Column("largest difference allowed"),
    "passed": Column("whether both deviations stay within what is allowed", kind=bool),
}
