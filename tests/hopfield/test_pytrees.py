"""Two parts of different classes are never the same to a compiled function."""

import dataclasses
import inspect
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield import metrics
from hopfield._pytrees import Node
from hopfield.memory import Memory
from hopfield.separations import Sparsemax, entmax
from tests.hopfield.contracts.parts import SEPARATIONS, SIMILARITIES, SPACES

PARTS = [*SEPARATIONS.values(), *SIMILARITIES.values(), *SPACES.values()]


def test_structures_of_different_parts_differ():
    """Softmax and sparsemax have no field, entmax and normmax one number each: only the class tells them apart."""
    structures = [jax.tree.structure(part) for part in PARTS]
    for one, other in itertools.combinations(structures, 2):
        assert one != other
    assert jax.tree.structure(entmax(1.2)) == jax.tree.structure(entmax(1.7))
    assert jax.tree.structure(Memory.create(jnp.eye(2))) == jax.tree.structure(Memory.create(2 * jnp.eye(2), 3.0))


@pytest.mark.parametrize("kind", sorted({type(part) for part in PARTS} | {Memory}, key=lambda kind: kind.__name__))
def test_the_signature_of_a_class_of_nodes_has_the_fields_that_a_user_gives(kind):
    """And not its class, which is a field as well."""
    given = [field for field in dataclasses.fields(kind) if field.name != "node_class"]
    parameters = inspect.signature(kind).parameters
    assert list(parameters) == [field.name for field in given]
    assert all(parameter.kind is parameter.POSITIONAL_OR_KEYWORD for parameter in parameters.values())


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


def test_large_arrays_are_shown_by_type_and_shape():
    patterns = jnp.ones((10, 50), jnp.float32)
    memory = Memory.create(patterns, 0.1, separation=entmax(jnp.float32(1.5)), mask=np.ones(10, bool))
    parts = "similarity=Dot(), separation=Entmax(alpha=1.5), space=Euclidean(confined=True)"
    assert repr(memory) == f"Memory(patterns=f32[10,50], beta=0.1, values=None, mask=bool[10], {parts})"
    assert repr(metrics.block(metrics.scaled(3, np.float16(0.5)), metrics.full(np.eye(4)))) == (
        "Block(metrics=(Scaled(scale=0.5, width=3), Full(matrix=f64[4,4])))"
    )
    assert repr(Memory(jnp.zeros((9, 1), jnp.bfloat16), 2)).startswith("Memory(patterns=bf16[9,1], beta=2, ")
