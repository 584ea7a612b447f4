"""Provenance of a measured row: its options, files and precision, and the software that computed it."""

import hashlib
import os
import platform
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import fields
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import jax

import experiments
import hopfield
from experiments import contract
from experiments.contract import Point
from experiments.system import files, imports
from experiments.system.versions import version
from hopfield import outside

MATMUL = "highest"
"""Precision of matrix products in every experiment."""
PACKAGES = ("hopfield", "jax", "jaxlib", "numpy", "scipy", "flax", "optax", "scikit-learn")
UNMEASURING = ("__init__.py", "config.py", "summary.py", "figure.py", "results.py")
"""Files of an experiment that change no row; options of `config.py` are compared by their values."""
MEASURING = ("points", "refine", "inputs", "pieces", "measure_piece", "measure")
"""Functions of an experiment on which rows depend: of `experiment.py` they and what they use are code of rows."""
_SETTINGS = ("jax_enable_x64", "jax_default_prng_impl", "jax_threefry_partitionable")


def science(experiment: ModuleType, config: contract.Config, points: Sequence[Point] = ()) -> dict:
    """Science of an experiment: all that its rows depend on besides their points.

    Args:
        experiment: its module.
        config: its options.
        points: those to be measured.

    Returns:
        What `constants` says, with
        precision: JAX's types and products of numbers and its generator of random ones.
        files: hashes of the files that options name and that every row depends on, by option, and of the code of the
            experiment, by name.
        contents: hashes of the files that points name, and of the memories and separations of this package that they
            name, on which the rows of these points alone depend, by name.
    """
    hashes: dict[str, str] = {}
    contents: dict[str, str] = {}
    for option, value, found in _named_contents(files.options(config), ""):
        if any(value in point.values() for point in points):
            contents[value] = found
        else:
            hashes[option] = found
    further = getattr(experiment, "inputs", None)
    hashes |= {path.name: files.digest(path) for path in (further(config) if further is not None else ())}
    hashes |= {name: _hash_of_code(path) for name, path in _code(experiment).items()}
    return constants(config) | {"precision": _precision(), "files": hashes, "contents": contents}


def _code(experiment: Any) -> dict[str, Path]:
    """Source files that rows of an experiment come from, by relative path.

    Of one of this package, those of its folder that it imports; the rest is part of the environment.
    """
    folder = Path(experiment.__file__).resolve().parent
    ours = folder.parent == Path(experiments.__path__[0]).resolve()

    def measures(path: Path) -> bool:
        told = path.parent == folder and path.name in UNMEASURING
        return not told and (not ours or path.is_relative_to(folder))

    own = [Path(experiment.__file__)] if ours else sorted(folder.rglob("*.py"))
    found = imports.with_imports([path for path in own if measures(path)], measures)
    return {Path(os.path.relpath(path, folder)).as_posix(): path for path in found}


def _part(value: str) -> list[Path]:
    """File of a memory or separation of this package that a value names, as dense:3 does memories/dense.py."""
    name = value.partition(":")[0]
    places = [Path(hopfield.__path__[0], kind, f"{name}.py") for kind in ("memories", "separations")]
    return [path for path in places if name.isidentifier() and os.path.isfile(path)]


def _digest(paths: Sequence[Path]) -> str:
    """Hash of files; of code, what it means, together with the files beside it that it imports."""
    own = [path for path in paths if path.suffix == ".py"]
    ours = [path for path in own if path.is_relative_to(hopfield.__path__[0])]
    found = [*ours, *imports.with_imports([path for path in own if path not in ours])]
    hashes = [_hash_of_code(path) for path in found] + [files.digest(path) for path in paths if path not in own]
    return hashes[0] if len(hashes) == 1 else files.fingerprint(sorted(hashes))


def _hash_of_code(path: Path) -> str:
    try:
        roots = MEASURING if path.name == "experiment.py" else ()
        return files.fingerprint(imports.meaning(path.read_bytes(), roots, "Config"))
    except OSError as error:
        raise contract.InputError(f"{path} must be a readable file, got: {error.strerror}") from None


@lru_cache(maxsize=1)
def code() -> str:
    """Hash of the code of this package that rows of all experiments can come from."""
    folders = (Path(hopfield.__path__[0]), Path(experiments.__path__[0]) / "shared")
    places = [path for folder in folders for path in sorted(folder.rglob("*.py"))]
    return files.fingerprint([files.digest(path) for path in places if "_command" not in path.parts])[:8]


def constants(config: contract.Config) -> dict:
    """Options hashed into every row: all but axes and names of files."""
    axes = {entry.name for entry in fields(config) if entry.metadata.get("axis")}
    return {name: value for name, value in files.options(config).items() if name not in axes}


class Hashes(NamedTuple):
    """Hashes of the options and files that the numbers of an experiment depend on."""

    whole: str
    """Of all that it measures."""
    rows: str
    """Of what a row depends on besides its point."""
    pooled: str
    """The same without the seed."""


NO_HASHES = Hashes("", "", "")


def hashes(experiment: str, science: dict, options: dict[str, Any]) -> Hashes:
    """Hashes of the options and files that the numbers of an experiment depend on.

    They are the same on every machine, wherever files lie.

    Args:
        experiment: its name.
        science: what `science` returned.
        options: all options that say what is measured, by name; files among them are identified by their contents.
    """
    lasting = {name: value for name, value in options.items() if name not in science["files"]}
    text = files.encode([experiment, lasting, science | {"contents": sorted(science["contents"].values())}], sort=True)
    for value, content in science["contents"].items():
        text = text.replace(files.encode(value), files.encode(content))
    named = [content for value, content in science["contents"].items() if not _part(value)]  # memories are columns
    rows = [experiment, science | {"contents": sorted(named)}]
    seedless = [experiment, {name: value for name, value in rows[1].items() if name != "seed"}]
    digests = (hashlib.sha256(text.encode()).hexdigest(), files.fingerprint(rows), files.fingerprint(seedless))
    return Hashes(*(each[:16] for each in digests))


def _named_contents(value: Any, option: str) -> Iterator[tuple[str, str, str]]:
    """Files of data or code, and functions given in Python, that options name: the option, its value, their hash."""
    if isinstance(value, dict):
        for key, entry in value.items():
            yield from _named_contents(entry, f"{option}.{key}" if option else str(key))
    elif isinstance(value, list | tuple):
        for number, entry in enumerate(value):
            yield from _named_contents(entry, f"{option}[{number}]")
    elif isinstance(value, str):
        after = value.partition(":")[2]  # of a word, as mapped:a.npy; the 3 of dense:3 is no file
        names = (value, after if os.sep in after or re.search(r"\.[A-Za-z]", after) else "")
        data = (Path(os.path.expanduser(name)) for name in names)
        if (given := outside.contents(value)) is not None:
            yield option, value, given
        elif paths := [path for path in data if os.path.isfile(path)][:1] or outside.sources(value) or _part(value):
            yield option, value, _digest(paths)


def _precision() -> dict[str, Any]:
    return {name: getattr(jax.config, name, None) for name in _SETTINGS} | {"jax_default_matmul_precision": MATMUL}


@lru_cache(maxsize=1)
def environment() -> dict[str, str]:
    """Environment that this process computes in: versions, system, device and the flags of the compiler."""
    device = jax.devices()[0]
    versions = {"python": platform.python_version(), "system": f"{platform.system()} {platform.machine()}"}
    versions |= {
        "platform": device.platform,
        "device": device.device_kind,
        "XLA_FLAGS": os.environ.get("XLA_FLAGS", ""),
    }
    return versions | {name: version(name) for name in PACKAGES} | {"code": code()}


class Difference(NamedTuple):
    """Difference of two sciences: its name, the value held in the folder and the value asked for."""

    name: str
    held: str
    asked: str


def difference(held: dict, asked: dict) -> Difference | None:
    """The first thing in which the headings of two ledgers differ, None if their rows may stand in one folder.

    Contents of files that only one of them names make no difference: rows of the other can stand beside them.
    """
    shared = held["science"].get("contents", {}).keys() & asked["science"].get("contents", {}).keys()
    old, new = (_flat(heading, shared) for heading in (held, asked))
    for name in new | old:
        if old.get(name) != new.get(name):
            return Difference(name, *(each.get(name, "nothing") for each in (old, new)))
    return None


def _flat(heading: dict, shared: Collection[str]) -> dict[str, str]:
    """Entries of a heading, in words of the command line, by the names of options and settings."""
    science = heading["science"]
    entries = {"experiment": heading["experiment"]}
    for name, value in science.items():
        if name == "precision":
            entries |= {key.upper(): files.encode(entry) for key, entry in value.items()}
        elif name in ("files", "contents"):
            chosen = {key: entry[:8] for key, entry in value.items() if name == "files" or key in shared}
            entries |= {f"contents of {key}": f"those of hash {entry}" for key, entry in chosen.items()}
        else:
            entries[name] = files.encode(value)
    return entries
