"""The command: `python -m experiments.run conf=capacity [key=value ...] [-m]`. `--help` describes the rest."""

import contextlib
import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import hydra

from experiments.contract import ROOT, InputError
from experiments.runner import boundary, compose, help, launching, registry, session
from experiments.system import files
from experiments.system.versions import version

_FLAGS = {"-m": "sweep", "--multirun": "sweep", "-h": "help", "--help": "help", "--version": "version"}
_UNREADABLE = re.compile(r"(?!['\"\[{])(?!.*\$\{)[^,]*([=~()!#&;<>^'\"`\]\x00-\x1f]|[^\x00-\x7f])[^,]*", re.DOTALL)
"""Paths that Hydra takes only in quotes; not lists, mappings, interpolations and sweeps, which are left to it."""
_HYDRAS = ("--hydra-help", "--info", "-i", "--shell-completion", "-sc")


_USUAL = {
    "jax_debug_nans": False,
    "jax_debug_infs": False,
    "jax_numpy_dtype_promotion": "standard",
    "jax_transfer_guard": None,
}
"""Settings of JAX that check programs, as they are unless a person has asked for more."""
_OFF = ("", "0", "false", "off", "standard", "allow")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command on the given words, by default the command line's.

    Returns:
        0 if all went well, 1 if a run had to stop, 2 for input that cannot be run, 130 after Ctrl-C, 143
        after SIGTERM.
    """
    return boundary.run_command(lambda: _command(sys.argv[1:] if argv is None else list(argv)))


def process() -> int:
    """Run the command line of this process, which ends with the exit code returned."""
    return boundary.run_command(lambda: _command(sys.argv[1:]), final=True)


def _command(argv: Sequence[str]) -> int:
    if set(_HYDRAS) & set(argv):
        return _hydra(argv)
    words, flags = split(argv)
    if "version" in flags:
        print(f"hopfield {version('hopfield')}")
        return 0
    folder = Path(flags["folder"]) if "folder" in flags else None
    with registry.outside(folder), session.opened(folder), _usual_jax():
        if "help" in flags:
            print(help.text(words))
            return 0
        jobs = compose.jobs(words, sweep="sweep" in flags)
        if "show" in flags:
            print("\n---\n".join(job.yaml().rstrip() for job in jobs))
            return 0
        planning, execute = registry.planning(), registry.execution()
        plans = [planning.plan(job) for job in jobs]
        if "sweep" in flags:
            registry.sweeps().targets(jobs)
        basic = launching.launcher(jobs[0]) == "basic"
        if any(job.config.dry for job in jobs):
            print("\n".join(planning.forecast(plan) for plan in plans))
            return 0
        if basic:
            execute.run(plans)
        else:
            launching.launch(jobs, execute.run_launched)
        for folder in registry.sweeps().join_sweep(jobs) if "sweep" in flags else ():
            print(f"sweep: {folder / 'report.html'}")
    return 0


@contextlib.contextmanager
def _usual_jax() -> Iterator[None]:
    """JAX without the checks that a person has asked it for: a NaN is an answer here, and numbers of all types mix."""
    asked = {name: os.environ.pop(name.upper()) for name in _USUAL if name.upper() in os.environ}
    before = {name: getattr(sys.modules["jax"].config, name) for name in _USUAL} if "jax" in sys.modules else {}
    if changed := [
        name.upper()
        for name in _USUAL
        if asked.get(name, "0").lower() not in _OFF or before.get(name, _USUAL[name]) != _USUAL[name]
    ]:
        files.say(f"{', '.join(changed)} is left out while measuring: NaN is an answer here")
    for name in before:
        sys.modules["jax"].config.update(name, _USUAL[name])
    try:
        yield
    finally:
        os.environ.update({name.upper(): value for name, value in asked.items()})
        for name, value in before.items():
            sys.modules["jax"].config.update(name, value)


def split(argv: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Overrides and flags of a command line, in any order. `--key=value` is read as the override `key=value`.

    Raises:
        InputError: a word with a leading dash is no flag.
    """
    flags: dict[str, str] = {}
    words: list[str] = []
    rest = iter(argv)
    for word in rest:
        name, equals, value = word.partition("=")
        if name == "--config-dir":
            folder = Path(value if equals else next(rest, "")).absolute()
            if not (folder / "conf").is_dir():
                raise InputError(f"--config-dir must name a folder that holds a folder conf, got {folder}")
            flags["folder"] = str(folder)
        elif name in ("-c", "--cfg"):
            if (value if equals else next(rest, "")) != "job":
                raise InputError("--cfg must be followed by job, as in --cfg job")
            flags["show"] = "job"
        elif word in _FLAGS:
            flags[_FLAGS[word]] = word
        elif word.startswith("-") and not (word.startswith("--") and equals):
            known = "-m, --help, --cfg job, --config-dir DIR, --version"
            raise InputError(f"{word} must be one of the flags {known}; options are written key=value")
        elif (own := _user_experiment_folder(word.removeprefix("--"))) is not None:
            flags["folder"] = str(own)
            words.append(f"conf={own.name}")
        else:
            words.append(_override(word.removeprefix("--")))
    return words, flags


def _user_experiment_folder(word: str) -> Path | None:
    """The folder of a user-defined experiment that `conf=./folder` names, None for any other word."""
    key, _, value = word.partition("=")
    folder = Path(os.path.expanduser(value)).absolute()
    return folder if key == "conf" and os.sep in value and (folder / "conf").is_dir() else None


def _override(word: str) -> str:
    """An override as Hydra reads it: Python's None is null, an output may hold any sign, a name of an entry a colon.

    `per_memory.dense:3.loads=[0.1]` sets or adds the entry: Hydra takes no colon in a key, but one in a mapping.
    """
    key, _, value = word.partition("=")
    entry = re.fullmatch(r"[+]{0,2}(\w+)\.(\w+):([\w.]+)\.(\w+)", key)
    if entry:
        group, name, parameter, option = entry.groups()
        return f"+{group}={{{name}\\:{parameter}:{{{option}:{'null' if value == 'None' else value}}}}}"
    if value == "None":
        return f"{key}=null"
    if key == "conf":
        return word.removesuffix(".yaml")
    if key == "output" and _UNREADABLE.fullmatch(value):
        return f"output={launching.quote(value)}"
    return word


def _hydra(argv: Sequence[str]) -> int:
    """Hand the words to Hydra's own command line, for its shell completion and its help."""
    session.register()
    launched = registry.execution().run_launched
    before, sys.argv = sys.argv, ["hopfield", *argv]
    try:
        hydra.main(version_base="1.3", config_path=str(ROOT), config_name=session.PRIMARY)(launched)()
    except SystemExit as error:
        return int(error.code or 0)
    finally:
        sys.argv = before
    return 0


if __name__ == "__main__":
    sys.exit(process())
