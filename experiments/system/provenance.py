"""Provenance of a measured row: its options, files and precision, and the software that computed it."""

import hashlib
import importlib
import importlib.util
import os
import pkgutil
import platform
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import fields
from functools import cached_property, lru_cache
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import jax

from experiments import contract
from experiments.contract import Point
from experiments.system import files
from experiments.system.versions import version
from hopfield import outside

MATMUL = "highest"
"""Precision of matrix products in every experiment."""
PACKAGES = ("hopfield", "jax", "jaxlib", "numpy", "scipy", "flax", "optax", "scikit-learn")
MEASURING = ("points", "refine", "inputs", "pieces", "measure_piece", "measure")
"""Functions of an experiment on which rows depend: they, methods of its options and what they use are code of rows."""
RECORDED = ("hopfield", "experiments.shared")
"""Packages whose code is recorded as a whole, so that other rows are told of."""
_TOOLS = ("bounds", "columns", "contract", "figures", "runner", "system")
"""Modules of `experiments` that change no row."""
_PACKAGES = {"experiments": True} | dict.fromkeys([*RECORDED, *(f"experiments.{name}" for name in _TOOLS)], False)
"""Packages whose code counts for rows as it is (True), or by its names."""
_SEEN: dict[str, str] = {}
"""Hashes of what options have named in this process."""
_SETTINGS = ("jax_enable_x64", "jax_default_prng_impl", "jax_threefry_partitionable")


def science(
    experiment: ModuleType, config: contract.Config, points: Sequence[Point] = (), unsure: list[str] | None = None
) -> dict:
    """Science of an experiment: all that its rows depend on besides their points.

    Args:
        experiment: its module.
        config: its options.
        points: those to be measured.
        unsure: takes sentences on what they depend on and has no value to compare.

    Returns:
        What `constants` says, with
        precision: JAX's types and products of numbers and its generator of random ones.
        python: its version, which code as it was loaded belongs to.
        files: hashes of the files and code that options name and that every row depends on, by option, and of the code
            of the experiment, by module.
        contents: hashes of the files and code that points name, and of the memories and separations of this package
            that they name, on which the rows of these points alone depend, by name.
    """
    hashes: dict[str, str] = {}
    contents: dict[str, str] = {}
    told = [] if unsure is None else unsure
    for option, value, content in _named_contents(files.options(config), "", told):
        if any(value in point.values() for point in points):
            contents[value] = content
        else:
            hashes[option] = content
    further = getattr(experiment, "inputs", None)
    hashes |= {path.name: files.digest(path) for path in (further(config) if further is not None else ())}
    found = code_of(experiment, type(config))
    told += found.unsure
    hashes |= {_file(name, experiment): digest for name, digest in found.parts.items() if name}
    python = ".".join(platform.python_version_tuple()[:2])
    about = {"precision": _precision(), "python": python, "files": hashes, "contents": contents}
    return constants(config) | about


def code_of(experiment: ModuleType, options: type) -> outside.Contents:
    """Code that rows of an experiment come from; packages which are recorded or change no row count by their names."""
    roots = {name: getattr(experiment, name) for name in MEASURING if hasattr(experiment, name)}
    for cls in (cls for cls in options.__mro__ if cls is not contract.Config and issubclass(cls, contract.Config)):
        made = {"__init__", "__repr__", "__eq__", "__replace__", *(field.name for field in fields(cls))}
        own = {name: value for name, value in vars(cls).items() if name not in made}
        roots |= {f"{cls.__name__}.{name}": value for name, value in own.items() if _is_code(value)}
    return outside.contents_of(roots, _PACKAGES)


def _is_code(value: Any) -> bool:
    return isinstance(value, FunctionType | property | staticmethod | classmethod | cached_property)


def _file(module: str, experiment: ModuleType) -> str:
    """Name of a module's file, below the folder of the experiment if it lies there."""
    return f"{module.removeprefix(experiment.__name__.rpartition('.')[0] + '.').replace('.', '/')}.py"


def _part(value: str) -> ModuleType | None:
    """Module of a memory or separation of this package that a value names, as dense:3 does hopfield.memories.dense."""
    name = value.partition(":")[0]
    for kind in ("memories", "separations"):
        if name.isidentifier() and importlib.util.find_spec(f"hopfield.{kind}.{name}") is not None:
            return importlib.import_module(f"hopfield.{kind}.{name}")
    return None


@lru_cache(maxsize=1)
def code() -> str:
    """Hash of the code of this package that rows of all experiments can come from.

    It ends with "?" where a file has changed since it was imported: rows do not come from what stands there.
    """
    specs = [spec for package in RECORDED if (spec := importlib.util.find_spec(package)) is not None]
    paths = [path for spec in specs for path in _sources(spec)]
    changed = any(os.stat(path).st_mtime > outside.IMPORTED for path in paths)
    return files.fingerprint([files.digest(path) for path in paths])[:8] + ("?" if changed else "")


def _sources(spec: ModuleSpec) -> Iterator[Path]:
    """Files of a module and of all that lie in its package, in one order wherever it is installed."""
    if spec.origin is not None:
        yield Path(spec.origin)
    if spec.submodule_search_locations is None:
        return
    for found in pkgutil.iter_modules(spec.submodule_search_locations):
        inner = found.module_finder.find_spec(found.name, None)  # which imports nothing
        if inner is not None:
            yield from _sources(inner)


def changed(config: contract.Config) -> bool:
    """True if code that options name is other code than what had its name in this process."""
    found = {value: content for _, value, content in _named_contents(files.options(config), "", [])}
    other = any(_SEEN.get(value, content) != content for value, content in found.items())
    _SEEN.update(found)
    return other


def constants(config: contract.Config) -> dict:
    """Options hashed into every row: all but axes and names of files."""
    axes = {entry.name for entry in fields(config) if entry.metadata.get("axis")}
    return {name: value for name, value in files.options(config).items() if name not in axes}


class Hashes(NamedTuple):
    """Hashes of the options and files that the numbers of an experiment depend on."""

    whole: str
    """Hash of all that it measures."""
    rows: str
    """Hash of what a row depends on besides its point."""
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
    named = [content for value, content in science["contents"].items() if _part(value) is None]  # memories are columns
    rows = [experiment, science | {"contents": sorted(named)}]
    seedless = [experiment, {name: value for name, value in rows[1].items() if name != "seed"}]
    digests = (hashlib.sha256(text.encode()).hexdigest(), files.fingerprint(rows), files.fingerprint(seedless))
    return Hashes(*(each[:16] for each in digests))


def _named_contents(value: Any, option: str, unsure: list[str]) -> Iterator[tuple[str, str, str]]:
    """Files of data, and code, that options name: the option, its value, their hash."""
    if isinstance(value, dict):
        for key, entry in value.items():
            yield from _named_contents(entry, f"{option}.{key}" if option else str(key), unsure)
    elif isinstance(value, list | tuple):
        for number, entry in enumerate(value):
            yield from _named_contents(entry, f"{option}[{number}]", unsure)
    elif isinstance(value, str):
        after = value.partition(":")[2]  # of a word, as mapped:a.npy; the 3 of dense:3 is no file
        names = (value, after if os.sep in after or re.search(r"\.[A-Za-z]", after) else "")
        data = [path for name in names if os.path.isfile(path := Path(os.path.expanduser(name)))]
        if data:
            yield option, value, files.digest(data[0])
        elif given := outside.contents(value):
            unsure += given.unsure
            yield option, value, given.hash
        elif (module := _part(value)) is not None:
            yield option, value, outside.contents_of({value: module}, {"hopfield": False, module.__name__: True}).hash


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
