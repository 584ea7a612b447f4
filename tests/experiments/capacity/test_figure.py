"""A figure for every kind of table, degenerate ones too, with what a reader looks for on it and without a warning."""

import json

import pytest

from experiments.capacity import experiment as capacity
from experiments.capacity import theory
from experiments.capacity.config import Scale
from experiments.contract import Summary
from experiments.figures import draw, style
from experiments.system import files
from tests.experiments.capacity.tables import invented_table

LOADS = [0.08, 0.11, 0.13, 0.15, 0.17, 0.19, 0.22]
LOG_LOADS = [0.4, 0.5, 0.54, 0.58, 0.62, 0.7]
OVERVIEW = {
    "classical": Scale(neurons=[50, 100], loads=LOADS),
    "dense:3": Scale(neurons=[20, 30], loads=[0.05, 0.07, 0.09, 0.11, 0.13]),
    "exponential": Scale(neurons=[10, 12], loads=LOG_LOADS),
    "modern": Scale(neurons=[10, 12], loads=LOG_LOADS),
}
HEBB = {"memories": ["classical"], "neurons": [64], "loads": LOADS}
RULES = {"memories": ["classical", "storkey", "projection"], "neurons": [50], "loads": [*LOADS, 1.1]}
IMAGES = {"memories": ["classical", "modern", "projection"], "patterns": [2, 8, 16, 32]}
TITLES = {
    "overview": (
        {"memories": list(OVERVIEW), "per_memory": OVERVIEW},
        ["classical", "dense, $n=3$", "exponential", "modern", "critical number of patterns", "one-step error"],
    ),
    "dense of degree 4": (
        {"memories": ["dense:4"], "neurons": [12, 16, 20], "loads": [0.03, 0.06, 0.09, 0.12, 0.2]},
        [
            "dense, $n=4$",
            "critical number of patterns",
            "one-step error",
            "final overlap, dense, $n=4$",
            "extrapolation in size",
        ],
    ),
    "exponential, flipped starts": (
        {"memories": ["exponential"], "neurons": [10, 12], "loads": LOG_LOADS, "corruption": [0.0, 0.1, 0.6]},
        ["critical load, flipped starts", "exponential", "critical number of patterns", "one-step error"],
    ),
    "rules side by side": (
        RULES | {"corruption": [0.0, 0.1]},
        ["critical load, flipped starts", "clean pattern, one step", "clean start", "10% of the signs flipped"],
    ),
    "two sizes and dynamics side by side": (
        RULES | {"neurons": [40, 50], "dynamics": ["asynchronous", "synchronous"], "samples": 2},
        ["clean pattern, one step", "clean start"],
    ),
    "images": (
        IMAGES | {"ensembles": ["digits", "photographs"], "corruption": ["lower:0.5", "noise:0.3"]},
        [
            "digits, 50% masked, lower part",
            "digits, noise of deviation 0.3",
            "photographs, 50% masked, lower part",
            "photographs, noise of deviation 0.3",
        ],
    ),
    "projection alone": (
        HEBB | {"memories": ["projection"], "neurons": [40, 60]},
        ["projection", "critical number of patterns", "one-step error"],
    ),
    "no clean start": (
        HEBB | {"neurons": [50, 60], "corruption": ["noise:0.5"]},
        ["classical", "critical number of patterns", "one-step error"],
    ),
    "mixed starts and dynamics": (
        HEBB | {"corruption": ["mask:0.5", 0.0, 0.1], "dynamics": ["asynchronous", "synchronous"]},
        [
            *("critical load, masked starts", "critical load, flipped starts"),
            *("classical", "one-step error", "overlap of what is retained"),
        ],
    ),
    "smoke scale": ({}, ["classical", "exponential", "critical number of patterns", "one-step error"]),
    "one load": (HEBB | {"loads": [0.1]}, ["classical", "one-step error", "overlap of what is retained"]),
    "one sample": (HEBB | {"samples": 1}, ["classical", "one-step error", "overlap of what is retained"]),
    "one query": (
        HEBB | {"loads": [0.1], "samples": 1, "queries": 1},
        ["classical", "one-step error", "overlap of what is retained"],
    ),
    "one query of an image": (
        IMAGES | {"patterns": [1], "samples": 1, "ensembles": ["digits"]},
        ["digits, clean start"],
    ),
    "nothing retained": (
        HEBB | {"half": 0.01, "width": 0.01, "neurons": [50, 60]},
        ["classical", "one-step error", "overlap of what is retained"],
    ),
    "all retained": (
        HEBB | {"half": 9.0, "width": 0.01, "neurons": [50, 60]},
        ["classical", "one-step error", "overlap of what is retained"],
    ),
}


def drawn(table):
    """The figure of a saved table in the house style, rendered, with the summary as it is read back."""
    summary = Summary.of_json(json.loads(files.encode(capacity.summarise(table).json())))
    with style.style():
        figure = draw.figure(capacity.panels(table, summary))
        figure.draw_without_rendering()
    return figure


def panels(figure) -> dict:
    """The panels in use by their titles, which start with a letter each."""
    titles = [ax.get_title(loc="left").replace("\n", " ") for ax in figure.axes]
    if len(titles) == 1:
        return {titles[0]: figure.axes[0]}
    assert [title[:3] for title in titles] == [f"{letter}  " for letter in "abcdefgh"[: len(titles)]]
    return {title[3:]: ax for title, ax in zip(titles, figure.axes, strict=False)}


def labels(ax) -> list[str]:
    return ax.get_legend_handles_labels()[1]


ALIKE = {"projection alone", "one load", "one sample", "one query", "all retained", "smoke scale"}
"""Kinds that differ from another one in numbers alone."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.exhaustive] * (kind in ALIKE)) for kind in TITLES]
)
def test_every_kind_of_table_has_its_figure(kind):
    options, titles = TITLES[kind]
    figure = drawn(invented_table(**({"samples": 8} | options)))
    found = panels(figure)
    assert list(found) == titles
    assert any(ax.get_legend() for ax in found.values()) or figure.legends
    for ax in found.values():
        assert ax.get_xlabel()
        assert ax.get_ylabel()
        assert len(set(labels(ax))) == len(labels(ax))


def test_converged_curves_have_the_half_of_theory_at_their_size():
    table = invented_table(memories=["modern"], neurons=[10, 12], loads=LOG_LOADS, samples=8)
    panel, *_ = capacity.panels(table, capacity.summarise(table))
    rings = {(part.x[0], part.y[0]) for part in panel.series if part.markersize == 9 and len(part.x)}
    known = [("target_weight", 10), ("target_weight", 12), ("converged_weight", 12)]
    assert rings == {(theory.critical_load("modern", name, size, 0.0, None), 0.5) for name, size in known}


def test_gardners_bound_is_drawn_for_rules_and_for_nothing_else():
    rules = panels(drawn(invented_table(**RULES, samples=4)))
    assert "Gardner's bound for any rule: 2" in labels(rules["clean start"])
    softmax = panels(drawn(invented_table(memories=["modern", "sparse"], neurons=[6], loads=[0.5, 1.2], samples=4)))
    assert labels(softmax["clean start"]) == ["modern", r"sparse, $\alpha=2$"]
