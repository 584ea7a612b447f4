"""Reads and counts over 1, 2 and 8 devices, run in a process of its own: prints one line of digests per mesh.

python sharded.py                      eight devices of one process
python sharded.py ADDRESS COUNT INDEX  one device in each of COUNT processes
"""

import os
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
# The flags of the tests, which compile cheaply, and devices: nearly all of the time is compilation.
os.environ.setdefault("XLA_FLAGS", "")
os.environ["XLA_FLAGS"] += f" --xla_force_host_platform_device_count={8 if len(sys.argv) == 1 else 1}"

import jax
import jax.numpy as jnp
import numpy as np

from hopfield import Memory, large, separations
from hopfield.large import counts
from hopfield.large import mesh as sharding
from hopfield.patterns.sources import Generated, Packed

jax.config.update("jax_enable_x64", True)
M, N, Q = 5003, 37, 8


def results_of(source, queries, mesh):
    """Everything that a mesh must not change."""
    memory, options = Memory(source, 0.3), {"block": 100, "mesh": mesh}
    softmax, spread = large.statistics(memory, queries, targets=jnp.arange(Q), top=3, **options)
    sparse = large.read(memory.replace(separation=separations.Sparsemax()), queries, **options)
    tally = counts.count(source, queries, mesh=mesh)
    smooth = [softmax.potential, softmax.output, spread.entropy, spread.target_weight, sparse.potential, sparse.output]
    update = tally.update(lambda s: np.exp(0.3 * s))
    exact = [spread.top_patterns, tally.number, tally.up, update]
    return [np.asarray(x) for x in smooth], [np.asarray(x) for x in exact]


def main() -> None:
    spread = len(sys.argv) > 1
    if spread:
        names = ("COORDINATOR", "PROCESSES", "PROCESS")
        os.environ.update({f"HOPFIELD_{name}": value for name, value in zip(names, sys.argv[1:], strict=True)})
        assert sharding.connect()
    drawn = Generated(jax.random.key(3), "spins", M, N)
    alone = drawn.rows(0, M)
    queries = alone[:Q]
    reference = results_of(Packed(alone), queries, None)
    shapes = [(2, 1)] if spread else [(1, 1), (8, 1), (2, 4)]
    for shape in shapes:
        devices = jax.devices()[: shape[0] * shape[1]]
        types = (jax.sharding.AxisType.Auto,) * 2
        mesh = jax.make_mesh(shape, ("patterns", "queries"), axis_types=types, devices=devices)
        for name, source in {"generated": drawn, "packed": Packed(alone), "stored": alone}.items():
            if spread and name != "generated":
                continue
            smooth, exact = results_of(source, queries, mesh)
            off = max(float(np.max(np.abs(a - b) / (1 + np.abs(b)))) for a, b in zip(smooth, reference[0], strict=True))
            same = all(np.array_equal(a, b) for a, b in zip(exact, reference[1], strict=True))
            sys.stdout.write(f"measured {name} {shape[0]}x{shape[1]} {off:.1e} {same}\n")


if __name__ == "__main__":
    main()
