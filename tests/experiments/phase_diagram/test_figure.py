"""Summaries, lines of theory and figures of phase diagrams."""

import numpy as np
import pandas
import pytest

from experiments.phase_diagram import experiment as phase_diagram
from hopfield.theory import classical


@pytest.mark.slow
def test_overlaps_without_size_dependence_extrapolate_to_the_theory():
    """A made-up table: deviations of 2/N from theory and errors of known size."""
    rows = []
    rng = np.random.default_rng(0)
    for neurons in (500, 1000, 2000):
        for temperature, share in ((0.1, 20), (0.3, 20), (0.5, 20), (0.68, 16), (0.7, 10), (0.72, 4), (0.9, 0)):
            value = classical.retrieval_overlap(0.02, temperature) if temperature < 0.7 else 0.0
            for sample in range(20):
                noise = 0.2 * rng.standard_normal() / np.sqrt(neurons)
                held = 4 if sample < share else 0
                state = {"overlap": value + 2 / neurons + noise, "self_overlap": 0.5, "drift": 0.0, "retrieval": held}
                point = {"study": "curve", "memory": "classical", "neurons": neurons, "load": 0.02, "patterns": 99}
                point |= {"asked": 0.02, "burn_in": 60, "sweeps": 120, "max_steps": 0}
                rows.append(point | {"temperature": temperature, "level": 0, "queries": 4, "sample": sample} | state)
    summary = phase_diagram.summarise(pandas.DataFrame(rows))
    assert [entry["temperature"] for entry in summary.more["overlap_limit"]] == [0.1, 0.3, 0.5]
    for entry in summary.more["overlap_limit"]:
        assert abs(entry["overlap"] - entry["theory"]) < 3 * entry["stderr"] < 0.015
        assert entry["amplitude"] == pytest.approx(2, abs=3)
    assert {(entry["load"], entry["neurons"]) for entry in summary.more["agreement"]} == {
        (0.02, size) for size in (500, 1000, 2000, None)
    }
    assert all(line["temperature"] == pytest.approx(0.7, abs=0.02) for line in summary.more["retrieval_line"])
