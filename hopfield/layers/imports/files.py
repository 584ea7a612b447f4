"""Files of checkpoints: where they lie, config.json, and the tensors of safetensors files, on plain numpy."""

import importlib
import json
import math
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from hopfield._checks import as_path

DTYPES = {"F64": np.float64, "F32": np.float32, "F16": np.float16, "BF16": jnp.bfloat16}
DTYPES |= {"I64": np.int64, "I32": np.int32, "I16": np.int16, "I8": np.int8, "U8": np.uint8, "BOOL": np.bool_}


def locate(path: str | Path) -> Path:
    """The safetensors file, or the index of several, that a path or "hf:organisation/name" means.

    Raises:
        ValueError: there is none, or huggingface_hub is asked for and not installed.
    """
    if str(path).startswith("hf:"):
        try:
            hub = importlib.import_module("huggingface_hub")
        except ImportError:
            raise ValueError(
                f"checkpoint must be local unless huggingface_hub is installed, got {str(path)!r}"
            ) from None
        path = hub.snapshot_download(str(path)[3:], allow_patterns=["*.json", "*.safetensors", "vocab.txt"])
    place = as_path("checkpoint", path)
    if place.is_dir():
        usual = [place / "model.safetensors", place / "model.safetensors.index.json"]
        found = [file for file in usual if file.is_file()] or sorted(place.glob("*.safetensors"))
        if not found:
            raise ValueError(f"checkpoint must be a directory with a safetensors file, got '{place}'")
        return found[0]
    if not place.is_file():
        raise ValueError(f"checkpoint must name an existing safetensors file or its directory, got '{place}'")
    return place


def read_config(place: Path) -> dict[str, Any]:
    """The config.json beside a checkpoint; empty if there is none. ValueError if it is damaged."""
    file = place.parent / "config.json"
    return _object(file) if file.is_file() else {}


def _object(file: Path) -> dict[str, Any]:
    """Entries of a JSON file by name."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):  # not JSON, or not UTF-8
        raise ValueError(f"path must be a JSON file, got '{file}'") from None
    if not isinstance(found, dict):
        raise ValueError(f"path must be a JSON file of names and values, got '{file}'")
    return found


def read_tensors(place: str | Path) -> dict[str, np.ndarray]:
    """Every tensor of a safetensors file, or of the files in an index, as views of the mapped file.

    Raises:
        ValueError: the file is not safetensors, is damaged, or has a number type that numpy does not know; an index
            that names no files, or files beyond its own directory.
    Source: the safetensors format: 8 bytes with the length of a JSON header, the header, the numbers.
    """
    place = Path(place)
    if place.suffix == ".json":
        return {name: x for file in _indexed(place) for name, x in read_tensors(file).items()}
    data = np.memmap(place, np.uint8, "r") if place.stat().st_size else np.zeros(0, np.uint8)
    length = int.from_bytes(data[:8].tobytes(), "little")
    try:
        if not 2 <= length <= len(data) - 8:
            raise ValueError
        header = json.loads(data[8 : 8 + length].tobytes())
        header.pop("__metadata__", None)
        body = data[8 + length :]
        return {name: _tensor(body, entry) for name, entry in header.items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ValueError(f"path must be a safetensors file with known number types, got '{place}'") from None


def _indexed(place: Path) -> list[Path]:
    """The files that an index names, all beside it."""
    names = _object(place).get("weight_map")
    if not isinstance(names, dict) or not names or not all(isinstance(name, str) for name in names.values()):
        raise ValueError(f"path must be an index with the files of a weight_map, got '{place}'")
    found = sorted(set(names.values()))
    for name in found:
        file = place.parent / name
        if Path(name).name != name or file.suffix == ".json" or not file.is_file():
            raise ValueError(f"path must be an index of safetensors files beside it, got {name!r} in '{place}'")
    return [place.parent / name for name in found]


def _tensor(body: np.ndarray, entry: dict[str, Any]) -> np.ndarray:
    """One tensor; ValueError unless its place lies within the file and holds as many numbers as its shape says."""
    (start, stop), shape, dtype = entry["data_offsets"], entry["shape"], np.dtype(DTYPES[entry["dtype"]])
    if not all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in (start, stop, *shape)):
        raise ValueError
    if not start <= stop <= len(body) or stop - start != math.prod(shape) * dtype.itemsize:
        raise ValueError
    return body[start:stop].view(dtype).reshape(shape)
