"""Capacity for structured patterns: what ensembles share, features that are learned, and names that are refused."""

import jax
import numpy as np
import pandas
import pytest

from experiments.capacity_structured.experiment import Config, drawn, measure, points, summarise
from experiments.capacity_structured.results import learning_load
from tests.experiments.estimates import rows

pytestmark = pytest.mark.usefixtures("as_run")


def test_patterns_share_what_their_ensemble_says():
    """N⟨m²⟩ is 1 without structure, (2/π)² N/D of features in all patterns; siblings overlap q²."""
    key, neurons = jax.random.key(0), 1000
    for ensemble, expected in (("random", 1.0), ("features:0.05", 1 + 4 / np.pi**2 * 20), ("manifold:0.05", 9.1)):
        stored, features = drawn(ensemble, key, 60, neurons)
        overlap = np.asarray(stored @ stored.T / neurons)[~np.eye(60, dtype=bool)]
        assert neurons * np.mean(overlap**2) == pytest.approx(expected, rel=0.25)
        assert (features is None) == (ensemble == "random")
    tree = np.asarray(drawn("hierarchical:0.6", key, 4, neurons)[0])
    assert np.mean((tree @ tree.T / neurons)[~np.eye(4, dtype=bool)]) == pytest.approx(0.36, abs=0.04)


def test_features_are_retained_though_they_are_not_stored():
    config = Config(ensembles=["features:0.03"], neurons=[300], loads=[0.01, 1.0], queries=8)
    table = pandas.DataFrame(measure(config, points(config)))
    few, many = (rows for _, rows in table.groupby("load"))
    assert few["load"].iloc[0] < learning_load(0.03) < many["load"].iloc[0]
    assert few["features_retained"].sum() < 0.2 * few["features_asked"].sum()
    assert many["features_retained"].sum() > 0.9 * many["features_asked"].sum()
    assert rows(summarise(table), "critical load of features")[0]["limit"] == pytest.approx(learning_load(0.03))


def test_what_trees_share_is_told_at_their_critical_load():
    """N⟨m²⟩ is 1 + 3 (N q⁴ − 1)/(M − 1) with three siblings: it falls by half between M = 11 and 21."""
    neurons, made = 300, []
    for count in (5, 11, 21, 51):
        for sample in range(6):
            point = {"memory": "classical", "ensemble": "hierarchical:0.5", "neurons": neurons, "patterns": count}
            shared = 1 + 3 * (neurons * 0.5**4 - 1) / (count - 1)
            made.append(point | {"sample": sample, "load": count / neurons, "correlation": shared, "separation": 0.7})
            made[-1] |= {"queries": 8, "retained": 8 if count < 15 else 0, "features_asked": 0, "step_limit": 0}
    summary = summarise(pandas.DataFrame(made))
    (entry,) = rows(summary, "critical load")
    assert 11 < neurons * entry["value"] < 21
    at_load = lambda load: 1 + 3 * (neurons * 0.5**4 - 1) / (neurons * load - 1)
    (alike,) = rows(summary, "correlation of patterns at the critical load")
    assert alike["value"] == pytest.approx(at_load(entry["value"]), rel=0.03)
    ends = (at_load(entry["value"] + sign * entry["stderr"]) for sign in (-1, 1))
    assert alike["stderr"] == pytest.approx(-np.diff(list(ends))[0] / 2, rel=0.1)  # all draws of one M are alike
    assert entry["cut"] == 0
