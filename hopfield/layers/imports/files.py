"""Files of checkpoints: where they lie, config.json, and the tensors of safetensors files."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open

from hopfield._arguments import as_path

MOST = 4
"""Folders that a message names."""


def locate(path: str | Path) -> Path:
    """The safetensors file, or the index of several, that a path, "package:name" or "hf:organisation/name" means.

    In a package the one model that lies anywhere below is meant.

    Raises:
        ValueError: there is none, with the folders below that have one; a package that is not installed or has several;
            huggingface_hub is asked for and not installed or cannot fetch it.
    """
    packaged = str(path).startswith("package:")
    if packaged:
        path = _package(str(path).removeprefix("package:"))
    if str(path).startswith("hf:"):
        try:
            hub = importlib.import_module("huggingface_hub")
        except ImportError:
            raise ValueError(
                f"checkpoint must be local unless huggingface_hub is installed, got {str(path)!r}"
            ) from None
        try:
            path = hub.snapshot_download(str(path)[3:], allow_patterns=["*.json", "*.safetensors", "vocab.txt"])
        except Exception as error:  # of the network, the file system, the name: each has a class of its own
            reason = f"{type(error).__name__}: {' '.join(str(error).split())[:100]}"
            raise ValueError(f"checkpoint must be one that can be fetched, got {str(path)!r} ({reason})") from error
    place = as_path("checkpoint", path)
    if place.is_dir():
        below = sorted({file.parent for file in place.rglob("*.safetensors")}) if not _files(place) else []
        if packaged and len(below) == 1:
            place = below[0]
        if not (files := _files(place)):
            shown = ", ".join(f"'{folder.relative_to(place)}'" for folder in below[:MOST])
            where = f", below which they lie in {shown}{' and others' * (len(below) > MOST)}" if below else ""
            raise ValueError(f"checkpoint must be a directory with a safetensors file, got '{place}'{where}")
        return files[0]
    if not place.is_file():
        raise ValueError(f"checkpoint must name an existing safetensors file or its directory, got '{place}'")
    return place


def _files(folder: Path) -> list[Path]:
    """The safetensors files right in a folder, the one that stands for all of them first."""
    usual = [folder / "model.safetensors", folder / "model.safetensors.index.json"]
    return [file for file in usual if file.is_file()] or sorted(folder.glob("*.safetensors"))


def _package(name: str) -> Path:
    """Folder of an installed package, which is not imported."""
    spec = importlib.util.find_spec(name) if name.isidentifier() else None
    if spec is None or not spec.submodule_search_locations:
        raise ValueError(f"checkpoint must name an installed package as it is imported, got {name!r}")
    return Path(next(iter(spec.submodule_search_locations)))


def read_config(place: Path, name: str = "config.json") -> dict[str, Any]:
    """The config.json beside a checkpoint, or another JSON file. Empty if there is none. ValueError if damaged."""
    file = place.parent / name
    return _object(file) if file.is_file() else {}


def _object(file: Path) -> dict[str, Any]:
    """Entries of a JSON file by name."""
    try:
        entries = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):  # not JSON, or not UTF-8
        raise ValueError(f"path must be a JSON file, got '{file}'") from None
    if not isinstance(entries, dict):
        raise ValueError(f"path must be a JSON file of names and values, got '{file}'")
    return entries


def read_tensors(place: str | Path) -> dict[str, np.ndarray]:
    """Tensors of a safetensors file, or of the files in an index.

    Raises:
        ValueError: the file is not safetensors, is damaged, or has a number type that numpy does not know; an index
            that names no files, or files beyond its own directory.
    """
    place = Path(place)
    if place.suffix == ".json":
        return {name: x for file in _files_of_index(place) for name, x in read_tensors(file).items()}
    try:
        with safe_open(place, framework="numpy") as file:
            return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no mapping
    except (SafetensorError, OSError, TypeError, AttributeError):
        raise ValueError(f"path must be a safetensors file with known number types, got '{place}'") from None


def _files_of_index(place: Path) -> list[Path]:
    """The files that an index names, all beside it."""
    names = _object(place).get("weight_map")
    if not isinstance(names, dict) or not names or not all(isinstance(name, str) for name in names.values()):
        raise ValueError(f"path must be an index with the files of a weight_map, got '{place}'")
    files = sorted(set(names.values()))
    for name in files:
        file = place.parent / name
        if Path(name).name != name or file.suffix == ".json":
            raise ValueError(f"path must be an index of safetensors files beside it, got {name!r} in '{place}'")
        if not file.is_file():
            raise ValueError(f"path must be an index of files that are all there, {name!r} is missing beside '{place}'")
    return [place.parent / name for name in files]
