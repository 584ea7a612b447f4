"""Retrieval: where queries stop and what is said about it; gradients through trajectories and through fixed points."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield import graphs, memories
from hopfield.couplings import Couplings
from hopfield.dynamics import (
    CONVERGED,
    CYCLE,
    NOT_A_NUMBER,
    STATUS,
    anneal,
    fixed_point,
    glauber,
    langevin,
    retrieve,
    temper,
    trajectory,
)
from hopfield.dynamics.settling import WRITTEN_OUT, alike, unrolled
from hopfield.memory import Memory
from hopfield.networks import AsymmetricCouplings
from hopfield.separations import Entmax
from hopfield.similarities import SquaredDistance
from hopfield.spaces import Box, Euclidean, Sphere, Spins
from tests.hopfield.contracts.parts import MODELS, quick, slopes

KEYS = jax.random.split(jax.random.key(6), 4)
M, N = 4, 6
PATTERNS = jax.random.normal(KEYS[0], (M, N))
QUERIES = PATTERNS + 0.3 * jax.random.normal(KEYS[1], (M, N))
KNOWN = jnp.arange(N) < 2
PAIR = Couplings(jnp.array([[0.0, 1.0], [1.0, 0.0]]))

CONTINUOUS = {
    "modern": lambda p, beta: Memory(p, beta),
    "sparse": lambda p, beta: Memory(p, beta, separation=Entmax(1.5)),
    "sphere": lambda p, beta: Memory(p, beta, space=Sphere(1.5)),
    "box": lambda p, beta: Memory(p, beta, space=Box(0.7)),
    "distance in a box": lambda p, beta: Memory(p, beta, similarity=SquaredDistance(), space=Box(0.7)),
    "unconfined": lambda p, beta: Memory(p, beta, similarity=SquaredDistance(), space=Euclidean(confined=False)),
}
every_continuous = pytest.mark.parametrize("build", CONTINUOUS.values(), ids=CONTINUOUS)


def test_only_a_state_at_rest_is_converged():
    """One pair that agrees, one that swaps for ever and one of NaN; a query cut at its first step; each for itself."""
    states = jnp.array([[1.0, 1.0], [1.0, -1.0], [jnp.nan, 1.0]])
    ends = quick(jax.vmap(lambda state: retrieve(PAIR, state)))(states)
    assert ends.status.tolist() == [CONVERGED, CYCLE, NOT_A_NUMBER]
    assert ends.converged.tolist() == [True, False, False]
    one_by_one = [bool(retrieve(PAIR, state).converged) for state in states]
    assert one_by_one == jax.vmap(lambda state: retrieve(PAIR, state).converged)(states).tolist()
    assert not retrieve(PAIR, states[1], max_steps=1).converged


def test_the_period_of_a_cycle_is_where_its_states_return():
    """Random asymmetric couplings, beside a list of all states that each run has been in; 0 for a run cut before."""
    rng = np.random.default_rng(3)
    weights, starts = rng.normal(size=(40, 9, 9)) * (1 - np.eye(9)), np.where(rng.random((40, 9)) < 0.5, 1.0, -1.0)
    found = quick(jax.vmap(lambda w, x: retrieve(AsymmetricCouplings(w), x, max_steps=500)))(weights, starts)
    periods = []
    for matrix, state in zip(weights, starts, strict=True):
        seen = {}
        for number in range(500):
            if (key := state.tobytes()) in seen:
                break
            seen[key], state = number, np.sign(matrix @ state)
        periods.append(number - seen[key])
    assert found.period.tolist() == periods
    assert found.status.tolist() == [CONVERGED if period == 1 else CYCLE for period in periods]
    assert max(periods) > 4
    assert {1, 2} <= set(periods)
    ring = AsymmetricCouplings(np.roll(np.eye(7), 1, axis=0))
    assert int(retrieve(ring, [1.0, *[-1.0] * 6], max_steps=6).period) == 0


def test_synchronous_cycle_of_two_is_told_from_convergence():
    """Two spins that each copy the other swap for ever; one after the other they agree (Goles 1985)."""
    start = jnp.array([1.0, -1.0])
    swap = retrieve(PAIR, start, max_steps=50)
    assert (int(swap.status), int(swap.steps)) == (CYCLE, 2)
    np.testing.assert_array_equal(swap.state, start)
    aligned = retrieve(PAIR, jnp.ones(2))
    assert (int(aligned.status), int(aligned.steps)) == (CONVERGED, 0)
    settled = retrieve(PAIR, start, dynamics="sequential")
    assert (int(settled.status), int(settled.steps)) == (CONVERGED, 1)
    assert float(settled.energy) < float(swap.energy)


@pytest.mark.parametrize(
    "dynamics", ["synchronous", "asynchronous", pytest.param("sequential", marks=pytest.mark.exhaustive)]
)
@pytest.mark.parametrize("name", MODELS)
def test_a_query_ends_the_same_in_any_company(name, dynamics):
    """Per-query stop: among copies of itself, or among queries that need fewer and many more steps."""
    patterns = jnp.sign(jax.random.normal(KEYS[2], (5, 16)))
    model = MODELS[name].build(patterns)
    if dynamics != "synchronous" and not isinstance(model.space, Spins):
        with pytest.raises(ValueError, match=f"^dynamics must be synchronous in Euclidean, got '{dynamics}'$"):
            retrieve(model, patterns[0], dynamics=dynamics, key=KEYS[0])
        return
    noise = jax.random.bernoulli(KEYS[3], jnp.linspace(0, 0.5, 6)[:, None], (6, 16))
    queries = jnp.where(noise, -1.0, 1.0) * patterns[jnp.arange(6) % 5]
    keys = jax.random.split(KEYS[0], 6)

    def run(query, key):
        return retrieve(model, query, dynamics=dynamics, key=key, max_steps=60, known=jnp.arange(16) < 3)

    batched = quick(jax.vmap(run))
    mixed = batched(queries, keys)
    for i in (0, 3, 5):
        alike = batched(jnp.tile(queries[i], (6, 1)), jnp.repeat(keys[i], 6))
        np.testing.assert_array_equal(mixed.state[i], alike.state[0])
        assert (int(mixed.steps[i]), int(mixed.status[i])) == (int(alike.steps[0]), int(alike.status[0]))
    np.testing.assert_array_equal(mixed.state[:, :3], queries[:, :3])


@every_continuous
def test_clamped_units_keep_their_values_and_the_others_converge(build):
    memory = build(PATTERNS, 2.0)
    inside = 0.4 * jnp.tanh(QUERIES)
    end = quick(jax.vmap(lambda q: retrieve(memory, q, max_steps=3000, known=KNOWN)))(inside)
    np.testing.assert_array_equal(end.state[:, :2], inside[:, :2])
    assert not np.any(end.status)
    assert np.all(np.abs(end.state[:, 2:] - inside[:, 2:]) > 0)


def test_asynchronous_retrieval_depends_on_the_key_and_on_nothing_else():
    """Far above capacity every order leads elsewhere."""
    memory = MODELS["classical"].build(jnp.sign(jax.random.normal(KEYS[2], (20, 30))))
    query = jnp.sign(jax.random.normal(KEYS[3], (30,)))
    run = quick(jax.vmap(lambda key: retrieve(memory, query, dynamics="asynchronous", key=key).state))
    ends = run(jax.random.split(KEYS[0], 8))
    assert len(np.unique(ends, axis=0)) > 1
    np.testing.assert_array_equal(ends, run(jax.random.split(KEYS[0], 8)))


HIDDEN = np.array([[0.9, 0.8, np.nan, np.nan], [0.2, 0.1, np.nan, np.nan]])
STORED = jnp.array([[0.9, 0.8, 0.9, 0.8], [0.2, 0.1, 0.2, 0.1]])


@pytest.mark.parametrize("similarity", ["squared_distance", "manhattan"])
@pytest.mark.parametrize("walked", [False, True], ids=["array", "file"])
def test_known_units_alone_are_compared_first(similarity, walked, tmp_path):
    """With what stands in the unknown ones compared as well, the query would end at [0.9, 0.8, 0.1, 0.1]."""
    if walked and similarity == "manhattan":
        pytest.skip("its median needs all patterns at once")
    stored = STORED
    if walked:
        np.save(tmp_path / "stored.npy", np.asarray(STORED))
        stored = np.load(tmp_path / "stored.npy", mmap_mode="r")
    memory = Memory(stored, 50.0, similarity=similarity, space="unconfined")
    for filled in (0.0, 0.1, -3.0, np.nan):
        for hidden, whole in zip(HIDDEN, STORED, strict=True):
            query = np.where(np.isnan(hidden), filled, hidden)
            end = retrieve(memory, query, known=~np.isnan(hidden))
            np.testing.assert_allclose(end.state, whole, atol=1e-5)
            assert end.converged


def end_of_retrieval(model, state, **options):
    return retrieve(model, state, **options).state


@pytest.mark.parametrize("find", [end_of_retrieval, fixed_point])
def test_nan_is_an_unknown_unit_where_asked_for(find):
    memory = Memory(STORED, 50.0, similarity="squared_distance", space="unconfined")
    np.testing.assert_allclose(find(memory, HIDDEN[0], known="not_nan"), STORED[0], atol=1e-5)
    assert np.isnan(np.asarray(find(memory, HIDDEN[0]))).any()
    with pytest.raises(ValueError, match=r"^known must be one of not_nan, got 'nan'"):
        find(memory, HIDDEN[0], known="nan")
    spins = Memory(np.sign(np.asarray(PATTERNS)), 1.0, space="spins")
    hidden = jnp.where(KNOWN, spins.patterns[0], jnp.nan)
    same = retrieve(spins, jnp.where(KNOWN, hidden, 0.0), known=KNOWN).state
    np.testing.assert_array_equal(retrieve(spins, hidden, known="not_nan").state, same)


@pytest.mark.parametrize("dynamics", ["synchronous", "sequential"])
def test_a_unit_without_a_field_or_a_spin_is_not_at_rest(dynamics):
    even = Memory(jnp.array([[1.0, 1.0, -1.0]]), separation="linear", space="spins")
    lone = Couplings(jnp.zeros((2, 2)))
    for model, state in ((even, jnp.zeros(3)), (lone, jnp.array([1.0, 0.0]))):
        end = retrieve(model, state, dynamics=dynamics)
        assert STATUS[int(end.status)] == "step limit"
    assert retrieve(lone, jnp.array([1.0, 0.0]), dynamics=dynamics, known=np.array([False, True])).converged


def test_trajectory_is_the_sequence_of_updates():
    memory = Memory(PATTERNS, 0.8)
    path = trajectory(memory, QUERIES[0], 4, known=KNOWN)
    state = QUERIES[0]
    for visited in path:
        np.testing.assert_allclose(visited, state, rtol=1e-13)
        state = memory.update(state, KNOWN)
    assert path.shape == (5, N)
    assert trajectory(memory, QUERIES[0], 0).shape == (1, N)


POINT = jnp.concatenate([PATTERNS.ravel(), jnp.array([1.5]), QUERIES[1]])


def unpack(point):
    return point[: M * N].reshape(M, N), point[M * N], point[M * N + 1 :]


@every_continuous
def test_gradient_through_a_trajectory_is_that_of_finite_differences(build):
    """In patterns, β and query, three steps deep."""

    def end(point):
        patterns, beta, query = unpack(point)
        return jnp.sum(jnp.sin(trajectory(build(patterns, beta), query, 3)[1:]))

    np.testing.assert_allclose(quick(jax.grad(end))(POINT), slopes(end, POINT), rtol=2e-5, atol=1e-7)


@pytest.mark.slow
def test_implicit_gradient_is_that_of_the_unrolled_iteration_in_both_modes():
    """Under jit and vmap, against four hundred steps differentiated one by one."""

    def implicit(beta, query):
        return jnp.sum(fixed_point(Memory(PATTERNS, beta), query) ** 2)

    def unrolled(beta, query):
        return jnp.sum(trajectory(Memory(PATTERNS, beta), query, 400)[-1] ** 2)

    expected = quick(jax.vmap(jax.jacfwd(unrolled), (None, 0)))(1.5, QUERIES)
    for mode in (jax.grad, jax.jacfwd):
        np.testing.assert_allclose(quick(jax.vmap(mode(implicit), (None, 0)))(1.5, QUERIES), expected, rtol=1e-8)


def test_fixed_point_far_from_every_pattern_has_no_gradient_rather_than_nan():
    """A compactly supported memory leaves the query alone, whatever the patterns do."""
    query = jnp.full(N, 100.0)

    def loss(patterns):
        return jnp.sum(fixed_point(MODELS["epanechnikov"].build(patterns), query))

    value, slope = quick(jax.value_and_grad(loss))(PATTERNS)
    assert value == 600.0
    np.testing.assert_array_equal(slope, 0.0)


@pytest.mark.parametrize("transform", [lambda f: f, jax.jit])
def test_fixed_point_stops_at_the_step_that_retrieve_stops_at(transform):
    memory, query = Memory(PATTERNS, 1.5), QUERIES[0]
    for rtol in (0.3, 1e-3):
        found = transform(lambda state, rtol=rtol: fixed_point(memory, state, rtol=rtol))(query)
        np.testing.assert_allclose(found, retrieve(memory, query, rtol=rtol).state, rtol=1e-14)
    assert jnp.max(jnp.abs(found - fixed_point(memory, query))) > 1e-8
    with pytest.raises(ValueError, match=r"^rtol must be a finite number of at least 0, got -1\.0$"):
        fixed_point(memory, query, rtol=-1.0)


RUNS = {
    "synchronous": lambda model, state, key: retrieve(model, state),
    "asynchronous": lambda model, state, key: retrieve(model, state, dynamics="asynchronous", key=key),
    "trajectory": lambda model, state, key: trajectory(model.replace(beta=2.0 + state[0]), SIGNS[0], 6),
    "unrolled": lambda model, state, key: unrolled(model.update, state, WRITTEN_OUT + 1, alike).state,
    "glauber": lambda model, state, key: glauber(model, state, key, 0.5, sweeps=3),
    "glauber in one order": lambda model, state, key: glauber(model, state, key, 0.5, sweeps=3, order_key=KEYS[0]),
    "langevin": lambda model, state, key: langevin(model, state, key, 0.5, samples=2, burn_in=2),
    "temper": lambda model, state, key: temper(model, state, key, [0.5, 1.0], sweeps=3),
    "anneal": lambda model, state, key: anneal(model, state, key, [0.5, 0.2]),
    "descend": lambda graph, state, key: graphs.descend(graph, {"visible": state, "hidden": jnp.zeros(3)}, 3),
    "sample": lambda graph, state, key: graphs.sample(graph, {"visible": state, "hidden": jnp.zeros(3)}, key, 0.5),
}
LINEAR = graphs.IdentityLagrangian()
SIGNS = np.random.default_rng(0).choice([-1.0, 1.0], (3, 12))
STEPPED = {
    **dict.fromkeys(("synchronous", "trajectory", "unrolled", "langevin"), Memory(SIGNS, 2.0, separation="entmax:1.5")),
    **dict.fromkeys(("asynchronous", "glauber"), memories.find("classical").build(SIGNS)),
    **dict.fromkeys(("descend", "sample"), graphs.two_layers(SIGNS / 4, visible=graphs.Tanh(), hidden=LINEAR)),
    **dict.fromkeys(("glauber in one order", "temper", "anneal"), Couplings(SIGNS.T @ SIGNS)),
}


@pytest.mark.parametrize("name", RUNS)
def test_queries_move_on_each_device_by_itself(name):
    """Within `jax.shard_map` as JAX sets it, which asks whether what goes round a loop varies over the devices."""
    run = jax.vmap(partial(RUNS[name], STEPPED[name]))
    mesh = jax.make_mesh((1,), ("queries",), axis_types=(jax.sharding.AxisType.Auto,))
    spread = jax.shard_map(run, mesh=mesh, in_specs=jax.P("queries"), out_specs=jax.P("queries"))
    given = SIGNS, jax.random.split(KEYS[1], 3)
    jax.tree.map(np.testing.assert_array_equal, spread(*given), run(*given))


def test_the_result_says_what_holds_the_state():
    """At a low β every query of a modern memory ends in the mean of all patterns, at rest."""
    patterns = jnp.eye(6)
    query = 0.9 * patterns[0] + 0.1 * patterns[1]
    low, high = (retrieve(Memory(patterns, beta=beta), query) for beta in (1.0, 12.0))
    assert (low.converged.item(), low.regime, high.regime) == (True, "global average", "single pattern")
    pair = retrieve(Memory(jnp.repeat(patterns, 2, axis=0), beta=30.0), query)
    assert pair.regime == "metastable mixture"
    batch = jax.vmap(retrieve, (None, 0))(Memory(patterns, beta=12.0), patterns[:2])
    assert list(batch.regime) == ["single pattern"] * 2
    assert retrieve(Couplings(jnp.zeros((2, 2))), jnp.ones(2)).regime == "no weights"
