"""Patterns and queries spread over a mesh of devices: who holds which rows, and sums put together again.

A mesh has an axis named `patterns`, an axis named `queries`, or both. Generated patterns are drawn where they are
used; stored ones are cut, filled up with rows that are never counted where the devices do not divide them.
"""

import os
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import AbstractMesh, AxisType, Mesh, PartitionSpec
from jaxtyping import Array

from hopfield._arguments import instance
from hopfield.patterns.sources import Generated, Packed, Source, Stored

PATTERNS, QUERIES = "patterns", "queries"


def connect(address: str | None = None, processes: int | None = None, index: int | None = None) -> bool:
    """Connection of the processes of one computation, to be made before JAX is used for anything else.

    Under SLURM, Open MPI and on cloud machines that JAX knows, everything is found in the environment; elsewhere give
    HOPFIELD_COORDINATOR=host:port, HOPFIELD_PROCESSES and HOPFIELD_PROCESS, or the arguments.

    Args:
        address: host:port of the first process.
        processes, index: how many there are, and which this one is.

    Returns:
        Whether there is more than one process.

    Raises:
        ValueError: some of the three are given and others not.
    """
    address = address or os.environ.get("HOPFIELD_COORDINATOR")
    counted = {"processes": processes, "process": index}
    for name, value in counted.items():
        setting = os.environ.get(f"HOPFIELD_{name.upper()}")
        counted[name] = int(setting) if value is None and setting is not None else value
    arguments = [address, *counted.values()]
    if all(value is not None for value in arguments):
        jax.distributed.initialize(address, counted["processes"], counted["process"])
    elif any(value is not None for value in arguments):
        raise ValueError("address, processes and index must be given together, or left to the environment")
    elif int(os.environ.get("SLURM_NTASKS", "1")) > 1 or int(os.environ.get("OMPI_COMM_WORLD_SIZE", "1")) > 1:
        jax.distributed.initialize()
    return jax.process_count() > 1


def device_mesh() -> Mesh | None:
    """Mesh of all devices of all processes along the patterns' axis. None if there is only one device."""
    devices = jax.devices()
    return jax.make_mesh((len(devices),), (PATTERNS,), axis_types=(AxisType.Auto,)) if len(devices) > 1 else None


def axes(mesh: Mesh) -> tuple[int, int]:
    """Numbers of devices along the axes of patterns and of queries, 1 for an axis that the mesh lacks.

    Raises:
        ValueError: the mesh has neither axis, or another axis. TypeError: no mesh.
    """
    names = set(instance("mesh", mesh, Mesh, AbstractMesh).axis_names)
    if not names or names - {PATTERNS, QUERIES}:
        raise ValueError(
            f"mesh must have the axes patterns, queries or both, got {', '.join(mesh.axis_names) or 'none'}"
        )
    return mesh.shape.get(PATTERNS, 1), mesh.shape.get(QUERIES, 1)


def shard_map_patterns(mesh: Mesh, function: Callable, sources: tuple[Source | None, ...], queries: Any) -> Any:
    """Results of function(local sources, their first index, local queries), of all devices along the queries' axis.

    Args:
        mesh: see above.
        function: its result has the queries as first axis in every leaf and is the same along the patterns' axis;
            it puts the devices' sums together with `all_merge`. Rows at and beyond M must not be counted.
        sources: stored, packed or generated patterns and what belongs to them, all of one length M.
        queries: pytree of arrays [Q, ...].

    Raises:
        ValueError: the queries are not a multiple of the devices along their axis.
    """
    shares, groups = axes(mesh)
    count = jax.tree.leaves(queries)[0].shape[0]
    if count % groups:
        raise ValueError(f"queries must be a multiple of the {groups} devices along their axis, got {count}")
    present = [instance("sources", source, Source) for source in sources if source is not None]
    local = -(-max(source.shape[0] for source in present) // shares)
    rows, queried = (
        PartitionSpec(name if size > 1 else None) for name, size in ((PATTERNS, shares), (QUERIES, groups))
    )

    def part(sources, queries):
        first = jax.lax.axis_index(PATTERNS) * local if shares > 1 else jnp.zeros((), jnp.int32)
        return function(tuple(_part_of_device(source, first, local) for source in sources), first, queries)

    specs = tuple(PartitionSpec() if isinstance(source, Generated) else rows for source in sources)
    mapped = jax.shard_map(part, mesh=mesh, in_specs=(specs, queried), out_specs=queried, check_vma=False)
    return mapped(tuple(_pad_source(source, local * shares) for source in sources), queries)


def all_merge(merge: Callable, sums: Any, shares: int) -> Any:
    """Sums of all devices along the patterns' axis, merged in the order of the patterns. Every device gets them."""
    if shares == 1:
        return sums
    gathered = jax.lax.all_gather(sums, PATTERNS)
    total = jax.tree.map(lambda x: x[0], gathered)
    for i in range(1, shares):
        total = merge(total, jax.tree.map(lambda x, i=i: x[i], gathered))
    return total


def _part_of_device(source: Source | None, first: Array, count: int) -> Source | None:
    """Patterns of this device: a generated source from its first pattern on, any other source as the device has it."""
    if isinstance(source, Generated):
        return source.replace(first=source.first + first.astype(jnp.uint32), count=count)
    return source


def _pad_source(source: Source | None, count: int) -> Source | None:
    if source is None or isinstance(source, Generated) or source.shape[0] == count:
        return source
    missing = count - source.shape[0]
    if isinstance(source, Packed):
        return source.replace(bits=jnp.pad(source.bits, ((0, missing), (0, 0))))
    if isinstance(source, Stored):
        return source.replace(array=jnp.pad(source.array, ((0, missing), (0, 0))))
    raise ValueError(
        f"source must be stored, packed or generated to be spread over devices, got {type(source).__name__}"
    )
