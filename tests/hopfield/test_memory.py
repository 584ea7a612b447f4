"""Memory against attention, against closed forms and against its own energy; Couplings against Memory."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special

from hopfield._pytrees import changed
from hopfield.memory import Memory
from hopfield.separations import Linear
from hopfield.spaces import Spins
from tests.hopfield.contracts.parts import SEPARATIONS, SIMILARITIES, WIDTH, quick

RNG = np.random.default_rng(21)
M, N, V = 7, WIDTH, 3
PATTERNS, VALUES = RNG.normal(size=(M, N)), RNG.normal(size=(M, V))
QUERIES = RNG.normal(size=(5, N))
SPINS, SPIN_STATES = np.sign(PATTERNS), np.sign(QUERIES)
MASK = np.array([True, True, False, True, False, True, True])
CLASSICAL = Memory(SPINS, 1 / N, separation=Linear(), space=Spins())


def batched(function):
    return quick(jax.vmap(function))


@pytest.mark.parametrize("mask", [None, MASK], ids=["all", "masked"])
@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64], ids=["float32", "float64"])
def test_read_is_softmax_attention(dtype, mask):
    """Log-sum-exp, β = 1/√d and separate values, against JAX's own attention and against numpy, to rounding."""
    queries, keys, values = (a.astype(dtype) for a in (QUERIES, PATTERNS, VALUES))
    memory = Memory(keys, 1 / np.sqrt(N), values=values, mask=mask)
    read = quick(jax.vmap(memory.read))(queries)
    assert read.dtype == dtype
    scores = np.where(True if mask is None else mask, np.asarray(queries) @ np.asarray(keys).T / np.sqrt(N), -np.inf)
    rounding = 20 * float(jnp.finfo(dtype).eps)
    np.testing.assert_allclose(read, scipy.special.softmax(scores, axis=1) @ values, rtol=rounding, atol=rounding)
    if dtype == jnp.float32:
        attend = jax.nn.dot_product_attention(
            *(a[:, None, :] for a in (queries, keys)),
            jnp.pad(values, ((0, 0), (0, N - V)))[:, None, :],
            mask=None if mask is None else jnp.broadcast_to(mask, (1, len(queries), M)),
        )
        np.testing.assert_allclose(read, attend[:, 0, :V], rtol=rounding, atol=rounding)


def test_scores_of_masked_patterns_are_zero():
    stored = np.where(MASK[:, None], PATTERNS, np.nan)
    for name in SIMILARITIES:
        memory = changed(Memory(PATTERNS, 0.3, mask=MASK, similarity=SIMILARITIES[name]), patterns=stored)
        scores = np.asarray(quick(memory.scores)(QUERIES[0]))
        np.testing.assert_array_equal(scores[~MASK], 0.0)
        assert np.all(np.abs(scores[MASK]) > 1e-3)


def test_update_of_a_modern_memory_is_its_read_out_and_its_gradient_step():
    """x' = Xᵀ softmax(βXx) = x − ∇E(x): attention over the patterns is a gradient step of length one."""
    memory = Memory(PATTERNS, 0.7)
    parts = batched(lambda x: (memory.update(x), memory.read(x), jax.grad(memory.energy)(x)))
    update, read, slope = (np.asarray(a) for a in parts(QUERIES))
    np.testing.assert_allclose(update, read, rtol=1e-13)
    np.testing.assert_allclose(update, QUERIES - slope, rtol=1e-11, atol=1e-13)


def test_energy_in_closed_form():
    """Ramsauer et al. 2021, eq. 2, without its constants, and Hopfield 1982 with its diagonal M/2 kept."""
    modern = batched(Memory(PATTERNS, 0.7).energy)(QUERIES)
    scores = 0.7 * QUERIES @ PATTERNS.T
    expected = 0.5 * np.sum(QUERIES**2, axis=1) - scipy.special.logsumexp(scores, axis=1) / 0.7
    np.testing.assert_allclose(modern, expected, rtol=1e-13)
    expected = -0.5 * np.einsum("qi,ij,qj->q", SPIN_STATES, SPINS.T @ SPINS / N, SPIN_STATES)
    np.testing.assert_allclose(batched(CLASSICAL.energy)(SPIN_STATES), expected, rtol=1e-13)


def test_one_step_falls_by_at_least_half_the_squared_step():
    """Ramsauer et al. 2021: E(t) − E(t+1) ≥ ½‖x(t+1) − x(t)‖²."""
    memory = Memory(PATTERNS, 2.0)
    update, energy = np.asarray(batched(memory.update)(QUERIES)), batched(memory.energy)
    fall = np.asarray(energy(QUERIES)) - np.asarray(energy(update))
    assert np.all(fall >= 0.5 * np.sum((update - QUERIES) ** 2, axis=1) - 1e-12)


def pairs(separations, plain):
    """Every pair of a separation and a similarity; always those with dot products and with one separation."""
    return [
        pytest.param(separation, name, marks=[pytest.mark.exhaustive] * (name != "dot" and separation != plain))
        for separation, name in itertools.product(separations, SIMILARITIES)
    ]


@pytest.mark.parametrize(("separation", "name"), pairs(SEPARATIONS, "log_sum_exp"))
def test_local_field_is_half_the_brute_force_energy_difference(separation, name):
    """Own spin excluded, with padding, for every separation and similarity: x (E(spin flipped) − E(x)) / 2."""
    stored, parts = SPINS if name == "dot" else PATTERNS, {"similarity": SIMILARITIES[name], "space": Spins()}
    memory = Memory(stored, 0.3, mask=MASK, separation=SEPARATIONS[separation], **parts)

    flipped = SPIN_STATES[:, None, :] * np.concatenate([np.ones((1, N)), 1 - 2 * np.eye(N)])
    energies, fields = quick(lambda x, s: (jax.vmap(jax.vmap(memory.energy))(x), jax.vmap(memory.local_field)(s)))(
        flipped, SPIN_STATES
    )
    with np.errstate(invalid="ignore"):
        brute = 0.5 * SPIN_STATES * (np.asarray(energies)[:, 1:] - np.asarray(energies)[:, :1])
    finite = np.isfinite(brute)
    size = np.max(np.abs(brute[finite]))
    powerless = separation == "rectified_power" and name in ("manhattan", "squared_distance")  # no score is positive
    assert (size > 1e-3) != powerless
    np.testing.assert_allclose(np.asarray(fields)[finite], brute[finite], rtol=1e-9, atol=1e-10 * size)


@pytest.mark.parametrize(("separation", "name"), pairs(["softmax", "exponential", "linear", "polynomial:3"], "softmax"))
def test_fields_of_a_state_with_hidden_units_are_those_of_its_energies_or_none(separation, name):
    """Quick forms, which know steps from −1 to +1, are exact or NaN where a unit is 0, all units at once or one."""
    stored = SPINS if name == "dot" else PATTERNS
    memory = Memory(stored, 0.3, mask=MASK, similarity=SIMILARITIES[name], separation=separation, space=Spins())
    hidden = np.where(np.arange(N) % 3 == 1, 0.0, SPIN_STATES[0])
    ends = np.stack([np.where(np.eye(N, dtype=bool), spin, hidden) for spin in (-1.0, 1.0)])

    def fields(state):
        cache = memory.cache(state)
        return memory.local_field(state), jax.vmap(lambda i: memory.field_at(cache, state, i))(jnp.arange(N))

    energies, found = quick(lambda x, s: (jax.vmap(jax.vmap(memory.energy))(x), fields(s)))(ends, hidden)
    brute = 0.5 * (np.asarray(energies)[0] - np.asarray(energies)[1])
    size = np.max(np.abs(brute[np.isfinite(brute)]))
    for field in map(np.asarray, found):
        told = np.isfinite(brute) & ~np.isnan(field)
        assert told.all() or name not in ("dot", "bilinear")
        np.testing.assert_allclose(field[told], brute[told], rtol=1e-9, atol=1e-10 * size)


def test_hetero_association_returns_the_partner_of_the_nearest_pattern():
    """On the sphere every pattern is nearest to itself."""
    stored = PATTERNS / np.linalg.norm(PATTERNS, axis=1, keepdims=True)
    memory = Memory(stored, 500.0, values=VALUES)
    read, update = batched(lambda x: (memory.read(x), memory.update(x)))(stored)
    np.testing.assert_allclose(read, VALUES, rtol=1e-6)
    np.testing.assert_allclose(update, stored, atol=1e-6)


def test_memories_batch_over_patterns_beta_and_masks():
    """One program for many samples: vmap over the memory itself."""
    patterns = RNG.normal(size=(4, M, N))
    betas = np.array([0.1, 0.5, 1.0, 2.0])

    def step(patterns, beta, mask, state):
        return Memory(patterns, beta, mask=mask).update(state)

    masks = RNG.random((4, M)) < 0.7
    batch = quick(jax.vmap(step, (0, 0, 0, None)))(patterns, betas, masks, QUERIES[0])
    for i in range(4):
        stored = patterns[i][masks[i]]
        expected = scipy.special.softmax(betas[i] * stored @ QUERIES[0]) @ stored
        np.testing.assert_allclose(batch[i], expected, rtol=1e-12)
