"""Every published configuration runs, at smoke scale; they are found by their files."""

import dataclasses
from pathlib import Path
from typing import Any

import pandas
import pytest
from omegaconf import OmegaConf

from experiments import contract
from experiments.run import main
from experiments.runner import budget, compose, registry, session
from experiments.runner.job import Job
from experiments.shared import files

CONFS = sorted(path.stem for path in (contract.ROOT / "conf").glob("*.yaml"))
FEW = 2
"""Entries that are left of a list of numbers at smoke scale, and the most that a number may be which has no default."""
LONG = 10
"""Seconds that a run may take, compiling aside."""

pytestmark = [pytest.mark.exhaustive, pytest.mark.usefixtures("as_run")]


def shrunk(value: Any, default: Any, three: bool = False) -> Any:
    """An option at smoke scale: no number above its default, FEW numbers in a list, of its words all or three.

    The first, the middle and the last, as words that are alike stand side by side: what another option needs, one has.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = {entry.name for entry in dataclasses.fields(value)} - {"seed", "wandb", "output"}
        return dataclasses.replace(
            value, **{n: shrunk(getattr(value, n), getattr(default, n, None), three) for n in names}
        )
    if isinstance(value, dict):
        found = default if isinstance(default, dict) else {}
        return {key: shrunk(part, found.get(key), three) for key, part in value.items()}
    if isinstance(value, list):
        if not all(type(part) in (int, float) for part in value):
            return [value[0], *value[1:-1][len(value) // 2 - 1 :][:1], *value[1:][-1:]] if value and three else value
        usual = default if isinstance(default, list) and len(default) == len(value) else [None] * len(value)
        kept = [shrunk(part, other) if other is not None else part for part, other in zip(value, usual, strict=True)]
        return kept[:FEW]
    if type(value) is int:
        return min(value, default if type(default) is int and default > 0 else FEW)
    return value


@pytest.fixture(scope="module")
def published() -> dict[str, Job]:
    with session.opened():
        return {conf: compose.jobs([f"conf={conf}"], sweep=False)[0] for conf in CONFS}


@pytest.mark.parametrize("conf", CONFS)
def test_every_published_configuration_runs(published: dict[str, Job], tmp_path: Path, conf: str) -> None:
    """To its figure, with few and small numbers and all of its words; or two of each, where all take long."""
    job = published[conf]
    experiment, usual = registry.load(job.experiment), registry.options(job.experiment)()
    small = shrunk(job.config, usual)
    if len(experiment.points(small)) > 1000 or budget.seconds(experiment.cost(small)) > LONG:
        small = shrunk(job.config, usual, three=True)
    text = OmegaConf.to_yaml(files.options(small))
    folder = tmp_path / "given" / "conf"
    folder.mkdir(parents=True)
    (folder / "small.yaml").write_text(
        f"# @package _global_\n# {conf}, small.\ndefaults:\n  - /schema/{job.experiment}\n  - _self_\n\n{text}"
    )
    words = ["--config-dir", str(folder.parent), "conf=small", f"output={tmp_path / 'run'}", "wandb.mode=disabled"]
    assert main(words) == 0
    assert len(pandas.read_csv(tmp_path / "run" / "table.csv")) >= len(experiment.points(small))
    assert (tmp_path / "run" / "figure.svg").stat().st_size > 1000
