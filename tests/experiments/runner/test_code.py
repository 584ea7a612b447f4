"""Code that rows come from: a formula that was changed is noticed, and what means the same is no change."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from experiments.runner import registry
from experiments.system import imports, provenance

ROOT = Path(__file__).parents[3]
LINE = "conf=capacity memories=[classical] neurons=[20] loads=[0.1,0.2] output=a wandb.mode=disabled"


@pytest.fixture
def checkout(tmp_path: Path) -> Callable[..., tuple[int, str]]:
    """The command in a copy of this checkout: exit code and stderr of its words."""
    for name in ("hopfield", "experiments", "conf"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", "*.min.js"))
    for path in (ROOT / "experiments").rglob("*.min.js"):
        os.link(path, tmp_path / path.relative_to(ROOT))

    def run(*words: str) -> tuple[int, str]:
        line = [sys.executable, "-m", "experiments.run", *LINE.split(), "figure.format=[svg]", *words]
        environment = os.environ | {"PYTHONPATH": str(tmp_path)}
        done = subprocess.run(line, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
        return done.returncode, done.stderr

    return run


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


@pytest.mark.process
def test_a_formula_that_was_changed_is_noticed(checkout: Callable, tmp_path: Path) -> None:
    memory = tmp_path / "hopfield/memories/classical.py"
    assert checkout()[0] == 0
    change(memory, '"""', '"""Other words. ')
    code, said = checkout()
    assert code == 0
    assert "points are measured already" in said
    assert "rows were measured with other code of hopfield than there is; output=NEW measures anew" in said
    memory.write_text(memory.read_text(encoding="utf-8") + "\nANOTHER = 1\n", encoding="utf-8")
    code, said = checkout("samples=2")
    assert code == 2
    assert said.startswith("error: contents of classical must be those of hash ")
    assert "give another output, or overwrite=true to set them aside" in said
    code, said = checkout("overwrite=true")
    assert code == 0
    assert "measured already" not in said


def test_code_means_the_same_whatever_its_words_and_layout() -> None:
    code = b'"""Square."""\n\n\ndef square(x):\n    """x^2."""\n    return x**2\n'
    same = b'# 2\n"""The square of a number."""\ndef square(x): return (x ** 2)  # so\n'
    assert imports.meaning(code) == imports.meaning(same)
    assert imports.meaning(code) != imports.meaning(code.replace(b"**2", b"**3"))
    assert imports.meaning(b"a b") != imports.meaning(b"a  b"), "no Python"


@pytest.mark.parametrize(("name", "measures"), [("scales.py", True), ("figure.py", False), ("panels.py", False)])
def test_what_an_experiment_measures_with_is_part_of_its_science(name: str, measures: bool) -> None:
    config = registry.options("capacity")()
    assert (name in provenance.science(registry.load("capacity"), config)["files"]) == measures
