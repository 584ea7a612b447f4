"""A received folder is data: drawing, comparing and listing run nothing, resolve nothing, and wait for nothing."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from experiments import api
from experiments.new import main as new
from experiments.plot import main as plot
from experiments.run import main as run
from experiments.runs import main as runs

EVIL = "import pathlib\npathlib.Path(__file__).with_name('ran').touch()\ndef m(patterns, *, mask=None): return None\n"
SMALL = ["samples=1", "neurons=[20]", "loads=[0.1,0.4]", "wandb.mode=disabled", "figure.format=[svg]"]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WANDB_MODE", "disabled")
    return tmp_path


@pytest.mark.slow
def test_a_memory_of_ones_own_is_drawn_the_same_where_its_code_is_gone(place: Path) -> None:
    assert new(["memory", "cub$c".replace("$", "i")]) == 0
    Path("cubic.py").rename("cub$c.py")  # a dollar begins a formula in Matplotlib
    assert run(["conf=capacity", "memories=[./cub$c.py:cubic]", "output=out", *SMALL]) == 0
    before = {name: (place / "out" / name).read_bytes() for name in ("figure.svg", "summary.json", "report.html")}
    Path("cub$c.py").write_text(EVIL)
    assert plot(["out"]) == 0
    assert {name: (place / "out" / name).read_bytes() for name in before} == before
    table = place / "out/table.csv"
    table.write_text(table.read_text().replace("./cub$c.py:cubic", f"{place}/cub$c.py:m"))
    assert plot(["out"]) == 2, "a name in a table"
    assert not (place / "ran").exists()


def test_nothing_in_a_configuration_is_resolved(command: Callable, tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setenv("SECRET", "hunter2")
    assert command("conf=toy", "limit=1", "output=out").code == 0
    config = tmp_path / "out/config.yaml"
    config.write_text(config.read_text().replace("width: null", "width: ${oc.env:SECRET}"))
    assert plot(["out"]) == 2
    assert "hunter2" not in "".join(capsys.readouterr())


SIGNS = "\x1b[31m\x9b\u202e\r"
"""Signs that colour, move and turn what a terminal shows."""


@pytest.fixture
def received(command: Callable, tmp_path: Path) -> Callable[..., Path]:
    """A finished run whose files say what another person wrote into them."""
    assert command("conf=toy", "limit=1", "output=good", "figure.format=[svg]").code == 0

    def change(name: str, file: str = "", text: str | None = None, **entries: Any) -> Path:
        place = shutil.copytree("good", tmp_path / name)
        if file:
            old = (place / file).read_text()
            (place / file).write_text(json.dumps(json.loads(old) | entries) if text is None else text)
        return place

    return change


def evil(place: Path) -> tuple[Path, Path]:
    """An experiment and a package that leave a file when they are imported; the file and the experiment's folder."""
    ran, home = place / "ran", place / "home"
    for folder, name in ((home / "experiments" / "wicked", "experiment"), (place / "wicked", "__init__")):
        folder.mkdir(parents=True)
        (folder / f"{name}.py").write_text(f"import pathlib\npathlib.Path({str(ran)!r}).touch()\n")
    (place / "wicked" / "sheet.mplstyle").write_text("lines.linewidth: 3\n")
    return ran, home


@pytest.mark.parametrize("joined", [False, True], ids=["run", "joined"])
def test_an_experiment_that_a_folder_names_is_imported_only_where_home_is_given(
    received: Callable, tmp_path: Path, joined: bool
) -> None:
    ran, home = evil(tmp_path)
    place = received("place", "run.json", experiment="wicked", home=str(home))
    if joined:
        place = tmp_path / "joined"
        place.mkdir()
        (place / "joined.json").write_text(json.dumps({"runs": ["../place"]}))
    with pytest.raises(ValueError, match=r"experiment of .*place must be one of hopfield, .* got wicked"):
        api.open_run(place)
    assert not ran.exists()
    with pytest.raises(ValueError, match=r"experiment\.py of wicked must define"):
        api.open_run(place, home=home)
    assert ran.exists()


@pytest.mark.parametrize("sheet", ["wicked.sheet", "/dev/zero", "tex.mplstyle"])
def test_a_style_is_never_taken_from_a_folder(
    received: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture, sheet: str
) -> None:
    ran, _ = evil(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "tex.mplstyle").write_text("text.usetex: True\n")
    text = (tmp_path / "good/config.yaml").read_text().replace("style: null", f"style: {sheet}")
    place = received("place", "config.yaml", text)
    assert plot([str(place)]) == 0
    assert "is left out; figure.style=SHEET draws in one" in capsys.readouterr().err
    assert (place / "figure.svg").read_bytes() == (tmp_path / "good/figure.svg").read_bytes()
    api.open_run(place).plot()
    assert not ran.exists()
    if sheet == "/dev/zero":
        assert plot([str(place), f"figure.style={sheet}"]) == 2, "nor read where a person names it"


def test_no_sign_of_a_folder_or_a_word_controls_the_terminal(
    received: Callable, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    told = {"estimates": [{"quantity": f"of{SIGNS}", "value": 1.0, "headline": True}], "lines": [], "notes": []}
    place = received(f"named{SIGNS}", "run.json", conf=f"conf{SIGNS}", differs={f"a{SIGNS}": f"b{SIGNS}"}, summary="")
    (place / "summary.json").write_text(json.dumps({"mean": 1.0, "nothing": None} | told))
    capsys.readouterr()
    codes = [
        runs([str(tmp_path)]),
        plot([str(place)]),
        plot([f"none{SIGNS}"]),
        run(["conf=capacity", f"neurons{SIGNS}=3"]),
        run([f"conf={SIGNS}"]),
    ]
    assert codes == [0, 0, 2, 2, 2]
    said = "".join(capsys.readouterr())
    assert r"named\x1b[31m\x9b\u202e\r" in said
    assert set(said) & set(SIGNS) <= set("[31m")
    shown = api.open_run(place)
    assert set(repr(shown)) & set(SIGNS) <= set("[31m")


BROKEN = {
    "columns": ("run.json", {"columns": [["load"], {"load": 1}]}),
    "experiment": ("run.json", {"experiment": "../evil"}),
    "null": ("summary.json", "null"),
    "list": ("summary.json", "[1]"),
    "nested": ("summary.json", "[" * 10**5),
    "table": ("table.csv", ""),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_crafted_record_ends_in_a_sentence(
    received: Callable, tmp_path: Path, capsys: pytest.CaptureFixture, case: str
) -> None:
    file, change = BROKEN[case]
    place = received("place", file, **({"text": change} if isinstance(change, str) else change))
    with pytest.raises(ValueError, match="must"):
        api.open_run(place)
    assert runs([str(place)]) == 0
    assert plot([str(place), str(tmp_path / "good"), "output=both"]) == 2
    assert "Traceback" not in "".join(capsys.readouterr())


@pytest.mark.parametrize("names", [["../joined"], ["../good"] * 5000, "[" * 10**5], ids=["circle", "often", "nested"])
def test_joined_folders_are_single_runs_each_once(
    received: Callable, tmp_path: Path, capsys: pytest.CaptureFixture, names: Any
) -> None:
    place = tmp_path / "joined"
    place.mkdir()
    (place / "joined.json").write_text(names if isinstance(names, str) else json.dumps({"runs": names}))
    if names[0] == "../good":
        assert len(api.open_run(place).runs) == 1
        assert plot([str(place)]) == 0
        return
    with pytest.raises(ValueError, match=r"joined\.json must"):
        api.open_run(place)
    assert plot([str(place)]) == 2
    assert "joined.json must" in capsys.readouterr().err
