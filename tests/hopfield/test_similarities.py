"""Scores against scipy's distances, responses against a brute-force minimum, increments against scoring again."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.distance import cdist

from hopfield import Memory
from hopfield.metrics import BlockDiagonal, Diagonal, Full, LowRank, Projected, Scaled
from hopfield.similarities import Bilinear, as_similarity
from hopfield.spaces import Box, Sphere, Spins
from tests.hopfield.contracts.parts import METRIC, PLACES, SIMILARITIES, SPACES, WIDTH, quick

RNG = np.random.default_rng(12)
PATTERNS = RNG.normal(size=(5, WIDTH))
STATES = RNG.normal(size=(7, WIDTH))
WEIGHTS = RNG.dirichlet(np.ones(5), size=7) * np.array([1e-3, 0.3, 1, 1, 2, 5, 30])[:, None]

CLOSED_FORMS = {
    "dot": lambda x, p: x @ p.T,
    "bilinear": lambda x, p: x @ np.asarray(METRIC) @ p.T,
    "squared_distance": lambda x, p: -0.5 * cdist(x, p, "sqeuclidean"),
    "cosine": lambda x, p: 1 - cdist(x, p, "cosine"),
    "manhattan": lambda x, p: -cdist(x, p, "cityblock"),
}
METRICS = {
    "scaled": Scaled(WIDTH),
    "diagonal": Diagonal(RNG.normal(size=WIDTH)),
    "low_rank": LowRank(RNG.normal(size=(2, WIDTH))),
    "definite": Full(np.eye(WIDTH) + 0.2),
    "full": Full(RNG.normal(size=(WIDTH, WIDTH))),
    "projected": Projected(*RNG.normal(size=(2, WIDTH, 3))),
    "block": BlockDiagonal(Scaled(2), Diagonal(RNG.normal(size=WIDTH - 2))),
}
every_similarity = pytest.mark.parametrize("name", SIMILARITIES)


@pytest.mark.parametrize("name", CLOSED_FORMS)
def test_scores_in_closed_form(name):
    found = quick(jax.vmap(SIMILARITIES[name], (0, None)))(STATES, PATTERNS)
    np.testing.assert_allclose(found, CLOSED_FORMS[name](STATES, PATTERNS), rtol=1e-12, atol=1e-14)


@every_similarity
def test_increment_of_one_spin_is_the_change_of_the_scores(name):
    """From −1 to 1, from 1 to −1, and nothing at all, on real-valued patterns."""
    similarity, spins = SIMILARITIES[name], jnp.asarray(np.sign(STATES[0]))

    def change(i, new):
        keys, moved = similarity.keys(jnp.asarray(PATTERNS)), spins.at[i].set(new)
        exact = similarity(moved, PATTERNS) - similarity(spins, PATTERNS)
        return exact, similarity.spin_flip(spins, spins[i], new, keys[:, i])

    exact, fast = quick(jax.vmap(jax.vmap(change, (None, 0)), (0, None)))(jnp.arange(WIDTH), jnp.array([-1.0, 1.0]))
    np.testing.assert_allclose(fast, exact, rtol=1e-12, atol=1e-14)
    assert np.any(np.asarray(exact))


def objective(similarity, space, weights):
    """R(x) − Σ weights s(x), what the response is the minimum of."""
    return lambda x: space.potential(x) - weights @ similarity(x, PATTERNS)


def inside(space, points):
    if isinstance(space, Spins):
        return jnp.where(points < 0, -1.0, 1.0)
    if isinstance(space, Sphere):
        return space.radius * points / jnp.linalg.norm(points, axis=-1, keepdims=True)
    return jnp.clip(points, -1.0, 1.0) if isinstance(space, Box) else points


@pytest.mark.parametrize(
    ("name", "place"),
    [
        (name, place)
        for name, place in PLACES
        if SIMILARITIES[name].has_exact_step(SPACES[place]) and place != "spins"  # spins follow the local field instead
    ],
)
def test_response_is_the_minimum_where_it_says_so(name, place):
    """No point is lower: neither thousands near the response and near the patterns, nor thousands anywhere."""
    similarity, space = SIMILARITIES[name], SPACES[place]
    tries = RNG.normal(size=(2000, WIDTH))

    def height_above_best_try(state, weights):
        energy = objective(similarity, space, weights)
        response = similarity.proximal_step(state, PATTERNS, weights, space)
        nearby = response[None] + tries * np.logspace(-6, 1, 2000)[:, None]
        mixed = jnp.where(tries > 0.3, response[None], PATTERNS[np.arange(2000) % 5])
        points = inside(space, jnp.concatenate([nearby, tries, mixed, PATTERNS, state[None]]))
        reached = energy(response)
        return (reached - jnp.min(jax.vmap(energy)(points))) / (1 + jnp.abs(reached)), space.violation(response)

    above, outside = quick(jax.vmap(height_above_best_try))(inside(space, jnp.asarray(STATES)), WEIGHTS)
    assert np.max(above) < 1e-12
    assert np.max(outside) < 1e-14


@every_similarity
def test_nothing_stored_asks_for_the_rest_state(name):
    """Without weights the response is the minimum of R, or the state itself where R is constant."""
    similarity, free = SIMILARITIES[name], (name, "unconfined") in PLACES
    places = ["euclidean", "sphere", *(["unconfined"] if free else [])]

    def rest(state):
        return [similarity.proximal_step(state, PATTERNS, jnp.zeros(5), SPACES[place]) for place in places]

    state = STATES[0] / np.linalg.norm(STATES[0])
    for place, end in zip(places, quick(rest)(state), strict=True):
        np.testing.assert_array_equal(end, np.zeros(WIDTH) if place == "euclidean" else state)


@pytest.mark.parametrize("name", METRICS)
def test_every_form_of_a_metric_is_its_matrix(name):
    """Scores, keys and the next state of a memory: in their own parametrisation as with g [N, K] written out."""
    metric = METRICS[name]
    found, same = (Memory(PATTERNS, 0.7, similarity=Bilinear(g)) for g in (metric, metric.dense()))
    for verb in ("scores", "update", "energy"):
        np.testing.assert_allclose(getattr(found, verb)(STATES[0]), getattr(same, verb)(STATES[0]), rtol=1e-12)
    np.testing.assert_allclose(found.similarity.keys(PATTERNS), same.similarity.keys(PATTERNS), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_a_metric_in_place_of_a_similarity_is_its_bilinear_form(metric):
    assert Memory(PATTERNS, 0.7, similarity=metric) == Memory(PATTERNS, 0.7, similarity=Bilinear(metric))
    assert as_similarity(metric) == Bilinear(metric)


@pytest.mark.parametrize("name", [name for name in SIMILARITIES if name != "cosine"])
def test_increment_of_a_hidden_unit_is_the_change_of_the_scores(name):
    # From 0 to a spin, which changes the norm, and with it all cosines.
    similarity, hidden = SIMILARITIES[name], jnp.asarray(np.sign(STATES[0])).at[1].set(0.0)
    exact = similarity(hidden.at[1].set(-1.0), PATTERNS) - similarity(hidden, PATTERNS)
    fast = similarity.spin_flip(hidden, hidden[1], -1.0, similarity.keys(jnp.asarray(PATTERNS))[:, 1])
    np.testing.assert_allclose(fast, exact, rtol=1e-12, atol=1e-14)
