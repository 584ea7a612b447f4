"""Ranking of two classes by a score: the area under the ROC curve."""

import math

import numpy as np
from sklearn.metrics import roc_auc_score

from experiments.statistics.clusters import Array


def auc(scores: Array, labels: Array) -> float:
    """Area under the ROC curve of scores [B] for labels [B]; NaN where all are of one class, or a score not finite."""
    if not np.isfinite(scores).all() or len(np.unique(labels)) < 2:
        return math.nan
    return float(roc_auc_score(labels, scores))
