"""The command behind its flags: options printed, runs forecast, carried out or handed to launchers."""

import contextlib
import os
import sys
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import hydra

from experiments.contract import ROOT
from experiments.runner import compose, execute, launching, planning, registry, session
from experiments.system import terminal

_USUAL = {
    "jax_debug_nans": False,
    "jax_debug_infs": False,
    "jax_numpy_dtype_promotion": "standard",
    "jax_transfer_guard": None,
}
"""Settings of JAX that check programs, as they are unless a person has asked for more."""
_OFF = ("", "0", "false", "off", "standard", "allow")


def carry_out(words: Sequence[str], flags: Collection[str], folder: Path | None) -> int:
    """Do what a command line asks for. Returns the exit code.

    Args:
        words: its overrides.
        flags: any of "show" for `--cfg job` and "sweep" for `-m`.
        folder: holds further choices of `conf=` and experiments.
    """
    with registry.including(folder), session.opened(folder), usual_jax():
        jobs = compose.jobs(words, sweep="sweep" in flags)
        if "show" in flags:
            terminal.tell(*"\n---\n".join(job.yaml().rstrip() for job in jobs).split("\n"))
            return 0
        plans = [planning.plan(job) for job in jobs]
        if "sweep" in flags:
            from experiments.runner import sweeps  # Matplotlib

            sweeps.targets(jobs)
        basic = launching.launcher(jobs[0]) == "basic"
        if any(job.config.dry for job in jobs):
            terminal.tell(*(planning.forecast(plan) for plan in plans))
            return 0
        if basic:
            execute.run(plans)
        else:
            launching.launch(jobs, execute.run_launched)
        if "sweep" in flags:
            from experiments.runner import sweeps

            terminal.tell(*(f"sweep: {joined / 'report.html'}" for joined in sweeps.join_sweep(jobs)))
    return 0


def hydra_command(argv: Sequence[str]) -> int:
    """Hand the words to Hydra's own command line, for its shell completion and its help. Returns the exit code."""
    session.register()
    before, sys.argv = sys.argv, ["hopfield", *argv]
    try:
        hydra.main(version_base="1.3", config_path=str(ROOT), config_name=session.PRIMARY)(execute.run_launched)()
    except SystemExit as error:
        return int(error.code or 0)
    finally:
        sys.argv = before
    return 0


@contextlib.contextmanager
def usual_jax() -> Iterator[None]:
    """JAX without the checks that a person has asked it for: a NaN is an answer here, and numbers of all types mix."""
    asked = {name: os.environ.pop(name.upper()) for name in _USUAL if name.upper() in os.environ}
    before = {name: getattr(sys.modules["jax"].config, name) for name in _USUAL} if "jax" in sys.modules else {}
    if changed := [
        name.upper()
        for name in _USUAL
        if asked.get(name, "0").lower() not in _OFF or before.get(name, _USUAL[name]) != _USUAL[name]
    ]:
        terminal.say(f"{', '.join(changed)} is left out while measuring: NaN is an answer here")
    for name in before:
        sys.modules["jax"].config.update(name, _USUAL[name])
    try:
        yield
    finally:
        os.environ.update({name.upper(): value for name, value in asked.items()})
        for name, value in before.items():
            sys.modules["jax"].config.update(name, value)
