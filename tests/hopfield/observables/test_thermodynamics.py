"""Thermodynamic identities of the weights at equilibrium."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.optimize
import scipy.special
import scipy.stats

from hopfield.observables import thermodynamics as thermo
from hopfield.separations import Entmax, LogSumExp, Normmax, Sparsemax
from tests.hopfield.contracts.parts import SEPARATIONS, quick
from tests.hopfield.observables.quantities import CONVEX, EVERY, ROWS, M, ensemble, entropy, gibbs, quantities_of

RNG = np.random.default_rng(21)


@pytest.mark.parametrize("size", [1.0, 1e4], ids=["unit scores", "scores of 1e4"])
def test_canonical_ensemble_agrees_with_scipy(size):
    temperatures = np.geomspace(0.05, 20.0, ROWS)
    scores = size * RNG.uniform(-1, 1, size=(ROWS, M))
    found = quantities_of(scores, 1 / temperatures)
    for i, temperature in enumerate(temperatures):
        p, log_z, energy, shannon, variance = ensemble(scores[i], 1 / temperature)
        close = partial(np.testing.assert_allclose, rtol=1e-11, atol=1e-13)
        close(found["boltzmann_weights"][i], p)
        close(found["log_partition"][i], log_z)
        close(found["free_energy"][i], -temperature * log_z)
        close(found["mean_energy"][i], energy)
        close(found["thermal_entropy"][i], shannon)
        close(found["energy_variance"][i], variance, atol=1e-13 * size**2)
        close(found["heat_capacity"][i], variance / temperature**2, atol=1e-13 * (size / temperature) ** 2)


@EVERY
def test_free_energy_is_mean_energy_less_temperature_times_entropy(name):
    """Φ = ⟨E⟩ − T S to 1e-12, with Shannon's H of the weights as S for log-sum-exp."""
    scores, beta = 2 * RNG.normal(size=(ROWS, M)), np.geomspace(0.02, 50, ROWS)
    if not SEPARATIONS[name].normalised:
        scores /= beta[:, None]  # keeps e^(βs) and (βs)ⁿ of a size at which 1e-12 means something
    found = quantities_of(scores, beta, separation=name)
    rebuilt = found["mean_energy"] - found["thermal_entropy"] / beta
    scale = np.maximum(1.0, np.abs(found["mean_energy"]))
    held = np.isfinite(found["free_energy"])
    assert np.mean(held) > 0.9
    assert np.max(np.abs(rebuilt - found["free_energy"])[held] / scale[held]) < 1e-12
    if name == "log_sum_exp":
        shannon = np.asarray(entropy(found["boltzmann_weights"]))
        assert np.max(np.abs(found["mean_energy"] - shannon / beta - found["free_energy"]) / scale) < 1e-12
        np.testing.assert_allclose(shannon, found["thermal_entropy"], rtol=1e-12, atol=1e-14)


@EVERY
def test_entropy_is_minus_the_slope_of_free_energy_and_energy_follows_its_variance(name):
    """dΦ/dT = −S and d⟨E⟩/dT = Var/T² = C, by finite differences to 1e-6, away from the kinks of sparse maps."""
    temperature, step = np.geomspace(0.3, 3.0, ROWS), 1e-5
    scores = RNG.normal(size=M) + 0.3 * RNG.normal(size=(ROWS, M))
    low, here, high = (quantities_of(scores, 1 / (temperature + s), separation=name) for s in (-step, 0, step))
    slope = {key: (high[key] - low[key]) / (2 * step) for key in here}
    same = np.all((low["boltzmann_weights"] != 0) == (high["boltzmann_weights"] != 0), axis=1) & np.isfinite(
        here["free_energy"]
    )
    assert np.mean(same) > 0.6
    size = np.maximum(1.0, np.abs(here["heat_capacity"]))[same]
    assert np.max(np.abs(slope["free_energy"] + here["thermal_entropy"])[same] / size) < 1e-6
    assert np.max(np.abs(slope["mean_energy"] - here["heat_capacity"])[same] / size) < 1e-6
    np.testing.assert_allclose(here["heat_capacity"], here["energy_variance"] / temperature**2, rtol=1e-12)


NORMALISED = {
    "softmax": LogSumExp(),
    "sparsemax": Sparsemax(),
    "entmax 1.5": Entmax(1.5),
    "normmax 2": Normmax(2.0),
}
minimal = pytest.mark.parametrize("separation", NORMALISED.values(), ids=NORMALISED)


@minimal
def test_constrained_optimiser_finds_the_gibbs_weights(separation):
    """scipy's SLSQP minimises ⟨E⟩ − T Ω over the simplex, from equal weights."""
    functional = quick(jax.value_and_grad(partial(thermo.variational_free_energy, separation=separation)))
    scores = jnp.asarray(RNG.normal(size=M))
    for beta in (0.3, 2.0):
        found = scipy.optimize.minimize(
            # SLSQP writes into the arrays it is given and gives: neither may share memory with JAX.
            lambda w, beta=beta: [np.array(a) for a in functional(jnp.array(w), scores, beta)],
            np.full(M, 1 / M),
            jac=True,
            method="SLSQP",
            bounds=[(1e-12, 1)] * M,
            constraints={"type": "eq", "fun": lambda w: np.sum(w) - 1, "jac": np.ones_like},
            options={"ftol": 1e-15, "maxiter": 500},
        )
        np.testing.assert_allclose(found.x, gibbs(scores, beta, separation=separation), atol=2e-6)
        least = thermo.free_energy(scores, beta, separation=separation)
        assert found.fun == pytest.approx(float(least), abs=1e-9)


@pytest.mark.parametrize("name", CONVEX)
def test_thermal_entropy_is_the_regulariser_of_the_weights(name):
    """Fenchel's equality F(z) = p·z + Ω(p), for every convex separation there is or will be."""
    found = quantities_of(RNG.normal(size=(ROWS, M)), np.full(ROWS, 1.3), separation=name)
    own = quick(jax.vmap(SEPARATIONS[name].regulariser))(found["boltzmann_weights"])
    np.testing.assert_allclose(own, found["thermal_entropy"], rtol=1e-11, atol=1e-13)
