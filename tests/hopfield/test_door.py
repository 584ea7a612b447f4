"""The door to the experiments: from the wheel's folders, and where only the library's own packages are."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from hopfield import _door
from tests.source_code import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LIBRARY = {"jax", "jaxlib", "flax", "optax", "numpy", "scipy", "jaxtyping", "safetensors"}
BARE = f"""
import sys, pkgutil, importlib

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {{*{sorted([*_door.NEEDED.values(), "statsmodels", "jinja2", "tokenizers"])}}}:
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
        "    if about.name not in ('hopfield.plots', 'hopfield.__main__') and '_command' not in about.name:\n"
        "        importlib.import_module(about.name)\n"
        "print(hopfield.Memory.create([[1.0, -1.0]], 1.0).patterns.shape[0])"
    )
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "1\n")


@pytest.mark.slow
def test_command_and_capacity_say_what_to_install() -> None:
    done = bare("import hopfield.__main__ as main; print(main.main()); import hopfield; hopfield.capacity('classical')")
    sentence = "hopfield's experiments need filelock, hydra-core, matplotlib"
    assert done.stdout == "1\n"
    assert done.stderr.startswith(f"error: {sentence}")
    assert f"ImportError: {sentence}" in done.stderr
    assert "pip install hopfield brings them" in done.stderr


def test_all_that_the_command_needs_is_named() -> None:
    named = {word.split(">")[0].split("<")[0].split("[")[0] for word in PROJECT["project"]["dependencies"]}
    assert named >= LIBRARY
    assert named >= {*_door.NEEDED}


@pytest.mark.process
def test_the_door_opens_from_the_folders_of_the_wheel(tmp_path: Path) -> None:
    """The files of the wheel as pyproject.toml places them, with a folder called experiments beside the script."""
    target = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    for source, place in {"hopfield": "hopfield", **target["force-include"]}.items():
        shutil.copytree(ROOT / source, tmp_path / "site" / place, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "here" / "experiments").mkdir(parents=True)
    (tmp_path / "here" / "notebook.py").write_text(
        "import hopfield\nfrom hopfield import Memory\n"
        "def my_memory(patterns, *, mask=None):\n    return Memory.create(patterns, 1.0, mask=mask)\n"
        "run = hopfield.capacity(my_memory, neurons=[8], loads=[0.3, 0.7], samples=2, queries=4, output='out')\n"
        "assert 'site' in hopfield.__file__\n"
        "print(run.critical_load['load'].notna().all(), hopfield.open_run('out').table.equals(run.table))\n",
        encoding="utf-8",
    )
    environment = {"PYTHONPATH": str(tmp_path / "site"), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    command = [sys.executable, "-P", "notebook.py"]
    done = subprocess.run(command, cwd=tmp_path / "here", env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "True True\n"), done.stderr
