"""Checkpoints of a training: written in one step, and checked for damage by their hash."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import serialization

from experiments.contract import Row
from experiments.system import files, terminal


def save(path: Path, tree: Any, rows: list[Row]) -> None:
    """Write a checkpoint in one step: the hash of the rest, a line's end, arrays and rows as msgpack."""
    leaves = {str(i): np.asarray(_data(x)) for i, x in enumerate(jax.tree.leaves(tree))}
    data = serialization.msgpack_serialize({"leaves": leaves, "rows": files.encode(rows)})
    files.make_directory(path.parent)
    with files.replacing(path) as temporary:
        temporary.write_bytes(_checksum(data) + b"\n" + data)


def load(path: Path, like: Any) -> tuple[Any, list[Row]] | None:
    """Checkpoint that was saved, in the shape of `like`. None if there is none, or if it is damaged and set aside."""
    if not path.exists():
        return None
    checksum, _, data = path.read_bytes().partition(b"\n")
    if checksum == _checksum(data):
        content = serialization.msgpack_restore(data)
        leaves, tree = jax.tree.flatten(like)
        kept = [jnp.asarray(content["leaves"][str(i)]) for i in range(len(content["leaves"]))]
        if [(x.shape, x.dtype) for x in kept] == [(x.shape, x.dtype) for x in map(_data, leaves)]:
            arrays = [jax.random.wrap_key_data(x) if _is_key(of) else x for x, of in zip(kept, leaves, strict=True)]
            return jax.tree.unflatten(tree, arrays), json.loads(str(content["rows"]))
    aside = path.with_name(f"damaged-{path.name}")
    os.replace(path, aside)
    files.sync_directory(path.parent)
    terminal.say(f"{path} is not as it was written, kept as {aside.name}: its run is trained again")
    return None


def _is_key(leaf: jax.Array) -> bool:
    """True if an array holds random keys, as the state of an optimiser that draws does."""
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _data(leaf: jax.Array) -> jax.Array:
    """Numbers of an array that is saved."""
    return jax.random.key_data(leaf) if _is_key(leaf) else leaf


def _checksum(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode()
