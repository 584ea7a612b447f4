"""Experiments as functions: what the command measures, from Python, with a folder or without.

The same engine: options are composed to the same configuration, refused by the same sentences, measured by the same
programs and read from the same table. A memory may be a function, which is named by its `__qualname__` and hashed by
its source.
"""

import contextlib
import dataclasses
import enum
import html
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import pandas
from matplotlib.figure import Figure

from experiments import contract
from experiments.contract import InputError, Table
from experiments.figures import report, saving, style
from experiments.figures.headlines import in_words
from experiments.figures.panel import Panel
from experiments.runner import compose, execute, folders, planning, pooling, registry, results, session, sweeps
from experiments.runner.words import quote, split
from experiments.shared.memories import answering
from experiments.system import terminal
from hopfield import memories, outside

KINDS = {"memory": "memories", "separation": "separations", "corruption": "corruptions"}
"""Kinds of objects from outside the package, by the `meaning` of the option that names them."""
LOADS = ("memory", "dynamics", "corruption", "ensemble", "neurons", "criterion", "load", "stderr", "theory", "limit")
"""Columns of `Run.critical_load`."""
_PLAIN = re.compile(r"(?!(null|true|false|nan|inf|none)$)[A-Za-z][\w.+-]*(:[\w.+-]+)?", re.IGNORECASE)


class Run:
    """Results of a measurement.

    Attributes:
        conf: the choice of `conf=` that was measured.
        folder: where they lie; None if they were measured without a folder.
        table: the rows, a DataFrame.
        summary: what summary.json holds, a dict.
    """

    def __init__(self, conf: str, experiment: ModuleType, place: Path, look: contract.Figure, *, kept: bool) -> None:
        self.conf = conf
        self.folder = place if kept else None
        self.table, self.summary = results.read(place, experiment)
        self._experiment, self._look = experiment, look

    @property
    def critical_load(self) -> Table:
        """Critical loads of every curve and criterion, with errors, theory at that size and theory for N → ∞."""
        if "critical_load" not in self.summary:
            raise AttributeError(
                f"conf={self.conf} measures no critical load; its summary has {', '.join(self.summary)}"
            )
        found = self.summary["critical_load"]
        return pandas.DataFrame(found, columns=[name for name in LOADS if not found or name in found[0]])

    @property
    def curves(self) -> Table:
        """Shares of queries that pass each criterion, with errors over samples, along the load."""
        if not hasattr(self._experiment, "shares"):
            raise AttributeError(f"conf={self.conf} has no curves of shares; its table has every row")
        return self._experiment.shares(self.table)

    def plot(self) -> Figure:
        """The figure, of Matplotlib, which may be changed and saved."""
        return self._drawn()[1]

    def _drawn(self) -> tuple[Sequence[Panel], Figure]:
        with style.style(self._look.style), answering(self.summary.get(results.MEMORIES, {})):
            return saving.build_figure(self._experiment.panels, self.table, self.summary, self._look)

    def _repr_html_(self) -> str:
        """The report, whose panels can be zoomed and asked for their numbers, as notebooks show it."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / report.NAME
            story = report.Story(self.conf, self.conf, *results.description(self._experiment))
            with style.style(self._look.style):
                report.write(path, story, self._drawn()[0], self.table, self.summary, self._experiment.X_AXIS)
            page, title = html.escape(path.read_text(encoding="utf-8")), html.escape(self.conf)
        return f'<iframe srcdoc="{page}" title="{title}" style="width:100%;height:44em;border:0"></iframe>'

    def __repr__(self) -> str:
        place = f", {self.folder}" if self.folder is not None else ""
        lines = [f"Run of conf={self.conf}: {len(self.table)} rows{place}"]
        return "\n".join(map(terminal.printable, [*lines, *(f"    {line}" for line in in_words(self.summary))]))


class Sweep:
    """Results of several runs, as a sweep or `hopfield plot` joins them: frames of a run, with the options that differ.

    Attributes:
        folder: where they lie.
        runs: each run.
    """

    def __init__(self, place: Path, members: Sequence[Path]) -> None:
        self.folder = place
        self.runs = [_opened(member) for member in members]
        found = pooling.read(members)
        names = pooling.differing(found)
        self._options = [{name: pooling.value(run, name) for name in names} for run in found]

    @property
    def table(self) -> Table:
        """The rows of all runs."""
        return self._joined("table")

    @property
    def curves(self) -> Table:
        """`Run.curves` of all runs."""
        return self._joined("curves")

    @property
    def critical_load(self) -> Table:
        """`Run.critical_load` of all runs."""
        return self._joined("critical_load")

    def _joined(self, name: str) -> Table:
        frames = [getattr(run, name).assign(**each) for run, each in zip(self.runs, self._options, strict=True)]
        return pandas.concat(frames, ignore_index=True)


def capacity(memory: Any, **options: Any) -> Run:
    """Capacity of a memory: `measure("capacity", memories=[memory], ...)`."""
    return measure("capacity", memories=[memory], **options)


def measure(name: str, *, output: str | Path | None = None, **options: Any) -> Run:
    """Results of an experiment.

    Args:
        name: a choice of `conf=`, or a folder `./mine` with an experiment of your own.
        output: folder of the results, as the command leaves them: the same call goes on where it was stopped. Without
            one, nothing is left behind.
        options: those of `conf=name --help`; a group or mapping as a dict.

    Raises:
        ValueError: an option is none, or has a value that it cannot have; one sentence.
        RuntimeError: the run had to stop; the message says how far it came.
    """
    words, flags = split([f"conf={name}"])
    home = Path(flags["folder"]) if "folder" in flags else None
    with contextlib.ExitStack() as stack:
        place = stack.enter_context(tempfile.TemporaryDirectory(prefix="hopfield-")) if output is None else output
        stack.enter_context(registry.including(home))
        stack.enter_context(session.opened(home))
        conf = words[0].removeprefix("conf=")
        words += [f"output={quote(str(place))}", *_words(conf, options)]
        job = compose.jobs(words, sweep=False)[0]
        call = _call(name, options, output)
        job = dataclasses.replace(job, call=call, kept=output is not None)
        if job.config.dry:
            raise InputError(f"dry must be false in Python, got true; hopfield conf={conf} dry=true tells the cost")
        plan = planning.plan(job)
        execute.run([plan])
        return Run(conf, plan.experiment, job.directory, job.config.figure, kept=job.kept)


def open_run(folder: str | Path, *, home: str | Path | None = None) -> Any:
    """Results that a folder holds, measured by the command or from Python: a `Run`, or the `Sweep` that it joins.

    Args:
        folder: the folder, which is data: no code that it names is run.
        home: the folder of a user-defined experiment, whose code reads and draws its runs.

    Raises:
        ValueError: it holds the results of no finished run, or of an experiment that is not there.
    """
    place, own = _path("folder", folder), None if home is None else _path("home", home)
    with registry.including(own), results.damage_told(str(place)):
        members = sweeps.members(place)
        return Sweep(place, members) if members else _opened(place)


def _opened(place: Path) -> Run:
    """The run of a folder."""
    record = folders.read(place)
    if record is None or not record.complete:
        raise InputError(f"folder must hold the results of a finished run, got {place}")
    experiment = registry.load(registry.known(record.experiment, place))
    return Run(record.conf, experiment, place, results.look(place), kept=True)


def _path(name: str, value: Any) -> Path:
    """Absolute path of an argument that names a folder; ValueError for a value that is no path."""
    if not isinstance(value, str | os.PathLike) or isinstance(os.fspath(value), bytes):
        raise InputError(f"{name} must be the path of a folder, got {value!r}")
    return Path(value).expanduser().absolute()


def _words(conf: str, options: Mapping[str, Any]) -> Iterator[str]:
    """Options as words of the command line, within a session."""
    usual = session.usual(conf) if conf in session.choices() else None
    for key, value in {"wandb": {"mode": "disabled"}, **options}.items():
        held = getattr(usual, key, None)
        if isinstance(value, Mapping) and dataclasses.is_dataclass(held):
            yield from (f"{key}.{name}={_spelled(key, part, usual)}" for name, part in value.items())
        elif isinstance(value, Mapping) and value and isinstance(held, dict):
            yield f"+{key}={_spelled(key, value, usual)}"
        else:
            yield f"{key}={_spelled(key, value, usual)}"


def _spelled(key: str, value: Any, usual: Any) -> str:
    """A value as Hydra reads it."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        name = lambda part: re.sub(r"([\\()\[\]{}:=, \t])", r"\\\1", str(part))
        return "{" + ",".join(f"{name(part)}:{_spelled(key, entry, usual)}" for part, entry in value.items()) + "}"
    if isinstance(value, Sequence | set | frozenset) and not isinstance(value, str):
        return "[" + ",".join(_spelled(key, part, usual) for part in value) + "]"
    text = value.name if isinstance(value, enum.Enum) else _named(key, value, usual)
    return text if _PLAIN.fullmatch(text) else quote(text)


def _named(key: str, value: Any, usual: Any) -> str:
    """The name of an object, which it is found by from now on: of a function, of a memory there is, of a file."""
    if isinstance(value, str | Path | memories.Blueprint):
        return value.spec if isinstance(value, memories.Blueprint) else str(value)
    about = {field.name: field.metadata for field in dataclasses.fields(usual)} if usual is not None else {}
    bounds = about.get(key, {}).get("bounds")
    kind = KINDS.get(bounds.meaning) if bounds is not None else None
    if kind is None or not callable(value):
        allowed = "a function of patterns, or a name" if kind else "numbers, texts, lists or dicts"
        raise InputError(f"{key} must be {allowed}, got {type(value).__name__}")
    name, changed = outside.offer(kind, value)
    if kind == "memories" and name in memories.names():
        raise InputError(f"{key} must not have the name of a published memory, got a function {name}")
    if changed:
        _forget()
    return name


def _forget() -> None:
    """Forget what was compiled or kept by name: a function of that name has other contents now."""
    jax.clear_caches()
    for module in [module for name, module in sys.modules.items() if name.startswith("experiments.")]:
        for value in vars(module).values():
            if callable(clear := getattr(value, "cache_clear", None)):
                clear()


def _call(name: str, options: Mapping[str, Any], output: Any) -> str:
    """The call that measures this again."""
    shown = lambda value: (
        f"[{', '.join(map(shown, value))}]"
        if isinstance(value, list | tuple)
        else getattr(value, "__qualname__", None) or repr(value.tolist() if hasattr(value, "tolist") else value)
    )
    given = {**options} if output is None else {**options, "output": str(output)}
    return f"hopfield.measure({', '.join([repr(name), *(f'{key}={shown(each)}' for key, each in given.items())])})"
