"""Types: what mypy and pyright see of the installed library in a file of a user."""

import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

import hopfield

USER = """\
from typing import assert_type

import jax
import jax.numpy as jnp
from flax import nnx

import hopfield
from hopfield import Couplings, Memory, dynamics, layers, memories, retrieve

memory = Memory(jnp.ones((3, 8)), 2.0, separation="entmax:1.5")
assert_type(memory, Memory)
assert_type(memory.read(jnp.ones(8)), jax.Array)
assert_type(retrieve(memory, jnp.ones(8)), dynamics.Retrieval)
assert_type(retrieve(memory, jnp.ones(8)).state, jax.Array)
assert_type(Couplings(jnp.ones((8, 8))).energy(jnp.ones(8)), jax.Array)
assert_type(memories.find("modern").build(jnp.ones((3, 8))), Memory | Couplings)
assert_type(memories.names(), tuple[str, ...])
graph: hopfield.graphs.Graph
layer = layers.HopfieldAttention(2, 8, rngs=nnx.Rngs(0))
wrong: str = memory.energy(jnp.ones(8))
"""
WRONG = USER.count("\n")
"""The line that both must refuse, as one that sees no types does not."""
CHECKERS = {
    "mypy": ["mypy", "--cache-dir", "cache", "--python-executable"],
    "pyright": ["pyright", "--pythonpath"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder outside the checkout with the file, and an environment of the library and what it depends on."""
    folder = tmp_path_factory.mktemp("user")
    venv.create(folder / "venv", with_pip=False)
    site = Path(sysconfig.get_path("purelib", vars={"base": str(folder / "venv")}))
    (site / "hopfield").symlink_to(Path(hopfield.__path__[0]), target_is_directory=True)
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    (folder / "user.py").write_text(USER)
    return folder


@pytest.mark.process
@pytest.mark.parametrize("checker", CHECKERS)
def test_a_users_file_is_checked_against_the_types_of_the_library(folder: Path, checker: str) -> None:
    words = [sys.executable, "-m", *CHECKERS[checker], str(folder / "venv" / "bin" / "python"), "user.py"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=300)
    errors = [line for line in done.stdout.splitlines() if " error: " in line or " - error" in line]
    assert len(errors) == 1, done.stdout
    assert f"user.py:{WRONG}:" in errors[0]


def test_the_library_says_that_it_has_types() -> None:
    assert (Path(hopfield.__path__[0]) / "py.typed").is_file()
