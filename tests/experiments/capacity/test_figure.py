"""A figure for every kind of table, degenerate ones too, with what a reader looks for on it and without a warning."""

import json

from experiments.capacity import experiment as capacity
from experiments.capacity import theory
from experiments.contract import Summary
from experiments.figures import draw, style
from experiments.system import files
from tests.experiments.capacity.tables import invented_table

LOADS = [0.08, 0.11, 0.13, 0.15, 0.17, 0.19, 0.22]
LOG_LOADS = [0.4, 0.5, 0.54, 0.58, 0.62, 0.7]
RULES = {"memories": ["classical", "storkey", "projection"], "neurons": [50], "loads": [*LOADS, 1.1]}


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


def test_converged_curves_have_the_half_of_theory_at_their_size():
    table = invented_table(memories=["modern"], neurons=[10, 12], loads=LOG_LOADS, samples=8)
    panel, *_ = capacity.panels(table, capacity.summarise(table))
    rings = {(part.x[0], part.y[0]) for part in panel.series if part.markersize == 9 and len(part.x)}
    known = [("target_weight", 10), ("target_weight", 12), ("converged_weight", 12)]
    assert rings == {(theory.critical_load("modern", name, size, 0.0, None), 0.5) for name, size in known}


def test_laws_have_a_figure_of_their_own_for_loads_near_the_threshold():
    sizes = {"memories": ["classical"], "neurons": [1000, 2000, 4000, 8000], "dynamics": ["asynchronous"]}
    near = panels(drawn(invented_table(**sizes, samples=60, loads=[0.14, 0.147, 0.153, 0.16])))
    assert [*near] == ["classical", "extrapolation in size", "what the laws leave"]
    given = [text.partition(",")[0] for text in labels(near["what the laws leave"]) if "RS" in text]
    assert given == ["RS", "1RSB"]
    whole = panels(drawn(invented_table(**sizes, samples=60, loads=LOADS)))
    assert [*whole] == ["classical", "critical number of patterns", "one-step error", "overlap of what is retained"]


def test_a_swept_parameter_has_its_critical_loads_and_overlaps_beside_theory():
    names = [f"dreaming:{time}" for time in (0, 2, 10)]
    table = invented_table(memories=names, neurons=[20, 40], loads=LOADS, samples=4, dynamics=["asynchronous"])
    shown = panels(drawn(table))
    assert [*shown] == ["critical load, dreaming", "final overlap, dreaming"]
    assert [tick.get_text() for tick in shown["critical load, dreaming"].get_xticklabels()] == ["0", "2", "10"]
    assert {*labels(shown["critical load, dreaming"])} == {"$N=20$", "$N=40$", "RS theory"}
    curves = [f"dreaming, $t={time}$" for time in (0, 2, 10)]
    assert {*labels(shown["final overlap, dreaming"])} == {*curves, r"RS theory, $N\to\infty$"}


def test_gardners_bound_is_drawn_for_rules_and_for_nothing_else():
    rules = panels(drawn(invented_table(**RULES, samples=4)))
    assert "Gardner's bound for any rule: 2" in labels(rules["clean start"])
    softmax = panels(drawn(invented_table(memories=["modern", "sparse"], neurons=[6], loads=[0.5, 1.2], samples=4)))
    assert labels(softmax["clean start"]) == ["modern", r"sparse, $\alpha=2$"]
