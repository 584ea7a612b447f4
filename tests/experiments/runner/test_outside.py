"""Things from outside the package: memories, corruptions, data and experiments in user-defined files."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas
import pytest

import hopfield.memories
from experiments import contract
from experiments.new import main as begin
from experiments.plot import main as plot
from experiments.run import main as run
from experiments.runner import folders, registry
from experiments.system import provenance
from tests.experiments.plugged import install_package

CODE = """
import jax.numpy as jnp
import numpy as np
from hopfield import separations
half = separations.find("polynomial:4")
def power(degree=2): return separations.find(f"polynomial:{int(degree)}")
def roll(key, state, amount): return jnp.roll(state, jnp.int32(amount))
def data(): return np.arange(12.0).reshape(3, 4)
def big(): return np.array([[1e300, 0.0], [0.0, -1e300]])
def masked(): return np.ma.array(np.arange(12.0).reshape(3, 4), mask=np.eye(3, 4))
def strange(patterns): return patterns.no_such_thing
"""


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WANDB_MODE", "disabled")
    (tmp_path / "mine.py").write_text(CODE)
    return tmp_path


def test_a_memory_made_from_the_template_is_found_and_retrieves(mine: Path) -> None:
    assert begin(["memory", "cubic"]) == 0
    blueprint = hopfield.memories.find("./cubic.py:cubic")
    patterns = np.random.default_rng(0).choice([-1.0, 1.0], (2, 30))
    assert (blueprint.build(patterns).update(patterns[0]) == patterns[0]).all()
    assert (blueprint.ensemble, blueprint.takes_beta, blueprint.scaling.symbol) == ("spins", True, "M / N")
    for given, options in ((patterns / 2, {}), (patterns, {"beta": -1.0}), (patterns, {"mask": np.array([True])})):
        with pytest.raises(ValueError, match=r"^(patterns|beta|mask) must be"):
            blueprint.build(given, **options)


@pytest.mark.parametrize("name", ["./cubic.py:cubic", "./of mine/cubic.py:cubic", "dense:3"])
def test_the_word_of_one_memorys_loads_takes_every_name_of_a_memory(
    mine: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert begin(["memory", "cubic"]) == 0
    (mine / "of mine").mkdir()
    (mine / "of mine" / "cubic.py").write_text((mine / "cubic.py").read_text())
    of_one = f"per_memory.{name}.loads=[0.1,0.2,0.3]"
    assert run(["conf=capacity", f"memories=['{name}']", "neurons=[30]", "samples=1", of_one, "dry=true"]) == 0
    assert "capacity: 3 points" in capsys.readouterr().out


@pytest.mark.parametrize("spec", ["./mine.py:half", "pack.code:half", "plugged:2"])
def test_code_that_a_name_leads_to_is_part_of_the_science(
    mine: Path, spec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_package(mine, CODE, "[hopfield.separations]\nplugged = pack.code:power\n", monkeypatch)
    capacity = registry.load("capacity")
    config, found = capacity.Config(memories=[spec]), []
    for text in (CODE, CODE, CODE.replace(":4", ":3") + "power.degree = 4\n"):
        for path in (mine / "mine.py", mine / "pack/code.py"):
            path.write_text(text)
        for name in ("pack", "pack.code"):
            sys.modules.pop(name, None)  # as in another process
        found.append(provenance.science(capacity, config))
    assert found[0] == found[1] != found[2]


def _environment() -> dict[str, str]:
    """The environment without the address of W&B's own service, which comes and goes with runs of other tests."""
    return {name: value for name, value in os.environ.items() if name != "WANDB_SERVICE"}


@pytest.mark.process
def test_an_experiment_made_from_the_template_runs_resumes_plots_and_passes(
    mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = _environment()
    assert begin(["experiment", "mything"]) == 0
    assert run(["conf=./mything", "samples=1", "neurons=[20]"]) == 0
    assert run(["conf=./mything", "samples=2", "neurons=[20]"]) == 0
    assert "3 of 6 points are measured already" in capsys.readouterr().err
    directory = mine / "outputs/mything/default"
    (directory / "figure.svg").unlink()
    assert plot([str(directory), "home=mything"]) == 0
    assert (directory / "figure.svg").is_file()
    record = folders.read(directory)
    assert record is not None
    assert record.home == str(mine / "mything")
    assert _environment() == before
    assert "mything" not in registry.names()
    assert "experiments.mything" not in sys.modules
    steps, compiled = _changes_of_the_page()
    _apply(steps, mine)
    assert run(["conf=./mything", "samples=1", "neurons=[20]"]) == 2
    assert run(["conf=./mything", "samples=2", "neurons=[20]", "steps=2"]) == 0
    directory = mine / "outputs/mything/steps=2"
    assert (directory / "figure.svg").is_file()
    looped = pandas.read_csv(directory / "table.csv")
    _apply(compiled, mine)
    assert run(["conf=./mything", "samples=2", "neurons=[20]", "steps=2", "overwrite=true"]) == 0
    pandas.testing.assert_frame_equal(pandas.read_csv(directory / "table.csv"), looped)


def _changes_of_the_page() -> list[str]:
    """Changes that `docs/howto/extend_experiment.md` shows to what the template made, to be applied in this order."""
    page = Path(__file__).resolve().parents[3] / "docs/howto/extend_experiment.md"
    found = re.findall(r"^```diff\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return [diff.replace("mine", "mything") for diff in found]


def _apply(diff: str, mine: Path) -> None:
    subprocess.run(["git", "apply", "-"], input=diff, text=True, check=True, cwd=mine)


def test_the_page_and_the_contract_list_every_hook() -> None:
    page = (Path(__file__).resolve().parents[3] / "docs/howto/extend_experiment.md").read_text(encoding="utf-8")
    told = contract.__doc__ or ""
    assert set(contract.HOOKS) == set(re.findall(r"^    (?:def )?(\w+)(?:\(|: str)", told, re.MULTILINE)) - {"class"}
    optional = set(contract.HOOKS) - set(contract.REQUIRED)
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", page.split("by name:")[-1], re.MULTILINE)
    assert optional <= set(re.findall(r"\w+", " ".join(rows)))
