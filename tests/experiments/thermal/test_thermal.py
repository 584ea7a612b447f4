"""Continuous memories at a temperature: chains beside the exact mean of one pattern, and the two energies."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas
import pytest
from scipy.special import gammaln, ive

from experiments.thermal import sampling
from experiments.thermal.experiment import Config, Program, measure, panels, points, summarise
from experiments.thermal.sampling import STARTS
from hopfield.patterns import sphere
from hopfield.theory.thermal import ENSEMBLES, KERNELS
from tests.experiments.estimates import rows


@pytest.mark.slow
def test_few_patterns_leave_the_overlap_of_one_pattern():
    """N = 16 and M = 2 at low temperatures: no chain leaves for the other pattern in the time that there is.

    Chains from the pattern agree, and only those of other starts tell that they are not at equilibrium.
    """
    config = Config(neurons=[16], loads=[0.05], temperatures=[0.05, 0.1], length=200, sharpness=4.0)
    table: Any = pandas.DataFrame(measure(config, points(config)))
    summary = summarise(table)
    for row in rows(summary, "overlap"):
        assert row["patterns"] == 2
        if row["start"] == "pattern":
            assert row["value"] == pytest.approx(row["theory"], abs=0.005), row
        if row["start"] == "another":
            assert abs(row["value"]) < 0.7, row
    assert table["rhat_pattern"].max() < 1.05
    assert table["rhat"].min() > 1.3
    assert len(panels(table, summary)) == 4 * 3 + 1
    assert all(row["value"] == 0 for row in rows(summary, "at equilibrium"))


@pytest.mark.slow
def test_chains_of_all_starts_reach_the_equilibrium_of_independent_samples():
    """At T = 1 the chains of all starts agree with each other, and with weighted samples that need no chain."""
    config = Config(kernels=["lse"], neurons=[8], loads=[0.2], temperatures=[1.0], samples=4, length=400, every=20)
    config.independent = 4000
    table: Any = pandas.DataFrame(measure(config, points(config)))
    assert table["rhat"].max() < 1.02
    for start in STARTS:
        np.testing.assert_allclose(table[f"overlap_{start}"], table["equilibrium"], atol=0.06)


def _program(kernel: str, ensemble: str, neurons: int, num_patterns: int, independent: int = 2000) -> Program:
    return Program(kernel, ensemble, neurons, num_patterns, 2.0, STARTS, 2, 8, 1, 0, independent)


def _by_hand(kernel: str, m: np.ndarray, neurons: int) -> np.ndarray:
    """Energy of states by their overlaps m [..., M], b = 2."""
    if kernel == "lse":
        return -np.log(np.sum(np.exp(2 * neurons * m), axis=-1)) / 2
    with np.errstate(divide="ignore"):
        return -neurons / 2 * np.log(np.sum(np.maximum(1 - 2 + 2 * m, 0), axis=-1))


@pytest.mark.parametrize("kernel", KERNELS)
def test_energies_are_those_of_their_formulas(kernel):
    stored = np.random.default_rng(2).normal(size=(5, 9)).astype(np.float32)
    x = stored[0] / np.linalg.norm(stored[0]) * 3
    memory, _ = sampling.memory_of(_program(kernel, "gaussian", 9, 5), jnp.asarray(stored))
    assert float(memory.energy(jnp.asarray(x))) == pytest.approx(_by_hand(kernel, stored @ x / 9, 9), rel=1e-4)


@pytest.mark.parametrize("ensemble", ENSEMBLES)
@pytest.mark.parametrize("kernel", KERNELS)
def test_independent_samples_have_the_means_of_an_integral_over_the_sphere(kernel, ensemble):
    """N = 3, M = 4, T = 0.7: the whole sphere on a grid of heights, whose measure is even, and angles."""
    program, heat = _program(kernel, ensemble, 3, 4, 20_000), 0.7
    stored = sampling.patterns(program, jax.random.key(5))
    memory, lowest = sampling.memory_of(program, stored)
    found = sampling.equilibrium(program, memory, stored, jax.random.key(1), jnp.asarray(heat))
    height, angle = np.meshgrid((np.arange(801) + 0.5) / 400.5 - 1, np.arange(800) * np.pi / 400)
    flat = np.sqrt(1 - height**2)
    m = np.stack([flat * np.cos(angle), flat * np.sin(angle), height], -1) @ np.asarray(stored).T / np.sqrt(3)
    factor = np.exp(-(_by_hand(kernel, m, 3) - 3 * lowest) / heat)
    assert float(found["free_energy"]) == pytest.approx(-heat * np.log(factor.mean()) / 3, abs=0.006)
    assert float(found["equilibrium"]) == pytest.approx((factor * m[..., 0]).sum() / factor.sum(), abs=0.02)
    assert float(found["weighted"]) > 5000


def test_states_of_log_sum_exp_at_one_over_b_are_a_mixture_of_the_patterns():
    """e^{−E/T} = Σ e^{N m/T} at T = 1/b: Z = M I, I = Γ(N/2) (2/κ)^ν I_ν(κ), κ = N b, ν = N/2 − 1; all weights 1.

    The mean overlap with ξ_1 is I_{ν+1}/I_ν times the mean of the patterns' cosines with it.
    """
    program = _program("lse", "sphere", 8, 50)
    stored = sampling.patterns(program, jax.random.key(3))
    memory, _ = sampling.memory_of(program, stored)
    found = sampling.equilibrium(program, memory, stored, jax.random.key(1), jnp.asarray(0.5))
    log_integral = gammaln(4) + 3 * np.log(2 / 16) + np.log(ive(3, 16)) + 16
    assert float(found["free_energy"]) == pytest.approx(-0.5 * (np.log(50) + log_integral) / 8, abs=1e-6)
    assert float(found["weighted"]) == pytest.approx(2000, rel=1e-5)
    cosines = np.asarray(stored) @ np.asarray(stored[0]) / 8
    assert float(found["equilibrium"]) == pytest.approx(ive(4, 16) / ive(3, 16) * cosines.mean(), abs=0.03)


@pytest.mark.parametrize("ensemble", ENSEMBLES)
def test_starts_of_rectified_overlaps_are_within_reach(ensemble):
    """A random point lies in no pattern's reach; turned towards the nearest that has one, it has a finite energy."""
    program = _program("lsr", ensemble, 12, 5)._replace(sharpness=8.0)
    stored = sampling.patterns(program, jax.random.key(0))
    memory, _ = sampling.memory_of(program, stored)
    points = sphere(jax.random.key(1), 20, 12)
    moved = jax.vmap(lambda point: sampling._in_reach(point, stored, 7 / 8))(points)
    assert not np.isfinite(jax.vmap(memory.energy)(points)).any()
    assert np.isfinite(jax.vmap(memory.energy)(moved)).all()
    np.testing.assert_allclose(np.linalg.norm(moved, axis=1), 12**0.5, rtol=1e-5)
