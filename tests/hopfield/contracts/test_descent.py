"""The descent theorem over every combination of the three choices: E never rises where `descends` says so."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield.couplings import Couplings
from hopfield.memory import Memory
from hopfield.separations import Linear, LogSumExp, Polynomial
from hopfield.similarities import Cosine, Dot, Manhattan, SquaredDistance
from hopfield.spaces import Box, Euclidean, Space, Sphere, Spins
from tests.hopfield.contracts.parts import (
    PLACES,
    SEPARATIONS,
    SIMILARITIES,
    SPACES,
    WIDTH,
    assert_never_rises,
    energies,
    quick,
    rises,
)

CASES, PATTERNS = 24, 5
KEYS = jax.random.split(jax.random.key(2024), 5)
ASYNCHRONOUS = ("asynchronous", "sequential")


def combinations():
    """Every (similarity, separation, space, dynamics) that `Memory` takes and `descends` vouches for.

    Always every separation on dot products, in space and on spins, and every other place with log-sum-exp;
    all that there is where states are unconfined, where an energy is bounded by little.
    """
    for (a, c), (b, separation) in itertools.product(PLACES, SEPARATIONS.items()):
        similarity, space = SIMILARITIES[a], SPACES[c]
        memory = Memory(jnp.ones((1, WIDTH)), similarity=similarity, separation=separation, space=space)
        # The two asynchronous dynamics differ in the order only: one of them covers each combination.
        dynamics = "sequential" if isinstance(space, Spins) else "synchronous"
        if memory.descends(dynamics):
            plain = (a == "dot" and c in ("euclidean", "spins")) or b == "log_sum_exp" or c == "unconfined"
            marks = () if plain else pytest.mark.exhaustive
            yield pytest.param(similarity, separation, space, dynamics, id=f"{a}-{b}-{c}", marks=marks)


def draw(space: Space, spins: bool):
    """Random patterns, β from 0.08 to 12, masks, clamped units and starting states inside the space."""
    patterns = jax.random.normal(KEYS[0], (CASES, PATTERNS, WIDTH))
    beta = jnp.exp(jax.random.uniform(KEYS[1], (CASES,), minval=-2.5, maxval=2.5))
    mask = jax.random.bernoulli(KEYS[2], 0.7, (CASES, PATTERNS))
    known = jax.random.bernoulli(KEYS[3], 0.3, (CASES, WIDTH)) & (jnp.arange(CASES)[:, None] % 2 == 0)
    states = jax.random.normal(KEYS[4], (CASES, WIDTH))
    if isinstance(space, Spins):
        states = jnp.sign(states)
    if isinstance(space, Sphere):
        states = space.radius * states / jnp.linalg.norm(states, axis=1, keepdims=True)
    if isinstance(space, Box):
        states = jnp.tanh(states)
    return (jnp.sign(patterns) if spins else patterns), beta, mask, known, states


def trace(similarity, separation, space, dynamics):
    """Energies along one trajectory from every random case [CASES, T]."""

    def one(patterns, beta, mask, known, state):
        memory = Memory(patterns, beta, mask=mask, similarity=similarity, separation=separation, space=space)
        return energies(memory, state, dynamics, known)

    spins = isinstance(space, Spins) and isinstance(similarity, Dot)
    return quick(jax.vmap(one))(*draw(space, spins))


@pytest.mark.parametrize(("similarity", "separation", "space", "dynamics"), list(combinations()))
def test_energy_never_rises(similarity, separation, space, dynamics):
    assert_never_rises(trace(similarity, separation, space, dynamics))


def test_descent_is_claimed_for_the_published_memories():
    claimed = {case.id for case in combinations()}
    assert {
        "dot-log_sum_exp-euclidean",
        "dot-entmax-euclidean",
        "dot-linear-spins",
        "dot-polynomial-spins",
        "dot-exponential-spins",
        "squared_distance-log_re_lu-unconfined",
    } <= claimed


@pytest.mark.parametrize(
    ("similarity", "separation", "space", "dynamics"),
    [
        (Dot(), Linear(), Spins(), "synchronous"),
        (Cosine(), LogSumExp(), Euclidean(), "synchronous"),
        (Manhattan(), LogSumExp(), SPACES["box"], "synchronous"),
        (Dot(), Polynomial(3), SPACES["sphere"], "synchronous"),
        (SquaredDistance(), Linear(), SPACES["box"], "synchronous"),
        (Manhattan(), Polynomial(4), Euclidean(), "synchronous"),
    ],
    ids=["all spins at once", "cosine in space", "manhattan in a box", "odd degree", "repelled", "repelled median"],
)
def test_outside_the_theorem_the_energy_can_rise(similarity, separation, space, dynamics):
    memory = Memory(jnp.ones((2, WIDTH)), similarity=similarity, separation=separation, space=space)
    assert not memory.descends(dynamics)
    assert np.max(rises(trace(similarity, separation, space, dynamics))) > 1e-3


@pytest.mark.parametrize("dynamics", ASYNCHRONOUS)
def test_energy_of_couplings_never_rises(dynamics):
    matrix = jax.random.normal(KEYS[0], (CASES, WIDTH, WIDTH))
    states = jnp.sign(jax.random.normal(KEYS[4], (CASES, WIDTH)))

    def one(matrix, state):
        return energies(Couplings(matrix + matrix.T), state, dynamics)

    assert Couplings(jnp.eye(WIDTH)).descends(dynamics)
    assert_never_rises(quick(jax.vmap(one))(matrix, states))


def test_nothing_is_claimed_for_other_dynamics():
    spins = jnp.ones((2, WIDTH))
    assert not Memory(spins, separation=Linear(), space=Spins()).descends("synchronous")
    assert not Couplings(spins.T @ spins).descends("synchronous")
    assert not Memory(spins).descends("asynchronous")
