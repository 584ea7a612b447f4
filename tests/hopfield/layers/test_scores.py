"""Steps between products and weights: a function of scores, a sink of weight, and exponents that learn."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from hopfield import attention
from hopfield.attention import SoftCap
from hopfield.layers import AssociationOptions, HopfieldAttention
from hopfield.layers._iteration import KeyMemory

X = jax.random.normal(jax.random.key(0), (2, 5, 8), jnp.float32)
KEYS = jax.random.normal(jax.random.key(1), (2, 6, 4), jnp.float32)
STATES = jax.random.normal(jax.random.key(2), (2, 3, 4), jnp.float32)


def layer(**options):
    return HopfieldAttention(2, 8, options=AssociationOptions(**options), rngs=nnx.Rngs(0))


def products(module):
    """Scores and values by head [b, H, T, ...], of projections by hand."""
    query, key, value = (jnp.swapaxes(part(X), 1, 2) for part in (module.query, module.key, module.value))
    return attention.scores(query, key), value


def output(module, weights, value):
    return module.out(jnp.swapaxes(weights @ value, 1, 2))


@pytest.mark.parametrize(
    "options", [{}, {"block": 2}, {"separation": "sparsemax"}], ids=["at once", "blocks", "sparse"]
)
def test_a_cap_bends_every_score_forwards_and_backwards(options):
    module, past = layer(score=SoftCap(0.3), **options), attention.causal()

    def by_hand(module):
        scores, value = products(module)
        bent = 0.3 * jnp.tanh(scores / 0.3)
        separation = options.get("separation", "softmax")
        return output(module, attention.weights(bent, separation=separation, mask=past), value)

    np.testing.assert_allclose(module(X, is_causal=True), by_hand(module), atol=1e-6)
    found, expected = (
        nnx.grad(lambda m, read=read: jnp.sum(read(m) ** 2))(module).query.kernel[...]
        for read in (lambda m: m(X, is_causal=True), by_hand)
    )
    np.testing.assert_allclose(found, expected, atol=2e-5)


@pytest.mark.parametrize(
    "options", [{"separation": "softmax1"}, {"memory_slots": 1}, {"separation": "softmax1", "block": 2}]
)
def test_a_sink_is_one_more_entry_of_the_softmax_whose_weight_is_dropped(options):
    module = layer(learn_null_score=True, **options)
    sinks = module.attention_fn.null_score
    sinks[...] = jnp.array([-1.0, 2.0], jnp.float32)
    scores, value = products(module)
    extra = jnp.broadcast_to(sinks[...][:, None, None], (*scores.shape[:-1], 1))
    weights = jax.nn.softmax(jnp.concatenate([scores, extra], -1), -1)[..., :-1]
    np.testing.assert_allclose(module(X), output(module, weights, value), atol=1e-6)
    slopes = nnx.grad(lambda m: jnp.sum(m(X) ** 2))(module)
    assert (jnp.abs(slopes.attention_fn.null_score[...]) > 1e-3).all()


def test_a_step_goes_down_the_energy_of_bent_scores():
    """ξ' = ξ − ∇E exactly, E = ½ ξ² − F(φ(βξk))/β; and E never rises where F ∘ φ is convex."""
    for score in (SoftCap(0.7), jax.nn.softplus):
        memory = KeyMemory(KEYS, jnp.array([0.5, 1.5]), score=score)
        slope = jax.grad(lambda state, memory=memory: memory.energy(state).sum())(STATES)
        np.testing.assert_allclose(memory.update(STATES), STATES - slope, atol=2e-6)
    state, energies = STATES, []
    for _ in range(6):
        energies.append(memory.energy(state))
        state = memory.update(state)
    assert (jnp.diff(jnp.stack(energies), axis=0) <= 1e-6).all()


def test_every_head_learns_its_own_alpha():
    module = layer(separation="entmax:1.5", learn_alpha=True)
    raw = module.attention_fn.separation.raw
    assert module.attention_fn.separation.value.alpha.tolist() == pytest.approx([1.5, 1.5])
    raw[...] = jnp.array([-1.0, 2.0], jnp.float32)
    alphas = 1.001 + 1.999 / (1 + np.exp([1.0, -2.0]))  # the second above 2
    scores, value = products(module)
    weights = [attention.weights(scores[:, i], separation=f"entmax:{alpha}") for i, alpha in enumerate(alphas)]
    np.testing.assert_allclose(module(X), output(module, jnp.stack(weights, 1), value), atol=2e-6)
    report = module.inspect(X)
    assert report.weights.shape == (2, 2, 5, 5)
    loss = lambda m: jnp.sum(m(X) ** 2)
    slope = nnx.grad(loss)(module).attention_fn.separation.raw[...]
    for head in range(2):
        step = jnp.zeros(2, jnp.float32).at[head].set(1e-2)
        raw[...] += step
        above = loss(module)
        raw[...] -= 2 * step
        np.testing.assert_allclose(slope[head], (above - loss(module)) / 2e-2, rtol=2e-2)
        raw[...] += step
