"""Phase diagrams: overlaps and lines against theory, exact resume of a refined map, summary, figures, mistakes."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas
import pytest
from matplotlib.figure import Figure

from experiments import contract
from experiments.figures import extraction, interactive, style
from experiments.phase_diagram import experiment as phase_diagram
from experiments.phase_diagram import measurement
from experiments.phase_diagram.config import Classical, Config, Curves, Modern
from experiments.phase_diagram.figure import WORDS
from experiments.phase_diagram.summary import _scalars, maps_of
from experiments.phase_diagram.theory import frozen_temperature
from experiments.shared import files, program
from hopfield.theory import classical, spherical

NO_CURVES = Curves(loads=[])


def rows_of(config: Config) -> list[dict]:
    """Every row of a run, refined points included, as the ledger would hand them on."""
    points = phase_diagram.points(config)
    rows: list[dict] = []
    while points:
        measured = {_key(row, points[0]): row for row in phase_diagram.measure(config, points)}
        rows += [json.loads(files.encode(measured[_key(point, point)])) for point in points]
        points = phase_diagram.refine(config, rows)
    return rows


def _key(row: dict, point: dict) -> str:
    return files.fingerprint({name: row[name] for name in point})


@pytest.fixture(scope="module")
def smoke() -> pandas.DataFrame:
    """The experiment at the scale of its dataclass defaults."""
    return pandas.DataFrame(rows_of(Config()))


@pytest.fixture(scope="module")
def curve() -> list[dict]:
    """Overlaps of 300 spins at α = 0.02 from cold to beyond the line, and the line itself."""
    curves = Curves(
        loads=[0.02],
        neurons=[300],
        samples=[10],
        temperatures=[0.2, 0.35, 0.5, 0.7, 0.9],
        levels=2,
        queries=4,
        burn_in=[40],
        sweeps=[60],
    )
    return rows_of(Config(memories=["classical"], classical=Classical(neurons=20, cells=[1, 1]), curves=curves))


@pytest.mark.physics
def test_overlap_and_self_overlap_far_below_the_line_are_those_of_the_replica_theory(curve):
    found = phase_diagram.summarise(pandas.DataFrame(curve))["overlap"]
    cold = [entry for entry in found if entry["temperature"] <= 0.5]
    assert len(cold) == 3
    for entry in cold:
        assert entry["retrieval"] == 1
        for name in ("overlap", "self_overlap"):
            error = abs(entry[name] - entry[f"{name}_theory"])
            assert error < 3 * entry[f"{name}_stderr"] + 0.003, name
        assert 0 < entry["overlap_stderr"] < 0.015
    assert cold[0]["overlap_theory"] - cold[2]["overlap_theory"] > 0.05


@pytest.mark.physics
def test_half_of_the_retrievals_are_lost_at_the_end_of_the_replica_solution(curve):
    (line,) = phase_diagram.summarise(pandas.DataFrame(curve))["retrieval_line"]
    assert line["load"] == pytest.approx(7 / 300)  # the odd number nearest to 0.02 of 300
    assert line["theory"] == pytest.approx(float(classical.spinodal_temperature(7 / 300)))
    assert abs(line["temperature"] - line["theory"]) < min(line["width"], 0.1)
    assert 0 < line["stderr"] < 0.03


@pytest.mark.physics
def test_temperatures_are_added_where_retrieval_is_lost_and_only_there(curve):
    table = pandas.DataFrame(curve)
    table = table[table["study"] == "curve"]
    added = sorted(table.loc[table["level"] > 0, "temperature"].unique())
    assert added
    assert set(np.round(added, 4)) <= {0.55, 0.6, 0.65, 0.75, 0.8, 0.85}
    assert {0.65, 0.75} < set(np.round(added, 4))


def run(kind: measurement.Program, patterns, samples, temperatures) -> dict[str, list]:
    """One call of seed 0, its lists [S][T]."""
    draw = {"patterns": np.uint32(patterns), "sample": np.uint32(samples)}
    return program.call(measurement.one, kind, 0, None, draw, {"temperature": np.float32(temperatures)})


@pytest.mark.parametrize("load", [0.3, 0.5])
def test_modern_states_change_at_the_finite_size_threshold(load):
    """Far on either side of the converged line of theory all end in retrieval, or none does."""
    neurons = 14
    patterns = round(np.exp(load * neurons))
    line = float(spherical.critical_beta(neurons, patterns, "converged_weight")) / neurons
    kind = measurement.Program("modern", neurons, 1100, 6, 4, 0, 0, 500)  # one program for both loads
    temperatures = 1 / (line * np.array([0.5, 0.8, 1.25, 2.0]))
    found = run(kind, [patterns] * 2, [0, 1], [temperatures] * 2)
    retrieved = np.array(found["retrieval"])
    assert np.all(retrieved[:, :2] == 0)
    assert np.all(retrieved[:, 2:] == 6)
    assert np.all(np.array(found["disorder"])[:, 0] == 6)
    overlap = np.mean(np.array(found["overlap"])[:, 3])
    assert overlap == pytest.approx(spherical.converged(neurons, patterns, 2 * line * neurons).overlap, abs=0.01)


def test_spins_far_above_all_lines_are_a_paramagnet_and_cold_ones_beyond_capacity_a_glass():
    kind = measurement.Program("classical", 200, 80, 2, 4, 40, 100, 0)
    found = run(kind, [2, 80], [0, 0], [[0.1, 0.5, 2.5, 4.0]] * 2)
    assert [counts[2:] for counts in found["disorder"]] == [[2, 2], [2, 2]]
    assert found["retrieval"][0][:2] == [2, 2]
    assert found["mixture"][1][:2] == [2, 2]


@pytest.mark.usefixtures("as_run")
def test_overlaps_close_to_one_are_exact_in_single_precision():
    """At T = 0.02 a flip against a field of 1 has odds of e^-100; at 0.2 the overlap is a mean of that many signs."""
    kind = measurement.Program("classical", 2000, 3, 2, 2, 2, 14, 0)
    found = run(kind, [3], [0], [[0.02, 0.2]])
    for name in ("overlap", "self_overlap"):
        assert found[name][0][0] == pytest.approx(1, abs=1e-7)
    flips = (1 - found["overlap"][0][1]) / 2 * (2 * 14 * 2000)
    assert flips > 0.5
    assert flips == pytest.approx(round(flips), abs=0.01)


def test_spins_count_as_frozen_where_the_replica_theory_of_the_glass_says():
    loads = np.array([0.02, 0.1, 0.2])
    found = classical.spin_glass(loads, frozen_temperature(loads))
    assert found.q == pytest.approx(measurement.FROZEN, abs=1e-9)
    assert frozen_temperature(loads, 1e-7) == pytest.approx(1 + np.sqrt(loads), abs=1e-6)


def test_a_point_does_not_depend_on_what_is_measured_with_it():
    config = Config(memories=["classical"], curves=NO_CURVES, classical=Classical(neurons=60, cells=[2, 3], levels=0))
    points = phase_diagram.points(config)
    together = {_key(row, points[0]): row for row in phase_diagram.measure(config, points)}
    for point in (points[0], points[-1]):
        (alone,) = phase_diagram.measure(config, [point])
        assert alone == together[_key(point, point)]


@pytest.mark.exhaustive
def test_a_run_stopped_among_refined_points_ends_with_the_same_table(command: Callable, tmp_path: Path):
    words = ["conf=phase_diagram", "memories=[modern]", "modern.neurons=10", "modern.cells=[3,3]", "modern.samples=2"]
    words += ["figure.format=[png]"]
    assert command(*words, "output=whole").code == 0
    table = (tmp_path / "whole/table.csv").read_text()
    assert len(table.splitlines()) - 1 > 2 * 9
    (ledger,) = (tmp_path / "whole/ledger").glob("*.jsonl")
    lines = ledger.read_text().splitlines()
    (tmp_path / "out/ledger").mkdir(parents=True)
    kept = lines[: 1 + 2 * 9 + 5]  # the heading, and rows
    (tmp_path / "out/ledger/killed.jsonl").write_text("\n".join(kept) + "\n" + lines[len(kept)][:40])
    outcome = command(*words, "output=out")
    assert outcome.code == 0
    assert f"{len(kept) - 1} of " in outcome.err
    assert (tmp_path / "out/table.csv").read_text() == table
    for name in ("summary.json", "figure.png"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_summary_says_what_was_measured_beside_what_theory_says(smoke):
    summary = json.loads(files.encode(phase_diagram.summarise(smoke)))
    (line,) = summary["retrieval_line"]
    assert {"load", "neurons", "temperature", "stderr", "width", "theory", "thermodynamic"} <= set(line)
    assert {entry["memory"] for entry in summary["maps"]} == {"classical", "modern"}
    for entry in summary["maps"]:
        assert entry["cells"] <= entry["measured"] < entry["finest"] * 4 / 3
        assert sum(entry["regimes"].values()) == pytest.approx(1)
        assert 0 <= entry["contradicting_area"] < 0.3
    assert {entry["temperature"] for entry in summary["overlap"]} >= {0.2, 0.4, 0.6, 0.8}
    assert "map/modern/contradicting_area" in summary["scalars"]


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
    assert [entry["temperature"] for entry in summary["overlap_limit"]] == [0.1, 0.3, 0.5]
    for entry in summary["overlap_limit"]:
        assert abs(entry["overlap"] - entry["theory"]) < 3 * entry["stderr"] < 0.015
        assert entry["amplitude"] == pytest.approx(2, abs=3)
    assert {(entry["load"], entry["neurons"]) for entry in summary["agreement"]} == {
        (0.02, size) for size in (500, 1000, 2000, None)
    }
    assert all(line["temperature"] == pytest.approx(0.7, abs=0.02) for line in summary["retrieval_line"])


def test_loads_are_stored_with_an_odd_number_of_patterns_at_every_size():
    """Hebb's fields have the parity of M: one parity at all sizes; loads that store the same number are one curve."""
    curves = Curves(loads=[0.05, 0.051], neurons=[100, 200, 300], samples=[1], temperatures=[0.3], levels=0)
    config = Config(memories=["classical"], curves=curves, classical=Classical(cells=[7, 1], load=[0.0, 0.2]))
    points = phase_diagram.points(config)
    assert {point["patterns"] % 2 for point in points} == {1}
    stored = [(p["asked"], p["neurons"], p["patterns"]) for p in points if p["study"] == "curve"]
    assert stored == [(0.05, 100, 5), (0.05, 200, 11), (0.05, 300, 15)]
    modern = phase_diagram.points(Config(memories=["modern"], modern=Modern(cells=[9, 1])))
    assert {point["patterns"] % 2 for point in modern} == {0, 1}


def test_no_more_queries_are_counted_than_there_are_patterns():
    """In a map from one pattern to three, and on a curve of one; the cost is that of as many."""
    few, many = (
        Config(
            memories=["classical"],
            classical=Classical(neurons=20, load=[0.0, 0.2], cells=[3, 1], queries=queries, levels=0),
            curves=Curves(loads=[0.05], neurons=[20], temperatures=[0.2, 0.8], queries=queries, levels=0),
        )
        for queries in (5, 50)  # the highest load, 4 patterns, is rounded to 5
    )
    points = phase_diagram.points(many)
    assert {(point["study"], point["patterns"], point["queries"]) for point in points} == {
        ("map", 1, 1),
        ("map", 3, 3),
        ("curve", 1, 1),
    }
    assert phase_diagram.cost(many) == phase_diagram.cost(few)
    for row in phase_diagram.measure(many, points):
        assert sum(row[name] for name in measurement.REGIMES) == row["queries"]


def test_overlaps_stand_beside_theory_at_the_load_that_is_stored():
    """Of 40 spins the odd number nearest to a load of 0.06 is 3, a load of 0.075."""
    curves = Curves(loads=[0.06], neurons=[20, 40], samples=[2], temperatures=[0.2, 0.6], levels=0)
    rows = pandas.DataFrame(rows_of(Config(studies=["curve"], memories=["classical"], curves=curves)))
    with style.style():
        summary = json.loads(files.encode(phase_diagram.summarise(rows)), parse_constant=lambda name: None)
        figure = phase_diagram.plot(rows, summary)
    ax = next(ax for ax in figure.axes if "overlap, sweeps" in ax.get_title(loc="left"))
    labels = ax.get_legend_handles_labels()[1]
    assert {r"$\alpha=0.05$, $N=20$", r"$\alpha=0.075$, $N=40$"} < set(labels)
    theory = next(line for line in ax.lines if len(line.get_xdata()) == 200)
    x, y = (np.asarray(values, float) for values in theory.get_data())
    assert x.max() == pytest.approx(float(classical.spinodal_temperature(0.075)))
    np.testing.assert_allclose(y, classical.retrieval_overlap(0.075, x))


@pytest.mark.physics
def test_the_end_of_retrieval_is_told_with_its_sweeps_and_its_criterion():
    """A network of 40 spins at α = 0.075 forgets in time: half are lost at a lower temperature after more sweeps."""
    curves = Curves(
        loads=[0.075], neurons=[40, 40], samples=[40], temperatures=[0.1, 0.3, 0.45, 0.6, 0.8, 1.1], levels=1
    )
    curves.burn_in, curves.sweeps = [4, 200], [8, 200]
    rows = pandas.DataFrame(rows_of(Config(studies=["curve"], memories=["classical"], curves=curves)))
    summary = phase_diagram.summarise(rows)
    short, long = summary["retrieval_line"]
    assert (short["observed_sweeps"], long["observed_sweeps"]) == (12, 400)
    assert short["criterion"] == "half of the queries are held by their pattern: m² > q/2, q > 0.1"
    assert short["temperature"] - long["temperature"] > 3 * np.hypot(short["stderr"], long["stderr"])
    names = [f"half_lost/load=0.075/N=40/after_{sweeps}_sweeps" for sweeps in (12, 400)]
    assert [summary["scalars"][name] for name in names] == [short["temperature"], long["temperature"]]
    with style.style():
        figure = phase_diagram.plot(rows, json.loads(files.encode(summary), parse_constant=lambda name: None))
        (rounding,) = (ax for ax in figure.axes if "rounding" in ax.get_title(loc="left"))
        labels = rounding.get_legend_handles_labels()[1]
    assert {r"$\alpha=0.075$, 12 sweeps", r"$\alpha=0.075$, 400 sweeps"} < set(labels)


def test_regimes_keep_their_names_in_reports(smoke):
    with style.style():
        figure = phase_diagram.plot(smoke, phase_diagram.summarise(smoke))
    maps = [panel for panel in extraction.panels(figure) if panel.title.endswith("regimes")]
    for panel, (_, area) in zip(maps, smoke[smoke["study"] == "map"].groupby("memory", sort=False), strict=True):
        named = {entry["name"] for entry in interactive.spec(panel)["legend"]}
        cells = {series.label for series in panel.series if series.cell}
        assert cells
        assert cells < named
        assert cells <= set(WORDS[area["memory"].iloc[0]].values())


def test_every_line_has_a_number_of_its_own():
    lines = [
        {"load": load, "neurons": 40, "burn_in": 60 - sweeps, "sweeps": sweeps, "observed_sweeps": 60}
        for load, sweeps in ((0.05, 20), (0.05, 40), (0.1381, 40), (0.1382, 40))
    ]
    lines = [line | {"temperature": float(i), "stderr": 1.0, "width": 1.0} for i, line in enumerate(lines)]
    found = _scalars(lines, [], [])
    assert [found[name] for name in found if not name.endswith(("/stderr", "/width"))] == [0.0, 1.0, 2.0, 3.0]


def test_no_theory_of_states_at_rest_stands_beside_a_single_update():
    """Of one update a map has the lines of the start; two sweeps from the pattern, averaged singly, have none."""
    modern = Modern(neurons=8, cells=[2, 2], levels=0, max_steps=1)
    curves = Curves(loads=[0.05], neurons=[40], samples=[3], levels=0, burn_in=[0], sweeps=[2])
    single = Classical(neurons=20, cells=[2, 2], levels=0, burn_in=0, sweeps=2)
    table = pandas.DataFrame(rows_of(Config(classical=single, modern=modern, curves=curves)))
    summary = json.loads(files.encode(phase_diagram.summarise(table)), parse_constant=lambda name: None)
    assert [entry["contradicting_area"] for entry in summary["maps"]] == [None, None]
    assert [entry["theory"] for entry in summary["retrieval_line"]] == [None]
    assert {entry["overlap_theory"] for entry in summary["overlap"]} == {None}
    assert not any("contradicting" in name for name in summary["scalars"])
    assert [note for note in summary["notes"] if note.startswith("modern: ") and "at max_steps=1;" in note]
    with style.style():
        axes = phase_diagram.plot(table, summary).axes
    maps = {
        ax.get_title("left")[3:]: ax.get_legend_handles_labels()[1] for ax in axes if "overlap" in ax.get_title("left")
    }
    assert maps == {
        "classical, $N=20$, 2 sweeps: overlap": [],
        "modern, $N=8$, after one update: overlap": [
            "half weight at the start, annealed, $N=8$",
            r"the same, $N\to\infty$",
        ],
        "classical: overlap, sweeps 1 to 2": ["$\\alpha=0.075$, $N=40$"],
    }


def test_a_cell_of_another_map_with_the_same_middle_is_another_point():
    wide, narrow = (Config(studies=["map"], memories=["classical"]) for _ in range(2))
    wide.classical.load, narrow.classical.load = [0.0, 0.2], [0.05, 0.15]
    wide.classical.cells = narrow.classical.cells = [1, 1]
    ours, theirs = (phase_diagram.points(config)[0] for config in (wide, narrow))
    assert ours["patterns"] == theirs["patterns"]
    assert ours != theirs


def test_maps_of_other_loads_or_cells_are_maps_of_their_own(smoke):
    rows = smoke[smoke["study"] == "map"]
    moved = rows.assign(load_low=rows["load_low"] + 0.5, load_high=rows["load_high"] + 0.5)
    wider = rows.assign(load_low=2 * rows["load_low"], load_high=2 * rows["load_high"])
    alone = [part["memory"].iloc[0] for part in maps_of(rows)]
    assert alone == ["classical", "modern"]
    assert [len(part) for part in maps_of(pandas.concat([rows, moved, wider]))] == 3 * [
        len(rows[rows["memory"] == memory]) for memory in alone
    ]
    found = phase_diagram.summarise(pandas.concat([smoke, moved]))
    assert len([name for name in found["scalars"] if name.startswith("map/")]) == 4


def test_lines_of_theory_are_called_what_they_are(smoke):
    """Replica-symmetric for the classical network, annealed for the modern one."""
    summary = json.loads(files.encode(phase_diagram.summarise(smoke)), parse_constant=lambda name: None)
    with style.style():
        axes = phase_diagram.plot(smoke, summary).axes
    legends = {ax.get_title(loc="left")[3:]: ax.get_legend() for ax in axes}
    labels = {title: [text.get_text() for text in legend.texts] for title, legend in legends.items() if legend}
    assert set(labels) >= {
        "classical, $N=100$, 60 sweeps: regimes",
        "modern, $N=12$: regimes",
    }
    for title, texts in labels.items():
        if "regimes" in title:
            word = "(RS)" if title.startswith("classical") else "annealed"
            assert sum(word in text for text in texts) >= 2, texts
        else:
            assert any(text.startswith("RS theory") for text in texts), texts


@pytest.mark.parametrize(
    "kept",
    [
        lambda table: slice(None),
        lambda table: table["memory"] == "modern",
        lambda table: table["study"] == "map",
        lambda table: (table["memory"] == "classical") & (table["sample"] == 0),
    ],
    ids=["all", "modern alone", "maps alone", "one draw"],
)
def test_the_figure_draws_whatever_was_measured(smoke, kept):
    table = smoke.loc[kept(smoke)]
    summary = json.loads(files.encode(phase_diagram.summarise(table)), parse_constant=lambda name: None)
    with style.style():
        figure = phase_diagram.plot(table, summary)
        assert isinstance(figure, Figure)
        figure.canvas.draw()
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert any("regimes" in title for title in titles)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"memories": []}, "memories must not be empty, got []"),
        ({"memories": ["dense"]}, "memories must be one of classical, modern, got 'dense'"),
        ({"classical": Classical(neurons=1)}, "classical.neurons must be at least 2, got 1"),
        ({"classical": Classical(load=[0.2, 0.1])}, "classical.load must be two ascending numbers"),
        (
            {"classical": Classical(temperature=[-1, 1])},
            "classical.temperature must be at least 0, got -1",
        ),
        ({"classical": Classical(cells=[4, 0])}, "classical.cells must be at least 1, got 0"),
        ({"classical": Classical(sweeps=5)}, "classical.sweeps must be even, got 5"),
        ({"modern": Modern(levels=9)}, "modern.levels must lie in [0, 8], got 9"),
        ({"modern": Modern(beta=[0.0, 1.0])}, "modern.beta must be at least 1e-06, got 0"),
        ({"modern": Modern(neurons=40)}, "modern.load must give N=40 fewer than 2^28 / N patterns, got 1.45e+12"),
        ({"modern": Modern(max_steps=0)}, "modern.max_steps must be at least 1, got 0"),
        ({"studies": []}, "studies must not be empty, got []"),
        ({"curves": Curves(samples=[6, 6])}, "curves.samples must be one number, or one for each of neurons, got [6"),
        ({"curves": Curves(samples=[0])}, "curves.samples must be at least 1, got 0"),
        ({"curves": Curves(sweeps=[5])}, "curves.sweeps must be even, got 5"),
        ({"curves": Curves(neurons=[50, 50])}, "curves.neurons must return with other sweeps or not at all, got [50"),
        ({"curves": Curves(temperatures=[])}, "curves must have neurons and temperatures where they have loads"),
        ({"curves": Curves(loads=[-0.1])}, "curves.loads must be positive, got -0.1"),
        ({"curves": Curves(burn_in=[-1])}, "curves.burn_in must be at least 0, got -1"),
    ],
)
def test_a_bad_option_is_one_sentence(options, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        contract.check(phase_diagram, Config(**options))
