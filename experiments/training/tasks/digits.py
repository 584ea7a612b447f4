"""Digits: 8 × 8 images of ten kinds, from scikit-learn."""

from sklearn.datasets import load_digits as load

__all__ = ["EXAMPLES", "NUMBERS", "ONE_UNIT", "VECTORS", "load"]

EXAMPLES, NUMBERS, VECTORS = 1797, 64, 1
ONE_UNIT = True
"""Pixels at the rim that are all but always blank would otherwise be the loudest."""
