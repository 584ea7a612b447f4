"""Basins of attraction: ends against plain numpy, critical overlaps against theory, summary, figures, mistakes."""

import io

import jax
import numpy as np
import pandas
import pytest
from scipy.special import erfcinv

from experiments.basins import experiment
from experiments.basins.experiment import Config, Scale
from experiments.figures import draw, style
from experiments.shared import draws, grids
from hopfield.theory import basins
from tests.experiments import estimates

OVERLAPS = [0.1, 0.3, 0.45, 0.6, 0.75, 0.9]


def table_of(**options) -> pandas.DataFrame:
    config = Config(**options)
    points = experiment.points(config)
    found = {tuple(row[name] for name in points[0]): row for row in experiment.measure(config, points)}
    rows = [found[tuple(point.values())] for point in points]  # in the order of a run's table
    return pandas.read_csv(io.StringIO(pandas.DataFrame(rows).to_csv(index=False)))


@pytest.fixture(scope="module")
def modern() -> pandas.DataFrame:
    """Two loads of the modern network at a β at which the nearest pattern wins."""
    scale = Scale(neurons=[14], loads=[0.25, 0.4], samples=30, queries=8, beta=2.0)
    overlaps = [0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.8, 0.9]
    return table_of(memories=["modern"], overlaps=overlaps, per_memory={"modern": scale})


def run(kind: experiment.Program, seed: int, beta: float | None, near: float, patterns, samples, overlaps) -> dict:
    """One call, its lists [S][O]."""
    count = len(patterns)
    draw = {"num_patterns": np.uint32(patterns), "sample": np.uint32(list(samples))}
    draw |= {"beta": beta and np.full(count, beta, np.float32), "near": np.full(count, near, np.float32)}
    return grids.run_program(experiment.one, kind, seed, None, draw, {"initial_overlap": np.float32(overlaps)})


def brute_force(kind: experiment.Program, overlaps, patterns: int, sample: int) -> dict[str, np.ndarray]:
    """The same queries of a classical network under plain synchronous updates, by products with the patterns."""
    key = jax.random.key(5)
    for part in (kind.neurons, patterns, sample):
        key = jax.random.fold_in(key, part)
    pattern_key, query_key = jax.random.split(key)
    stored = np.asarray(draws.patterns("spins", pattern_key, patterns, kind.neurons))
    counts = {name: np.zeros(len(overlaps), int) for name in ("right", "some", "reversed", "cycles")}
    for place, overlap in enumerate(overlaps):
        for probe in range(kind.queries):
            start_key = jax.random.split(jax.random.fold_in(query_key, probe))[0]
            order = np.asarray(jax.random.permutation(start_key, kind.neurons))
            state = np.where(order < round(kind.neurons * (1 - overlap) / 2), -1, 1) * stored[probe]
            before = np.zeros_like(state)
            for _ in range(kind.max_steps):
                field = stored.T @ (stored @ state) - patterns * state
                new = np.where(field > 0, 1, np.where(field < 0, -1, state))
                if np.array_equal(new, state) or np.array_equal(new, before):
                    break
                before, state = state, new
            counts["cycles"][place] += not np.array_equal(new, state)
            reached = stored @ new / kind.neurons
            counts["right"][place] += reached[probe] > 0.8
            counts["some"][place] += reached.max() > 0.8
            counts["reversed"][place] += reached.max() <= 0.8 and reached.min() < -0.8
    return counts


@pytest.mark.parametrize("patterns", [4, 9])
def test_ends_are_those_of_a_plain_loop(patterns):
    kind = experiment.Program("classical", "synchronous", 60, 12, 4, len(OVERLAPS), 60)
    found = run(kind, 5, None, 0.8, [patterns] * 3, range(3), [OVERLAPS] * 3)
    totals = 0
    for sample in range(3):
        for name, counts in brute_force(kind, OVERLAPS, patterns, sample).items():
            np.testing.assert_array_equal(found[name][sample], counts, name)
            totals += counts.sum()
    assert totals > 20
    assert np.sum(found["step_limit"]) == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("memory", "neurons", "beta"), [("projection", 30, None), ("dense:3", 20, None), ("modern", 12, 2.0)]
)
def test_starts_have_the_overlap_that_was_asked_for(memory, neurons, beta):
    """Spins the nearest one that they can have; real states exactly, at the norm of a pattern."""
    dynamics = "synchronous" if memory == "modern" else "asynchronous"
    kind = experiment.Program(memory, dynamics, neurons, 8, 3, 3, 1)
    overlaps = np.array([0.13, 0.5, 1.0])
    found = run(kind, 0, beta, 0.8, [8], [0], [overlaps])["start_overlap"][0]
    spins = 1 - 2 * np.round(neurons * (1 - overlaps) / 2) / neurons
    np.testing.assert_allclose(found, overlaps if memory == "modern" else spins, atol=1e-6)
    if memory == "modern":
        target = jax.random.normal(jax.random.key(1), (neurons,))
        start = experiment._vector_of_overlap(jax.random.key(2), target, 0.3)
        assert float(start @ start) == pytest.approx(float(target @ target))


@pytest.mark.slow
def test_on_a_crowded_sphere_only_a_strict_criterion_tells_the_right_pattern_from_its_neighbours():
    """500 patterns in 8 dimensions: queries that go to the nearest of them often end within 0.8 of their own."""
    kind = experiment.Program("modern", "synchronous", 8, 500, 100, 1, 100)
    nearest = float(basins.nearest_pattern_share(8, 500, 0.8))
    shares = [np.sum(run(kind, 0, 8.0, near, [500] * 4, range(4), [[0.8]] * 4)["right"]) / 400 for near in (0.8, 0.97)]
    error = np.sqrt(nearest * (1 - nearest) / 400)
    assert abs(shares[1] - nearest) < 4 * error
    assert shares[0] > nearest + 6 * error


@pytest.mark.slow
def test_after_one_update_critical_overlaps_are_those_of_one_step():
    """Half end above 0.8 where a tenth of the spins is wrong: m_c² = 2α erfc⁻¹(0.2)² for N → ∞."""
    scale = Scale(neurons=[400], loads=[0.1, 0.4], samples=6, max_steps=1, dynamics=["synchronous", "asynchronous"])
    table = table_of(
        memories=["classical"], overlaps=[0.2, 0.3, 0.4, 0.5, 0.7, 0.8, 0.9], per_memory={"classical": scale}
    )
    summary = experiment.summarise(table)
    for entry in estimates.rows(summary, "critical overlap"):
        if entry["dynamics"] == "synchronous":
            assert entry["theory"] == pytest.approx(np.sqrt(2 * entry["load"]) * erfcinv(0.2), abs=1e-4)
            assert abs(entry["value"] - entry["theory"]) < 3 * entry["stderr"] + 0.01
        else:
            assert np.isnan(entry["theory"])
            assert "kind" not in entry
    assert any("at max_steps=1; no theory of states at rest" in note for note in summary.notes)
    with style.style():
        axes = draw.figure(experiment.panels(table, summary)).axes
    assert axes[0].get_ylabel().replace("\n", " ") == "final overlap after one update (mean)"  # of the first dynamics
    assert [name for name in axes[-1].get_legend_handles_labels()[1] if "$N=" not in name] == [
        r"one step, $N\to\infty$"
    ]
