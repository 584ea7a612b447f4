"""The written-out hash: every draw is JAX's own, to the bit; other generators are left alone."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield._threefry import written_out

DRAWS = {
    "bits8": lambda key: jax.random.bits(key, (3, 7), jnp.uint8),
    "bits32": lambda key: jax.random.bits(jax.random.fold_in(key, 2**32 - 1), (5,), jnp.uint32),
    "normal": lambda key: jax.vmap(lambda i: jax.random.normal(jax.random.fold_in(key, i), (4,)))(jnp.arange(6)),
    "split": lambda key: jax.random.key_data(jax.random.split(key, (2, 3))),
    "permutation": lambda key: jax.random.permutation(key, 50),
}


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_draws_are_those_of_jax(draw):
    key = jax.random.key(2**31 + 5)
    np.testing.assert_array_equal(jax.jit(lambda key: draw(written_out(key)))(key), draw(key))


def test_words_of_double_precision_are_those_of_jax():
    with jax.enable_x64(True):
        key = jax.random.key(3)
        np.testing.assert_array_equal(
            jax.random.bits(written_out(key), (3,), jnp.uint64), jax.random.bits(key, (3,), jnp.uint64)
        )


def test_other_generators_are_left_alone():
    key = jax.random.key(0, impl="rbg")
    assert written_out(key) is key
