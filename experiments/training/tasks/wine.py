"""Wine: chemical measurements of three cultivars, from scikit-learn."""

from sklearn.datasets import load_wine as load

__all__ = ["EXAMPLES", "NUMBERS", "ONE_UNIT", "VECTORS", "load"]

EXAMPLES, NUMBERS, VECTORS = 178, 13, 1
ONE_UNIT = False
