"""User-defined configuration files: they work without a magic line, and a mistake in one is given with its line."""

import itertools
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from experiments.run import main

HEAD = "defaults:\n  - /schema/worked_examples\n  - _self_\n"
LAYERS = (f"{x}: &{x} [{','.join([f'*{y}'] * 10)}]\n" for y, x in itertools.pairwise("abcdef"))
MISTAKES = {
    "bracket": (HEAD + "seed: [3\nexamples: 2\n", r"{} line 5 must be YAML, got: expected ',' or '\]', but got ':'"),
    "tab": (HEAD + "wandb:\n\tmode: offline\n", r"{} line 5 must be YAML, got: found character '\\t' that cannot .*"),
    "twice": (HEAD + "seed: 3\nseed: 4\n", "{} line 5 must give every key once, got seed again"),
    "latin": (HEAD.encode() + b"seed: 3\nwandb: \xe9\n", "{} line 5 must be text in UTF-8, got the byte 0xe9"),
    "tag": (HEAD + "seed: !!python/object/apply:os.mkdir [bad]\n", "{} line 4 must hold plain values, got the tag .*"),
    "bomb": (
        "a: &a [1, 1]\n" + "".join(LAYERS),
        "{} line 6 must hold at most 100000 entries, got 3.11e[+]05 with its aliases",
    ),
    "itself": ("seed: &x [*x]\n", "{} line 1 must not contain itself"),
    "selfish": ("defaults:\n  - selfish\n  - _self_\n", "{} must not come back to itself through its defaults"),
    "nobody": ("seed: 3\n", r"conf=nobody must name its experiment, as in .* \({} line 1\)"),
    "empty": ("", r"conf=empty must name its experiment, as in .* \({} line 1\)"),
    "list": ("- 1\n", "{} line 1 must hold options as key: value, got something else"),
    "two": (
        "seed: 3\ndefaults: [/schema/capacity, /schema/training, _self_]\n",
        r"conf=two must name one experiment in its defaults, got capacity and training \({} line 2\)",
    ),
    "added": (
        "defaults: [capacity, /schema/training, _self_]\n",
        r"conf=added must name one experiment in its defaults, got capacity and training \({} line 1\)",
    ),
    "schema": (HEAD.replace("worked_examples", "workd"), "schema must be one of .*basins, .*, got workd.*"),
    "silenced": (
        "defaults:\n  - _self_\n  - /schema/worked_examples\nseed: 3\n",
        "{} line 3 must come before _self_, or it overrides this file's values, got /schema/worked_examples",
    ),
    "defaults": ("defaults: 3\n", "{} must be a configuration, got: .*"),
    "deep": ("seed: " + "[" * 2000 + "]" * 2000, "{} line 1 must not be nested so deeply"),
    "large": ("#" * 2**21, "{} must have at most 1 MiB, got 2097152 bytes"),
    "octal": (HEAD + "seed: 010\n", "{} line 4 must write numbers without .*underscores, got 010"),
    "sixty": (HEAD + "seed: 1:30\n", "{} line 4 must write numbers without .*underscores, got 1:30"),
    "underscore": (HEAD + "seed: 1_0\n", "{} line 4 must write numbers without .*underscores, got 1_0"),
    "nameless": (HEAD + "null: 3\n", "{} line 4 must have names as keys, got null"),
    "nul": ("seed: 3\0\n", "{} line 1 must be YAML, got: unacceptable character .*"),
    "unknown": (HEAD + "exampels: [attention]\n", r"exampels is not .*; did you mean examples\? \({} line 4\)"),
    "kind": (HEAD + "\nexamples: [attention, [x]]\n", r"examples.* \({} line 5\)"),
    "hydra": (
        HEAD + "hydra: {launcher: {n_jobs: 2}, sweeper: {params: {seed: '5,6'}}}\n",
        "{} line 4 must have hydra.sweeper left out: of Hydra's own options .*",
    ),
    "job": (HEAD + "hydra:\n  job:\n    name: mine\n", "{} line 5 must have hydra.job left out: of Hydra.*"),
    "beside": (
        "defaults: [/schema/capacity, _self_]\nloads: [0.3]\nper_memory:\n  modern: {loads: [0.4]}\n",
        "{} line 4 must give loads or per_memory.modern.loads, which it would silence",
    ),
    "range": (HEAD + "documents:\n  - guide\nseed: -1\n", r"seed must lie in \[0, 2\^32\), got -1 \({} line 6\)"),
}  # fmt: skip


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable:
    """The command in an empty folder, with choices from a folder that holds one file."""
    monkeypatch.setenv("WANDB_MODE", "disabled")
    (tmp_path / "own/conf").mkdir(parents=True)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")

    def command(*words: str) -> tuple[int, str, str]:
        code = main(["--config-dir", str(tmp_path / "own"), *words])
        assert list((tmp_path / "work").iterdir()) == []
        out, err = capsys.readouterr()
        return code, out, err

    return command


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_in_a_file_is_told_with_its_place(run: Callable, tmp_path: Path, name: str) -> None:
    text, sentence = MISTAKES[name]
    path = tmp_path / f"own/conf/{name}.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    code, out, err = run(f"conf={name}", "dry=true")
    assert (code, out) == (2, "")
    assert re.fullmatch(f"error: {sentence.replace('{}', re.escape(str(path)))}\n", err), err


WRONG_KINDS = {
    "memories: classical": "memories must be a list of strings, got classical; did you mean memories=[classical]?",
    "memories: {a: 1}": "memories must be a list of strings, got {'a': 1}",
    "memories: null": "memories must be a list of strings, got null",
    "memories: ${seed}": "memories must be a list of strings, got 0",
    "neurons: 64": "neurons must be a list of integers or null, got 64; did you mean neurons=[64]?",
    "neurons: [x]": "neurons[0] must be an integer, got x",
    "seed: [3]": "seed must be an integer, got [3]",
    "seed: {a: 3}": "seed must be an integer, got {'a': 3}",
    "seed: x": "seed must be an integer, got x",
    "clamp: [true]": "clamp must be true or false, got [True]",
    "parity: [odd]": "parity must be one of odd, even, any or null, got ['odd']",
    "output: {a: b}": "output must be a string or null, got {'a': 'b'}",
    "per_memory: 3": "per_memory must be a mapping, got 3",
    "per_memory: [3]": "per_memory must be a mapping, got [3]",
    "per_memory: null": "per_memory must be a mapping, got null",
    "per_memory: {modern: {loads: 0.1}}": "per_memory.modern.loads must be a list of numbers or null, got 0.1; "
    "did you mean per_memory.modern.loads=[0.1]?",
    "wandb: [3]": "wandb must be a group of options (mode, project, entity, group, name, tags, init_timeout, "
    "finish_timeout), got [3]",
    "wandb: {tags: a}": "wandb.tags must be a list of strings, got a; did you mean wandb.tags=[a]?",
}


@pytest.mark.parametrize("line", WRONG_KINDS)
def test_a_value_of_another_kind_is_told_alike_in_file_and_word(run: Callable, tmp_path: Path, line: str) -> None:
    path, head = tmp_path / "own/conf/mine.yaml", "defaults: [/schema/capacity, _self_]\n"
    path.write_text(head)
    assert run("conf=mine", line.replace(": ", "=", 1).replace(": ", ":"))[2] == f"error: {WRONG_KINDS[line]}\n"
    path.write_text(f"{head}{line}\n")
    code, out, err = run("conf=mine")
    assert (code, out, err) == (2, "", f"error: {WRONG_KINDS[line]} ({path} line 2)\n")


@pytest.mark.parametrize(("common", "own"), [("0.3", "null"), ("null", "0.4")])
def test_a_number_that_is_null_is_none_and_silences_nothing(
    run: Callable, tmp_path: Path, common: str, own: str
) -> None:
    """As in a file of all options, where one memory has a number of its own and the other has none."""
    text = f"defaults: [/schema/capacity, _self_]\nbeta: {common}\nmemories: [modern]\nneurons: [16]\nloads: [0.2]\n"
    (tmp_path / "own/conf/mine.yaml").write_text(f"{text}per_memory:\n  modern: {{beta: {own}}}\n")
    code, out, err = run("conf=mine", "--cfg", "job")
    assert (code, err) == (0, "")
    assert f"\nbeta: {common}\n" in out
    assert f"\n    beta: {own}\n" in out


def test_what_a_file_leaves_idle_of_another_one_is_no_mistake(run: Callable, tmp_path: Path) -> None:
    path = tmp_path / "own/conf/mine.yaml"
    path.write_text("defaults: [capacity, _self_]\nmemories: [modern]\n")
    code, out, err = run("conf=mine", "dry=true")
    assert (code, err) == (0, "")
    assert out.startswith("mine: ")
    path.write_text("defaults: [capacity, _self_]\nmemories: [modern]\nper_memory:\n  'dense:3': {loads: [0.1]}\n")
    idle = "per_memory.dense:3.loads must belong to one of the memories measured, modern"
    assert run("conf=mine", "dry=true") == (2, "", f"error: {idle} ({path} line 4)\n")


@pytest.mark.parametrize("head", ["", "# A choice of my own.\n", "# @package _global_\n"])
def test_a_file_needs_no_magic_line(run: Callable, tmp_path: Path, head: str) -> None:
    (tmp_path / "own/conf/mine.yaml").write_text(f"{head}{HEAD}examples: [jacobian]\ndocuments: [guide]\n")
    assert run("conf=mine", "dry=true")[0] == 0
    assert "\nexamples:\n- jacobian\n" in run("conf=mine", "--cfg", "job")[1]
    assert "\nexamples:\n- attention\n" in run("conf=mine", "--cfg", "job", "examples=[attention]")[1]


def test_overrides_of_defaults_stand_after_the_files_own_values(run: Callable, tmp_path: Path) -> None:
    # Where Hydra wants them; they silence nothing.
    text = "defaults: [/schema/worked_examples, _self_, {override /hydra/launcher: basic}]\n"
    (tmp_path / "own/conf/mine.yaml").write_text(text)
    assert run("conf=mine", "dry=true")[0] == 0


@pytest.mark.parametrize("name", ["null", "None", "../conf/worked_examples", "/etc/passwd", "a/b", ".hidden", "pipe"])
def test_a_choice_is_a_name_and_no_path(run: Callable, tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / "own/conf/pipe.yaml")
    code, _, err = run(f"conf={name}")
    assert code == 2
    assert re.fullmatch(r"error: conf must be one of [^\n]+, got [^\n]+\n", err)


def test_help_survives_files_that_cannot_be_read(run: Callable, tmp_path: Path) -> None:
    (tmp_path / "own/conf/latin.yaml").write_bytes(b"# caf\xe9\n")
    os.mkfifo(tmp_path / "own/conf/pipe.yaml")
    code, out, _ = run("--help")
    assert code == 0
    assert "conf=latin" in out
