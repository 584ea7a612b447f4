"""Code that rows come from: a formula that was changed is noticed, and what means the same is no change."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from experiments.runner import registry
from experiments.system import provenance
from hopfield import outside

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


@pytest.mark.parametrize(("name", "measures"), [("scales.py", True), ("figure.py", False), ("panels.py", False)])
def test_what_an_experiment_measures_with_is_part_of_its_science(name: str, measures: bool) -> None:
    config = registry.options("capacity")()
    assert (name in provenance.science(registry.load("capacity"), config)["files"]) == measures


def test_code_that_changed_after_its_import_is_no_code_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    imported = provenance.code()
    monkeypatch.setattr(outside, "IMPORTED", 0.0)
    assert provenance.code.__wrapped__() == f"{imported.removesuffix('?')}?"


CONFIG = """
import dataclasses
from experiments.contract import Config as Base, grid_axis, option
FACTOR = 2.0
@dataclasses.dataclass
class Config(Base):
    scale: float = option(1.0, "scale")
    def scaled(self): return 3.0 * self.scale
"""
RESULTS = """
def kept(x): return x + 5.0
def drawn(x): return x + 7.0
"""
EXPERIMENT = """
from .config import FACTOR, Config
from .results import drawn, kept
X_AXIS = "n"
TABLE = {}
for n in range(3):
    TABLE[n] = n**2
if X_AXIS:
    def inside(x): return x + 11.0
try:
    def tried(x): return x + 13.0
except ValueError:
    pass
match X_AXIS:
    case "n":
        def matched(x): return x + 17.0
with open(__file__) as _:
    def held(x): return x + 19.0
def points(config): return [{"n": n} for n in TABLE]
def measure(config, points):
    for point in points:
        yield {**point, "y": held(matched(tried(inside(kept(TABLE[point["n"]] * FACTOR * config.scaled())))))}
def summarise(table): return {"mean": 23.0}
def panels(table, summary): return [drawn(29.0)]
"""
EDITS = [
    ("FACTOR = 2.0", "FACTOR = 2.5", True),
    ("3.0 * self.scale", "3.5 * self.scale", True),
    ("option(1.0", "option(1.5", False),  # options are compared by their values
    ("x + 5.0", "x + 5.5", True),
    ("x + 7.0", "x + 7.5", False),
    ("n**2", "n**3", True),
    ("x + 11.0", "x + 11.5", True),
    ("x + 13.0", "x + 13.5", True),
    ("x + 17.0", "x + 17.5", True),
    ("x + 19.0", "x + 19.5", True),
    ("* FACTOR", "+ FACTOR", True),
    ("in TABLE]", "in TABLE if n]", True),
    ("23.0", "23.5", False),
    ("29.0", "29.5", False),
]


@pytest.fixture
def own_science(tmp_path: Path) -> Callable[[str, str], tuple[dict, list[str]]]:
    """The science of an experiment of one's own after an edit, and what it is unsure of."""
    number = iter(range(99))

    def found(old: str = "", new: str = "") -> tuple[dict, list[str]]:
        home = tmp_path / str(next(number))
        folder = home / "experiments" / "mine"
        folder.mkdir(parents=True)
        for name, text in (("config", CONFIG), ("results", RESULTS), ("experiment", EXPERIMENT)):
            (folder / f"{name}.py").write_text(text.replace(old, new) if old else text, encoding="utf-8")
        unsure: list[str] = []
        with registry.including(home):
            config = registry.options("mine")(scale=1.0)
            return provenance.science(registry.load("mine"), config, (), unsure), unsure

    return found


@pytest.mark.parametrize(("old", "new", "measures"), EDITS)
def test_an_edit_of_what_an_experiment_measures_with_is_noticed(
    own_science: Callable, old: str, new: str, measures: bool
) -> None:
    assert sum(old in text for text in (CONFIG, RESULTS, EXPERIMENT)) == 1
    before, after = own_science(), own_science(old, new)
    assert (before != after) == measures
    assert before[1] == []


@pytest.mark.parametrize("name", registry.names())
def test_what_rows_of_an_experiment_depend_on_is_sure(name: str) -> None:
    experiment, options = registry.load(name), registry.options(name)
    found = provenance.code_of(experiment, options)
    assert not found.unsure
    assert f"experiments.{name}.experiment" in found.parts
