"""Theory by the name of a memory: the right line for every memory and criterion, and none where there is none."""

import math

import numpy as np
import pytest
from scipy.special import erfcinv

from experiments.capacity import theory
from experiments.shared.convergence import STEP, SWEEP
from hopfield.memories import names
from hopfield.theory import classical, dense, exponential, spherical


@pytest.mark.parametrize(
    ("memory", "criterion", "neurons", "start", "beta", "load"),
    [
        ("classical", "retained", None, 0.0, 1.0, 0.1379056),
        ("dense:2", "retained", None, 0.0, 1.0, 0.1379056),
        ("dense", "retained", None, 0.0, 1.0, float(dense.spinodal(3).load)),
        ("dense:4", "retained", None, 0.0, 1.0, float(dense.spinodal(4).load)),
        ("projection", "retained", None, 0.0, 1.0, 1.0),
        ("projection", "fixed_point", None, 0, 1.0, 1.0),
        ("exponential", "target_weight", None, 0.0, 1.0, 1 - math.log(math.cosh(1))),
        ("exponential", "target_weight", None, 0.0, 0.5, 0.5 - math.log(math.cosh(0.5))),
        ("exponential", "fixed_point", None, 0.0, 1.0, 2 - math.log(math.cosh(2))),
        ("exponential", "target_weight", 12, 0.1, 1.0, float(exponential.critical_load(12, 1.0, 0.1))),
        # λ(1−t) − ½ ln(1−t²) at λ = 1, t = (√5 − 1)/2, where 1 − t² = t
        ("modern", "target_weight", None, 0.0, 1.0, (3 - math.sqrt(5)) / 2 - 0.5 * math.log((math.sqrt(5) - 1) / 2)),
        # 0.150718 = 1/(2 erfc⁻¹(0.01)²) of Krotov & Hopfield at an error of 0.5 %, over (2n−3)!!
        ("classical", "one_step_error", None, 0.0, 1.0, 0.15071825),
        ("dense:3", "one_step_error", None, 0.0, 1.0, 0.15071825 / 3),
        ("modern", "target_weight", 12, 0.0, 2.0, math.log(float(spherical.critical_patterns(12, 24.0))) / 12),
        (
            "modern",
            "converged_weight",
            12,
            0.0,
            1.0,
            math.log(float(spherical.critical_patterns(12, 12.0, "converged_weight"))) / 12,
        ),
    ],
    ids=str,
)
def test_critical_loads(memory, criterion, neurons, start, beta, load):
    found = theory.critical_load(memory, criterion, neurons, start, beta)
    assert isinstance(found, float)
    assert found == pytest.approx(load, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("memory", "expected"),
    [
        ("classical", lambda m, start: classical.one_step_error(20, m, start)),
        ("dense:2", lambda m, start: classical.one_step_error(20, m, start)),
        ("dense:4", lambda m, start: dense.one_step_error(20, m, 4, start)),
        ("exponential", lambda m, start: exponential.one_step_error(20, m, 0.7, start)),
    ],
)
@pytest.mark.parametrize("start", [0, 0.2])
def test_one_step_errors_are_those_of_the_memory_at_its_size(memory, expected, start):
    counts = np.array([3, 10, 30])
    found = theory.one_step_error(memory, 20, counts, start, 0.7)
    np.testing.assert_allclose(found, expected(counts, start), rtol=1e-12)
    assert (np.diff(found) > 0).all()


def test_overlaps_of_retained_patterns_end_at_the_critical_load():
    for memory in ("classical", "dense:3"):
        critical = theory.critical_load(memory, "retained", None, 0.0, 1.0)
        overlap = theory.retained_overlap(memory, critical * np.array([0.2, 0.999, 1.001]))
        assert overlap[0] > 0.999 > overlap[1] > 0.8
        assert np.isnan(overlap[2])


def test_exact_shares_are_those_of_the_finite_network():
    counts = np.array([10, 300, 1000, 3000])
    share = theory.success("exponential", "target_weight", 12, counts, 0.0, 1.0)
    np.testing.assert_allclose(share, exponential.target_weight_probability(12, counts, 1.0, 0.0), rtol=1e-12)
    assert share[0] > 0.99
    assert share[-1] < 0.01


@pytest.mark.parametrize(("memory", "signal"), [("classical", 1), ("dense:3", 2)])
@pytest.mark.parametrize(("criterion", "wrong"), [("retained", 0.1), ("retained_0.7", 0.15), ("retained_0.9", 0.05)])
def test_after_one_update_overlaps_are_those_of_the_one_step_error(memory, signal, criterion, wrong):
    """Half are above a cut c where (1 − c)/2 of the spins are wrong, α = m²ⁿ⁻² / (2 (2n−3)!! erfc⁻¹(2 wrong)²)."""
    noise = 1 if memory == "classical" else 3
    expected = 0.8 ** (2 * signal) / (2 * noise * erfcinv(2 * wrong) ** 2)
    found = theory.critical_load(memory, criterion, None, 0.1, None, end=STEP)
    assert found == pytest.approx(expected, rel=1e-6)
    assert theory.kind(memory, criterion, STEP) == "Gaussian noise"
    overlap = theory.final_overlap(memory, 30, np.array([3, 9]), None, STEP)
    np.testing.assert_allclose(overlap, 1 - 2 * theory.one_step_error(memory, 30, np.array([3, 9]), 0.0, None))


@pytest.mark.parametrize("memory", [*names(), "dense:2", "dense:5", "sparse:1.2"])
@pytest.mark.parametrize("end", [STEP, SWEEP])
def test_states_that_are_not_at_rest_have_no_theory_of_those_that_are(memory, end):
    """Theory remains for starts and for single steps; a pattern that one update leaves is a fixed point."""
    for start in (0.0, 0.2):
        assert theory.critical_load(memory, "converged_weight", 10, start, 1.0, end=end) is None
        fixed = theory.critical_load(memory, "fixed_point", None, start, 1.0)
        assert theory.critical_load(memory, "exact", None, start, 1.0, end=end) == (None if start else fixed)
        for criterion in ("target_weight", "fixed_point", "one_step_error"):
            for size in (None, 10):
                at_rest, cut = (
                    theory.critical_load(memory, criterion, size, start, 1.0, **o) for o in ({}, {"end": end})
                )
                assert at_rest == cut
    assert end == STEP or theory.critical_load(memory, "retained", None, 0.0, 1.0, end=end) is None
    assert end == STEP or theory.final_overlap(memory, 10, np.array([3]), 1.0, end) is None
