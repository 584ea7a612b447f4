"""Experiments as functions: what the command measures, from Python, with a folder or without.

The same engine: options are composed to the same configuration, refused by the same sentences, measured by the same
programs and read from the same table. A memory may be a function, which is named by its `__qualname__` and hashed
with all that it reads.
"""

import contextlib
import dataclasses
import enum
import os
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from types import ModuleType
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments import bounds, contract
from experiments.contract import InputError, Summary, Table
from experiments.figures import draw, report, saving
from experiments.figures import style as styles
from experiments.figures.panel import Panel
from experiments.figures.sentences import sentences
from experiments.runner import (
    compose,
    errors,
    execute,
    folders,
    overrides,
    planning,
    registry,
    results,
    session,
    sweeps,
    values,
)
from experiments.runner.job import Job
from experiments.runner.words import split
from experiments.system import terminal
from hopfield import memories, outside, separations
from hopfield.patterns.corruptions import CORRUPTIONS

KINDS = {"memory": "memories", "separation": "separations", "corruption": "corruptions"}
"""Kinds of objects from outside the package, by the `meaning` of the option that names them."""
PUBLISHED = {"memories": memories.names(), "separations": separations.NAMES, "corruptions": CORRUPTIONS}
"""Names that each kind of object has in the library, which a function given in Python does not take from them."""
_LOCK = threading.RLock()
"""Held by whoever measures, reads or draws: Hydra, JAX and Matplotlib are set for the whole process."""


class _Results:
    """Table, summary and figure, as a run and a sweep have them alike.

    Attributes:
        conf: the choice of `conf=` that was measured.
        folder: where they lie; None if they were measured without a folder.
        table: the rows, a DataFrame.
        summary: the `contract.Summary`: estimates, lines of theory, notes, and what else the figure reads.
    """

    conf: str
    folder: Path | None
    table: Table
    summary: Summary
    _experiment: ModuleType
    _look: contract.Figure
    _panels: Callable[[Table, Summary], Sequence[Panel]]

    @property
    def estimates(self) -> Table:
        """The numbers that it leads to, a row each, with error and theory: `contract.Summary` names the columns."""
        return self.summary.estimates

    def plot(
        self,
        *,
        axes: Axes | None = None,
        panels: Sequence[str] | None = None,
        width: float | None = None,
        log: Sequence[str] | None = None,
        style: str | Path | None = None,
    ) -> Figure:
        """The figure, of Matplotlib, which may be changed and saved; what is None is as the run has it.

        Args:
            axes: axes of a figure of yours, on which one panel is drawn.
            panels: panels to draw, by letter or title.
            width: inches across.
            log: axes made logarithmic, of "x" and "y".
            style: style sheet of Matplotlib over the house style, a file or a name.

        Raises:
            ValueError: an option has a value that it cannot have, or `axes` stand beside several panels or a width.
        """
        given = {"panels": panels, "width": width, "log": log, "style": style}
        look = _changed(self._look, {name: value for name, value in given.items() if value is not None})
        if axes is None:
            return self._drawn(look)[1]
        if width is not None:
            raise InputError(f"width must be left to the figure of the axes, got {width}")
        with _LOCK, styles.style(look.style):
            _, chosen = saving.chosen(self._panels, self.table, self.summary, look)
            if len(chosen) != 1:
                raise InputError(f'panels must name one for the axes, as in panels=["a"], got {len(chosen)} panels')
            draw.onto(axes, chosen[0])
        return axes.figure.figure

    def _drawn(self, look: contract.Figure) -> tuple[Sequence[Panel], Figure]:
        with _LOCK, styles.style(look.style):
            return saving.build_figure(self._panels, self.table, self.summary, look)

    def report(self, path: str | Path = report.NAME) -> Path:
        """The page of the command, in a file: panels that can be zoomed, and every row. Returns its path."""
        place = _path("path", path)
        story = report.Story(self.conf, self.conf, *results.description(self._experiment))
        with _LOCK, styles.style(self._look.style):
            report.write(place, story, self._panels(self.table, self.summary), self.table, self.summary)
        return place

    def _repr_html_(self) -> str:
        """The numbers that come first and the figure, as notebooks show them, and where the report is."""
        kept = None if self.folder is None else self.folder / report.NAME
        link = "" if kept is None or not kept.is_file() else kept.as_uri()
        with _LOCK, styles.style(self._look.style):
            _, figure = saving.build_figure(self._panels, self.table, self.summary, self._look)
            return report.cell(self._title(), self.summary, saving.picture(figure), link)

    def _title(self) -> str:
        place = f", {self.folder}" if self.folder is not None else ""
        return f"{type(self).__name__} of conf={self.conf}: {len(self.table)} rows{place}"

    def __repr__(self) -> str:
        lines = [self._title()]
        lines += [f"    {line}" for line in sentences(self.estimates)]
        if more := len(self.estimates) - len(lines) + 1:
            lines.append(f"    {more} more numbers: estimates")
        return "\n".join(map(terminal.printable, lines))


class Run(_Results):
    """Results of a measurement."""

    def __init__(self, conf: str, experiment: ModuleType, place: Path, look: contract.Figure, *, kept: bool) -> None:
        self.conf = conf
        self.folder = place if kept else None
        self.table, self.summary = results.read(place, experiment)
        self._experiment, self._look, self._panels = experiment, look, experiment.panels

    @property
    def curves(self) -> Table:
        """Shares of queries that pass each criterion, with errors over samples, along the load."""
        _check_curves(self)
        return self._experiment.shares(self.table)


class Sweep(_Results):
    """Several runs as one, as a sweep or `hopfield plot` joins them: options that differ are columns of the frames.

    Runs that differ in nothing but their seed, or in options that only add points, are one, of all their samples.

    Attributes:
        runs: each run.
    """

    def __init__(
        self, folder: Path | None, members: Mapping[Path, Run], look: contract.Figure, *, asks: bool = False
    ) -> None:
        self._joined = sweeps.Joined(list(members), asks=asks)
        self.folder, self.runs = folder, list(members.values())
        self.conf = "+".join(dict.fromkeys(run.conf for run in self.runs))
        self.table, self.summary = self._joined.table, self._joined.summary
        self._experiment, self._look, self._panels = self._joined.experiment, look, self._joined.panels

    @property
    def curves(self) -> Table:
        """`Run.curves` of all runs."""
        _check_curves(self)
        return self._joined.curves()


def _check_curves(found: _Results) -> None:
    if not hasattr(found._experiment, "shares"):
        raise AttributeError(f"conf={found.conf} has no curves of shares; its table has every row")


def _changed(look: contract.Figure, given: Mapping[str, Any]) -> contract.Figure:
    """A look of a figure with other values of some of its options; ValueError for one that an option cannot have."""
    plain = {key: _plain(key, value, contract.Figure) for key, value in given.items()}
    made: contract.Figure = values.typed(contract.Figure, dataclasses.asdict(look) | plain, "figure")
    bounds.check(made, "figure.")
    styles.check(made)
    return made


def capacity(memory: Any, **options: Any) -> Run:
    """Critical loads of a memory and the curves they are read from: `measure("capacity", memories=[memory], ...)`.

    Args:
        memory: a function of patterns [M, N] with a keyword `mask` that returns a `Memory`, `Couplings` or any pytree
            with `update`, one synchronous step of a state; or a name such as "dense:3", "./file.py:name" or what
            `memories.find` returns.
        options: listed by `hopfield conf=capacity --help`, `neurons=[100, 200]`, `loads=[...]`, `samples=20` …;
            `output="folder"` keeps the results there, and goes on with what is measured already.

    Returns:
        The run: `estimates` and `curves`, DataFrames with errors, `table`, `summary`, `plot()`.

    Raises:
        ValueError: an option that there is not, or a value that it cannot have.
    """
    if "memories" in options or (isinstance(memory, Sequence | Set) and not isinstance(memory, str)):
        raise InputError('memory must be one function or name, got several: measure("capacity", memories=[...])')
    return measure("capacity", memories=[memory], **options)


def measure(name: str, *, output: str | Path | None = None, **options: Any) -> Run:
    """Results of an experiment.

    Args:
        name: a choice of `conf=`, or a folder `./mine` with an experiment of your own.
        output: folder of the results, as the command leaves them: the same call goes on after a stop. Without
            one, nothing is left behind.
        options: listed by `conf=name --help`; a group or mapping as a dict.

    Raises:
        ValueError: an option is none, or has a value that it cannot have; one sentence.
        RuntimeError: the run had to stop; the message says how far it came.
    """
    with _measuring(name, output) as (conf, place):
        job = _job(conf, options, place)
        call = _call("measure", name, {}, options, output)
        plan = planning.plan(dataclasses.replace(job, call=call, kept=output is not None))
        execute.run([plan])
        return _run(plan)


def sweep(name: str, over: Any = None, *, output: str | Path | None = None, **options: Any) -> Sweep:
    """Results of an experiment for several values of its options, joined as `hopfield -m` joins them.

    Args:
        name: as for `measure`.
        over: a mapping of options to lists of values, measured in every combination; or a sequence of
            mappings of options to a value, one for each run: `[{"neurons": [100], "samples": 40}, ...]`. None: the
            `sweep` that the file of the choice holds.
        output: folder of the joined results, with a folder for each run below it: the same call goes on after a
            stop, and one with further values measures these alone. Without one, nothing is left behind.
        options: shared by all runs, as for `measure`.

    Raises:
        ValueError: as for `measure`; an option is given twice, or has no value; two runs are the same.
        RuntimeError: as for `measure`.
    """
    with _measuring(name, output) as (conf, place):
        given = overrides.listed("over", compose.swept_by_file(conf) if over is None else over)
        chosen = _combinations(given, options)
        jobs = [_swept(name, _job(conf, options | each, place), each, options, output) for each in chosen]
        members, labels = [job.directory for job in jobs], [job.label for job in jobs]
        if twice := [label for label in labels if labels.count(label) > 1]:
            raise InputError(f"over must give every run once, got {twice[0]} twice")
        target, look = members[0].parent, jobs[0].config.figure
        folders.check_joined(target)
        plans = [planning.plan(job) for job in jobs]
        execute.run(plans)
        if output is not None:
            sweeps.join(members, target, _call("sweep", name, {"over": given}, options, output), look, asks=True)
        runs = dict(zip(members, map(_run, plans), strict=True))
        return Sweep(None if output is None else target, runs, look, asks=True)


def _swept(name: str, job: Job, each: Mapping[str, Any], options: Mapping[str, Any], output: Any) -> Job:
    """The job of one run of a sweep, in a folder of its own below the sweep's, named by what is swept."""
    plain = {key: _plain(key, value, type(job.config), job.conf) for key, value in each.items()}
    label = overrides.label([f"{key}={folders.words(value)}" for key, value in plain.items()])
    job = dataclasses.replace(job, label=label, kept=output is not None)
    call = _call("measure", name, {}, {**options, **each}, job.directory if job.kept else None)
    return dataclasses.replace(job, call=call)


@contextlib.contextmanager
def _measuring(name: str, output: Any) -> Iterator[tuple[str, Any]]:
    """Context in which an experiment is measured: its choice of `conf=`, and the folder of the results."""
    words, flags = split([f"conf={name}"])
    conf, home = words[0].removeprefix("conf="), Path(flags["folder"]) if "folder" in flags else None
    with contextlib.ExitStack() as stack:
        stack.enter_context(_LOCK)
        place = stack.enter_context(tempfile.TemporaryDirectory(prefix="hopfield-")) if output is None else output
        stack.enter_context(registry.including(home))
        stack.enter_context(session.opened(home))
        yield conf, place


def _job(conf: str, options: Mapping[str, Any], place: Any) -> Job:
    """The job of options as they were given."""
    schema = session.options_class_of(conf) or contract.Config
    given = {"wandb": {"mode": "disabled"}, **options, "output": place}
    job = compose.job(conf, {key: _plain(key, value, schema, conf) for key, value in given.items()})
    if job.config.dry:
        raise InputError(f"dry must be false in Python, got true; hopfield conf={conf} dry=true tells the cost")
    return job


def _run(plan: planning.Plan) -> Run:
    """The run that a plan has made."""
    job = plan.job
    return Run(job.conf, plan.experiment, job.directory, job.config.figure, kept=job.kept)


def _combinations(over: Any, options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The options of each run that are swept; InputError if there is none, or they cannot be told apart."""
    runs = overrides.runs("over", over)
    named: dict[str, Any] = {}
    for each in runs:
        if twice := {path for path, _ in values.paths(each)} & {path for path, _ in values.paths(options)}:
            raise InputError(f"{'.'.join(min(twice))} must be given once, got it in over and beside it")
        for function in _functions([each, options]):
            if named.setdefault(outside.name_of(function), function) is not function:
                raise InputError(f"over must hold functions of different names, got two {outside.name_of(function)}")
    return runs


def _functions(value: Any) -> Iterator[Any]:
    """Functions in a value, however deep."""
    if isinstance(value, Mapping | list | tuple):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _functions(part)
    elif callable(value):
        yield value


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
        if members := sweeps.members(place) or _siblings(place):
            return Sweep(place, {member: _opened(member) for member in members}, results.look(members[0]))
        return _opened(place)


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
    """Absolute path of an argument that is one; ValueError for a value that is no path."""
    if not isinstance(value, str | os.PathLike) or isinstance(os.fspath(value), bytes):
        raise InputError(f"{name} must be a path, got {value!r}")
    return Path(value).expanduser().absolute()


def _plain(key: str, value: Any, schema: Any, conf: str = "") -> Any:
    """A value as plain data; objects become names that they are found by from now on: functions, memories, files."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if value is None or isinstance(value, str | bool | int | float | enum.Enum):
        return value
    if isinstance(value, Mapping):
        number = lambda name: name.tolist() if hasattr(name, "tolist") else name
        return {number(name): _plain(key, part, schema, conf) for name, part in value.items()}
    if isinstance(value, Sequence | Set) and not isinstance(value, bytes | bytearray):
        return [_plain(key, part, schema, conf) for part in value]
    if isinstance(value, Path | memories.Blueprint):
        return value.spec if isinstance(value, memories.Blueprint) else str(value)
    field = next((field for field in dataclasses.fields(schema) if field.name == key), None)
    limits = field.metadata.get("bounds") if field is not None else None
    meaning = limits.meaning if limits is not None else ""
    kind = KINDS.get(meaning)
    if errors.type_of(schema, key) is None:
        raise InputError(errors.unknown_option(key, conf, schema))
    if kind is None or not callable(value):
        allowed = "a function of patterns, or a name" if kind else errors.describe(errors.type_of(schema, key))
        raise InputError(f"{key} must be {allowed}, got {type(value).__name__}")
    if (name := outside.name_of(value)) in PUBLISHED[kind]:
        raise InputError(f"{key} must not have the name of a published {meaning}, got a function {name}")
    return outside.offer(kind, value)


def _call(door: str, name: str, over: Mapping[str, Any], options: Mapping[str, Any], output: Any) -> str:
    """The call that measures this again."""

    def shown(value: Any) -> str:
        if isinstance(value, Mapping):
            return f"{{{', '.join(f'{key!r}: {shown(part)}' for key, part in value.items())}}}"
        if isinstance(value, list | tuple):
            return f"[{', '.join(map(shown, value))}]"
        return getattr(value, "__qualname__", None) or repr(value.tolist() if hasattr(value, "tolist") else value)

    given = {**over, **options} | ({} if output is None else {"output": str(output)})
    return f"hopfield.{door}({', '.join([repr(name), *(f'{key}={shown(each)}' for key, each in given.items())])})"
