"""Scores, weights and reads: against naive loops in numpy, against JAX's own attention, and by their properties."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special

from hopfield import separations
from hopfield.attention import core

attend, decompose, weights = jax.jit(core.attend), jax.jit(core.decompose), jax.jit(core.weights)
RNG = np.random.default_rng(11)


SEPARATIONS = {
    "softmax": separations.LogSumExp(),
    "sparsemax": separations.Sparsemax(),
    "entmax": separations.Entmax(1.5),
    "normmax": separations.Normmax(2.0),
    "top_k": separations.TopK(2),
}


def normal(*shape, dtype=np.float64):
    return np.asarray(RNG.normal(size=shape), dtype)


def drawn(*leading, t=3, s=5, d=4, v=2):
    return normal(*leading, t, d), normal(*leading, s, d), normal(*leading, s, v)


def naive(query, key, value, *, form=None, beta=None, bias=None, mask=None):
    """Softmax attention of one head in loops."""
    beta = 1 / math.sqrt(query.shape[-1]) if beta is None else beta
    output = np.zeros((len(query), value.shape[-1]))
    for i, q in enumerate(np.asarray(query)):
        z = [beta * q @ (np.eye(len(q)) if form is None else form) @ k for k in np.asarray(key)]
        z = np.asarray(z) + (0 if bias is None else bias[i])
        read = [j for j in range(len(key)) if mask is None or mask[i, j]]
        if read:
            output[i] = scipy.special.softmax(z[read]) @ np.asarray(value)[read]
    return output


def test_worked_example():
    """Q = I, K = [[1,0],[0,1],[1,1]]: A = [[.4011 .1978 .4011], [.1978 .4011 .4011]], O = [[1.2033 .7967], …]."""
    found = decompose(np.eye(2), np.asarray([[1.0, 0], [0, 1], [1, 1]]), np.asarray([[2.0, 0], [0, 2], [1, 1]]))
    np.testing.assert_allclose(found.weights, [[0.4011, 0.1978, 0.4011], [0.1978, 0.4011, 0.4011]], atol=5e-5)
    np.testing.assert_allclose(found.output, [[1.2033, 0.7967], [0.7967, 1.2033]], atol=5e-5)
    np.testing.assert_allclose(found.potential, np.log(2 * math.exp(math.sqrt(0.5)) + 1) * np.ones(2), atol=1e-15)
    p = np.asarray(found.weights)
    np.testing.assert_allclose(found.entropy, -np.sum(p * np.log(p), axis=1), atol=1e-15)


@pytest.mark.parametrize("case", ["plain", "metric", "beta", "bias", "mask"])
def test_attention_is_the_naive_one_in_every_head(case):
    """Query [B, H, T, D] meets keys that all batches share [H, S, D]."""
    query, key, value = normal(2, 3, 4, 4), normal(3, 5, 4), normal(3, 5, 2)
    form, beta, bias, mask = normal(3, 4, 4), np.asarray([0.3, 1.0, 2.5]), normal(3, 4, 5), RNG.random((4, 5)) < 0.5
    mask[1] = False
    given = {"metric": form} if case == "metric" else {}
    given |= {"beta": beta} if case == "beta" else {}
    given |= {"bias": bias} if case == "bias" else {}
    given |= {"mask": mask} if case == "mask" else {}
    found = attend(query, key, value, **given)
    for b in range(2):
        for h in range(3):
            expected = naive(
                query[b, h],
                key[h],
                value[h],
                form=np.asarray(form[h]) if case == "metric" else None,
                beta=float(beta[h]) if case == "beta" else None,
                bias=np.asarray(bias[h]) if case == "bias" else None,
                mask=mask if case == "mask" else None,
            )
            np.testing.assert_allclose(found[b, h], expected, atol=1e-14)


@pytest.mark.parametrize("name", SEPARATIONS)
def test_masked_keys_and_fully_masked_queries_have_no_weight_and_no_gradient(name):
    """Query 1 may read nothing; key 3 is read by nobody. Nothing is ever NaN."""
    mask = np.asarray([[1, 1, 0, 0, 1], [0, 0, 0, 0, 0], [1, 1, 1, 0, 0]], bool)
    inputs = drawn()

    def total(query, key, value, scale):
        found = core.attend(query, key, value, beta=scale, separation=SEPARATIONS[name], mask=mask)
        return jnp.sum(jnp.sin(found)), found

    gradients, output = jax.jit(jax.grad(total, argnums=(0, 1, 2, 3), has_aux=True))(*inputs, np.asarray(0.2))
    assert all(np.all(np.isfinite(g)) for g in gradients)
    assert np.all(np.asarray(output[1]) == 0)
    assert np.all(np.asarray(gradients[0][1]) == 0)
    assert np.all(np.asarray(gradients[1][3]) == 0)
    assert np.all(np.asarray(gradients[2][3]) == 0)
    assert np.any(np.asarray(gradients[0][0]) != 0)


@pytest.mark.parametrize("scores", [[-np.inf, -np.inf], [1e300, -1e300], [-np.inf, 3.0]])
def test_softmax_of_extreme_scores_is_never_nan(scores):
    """A bias of −∞ excludes a key as a mask does."""
    z = np.asarray([scores])
    p, slope = jax.jit(jax.value_and_grad(lambda z: jnp.sum(core.softmax(z) ** 2)))(z)
    expected = np.asarray([float(s == max(scores) > -np.inf) for s in scores])
    assert np.array_equal(core.softmax(z)[0], expected)
    assert np.isfinite(p)
    assert np.all(np.asarray(slope) == 0)


def test_softmax_has_the_derivatives_of_every_order_of_the_plain_formula():
    z, v = normal(4), normal(4)
    ours, plain = ((lambda x, f=f: jnp.sum(v * f(x))) for f in (core.softmax, jax.nn.softmax))
    np.testing.assert_allclose(*(jax.jit(jax.grad(f))(z) for f in (ours, plain)), atol=1e-15)
    np.testing.assert_allclose(*(jax.jit(jax.hessian(f))(z) for f in (ours, plain)), atol=1e-15)


def test_attention_is_a_hopfield_update():
    from hopfield import Memory

    patterns, state = normal(6, 4), normal(4)
    memory = Memory(patterns, beta=1.7)
    np.testing.assert_allclose(
        attend(state[None], patterns, patterns, beta=1.7)[0], jax.jit(memory.update)(state), atol=1e-14
    )


@pytest.mark.parametrize("alpha", [1.5, 2.0, 2.5])
def test_sparse_weights_are_those_of_the_entmax_package(alpha):
    torch, entmax = pytest.importorskip("torch"), pytest.importorskip("entmax")
    z, cotangent = RNG.normal(size=(2, 20, 9))
    at = torch.tensor(z, requires_grad=True)
    golden = entmax.entmax_bisect(at, alpha, dim=-1, n_iter=60)
    golden.backward(torch.tensor(cotangent))
    found, pull = jax.vjp(lambda z: core.weights(z, separation=f"entmax:{alpha}"), jnp.asarray(z))
    np.testing.assert_allclose(found, golden.detach().numpy(), atol=1e-9)
    np.testing.assert_allclose(pull(jnp.asarray(cotangent))[0], at.grad.numpy(), atol=1e-6)


@pytest.mark.parametrize("separation", ["linear", "polynomial:3", "epanechnikov", "softmax1", "normmax:2"])
def test_a_key_of_score_minus_infinity_is_masked_whatever_the_separation(separation):
    scores, kept = np.array([[1.0, -np.inf, 0.5]]), np.array([[1.0, 0.5]])
    found = core.weights(scores, separation=separation)
    np.testing.assert_allclose(found[:, ::2], core.weights(kept, separation=separation), rtol=1e-6)
    assert found[0, 1] == 0.0
    query, key, value, bias = np.ones((1, 1)), np.ones((3, 1)), np.arange(3.0)[:, None], np.array([[0.0, -np.inf, 0.0]])
    masked = core.decompose(query, key, value, separation=separation, bias=bias)
    without = core.decompose(query, key[:2], value[:2], separation=separation)
    np.testing.assert_allclose(masked.potential, without.potential)
