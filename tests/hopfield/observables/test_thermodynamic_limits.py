"""Thermodynamic quantities at their limits: temperatures, masks and scores at the ends of their ranges."""

import jax.numpy as jnp
import numpy as np
import pytest

from hopfield.observables import thermodynamics as thermo
from tests.hopfield.contracts.parts import SEPARATIONS
from tests.hopfield.observables.quantities import DTYPES, EVERY, PER_ROW, ROWS, M, ensemble, quantities_of

RNG = np.random.default_rng(22)


@DTYPES
@EVERY
def test_extreme_temperatures_and_scores_give_no_nan(name, dtype):
    """Scores of ±10⁴ at any β, 0 and ∞ too, where weights sum to one; elsewhere while (β s)ⁿ and e^(β s) are finite."""
    separation = SEPARATIONS[name]
    scores = np.broadcast_to(1e4 * RNG.uniform(-1, 1, size=M), (ROWS, M))
    betas = np.resize([0.0, 1e-30, 1e-8, 1e-3, 1.0, 1e4, 1e30, np.inf], ROWS)
    if not separation.normalised:
        betas = np.minimum(betas, 1e-3)
    found = quantities_of(jnp.asarray(scores, dtype), betas, separation=name)
    for key, values in found.items():
        assert values.dtype == dtype
        assert not np.any(np.isnan(values)), key
        if separation.normalised and key not in ("log_partition", "free_energy"):
            assert np.all(np.isfinite(values)), key
    if separation.normalised:
        np.testing.assert_allclose(np.sum(found["boltzmann_weights"], axis=1), 1, rtol=1e-5)
        assert np.all(found["energy_variance"] >= 0)
        cold = betas >= 1e4
        for key in ("free_energy", "mean_energy"):
            np.testing.assert_allclose(found[key][cold], -np.max(scores), rtol=1e-6)


def test_limits_of_temperature():
    scores = np.array([3.0, 1.0, 3.0, -2.0])
    found = quantities_of(np.stack([scores, scores]), np.array([np.inf, 0.0]))
    np.testing.assert_array_equal(found["boltzmann_weights"], [[0.5, 0, 0.5, 0], [0.25] * 4])
    np.testing.assert_allclose(found["thermal_entropy"], np.log([2, 4]), rtol=1e-15)
    np.testing.assert_allclose(found["mean_energy"], [-3, -1.25], rtol=1e-15)
    np.testing.assert_allclose(found["energy_variance"], [0, np.var(scores)], rtol=1e-14)
    np.testing.assert_array_equal(found["heat_capacity"], 0)
    assert found["free_energy"][0] == -3
    assert found["free_energy"][1] < -1e300
    # A single pattern has no entropy at any temperature.
    single = quantities_of(np.full((2, 1), 2.5), np.array([0.0, np.inf]))
    np.testing.assert_array_equal(single["free_energy"], -2.5)
    np.testing.assert_array_equal(single["thermal_entropy"], 0)


def test_any_axis_any_mask_and_a_temperature_per_row():
    scores, mask = RNG.normal(size=(3, 5, 4)), RNG.random(size=(3, 5, 4)) < 0.7
    beta = np.array([0.5, 1.0, 2.0])[:, None]  # of [3, 4] rows
    found = quantities_of(scores, beta, mask, axis=1)
    for i, k in np.ndindex(3, 4):
        used = mask[i, :, k]
        p, log_z, energy, shannon, variance = ensemble(scores[i, used, k], beta[i, 0])
        expected = (log_z, -log_z / beta[i, 0], energy, shannon, variance, beta[i, 0] ** 2 * variance)
        for function, value in zip(PER_ROW, expected, strict=True):
            assert found[function.__name__][i, k] == pytest.approx(value, rel=1e-12, abs=1e-14)
        np.testing.assert_allclose(found["boltzmann_weights"][i, used, k], p, rtol=1e-12)
        assert not np.any(found["boltzmann_weights"][i, ~used, k])


def test_an_array_of_beta_adds_the_axes_of_a_sweep():
    scores, beta = RNG.normal(size=(3, 5)), np.array([0.5, 2.0])
    each = np.stack([thermo.boltzmann_weights(scores, b) for b in beta])
    np.testing.assert_allclose(thermo.boltzmann_weights(scores, beta[:, None]), each, rtol=1e-12)
    np.testing.assert_allclose(thermo.boltzmann_weights(scores.T, beta[:, None], axis=0), each.mT, rtol=1e-12)
    free = [thermo.free_energy(scores[0], b) for b in beta]
    np.testing.assert_allclose(thermo.free_energy(scores[0], beta), free, rtol=1e-12)
    with pytest.raises(ValueError, match=r"^beta must broadcast with the scores' other axes \[3\], got shape \(2,\)$"):
        thermo.boltzmann_weights(scores, beta)
    with pytest.raises(ValueError, match=r"^axis must be one of the 2 axes of the scores, got 2$"):
        thermo.boltzmann_weights(scores, axis=2)
