"""Baselines on bags: scikit-learn's support vector machine and random forest on the mean or largest instance."""

from itertools import product
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.svm import SVC

from experiments.bags.config import VARIANTS
from experiments.bags.data import Bags, standardise

REGULAR = (1.0, 10.0)
LEAVES = (1, 3)
TREES = 100


def settings(method: str) -> list[tuple[str, Any]]:
    """Poolings and numbers to choose from: C of the SVM; smallest leaf of the forest."""
    return list(product(VARIANTS[method], REGULAR if method == "svm" else LEAVES))


def scores(method: str, bags: Bags, used: np.ndarray, seed: int) -> np.ndarray:
    """Scores [K, settings, B] of all bags by models fitted to the bags of each row of `used` [K, B]."""
    return np.array([_scores_of_settings(method, bags, row, seed) for row in used])


def _scores_of_settings(method: str, bags: Bags, used: np.ndarray, seed: int) -> list[np.ndarray]:
    instances, there = standardise(bags, used)[bags.place], bags.there[..., None]
    pooled = {"mean": instances.mean(axis=1, where=there), "max": instances.max(axis=1, where=there, initial=-np.inf)}
    made = _machine if method == "svm" else _forest
    return [made(pooled[kind], bags.labels, used, number, seed) for kind, number in settings(method)]


def _machine(vectors: np.ndarray, labels: np.ndarray, used: np.ndarray, regular: float, seed: int) -> np.ndarray:
    scale = vectors[used].std(axis=0)
    vectors = (vectors - vectors[used].mean(axis=0)) / np.where(scale > 0, scale, 1.0)
    return SVC(C=regular).fit(vectors[used], labels[used]).decision_function(vectors)


def _forest(vectors: np.ndarray, labels: np.ndarray, used: np.ndarray, leaf: int, seed: int) -> np.ndarray:
    forest = RandomForestClassifier(TREES, min_samples_leaf=leaf, random_state=seed)
    return np.asarray(forest.fit(vectors[used], labels[used]).predict_proba(vectors))[:, 1]
