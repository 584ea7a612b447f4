"""The door to the experiments where only the packages of the library itself are; tests/test_wheel.py, the wheel."""

import subprocess
import sys
import tomllib

import pytest

from hopfield import _door
from tests.source_code import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LIBRARY = {"jax", "jaxlib", "flax", "optax", "numpy", "scipy", "jaxtyping", "safetensors"}
BARE = f"""
import sys, pkgutil, importlib

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {{*{sorted([*_door.NEEDED.values(), "statsmodels", "tokenizers"])}}}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
importlib.util.find_spec = lambda name: None
"""


def bare(code: str) -> subprocess.CompletedProcess:
    """A process in which the packages of the command are absent."""
    return subprocess.run([sys.executable, "-c", BARE + code], capture_output=True, text=True, check=False, cwd=ROOT)


@pytest.mark.slow
def test_the_library_imports_where_only_its_own_packages_are() -> None:
    done = bare(
        "import hopfield\n"
        "for about in pkgutil.walk_packages(hopfield.__path__, 'hopfield.'):\n"
        "    if about.name not in ('hopfield.plots', 'hopfield.__main__'):\n"
        "        importlib.import_module(about.name)\n"
        "print(hopfield.Memory([[1.0, -1.0]], 1.0).patterns.shape[0])"
    )
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "1\n")


@pytest.mark.slow
def test_command_and_capacity_say_what_to_install() -> None:
    done = bare("import hopfield.__main__ as main; print(main.main()); import hopfield; hopfield.capacity('classical')")
    sentence = "hopfield's experiments need filelock, hydra-core, jinja2, matplotlib"
    assert done.stdout == "1\n"
    assert done.stderr.startswith(f"error: {sentence}")
    assert f"ImportError: {sentence}" in done.stderr
    assert "pip install hopfield brings them" in done.stderr


@pytest.mark.slow
def test_what_a_part_of_the_library_needs_besides_is_said_in_a_sentence() -> None:
    done = bare(
        "from hopfield.patterns import datasets\n"
        "pictures = lambda: importlib.import_module('hopfield.plots')\n"
        "for ask in (datasets.digits, lambda: datasets.photograph_patches(4, 2), pictures):\n"
        "    try: ask()\n"
        "    except ImportError as error: print(error)"
    )
    told = [("digits need scikit-learn", "scikit-learn"), ("photographs need scikit-learn", "scikit-learn")]
    told.append(("hopfield.plots needs Matplotlib", "matplotlib"))
    lines = [f"{what}, which this environment has not: pip install {package}" for what, package in told]
    assert done.stdout.splitlines() == lines, done.stderr


def test_all_that_the_command_needs_is_named() -> None:
    named = {word.split(">")[0].split("<")[0].split("[")[0] for word in PROJECT["project"]["dependencies"]}
    assert named == LIBRARY | {*_door.NEEDED}
