"""Every published configuration and every command that its header prints run, at smoke scale; files tell of them."""

import contextlib
import dataclasses
import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from omegaconf import OmegaConf

from experiments import contract
from experiments.run import main
from experiments.runner import budget, compose, idle, registry, session
from experiments.runner.job import Job
from experiments.runner.words import split
from experiments.system import files
from tests.experiments.smoke import few_draws

CONFS = sorted(path.stem for path in (contract.ROOT / "conf").glob("*.yaml"))
WORD = r"[a-z][\w.:]*=[^\s`]+"
"""A word that a header prints: an option with its value."""
FEW = 2
"""Entries that are left of a list of numbers at smoke scale, and the most that a number may be which has no default."""
LONG, MANY, KINDS = 10, 1000, 14
"""Seconds that a run may take, compiling aside, its points, and their combinations of words: each is compiled."""

pytestmark = pytest.mark.usefixtures("as_run")


def shrunk(value: Any, default: Any, words: int | None, even: bool, alike: bool) -> Any:
    """An option at smoke scale: no number above its default, FEW numbers in a list, of its words all, three or two.

    The first, the last and the middle, as words that are alike stand side by side: what another option needs, one has.
    Whole numbers of a list that is not as long as its default are lowered in proportion where `even`, or left. Where
    `alike`, a list has no more numbers than its default.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = {entry.name for entry in dataclasses.fields(value)} - {"seed", "wandb", "output"}
        parts = {n: shrunk(getattr(value, n), getattr(default, n, None), words, even, alike) for n in names}
        for entry in dataclasses.fields(value):
            listed = parts.get(entry.metadata.get("entries_of"))
            if listed is not None:
                parts[entry.name] = {name: part for name, part in parts[entry.name].items() if name in listed}
        return dataclasses.replace(value, **parts)
    if isinstance(value, dict):
        found = default if isinstance(default, dict) else {}
        return {key: shrunk(part, found.get(key), words, even, alike) for key, part in value.items()}
    if isinstance(value, list):
        if not all(type(part) in (int, float) for part in value):
            kept = {0, len(value) - 1, len(value) // 2} if words == 3 else {0, len(value) - 1}
            return [part for place, part in enumerate(value) if words is None or place in kept]
        if isinstance(default, list) and len(default) == len(value):
            return [shrunk(part, other, words, even, alike) for part, other in zip(value, default, strict=True)][:FEW]
        kept = value[: min(FEW, len(default) if default and alike else FEW)]
        return in_proportion(kept, max(default)) if even and default else kept
    if type(value) is int:
        return min(value, default if type(default) is int and default > 0 else FEW)
    return value


def in_proportion(values: list, most: float) -> list:
    """Numbers; whole ones, none above `most`, with differences where there were."""
    largest = max(values, default=0)
    if largest <= most or not all(type(value) is int for value in values):
        return values
    return [max(1, value * most // largest) if value > 0 else value for value in values]


def small(config: Any, experiment: Any, usual: Any, words: int | None) -> Any:
    """All options of a configuration at the least smoke scale at which they go together; None if there is none."""
    for alike, even in itertools.product((True, False), repeat=2):
        with contextlib.suppress(ValueError):
            found = shrunk(config, usual, words, even, alike)
            contract.check(experiment, found)
            if {*dict(idle.options(found, experiment))} <= {*dict(idle.options(config, experiment))}:
                return found
    return None


@pytest.fixture(scope="module", autouse=True)
def few() -> Iterator[None]:
    """Experiments without an option for draws measure few, too."""
    with pytest.MonkeyPatch.context() as patch:
        few_draws(patch)
        yield


def printed(conf: str) -> Iterator[str]:
    """Words that the header of a configuration prints after its own name or in backticks, and none at first."""
    lines = (contract.ROOT / "conf" / f"{conf}.yaml").read_text(encoding="utf-8").splitlines()
    header = " ".join(line.removeprefix("# ") for line in lines if line.startswith("#"))
    found = re.findall(rf"conf={conf}((?: {WORD})+)", header) + re.findall(rf"`((?:-m )?{WORD}(?: {WORD})*)`", header)
    yield from dict.fromkeys(["", *(words.strip(" .:;,") for words in found if "conf=" not in words)])


COMMANDS = [(conf, words) for conf in CONFS for words in printed(conf)]
every_command = pytest.mark.parametrize(("conf", "words"), COMMANDS, ids=[" ".join(each).strip() for each in COMMANDS])


@pytest.fixture
def files_of_headers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files that headers name, in the folder that commands start from."""
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(8, 8))
    np.save(tmp_path / "W.npy", weights + weights.T)
    bags = {"features": rng.normal(size=(60, 3)), "bag": np.repeat(np.arange(20), 3), "labels": np.arange(20) % 2}
    np.savez(tmp_path / "tiger.npz", train=np.tile(np.arange(20) // 2 % 5 != np.arange(5)[:, None], (5, 1, 1)), **bags)
    monkeypatch.chdir(tmp_path)


def composed(conf: str, words: str) -> Job:
    """The first job of a command that a header prints."""
    with session.opened():
        given = split([f"conf={conf}", *words.removeprefix("-m ").split()])[0]
        return compose.jobs(given, sweep=words.startswith("-m "))[0]


@every_command
def test_every_printed_command_is_one(files_of_headers: None, conf: str, words: str) -> None:
    """Options exist, may have the values and go together."""
    job = composed(conf, words)
    experiment = registry.load(job.experiment)
    contract.check(experiment, job.config)
    assert experiment.points(job.config)


def takes_long(experiment: Any, config: Any) -> bool:
    points = experiment.points(config)
    kinds = {tuple(word for word in point.values() if isinstance(word, str)) for point in points}
    return (
        len(points) > MANY or len(kinds) > KINDS or budget.seconds(experiment.cost(config)._replace(programs=0)) > LONG
    )


@pytest.mark.exhaustive
@every_command
def test_every_printed_command_runs(files_of_headers: None, tmp_path: Path, conf: str, words: str) -> None:
    """To its figure, with few and small numbers and all of its words; or three or two of each, where more take long."""
    job = composed(conf, words)
    job.config.dry = False
    experiment, usual = registry.load(job.experiment), registry.options(job.experiment)()
    scales = [scale for words in (None, 3, 2) if (scale := small(job.config, experiment, usual, words)) is not None]
    least = next((scale for scale in scales if not takes_long(experiment, scale)), scales[-1])
    idles = {path[0] for path in dict(idle.options(least, experiment))}  # a word has narrowed what a file sets
    text = OmegaConf.to_yaml({name: value for name, value in files.options(least).items() if name not in idles})
    folder = tmp_path / "given" / "conf"
    folder.mkdir(parents=True)
    (folder / "small.yaml").write_text(
        f"# @package _global_\n# {conf}, small.\ndefaults:\n  - /schema/{job.experiment}\n  - _self_\n\n{text}"
    )
    given = ["--config-dir", str(folder.parent), "conf=small", f"output={tmp_path / 'run'}", "wandb.mode=disabled"]
    assert main([*given, "figure.format=[svg]"]) == 0
    assert len(pandas.read_csv(tmp_path / "run" / "table.csv")) >= len(experiment.points(least))
    assert (tmp_path / "run" / "figure.svg").stat().st_size > 1000
