"""The landscape: kinds of states by hand, certified minima, and shares that add up."""

import jax.numpy as jnp
import numpy as np
import pandas
import pytest

from experiments.landscape import continuous, experiment, spins
from experiments.landscape.config import KINDS, Config

pytestmark = pytest.mark.usefixtures("as_run")

RNG = np.random.default_rng(0)
PATTERNS = RNG.choice([-1.0, 1.0], (8, 400))
STATES = {
    "pattern": PATTERNS[2],
    "reversed": -PATTERNS[2],
    "mixture": np.sign(PATTERNS[0] - PATTERNS[1] + PATTERNS[5]),
    "asymmetric": np.sign(PATTERNS[:5].sum(axis=0)),
    "glassy": RNG.choice([-1.0, 1.0], 400),
}


@pytest.mark.parametrize("name", KINDS)
def test_kinds_of_states_made_by_hand(name):
    state = jnp.asarray(np.where(STATES[name] == 0, 1.0, STATES[name]))
    overlaps = jnp.asarray(PATTERNS) @ state / 400
    assert KINDS[int(spins.kind(overlaps, jnp.asarray(PATTERNS), state))] == name


@pytest.fixture(scope="module")
def table(as_run):
    config = Config(patterns=[5, 30], temperatures=[0.0, 0.5], starts=10)
    return pandas.DataFrame(experiment.measure(config, experiment.points(config)))


@pytest.mark.physics
def test_shares_add_up_and_few_patterns_are_found_where_many_are_not(table):
    kinds = experiment.summarise(table).of("share of starts")
    np.testing.assert_allclose(kinds.groupby(["memory", "temperature", "patterns"])["value"].sum(), 1.0)
    classical = kinds[(kinds["memory"] == "classical") & (kinds["temperature"] == 0)]
    share = classical.set_index(["patterns", "end"])["value"]
    assert share[5, "pattern"] + share[5, "reversed"] > 0.4
    assert share[30, "glassy"] > share[5, "glassy"] + 0.3


def test_ends_are_stable_and_minima_certified(table):
    on_spins = table[table["memory"] == "classical"]
    assert (on_spins["stability"] >= 0).all()
    certified = table[(table["memory"] == "epanechnikov") & (table["settled"] == 1)]
    assert len(certified) > 10
    assert (certified["gradient"] < 1e-8).all()
    assert (certified["stability"] > 0).all()


def test_a_modern_minimum_has_the_hessian_of_its_energy():
    """1 − β Cov, by finite differences of the slope x − Σ p ξ."""
    rng = np.random.default_rng(1)
    patterns, x = rng.normal(size=(4, 3)), rng.normal(size=3)
    slope = lambda x: x - continuous.shares("modern", 0.8, patterns, x) @ patterns
    hessian = np.array([(slope(x + h) - slope(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)])
    found = continuous._certificate("modern", 0.8, patterns, x)
    assert found["stability"] == pytest.approx(np.linalg.eigvalsh(hessian)[0], abs=1e-6)
    assert found["gradient"] == pytest.approx(np.linalg.norm(slope(x)))


def test_continuous_memories_need_a_temperature():
    with pytest.raises(ValueError, match="temperatures must hold one above 0"):
        experiment.check(Config(temperatures=[0.0]))
