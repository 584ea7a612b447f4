"""The contract of every separation, found by itself: a new one is held to it without an edit."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from contract import SEPARATIONS, quick

from hopfield.separations import Exponential, Linear

KEYS = jax.random.split(jax.random.key(11), 6)
CASES, M, N = 12, 7, 9
Z = jax.random.normal(KEYS[0], (CASES, M)) * jnp.linspace(0.1, 4.0, CASES)[:, None]
VALUES = jax.random.normal(KEYS[1], (M, 3))
STATES = jnp.sign(jax.random.normal(KEYS[2], (CASES, N)))
BETAS = (1e-6, 1e-3, 1.0, 1e2, 1e4)

every_separation = pytest.mark.parametrize("name", SEPARATIONS)


@cache
def derivatives(name: str) -> dict:
    """F, weights, shares and the derivatives of both at every z, from one compilation."""
    separation = SEPARATIONS[name]

    def one(z):
        return {
            "potential": separation.potential(z),
            "gradient": jax.grad(separation.potential)(z),
            "hessian": jax.hessian(separation.potential)(z),
            "weights": separation.weights(z),
            "jacobian": jax.jacfwd(separation.weights)(z),
            "shares": separation.shares(z),
        }

    return jax.tree.map(np.asarray, quick(jax.vmap(one))(Z))


@cache
def masked(name: str):
    """F, weights and shares of (z, mask), compiled once for batches."""
    separation = SEPARATIONS[name]
    return quick(jax.vmap(lambda z, m: (separation.potential(z, m), separation.weights(z, m), separation.shares(z, m))))


def assert_gradient(separation, weights) -> None:
    """The directional derivative of F by central differences is weights · direction."""
    along = np.asarray(jax.random.normal(KEYS[4], (CASES, M)))
    step = 1e-6
    potential = quick(jax.vmap(separation.potential))
    slope = (np.asarray(potential(Z + step * along)) - np.asarray(potential(Z - step * along))) / (2 * step)
    np.testing.assert_allclose(slope, np.sum(np.asarray(weights) * along, axis=1), rtol=1e-6, atol=1e-7)


@every_separation
def test_weights_are_the_gradient_of_the_potential(name):
    found = derivatives(name)
    np.testing.assert_allclose(found["weights"], found["gradient"], rtol=1e-10, atol=1e-12)
    assert_gradient(SEPARATIONS[name], found["weights"])


@every_separation
def test_jacobian_of_weights_is_the_symmetric_hessian_of_the_potential(name):
    found = derivatives(name)
    np.testing.assert_allclose(found["jacobian"], found["hessian"], rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(found["jacobian"], np.swapaxes(found["jacobian"], 1, 2), rtol=1e-9, atol=1e-11)


@every_separation
def test_convexity_and_signs_are_what_the_fields_say(name):
    separation, found = SEPARATIONS[name], derivatives(name)
    lowest = np.linalg.eigvalsh(found["hessian"])[:, 0]
    assert bool(np.all(lowest > -1e-9)) == separation.convex
    assert bool(np.all(found["weights"] >= 0)) == separation.monotone
    supported = np.sum(np.abs(found["weights"]), axis=1) > 0
    sums = np.sum(found["weights"], axis=1)
    assert np.allclose(sums, 1.0, rtol=1e-12) == separation.normalised
    np.testing.assert_allclose(np.sum(found["shares"], axis=1), supported, rtol=1e-12)
    if separation.level_convex:
        middle, _, _ = masked(name)(0.5 * (Z + jnp.roll(Z, 1, axis=0)), jnp.ones(Z.shape, bool))
        ends = np.maximum(found["potential"], np.roll(found["potential"], 1))
        assert np.all(np.asarray(middle) <= ends + 1e-12)


@every_separation
def test_separation_is_the_same_eagerly_and_one_at_a_time(name):
    separation, found = SEPARATIONS[name], derivatives(name)
    for i in (1, CASES - 1):
        np.testing.assert_allclose(separation.potential(Z[i]), found["potential"][i], rtol=1e-12)
        np.testing.assert_allclose(separation.weights(Z[i]), found["weights"][i], rtol=1e-11, atol=1e-14)


@every_separation
def test_permuting_scores_permutes_the_weights(name):
    order = np.random.default_rng(0).permutation(M)
    potential, weights, _ = masked(name)(Z[:, order], jnp.ones(Z.shape, bool))
    np.testing.assert_allclose(potential, derivatives(name)["potential"], rtol=1e-11)
    np.testing.assert_allclose(weights, derivatives(name)["weights"][:, order], rtol=1e-10, atol=1e-13)


@every_separation
@pytest.mark.parametrize("padding", [0.0, -50.0, 1e6], ids=["zero", "low", "high"])
def test_masked_scores_change_nothing(name, padding):
    wide = jnp.concatenate([jnp.full((CASES, 2), padding), Z, jnp.full((CASES, 1), padding)], axis=1)
    used = jnp.zeros(wide.shape, bool).at[:, 2:-1].set(True)
    potential, weights, shares = masked(name)(wide, used)
    np.testing.assert_allclose(potential, derivatives(name)["potential"], rtol=1e-12)
    for got, whole in ((weights, "weights"), (shares, "shares")):
        np.testing.assert_allclose(got[:, 2:-1], derivatives(name)[whole], rtol=1e-11, atol=1e-14)
        assert not np.any(np.asarray(got)[:, [0, 1, -1]])


@every_separation
def test_fully_masked_scores_have_no_weight(name):
    separation, nothing = SEPARATIONS[name], jnp.zeros(Z.shape, bool)
    potential, weights, shares = masked(name)(Z, nothing)
    assert not np.any(weights)
    assert not np.any(shares)
    assert not np.any(np.isnan(potential))
    if separation.normalised:
        assert np.all(np.isneginf(potential))
    assert not np.any(quick(jax.vmap(jax.grad(separation.potential)))(Z, nothing))


@every_separation
def test_blocks_give_what_all_scores_give(name):
    separation = SEPARATIONS[name]
    if not separation.streaming:
        with pytest.raises(TypeError, match="has no streaming form"):
            separation.block(Z[0], VALUES)
        return

    def blockwise(z, used, left_first):
        cuts = [(0, 3), (3, 3), (3, 4), (4, M)]
        a, empty, b, c = (separation.block(z[i:j], VALUES[i:j], used[i:j]) for i, j in cuts)
        merge = separation.merge
        return separation.finish(
            merge(merge(merge(a, empty), b), c) if left_first else merge(merge(c, b), merge(empty, a))
        )

    used = jax.random.bernoulli(KEYS[5], 0.7, (CASES, M)).at[0].set(True).at[1, :3].set(False).at[2, 3:].set(False)
    used = used.at[3].set(False)
    potential, weights, _ = masked(name)(Z, used)
    for left_first in (True, False):
        streamed, read = quick(jax.vmap(lambda z, m, first=left_first: blockwise(z, m, first)))(Z, used)
        np.testing.assert_allclose(streamed, potential, rtol=1e-12)
        np.testing.assert_allclose(read, weights @ VALUES, rtol=1e-11, atol=1e-13)


@every_separation
def test_float32_stays_float32_and_agrees_with_float64(name):
    for whole, got in zip(
        ("potential", "weights", "shares"), masked(name)(Z.astype(jnp.float32), Z < 1e9), strict=True
    ):
        assert got.dtype == jnp.float32
        assert derivatives(name)[whole].dtype == jnp.float64
        np.testing.assert_allclose(got, derivatives(name)[whole], rtol=2e-5, atol=2e-6)


@every_separation
@pytest.mark.parametrize("beta", BETAS)
def test_extreme_inverse_temperatures_give_no_nan(name, beta):
    separation = SEPARATIONS[name]
    z = (beta * Z).astype(jnp.float32)
    potential, weights, shares = (np.asarray(a) for a in masked(name)(z, jnp.ones(z.shape, bool)))
    shared = np.sum(shares, axis=1)
    assert np.all((np.abs(shared - 1.0) < 1e-5) | (shared == 0))
    assert not np.any(np.isnan(potential))
    if not isinstance(separation, Exponential):  # grows as e^z: F and weights are +∞ beyond the largest float
        assert np.all(np.isfinite(weights))
        assert np.all(np.isfinite(potential) | (np.isneginf(potential) & ~np.any(weights, axis=1)))
    change = quick(jax.vmap(lambda a, b: separation.rise(a, b, jnp.float32(beta))))(z / beta, -z / beta)
    assert not np.any(np.isnan(change))


@every_separation
def test_rise_is_the_difference_of_potentials(name):
    separation, other = SEPARATIONS[name], jnp.roll(Z, 1, axis=0)
    rise = quick(jax.vmap(lambda a, b: separation.rise(a / 0.7, b / 0.7, 0.7)))
    potential = derivatives(name)["potential"]
    expected = (potential - np.roll(potential, 1)) / 0.7
    np.testing.assert_allclose(rise(Z, other), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(rise(Z, Z), 0.0)


@every_separation
def test_fields_are_half_the_rise_of_every_spin(name):
    separation, steps = SEPARATIONS[name], jax.random.normal(KEYS[4], (M, N))

    def both(z, mask, state):
        fast = separation.fields(z, steps * mask[:, None], state, 0.7, mask)
        up = z[:, None] + 0.5 * (1.0 - state)[None, :] * steps
        down = z[:, None] - 0.5 * (1.0 + state)[None, :] * steps
        return fast, 0.5 * jax.vmap(lambda a, b: separation.rise(a, b, 0.7, mask), 1)(up, down)

    mask = jax.random.bernoulli(KEYS[5], 0.8, (CASES, M))
    fast, direct = quick(jax.vmap(both))(Z, mask, STATES)
    np.testing.assert_allclose(fast, direct, rtol=1e-9, atol=1e-10 * np.max(np.abs(direct), initial=1.0))


class Unhalved(Linear):
    """The classical potential with its ½ forgotten."""

    def potential(self, z, where=None):
        return jnp.sum(z * z)


def test_a_potential_without_its_half_breaks_the_contract():
    assert_gradient(Linear(), Z)
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        assert_gradient(Unhalved(), Z)
