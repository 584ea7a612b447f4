"""Patterns: random ensembles, corruptions of them, data sets, and sources that are never stored."""

from hopfield._arguments import public
from hopfield.patterns import datasets, sources
from hopfield.patterns.corruptions import (
    CORRUPTIONS,
    REGIONS,
    Corrupted,
    Corruption,
    corrupt,
    corruption,
    flip,
    hide,
    noise,
)
from hopfield.patterns.ensembles import biased, correlated, gaussian, sphere, spins
from hopfield.patterns.structured import examples, hierarchical, superpositions

__all__ = [
    "CORRUPTIONS",
    "REGIONS",
    "Corrupted",
    "Corruption",
    "biased",
    "correlated",
    "corrupt",
    "corruption",
    "datasets",
    "examples",
    "flip",
    "gaussian",
    "hide",
    "hierarchical",
    "noise",
    "sources",
    "sphere",
    "spins",
    "superpositions",
]
__dir__ = public(__all__)
