"""Two parts of different classes are never the same to a compiled function."""

import itertools

import jax
import jax.numpy as jnp
import pytest

from hopfield._pytrees import Node
from hopfield.memory import Memory
from hopfield.separations import LogSumExp, Sparsemax, entmax, normmax
from tests.hopfield.contracts.parts import SEPARATIONS, SIMILARITIES, SPACES

PARTS = [*SEPARATIONS.values(), *SIMILARITIES.values(), *SPACES.values()]


def test_structures_of_different_parts_differ():
    """Softmax and sparsemax have no field, entmax and normmax one number each: only the class tells them apart."""
    structures = [jax.tree.structure(part) for part in PARTS]
    for one, other in itertools.combinations(structures, 2):
        assert one != other
    assert jax.tree.structure(entmax(1.2)) == jax.tree.structure(entmax(1.7))
    assert jax.tree.structure(Memory.create(jnp.eye(2))) == jax.tree.structure(Memory.create(2 * jnp.eye(2), 3.0))


def test_structures_of_memories_differ_by_their_parts():
    softmax, sparse = (Memory.create(jnp.eye(3), separation=chosen) for chosen in (LogSumExp(), Sparsemax()))
    assert jax.tree.structure(softmax) != jax.tree.structure(sparse)


def test_the_class_is_no_part_of_what_a_user_sees():
    assert repr(Sparsemax()) == "Sparsemax()"
    assert repr(normmax(2.0)).startswith("Normmax(alpha=")
    assert [leaf.ndim for leaf in jax.tree.leaves(Memory.create(jnp.eye(2)))] == [2, 0]
    assert LogSumExp() == LogSumExp()
    with pytest.raises(AttributeError, match="cannot assign to field"):
        LogSumExp().alpha = 1.0


def test_fields_of_nodes_are_given_by_place_and_replaced_by_name():
    class Pair(Node):
        left: float
        right: float = 2.0

    class Triple(Pair):
        middle: float = 3.0

    assert Pair(1.0) == Pair(1.0, 2.0)
    assert Pair(1.0, 5.0).replace(left=4.0) == Pair(4.0, 5.0)
    assert jax.tree.leaves(Triple(1.0, 2.0, 7.0)) == [1.0, 2.0, 7.0]
    assert jax.tree.map(lambda x: 2 * x, Triple(1.0)) == Triple(2.0, 4.0, 6.0)


def test_nodes_are_equal_where_structure_and_numbers_are():
    memory = Memory.create(jnp.eye(3), 2.0)
    assert memory == Memory.create(jnp.eye(3), 2.0)
    assert hash(memory) == hash(Memory.create(jnp.eye(3), 2.0))
    others = [
        Memory.create(2 * jnp.eye(3), 2.0),
        Memory.create(jnp.eye(4), 2.0),
        Memory.create(jnp.eye(3), 2.0, separation=Sparsemax()),
        Memory.create(jnp.eye(3), 2.0, mask=jnp.ones(3, bool)),
        Memory.create(jnp.eye(3, dtype=jnp.float16), 2.0),
        jnp.eye(3),
        None,
    ]
    assert all(memory != other for other in others)
    broken = memory.replace(beta=jnp.asarray(jnp.nan))
    assert broken == memory.replace(beta=jnp.asarray(jnp.nan)) != memory
