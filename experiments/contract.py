"""Contract of an experiment: its options and columns, how it is found, and what it defines.

An experiment is a folder `experiments/<name>/` with a file `experiment.py`, which holds, or imports from files beside
it, all that is told here. Options and columns stand there, or in `config.py` where several files read them:

    @dataclass
    class Config(contract.Config)                  smoke-scale defaults; options by `option`, `grid_axis`, with bounds;
                                                   __post_init__ raises ValueError for options that do not go together

    COLUMNS: Columns                               every column of the table, as `experiments.columns` describes it:
                                                   reports say what each means, a row with another column is refused
    def points(config) -> list[Point]              every point to measure, in the order of the table; flat, JSON
                                                   scalars, under the same names in all of them
    def measure(config, wanted) -> Iterator[Row]   one row per wanted point, holding the point's keys; any order;
                                                   config.output is the directory of the run, for what must not be lost
    def summarise(table) -> Summary                numbers with errors, a row each, and the lines of theory beside them:
                                                   summary.json and estimates.csv; headlines are printed and go to W&B
    def panels(table, summary) -> list[Panel]      what `experiments.figures` draws; reads nothing but these two, and
                                                   asks no theory
    X_AXIS: str                                    the column of the table that is the physical x-axis

and, where options can only be judged with the library or with files at hand,

    def check(config) -> None                      raises ValueError, as __post_init__ does

and the functions that options name, as in `used_when=decided_by("...", "name")`; and, so that what no machine can do is
refused before its points are listed, and foretold with `dry=true`,

    def cost(config) -> Cost                       upper bounds of points and of the largest array, rough operations

and, where later points depend on what earlier ones have shown,

    def refine(config, rows) -> list[Point]        further points, given the rows of all points so far in the order of
                                                   the table; called again until it returns nothing new
    def refines(config) -> bool                    whether these options lead to further points (all do without it)

Functions of their arguments alone, fed from the ledger: a run that was stopped arrives at the same points.

And, where rows rest on work that is long and can be divided, as a pass over 10^9 patterns,

    def pieces(config, wanted) -> list[Point]      the pieces of work behind these points; flat, values as JSON has them
    def measure_piece(config, piece) -> Row        the row of a piece, holding its keys
    def measure(config, wanted, done) -> Iterator  gets the rows of all of them, in their order, if any

Pieces are rows of the ledger as points are, but not of the table; shards of a run divide them as they do points. How
work is cut must not depend on what is measured already, nor on how many processes there are. What rows
depend on besides their points, their science, is every option that is not declared to be an `axis`, and the contents of
the files that options name, and the code of `points`, `measure` and what they use; where rows depend on more files,

    def inputs(config) -> list[Path]               those beside a checkpoint, say

and, where the report shows what moves, and where queries are counted, for the curves that Python has of a run,

    def shares(table) -> Table                     share of queries that pass, with errors, along the x-axis
    def frames(table, summary) -> list[dict]       animated panels of a finished run: {"title": ..., "frames": [...]},
                                                   each frame {"image": a data URI, "text": ...}

There is one `conf/<name>.yaml` per published scale, with `defaults: [/schema/<experiment>, _self_]`.
"""

import copy
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from numbers import Integral
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from experiments import bounds
from experiments.bounds import Bounds, Use

Table = Any
"""A pandas.DataFrame, whose columns no type checker knows."""
Point = dict[str, Any]
"""A point to measure: numbers, texts, truth values or None by the names of columns, as {"neurons": 64, "sample": 0}.

Flat, and as JSON has it. All points of an experiment have the same names, and no two the same values: the row of a
point is found by them.
"""
Row = dict[str, Any]
"""A row of the table: the entries of its point and what was measured there, a number, text or truth value in each."""
ROOT = Path(__file__).resolve().parent.parent
FORMATS = ("svg", "png", "pdf")
"""Files of a figure."""
FLOATS = ("value", "stderr", "low", "high", "theory", "limit", "cut")
FIT = ("fit_width", "chi2", "dof", "fit")
NUMBERS = ("value", "said", "stderr", *FLOATS[2:], "kind", "samples", *FIT, "headline")
"""Columns of estimates that hold a number and what is known of it; all others tell the numbers apart."""
REQUIRED = ("points", "measure", "summarise", "panels", "X_AXIS")
"""Names that every file `experiment.py` defines."""
HOOKS = (*REQUIRED, "check", "cost", "refine", "refines", "pieces", "measure_piece", "inputs", "shares", "frames")
"""Names there that the runner looks for; a function of a similar name is refused, as one that nothing calls."""
UNMEASURED = ("output", "overwrite", "dry", "shard", "device", "workers", "figure", "wandb")
"""Options of every experiment that say nothing of what is measured."""


class InputError(ValueError):
    """Error of the input: the request cannot be carried out. The message is one sentence that says why."""


class Smoke(NamedTuple):
    """Default null of an option that `per_memory`, say, may set; `value`, of smoke scale, if nothing sets it."""

    value: Any


def option(
    default: Any,
    text: str = "",
    *,
    used_when: Use | None = None,
    entries_of: str | None = None,
    axis: bool = False,
    extends: bool = False,
    goes_with: str | None = None,
    **limits: Any,
) -> Any:
    """Field of an option: `samples: int = option(1, "draws of patterns", least=1)`.

    Args:
        default: the value of none given; of a list or a mapping a copy, of a class what it makes, null of `Smoke`.
        text: the line that `--help` prints; without one, the names it may be `among`.
        used_when: when the option, or each of a group, does something (`bounds.Use`); always if None.
        entries_of: of a mapping, the option that lists the names whose entries are used (null: all of them).
        axis: whether rows depend on it through their points, or through contents of the file that it names, and on
            nothing else of it; every other option belongs to the science of all rows.
        extends: whether it is an axis too and more of it only adds points, as more samples, sizes or loads: runs that
            differ in nothing else share a folder and a table.
        goes_with: for an option of one entry, like a memory's scale, the option without which it means another thing:
            where a word sets that one, what a file gives for the entry is left out.
        limits: the `bounds.Bounds` of its value, or of the entries of a list.
    """
    among = f"any of {', '.join(limits['among'])}" if "among" in limits else ""
    about = {
        "help": text or among,
        "bounds": Bounds(**limits),
        "used_when": used_when,
        "entries_of": entries_of,
        "axis": axis or extends,
        "extends": extends,
        "goes_with": goes_with,
        "smoke": default.value if isinstance(default, Smoke) else None,
    }
    if isinstance(default, Smoke):
        return field(default=None, metadata=about)
    if isinstance(default, list | dict | type):
        made = default if isinstance(default, type) else lambda: copy.copy(default)
        return field(default_factory=made, metadata=about)
    return field(default=default, metadata=about)


def grid_axis(default: Any, text: str = "", **about: Any) -> Any:
    """Field of an option that lists the values of one axis of the grid: at least one, and more only add points."""
    return option(default, text, nonempty=True, extends=True, **about)


@dataclass(eq=False)
class Summary:
    """Numbers that a table leads to, and the theory that a figure draws beside them.

    Attributes:
        estimates: a row for each number, given as dicts or as a DataFrame: its `quantity` in words, the columns that
            tell it from others of its quantity, its `value` (or `said`, a text instead) and, where they exist,
            `stderr`, `low` and `high`; `theory` at that size, or its `limit` for N → ∞, with the `kind` of theory
            (exact, replica symmetric, annealed …); `cut`, the share of queries whose dynamics were cut; `samples`, the
            independent draws behind it; of a fit `fit_width`, `chi2`, `dof` and its name, `fit`. The command
            prints the rows of `headline`.
        lines: a row for each line of theory: `quantity`, the columns that tell it from others, its points `x` and `y`.
        notes: warnings, a sentence each.
        more: what else this figure reads, as JSON has it.
    """

    estimates: Table = ()
    lines: Table = ()
    notes: Sequence[str] = ()
    more: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.estimates = _frame(self.estimates, ("quantity", "value", "headline"))
        names = [name for name in dict.fromkeys(("quantity", "memory", *self.estimates)) if name not in NUMBERS]
        names = [name for name in names if name in self.estimates]
        names += [name for name in NUMBERS if name in self.estimates]
        self.estimates = self.estimates[names].assign(headline=self.estimates["headline"].eq(True))
        self.lines = _frame(self.lines, ("quantity", "x", "y"))

    def of(self, quantity: str, **columns: Any) -> Table:
        """Rows of one quantity, of one value of a column or any of several in a list: value, stderr, theory and limit,
        and the columns that have something in any row.
        """
        found = _chosen(self.estimates, {"quantity": quantity, **columns})
        return found.reindex(columns=list(dict.fromkeys([*found, "value", "stderr", "theory", "limit"])))

    def line(self, quantity: str, **columns: Any) -> Table:
        """Lines of theory of one quantity, with the columns that have something in any of them."""
        return _chosen(self.lines, {"quantity": quantity, **columns})

    def json(self) -> dict[str, Any]:
        """Contents of summary.json."""
        tables = {"estimates": records(self.estimates), "lines": records(self.lines)}
        return tables | {"notes": list(self.notes), **self.more}

    @classmethod
    def of_json(cls, held: Mapping[str, Any]) -> "Summary":
        """Summary that summary.json holds."""
        more = {name: value for name, value in held.items() if name not in ("estimates", "lines", "notes")}
        number = lambda value: math.nan if value is None else value  # a place without theory
        points = [{axis: [*map(number, line[axis])] for axis in ("x", "y")} for line in held["lines"]]
        lines = [line | at for line, at in zip(held["lines"], points, strict=True)]
        return cls(held["estimates"], lines, held["notes"], more)


def records(frame: Table) -> list[Row]:
    """Rows of a table, each without what it lacks."""
    if not hasattr(frame, "to_dict"):
        return [dict(row) for row in frame]
    return [{name: value for name, value in row.items() if _is_there(value)} for row in frame.to_dict("records")]


def _is_there(value: Any) -> bool:
    return value is not None and str(value) not in ("nan", "<NA>")


def _frame(rows: Any, names: Sequence[str]) -> Table:
    """Table of rows; whole numbers stay whole where others have none, and numbers are of one type."""
    import pandas

    rows = records(rows)
    columns = {}
    for name in dict.fromkeys([*(name for row in rows for name in row), *names]):
        values = [row.get(name) for row in rows]
        there = [value for value in values if _is_there(value)]
        whole = all(isinstance(value, Integral) and not isinstance(value, bool) for value in there) and there
        kind = "float" if name in FLOATS else "Int64" if whole and len(there) < len(values) else None
        columns[name] = pandas.Series(values, dtype=kind)
    return pandas.DataFrame(columns)


def _chosen(frame: Table, columns: Mapping[str, Any]) -> Table:
    for name, value in columns.items():
        if name in frame:
            frame = frame[frame[name].isin(value) if isinstance(value, list) else frame[name] == value]
        else:
            frame = frame[:0]
    empty = [name for name in frame if name not in ("value", "x", "y") and frame[name].isna().all()]
    frame = frame.drop(columns=empty)
    return frame.astype({name: "int64" for name in frame if frame[name].dtype == "Int64" and frame[name].notna().all()})


class StoppedError(RuntimeError):
    """A run could not go on for a reason outside the project, such as a full disk; the message says how far it came."""


class Mode(Enum):
    """Mode in which Weights & Biases gets its copy of a run; `auto` is online if a key is configured, else offline."""

    auto = "auto"
    online = "online"
    offline = "offline"
    disabled = "disabled"


@dataclass
class Wandb:
    """Weights & Biases: a mirror of the run, never its record."""

    mode: Mode = option(Mode.auto, "auto: online if a key is configured, else offline")
    project: str = option("hopfield", "W&B project")
    entity: str | None = option(None, "W&B user or team")
    group: str | None = option(None, "W&B group (the name of the conf file if null)")
    name: str | None = option(None, "W&B name of the run")
    tags: list[str] = option([], "W&B tags")
    init_timeout: float = option(20.0, "seconds to wait for the server before going on offline", most=86400, above=0)
    finish_timeout: float = option(60.0, "seconds to wait for uploads at the end", most=86400, above=0)

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[^/\\#?%:\s]{1,128}", self.project):
            raise ValueError(f"wandb.project must be a name without / \\ # ? % : or spaces, got '{self.project}'")
        for tag in self.tags:
            if not 1 <= len(tag) <= 64:
                raise ValueError(f"wandb.tags must have 1 to 64 characters each, got '{tag}'")
        for key in ("entity", "group", "name"):
            value = getattr(self, key)
            if value is not None and not 1 <= len(value.strip()) <= 128:
                raise ValueError(f"wandb.{key} must have 1 to 128 characters, got '{value}'")


@dataclass
class Figure:
    """Look of the figure, on which no number depends."""

    style: str | None = option(None, "style sheet of Matplotlib over the house style: FILE.mplstyle or a name")
    width: float | None = option(None, "inches across (null: its own)", least=1, most=100)
    format: list[str] = option(list(FORMATS), "files to draw", among=FORMATS, nonempty=True)
    log: list[str] = option([], "axes made logarithmic", among=("x", "y"))
    panels: list[str] = option([], "panels to draw, by letter or title (empty: all)")


@dataclass
class Config:
    """Options of every experiment."""

    seed: int = option(0, "seed of all randomness", least=0, below=2**32)
    output: str | None = option(None, "directory for the results (null: outputs/<conf>/<options that differ>)")
    overwrite: bool = option(False, "move results of other options that the directory holds to overwritten-1, -2 ...")
    dry: bool = option(False, "say how many points, how much memory and time, and stop")
    shard: str | None = option(None, "share of the points that this process measures, as 3/8 (null: all of them)")
    device: str = option("auto", "auto: a GPU if there is one and enough to measure", among=("auto", "cpu", "gpu"))
    workers: int | None = option(None, "calls or compilations at a time (null: one for each core)", least=1, most=1024)
    figure: Figure = field(default_factory=Figure)
    wandb: Wandb = field(default_factory=Wandb)

    def __post_init__(self) -> None:
        bounds.check(self)
        if self.output is not None and not self.output.strip():
            raise ValueError(f"output must name a directory, got '{self.output}'")
        if self.shard is not None:
            parts = re.fullmatch(r"(\d{1,6})/(\d{1,6})", self.shard)
            if parts is None or not 1 <= int(parts[1]) <= int(parts[2]):
                raise ValueError(f"shard must be the number of this share of all, from 1/8 to 8/8, got {self.shard}")


class Cost(NamedTuple):
    """Cost of a run: points of its table, entries of its largest array of 4 bytes each, multiplications, programs."""

    points: float = 0.0
    elements: float = 0.0
    operations: float = 0.0
    programs: float = 1.0


def total(parts: Iterable[Cost]) -> Cost:
    """The cost of several parts, one after the other."""
    parts = list(parts)
    elements = max((part.elements for part in parts), default=0.0)
    points, operations, programs = (sum(part[i] for part in parts) for i in (0, 2, 3))
    return Cost(points, elements, operations, programs)


def check(experiment: ModuleType, config: Config) -> Config:
    """Options of a run, after the check of their experiment, if any.

    Raises:
        ValueError: one of them is wrong; one sentence that begins with its name.
    """
    if (further := getattr(experiment, "check", None)) is not None:
        further(config)
    return config
