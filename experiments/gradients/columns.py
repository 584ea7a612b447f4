"""Columns of the table of gradients, each with its meaning and unit."""

from experiments.columns import Column, shared

COLUMNS = shared("separation", "metric") | {
    "dtype": Column("number type of the inputs"),
    "mask": Column("mask of the case"),
    "shape": Column("shape of the case"),
    "input": Column("input whose gradient is taken"),
    "size": Column("entries of that input", "count"),
    "magnitude": Column("largest entry of the gradient"),
    "autodiff": Column("largest deviation from automatic differentiation"),
    "difference": Column("largest deviation from finite differences; empty where none are taken"),
    "tolerance": Column("largest autodiff allowed"),
    "difference_tolerance": Column("largest difference allowed"),
    "passed": Column("whether both deviations stay within what is allowed"),
}
