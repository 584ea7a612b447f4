"""Handing jobs to the launchers of Hydra, and taking them up in the processes that these start."""

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from hydra.core.global_hydra import GlobalHydra
from hydra.core.plugins import Plugins
from hydra.types import HydraContext
from omegaconf import DictConfig, open_dict

from experiments.contract import ROOT, InputError
from experiments.runner import compose
from experiments.runner.configuration import composed
from experiments.runner.hydra_internals import Callbacks
from experiments.runner.job import Job
from experiments.runner.words import quote

WORDS = "job_words"
"""Key of the configuration that a launcher hands on."""


def launcher(job: Job) -> str:
    """Name of the Hydra launcher that a job's words choose, within a `session`. The default is "basic".

    Raises:
        InputError: they choose a sweeper, too; the combinations are always made here.
    """
    chosen = composed(job.words).hydra.runtime.choices
    if chosen["hydra/sweeper"] != "basic":
        raise InputError(f"hydra/sweeper must be basic, got {chosen['hydra/sweeper']}")
    return str(chosen["hydra/launcher"])


def launch(jobs: Sequence[Job], task: Callable[[Any], None]) -> None:
    """Give jobs to the Hydra launcher that their words choose, within a `session`, and wait for all of them.

    Args:
        jobs: what `jobs` returned.
        task: called with the composed configuration of a job, in whatever process the launcher chooses.

    Raises:
        Exception: whatever the first job that failed has raised.
    """
    config = composed(jobs[0].words)
    with open_dict(config):
        config.hydra.mode = "MULTIRUN"
        config.hydra.sweep.dir = os.path.abspath(config.hydra.sweep.dir)
    context = HydraContext(config_loader=GlobalHydra.instance().config_loader(), callbacks=Callbacks(config))
    chosen = Plugins.instance().instantiate_launcher(hydra_context=context, task_function=task, config=config)
    words = [[f"conf={job.conf}", f"+{WORDS}={quote(_packed(job))}"] for job in jobs]
    try:
        with _importable():
            for result in chosen.launch(words, initial_job_idx=0):
                _ = result.return_value
    finally:
        with contextlib.suppress(OSError):  # launchers make this folder and most leave it empty
            Path(config.hydra.sweep.dir).rmdir()


@contextlib.contextmanager
def _importable() -> Iterator[None]:
    """`experiments` by its name in processes that launchers start, for the length of a block: the wheel hides it."""
    known = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), known)))
    sys.path.insert(0, str(ROOT))
    try:
        yield
    finally:
        sys.path.remove(str(ROOT))
        os.environ.pop("PYTHONPATH")
        if known is not None:
            os.environ["PYTHONPATH"] = known


def received_job(config: DictConfig) -> Job:
    """The job that a launcher has handed to this process."""
    return compose.jobs(json.loads(config[WORDS]), sweep=False)[0]


def _packed(job: Job) -> str:
    """Words of a job for the process that carries it out, in one text, which Hydra hands on as it is."""
    kept = (word for word in job.words if not word.startswith(("output=", "hydra")))
    return json.dumps([*kept, f"output={quote(str(job.directory))}"])
