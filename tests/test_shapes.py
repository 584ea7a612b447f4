"""Shapes of signatures: what is checked of them, and that the core keeps to its own."""

import os
import subprocess
import sys
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Bool, Float, TypeCheckError, jaxtyped

from tests.shapes import checked

ROOT = Path(__file__).resolve().parents[1]
CORE = "memory couplings separations similarities spaces memories observables"


@jaxtyped(typechecker=checked)
def weighted(
    rows: Float[Array, "M N"], weights: Float[Array, "M"] | None = None, mask: Bool[Array, "M"] | float = 1.0
) -> tuple[Float[Array, "N"], Float[Array, ""]]:
    """A function that says more than it does: a sum over rows, one row too few if there are five."""
    rows, weights = jnp.asarray(rows), jnp.ones(len(rows)) if weights is None else jnp.asarray(weights)
    total = jnp.sum(weights.reshape(-1)[: len(rows), None] * rows * jnp.reshape(mask, (-1, 1)), axis=0)
    return (total[:-1] if len(rows) == 5 else total), jnp.sum(total)


def test_what_fits_passes_whatever_kind_of_array_or_list_it_is():
    for rows in (np.ones((3, 2)), jnp.ones((3, 2)), [[1, 1], [1, 1], [1, 1]], np.ones((3, 2), int)):
        for options in ({}, {"weights": np.ones(3)}, {"mask": np.ones(3, bool)}, {"mask": 0.5}):
            assert weighted(rows, **options)[0].shape == (2,)


@pytest.mark.parametrize(
    "arguments",
    [(np.ones((3, 2)), np.ones(4)), (np.ones((3, 2)), np.ones((3, 1))), (np.ones((5, 3)),)],
    ids=["another length", "an axis too many", "result too short"],
)
def test_what_does_not_fit_is_found_once_the_call_is_over(arguments):
    with pytest.raises(TypeCheckError):
        weighted(*arguments)


def test_errors_of_the_function_itself_come_first():
    with pytest.raises(TypeError, match="incompatible shapes"):
        weighted(np.ones((3, 2)), np.ones(4), mask=np.ones((7, 3), bool))


@pytest.mark.process
def test_signatures_of_the_core_say_the_shapes_of_every_call():
    packages = ",".join(f"hopfield.{name}" for name in CORE.split())
    words = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", f"--jaxtyping-packages={packages},tests.shapes.checked"]
    words += ["--few", "-m", "not exhaustive"]  # combinations of parts that the other tests call, too
    tests = ("test_memory", "test_couplings", "observables/test_weights", "observables/test_overlaps")
    files = [f"tests/hopfield/{name}.py" for name in tests]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    command = [sys.executable, "-m", "pytest", *words, *files]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-3000:]
