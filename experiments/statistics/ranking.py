"""Ranking of two classes by a score: the area under the ROC curve."""

import math

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import roc_auc_score

from experiments.statistics.columns import check_length, numbers


def auc(scores: ArrayLike, labels: ArrayLike) -> float:
    """Area under the ROC curve of scores [B] for labels [B]. NaN where all are of one class, or a score not finite.

    Raises:
        ValueError: columns of different length, labels of more than two classes.
    """
    scores, labels = numbers("scores", scores), numbers("labels", labels)
    check_length(scores=scores, labels=labels)
    classes = np.unique(labels)
    if classes.size > 2 or np.isnan(labels).any():
        raise ValueError(f"labels must be of two classes at most, got {classes.tolist()}")
    if not np.isfinite(scores).all() or classes.size < 2:
        return math.nan
    return float(roc_auc_score(labels == classes[1], scores))
