"""Truth values of the library are True or False: text would count as true, whatever it says."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from hopfield.attention import attend_blockwise, linear_attention, positive_random_features, t5_buckets
from hopfield.geometry.subspaces import grassmann_distance
from hopfield.layers import AssociationOptions, HopfieldAttention, HopfieldLayer
from hopfield.networks.sequences import SequenceMemory
from hopfield.patterns.datasets import digits, photograph_patches
from hopfield.separations import polynomial
from hopfield.spaces import Euclidean, euclidean
from hopfield.theory import classical, dense, sequences

ROWS = np.eye(2, dtype=np.float32)
SPINS = np.array([[1.0, -1.0, 1.0], [1.0, 1.0, -1.0]])


def attention(**given) -> HopfieldAttention:
    return HopfieldAttention(1, 2, rngs=nnx.Rngs(0), **given)


FLAGS: dict[str, Callable] = {
    "return_potential": lambda x: attend_blockwise(ROWS, ROWS, ROWS, return_potential=x),
    "causal": lambda x: linear_attention(ROWS, ROWS, ROWS, causal=x),
    "orthogonal": lambda x: positive_random_features(jax.random.key(0), 2, 2, orthogonal=x),
    "bidirectional": lambda x: t5_buckets(jnp.arange(3), bidirectional=x),
    "normalised": lambda x: grassmann_distance(ROWS[:, :1], ROWS[:, 1:], normalised=x),
    "binary": lambda x: digits(binary=x),
    "colour": lambda x: photograph_patches(8, 1, colour=x),
    "rectified": lambda x: polynomial(3, x),
    "cyclic": lambda x: SequenceMemory.create(SPINS, cyclic=x),
    "pseudo_inverse": lambda x: SequenceMemory.create(SPINS, pseudo_inverse=x),
    "confined": lambda x: Euclidean(confined=x),
    "confined ": lambda x: euclidean(confined=x),
    "learn_beta": lambda x: AssociationOptions(learn_beta=x),
    "metric_per_head": lambda x: AssociationOptions(metric="full", metric_per_head=x),
    "use_bias": lambda x: attention(use_bias=x),
    "normalize_qk": lambda x: attention(normalize_qk=x),
    "is_causal": lambda x: attention()(ROWS[None], is_causal=x),
    "decode": lambda x: attention()(ROWS[None], decode=x),
    "deterministic": lambda x: attention(dropout_rate=0.5)(ROWS[None], deterministic=x),
    "trainable": lambda x: HopfieldLayer(attention(), trainable=x, rngs=nnx.Rngs(0)),
    "separate_targets": lambda x: HopfieldLayer(attention(), separate_targets=x, rngs=nnx.Rngs(0)),
    "normalise": lambda x: HopfieldLayer(attention(), normalise=x, rngs=nnx.Rngs(0)),
    "affine": lambda x: HopfieldLayer(attention(), affine=x, rngs=nnx.Rngs(0)),
    "self_coupling": lambda x: classical.one_step_error(10, 3, self_coupling=x),
    "all_patterns": lambda x: classical.mceliece(10, all_patterns=x),
    "rectified ": lambda x: dense.capacity(3, rectified=x),
    "whole_sequence": lambda x: sequences.published_capacity(2, 10, whole_sequence=x),
}


@pytest.mark.parametrize("name", FLAGS)
def test_text_is_no_truth_value(name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name.strip()} must be True or False, got 'False'$"):
        FLAGS[name]("False")


def test_truth_values_of_numpy_are_truth_values() -> None:
    assert polynomial(3, np.bool_(True)).rectified is True
