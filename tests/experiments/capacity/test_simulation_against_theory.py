"""Simulation against theory, through the experiment's own `measure`, in the numbers that the command uses."""

import math

import numpy as np
import pytest

from experiments.capacity import experiment as capacity
from experiments.capacity import theory as predictions
from hopfield.theory import classical, dense, exponential
from tests.experiments import estimates
from tests.experiments.capacity.tables import mean_and_error, measured_table

pytestmark = [pytest.mark.physics, pytest.mark.usefixtures("as_run")]

ONCE = {"samples": 1500, "queries": 5, "max_steps": 1}


@pytest.fixture(scope="module")
def hebb(as_run):
    """Even and odd N and M: only where N or M + 1 is odd can a field vanish, which keeps the spin."""
    return {
        (40, 0.0): measured_table(memories=["classical"], neurons=[40], patterns=[8, 9, 13], **ONCE),
        (41, 0.0): measured_table(memories=["classical"], neurons=[41], patterns=[8, 9, 13], **ONCE),
        (40, 0.15): measured_table(
            memories=["classical"], neurons=[40], patterns=[8, 9, 13], corruption=[0.15], **ONCE
        ),
    }


@pytest.fixture(scope="module")
def demircigil(as_run):
    scale = {"memories": ["exponential"], "neurons": [12], "samples": 256, "queries": 10, "max_steps": 1}
    clean = measured_table(patterns=[300, 500, 700, 800, 899, 1000, 1100, 1300], **scale)
    return {0.0: clean, 0.1: measured_table(patterns=[300, 500, 899], corruption=[0.1], **scale)}


@pytest.fixture(scope="module")
def ramsauer(as_run):
    scale = {"neurons": [12], "patterns": [800, 1300, 1760, 2400], "samples": 400, "queries": 10, "max_steps": 5}
    return measured_table(memories=["modern"], **scale)


def assert_agrees(rows, column: str, theory: float, *, least: float) -> None:
    """Within three standard errors over disorder samples, and these below the part `least` of the value."""
    mean, stderr = mean_and_error(rows, column)
    assert 0 < stderr < least * theory
    assert abs(mean - theory) < 3 * stderr, f"{mean:.6f} +- {stderr:.6f} against {theory:.6f}"


@pytest.mark.parametrize("patterns", [8, 9, 13])
@pytest.mark.parametrize(("neurons", "start"), [(40, 0.0), (41, 0.0), (40, 0.15)])
def test_one_step_error_of_hebbs_rule_is_the_exact_binomial_tail(hebb, neurons, start, patterns):
    table = hebb[neurons, start]
    rows = table[table["patterns"] == patterns]
    theory = float(classical.one_step_error(neurons, patterns, start))
    assert_agrees(rows, "one_step_error", theory, least=0.04)
    if start == 0:
        # Counting the own spin, or breaking ties at random, are other numbers: more than three errors away.
        wrong = float(classical.one_step_error(neurons, patterns, self_coupling=True))
        mean, stderr = mean_and_error(rows, "one_step_error")
        assert abs(mean - wrong) > 6 * stderr


@pytest.mark.parametrize(
    ("degree", "neurons", "patterns"), [(3, 24, 35), (3, 24, 60), (4, 16, 61), (4, 16, 100)], ids=str
)
def test_one_step_error_of_dense_memories(degree, neurons, patterns):
    stored = {3: [35, 60], 4: [61, 100]}[degree]
    scale = {"neurons": [neurons], "patterns": stored, "samples": 1024, "queries": 10, "max_steps": 1}
    table = measured_table(memories=[f"dense:{degree}"], **scale)
    rows = table[table["patterns"] == patterns]
    assert_agrees(rows, "one_step_error", float(dense.one_step_error(neurons, patterns, degree)), least=0.04)


@pytest.mark.parametrize(
    ("patterns", "start"), [(300, 0.0), (500, 0.0), (899, 0.0), (1300, 0.0), (300, 0.1), (500, 0.1), (899, 0.1)]
)
def test_one_step_error_of_the_exponential_memory(demircigil, patterns, start):
    rows = demircigil[start][demircigil[start]["patterns"] == patterns]
    assert_agrees(rows, "one_step_error", float(exponential.one_step_error(12, patterns, 1.0, start)), least=0.03)


def test_target_weight_threshold_of_the_exponential_memory(demircigil):
    found = critical(demircigil[0.0][demircigil[0.0]["patterns"] >= 500], "target_weight")
    assert found["stderr"] < 0.002
    assert abs(found["value"] - float(exponential.critical_load(12))) < 3 * found["stderr"]
    # The limit λ − ln cosh λ = 0.566 is near already at N = 12; that of the sign rule, 0.675, and ln 2 / 2 are not.
    assert found["value"] == pytest.approx(1 - math.log(math.cosh(1)), abs=0.015)


def critical(table, criterion: str) -> dict:
    """The one critical load from the clean start of a summary."""
    (found,) = estimates.rows(capacity.summarise(table), "critical load", criterion=criterion, corruption="clean")
    return found


@pytest.mark.parametrize("patterns", [1300, 1760])
def test_share_of_weight_on_the_sphere(ramsauer, patterns):
    # From the pattern itself the M − 1 overlaps t are independent, with density ∝ (1 − t²)^((N−3)/2): (1 + t)/2 is Beta
    # distributed. The weight exceeds one half where Σ e^(βN(t−1)) < 1.
    generator = np.random.default_rng(0)
    gap = 24 * (generator.beta(5.5, 5.5, size=(4000, patterns - 1)) - 1)
    passed = np.exp(gap).sum(axis=1) < 1
    share, chance = passed.mean(), passed.std() / math.sqrt(passed.size)
    mean, stderr = mean_and_error(ramsauer[ramsauer["patterns"] == patterns], "target_weight")
    assert abs(mean - share) < 3 * math.hypot(stderr, chance)
    assert stderr < 0.01


def test_target_weight_threshold_on_the_sphere(ramsauer):
    found = critical(ramsauer, "target_weight")
    assert found["stderr"] < 0.003
    theory = predictions.critical_load("modern", "target_weight", 12, 0.0, 1.0)
    assert abs(found["value"] - theory) < 3 * found["stderr"]
    # λ(1−t) − ½ ln(1−t²) at λ = 1, t = (√5 − 1)/2
    assert found["value"] == pytest.approx(0.6226, abs=0.012)


def test_overlap_of_what_is_retained_is_that_of_the_replica_theory():
    scale = {"neurons": [500], "loads": [0.08, 0.1, 0.12], "samples": 192, "queries": 10}
    table = measured_table(memories=["classical"], dynamics=["asynchronous"], **scale)
    for load, rows in table.groupby("load"):
        mean, stderr = mean_and_error(rows, "overlap_retained")
        theory = float(classical.retrieval_overlap(load))
        assert rows["retained"].sum() > 0.98 * rows["queries"].sum()
        assert stderr < 0.2 * (1 - theory)
        assert abs(mean - theory) < 5e-4 + 3 * stderr


def test_the_projection_rule_keeps_every_pattern_up_to_alpha_1_and_none_beyond():
    scale = {"neurons": [64], "patterns": [32, 48, 58, 62, 70], "samples": 16, "queries": 16, "max_steps": 3}
    table = measured_table(memories=["projection"], dynamics=["asynchronous"], **scale)
    for patterns, rows in table.groupby("patterns"):
        kept = rows["queries"] if patterns < 64 else 0 * rows["queries"]
        for criterion in ("fixed_point", "exact", "retained"):
            assert (rows[criterion] == kept).all()
        assert ((rows["one_step_error"] == 0) == (patterns < 64)).all()
