"""Capacity from patterns that are not stored: the same numbers as stored ones give, and what one pass cannot do."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from experiments.capacity import experiment as capacity
from experiments.capacity import streamed
from experiments.capacity.config import Config
from experiments.shared import corruptions, draws, streams
from experiments.system import files
from hopfield import memories
from hopfield.patterns.sources import Generated

OPTIONS = {
    "memories": ["exponential", "dense:3"],
    "neurons": [18],
    "patterns": [40, 300, 700],
    "corruption": [0.0, 0.2],
    "samples": 2,
    "queries": 5,
    "max_steps": 1,
}


def measured(**changes) -> list[dict]:
    config = Config(**(OPTIONS | changes))
    return list(capacity.measure(config, capacity.points(config)))


def by_memory(point: dict) -> dict:
    """The same columns from the memory itself, all patterns stored."""
    pattern_key, probe_key = draws.keys(0, 18, 0, point["sample"])
    rows = Generated(pattern_key, "spins", 700, 18).rows(0, point["patterns"])
    options = {"beta": point["beta"]} if point["beta"] is not None else {}
    model = memories.find(point["memory"]).build(rows, **options)
    targets = np.asarray(rows[:5], float)
    start = streams.start(*corruptions.parts(point["corruption"]), probe_key, targets)
    state = np.asarray(jax.vmap(model.update)(jnp.asarray(start)))
    shares = jax.vmap(model.shares)(jnp.asarray(start))[jnp.arange(5), jnp.arange(5)]
    overlap = np.mean(state * targets, axis=1)
    return {
        "one_step_error": np.mean(state != targets),
        "overlap": overlap.mean(),
        "retained": np.sum(overlap > 0.8),
        "exact": np.sum(np.all(state == targets, axis=1)),
        "target_weight": int(jnp.sum(shares > 0.5)),
        "fixed_point": np.sum(np.all(np.asarray(jax.vmap(model.update)(jnp.asarray(targets))) == targets, axis=1)),
    }


@pytest.mark.physics
def test_one_pass_measures_what_stored_patterns_do():
    found = measured(ensembles=["generated"])
    assert len(found) == 2 * 3 * 2 * 2
    for row in found[::3]:
        for name, value in by_memory(row).items():
            assert row[name] == pytest.approx(value), (row, name)


@pytest.mark.slow
def test_patterns_in_a_file_give_the_same_rows(tmp_path):
    """One draw, one size: the patterns of the file are those that the generated ensemble draws for sample 0."""
    pattern_key, _ = draws.keys(0, 18, 0, 0)
    path = tmp_path / "spins.npy"
    np.save(path, np.asarray(Generated(pattern_key, "spins", 700, 18).rows(0, 700), np.float32))
    names = ("memory", "patterns", "corruption", "one_step_error", "target_weight", "overlap")
    rows = [
        sorted(tuple(row[name] for name in names) for row in measured(ensembles=[ensemble], samples=1, neurons=width))
        for ensemble, width in (("generated", [18]), (f"mapped:{path}", None))
    ]
    assert rows[0] == rows[1]


@pytest.mark.physics
def test_random_and_generated_patterns_agree_in_distribution():
    """Other bits, the same law: shares of queries within four standard errors."""
    options = {"memories": ["exponential"], "patterns": [28000], "samples": 60, "corruption": [0.0], "queries": 10}
    found = {ensemble: measured(ensembles=[ensemble], **options) for ensemble in ("random", "generated")}
    weight = {ensemble: [row["target_weight"] / 10 for row in rows] for ensemble, rows in found.items()}
    mean = {ensemble: (np.mean(values), np.std(values) / np.sqrt(60)) for ensemble, values in weight.items()}
    assert 0.05 < mean["random"][0] < 0.95
    gap = abs(mean["random"][0] - mean["generated"][0])
    assert gap < 4 * np.hypot(mean["random"][1], mean["generated"][1])


def test_the_pieces_of_a_pass_add_up_to_the_undivided_one(monkeypatch: pytest.MonkeyPatch):
    """Whole numbers: equal to the last digit, however the pass is cut, and in whatever order it was counted."""
    undivided = measured(ensembles=["generated"])
    config = Config(**(OPTIONS | {"ensembles": ["generated"]}))
    points = capacity.points(config)
    assert len(capacity.pieces(config, points)) == 2 * 3  # samples, and sizes at which a pass ends
    monkeypatch.setattr(streamed, "WORK", 64 * 10 * 18**2)
    pieces = capacity.pieces(config, points)
    ends = [(piece["first"], piece["stop"]) for piece in pieces if piece["sample"] == 0]
    assert len(ends) == 13
    assert [first for first, _ in ends] == [0] + [stop for _, stop in ends[:-1]]
    counted = [json.loads(files.encode(capacity.measure_piece(config, piece))) for piece in reversed(pieces)]
    assert list(capacity.measure(config, points, counted[::-1])) == undivided
