"""Thermodynamic identities of the weights at equilibrium, and their limits."""

from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.optimize
import scipy.special
import scipy.stats

from hopfield.observables import thermodynamics as thermo
from hopfield.separations import LogReLU, LogSumExp, Polynomial, Sparsemax, entmax, normmax, top_k
from tests.hopfield.contracts.parts import SEPARATIONS, quick

RNG = np.random.default_rng(21)
EVERY = pytest.mark.parametrize("name", SEPARATIONS)
DTYPES = pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64], ids=lambda dtype: dtype.__name__)
CONVEX = [name for name, separation in SEPARATIONS.items() if separation.convex]
PER_ROW = (
    thermo.log_partition,
    thermo.free_energy,
    thermo.mean_energy,
    thermo.thermal_entropy,
    thermo.energy_variance,
    thermo.heat_capacity,
)
ROWS, M = 24, 6
"""Shape of the scores that most tests share, so that each separation is compiled once."""


@cache
def every(separation: str, axis: int):
    """(scores, β, mask) -> every thermodynamic quantity by name, compiled once."""

    def quantities(scores, beta, mask):
        chosen = {"axis": axis, "mask": mask, "separation": SEPARATIONS[separation]}
        return {f.__name__: f(scores, beta, **chosen) for f in (thermo.gibbs, *PER_ROW)}

    return quick(quantities)


def measured(scores, beta, mask=True, separation="log_sum_exp", axis=-1):
    """Every thermodynamic quantity along an axis of the scores, in numpy."""
    scores = jnp.asarray(scores)
    used, beta = jnp.broadcast_to(mask, scores.shape), jnp.asarray(beta, scores.dtype)
    return jax.tree.map(np.asarray, every(separation, axis)(scores, beta, used))


gibbs, entropy = quick(thermo.gibbs), quick(thermo.entropy)


def ensemble(scores, beta):
    """The canonical ensemble of one row worked out by scipy: p, ln Z, ⟨E⟩, H, Var."""
    p = scipy.special.softmax(beta * scores)
    energy = -p @ scores
    return p, scipy.special.logsumexp(beta * scores), energy, scipy.stats.entropy(p), p @ (-scores - energy) ** 2


@pytest.mark.parametrize("size", [1.0, 1e4], ids=["unit scores", "scores of 1e4"])
def test_canonical_ensemble_agrees_with_scipy(size):
    temperatures = np.geomspace(0.05, 20.0, ROWS)
    scores = size * RNG.uniform(-1, 1, size=(ROWS, M))
    found = measured(scores, 1 / temperatures)
    for i, temperature in enumerate(temperatures):
        p, log_z, energy, shannon, variance = ensemble(scores[i], 1 / temperature)
        close = partial(np.testing.assert_allclose, rtol=1e-11, atol=1e-13)
        close(found["gibbs"][i], p)
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
    found = measured(scores, beta, separation=name)
    rebuilt = found["mean_energy"] - found["thermal_entropy"] / beta
    scale = np.maximum(1.0, np.abs(found["mean_energy"]))
    held = np.isfinite(found["free_energy"])
    assert np.mean(held) > 0.9
    assert np.max(np.abs(rebuilt - found["free_energy"])[held] / scale[held]) < 1e-12
    if name == "log_sum_exp":
        shannon = np.asarray(entropy(found["gibbs"]))
        assert np.max(np.abs(found["mean_energy"] - shannon / beta - found["free_energy"]) / scale) < 1e-12
        np.testing.assert_allclose(shannon, found["thermal_entropy"], rtol=1e-12, atol=1e-14)


@EVERY
def test_entropy_is_minus_the_slope_of_free_energy_and_energy_follows_its_variance(name):
    """dΦ/dT = −S and d⟨E⟩/dT = Var/T² = C, by finite differences to 1e-6, away from the kinks of sparse maps."""
    temperature, step = np.geomspace(0.3, 3.0, ROWS), 1e-5
    scores = RNG.normal(size=M) + 0.3 * RNG.normal(size=(ROWS, M))
    low, here, high = (measured(scores, 1 / (temperature + s), separation=name) for s in (-step, 0, step))
    slope = {key: (high[key] - low[key]) / (2 * step) for key in here}
    same = np.all((low["gibbs"] != 0) == (high["gibbs"] != 0), axis=1) & np.isfinite(here["free_energy"])
    assert np.mean(same) > 0.6
    size = np.maximum(1.0, np.abs(here["heat_capacity"]))[same]
    assert np.max(np.abs(slope["free_energy"] + here["thermal_entropy"])[same] / size) < 1e-6
    assert np.max(np.abs(slope["mean_energy"] - here["heat_capacity"])[same] / size) < 1e-6
    np.testing.assert_allclose(here["heat_capacity"], here["energy_variance"] / temperature**2, rtol=1e-12)


def test_entropy_falls_as_beta_grows():
    """dH/dβ = −β Var ≤ 0 at fixed scores: closed form against differences, and monotone over many random rows."""
    scores = RNG.normal(size=(ROWS, M)) * np.geomspace(0.1, 30, ROWS)[:, None]
    falling = [measured(scores, np.full(ROWS, beta))["thermal_entropy"] for beta in np.geomspace(1e-3, 1e2, 60)]
    assert np.max(np.diff(falling, axis=0)) < 1e-14
    beta, step = np.linspace(0.2, 2, ROWS), 1e-5
    low, here, high = (measured(scores, beta + s) for s in (-step, 0, step))
    slope = (high["thermal_entropy"] - low["thermal_entropy"]) / (2 * step)
    np.testing.assert_allclose(slope, -beta * here["energy_variance"], rtol=1e-6, atol=1e-6)


NORMALISED = {
    "softmax": LogSumExp(),
    "sparsemax": Sparsemax(),
    "entmax 1.5": entmax(1.5),
    "normmax 2": normmax(2.0),
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
        assert found.success, found.message
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
    best, least = quick(lambda s, b: (thermo.gibbs(s, b, **options), thermo.free_energy(s, b, **options)))(scores, beta)
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
    found = measured(RNG.normal(size=(ROWS, M)), np.full(ROWS, 1.3), separation=name)
    own = quick(jax.vmap(SEPARATIONS[name].regulariser))(found["gibbs"])
    np.testing.assert_allclose(own, found["thermal_entropy"], rtol=1e-11, atol=1e-13)


def test_regularisers_refuse_what_is_no_maximum_and_what_lies_outside():
    for separation in (LogReLU(), Polynomial(3)):
        with pytest.raises(TypeError, match="has no regulariser"):
            separation.regulariser(jnp.ones(3))
    assert top_k(2).regulariser(jnp.full(3, 1 / 3)) == -jnp.inf
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
        rounded = jnp.asarray(thermo.gibbs(scores, separation=name), jnp.bfloat16)
        assert np.isfinite(functional(rounded, scores, separation=name))
    assert functional(mixed, scores, separation="exponential") == jnp.inf
    assert np.isnan(functional(jnp.full(3, jnp.nan), scores))
    np.testing.assert_allclose(functional(mixed, scores, separation="linear"), -(mixed @ scores) + mixed @ mixed / 2)


@pytest.mark.parametrize("alpha", [2.0, 1.5, 1.2])
def test_entropy_of_sparse_weights_is_that_of_tsallis(alpha):
    """At β → 0 the weights are equal and S is its largest value, Tsallis' H_α of 1/M: (1 − M^(1−α)) / (α(α−1))."""
    separation = Sparsemax() if alpha == 2 else entmax(alpha)
    scores, beta = np.stack([RNG.normal(size=M)] * 2), np.array([0.9, 0.0])
    weights = gibbs(scores, beta, separation=separation)
    thermal = quick(thermo.thermal_entropy)(scores, beta, separation=separation)
    np.testing.assert_allclose(thermo.tsallis_entropy(weights, alpha), thermal, rtol=1e-12)
    assert float(thermal[1]) == pytest.approx((1 - M ** (1 - alpha)) / (alpha * (alpha - 1)), rel=1e-12)


@DTYPES
@EVERY
def test_extreme_temperatures_and_scores_give_no_nan(name, dtype):
    """Scores of ±10⁴ at any β, 0 and ∞ too, where weights sum to one; elsewhere while (β s)ⁿ and e^(β s) are finite."""
    separation = SEPARATIONS[name]
    scores = np.broadcast_to(1e4 * RNG.uniform(-1, 1, size=M), (ROWS, M))
    betas = np.resize([0.0, 1e-30, 1e-8, 1e-3, 1.0, 1e4, 1e30, np.inf], ROWS)
    if not separation.normalised:
        betas = np.minimum(betas, 1e-3)
    found = measured(jnp.asarray(scores, dtype), betas, separation=name)
    for key, values in found.items():
        assert values.dtype == dtype
        assert not np.any(np.isnan(values)), key
        if separation.normalised and key not in ("log_partition", "free_energy"):
            assert np.all(np.isfinite(values)), key
    if separation.normalised:
        np.testing.assert_allclose(np.sum(found["gibbs"], axis=1), 1, rtol=1e-5)
        assert np.all(found["energy_variance"] >= 0)
        cold = betas >= 1e4
        for key in ("free_energy", "mean_energy"):
            np.testing.assert_allclose(found[key][cold], -np.max(scores), rtol=1e-6)


def test_limits_of_temperature():
    scores = np.array([3.0, 1.0, 3.0, -2.0])
    found = measured(np.stack([scores, scores]), np.array([np.inf, 0.0]))
    np.testing.assert_array_equal(found["gibbs"], [[0.5, 0, 0.5, 0], [0.25] * 4])
    np.testing.assert_allclose(found["thermal_entropy"], np.log([2, 4]), rtol=1e-15)
    np.testing.assert_allclose(found["mean_energy"], [-3, -1.25], rtol=1e-15)
    np.testing.assert_allclose(found["energy_variance"], [0, np.var(scores)], rtol=1e-14)
    np.testing.assert_array_equal(found["heat_capacity"], 0)
    assert found["free_energy"][0] == -3
    assert found["free_energy"][1] < -1e300
    # A single pattern has no entropy at any temperature.
    single = measured(np.full((2, 1), 2.5), np.array([0.0, np.inf]))
    np.testing.assert_array_equal(single["free_energy"], -2.5)
    np.testing.assert_array_equal(single["thermal_entropy"], 0)


@EVERY
def test_gradients_are_finite_at_masked_scores_and_at_weights_of_zero(name):
    """Scores of −∞, masked padding of 10³⁰, and weights that underflow or are cut to zero."""
    scores = jnp.asarray([0.5, -400.0, 1e30, 0.2, -jnp.inf])
    used = jnp.asarray([True, True, False, True, True])
    separation = SEPARATIONS[name]

    def total(scores, beta):
        functions = (thermo.gibbs, *PER_ROW[2:])
        return sum(jnp.sum(f(scores, beta, mask=used, separation=separation)) for f in functions)

    gradient = quick(jax.grad(total))
    for beta in (0.0, 1e-8, 0.7, *([jnp.inf] if separation.normalised else [])):
        found = np.asarray(gradient(scores, beta))
        assert np.all(np.isfinite(found)), found
        assert not np.any(found[[2, 4]])


def test_the_free_energy_falls_without_bound_towards_beta_zero():
    """−T ln M at T = ∞; of a single pattern it is −s at every T."""
    assert thermo.free_energy(np.array([1.0, 2.0]), 0.0) == -np.inf
    assert thermo.free_energy(np.array([3.0]), 0.0) == -3.0
    assert thermo.free_energy(np.array([3.0]), 0.0, mask=np.array([False])) == np.inf


@pytest.mark.parametrize("separation", ["softmax", "sparsemax", "softmax1"])
def test_the_potential_has_its_limits_at_both_ends_of_beta(separation):
    # β max s grows without bound; what is left where max s = 0 is that of two equal scores
    rows = np.array([[2.0, 1.0, -np.inf], [1e-30, 0.0, 0.0], [0.0, -3.0, 0.0]], np.float32)
    log_partition = partial(thermo.log_partition, separation=separation)
    tie = {"softmax": np.log(2.0), "sparsemax": 0.25, "softmax1": np.log(3.0)}[separation]
    np.testing.assert_allclose(log_partition(rows, np.inf), [np.inf, np.inf, tie], rtol=1e-6)
    assert log_partition(np.array([-1.0, -2.0]), np.inf) == (0.0 if separation == "softmax1" else -np.inf)
    if separation != "softmax1":
        assert log_partition(rows[0], 1e38) == np.float32(2e38)  # a large β is no infinite one
    functional, equal = partial(thermo.variational_free_energy, separation=separation), np.full(3, 1 / 3)
    assert functional(equal, np.arange(3.0), 0.0) == -np.inf == thermo.free_energy(np.arange(3.0), 0.0)
    only = np.array([0.0, 1.0, 0.0])
    assert functional(only, np.arange(3.0), 0.0) == -1.0  # without entropy the temperature has no part in it


def test_gradient_of_free_energy_in_the_scores_is_minus_the_weights():
    """∂Φ/∂s = −p at every β, the ends included; ∂ ln Z/∂β = −⟨E⟩ at β = 0 as well."""
    scores = jnp.asarray([1.0, 0.4, -0.3])
    slope, rise = quick(jax.grad(thermo.free_energy)), quick(jax.grad(thermo.log_partition, argnums=1))
    for beta in (0.0, 1e-12, 0.8, 40.0, jnp.inf):
        np.testing.assert_allclose(slope(scores, beta), -gibbs(scores, beta), rtol=1e-12, atol=1e-15)
    for beta in (0.0, 0.8):
        assert float(rise(scores, beta)) == pytest.approx(-float(thermo.mean_energy(scores, beta)), rel=1e-12)


@pytest.mark.parametrize("scores", [np.arange(4.0), np.full(4, -np.inf)], ids=["masked", "minus infinity"])
def test_rows_without_patterns_are_defined(scores):
    nothing = np.full(4, np.any(np.isinf(scores)))
    found = measured(scores, 1.0, nothing)
    assert not np.any(found["gibbs"])
    assert found["log_partition"] == -np.inf
    assert found["free_energy"] == np.inf
    for key in ("mean_energy", "thermal_entropy", "energy_variance", "heat_capacity"):
        assert found[key] == 0, key


def test_any_axis_any_mask_and_a_temperature_per_row():
    scores, mask = RNG.normal(size=(3, 5, 4)), RNG.random(size=(3, 5, 4)) < 0.7
    beta = np.array([0.5, 1.0, 2.0])[:, None]  # of [3, 4] rows
    found = measured(scores, beta, mask, axis=1)
    for i, k in np.ndindex(3, 4):
        used = mask[i, :, k]
        p, log_z, energy, shannon, variance = ensemble(scores[i, used, k], beta[i, 0])
        expected = (log_z, -log_z / beta[i, 0], energy, shannon, variance, beta[i, 0] ** 2 * variance)
        for function, value in zip(PER_ROW, expected, strict=True):
            assert found[function.__name__][i, k] == pytest.approx(value, rel=1e-12, abs=1e-14)
        np.testing.assert_allclose(found["gibbs"][i, used, k], p, rtol=1e-12)
        assert not np.any(found["gibbs"][i, ~used, k])


def test_an_array_of_beta_adds_the_axes_of_a_sweep():
    scores, beta = RNG.normal(size=(3, 5)), np.array([0.5, 2.0])
    each = np.stack([thermo.gibbs(scores, b) for b in beta])
    np.testing.assert_allclose(thermo.gibbs(scores, beta[:, None]), each, rtol=1e-12)
    np.testing.assert_allclose(thermo.gibbs(scores.T, beta[:, None], axis=0), each.mT, rtol=1e-12)
    free = [thermo.free_energy(scores[0], b) for b in beta]
    np.testing.assert_allclose(thermo.free_energy(scores[0], beta), free, rtol=1e-12)
    with pytest.raises(ValueError, match=r"^beta must broadcast with the scores' other axes \[3\], got shape \(2,\)$"):
        thermo.gibbs(scores, beta)
    with pytest.raises(ValueError, match=r"^axis must be one of the 2 axes of the scores, got 2$"):
        thermo.gibbs(scores, axis=2)


@pytest.mark.parametrize("beta", [-1.0, float("nan")])
def test_beta_out_of_range_is_refused(beta):
    with pytest.raises(ValueError, match=f"^beta must be between 0 and infinity, got {beta}$"):
        thermo.gibbs(jnp.ones(3), beta)


@pytest.mark.parametrize("axis", [0.5, 1, -2, None, True, "0"])
def test_axes_that_are_none_are_refused(axis):
    with pytest.raises(ValueError, match=r"^axis must be one of the 1 axes of the (scores|weights), got "):
        thermo.gibbs(jnp.ones(3), axis=axis)
    with pytest.raises(ValueError, match=r"^axis must be one of the 1 axes of the (scores|weights), got "):
        thermo.entropy(jnp.ones(3), axis=axis)


def test_ragged_and_masked_temperatures_and_one_axis_for_two_are_refused():
    with pytest.raises(ValueError, match=r"^beta must be between 0 and infinity, got"):
        thermo.gibbs(jnp.ones(3), [[1.0], [1.0, 2.0]])
    with pytest.raises(ValueError, match=r"^beta must be between 0 and infinity, got"):
        thermo.gibbs(jnp.ones(3), np.ma.array([1.0, 2.0], mask=[False, True]))
    with pytest.raises(ValueError, match=r"^rows must be another axis than axis, got 1 and -1"):
        thermo.mutual_information(jnp.ones((2, 3)), rows=1)
    with pytest.raises(ValueError, match=r"^prior must broadcast against shape \(2,\), got shape \(7,\)"):
        thermo.mutual_information(jnp.ones((2, 3)), jnp.ones(7))
    with pytest.raises(ValueError, match=r"^reference must broadcast with the weights, got shapes \(2, 3\) and \(2,\)"):
        thermo.kl_divergence(jnp.ones((2, 3)), jnp.ones(2))


def test_jit_vmap_and_eager_agree():
    scores = jnp.asarray(RNG.normal(size=(2, 3)))
    for function in (thermo.free_energy, thermo.heat_capacity):
        eager = function(scores, 0.7)
        np.testing.assert_allclose(quick(function)(scores, 0.7), eager, rtol=1e-13)
        np.testing.assert_allclose(quick(jax.vmap(function, (0, None)))(scores, 0.7), eager, rtol=1e-13)


@pytest.mark.parametrize("dtype", [jnp.bfloat16, jnp.float32], ids=lambda dtype: dtype.__name__)
def test_precision_is_kept_and_half_precision_summed_in_single(dtype):
    """4096 equal scores: a sum in bfloat16, of 8 bits, would stop at 256."""
    found = measured(jnp.zeros(4096, dtype), 1.0)
    assert found.pop("gibbs").dtype == dtype
    assert {value.dtype for value in found.values()} == {jnp.dtype(jnp.float32)}
    assert float(found["thermal_entropy"]) == pytest.approx(np.log(4096), rel=1e-6)


def test_whole_numbers_are_scores_too():
    np.testing.assert_allclose(gibbs(jnp.asarray([2, 1, 0])), scipy.special.softmax([2.0, 1.0, 0.0]), rtol=1e-6)


def test_excess_variational_free_energy_is_temperature_times_divergence():
    """⟨E⟩_w − T H(w) − Φ = T D(w‖p): the second route to the minimum principle of Gibbs."""
    scores, weights = RNG.normal(size=(ROWS, M)), RNG.dirichlet(np.ones(M), size=ROWS)
    found = measured(scores, np.full(ROWS, 1.7))
    excess = np.asarray(quick(thermo.variational_free_energy)(weights, scores, 1.7)) - found["free_energy"]
    np.testing.assert_allclose(excess, thermo.kl_divergence(weights, found["gibbs"]) / 1.7, rtol=1e-11, atol=1e-14)


def test_temperature_table_of_the_seed_documents_corrected():
    """Weights and entropies (nats) of scores [2, 1, 0], which the documents print wrong in most rows."""
    table = {
        0.25: ([0.9817, 0.0180, 0.0003], 0.0930),
        0.5: ([0.8668, 0.1173, 0.0159], 0.4411),
        1.0: ([0.6652, 0.2447, 0.0900], 0.8324),
        2.0: ([0.5065, 0.3072, 0.1863], 1.0202),
        np.inf: ([0.3333, 0.3333, 0.3333], 1.0986),
    }
    found = gibbs(np.tile([2.0, 1.0, 0.0], (5, 1)), 1 / np.array(list(table)))
    np.testing.assert_allclose(found, [weights for weights, _ in table.values()], atol=5.1e-5)
    np.testing.assert_allclose(entropy(found), [value for _, value in table.values()], atol=5.1e-5)
