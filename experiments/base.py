"""What every experiment shares: its configuration, how it is found, and how its files are written.

An experiment is one module `experiments/<name>.py` with

    @dataclass
    class Config(base.Config)                      smoke-scale defaults; __post_init__ raises ValueError for bad values
    def points(config) -> list[dict]               every point to measure, in the order of the table; flat, JSON scalars
    def science(config) -> dict                    all else that a point's numbers depend on (seed, probes, sweeps ...)
    def measure(config, points) -> Iterator[dict]  one row per given point, holding the point's keys; any order;
                                                   config.output is the directory of the run, for what must not be lost
    def summarise(table) -> dict                   summary.json; its "scalars" are printed and go to W&B as well,
                                                   "<name>/stderr" as the error of "<name>"; NaN is saved as null
    def plot(table, summary) -> Figure             reads nothing but these two
    X_AXIS: str                                    the column of the table that is the physical x-axis

and, so that what no machine can do is refused before its points are listed, and foretold with `dry=true`,

    def cost(config) -> budget.Cost                upper bounds of points and of the largest array, rough operations

and, where later points depend on what earlier ones have shown,

    def refine(config, rows) -> list[dict]         further points, given the rows of all points so far in the order of
                                                   the table; called again until it returns nothing new

A function of its arguments alone, fed from the ledger: a run that was stopped arrives at the same points. Contents of
the files that options name belong to the science by themselves; where rows depend on more files,

    def files(config) -> list[Path]                those beside a checkpoint, say

There is one `conf/<name>.yaml` per published scale, with `defaults: [/schema/<experiment>, _self_]`.

Such a module imports jax, hopfield, pandas, scipy and matplotlib inside its functions, never at its top: the command
reads `Config` of every experiment before it knows what is asked of it, and `--help` has to answer at once.
"""

import contextlib
import dataclasses
import errno
import hashlib
import importlib
import importlib.util
import json
import os
import pkgutil
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import experiments
from experiments import bounds, processes
from experiments.bounds import Bounds

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

    from experiments.idle import Use

ROOT = Path(__file__).resolve().parent.parent
_CONTRACT = tuple(re.compile(rf"^{line}", re.M) for line in (r"class Config\b", r"def points\(", r"def measure\("))


class InputError(ValueError):
    """What was asked for cannot be done; the message is the one sentence that says why."""


def about(text: str, *, used_when: "Use | None" = None, entries_of: str | None = None, **limits: Any) -> dict[str, Any]:
    """Metadata of an option's field: `field(default=1, metadata=about("draws of patterns", least=1))`.

    Args:
        text: the line that `--help` prints.
        used_when: when the option, or each of a group, does something (`idle.Use`); always if None.
        entries_of: of a mapping, the option that lists the names whose entries are used (null: all of them).
        limits: the `bounds.Bounds` of its value, or of the entries of a list.
    """
    return {"help": text, "bounds": Bounds(**limits), "used_when": used_when, "entries_of": entries_of}


class StoppedError(RuntimeError):
    """A run could not go on for a reason outside the project, such as a full disk; the message says how far it came."""


class Mode(Enum):
    """Where Weights & Biases gets its copy of a run; `auto` is online if a key is configured, else offline."""

    auto = "auto"
    online = "online"
    offline = "offline"
    disabled = "disabled"


@dataclass
class Wandb:
    """Weights & Biases: a mirror of the run, never its record."""

    mode: Mode = field(default=Mode.auto, metadata=about("auto: online if a key is configured, else offline"))
    project: str = field(default="hopfield", metadata=about("W&B project"))
    entity: str | None = field(default=None, metadata=about("W&B user or team"))
    group: str | None = field(default=None, metadata=about("W&B group (the name of the conf file if null)"))
    name: str | None = field(default=None, metadata=about("W&B name of the run"))
    tags: list[str] = field(default_factory=list, metadata=about("W&B tags"))
    init_timeout: float = field(
        default=20.0, metadata=about("seconds to wait for the server before going on offline", above=0, most=86400)
    )
    finish_timeout: float = field(
        default=60.0, metadata=about("seconds to wait for uploads at the end", above=0, most=86400)
    )

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
class Config:
    """Options of every experiment."""

    seed: int = field(default=0, metadata=about("seed of all randomness", least=0, below=2**32))
    output: str | None = field(default=None, metadata=about("directory for the results (null: outputs/<conf>/<hash>)"))
    overwrite: bool = field(
        default=False, metadata=about("move results of other options that the directory holds to overwritten-1, -2 ...")
    )
    dry: bool = field(default=False, metadata=about("say how many points, how much memory and time, and stop"))
    wandb: Wandb = field(default_factory=Wandb)

    def __post_init__(self) -> None:
        bounds.check(self)
        if self.output is not None and not self.output.strip():
            raise ValueError(f"output must name a directory, got '{self.output}'")


def say(text: str) -> None:
    """Print a line on stderr: what a person should know who reads the results."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


class Experiment(Protocol):
    """The module of an experiment, as this package's docstring describes it."""

    Config: type[Config]
    X_AXIS: str

    def points(self, config: Any) -> list[dict]: ...
    def science(self, config: Any) -> dict: ...
    def measure(self, config: Any, points: Sequence[dict]) -> Iterator[dict]: ...
    def summarise(self, table: "pandas.DataFrame") -> dict: ...
    def plot(self, table: "pandas.DataFrame", summary: dict) -> "Figure": ...


def names() -> list[str]:
    """Names of all experiments: the modules of this package that define Config, points and measure."""
    found = []
    for module in pkgutil.iter_modules(experiments.__path__):
        spec = importlib.util.find_spec(f"experiments.{module.name}")
        if spec is not None and spec.origin is not None:
            source = Path(spec.origin).read_text(encoding="utf-8")
            if all(opening.search(source) for opening in _CONTRACT):
                found.append(module.name)
    return sorted(found)


def load(name: str) -> Any:
    """The module of the experiment `name` (an `Experiment`)."""
    return importlib.import_module(f"experiments.{name}")


def _plain(value: Any) -> Any:
    """JSON's view of an Enum, a dataclass or a numpy number."""
    if isinstance(value, Enum):
        return value.name
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if callable(tolist := getattr(value, "tolist", None)):
        return tolist()
    raise TypeError(f"value must be a number, a string, a list, a dict or a dataclass, got {value!r}")


def encode(value: Any, *, sort: bool = False) -> str:
    """JSON of a value on one line, numpy numbers as numbers (float64 survives exactly), keys sorted on request."""
    return json.dumps(value, sort_keys=sort, separators=(",", ":"), default=_plain)


def fingerprint(value: Any) -> str:
    """SHA-256 of the canonical JSON of a value, as 64 hexadecimal digits."""
    return hashlib.sha256(encode(value, sort=True).encode()).hexdigest()


def options(config: Config) -> dict[str, Any]:
    """All options that say what is measured: everything but `output`, `overwrite`, `dry` and `wandb`."""
    chosen = dataclasses.asdict(config)
    return {key: chosen[key] for key in chosen if key not in ("output", "overwrite", "dry", "wandb")}


def identity(experiment: str, config: Config) -> str:
    """Fingerprint of an experiment and its `options`."""
    return fingerprint([experiment, options(config)])


def settle(directory: Path) -> None:
    """Wait until the names in a directory are on disk, where its file system can say so."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)


def made(directory: Path) -> Path:
    """A directory that is there and stays, whether or not it was."""
    new = [folder for folder in (directory, *directory.parents) if not folder.exists()]
    directory.mkdir(parents=True, exist_ok=True)
    for folder in new:
        settle(folder.parent)
    return directory


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file to fill that takes the place of `path` in one step when the block ends well.

    Args:
        path: the file to make or replace; its directory exists. The temporary file keeps its suffix.

    Raises:
        OSError: the directory cannot be written; `path` is untouched and the temporary file is gone.
    """
    temporary = processes.temporary(path)
    try:
        yield temporary
        with open(temporary, "rb") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)
        settle(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a whole text file in one step (see `replacing`)."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")


def write_json(path: Path, value: Any) -> None:
    """Write a value as indented JSON that any reader accepts: NaN and infinities become null."""
    strict = json.loads(encode(value), parse_constant=lambda name: None)
    write_text(path, json.dumps(strict, indent=2, allow_nan=False) + "\n")
