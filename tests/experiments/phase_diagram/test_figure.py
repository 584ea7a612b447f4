"""Summaries, lines of theory and figures of phase diagrams."""

import json

import numpy as np
import pandas
import pytest

from experiments.contract import Summary
from experiments.figures import draw, style
from experiments.phase_diagram import experiment as phase_diagram
from experiments.phase_diagram.config import Config, Curves
from experiments.system import files
from hopfield.theory import classical
from tests.experiments.phase_diagram.tables import rows_of


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


@pytest.mark.slow
def test_overlaps_stand_beside_theory_at_the_load_that_is_stored():
    """Of 40 spins the odd number nearest to a load of 0.06 is 3, a load of 0.075."""
    curves = Curves(loads=[0.06], neurons=[20, 40], samples=[2], temperatures=[0.2, 0.6], levels=0)
    rows = pandas.DataFrame(rows_of(Config(studies=["curve"], memories=["classical"], curves=curves)))
    with style.style():
        summary = Summary.of_json(json.loads(files.encode(phase_diagram.summarise(rows).json())))
        figure = draw.figure(phase_diagram.panels(rows, summary))
    ax = next(ax for ax in figure.axes if "overlap, sweeps" in ax.get_title(loc="left"))
    labels = ax.get_legend_handles_labels()[1]
    assert {r"$\alpha=0.05$, $N=20$", r"$\alpha=0.075$, $N=40$"} < set(labels)
    theory = next(line for line in ax.lines if len(line.get_xdata()) == 200)
    x, y = (np.asarray(values, float) for values in theory.get_data())
    assert x.max() == pytest.approx(float(classical.spinodal_temperature(0.075)))
    np.testing.assert_allclose(y, classical.retrieval_overlap(0.075, x))
