"""Thermodynamic identities of the weights, their limits, and what holds along a retrieval."""

from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.optimize
import scipy.special
import scipy.stats
from contract import SEPARATIONS, quick

from hopfield import thermodynamics as thermo
from hopfield.dynamics import trajectory
from hopfield.memory import Memory
from hopfield.separations import LogReLU, LogSumExp, Polynomial, Sparsemax, TopK, entmax, normmax, top_k

RNG = np.random.default_rng(21)
TEMPERATURES = np.geomspace(0.05, 20.0, 7)
EVERY = pytest.mark.parametrize("name", SEPARATIONS)
CONVEX = [name for name, separation in SEPARATIONS.items() if separation.convex]
PER_ROW = (
    thermo.log_partition,
    thermo.free_energy,
    thermo.mean_energy,
    thermo.thermal_entropy,
    thermo.energy_variance,
    thermo.heat_capacity,
)
OF_WEIGHTS = {
    "entropy": thermo.entropy,
    "normalised_entropy": thermo.normalised_entropy,
    "effective_number": thermo.effective_number,
    "tsallis": lambda w, **options: thermo.tsallis_entropy(w, 1.7, **options),
    "renyi": lambda w, **options: thermo.renyi_entropy(w, 2.5, **options),
    "kl": lambda w, **options: thermo.kl_divergence(w, jnp.ones_like(w), **options),
}


@cache
def every(separation=None):
    """(scores [B, M], β [B], mask [B, M]) -> every quantity by name, compiled once."""
    chosen = LogSumExp() if separation is None else SEPARATIONS[separation]

    def quantities(scores, beta, where):
        functions = (thermo.gibbs, *PER_ROW)
        return {f.__name__: f(scores, beta, where=where, separation=chosen) for f in functions}

    return quick(quantities)


def measured(scores, beta, where=None, separation=None):
    """Every quantity of rows of scores, in numpy."""
    scores = jnp.asarray(scores)
    used = jnp.ones(scores.shape, bool) if where is None else jnp.broadcast_to(where, scores.shape)
    beta = jnp.broadcast_to(jnp.asarray(beta, float), scores.shape[:1])
    return jax.tree.map(np.asarray, every(separation)(scores, beta, used))


def ensemble(scores, beta):
    """The canonical ensemble of one row worked out by scipy: p, ln Z, ⟨E⟩, H, Var."""
    p = scipy.special.softmax(beta * scores)
    energy = -p @ scores
    return p, scipy.special.logsumexp(beta * scores), energy, scipy.stats.entropy(p), p @ (-scores - energy) ** 2


@pytest.mark.parametrize("size", [1.0, 1e4], ids=["unit scores", "scores of 1e4"])
def test_canonical_ensemble_agrees_with_scipy(size):
    scores = size * RNG.uniform(-1, 1, size=(len(TEMPERATURES), 9))
    found = measured(scores, 1 / TEMPERATURES)
    for i, temperature in enumerate(TEMPERATURES):
        p, log_z, energy, entropy, variance = ensemble(scores[i], 1 / temperature)
        close = partial(np.testing.assert_allclose, rtol=1e-11, atol=1e-13)
        close(found["gibbs"][i], p)
        close(found["log_partition"][i], log_z)
        close(found["free_energy"][i], -temperature * log_z)
        close(found["mean_energy"][i], energy)
        close(found["thermal_entropy"][i], entropy)
        close(found["energy_variance"][i], variance, atol=1e-13 * size**2)
        close(found["heat_capacity"][i], variance / temperature**2, atol=1e-13 * (size / temperature) ** 2)


@EVERY
def test_free_energy_is_mean_energy_less_temperature_times_entropy(name):
    """Φ = ⟨E⟩ − T S to 1e-12, with Shannon's H of the weights as S for log-sum-exp."""
    scores, beta = 2 * RNG.normal(size=(60, 8)), np.geomspace(0.02, 50, 60)
    if not SEPARATIONS[name].normalised:
        scores /= beta[:, None]  # keeps e^(βs) and (βs)ⁿ of a size at which 1e-12 means something
    found = measured(scores, beta, separation=name)
    rebuilt = found["mean_energy"] - found["thermal_entropy"] / beta
    scale = np.maximum(1.0, np.abs(found["mean_energy"]))
    held = np.isfinite(found["free_energy"])
    assert np.mean(held) > 0.9
    assert np.max(np.abs(rebuilt - found["free_energy"])[held] / scale[held]) < 1e-12
    if name == "log_sum_exp":
        entropy = np.asarray(thermo.entropy(jnp.asarray(found["gibbs"])))
        assert np.max(np.abs(found["mean_energy"] - entropy / beta - found["free_energy"]) / scale) < 1e-12
        np.testing.assert_allclose(entropy, found["thermal_entropy"], rtol=1e-12, atol=1e-14)


@EVERY
def test_entropy_is_minus_the_slope_of_free_energy_and_energy_follows_its_variance(name):
    """dΦ/dT = −S and d⟨E⟩/dT = Var/T² = C, by finite differences to 1e-6, away from the kinks of sparse maps."""
    temperature, step = np.geomspace(0.3, 3.0, 24), 1e-5
    scores = np.broadcast_to(RNG.normal(size=6), (24, 6)) + 0.3 * RNG.normal(size=(24, 6))
    low, here, high = (
        measured(scores, 1 / t, separation=name) for t in (temperature - step, temperature, temperature + step)
    )
    slope = {key: (high[key] - low[key]) / (2 * step) for key in here}
    same = np.all((low["gibbs"] != 0) == (high["gibbs"] != 0), axis=1) & np.isfinite(here["free_energy"])
    assert np.mean(same) > 0.6
    size = np.maximum(1.0, np.abs(here["heat_capacity"]))[same]
    assert np.max(np.abs(slope["free_energy"] + here["thermal_entropy"])[same]) < 1e-6 * max(1, np.max(size))
    assert np.max(np.abs(slope["mean_energy"] - here["heat_capacity"])[same] / size) < 1e-6
    np.testing.assert_allclose(here["heat_capacity"], here["energy_variance"] / temperature**2, rtol=1e-12)


def test_entropy_falls_as_beta_grows():
    """dH/dβ = −β Var ≤ 0 at fixed scores: closed form against differences, and monotone over many random rows."""
    scores = RNG.normal(size=(40, 6)) * np.geomspace(0.1, 30, 40)[:, None]
    betas = np.geomspace(1e-3, 1e2, 60)
    entropy = np.asarray(jax.vmap(lambda b: thermo.entropy(thermo.gibbs(jnp.asarray(scores), b)))(jnp.asarray(betas)))
    assert np.max(np.diff(entropy, axis=0)) < 1e-14
    beta, step = np.linspace(0.2, 2, 40), 1e-5
    slope = (
        (measured(scores, beta + step)["thermal_entropy"] - measured(scores, beta - step)["thermal_entropy"]) / step / 2
    )
    expected = -beta * measured(scores, beta)["energy_variance"]
    np.testing.assert_allclose(slope, expected, rtol=1e-6, atol=1e-6)


NORMALISED = {
    "softmax": LogSumExp(),
    "sparsemax": Sparsemax(),
    "entmax 1.5": entmax(1.5),
    "normmax 2": normmax(2.0),
}


def slsqp(scores, beta, separation):
    """Weights that minimise ⟨E⟩ − T Ω over the simplex, by scipy's constrained optimiser started at equal weights."""
    functional = quick(jax.value_and_grad(partial(thermo.variational_free_energy, separation=separation)))
    found = scipy.optimize.minimize(
        lambda w: [np.asarray(a, float) for a in functional(jnp.asarray(w), jnp.asarray(scores), beta)],
        np.full(scores.size, 1 / scores.size),
        jac=True,
        method="SLSQP",
        bounds=[(1e-12, 1)] * scores.size,
        constraints={"type": "eq", "fun": lambda w: np.sum(w) - 1, "jac": np.ones_like},
        options={"ftol": 1e-15, "maxiter": 500},
    )
    return found.x, found.fun


@pytest.mark.parametrize("separation", NORMALISED.values(), ids=NORMALISED)
def test_constrained_optimiser_finds_the_gibbs_weights(separation):
    scores = RNG.normal(size=5)
    for beta in (0.3, 2.0):
        best, value = slsqp(scores, beta, separation)
        gibbs = thermo.gibbs(jnp.asarray(scores), beta, separation=separation)
        np.testing.assert_allclose(best, gibbs, atol=2e-6)
        assert value == pytest.approx(
            float(thermo.free_energy(jnp.asarray(scores), beta, separation=separation)), abs=1e-9
        )


@pytest.mark.parametrize("separation", NORMALISED.values(), ids=NORMALISED)
def test_no_other_weights_have_less_variational_free_energy(separation):
    """Against 2000 random mixtures, near the Gibbs weights and far from them."""
    scores, beta, cases = RNG.normal(size=(2000, 6)), np.exp(RNG.uniform(-2, 3, 2000)), 2000
    step = RNG.choice([1e-4, 1e-2, 1.0], size=(cases, 1))
    gibbs, least = quick(
        lambda s, b: (thermo.gibbs(s, b, separation=separation), thermo.free_energy(s, b, separation=separation))
    )(jnp.asarray(scores), jnp.asarray(beta))
    functional = quick(partial(thermo.variational_free_energy, separation=separation))
    others = (1 - step) * np.asarray(gibbs) + step * RNG.dirichlet(np.full(6, 0.5), size=cases)
    scale = 1 + np.max(np.abs(scores), axis=1) + 1 / beta
    np.testing.assert_allclose(functional(gibbs, scores, beta), least, atol=1e-13, rtol=1e-12)
    assert np.min((np.asarray(functional(others, scores, beta)) - np.asarray(least)) / scale) > -1e-14
    far = step[:, 0] == 1.0
    assert np.min((np.asarray(functional(others, scores, beta)) - np.asarray(least))[far]) > 1e-6


@pytest.mark.parametrize("name", CONVEX)
def test_thermal_entropy_is_the_regulariser_of_the_weights(name):
    """Fenchel's equality F(z) = p·z + Ω(p), for every convex separation there is or will be."""
    separation = SEPARATIONS[name]
    scores = RNG.normal(size=(30, 6))
    found = measured(scores, 1.3, separation=name)
    own = quick(jax.vmap(separation.regulariser))(jnp.asarray(found["gibbs"]))
    np.testing.assert_allclose(own, found["thermal_entropy"], rtol=1e-11, atol=1e-13)


def test_regularisers_refuse_what_is_no_maximum_and_what_lies_outside():
    for separation in (LogReLU(), Polynomial(3)):
        with pytest.raises(TypeError, match="has no regulariser"):
            separation.regulariser(jnp.ones(3))
    assert top_k(2).regulariser(jnp.full(3, 1 / 3)) == -jnp.inf
    assert isinstance(SEPARATIONS["top_k"], TopK)
    assert Polynomial(3, True).regulariser(jnp.asarray([1.0, -0.1])) == -jnp.inf


def test_sparse_weights_maximise_tsallis_entropy():
    """At β → 0 every map is uniform and Ω is its largest value, Tsallis' H_α of 1/M: (1 − M^(1−α)) / (α(α−1))."""
    scores = jnp.asarray(RNG.normal(size=6))
    for alpha, separation in ((2.0, Sparsemax()), (1.5, entmax(1.5)), (1.2, entmax(1.2))):
        weights = thermo.gibbs(scores, 0.9, separation=separation)
        own = thermo.thermal_entropy(scores, 0.9, separation=separation)
        assert float(thermo.tsallis_entropy(weights, alpha)) == pytest.approx(float(own), rel=1e-12)
        most = thermo.thermal_entropy(scores, 0.0, separation=separation)
        assert float(most) == pytest.approx((1 - 6 ** (1 - alpha)) / (alpha * (alpha - 1)), rel=1e-12)


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64], ids=lambda dtype: dtype.__name__)
@EVERY
def test_extreme_temperatures_and_scores_give_no_nan(name, dtype):
    """β from 0 to ∞ and scores of ±10⁴: no NaN anywhere; normalised separations stay finite but for Φ at β = 0."""
    scores = jnp.asarray(1e4 * RNG.uniform(-1, 1, size=5), dtype)
    betas = jnp.asarray([0.0, 1e-30, 1e-8, 1.0, 1e4, 1e30, np.inf], dtype)
    found = measured(jnp.broadcast_to(scores, (7, 5)), betas, separation=name)
    for key, values in found.items():
        assert not np.any(np.isnan(values)), key
        if SEPARATIONS[name].normalised and key not in ("log_partition", "free_energy"):
            assert np.all(np.isfinite(values)), key
    if SEPARATIONS[name].normalised:
        np.testing.assert_allclose(np.sum(found["gibbs"], axis=1), 1, rtol=1e-5)
        np.testing.assert_allclose(found["free_energy"][4:], -np.max(scores), rtol=1e-6)
        np.testing.assert_allclose(found["mean_energy"][4:], -np.max(scores), rtol=1e-6)
        assert np.all(found["energy_variance"] >= 0)


def test_limits_of_temperature():
    scores = jnp.asarray([3.0, 1.0, 3.0, -2.0])
    cold, hot = (measured(scores[None], beta) for beta in (np.inf, 0.0))
    np.testing.assert_array_equal(cold["gibbs"][0], [0.5, 0, 0.5, 0])
    np.testing.assert_array_equal(hot["gibbs"][0], 0.25)
    assert [cold[key].item() for key in ("free_energy", "mean_energy", "heat_capacity")] == [-3, -3, 0]
    assert cold["thermal_entropy"].item() == pytest.approx(np.log(2), rel=1e-15)
    assert hot["thermal_entropy"].item() == pytest.approx(np.log(4), rel=1e-15)
    assert hot["mean_energy"].item() == pytest.approx(-1.25, rel=1e-15)
    assert hot["energy_variance"].item() == pytest.approx(np.var([3, 1, 3, -2]), rel=1e-14)
    assert hot["free_energy"].item() < -1e300
    # A single pattern has no entropy at any temperature.
    assert thermo.free_energy(jnp.asarray([2.5]), 0.0) == -2.5


@pytest.mark.parametrize("seed", [0.0, 1e-8, 0.7, jnp.inf], ids=str)
@EVERY
def test_gradients_are_finite_at_masked_scores_and_at_weights_of_zero(name, seed):
    """Scores of −∞, masked NaN-free padding of 10³⁰ and weights that underflow or are cut to zero."""
    scores = jnp.asarray([0.5, -400.0, 1e30, 0.2, -jnp.inf])
    used = jnp.asarray([True, True, False, True, True])

    def total(scores):
        functions = (thermo.gibbs, *PER_ROW[2:])
        return sum(jnp.sum(f(scores, seed, where=used, separation=SEPARATIONS[name])) for f in functions)

    gradient = np.asarray(quick(jax.grad(total))(scores))
    unbounded = not SEPARATIONS[name].normalised and seed == jnp.inf  # (βs)ⁿ has no limit
    assert unbounded or np.all(np.isfinite(gradient)), gradient
    assert unbounded or not np.any(gradient[[2, 4]])


@pytest.mark.parametrize("function", OF_WEIGHTS.values(), ids=OF_WEIGHTS)
def test_entropies_have_gradients_where_weights_vanish(function):
    weights = jnp.asarray([[0.0, 0.3, 0.7], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    gradient = jax.grad(lambda w: jnp.sum(function(w)))(weights)
    assert bool(jnp.all(jnp.isfinite(gradient)))
    masked = function(weights, where=jnp.asarray([False, True, True]))
    np.testing.assert_allclose(masked, function(weights[:, 1:]), rtol=1e-13)


def test_gradient_of_free_energy_in_the_scores_is_minus_the_weights():
    """∂Φ/∂s = −p at every β, the ends included; ∂ ln Z/∂β = −⟨E⟩ at β = 0 as well."""
    scores = jnp.asarray([1.0, 0.4, -0.3])
    slope = quick(jax.grad(thermo.free_energy))
    for beta in (0.0, 1e-12, 0.8, 40.0, jnp.inf):
        np.testing.assert_allclose(slope(scores, beta), -thermo.gibbs(scores, beta), rtol=1e-12, atol=1e-15)
    for beta in (0.0, 0.8):
        found = jax.grad(thermo.log_partition, argnums=1)(scores, beta)
        assert float(found) == pytest.approx(-float(thermo.mean_energy(scores, beta)), rel=1e-12)


def test_rows_without_patterns_are_defined():
    scores, nothing = jnp.asarray(RNG.normal(size=(1, 4))), jnp.zeros(4, bool)
    found = measured(scores, 1.0, nothing)
    assert not np.any(found["gibbs"])
    assert found["log_partition"].item() == -np.inf
    assert found["free_energy"].item() == np.inf
    for key in ("mean_energy", "thermal_entropy", "energy_variance", "heat_capacity"):
        assert found[key].item() == 0, key
    for function in OF_WEIGHTS.values():
        assert function(jnp.ones(4), where=nothing) == 0
    minus = measured(jnp.full((1, 4), -jnp.inf), 1.0)
    assert not np.any(minus["gibbs"])
    assert minus["free_energy"].item() == np.inf


def test_any_axis_any_mask_and_a_temperature_per_row():
    scores, where = RNG.normal(size=(3, 5, 4)), RNG.random(size=(3, 5, 4)) < 0.7
    beta = np.array([0.5, 1.0, 2.0])[:, None]  # one for each of [3, 4] rows, broadcast
    for function in (thermo.gibbs, *PER_ROW):
        found = function(jnp.asarray(scores), beta, axis=1, where=where)
        for i in range(3):
            for k in range(4):
                own = function(jnp.asarray(scores[i, :, k][where[i, :, k]]), beta[i, 0])
                got = found[i, :, k][where[i, :, k]] if function is thermo.gibbs else found[i, k]
                np.testing.assert_allclose(got, own, rtol=1e-12, atol=1e-14)
    weights = np.abs(scores)
    for function in OF_WEIGHTS.values():
        found = function(jnp.asarray(weights), axis=0, where=where)
        assert found.shape == (5, 4)
        for j in range(5):
            own = function(jnp.asarray(weights[:, j, 2]), where=where[:, j, 2])
            np.testing.assert_allclose(found[j, 2], own, rtol=1e-12, atol=1e-14)


def test_jit_vmap_and_eager_agree():
    scores = jnp.asarray(RNG.normal(size=(4, 6)))
    for function in PER_ROW:
        eager = function(scores, 0.7)
        np.testing.assert_allclose(jax.jit(function)(scores, 0.7), eager, rtol=1e-13)
        np.testing.assert_allclose(jax.vmap(function, (0, None))(scores, 0.7), eager, rtol=1e-13)


@pytest.mark.parametrize(
    "dtype", [jnp.bfloat16, jnp.float16, jnp.float32, jnp.float64], ids=lambda dtype: dtype.__name__
)
def test_precision_is_kept_and_half_precision_summed_in_single(dtype):
    scores = jnp.zeros(4096, dtype)
    assert thermo.gibbs(scores).dtype == dtype
    for function in PER_ROW:
        assert function(scores, 1.0).dtype == jnp.promote_types(dtype, jnp.float32)
    assert float(thermo.thermal_entropy(scores)) == pytest.approx(np.log(4096), rel=1e-6)
    assert float(thermo.entropy(jnp.full(4096, 1 / 4096, dtype))) == pytest.approx(np.log(4096), rel=1e-6)
    assert thermo.entropy(scores + 1).dtype == jnp.promote_types(dtype, jnp.float32)
    assert jnp.issubdtype(thermo.gibbs(jnp.asarray([2, 1, 0])).dtype, jnp.floating)


def test_entropies_of_uniform_weights():
    """K equal weights of M: H = H_α(Rényi) = ln K for every α, H/ln M, and Tsallis' (1 − K^(1−α)) / (α(α−1))."""
    weights = jnp.zeros(9).at[:5].set(0.2)
    assert float(thermo.entropy(weights)) == pytest.approx(np.log(5), rel=1e-15)
    assert float(thermo.normalised_entropy(weights)) == pytest.approx(np.log(5) / np.log(9), rel=1e-15)
    assert float(thermo.normalised_entropy(jnp.full(9, 1 / 9))) == pytest.approx(1.0, rel=1e-15)
    assert float(thermo.effective_number(weights)) == pytest.approx(5, rel=1e-14)
    for alpha in (0.0, 0.3, 1 - 1e-9, 1.0, 1 + 1e-9, 2.0, 60.0, 1e9, np.inf):
        assert float(thermo.renyi_entropy(weights, alpha)) == pytest.approx(np.log(5), rel=1e-13)
    for alpha in (0.5, 1.5, 2.0, 4.0):
        expected = (1 - 5 ** (1 - alpha)) / (alpha * (alpha - 1))
        assert float(thermo.tsallis_entropy(weights, alpha)) == pytest.approx(expected, rel=1e-13)


def test_a_single_pattern_has_normalised_entropy_zero():
    assert thermo.normalised_entropy(jnp.ones(1)) == 0
    assert thermo.normalised_entropy(jnp.asarray([0.3, 0.7]), where=jnp.asarray([True, False])) == 0


def test_renyi_and_tsallis_entropies_in_closed_form():
    p = RNG.dirichlet(np.full(7, 0.4))
    p[3] = 0.0
    p /= p.sum()
    held = p[p > 0]
    alphas = np.array([0.0, 0.25, 0.9, 1.1, 2.0, 5.0, 40.0])
    renyi = np.array([float(thermo.renyi_entropy(jnp.asarray(p), a)) for a in alphas])
    np.testing.assert_allclose(renyi, np.log([np.sum(held**a) for a in alphas]) / (1 - alphas), rtol=1e-10)
    assert np.all(np.diff(renyi) < 0)
    assert float(thermo.renyi_entropy(jnp.asarray(p), np.inf)) == pytest.approx(-np.log(np.max(p)), rel=1e-14)
    for alpha in (1.0, 1 + 1e-12, 1 - 1e-12):
        for entropy in (thermo.renyi_entropy, thermo.tsallis_entropy):
            assert float(entropy(jnp.asarray(p), alpha)) == pytest.approx(scipy.stats.entropy(p), rel=1e-10)
    assert float(thermo.tsallis_entropy(jnp.asarray(p), 2.0)) == pytest.approx((1 - np.sum(p**2)) / 2, rel=1e-14)


def test_kl_divergence_of_rows():
    p, q = RNG.dirichlet(np.full(5, 0.5), size=(2, 4))
    pairs = thermo.kl_divergence(jnp.asarray(p)[:, None], jnp.asarray(q)[None])
    expected = [[scipy.stats.entropy(a, b) for b in q] for a in p]
    np.testing.assert_allclose(pairs, expected, rtol=1e-12)
    np.testing.assert_array_equal(thermo.kl_divergence(jnp.asarray(p), jnp.asarray(p)), 0)
    assert thermo.kl_divergence(jnp.asarray([0.5, 0.5]), jnp.asarray([1.0, 0.0])) == jnp.inf
    assert float(thermo.kl_divergence(jnp.asarray([1.0, 0.0]), jnp.asarray([0.5, 0.5]))) == pytest.approx(np.log(2))


def test_excess_variational_free_energy_is_temperature_times_divergence():
    """⟨E⟩_w − T H(w) − Φ = T D(w‖p): the second route to the minimum principle of Gibbs."""
    scores, weights = RNG.normal(size=(20, 6)), RNG.dirichlet(np.ones(6), size=20)
    excess = thermo.variational_free_energy(weights, scores, 1.7) - thermo.free_energy(scores, 1.7)
    divergence = thermo.kl_divergence(weights, thermo.gibbs(jnp.asarray(scores), 1.7))
    np.testing.assert_allclose(excess, divergence / 1.7, rtol=1e-11, atol=1e-14)


def test_mutual_information_of_rows_and_patterns():
    """H of the mean row less the mean H of the rows; its ends, masks, priors and axes."""
    weights = RNG.dirichlet(np.full(4, 0.6), size=6)
    prior = RNG.dirichlet(np.ones(6))
    expected = scipy.stats.entropy(prior @ weights) - prior @ [scipy.stats.entropy(row) for row in weights]
    found = thermo.mutual_information(jnp.asarray(weights), jnp.asarray(prior))
    assert float(found) == pytest.approx(expected, rel=1e-12)
    turned = thermo.mutual_information(jnp.asarray(weights.T)[None], jnp.asarray(prior)[None], axis=1, rows=2)
    np.testing.assert_allclose(turned, [expected], rtol=1e-12)
    assert float(thermo.mutual_information(jnp.eye(5))) == pytest.approx(np.log(5), rel=1e-14)
    assert float(thermo.mutual_information(jnp.full((3, 4), 0.25))) == pytest.approx(0, abs=1e-15)
    padded = jnp.asarray(np.concatenate([weights, np.zeros((2, 4))]))
    plain = float(thermo.mutual_information(jnp.asarray(weights)))
    assert float(thermo.mutual_information(padded)) == pytest.approx(plain, rel=1e-13)
    assert bool(jnp.all(jnp.isfinite(jax.grad(lambda w: thermo.mutual_information(w))(padded))))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: thermo.gibbs(s, -1.0), "beta must be between 0 and infinity, got -1.0"),
        (lambda s: thermo.free_energy(s, float("nan")), "beta must be between 0 and infinity, got nan"),
        (lambda s: thermo.renyi_entropy(s, -0.5), "alpha must be between 0 and infinity, got -0.5"),
        (lambda s: thermo.tsallis_entropy(s, 0.0), "alpha must be positive and finite, got 0.0"),
    ],
)
def test_out_of_range_parameters_are_refused(call, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        call(jnp.ones(3))


def test_seed_temperature_table_corrected():
    """Weights and entropies (nats) of scores [2, 1, 0]; the values printed in the seed documents are wrong."""
    table = {
        0.25: ([0.9817, 0.0180, 0.0003], 0.0930),
        0.5: ([0.8668, 0.1173, 0.0159], 0.4411),
        1.0: ([0.6652, 0.2447, 0.0900], 0.8324),
        2.0: ([0.5065, 0.3072, 0.1863], 1.0202),
        np.inf: ([0.3333, 0.3333, 0.3333], 1.0986),
    }
    for temperature, (weights, entropy) in table.items():
        found = thermo.gibbs(jnp.asarray([2.0, 1.0, 0.0]), 1 / temperature)
        np.testing.assert_allclose(found, weights, atol=5.1e-5)
        assert float(thermo.entropy(found)) == pytest.approx(entropy, abs=5.1e-5)


CASES, STEPS = 3000, 6


@cache
def retrievals():
    """Energies, entropies and states along random retrievals of modern memories, β from 10⁻³ to 10³."""
    keys = jax.random.split(jax.random.key(5), 4)
    beta = 10 ** jax.random.uniform(keys[0], (CASES,), minval=-3, maxval=3)
    size = 10 ** jax.random.uniform(keys[1], (CASES, 1, 1), minval=-0.5, maxval=0.5)
    patterns = size * jax.random.normal(keys[2], (CASES, 6, 4))
    states = 2 * jax.random.normal(keys[3], (CASES, 4))

    def one(patterns, beta, state):
        memory = Memory.create(patterns, beta)
        visited = trajectory(memory, state, STEPS)
        weights = jax.vmap(memory.weights)(visited)
        return visited, jax.vmap(memory.energy)(visited), thermo.entropy(weights)

    return [np.asarray(a) for a in quick(jax.vmap(one))(patterns, beta, states)]


def test_energy_falls_by_half_the_squared_step_at_least():
    """E(t) − E(t+1) ≥ ½‖x(t+1) − x(t)‖², 18 000 steps without one violation beyond rounding."""
    states, energy, _ = retrievals()
    step = np.sum(np.diff(states, axis=1) ** 2, axis=-1)
    slack = -np.diff(energy, axis=1) - 0.5 * step
    rounding = 1e-14 * (1 + np.abs(energy[:, :-1]) + np.abs(energy[:, 1:]))
    assert slack.size == CASES * STEPS
    assert np.sum(slack < -rounding) == 0
    assert np.max(step) > 1.0
    assert np.min(slack) < 1e-6  # the bound is nearly reached, so a larger factor than ½ would be violated
    assert np.sum(-np.diff(energy, axis=1) - step < -rounding) > 100


def test_entropy_can_rise_along_a_retrieval_though_energy_falls():
    """d = 1, X = ±1, β = 0.9, x₀ = 1: below β_c = 1 the state falls to 0 and the entropy rises to ln 2."""
    memory = Memory.create(jnp.asarray([[1.0], [-1.0]]), 0.9)
    visited = trajectory(memory, jnp.ones(1), 200)
    entropy = np.asarray(thermo.entropy(jax.vmap(memory.weights)(visited)))
    energy = np.asarray(jax.vmap(memory.energy)(visited))
    np.testing.assert_allclose(visited[1:, 0], np.tanh(0.9 * np.asarray(visited[:-1, 0])), rtol=1e-14)
    assert np.all(np.diff(energy) <= 1e-16)
    assert np.all(np.diff(entropy[:60]) > 0)
    assert entropy[0] == pytest.approx(scipy.stats.entropy(scipy.special.softmax([0.9, -0.9])), rel=1e-14)
    assert entropy[-1] == pytest.approx(np.log(2), abs=1e-12)
    _, _, every_entropy = retrievals()
    rises = np.max(np.diff(every_entropy, axis=1), axis=1) > 1e-6
    assert 0.05 < np.mean(rises) < 0.95
