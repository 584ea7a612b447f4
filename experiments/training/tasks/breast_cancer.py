"""Breast cancer: measurements of benign and malignant cells, from scikit-learn."""

from sklearn.datasets import load_breast_cancer as load

__all__ = ["EXAMPLES", "NUMBERS", "ONE_UNIT", "VECTORS", "load"]

EXAMPLES, NUMBERS, VECTORS = 569, 30, 1
ONE_UNIT = False
