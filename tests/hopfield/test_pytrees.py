"""Two parts of different classes are never the same to a compiled function."""

import copy
import dataclasses
import itertools
import pickle

import jax
import jax.numpy as jnp
import pytest
from flax import serialization

from hopfield._pytrees import changed
from hopfield.attention.encodings import Rotary
from hopfield.memory import Memory
from hopfield.separations import Entmax, Sparsemax
from tests.hopfield.contracts.parts import SEPARATIONS, SIMILARITIES, SPACES

PARTS = [*SEPARATIONS.values(), *SIMILARITIES.values(), *SPACES.values()]


def test_structures_of_different_parts_differ():
    """Softmax and sparsemax have no field, Entmax and normmax one number each: only the class tells them apart."""
    structures = [jax.tree.structure(part) for part in PARTS]
    for one, other in itertools.combinations(structures, 2):
        assert one != other
    assert jax.tree.structure(Entmax(1.2)) == jax.tree.structure(Entmax(1.7))
    assert jax.tree.structure(Memory(jnp.eye(2))) == jax.tree.structure(Memory(2 * jnp.eye(2), 3.0))


def test_nodes_are_equal_where_structure_and_numbers_are():
    memory = Memory(jnp.eye(3), 2.0)
    assert memory == Memory(jnp.eye(3), 2.0)
    assert hash(memory) == hash(Memory(jnp.eye(3), 2.0))
    others = [
        Memory(2 * jnp.eye(3), 2.0),
        Memory(jnp.eye(4), 2.0),
        Memory(jnp.eye(3), 2.0, separation=Sparsemax()),
        Memory(jnp.eye(3), 2.0, mask=jnp.ones(3, bool)),
        Memory(jnp.eye(3, dtype=jnp.float16), 2.0),
        jnp.eye(3),
        None,
    ]
    assert all(memory != other for other in others)
    broken = changed(memory, beta=jnp.asarray(jnp.nan))
    assert broken == changed(memory, beta=jnp.asarray(jnp.nan)) != memory


def test_a_copy_is_the_node_and_a_replaced_field_is_checked():
    memory = Memory([[1.0, 0.0], [0.0, 1.0]], 2.0, separation="entmax:1.5")
    restored = serialization.from_bytes(memory, serialization.to_bytes(memory))
    for same in (pickle.loads(pickle.dumps(memory)), copy.deepcopy(memory), restored):
        assert same == memory
    for other in (memory.replace(space="sphere"), dataclasses.replace(memory, space="sphere")):
        assert other == Memory(jnp.eye(2), 2.0, separation=Entmax(1.5), space="sphere")
    with pytest.raises(ValueError, match="beta must be a positive finite number, got -1"):
        memory.replace(beta=-1.0)
    with pytest.raises(TypeError, match="changes must be of rates, pairing, growth, scale, got base"):
        Rotary(4).replace(base=2.0)
