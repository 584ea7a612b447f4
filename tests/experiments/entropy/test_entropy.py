"""The entropy experiment: every column against a plain numpy loop, theory and theorems, and its contract."""

import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from experiments.entropy import experiment as entropy
from experiments.entropy import measurement
from experiments.entropy.experiment import Config
from hopfield import memories
from hopfield.theory import spherical

SMOKE = Config()
DRAW = measurement.Draw("sphere", SMOKE.neurons, SMOKE.patterns, "lower", SMOKE.samples, SMOKE.queries)


def test_every_quantity_equals_a_plain_loop_over_softmax() -> None:
    beta = 9.0
    found = measurement.follow(DRAW, 3, 0.25, "modern", beta, SMOKE.steps)
    stored, starts = (np.asarray(x) for x in measurement._draw_program(DRAW)(np.uint32(3), None, np.float64(0.25)))
    np.testing.assert_allclose(np.linalg.norm(stored, axis=2), 1, atol=1e-12)
    np.testing.assert_array_equal(starts, np.where(np.arange(16) < 12, stored[:, : SMOKE.queries], 0.0))
    for sample, query in itertools.product(range(SMOKE.samples), range(SMOKE.queries)):
        patterns, state = stored[sample], starts[sample, query]
        for step in range(SMOKE.steps + 1):
            boltzmann = np.exp(beta * patterns @ state)
            p = boltzmann / boltzmann.sum()
            shannon = -np.sum(p * np.log(p))
            free = -np.log(boltzmann.sum()) / beta
            new = p @ patterns
            expected = {
                "entropy": shannon,
                "thermal_entropy": shannon,
                "effective_number": math.exp(shannon),
                "mean_energy": -p @ (patterns @ state),
                "free_energy": free,
                "energy": 0.5 * state @ state + free,
                "overlap": state @ patterns[query],
                "target_weight": p[query],
                "largest_weight": p.max(),
                "step_size": np.linalg.norm(new - state),
            }
            for name, value in expected.items():
                assert found[name][sample, query, step] == pytest.approx(value, abs=1e-12), name
            state = new


@pytest.mark.slow
@pytest.mark.parametrize("memory", ["modern", "sparse", "sparse:1.5"])
def test_the_identities_and_the_descent_hold_at_every_step(memory: str) -> None:
    # |dΦ/dT + S| is the error of a central difference of relative width 1e-4 at a Φ that has kinks in its second
    # derivative for sparse weights; a wrong sign or factor would give S itself, of order 1.
    for beta in (0.5, 6.0, 40.0):
        found = measurement.follow(DRAW, 0, 0.5, memory, beta, SMOKE.steps)
        assert np.abs(found["residual"]).max() < 1e-12
        assert np.abs(found["slope"] - found["thermal_entropy"][..., 0]).max() < 1e-4
        gain = -np.diff(found["energy"]) - 0.5 * found["step_size"][..., :-1] ** 2
        assert gain.min() > -1e-12
    assert found["target_weight"].max() > 0.9


def test_the_entropy_rises_to_ln_2_between_two_opposite_patterns() -> None:
    # physics: x' = tanh(β x) shrinks x to 0 for β < 1, where both patterns weigh the same.
    model = memories.find("modern").build(jnp.array([[1.0], [-1.0]]), beta=0.9)
    found = jax.jit(lambda start: measurement._retrieval(model, 0, start, 200))(jnp.array([1.0]))
    assert np.all(np.diff(found["entropy"]) > -1e-12)
    assert found["entropy"][0] < 0.45
    assert float(found["entropy"][-1]) == pytest.approx(math.log(2), abs=1e-9)
    assert np.all(np.diff(found["energy"]) < 1e-15)


@pytest.mark.slow
@pytest.mark.parametrize("ratio", [0.8, 1.15, 1.6])
def test_converged_entropy_on_the_sphere_is_that_of_theory(ratio: float) -> None:
    neurons, patterns = 64, 1000
    beta = ratio * entropy.sphere_critical_beta(neurons, patterns)
    draw = measurement.Draw("sphere", neurons, patterns, "flip", 4, 16)
    found = measurement.follow(draw, 1, 0.0, "modern", beta, 40)
    expected = spherical.converged(neurons, patterns, beta)
    assert np.mean(found["entropy"][..., -1]) == pytest.approx(expected.entropy, abs=0.02)
    assert np.mean(found["overlap"][..., -1]) == pytest.approx(expected.overlap, abs=0.005)
    if ratio > 1:
        assert np.mean(found["entropy"][..., -1]) < 0.3
    else:
        assert np.mean(found["entropy"][..., -1]) > math.log(patterns) - 0.02
