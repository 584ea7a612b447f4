"""The published rules that make a matrix, against their papers: sparse, dreaming, local and projection rules."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield import memories
from hopfield.couplings import hebb_couplings
from hopfield.dynamics import retrieve
from tests.hopfield.contracts.parts import quick

RNG = np.random.default_rng(31)
M, N = 5, 12
SPINS = RNG.choice([-1.0, 1.0], size=(M, N))
STATES = RNG.choice([-1.0, 1.0], size=(6, N))
SPARSE = np.where(np.argsort(np.argsort(RNG.random((M, N)), axis=1), axis=1) < 3, 1.0, -1.0)
"""Spins, three of them up in every pattern."""


def build(spec: str, patterns, **options):
    return memories.find(spec).build(jnp.asarray(patterns), **options)


def updates(model, states):
    return np.asarray(quick(jax.vmap(model.update))(jnp.asarray(states)))


def test_the_covariance_rule_is_that_of_neurons_of_zero_and_one():
    """Tsodyks & Feigel'man 1988: h = W V − θ, W = Σ (η−a)(η'−a)/(a(1−a)N) without its diagonal, V = (1 + x)/2."""
    a, apart = 0.25, (1 + SPARSE) / 2 - 0.25
    weights = apart.T @ apart / (a * (1 - a) * N)
    np.fill_diagonal(weights, 0.0)
    model = build("covariance:0.25", SPARSE, threshold=0.3)
    field = (1 + STATES) / 2 @ weights.T - 0.3
    np.testing.assert_allclose(jax.vmap(model.local_field)(jnp.asarray(STATES)), field / 2, atol=1e-12)
    assert float(build("covariance:0.5", SPINS, threshold=0.0).matrix[0, 1]) == pytest.approx(
        SPINS[:, 0] @ SPINS[:, 1] / N
    )


def test_a_neuron_of_willshaws_memory_needs_synapses_from_all_that_are_on():
    states = np.concatenate([SPARSE, np.where(SPARSE[:1] * np.roll(SPARSE[1:2], 1) > 0, SPARSE[:1], -1.0), STATES])
    on = (1 + SPARSE) / 2 @ np.eye(N) > 0
    synapses = np.einsum("mi,mj->ij", on, on) > 0
    expected = np.empty_like(states)
    for state, new in zip(states, expected, strict=True):
        for i in range(N):
            others = [j for j in range(N) if state[j] > 0 and j != i]
            new[i] = 1.0 if all(synapses[i, j] for j in others) else -1.0
    np.testing.assert_array_equal(updates(build("willshaw", SPARSE), states), expected)


@pytest.mark.parametrize("spec", ["covariance:0.25", "willshaw"])
def test_sparse_memories_complete_a_pattern_of_their_own(spec):
    """The first neurons of a pattern that are on are off in the start; on 64 neurons two patterns are few."""
    patterns = memories.find(spec).draw(jax.random.key(3), 2, 64)
    model = build(spec, patterns)
    first = jnp.cumsum(patterns > 0, axis=1) <= 2
    end = quick(jax.vmap(lambda x: retrieve(model, x, dynamics="sequential")))(jnp.where(first, -1.0, patterns))
    assert not np.any(end.status)
    np.testing.assert_array_equal(end.state, patterns)


@pytest.mark.parametrize(("spec", "num_patterns"), [("covariance", 40), ("willshaw", 400)])
def test_errors_of_one_step_of_sparse_memories_are_those_of_theory(spec, num_patterns):
    """12 draws, within three standard errors and 5 %, as theory of the covariance rule takes crosstalk as Gaussian."""
    blueprint = memories.find(spec)

    def wrong(key):
        patterns = blueprint.draw(key, num_patterns, 200)
        return jnp.mean(jax.vmap(blueprint.build(patterns).update)(patterns) != patterns)

    found = np.asarray(quick(lambda keys: jax.lax.map(wrong, keys))(jax.random.split(jax.random.key(5), 12)))
    expected = float(blueprint.theory.one_step_error(200, num_patterns))
    assert abs(found.mean() - expected) < 3 * found.std(ddof=1) / 12**0.5 + 0.05 * expected


def test_dreaming_goes_from_hebb_to_the_projection():
    """t = 0: Hebb's rule; t = 1: 2 Ξᵀ(1 + C)⁻¹Ξ/N, C = ΞΞᵀ/N; t → ∞: Ξᵀ(ΞΞᵀ)⁻¹Ξ; all without the diagonal."""
    hebb = hebb_couplings(build("classical", SPINS))
    np.testing.assert_allclose(build("dreaming:0", SPINS).matrix, hebb.matrix / N, atol=1e-14)
    once = 2 / N * SPINS.T @ np.linalg.inv(np.eye(M) + SPINS @ SPINS.T / N) @ SPINS
    np.testing.assert_allclose(build("dreaming:1", SPINS).matrix, once - np.diag(np.diag(once)), atol=1e-14)
    np.testing.assert_allclose(build("dreaming:1e9", SPINS).matrix, build("projection", SPINS).matrix, atol=1e-8)


def storkey_by_loops(patterns):
    """Storkey 1997, eq. 2, index by index."""
    neurons = patterns.shape[1]
    w = np.zeros((neurons, neurons))
    for p in patterns:
        new = w.copy()
        for i in range(neurons):
            for j in range(neurons):
                if i != j:
                    h_ij = sum(w[i, k] * p[k] for k in range(neurons) if k not in (i, j))
                    h_ji = sum(w[j, k] * p[k] for k in range(neurons) if k not in (i, j))
                    new[i, j] += (p[i] * p[j] - p[i] * h_ji - h_ij * p[j]) / neurons
        w = new
    return w


def test_storkey_rule_as_the_paper_has_it():
    np.testing.assert_allclose(build("storkey", SPINS).matrix, storkey_by_loops(SPINS), atol=1e-14)


def test_projection_rule_is_the_pseudo_inverse():
    """Personnaz et al. 1985: W = X⁺X, here without its diagonal, from numpy's pseudo-inverse."""
    for patterns in (SPINS, np.concatenate([SPINS, SPINS[:2], -SPINS[2:3]])):  # also linearly dependent ones
        projector = np.linalg.pinv(patterns) @ patterns
        expected = projector - np.diag(np.diag(projector))
        np.testing.assert_allclose(build("projection", patterns).matrix, expected, atol=1e-13)


def test_willshaws_patterns_have_as_many_neurons_on_as_said_where_draws_are_equal(monkeypatch):
    uniform = jax.random.uniform
    monkeypatch.setattr(jax.random, "uniform", lambda *given: jnp.round(4 * uniform(*given)))
    drawn = memories.find("willshaw").draw(jax.random.key(0), 50, 32)
    np.testing.assert_array_equal(jnp.sum(drawn == 1, axis=1), 5)
