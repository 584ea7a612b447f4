"""Comparison of optimisers: its problems, rules, search and summary against closed forms and plain loops."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
import scipy.linalg  # noqa: F401 - only a library that is loaded can be limited
from threadpoolctl import threadpool_limits

from experiments.optimisers import experiment, measurement, rules
from experiments.optimisers.config import Config
from experiments.optimisers.experiment import points
from experiments.optimisers.problem import Shape, held_out, loss, model, problem
from hopfield.optim import NaturalOptimiser, diagonal_fisher, natural_gradient

pytestmark = pytest.mark.usefixtures("as_run")
SHAPE = Shape(features=4, num_patterns=3, classes=3, examples=128, held=64)
MIXED = Shape(features=5, num_patterns=4, classes=2, examples=64, held=64)
SEED = (0, 3)
HYPER = {
    "sgd": {"rate": 0.5, "friction": 0.2},
    "adam": {"rate": 0.05, "friction": 0.1},
    "lbfgs": {"curvature": 0.9, "memory": 10},
    "cg": {"rate": 1.0, "damping": 0.1},
    "cholesky": {"rate": 1.0, "damping": 0.1},
    "kernel": {"rate": 0.5, "damping": 0.1},
    "kronecker": {"rate": 0.5, "damping": 0.03},
    "diagonal": {"rate": 0.3, "damping": 0.03},
}


@pytest.fixture(autouse=True, scope="module")
def single() -> Iterator[None]:
    """One thread for LAPACK, as `measure` has it: its threads and XLA's wait for each other on a busy machine."""
    with threadpool_limits(1, user_api="blas"):
        yield


def setting(batch: int = 0, conditioning: float = 10.0, length: int = 200) -> measurement.Course:
    return measurement.setting(SHAPE, SEED, conditioning, batch, 0.05, length)


def hyper(rule: str, **changed: float) -> dict[str, Any]:
    return {n: v if n == "memory" else jnp.float32(v) for n, v in (HYPER[rule] | changed).items()}


def followed(rule: str, where: measurement.Course, steps: int, **changed: float) -> np.ndarray:
    """Losses of a run that goes on whatever it reaches."""
    endless = where._replace(end=-math.inf)
    return measurement.run(rule, hyper(rule, **changed), endless, steps).trace["loss"]


def test_conditionings_are_one_problem_in_other_coordinates() -> None:
    one, other = problem(SHAPE, SEED, 1.0), problem(SHAPE, SEED, 100.0)
    np.testing.assert_array_equal(one.labels, other.labels)
    mixing = np.linalg.lstsq(np.asarray(one.inputs, float), np.asarray(other.inputs, float), rcond=None)[0]
    levels = np.linalg.eigvalsh((mixing + mixing.T) / 2)
    np.testing.assert_allclose(mixing, mixing.T, atol=1e-5)
    assert levels.max() / levels.min() == pytest.approx(100.0, rel=1e-3)
    assert np.mean(levels**2) == pytest.approx(1.0, rel=1e-5)
    np.testing.assert_allclose(np.diff(np.log(levels)), math.log(100) / 3, rtol=1e-3)
    of = lambda given, params: float(loss(given, params, given.inputs, given.labels))
    assert of(one, one.teacher) == pytest.approx(of(other, other.teacher), rel=1e-5)
    moved = {"metric": jnp.asarray(np.linalg.solve(mixing, one.start["metric"]), jnp.float32)}
    assert of(one, one.start) == pytest.approx(of(other, moved), rel=1e-4)


def test_the_memory_answers_as_plain_numpy_does() -> None:
    given = problem(MIXED, SEED, 10.0)
    x, stored = (np.asarray(a, float) for a in (given.inputs, given.stored))
    scores = x @ np.asarray(given.start["metric"], float) @ stored.T
    share = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    classes = np.stack([share[:, c::2].sum(axis=1) for c in range(2)], axis=1)
    np.testing.assert_allclose(model(given)(given.start, given.inputs), np.log(classes), rtol=1e-4, atol=1e-5)
    expected = -np.mean(np.log(classes)[np.arange(len(x)), np.asarray(given.labels)])
    assert float(loss(given, given.start, given.inputs, given.labels)) == pytest.approx(expected, rel=1e-5)


@pytest.mark.slow
def test_the_target_is_a_share_of_the_gain_and_the_optimum_a_bound() -> None:
    where = setting()
    best = measurement.optimum(SHAPE, SEED)
    assert where.target == pytest.approx(best + 0.05 * (math.log(3) - best), rel=1e-12)
    assert best < float(loss(where.given, where.given.teacher, where.given.inputs, where.given.labels))
    slope = jax.grad(lambda p: loss(where.given, p, where.given.inputs, where.given.labels))
    assert followed("cholesky", where, 30).min() >= best - 1e-5
    assert float(optax.tree.norm(slope(where.given.teacher))) > 1e-3  # the teacher is not the optimum of its draw


def plain(tx: Any, given: Any, batches: list[np.ndarray]) -> list[float]:
    """Losses of all examples along a loop of steps, as one would write it."""
    params, state, found = given.start, tx.init(given.start), []
    of = lambda p, rows: loss(given, p, given.inputs[rows], given.labels[rows])
    everything = np.arange(len(given.labels))

    @jax.jit
    def step(params: Any, state: Any, rows: Any) -> tuple:
        if isinstance(tx, NaturalOptimiser):
            return tx.step(params, state, given.inputs[rows], given.labels[rows])
        updates, state = tx.update(jax.grad(of)(params, rows), state, params)
        return optax.apply_updates(params, updates), state

    for rows in batches:
        found.append(float(of(params, everything)))
        params, state = step(params, state, rows)
    return [*found, float(of(params, everything))]


WHOLE: dict = {"fisher": "exact", "examples": None}
PLAIN: dict[str, Callable] = {
    "sgd": lambda _: optax.sgd(0.5, momentum=0.8),
    "adam": lambda _: optax.adam(0.05, b1=0.9),
    "cholesky": lambda net: natural_gradient(net, "categorical", initial_damping=0.1, solver="cholesky"),
    "diagonal": lambda net: diagonal_fisher(net, "categorical", 0.3, damping=0.03, decay=0.0, **WHOLE),
}


@pytest.mark.parametrize("rule", [rule for rule in PLAIN if rule != "sgd"])
def test_a_run_is_the_loop_one_would_write(rule: str) -> None:
    where = setting()
    expected = plain(PLAIN[rule](model(where.given)), where.given, [np.arange(SHAPE.examples)] * 6)
    np.testing.assert_allclose(followed(rule, where, 6), expected, rtol=2e-4)


def test_the_kernel_form_takes_the_steps_of_the_whole_matrix() -> None:
    where = setting(batch=32)
    fixed = natural_gradient(model(where.given), "categorical", 0.5, damping=0.1, solver="cholesky")
    expected = plain(fixed, where.given, list(np.asarray(where.order)[:8]))
    np.testing.assert_allclose(followed("kernel", where, 8), expected[::4], rtol=1e-3)


def test_a_run_ends_at_its_goal_and_notes_when_it_was_there() -> None:
    where = setting()
    found = measurement.run("cholesky", hyper("cholesky"), where, 30, goal=where.target)
    assert found.reached is not None
    assert found.trace["loss"][found.reached] <= where.target < found.trace["loss"][found.reached - 1]
    assert found.steps <= found.reached + 1
    assert len(found.trace["loss"]) == found.steps + 1
    found = measurement.run("cholesky", hyper("cholesky"), where, 30)
    held, right = held_out(where.given, where.given.start)
    assert found.trace["held_loss"][0] == pytest.approx(float(held), rel=1e-5)
    assert found.trace["held_accuracy"][0] == pytest.approx(float(right), rel=1e-5)


def test_a_trial_that_diverged_is_chosen_only_where_all_did(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of four trials diverge on the second of two problems, having reached the target of the first."""
    where = setting()
    _, tried = measurement.candidates(rules.ranges("sgd", True), "sgd", 4, [0])
    rates = [float(h["rate"]) for h in tried]

    def told(lost: list[float]) -> Callable:
        def run(rule: str, hyper: dict, where: Any, limit: int, *, goal: float) -> measurement.Run:
            diverged = float(hyper["rate"]) in lost and where.every == 2
            miss = {"loss": np.array([1.0, math.inf if diverged else 0.5])}
            return measurement.Run(miss, 5, None if diverged or float(hyper["rate"]) not in lost else 5, diverged)

        return run

    for lost, first in ((rates[:2], 2), (rates, 0)):
        monkeypatch.setattr(measurement, "run", told(lost))
        found = measurement.tune("sgd", [where, where._replace(every=2)], 50, 4, [0])
        assert float(found.hyper["rate"]) == rates[first]
        assert (found.reached, found.diverged) == (False, len(lost))


def test_stopping_trials_early_chooses_the_same() -> None:
    settings = [measurement.setting(SHAPE, (0, n), 10.0, 0, 0.05, 200) for n in (3, 4)]
    found = measurement.tune("adam", settings, 200, 6, [0, 2])
    _, tried = measurement.candidates(rules.ranges("adam", True), "adam", 6, [0, 2])
    scores = []
    for numbers in tried:
        runs = [measurement.run("adam", numbers, where, 200, goal=where.target) for where in settings]
        scores.append(sum(math.inf if r.reached is None else r.reached for r in runs))
    assert math.isfinite(min(scores))
    assert float(found.hyper["rate"]) == float(tried[int(np.argmin(scores))]["rate"])


SIZES: dict[str, Any] = {"features": 4, "patterns": 3, "examples": 128, "held": 64, "steps": 200}
SMALL = Config(rules=["adam", "cholesky"], search_trials=3, **SIZES)


@pytest.fixture(scope="module")
def rows(as_run: None) -> list[dict]:
    return list(experiment.measure(SMALL, points(SMALL)))


def test_a_product_with_the_fisher_information_is_timed_against_a_gradient() -> None:
    middle, low, high = measurement.product_cost(setting().given)
    assert 0 < low <= middle <= high
