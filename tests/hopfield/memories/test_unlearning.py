"""Unlearning: dreams step by step, what they do to Hebb's couplings, and the kernel that shallow ones end in."""

from typing import cast

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield import memories, retrieve
from hopfield.couplings import Couplings

N, M = 64, 8
PATTERNS = jnp.asarray(np.random.default_rng(2).choice([-1.0, 1.0], size=(M, N)))


def built(spec: str, **options) -> Couplings:
    return cast(Couplings, memories.find(spec).build(PATTERNS, **options))


def test_no_dream_is_hebbs_rule_and_one_takes_away_where_it_ends() -> None:
    hebb = np.asarray(PATTERNS.T @ PATTERNS) / N * (1 - np.eye(N))
    np.testing.assert_allclose(built("unlearning:0").matrix, hebb, atol=1e-14)
    lost = (hebb - built("unlearning:1", rate=0.5).matrix) * N / 0.5 + np.eye(N)
    state = np.sign(lost[0])
    np.testing.assert_allclose(lost, np.outer(state, state), atol=1e-10)
    assert np.all(state * (hebb @ state) >= 0), "a dream ends in a stable state"


@jax.jit
def ends(couplings: Couplings, starts) -> jax.Array:
    return jax.vmap(lambda x: retrieve(couplings, x, dynamics="sequential").state)(starts)


def test_patterns_that_hebbs_rule_has_lost_return_and_are_erased_when_sleep_goes_on() -> None:
    """M/N = 0.3: rate·dreams of M/3 keep them all, of 4M/3 none."""
    patterns = jnp.asarray(np.random.default_rng(0).choice([-1.0, 1.0], size=(30, 100)))

    def kept(dreams: int) -> float:
        model = memories.find(f"unlearning:{dreams}").build(patterns)
        return float(jnp.mean(jnp.mean(ends(model, patterns) * patterns, axis=1) > 0.95))

    assert kept(0) < 0.4
    assert kept(1000) > 0.9
    assert kept(4000) < 0.1


def test_shallow_dreams_of_small_rates_are_the_dreaming_kernel() -> None:
    """t = rate·dreams = 1; the distance falls as √rate."""
    kernel = built("dreaming:1").matrix
    apart = [
        float(jnp.linalg.norm(built(f"unlearning:{dreams}", rate=1 / dreams, of="fields").matrix - kernel))
        for dreams in (1000, 16000)
    ]
    assert apart[1] < 0.05 * jnp.linalg.norm(kernel)
    assert apart[1] == pytest.approx(apart[0] / 4, rel=0.4)
