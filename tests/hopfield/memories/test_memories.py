"""The published memories against their papers: energies written out, loads, names and specifications."""

import math
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield import memories
from hopfield.couplings import Couplings
from hopfield.dynamics import retrieve
from hopfield.patterns import datasets
from hopfield.spaces import Euclidean, Spins
from tests.hopfield.contracts.parts import MODELS, quick

RNG = np.random.default_rng(30)
M, N = 5, 12
SPINS = RNG.choice([-1.0, 1.0], size=(M, N))
STATES = RNG.choice([-1.0, 1.0], size=(6, N))
REAL = RNG.normal(size=(M, N))
POINTS = REAL[[0, 1, 2, 3, 4, 0]] + 0.4 * RNG.normal(size=(6, N))


def build(spec: str, patterns, **options):
    return memories.find(spec).build(jnp.asarray(patterns), **options)


def energies(model, states):
    return np.asarray(quick(jax.vmap(model.energy))(jnp.asarray(states)))


def updates(model, states):
    return np.asarray(quick(jax.vmap(model.update))(jnp.asarray(states)))


def test_the_published_models_are_there():
    continuous, sparse = {"modern", "sparse", "epanechnikov", "images"}, {"covariance", "willshaw"}
    published = {"classical", "projection", "storkey", "dreaming", "dense", "exponential"} | continuous | sparse
    assert published <= set(memories.names())
    assert list(memories.names()) == sorted(memories.names())


def test_classical_energy_and_hebb_rule():
    """Hopfield 1982: W = ΞᵀΞ/N, E = −½ x·Wx, M/2 of E the diagonal's; update sign(Wx) without it."""
    couplings = SPINS.T @ SPINS / N
    found = energies(build("classical", SPINS), STATES)
    np.testing.assert_allclose(found, -0.5 * np.einsum("qi,ij,qj->q", STATES, couplings, STATES), rtol=1e-13)
    fields = STATES @ (couplings - np.diag(np.diag(couplings)))
    expected = np.where(np.abs(fields) < 1e-9, STATES, np.sign(fields))
    np.testing.assert_array_equal(updates(build("classical", SPINS), STATES), expected)


@pytest.mark.parametrize("degree", [2, 3, 4, 7])
def test_dense_energy_and_update_of_krotov_and_hopfield(degree):
    """Eq. 1, −Σ mⁿ up to the factor N/n, and eq. 7: the sign of the energy with the spin down less that with it up."""

    def energy(x):
        return -(N / degree) * np.sum((SPINS @ x / N) ** degree)

    model = build(f"dense:{degree}", SPINS)
    np.testing.assert_allclose(energies(model, STATES), [energy(x) for x in STATES], rtol=1e-12)
    for x, new in zip(STATES, updates(model, STATES), strict=True):
        for i in range(N):
            up, down = (energy(np.where(np.arange(N) == i, s, x)) for s in (1, -1))
            assert new[i] == (x[i] if abs(up - down) < 1e-12 else np.sign(down - up))


def test_dense_of_degree_two_is_the_classical_network():
    np.testing.assert_allclose(energies(build("dense:2", SPINS), STATES), energies(build("classical", SPINS), STATES))
    np.testing.assert_array_equal(updates(build("dense:2", SPINS), STATES), updates(build("classical", SPINS), STATES))


@pytest.mark.parametrize("beta", [0.3, 1.0])
def test_exponential_energy_and_update_of_demircigil(beta):
    """Eqs. 6 and 7: E = −Σ exp(λ ξ·x)/λ, and the sign of the difference of the sums with the spin up and down."""
    model = build("exponential", SPINS, beta=beta)
    np.testing.assert_allclose(energies(model, STATES), -np.exp(beta * STATES @ SPINS.T).sum(1) / beta, rtol=1e-12)
    for x, new in zip(STATES, updates(model, STATES), strict=True):
        cavity = (SPINS @ x)[:, None] - SPINS * x[None, :]
        gap = np.sum(np.exp(beta * (cavity + SPINS)) - np.exp(beta * (cavity - SPINS)), axis=0)
        settled = np.abs(gap) > 1e-9 * np.max(np.abs(gap))
        np.testing.assert_array_equal(new[settled], np.sign(gap)[settled])


def test_modern_energy_and_update_of_ramsauer():
    """Eqs. 2 and 3, without the constants."""
    model = build("modern", REAL, beta=0.8)
    scores = 0.8 * POINTS @ REAL.T
    np.testing.assert_allclose(
        energies(model, POINTS), 0.5 * np.sum(POINTS**2, 1) - np.log(np.exp(scores).sum(1)) / 0.8, rtol=1e-12
    )
    weights = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    np.testing.assert_allclose(updates(model, POINTS), weights @ REAL, rtol=1e-12)


def test_sparse_memories_range_from_nearly_modern_to_sparsemax():
    modern, near = (updates(build(spec, REAL, beta=0.2), POINTS) for spec in ("modern", "sparse:1.001"))
    np.testing.assert_allclose(near, modern, atol=5e-3)
    exact, bisected = (updates(build(spec, REAL), POINTS) for spec in ("sparse", "sparse:1.9999999"))
    np.testing.assert_allclose(bisected, exact, atol=1e-5)
    assert np.all(np.count_nonzero(jax.vmap(build("sparse", 3 * REAL).weights)(jnp.asarray(POINTS)), axis=1) < M)


def test_epanechnikov_update_is_the_mean_of_the_patterns_within_reach():
    """Hoover et al. 2025, eq. 6: within √(2/β); a query that reaches none has infinite energy and stays."""
    beta = 0.25
    model = build("epanechnikov", REAL, beta=beta)
    points = np.concatenate([POINTS, POINTS[:1] + 100])
    squared = np.sum((points[:, None] - REAL[None]) ** 2, axis=2)
    near = squared < 2 / beta
    for x, new, energy, inside, d in zip(
        points, updates(model, points), energies(model, points), near, squared, strict=True
    ):
        if inside.any():
            np.testing.assert_allclose(new, REAL[inside].mean(0), rtol=1e-12)
            np.testing.assert_allclose(energy, -np.log(np.sum(1 - beta * d[inside] / 2)) / beta, rtol=1e-10)
        else:
            np.testing.assert_array_equal(new, x)
            assert energy == np.inf
    assert near[:-1].any()
    assert not near[-1].any()


@pytest.mark.parametrize("name", MODELS)
def test_blueprint_describes_what_it_builds(name):
    blueprint = MODELS[name]
    model = blueprint.build(jnp.asarray(SPINS))
    assert blueprint.spec == name
    assert blueprint.ensemble in ("spins", "sphere")
    assert isinstance(model.space, Spins if blueprint.ensemble == "spins" else Euclidean)
    assert not (blueprint.takes_beta and isinstance(model, Couplings))
    if blueprint.beta is not None:
        assert float(model.beta) == blueprint.beta
    if blueprint.takes_beta:
        assert float(blueprint.build(jnp.asarray(SPINS), beta=0.7).beta) == 0.7
    assert blueprint.build(jnp.asarray(SPINS), beta=None) == model


@pytest.mark.parametrize("spec", [*MODELS, "dense:2", "dense:5", "sparse:1.5"])
def test_load_and_patterns_are_inverse(spec):
    blueprint = memories.find(spec)
    for patterns in (2, 17, 400):
        load = blueprint.scaling.load(patterns, 50)
        assert blueprint.scaling.num_patterns(load, 50) == pytest.approx(patterns)
        assert blueprint.rounded(load, 50) == patterns
    assert blueprint.rounded(1e-9, 50) == 1


@pytest.mark.parametrize(
    ("spec", "symbol", "load"),
    [
        ("classical", "M / N", 20 / 50),
        ("storkey", "M / N", 20 / 50),
        ("covariance:0.2", "M / N", 20 / 50),
        ("willshaw", "M K^2 / N^2", 20 * 36 / 50**2),
        ("projection", "M / N", 20 / 50),
        ("dense", "M / N^2", 20 / 50**2),
        ("dense:2", "M / N", 20 / 50),
        ("dense:4", "M / N^3", 20 / 50**3),
        ("exponential", "ln M / N", math.log(20) / 50),
        ("modern", "ln M / N", math.log(20) / 50),
        ("sparse:1.5", "ln M / N", math.log(20) / 50),
        ("epanechnikov", "ln M / N", math.log(20) / 50),
    ],
)
def test_load_is_the_models_own_scaling(spec, symbol, load):
    scaling = memories.find(spec).scaling
    assert scaling.symbol == symbol
    assert scaling.load(20, 50) == pytest.approx(load)


@pytest.mark.parametrize(("unit", "offset"), [(1.0, 0.0), (255.0, 0.0), (1.0, 5.0)], ids=["unit", "bytes", "offset"])
def test_images_come_back_as_they_were_stored_in_any_unit(unit, offset):
    """Digits and gray photographs: themselves, and with half of their pixels unknown."""
    for stored in (datasets.digits()[::36], datasets.photograph_patches(12, 50)):
        stored = (stored * unit + offset).astype(jnp.float32)
        memory = memories.find("images").build(stored)
        half = jnp.arange(stored.shape[1]) < stored.shape[1] // 2
        for queries in (stored, jnp.where(half, stored, jnp.nan)):
            found = jax.vmap(partial(retrieve, memory, known="not_nan"))(queries).state
            assert float(jnp.abs(found - stored).max()) < 1e-3 * unit
