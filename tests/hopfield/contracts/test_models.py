"""The contract of every published memory, found by name: a new one is held to it without an edit of this file."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield.couplings import Couplings
from hopfield.dynamics import DYNAMICS, retrieve
from hopfield.memory import Memory
from hopfield.networks import AsymmetricCouplings
from hopfield.separations import Exponential
from hopfield.spaces import Spins
from tests.hopfield.contracts.parts import MODELS, assert_never_rises, energies, quick

RNG = np.random.default_rng(5)
CASES, M, N = 8, 4, 16
PATTERNS = RNG.choice([-1.0, 1.0], size=(M, N))
STATES = jnp.asarray(np.where(RNG.random((CASES, N)) < 0.2, -1.0, 1.0) * PATTERNS[np.arange(CASES) % M])
WIDE = np.concatenate([PATTERNS[:1], PATTERNS, -np.roll(PATTERNS[:2], 1, axis=1)])
USED = np.array([False] + M * [True] + 2 * [False])
BETAS = (1e-6, 1e-2, 1.0, 1e4)

ITERATED = {"adatron": 1e-3}
"""Rules that iterate to a tolerance, and how far their couplings may change with the order of patterns."""

ORDER_MATTERS = {"storkey"}
"""Rules that store one pattern after the other, as published: their patterns cannot be permuted."""

every_model = pytest.mark.parametrize("name", MODELS)


def view(model, state) -> dict:
    """All that a model says about one state."""
    found = {"update": model.update(state)}
    if not isinstance(model, AsymmetricCouplings):
        found["energy"] = model.energy(state)
    if isinstance(model.space, Spins):
        found["field"] = model.local_field(state)
    if isinstance(model, Memory):
        found |= {"read": model.read(state), "weights": model.weights(state), "shares": model.shares(state)}
    return found


look = quick(jax.vmap(view, (None, 0)))


@cache
def views(name: str) -> dict:
    """Answers of the model about every state, compiled and batched."""
    return jax.tree.map(np.asarray, look(MODELS[name].build(PATTERNS), STATES))


def assert_same(found: dict, expected: dict, rtol: float = 1e-11, atol: float = 1e-12) -> None:
    assert found.keys() == expected.keys()
    settled = np.abs(expected["field"]) > 1e-6 if "field" in expected else slice(None)  # rounding decides the rest
    for what, value in expected.items():
        got, value = (a[settled] if what == "update" else a for a in (np.asarray(found[what]), value))
        np.testing.assert_allclose(got, value, rtol=rtol, atol=atol, err_msg=what)


@every_model
def test_energy_never_rises_where_descent_is_claimed(name):
    model = MODELS[name].build(PATTERNS)
    claimed = [dynamics for dynamics in DYNAMICS if model.descends(dynamics)]
    assert bool(claimed) != isinstance(model, AsymmetricCouplings)
    for dynamics in claimed:
        assert_never_rises(quick(jax.vmap(lambda s, d=dynamics: energies(model, s, d)))(STATES))


@every_model
def test_model_is_the_same_eagerly_and_one_at_a_time(name):
    alone = view(MODELS[name].build(PATTERNS), STATES[-1])
    assert_same(alone, {what: value[-1] for what, value in views(name).items()})


@every_model
def test_permuting_patterns_changes_nothing(name):
    order = np.array([2, 0, 3, 1])
    found = look(MODELS[name].build(PATTERNS[order]), STATES)
    expected = dict(views(name))
    for per_pattern in {"weights", "shares"} & expected.keys():
        expected[per_pattern] = expected[per_pattern][:, order]
    if name in ORDER_MATTERS:
        assert not np.allclose(found["energy"], expected["energy"])
    else:
        assert_same(found, expected, rtol=ITERATED.get(name, 1e-11))


@every_model
def test_padding_changes_nothing(name):
    """More patterns than are in use, so that one program serves a whole grid of loads."""
    found = look(MODELS[name].build(WIDE, mask=USED), STATES)
    expected = dict(views(name))
    for per_pattern in {"weights", "shares"} & expected.keys():
        expected[per_pattern] = np.pad(expected[per_pattern], ((0, 0), (1, 2)))
    assert_same(found, expected)


@every_model
def test_a_memory_with_nothing_in_it_is_defined(name):
    empty = MODELS[name].build(WIDE, mask=np.zeros_like(USED))
    found = look(empty, STATES)
    assert not any(np.any(np.isnan(value)) for value in found.values())
    for nothing in {"field", "read", "weights", "shares"} & found.keys():
        assert not np.any(found[nothing])
    if isinstance(empty.space, Spins):
        np.testing.assert_array_equal(found["update"], STATES)


@every_model
def test_float32_stays_float32_and_agrees_with_float64(name):
    single = MODELS[name].build(PATTERNS.astype(np.float32))
    found = look(single, STATES.astype(jnp.float32))
    assert {value.dtype for value in found.values()} == {jnp.dtype("float32")}
    assert {value.dtype for value in views(name).values()} == {np.dtype("float64")}
    assert_same(found, views(name), rtol=ITERATED.get(name, 1e-4), atol=1e-5)


@pytest.mark.parametrize("name", [name for name, model in MODELS.items() if model.takes_beta])
@pytest.mark.parametrize("beta", BETAS)
def test_extreme_inverse_temperatures_stay_finite(name, beta):
    model = MODELS[name].build(PATTERNS.astype(np.float32), beta=beta)
    found = look(model, STATES.astype(jnp.float32))
    assert np.all(np.isfinite(found["update"]))
    assert np.all(np.isfinite(found["shares"]))
    assert not np.any(np.isnan(found["energy"]))
    if not isinstance(model.separation, Exponential):  # its energy and weights overflow, which the class says
        assert np.all(np.isfinite(found["weights"]))
        assert np.all(np.isfinite(found["energy"]) | ~np.any(found["weights"], axis=1))


@every_model
def test_local_field_is_half_the_brute_force_energy_difference(name):
    model = MODELS[name].build(PATTERNS)
    if not isinstance(model.space, Spins):
        with pytest.raises(TypeError, match=r"^space must be Spins for states to have local fields, got "):
            model.local_field(STATES[0])
        return

    if isinstance(model, AsymmetricCouplings):
        assert np.isnan(model.energy(STATES[0]))
        return
    flipped = np.asarray(STATES)[:, None, :] * np.concatenate([np.ones((1, N)), 1 - 2 * np.eye(N)])
    energy = np.asarray(quick(jax.vmap(jax.vmap(model.energy)))(flipped))
    brute = 0.5 * np.asarray(STATES) * (energy[:, 1:] - energy[:, :1])
    np.testing.assert_allclose(views(name)["field"], brute, rtol=1e-9, atol=1e-9 * np.max(np.abs(brute)))
    expected = np.where(brute > 0, 1.0, np.where(brute < 0, -1.0, STATES))
    settled = np.abs(brute) > 1e-9 * np.max(np.abs(brute))
    np.testing.assert_array_equal(views(name)["update"][settled], expected[settled])


@every_model
def test_stored_patterns_are_retrieved(name):
    """Two patterns on 64 neurons are far below every capacity; five flipped units are well inside the basins."""
    patterns, drawn = np.random.default_rng(8).choice([-1.0, 1.0], size=(2, 64)), MODELS[name].draw
    patterns = patterns if drawn is None else np.asarray(drawn(jax.random.key(8), 2, 64))
    model = MODELS[name].build(patterns)
    dynamics = "sequential" if isinstance(model.space, Spins) else "synchronous"
    run = quick(jax.vmap(lambda query: retrieve(model, query, dynamics=dynamics)))
    end = run(patterns * np.where(np.arange(64) < 5, -1.0, 1.0))
    assert not np.any(end.status)
    assert np.all(np.sum(end.state * patterns, axis=1) / 64 > 0.99)


def test_protocol_of_couplings_is_that_of_memories():
    shared = {"energy", "local_field", "update", "descends", "cache", "field_at", "advance", "space"}
    assert all(hasattr(Memory, name) or name in Memory.__annotations__ for name in shared)
    assert all(hasattr(Couplings, name) for name in shared)
