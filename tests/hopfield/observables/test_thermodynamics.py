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
from hopfield.separations import Entmax, LogReLU, LogSumExp, Normmax, Polynomial, Sparsemax, TopK
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


def test_entropy_falls_as_beta_grows():
    """dH/dβ = −β Var ≤ 0 at fixed scores: closed form against differences, and monotone over many random rows."""
    scores = RNG.normal(size=(ROWS, M)) * np.geomspace(0.1, 30, ROWS)[:, None]
    falling = [quantities_of(scores, np.full(ROWS, beta))["thermal_entropy"] for beta in np.geomspace(1e-3, 1e2, 60)]
    assert np.max(np.diff(falling, axis=0)) < 1e-14
    beta, step = np.linspace(0.2, 2, ROWS), 1e-5
    low, here, high = (quantities_of(scores, beta + s) for s in (-step, 0, step))
    slope = (high["thermal_entropy"] - low["thermal_entropy"]) / (2 * step)
    np.testing.assert_allclose(slope, -beta * here["energy_variance"], rtol=1e-6, atol=1e-6)


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


@minimal
def test_no_other_weights_have_less_variational_free_energy(separation):
    """Against 2000 random mixtures, near the Gibbs weights and far from them."""
    cases = 2000
    scores, beta = RNG.normal(size=(cases, M)), np.exp(RNG.uniform(-2, 3, cases))
    step = RNG.choice([1e-4, 1e-2, 1.0], size=(cases, 1))
    options = {"separation": separation}
    best, least = quick(lambda s, b: (thermo.boltzmann_weights(s, b, **options), thermo.free_energy(s, b, **options)))(
        scores, beta
    )
    functional = quick(partial(thermo.variational_free_energy, **options))
    others = (1 - step) * np.asarray(best) + step * RNG.dirichlet(np.full(M, 0.5), size=cases)
    scale = 1 + np.max(np.abs(scores), axis=1) + 1 / beta
    np.testing.assert_allclose(functional(best, scores, beta), least, atol=1e-13, rtol=1e-12)
    excess = np.asarray(functional(others, scores, beta)) - np.asarray(least)
    assert np.min(excess / scale) > -1e-14
    assert np.min(excess[step[:, 0] == 1.0]) > 1e-6


@pytest.mark.parametrize("name", CONVEX)
def test_thermal_entropy_is_the_regulariser_of_the_weights(name):
    """Fenchel's equality F(z) = p·z + Ω(p), for every convex separation there is or will be."""
    found = quantities_of(RNG.normal(size=(ROWS, M)), np.full(ROWS, 1.3), separation=name)
    own = quick(jax.vmap(SEPARATIONS[name].regulariser))(found["boltzmann_weights"])
    np.testing.assert_allclose(own, found["thermal_entropy"], rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("name", ["softmax_one", "exponential"])
def test_thermal_entropy_is_the_potential_less_the_heat(name):
    found = quantities_of(RNG.normal(size=(ROWS, M)), np.full(ROWS, 1.3), separation=name)
    np.testing.assert_allclose(
        found["thermal_entropy"], found["log_partition"] + 1.3 * found["mean_energy"], rtol=1e-11, atol=1e-13
    )


def test_thermal_entropy_stays_where_potential_and_heat_grow():
    scores = jnp.asarray([3.0, 3.0, 1.0], jnp.float32)
    for beta in (10.0, 1e5, 1e7, np.inf):
        found = thermo.thermal_entropy(scores, jnp.float32(beta), separation="softmax1")
        assert float(found) == pytest.approx(np.log(2), rel=1e-5)


def test_regularisers_refuse_what_is_no_maximum_and_what_lies_outside():
    for separation in (LogReLU(), Polynomial(3)):
        with pytest.raises(TypeError, match="has no regulariser"):
            separation.regulariser(jnp.ones(3))
    assert TopK(2).regulariser(jnp.full(3, 1 / 3)) == -jnp.inf
    assert Polynomial(3, True).regulariser(jnp.asarray([1.0, -0.1])) == -jnp.inf


@pytest.mark.parametrize("name", CONVEX)
def test_a_regulariser_is_minus_infinity_where_no_weights_lie(name):
    separation = SEPARATIONS[name]
    broken = jnp.asarray([jnp.nan, -1.0, 3.0])
    assert jnp.isnan(separation.regulariser(broken))
    if separation.monotone:
        assert separation.regulariser(jnp.asarray([1.1, -0.1, 0.0])) == -jnp.inf
    if separation.normalised:
        assert separation.regulariser(jnp.asarray([0.5, 0.6, 0.0])) == -jnp.inf
        assert jnp.isfinite(separation.regulariser(jnp.asarray([0.0, 1.0, 0.0])))


def test_weights_that_are_none_have_infinite_variational_free_energy():
    """Shannon's formula alone has −2 for ones, below the least there is on the simplex."""
    scores, mixed = jnp.array([1.5, -0.3, 0.8]), jnp.array([0.5, 0.7, -0.2])
    functional = thermo.variational_free_energy
    for name in ("softmax", "sparsemax"):
        for w in (jnp.ones(3), -jnp.ones(3) / 3, mixed, jnp.zeros(3)):
            assert functional(w, scores, separation=name) == jnp.inf
        assert functional(jnp.ones(3) / 3, scores, mask=np.array([True, True, False]), separation=name) == jnp.inf
        rounded = jnp.asarray(thermo.boltzmann_weights(scores, separation=name), jnp.bfloat16)
        assert np.isfinite(functional(rounded, scores, separation=name))
    assert functional(mixed, scores, separation="exponential") == jnp.inf
    assert np.isnan(functional(jnp.full(3, jnp.nan), scores))
    np.testing.assert_allclose(functional(mixed, scores, separation="linear"), -(mixed @ scores) + mixed @ mixed / 2)


@pytest.mark.parametrize("alpha", [2.0, 1.5, 1.2])
def test_entropy_of_sparse_weights_is_that_of_tsallis(alpha):
    """At β → 0 the weights are equal and S is its largest value, Tsallis' H_α of 1/M: (1 − M^(1−α)) / (α(α−1))."""
    separation = Sparsemax() if alpha == 2 else Entmax(alpha)
    scores, beta = np.stack([RNG.normal(size=M)] * 2), np.array([0.9, 0.0])
    weights = gibbs(scores, beta, separation=separation)
    thermal = quick(thermo.thermal_entropy)(scores, beta, separation=separation)
    np.testing.assert_allclose(thermo.tsallis_entropy(weights, alpha), thermal, rtol=1e-12)
    assert float(thermal[1]) == pytest.approx((1 - M ** (1 - alpha)) / (alpha * (alpha - 1)), rel=1e-12)


def test_gradient_of_free_energy_in_the_scores_is_minus_the_weights():
    """∂Φ/∂s = −p at every β, the ends included; ∂ ln Z/∂β = −⟨E⟩ at β = 0 as well."""
    scores = jnp.asarray([1.0, 0.4, -0.3])
    slope, rise = quick(jax.grad(thermo.free_energy)), quick(jax.grad(thermo.log_partition, argnums=1))
    for beta in (0.0, 1e-12, 0.8, 40.0, jnp.inf):
        np.testing.assert_allclose(slope(scores, beta), -gibbs(scores, beta), rtol=1e-12, atol=1e-15)
    for beta in (0.0, 0.8):
        assert float(rise(scores, beta)) == pytest.approx(-float(thermo.mean_energy(scores, beta)), rel=1e-12)


def test_excess_variational_free_energy_is_temperature_times_divergence():
    """⟨E⟩_w − T H(w) − Φ = T D(w‖p): the second route to the minimum principle of Gibbs."""
    scores, weights = RNG.normal(size=(ROWS, M)), RNG.dirichlet(np.ones(M), size=ROWS)
    found = quantities_of(scores, np.full(ROWS, 1.7))
    excess = np.asarray(quick(thermo.variational_free_energy)(weights, scores, 1.7)) - found["free_energy"]
    np.testing.assert_allclose(
        excess, thermo.kl_divergence(weights, found["boltzmann_weights"]) / 1.7, rtol=1e-11, atol=1e-14
    )
