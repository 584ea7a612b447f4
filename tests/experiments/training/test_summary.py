"""Summary and figure of training runs, from tables worked by hand."""

import json

import numpy as np
import pandas
import pytest
from scipy.stats import t as student
from scipy.stats import ttest_1samp

from experiments.statistics.clusters import standard_error
from experiments.training import experiment
from tests.experiments import estimates


def made_table():
    """Three seeds of two rates, the second better on validation and worse on test, and a baseline."""
    rows = []
    for seed, (ours, svm) in enumerate([(0.9, 0.95), (0.8, 0.82), (0.7, 0.74)]):
        shared = {"task": "wine", "seed_index": seed, "damping": 0.1, "noise": 0.0, "metric": "none", "stopped": False}
        shared |= {"weight_decay": 0.0, "diverged": False, "best_epoch": 2}
        shared |= {"separation": "softmax", "optimiser": "adam", "test_auc": np.nan, "condition": 2.0}
        runs = (("lookup", 0.1, 0.5, 1.0), ("lookup", 0.2, 0.4, ours), ("svm", 0.0, np.nan, svm))
        for layer, rate, loss, value in runs:
            for epoch in range(1 if layer == "svm" else 3):
                row = shared | {"layer": layer, "learning_rate": rate, "best_loss": loss, "test_accuracy": value}
                rows.append(row | {"epoch": epoch, "loss": loss, "effective_0": 2.0, "beta_0": 1.0})
    return pandas.DataFrame(rows)


def test_the_rate_is_chosen_by_validation_and_the_comparison_is_paired_by_split():
    found = experiment.summarise(made_table())
    (entry,) = estimates.rows(found, "lead")
    assert entry["value"] == pytest.approx(-0.11 / 3)
    t, p = map(float, ttest_1samp([-0.05, -0.02, -0.04], 0.0))  # pyright: ignore[reportArgumentType]
    assert estimates.value(found, "p of the lead, seeds independent") == pytest.approx(p)
    # The variance of the mean of three leads grows from 1/3 to 1/3 + (test samples)/(training samples): twice as much.
    assert estimates.value(found, "p of the lead") == pytest.approx(2 * student.sf(abs(t) / np.sqrt(2), 2))
    assert entry["stderr"] == pytest.approx(np.sqrt(2) * standard_error([-0.05, -0.02, -0.04]))
    assert estimates.value(found, "test accuracy", layer="lookup", optimiser="adam") == pytest.approx(0.8)
    assert json.dumps(found.json())
