"""The wheel, built and unpacked: its doors open, and it goes on with what a checkout has begun."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.source_code import ROOT

pytest.importorskip("hatchling")
pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an environment in which the wheel of this checkout is installed."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def python(place: Path, folder: Path, *words: str) -> subprocess.CompletedProcess:
    """Python in a folder, with the packages of a place."""
    environment = os.environ | {"PYTHONPATH": str(place), "WANDB_MODE": "disabled"}
    line = [sys.executable, "-P", *words]
    return subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300)


def test_its_doors_open_beside_a_folder_called_experiments(site: Path, tmp_path: Path) -> None:
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "__init__.py").write_text("raise SystemExit('another one')")
    (tmp_path / "notebook.py").write_text(
        "import sys, hopfield\nfrom hopfield import Memory\nsys.path.insert(0, '.')\n"
        "def my_memory(patterns, *, mask=None):\n    return Memory(patterns, 1.0, mask=mask)\n"
        "run = hopfield.capacity(my_memory, neurons=[8], loads=[0.3, 0.7], samples=2, queries=4, output='out')\n"
        "assert 'site' in hopfield.__file__\n"
        "print(run.estimates['value'].notna().all(), hopfield.open_run('out').table.equals(run.table))\n",
        encoding="utf-8",
    )
    done = python(site, tmp_path, "notebook.py")
    assert (done.returncode, done.stdout) == (0, "True True\n"), done.stderr


LINE = ["conf=capacity", "memories=[classical]", "neurons=[20]", "loads=[0.1,0.2]", "output=a", "figure.format=[svg]"]


def test_it_goes_on_with_what_a_checkout_has_begun_and_tells_other_code(site: Path, tmp_path: Path) -> None:
    whole, begun = tmp_path / "whole", tmp_path / "begun"
    for folder in (whole, begun):
        folder.mkdir()
    checkout = (ROOT, "-m", "experiments.run")
    wheel = (site, "-m", "hopfield")
    for folder, (place, *command), words in (
        (whole, checkout, ["samples=4"]),
        (begun, checkout, ["samples=2"]),
        (begun, wheel, ["samples=4"]),
    ):
        done = python(place, folder, *command, *LINE, *words)
        assert done.returncode == 0, done.stderr
    assert "points are measured already" in done.stderr
    assert "were measured" not in done.stderr
    for name in ("table.csv", "summary.json"):
        assert (begun / "a" / name).read_bytes() == (whole / "a" / name).read_bytes()
    copied = site / "hopfield/_command/experiments"
    change(copied / "shared/retention.py", "valid = index <", "valid = 0 + index <")
    done = python(*wheel[:1], begun, *wheel[1:], *LINE, "samples=4")
    assert "rows were measured with other code of hopfield than there is" in done.stderr
    change(copied / "capacity/scales.py", "return ", "return 1 * ")
    done = python(*wheel[:1], begun, *wheel[1:], *LINE, "samples=4")
    assert done.returncode == 2
    assert done.stderr.startswith("error: contents of scales.py must be those of hash ")


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
