"""The contract of every separation, found by itself: a new one is held to it without an edit."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield import Memory, large
from hopfield.separations import Exponential, LogReLU
from hopfield.separations.exponential import LogSumExp
from hopfield.separations.streams import log_weight, streaming, summand
from tests.hopfield.contracts.parts import SEPARATIONS, has_jacobian_by_hand, quick

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
def looker(name: str):
    """All that a separation says of (z, mask), and its rise from another z to this one, compiled once for batches."""
    separation = SEPARATIONS[name]

    def look(z, mask, other, beta):
        return {
            "potential": separation.potential(z, mask),
            "weights": separation.weights(z, mask),
            "shares": separation.shares(z, mask),
            "gradient": jax.grad(separation.potential)(z, mask),
            "rise": separation.potential_difference(z / beta, other / beta, beta, mask),
        }

    return quick(jax.vmap(look, (0, 0, 0, None)))


def look(name: str, z, mask=None, other=None, beta=0.7) -> dict:
    mask = jnp.ones(z.shape, bool) if mask is None else mask
    found = looker(name)(z, mask, z if other is None else other, jnp.asarray(beta, z.dtype))
    return {what: np.asarray(value) for what, value in found.items()}


def assert_gradient(potential, weights) -> None:
    """The directional derivative of F by central differences is weights · direction."""
    along = np.asarray(jax.random.normal(KEYS[4], (CASES, M)))
    step = 1e-6
    slope = (np.asarray(potential(Z + step * along)) - np.asarray(potential(Z - step * along))) / (2 * step)
    np.testing.assert_allclose(slope, np.sum(np.asarray(weights) * along, axis=1), rtol=1e-6, atol=1e-7)


@every_separation
def test_weights_are_the_gradient_of_the_potential(name):
    found = derivatives(name)
    np.testing.assert_allclose(found["weights"], found["gradient"], rtol=1e-10, atol=1e-12)
    assert_gradient(lambda z: look(name, z)["potential"], found["weights"])


@every_separation
def test_jacobian_of_weights_is_the_symmetric_hessian_of_the_potential(name):
    found = derivatives(name)
    np.testing.assert_allclose(found["jacobian"], found["hessian"], rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(found["jacobian"], np.swapaxes(found["jacobian"], 1, 2), rtol=1e-9, atol=1e-11)


@every_separation
def test_the_jacobian_by_hand_is_that_of_the_weights_or_refused(name):
    separation, found = SEPARATIONS[name], derivatives(name)
    along = jax.random.normal(KEYS[4], (CASES, M))
    if not has_jacobian_by_hand(separation):
        with pytest.raises(ValueError, match=r"^separation must have a Jacobian by hand"):
            separation.jacobian_product(jnp.asarray(found["weights"]), along)
        return
    product = separation.jacobian_product(jnp.asarray(found["weights"]), along)
    expected = np.einsum("cij,cj->ci", found["jacobian"], along)
    np.testing.assert_allclose(product, expected, rtol=1e-9, atol=1e-11)


@every_separation
def test_convexity_and_signs_are_what_the_fields_say(name):
    separation, found = SEPARATIONS[name], derivatives(name)
    lowest = np.linalg.eigvalsh(found["hessian"])[:, 0]
    assert bool(np.all(lowest > -1e-9)) == separation.convex
    assert bool(np.all(found["weights"] >= 0)) == separation.monotone
    supported = np.any(found["weights"], axis=1)
    sums = np.sum(found["weights"], axis=1)
    assert np.allclose(sums, 1.0, rtol=1e-12) == separation.normalised
    np.testing.assert_allclose(np.sum(found["shares"], axis=1), supported, rtol=1e-12)
    if separation.quasiconvex:
        middle = look(name, 0.5 * (Z + jnp.roll(Z, 1, axis=0)))["potential"]
        ends = np.maximum(found["potential"], np.roll(found["potential"], 1))
        assert np.all(middle <= ends + 1e-12)


@every_separation
def test_separation_is_the_same_eagerly_and_one_at_a_time(name):
    separation, found = SEPARATIONS[name], derivatives(name)
    np.testing.assert_allclose(separation.potential(Z[-1]), found["potential"][-1], rtol=1e-12)
    np.testing.assert_allclose(separation.weights(Z[-1]), found["weights"][-1], rtol=1e-11, atol=1e-14)


@every_separation
def test_permuting_scores_permutes_the_weights(name):
    order = np.random.default_rng(0).permutation(M)
    found = look(name, Z[:, order])
    np.testing.assert_allclose(found["potential"], derivatives(name)["potential"], rtol=1e-11)
    np.testing.assert_allclose(found["weights"], derivatives(name)["weights"][:, order], rtol=1e-10, atol=1e-13)


@every_separation
@pytest.mark.parametrize("padding", [0.0, -50.0, 1e6], ids=["zero", "low", "high"])
def test_masked_scores_change_nothing(name, padding):
    def pad(z, filling):
        return jnp.pad(z, ((0, 0), (2, 1)), constant_values=filling)

    used = pad(jnp.ones(Z.shape, bool), False)
    found = look(name, pad(Z, padding), used, pad(jnp.roll(Z, 1, axis=0), -padding))
    expected = look(name, Z, None, jnp.roll(Z, 1, axis=0))
    for total in ("potential", "rise"):
        np.testing.assert_allclose(found[total], expected[total], rtol=1e-11, atol=1e-13)
    for share in ("weights", "shares"):
        np.testing.assert_allclose(found[share], pad(expected[share], 0.0), rtol=1e-11, atol=1e-14)


@every_separation
def test_fully_masked_scores_have_no_weight(name):
    found = look(name, Z, jnp.zeros(Z.shape, bool), jnp.roll(Z, 1, axis=0))
    for nothing in ("weights", "shares", "gradient", "rise"):
        np.testing.assert_array_equal(found[nothing], 0.0)
    assert not np.any(np.isnan(found["potential"]))
    assert np.all(np.isneginf(found["potential"])) or not SEPARATIONS[name].normalised


@every_separation
def test_blocks_give_what_all_scores_give(name):
    separation = streaming(SEPARATIONS[name])
    if separation is None:
        memory = Memory(STATES[:M], separation=SEPARATIONS[name], space="spins")
        with pytest.raises(ValueError, match=r"in blocks, got .*: its (fields|weights) need all"):
            large.local_field(memory, STATES)
        return

    def blockwise(z, used):
        cuts = [(0, 3), (3, 3), (3, 4), (4, M)]
        a, empty, b, c = (separation.block(z[i:j], VALUES[i:j], used[i:j]) for i, j in cuts)
        merge = separation.merge
        orders = merge(merge(merge(a, empty), b), c), merge(merge(c, b), merge(empty, a))
        return [separation.finish(stream) for stream in orders]

    used = jax.random.bernoulli(KEYS[5], 0.7, (CASES, M)).at[0].set(True).at[1, :3].set(False).at[2, 3:].set(False)
    used = used.at[3].set(False)
    expected = look(name, Z, used)
    for streamed, read in quick(jax.vmap(blockwise))(Z, used):
        np.testing.assert_allclose(streamed, expected["potential"], rtol=1e-12)
        np.testing.assert_allclose(read, expected["weights"] @ VALUES, rtol=1e-11, atol=1e-13)


STREAMING = [name for name in SEPARATIONS if streaming(SEPARATIONS[name]) is not None]


@pytest.mark.parametrize("name", STREAMING)
def test_summands_are_the_potential_of_one_score_and_weights_their_slopes(name):
    separation, scores, beta = SEPARATIONS[name], np.asarray(Z[:, 0]), 0.7
    logarithm = isinstance(separation, LogSumExp | LogReLU) and not isinstance(separation, Exponential)
    alone = lambda z: (jnp.exp if logarithm else jnp.asarray)(separation.potential(z[None]))
    terms, slopes = quick(jax.vmap(jax.value_and_grad(alone)))(beta * scores)
    top, low = np.argmax(terms), np.argmin(terms)
    scaled = lambda values: (values - values[low]) / (values[top] - values[low])
    np.testing.assert_allclose(scaled(summand(separation, scores, beta)), scaled(np.asarray(terms)), atol=1e-12)
    sizes = np.exp(log_weight(separation, scores, beta))
    np.testing.assert_allclose(sizes / sizes[top], np.abs(slopes) / np.abs(slopes[top]), rtol=1e-11, atol=1e-14)


@every_separation
def test_float32_stays_float32_and_agrees_with_float64(name):
    found, expected = look(name, Z.astype(jnp.float32)), look(name, Z)
    for what, value in expected.items():
        assert found[what].dtype == np.float32
        assert value.dtype == np.float64
        np.testing.assert_allclose(found[what], value, rtol=2e-5, atol=2e-6)


@every_separation
@pytest.mark.parametrize("beta", BETAS)
def test_extreme_inverse_temperatures_give_no_nan(name, beta):
    z = (beta * Z).astype(jnp.float32)
    found = look(name, z, other=-z, beta=beta)
    shared = np.sum(found["shares"], axis=1)
    assert np.all((np.abs(shared - 1.0) < 1e-5) | (shared == 0))
    assert not np.any(np.isnan(found["potential"]))
    assert not np.any(np.isnan(found["rise"]))
    if not isinstance(SEPARATIONS[name], Exponential):  # grows as e^z: F and weights are +∞ beyond the largest float
        empty = np.isneginf(found["potential"]) & ~np.any(found["weights"], axis=1)
        assert np.all(np.isfinite(found["weights"]))
        assert np.all(np.isfinite(found["potential"]) | empty)


@every_separation
def test_rise_is_the_difference_of_potentials(name):
    potential = derivatives(name)["potential"]
    found = look(name, Z, other=jnp.roll(Z, 1, axis=0))["rise"]
    np.testing.assert_allclose(found, (potential - np.roll(potential, 1)) / 0.7, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(look(name, Z)["rise"], 0.0)


@every_separation
def test_fields_are_half_the_rise_of_every_spin(name):
    separation, steps = SEPARATIONS[name], jax.random.normal(KEYS[4], (M, N))

    def both(z, mask, state):
        fast = separation.fields(z, steps * mask[:, None], state, 0.7, mask)
        up = z[:, None] + 0.5 * (1.0 - state)[None, :] * steps
        down = z[:, None] - 0.5 * (1.0 + state)[None, :] * steps
        return fast, 0.5 * jax.vmap(lambda a, b: separation.potential_difference(a, b, 0.7, mask), 1)(up, down)

    mask = jax.random.bernoulli(KEYS[5], 0.8, (CASES, M))
    fast, direct = quick(jax.vmap(both))(Z, mask, STATES)
    np.testing.assert_allclose(fast, direct, rtol=1e-9, atol=1e-10 * np.max(np.abs(direct), initial=1.0))


@pytest.mark.parametrize("width", [3, 40])
@every_separation
def test_a_score_without_bound_leaves_no_share_a_number(name, width):
    separation = SEPARATIONS[name]
    for overflow in (jnp.inf, jnp.inf - jnp.inf):  # a NaN of negative sign
        z = jnp.zeros(width).at[1].set(overflow)
        assert jnp.isnan(separation.shares(z)).all()
        assert not jnp.isfinite(separation.potential(z))
        weights = separation.weights(z)
        assert jnp.isnan(weights).all() if separation.normalised else not jnp.isfinite(weights[1])
        used = jnp.arange(width) != 1
        np.testing.assert_array_equal(separation.weights(z, used), separation.weights(jnp.zeros(width), used))
