"""Mistakes of a caller: each ends in one sentence that names the argument, none in a number that looks right."""

# pyright: reportArgumentType=false, reportCallIssue=false, reportAttributeAccessIssue=false
# Arguments are of the wrong type on purpose.

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield import (
    Couplings,
    Memory,
    attention,
    disturbances,
    hebb_couplings,
    large,
    memories,
    metrics,
    optim,
    patterns,
    retrieve,
    separations,
    similarities,
    spaces,
)
from hopfield.dynamics import asynchronous
from hopfield.geometry import sphere
from hopfield.large import counts, overlap_sampling
from hopfield.observables import overlaps, thermodynamics, weights
from hopfield.patterns import sources
from tests.hopfield.contracts.parts import quick
from tests.hopfield.layers.building import layer

KEY = jax.random.key(0)
SPINS = np.random.default_rng(0).choice([-1.0, 1.0], (3, 8))
ROWS = np.random.default_rng(1).normal(size=(3, 8))
STATE = ROWS[0]
MODERN = Memory(ROWS)
CLASSICAL = Memory(SPINS, separation="linear", space=spaces.Spins())
HEBB = hebb_couplings(CLASSICAL)

SCORES = np.array([0.1, 0.5, 2.0])

OF_ONE, OF_ZERO = "must be an integer of at least 1", "must be an integer of at least 0"


def _layer(**options):
    return layer(2, 8, **options)


def _asynchronous(key):
    return retrieve(CLASSICAL, SPINS[0], dynamics="asynchronous", key=key)


MISTAKES = {
    "state of a corruption": (
        lambda: retrieve(MODERN, patterns.corrupt(KEY, STATE, "mask", 0.5)),
        r"state must be an array, got Corrupted \(write its \.state\)",
    ),
    "state of a retrieval": (lambda: MODERN.update(retrieve(MODERN, STATE)), "state must be an array, got Retrieval"),
    "key integer": (lambda: _asynchronous(0), "key must be one JAX random key, .* got int"),
    "keys": (lambda: _asynchronous(jax.random.split(KEY)), r"key must be one JAX random key, .* got key<fry> \[2\]"),
    "max_steps part": (lambda: retrieve(MODERN, STATE, max_steps=2.5), f"max_steps {OF_ONE}, got 2.5"),
    "max_steps NaN": (lambda: retrieve(MODERN, STATE, max_steps=np.nan), f"max_steps {OF_ONE}, got nan"),
    "order": (
        lambda: asynchronous.sweep(HEBB, SPINS[0], np.arange(8) + 5),
        "order must be indices from 0 to 7, got 5 to 12",
    ),
    "order floats": (lambda: asynchronous.sweep(HEBB, SPINS[0], np.arange(8.0)), "order must be indices of neurons"),
    "rtol NaN": (lambda: retrieve(MODERN, STATE, rtol=np.nan), "rtol must be a finite number of at least 0, got nan"),
    "known of a sweep": (
        lambda: asynchronous.sweep(HEBB, SPINS[0], np.arange(8), known=np.ones(3, bool)),
        r"known must be boolean \[8\], got bool \(3,\)",
    ),
    "known of an update": (lambda: MODERN.update(STATE, known=[1] * 8), r"known must be boolean \[8\], got int"),
    "beta traced": (lambda: jax.jit(lambda b: Memory(ROWS, b))(jnp.ones(3)), "beta must be one real number"),
    "beta truth traced": (
        lambda: jax.jit(lambda b: attention.attend(ROWS, ROWS, ROWS, beta=b))(True),
        "beta must be real numbers, got bool",
    ),
    "degree of the classical": (
        lambda: separations.Linear(3),
        r"degree must be 2 for Linear \(write separations.Polynomial\), got 3",
    ),
    "degree put in later": (lambda: separations.Linear().replace(degree=4), "degree must be 2 for Linear .* got 4"),
    "classical rectified": (lambda: separations.Linear(rectified=True), "rectified must be False for Linear .* True"),
    "dot of widths": (
        lambda: similarities.Dot()(STATE, ROWS[:, :3]),
        r"state must have shape \[3\] .* got shape \(8,\)",
    ),
    "distance of widths": (
        lambda: similarities.SquaredDistance()(STATE[:1], ROWS),
        r"state must have shape \[8\] .* \(1,",
    ),
    "metric of widths": (
        lambda: similarities.Bilinear(np.ones((2, 8)))(STATE, ROWS),
        r"state must have shape \[2\] .* got shape \(8,\)",
    ),
    "field width": (lambda: spaces.Sphere().project(STATE[:1], STATE), r"field must have shape \[8\] .* \(1,\)"),
    "patterns of 8 bits": (lambda: Memory(jnp.ones((2, 3), jnp.float8_e4m3fn)), "patterns must be real numbers"),
    "load": (lambda: memories.find("classical").rounded(np.nan, 10), "load must be a finite number of at least 0"),
    "widths": (lambda: overlaps.overlap(SPINS[0], SPINS[0, :1]), r"pattern must have shape \[8\] .*, got shape \(1,\)"),
    "batch": (lambda: overlaps.bit_error(SPINS, SPINS[0]), r"state must have shape \[N\] \(batch with jax.vmap\)"),
    "batch of weights": (lambda: weights.shares(np.ones((2, 3))), r"weights must have shape \[N\]"),
    "rows": (lambda: overlaps.nearest_pattern(SPINS[0], SPINS[:, :3]), r"state must have shape \[3\]"),
    "weights mask": (lambda: weights.shares(np.ones(3), [1, 1, 0]), r"mask must be boolean \[3\], got int"),
    "mask floats": (lambda: thermodynamics.boltzmann_weights(SCORES, mask=[0.0, -np.inf, 0.0]), "mask must be boolean"),
    "mask shape": (
        lambda: thermodynamics.boltzmann_weights(SCORES, mask=[True, False]),
        r"mask must broadcast against shape",
    ),
    "scores complex": (lambda: thermodynamics.free_energy(SCORES * 1j), "scores must be real numbers"),
    "weights shape": (
        lambda: thermodynamics.variational_free_energy(1.0, SCORES),
        "weights must have the scores' shape",
    ),
    "prior": (lambda: thermodynamics.mutual_information(np.eye(2), [-1.0, 2.0]), "prior must be nowhere negative"),
    "rows beyond": (lambda: sources.Stored(ROWS).rows(2, 3), "must be at most 3 patterns, got 2"),
    "drawn beyond": (lambda: sources.Generated(KEY, "spins", 3, 4).rows(2, 5), "must be at most 3 patterns"),
    "width one": (
        lambda: large.read(Memory(ROWS, similarity=similarities.SquaredDistance()), ROWS[:, :1]),
        r"queries must have shape \[Q, 8\], got \(3, 1\)",
    ),
    "block": (lambda: large.read(Memory(ROWS), ROWS, block=2.5), f"block {OF_ONE}, got 2.5"),
    "flipped": (
        lambda: overlap_sampling.sample(9, 1.0, flipped=1.5),
        f"flipped {OF_ZERO}, got 1.5",
    ),
    "tokens axes": (lambda: _layer()(np.ones(8)), r"inputs_q must be tokens \[..., T, 8\], got shape \(8,\)"),
    "softmax mask": (lambda: attention.softmax(SCORES, np.array([0.0, -np.inf, 0.0])), "mask must be boolean"),
    "attention mask": (lambda: attention.attend(ROWS, ROWS, ROWS, mask="causal"), "mask must be boolean, .* got str"),
    "product": (lambda: attention.softmax_jacobian_product(SCORES, np.ones(1)), "v must be as long as the weights p"),
    "relative": (lambda: attention.t5_buckets(jnp.arange(3.0)), "relative must be whole numbers of tokens"),
    "points": (
        lambda: sphere.dist(np.ones(3) / 3**0.5, np.ones(1)),
        r"point_a must be as wide as point_b, 1, got shape \(3,\)",
    ),
    "norm of another width": (lambda: metrics.norm(STATE, np.eye(3)), "v must have the metric's width 3, got 8"),
    "inner left": (lambda: metrics.inner(STATE, STATE[:3], np.eye(3)), "u must have the metric's width 3, got 8"),
    "query of a metric": (
        lambda: attention.attend(ROWS, ROWS, ROWS, metric=np.eye(3)),
        r"query must have the metric's width 3, got 8 \(axis -1\)",
    ),
    "key of a metric": (
        lambda: attention.attend_blockwise(ROWS, ROWS[:, :3], ROWS, metric=np.eye(8)),
        r"key must have the metric's width 8, got 3 \(axis -1\)",
    ),
    "largest in blocks": (
        lambda: large.read(Memory(ROWS, separation=separations.TopK(2)), ROWS),
        "separation must be one that can be read in blocks, got TopK: its weights need all scores at once",
    ),
    "cut without a key": (lambda: disturbances.diluted(HEBB, 0.5, KEY), "key must be one JAX random key, .* got float"),
    "rate": (
        lambda: optim.natural_gradient(len, "categorical", np.nan),
        "learning_rate must be a finite number or a schedule, got nan",
    ),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_one_sentence_that_names_the_argument(case):
    mistake, sentence = MISTAKES[case]
    with pytest.raises((ValueError, TypeError), match=f"^(?:first \\+ size )?{sentence}"):
        mistake()


@pytest.mark.parametrize("dynamics", asynchronous.ORDERS)
def test_events_end_where_sweeps_do_from_what_is_no_spin(dynamics):
    """Hidden units are zeros: on Couplings, too, the sweep that meets one gives it the sign of its field."""
    start = SPINS[0].copy()
    start[:4], start[6] = 0.0, 0.3 * start[6]
    with_events = retrieve(HEBB, start, dynamics=dynamics, key=KEY)
    by_sweeps = retrieve(CLASSICAL, start, dynamics=dynamics, key=KEY)
    assert np.array_equal(with_events.state, by_sweeps.state)
    assert set(np.abs(with_events.state)) == {1.0}
    np.testing.assert_allclose(with_events.energy, HEBB.energy(with_events.state), rtol=1e-12)


def test_a_state_takes_the_precision_of_its_memory():
    memory = Memory(ROWS.astype(np.float32), 2.0)
    half = STATE.astype(np.float16)
    found = retrieve(memory, half)
    assert found.state.dtype == jnp.float32
    assert jnp.array_equal(found.state, retrieve(memory, half.astype(np.float32)).state)


def test_a_limit_beyond_what_loops_count_is_no_limit():
    assert int(retrieve(MODERN, STATE, max_steps=10**12).status) == 0


@pytest.mark.parametrize("draw", ["biased", "correlated", "sphere", "flip", "hide", "noise"])
def test_a_number_that_is_none_spoils_what_is_drawn_with_it(draw):
    if draw in ("biased", "correlated", "sphere"):
        drawn = jax.jit(lambda number: getattr(patterns, draw)(KEY, 2, 6, number))(jnp.nan)
    else:
        drawn = jax.jit(lambda number: getattr(patterns, draw)(KEY, SPINS[0], number))(jnp.nan)
    assert jnp.all(jnp.isnan(drawn))


def test_shares_of_weights_that_are_not_numbers_are_none():
    found = counts.count(SPINS, SPINS)
    assert np.isnan(found.shares([8] * 3, lambda scores: scores * np.nan)).all()
    assert np.isnan(found.share_entropy(lambda scores: scores * np.nan)).all()


def test_couplings_of_one_neuron_and_none_hidden_still_relax():
    assert int(retrieve(Couplings(np.zeros((1, 1))), [1.0], dynamics="sequential").status) == 0


@pytest.mark.parametrize("degree", [33, 34, 60])
def test_fields_of_high_degrees_are_differences_of_energies(degree):
    """2 h_i = E(x_i = −1) − E(x_i = +1), also where binomial coefficients exceed 32 bits."""
    memory = memories.find(f"dense:{degree}").build(SPINS)
    state = SPINS[0]
    ends = np.stack([np.where(np.eye(8, dtype=bool), spin, state) for spin in (-1.0, 1.0)])
    field, (down, up) = quick(lambda x: (memory.local_field(state), jax.vmap(jax.vmap(memory.energy))(x)))(ends)
    np.testing.assert_allclose(field, 0.5 * (down - up), rtol=1e-6)


@pytest.mark.parametrize("kind", [int, float])
def test_masked_entries_are_no_numbers(kind):
    masked = np.ma.array(np.ones((2, 2), kind), mask=[[0, 1], [0, 0]])
    with pytest.raises(ValueError, match=r"^query must be an array of real numbers, got MaskedArray masked_array"):
        attention.attend(masked, np.eye(2), np.eye(2))
    with pytest.raises(ValueError, match=r"^mask must be boolean, got MaskedArray"):
        Memory(np.ones((2, 2)), mask=np.ma.array([True, False], mask=[True, False]))


@pytest.mark.parametrize("length", [2**32 + 2, np.array([2**32 + 2]), np.array([2**63 + 2], np.uint64), [2**40]])
def test_counts_beyond_32_bits_are_held_at_the_largest(length):
    with jax.enable_x64(False):
        assert np.all(attention.padding(length).dense(1, 7))
        with pytest.raises(ValueError, match="lengths must not be negative"):
            attention.padding(np.array([2 - 2**32]))
