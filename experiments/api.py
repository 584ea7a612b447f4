"""Experiments as functions: what the command measures, from Python, with a folder or without.

The same engine: options are composed to the same configuration, refused by the same sentences, measured by the same
programs and read from the same table. A memory may be a function, which is named by its `__qualname__` and hashed
with all that it reads.
"""

import contextlib
import dataclasses
import enum
import html
import os
import tempfile
import threading
from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas
from matplotlib.figure import Figure

from experiments import contract
from experiments.contract import InputError, Table
from experiments.figures import report, saving, style
from experiments.figures.panel import Panel
from experiments.figures.sentences import sentences
from experiments.runner import compose, errors, execute, folders, planning, pooling, registry, results, session, sweeps
from experiments.runner.words import split
from experiments.shared.memories import answering
from experiments.system import terminal
from hopfield import memories, outside, separations
from hopfield.patterns.corruptions import CORRUPTIONS

KINDS = {"memory": "memories", "separation": "separations", "corruption": "corruptions"}
"""Kinds of objects from outside the package, by the `meaning` of the option that names them."""
PUBLISHED = {"memories": memories.names(), "separations": separations.NAMES, "corruptions": CORRUPTIONS}
"""Names that each kind of object has in the library, which a function given in Python does not take from them."""
_LOCK = threading.RLock()
"""Held by whoever measures, reads or draws: Hydra, JAX and Matplotlib are set for the whole process."""


class Run:
    """Results of a measurement.

    Attributes:
        conf: the choice of `conf=` that was measured.
        folder: where they lie; None if they were measured without a folder.
        table: the rows, a DataFrame.
        summary: its `contract.Summary`: estimates, lines of theory, notes, and what else the figure reads.
    """

    def __init__(self, conf: str, experiment: ModuleType, place: Path, look: contract.Figure, *, kept: bool) -> None:
        self.conf = conf
        self.folder = place if kept else None
        self.table, self.summary = results.read(place, experiment)
        self._experiment, self._look = experiment, look
        self._answers: Any = self.summary.more.get(results.MEMORIES, {})  # None where memories may be asked themselves

    @property
    def estimates(self) -> Table:
        """The numbers that it leads to, a row each, with error and theory: `contract.Summary` names the columns."""
        return self.summary.estimates

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
        asked = contextlib.nullcontext() if self._answers is None else answering(self._answers)
        with _LOCK, style.style(self._look.style), asked:
            return saving.build_figure(self._experiment.panels, self.table, self.summary, self._look)

    def _repr_html_(self) -> str:
        """The report, whose panels can be zoomed and asked for their numbers, as notebooks show it."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / report.NAME
            story = report.Story(self.conf, self.conf, *results.description(self._experiment))
            with _LOCK, style.style(self._look.style):
                report.write(path, story, self._drawn()[0], self.table, self.summary)
            page, title = html.escape(path.read_text(encoding="utf-8")), html.escape(self.conf)
        return f'<iframe srcdoc="{page}" title="{title}" style="width:100%;height:44em;border:0"></iframe>'

    def __repr__(self) -> str:
        place = f", {self.folder}" if self.folder is not None else ""
        lines = [f"Run of conf={self.conf}: {len(self.table)} rows{place}"]
        return "\n".join(map(terminal.printable, [*lines, *(f"    {line}" for line in sentences(self.estimates))]))


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
        self._options = [pooling.options(run, names) for run in found]

    @property
    def table(self) -> Table:
        """The rows of all runs."""
        return self._joined("table")

    @property
    def curves(self) -> Table:
        """`Run.curves` of all runs."""
        return self._joined("curves")

    @property
    def estimates(self) -> Table:
        """`Run.estimates` of all runs."""
        return self._joined("estimates")

    def _joined(self, name: str) -> Table:
        pairs = zip((getattr(run, name) for run in self.runs), self._options, strict=True)
        frames = [part.assign(**{key: each[key] for key in each if key not in part}) for part, each in pairs]
        return pandas.concat(frames, ignore_index=True)


def capacity(memory: Any, **options: Any) -> Run:
    """Critical loads of a memory and the curves they are read from: `measure("capacity", memories=[memory], ...)`.

    Args:
        memory: a function of patterns [M, N] with a keyword `mask` that returns a `Memory` or `Couplings`, or a name
            such as "dense:3", "./file.py:name" or what `find_memory` returns.
        options: those of `hopfield conf=capacity --help`, `neurons=[100, 200]`, `loads=[...]`, `samples=20` …;
            `output="folder"` keeps the results there, and goes on with what is measured already.

    Returns:
        The run: `critical_load` and `curves`, DataFrames with errors, `table`, `summary`, `plot()`.

    Raises:
        ValueError: an option that there is not, or a value that it cannot have.
    """
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
    conf, home = words[0].removeprefix("conf="), Path(flags["folder"]) if "folder" in flags else None
    with contextlib.ExitStack() as stack:
        stack.enter_context(_LOCK)
        place = stack.enter_context(tempfile.TemporaryDirectory(prefix="hopfield-")) if output is None else output
        stack.enter_context(registry.including(home))
        stack.enter_context(session.opened(home))
        schema = session.options_class_of(conf) or contract.Config
        given = {"wandb": {"mode": "disabled"}, **options, "output": place}
        made = compose.job(conf, {key: _plain(key, value, schema) for key, value in given.items()})
        job = dataclasses.replace(made, call=_call(name, options, output), kept=output is not None)
        if job.config.dry:
            raise InputError(f"dry must be false in Python, got true; hopfield conf={conf} dry=true tells the cost")
        plan = planning.plan(job)
        execute.run([plan])
        run = Run(conf, plan.experiment, job.directory, job.config.figure, kept=job.kept)
        run._answers = None
        return run


def open_run(folder: str | Path, *, home: str | Path | None = None) -> Any:
    """Results that a folder holds, measured by the command or from Python: a `Run`, or the `Sweep` that it joins.

    A folder of folders of finished runs of one experiment, as a loop leaves them, is opened as a sweep's is.

    Args:
        folder: the folder, which is data: no code that it names is run.
        home: the folder of a user-defined experiment, whose code reads and draws its runs.

    Raises:
        ValueError: it holds the results of no finished run, or of an experiment that is not there.
    """
    place, own = _path("folder", folder), None if home is None else _path("home", home)
    with _LOCK, registry.including(own), results.damage_told(str(place)):
        members = sweeps.members(place) or _siblings(place)
        return Sweep(place, members) if members else _opened(place)


def _siblings(place: Path) -> list[Path]:
    """Folders of finished runs in a folder that is no run itself."""
    if folders.read(place) is not None or not place.is_dir():
        return []
    inner = [(path, folders.read(path)) for path in sorted(place.iterdir()) if path.is_dir()]
    found = [(path, record) for path, record in inner if record is not None and record.complete]
    if len(kinds := {record.experiment for _, record in found}) > 1:
        raise InputError(f"folder must hold runs of one experiment, got {' and '.join(sorted(kinds))}")
    return [path for path, _ in found]


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


def _plain(key: str, value: Any, schema: Any) -> Any:
    """A value as plain data; objects become names that they are found by from now on: functions, memories, files."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if value is None or isinstance(value, str | bool | int | float | enum.Enum):
        return value
    if isinstance(value, Mapping):
        number = lambda name: name.tolist() if hasattr(name, "tolist") else name
        return {number(name): _plain(key, part, schema) for name, part in value.items()}
    if isinstance(value, Sequence | Set) and not isinstance(value, bytes | bytearray):
        return [_plain(key, part, schema) for part in value]
    if isinstance(value, Path | memories.Blueprint):
        return value.spec if isinstance(value, memories.Blueprint) else str(value)
    field = next((field for field in dataclasses.fields(schema) if field.name == key), None)
    bounds = field.metadata.get("bounds") if field is not None else None
    kind = KINDS.get(bounds.meaning) if bounds is not None else None
    if kind is None or not callable(value):
        allowed = "a function of patterns, or a name" if kind else errors.describe(errors.type_of(schema, key))
        raise InputError(f"{key} must be {allowed}, got {type(value).__name__}")
    if (name := outside.name_of(value)) in PUBLISHED[kind]:
        raise InputError(f"{key} must not have the name of a published {bounds.meaning}, got a function {name}")
    return outside.offer(kind, value)


def _call(name: str, options: Mapping[str, Any], output: Any) -> str:
    """The call that measures this again."""
    shown = lambda value: (
        f"[{', '.join(map(shown, value))}]"
        if isinstance(value, list | tuple)
        else getattr(value, "__qualname__", None) or repr(value.tolist() if hasattr(value, "tolist") else value)
    )
    given = {**options} if output is None else {**options, "output": str(output)}
    return f"hopfield.measure({', '.join([repr(name), *(f'{key}={shown(each)}' for key, each in given.items())])})"
