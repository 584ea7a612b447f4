"""Files of patterns: what is read, what never runs, and a sentence for each that is damaged."""

import os
import pickle
import zipfile
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield.patterns import datasets

RNG = np.random.default_rng(0)
NUMBERS = RNG.normal(size=(6, 4))


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (NUMBERS, NUMBERS),
        (NUMBERS.astype(np.float32), NUMBERS.astype(np.float32)),
        (np.arange(24, dtype=np.uint8).reshape(2, 3, 4), np.arange(24.0).reshape(2, 12)),
        (np.ones((2, 2, 3, 2), bool), np.ones((2, 12))),
        (np.asfortranarray(NUMBERS), NUMBERS),
        (NUMBERS.astype(">f8"), NUMBERS),
    ],
    ids=["float64", "float32", "images", "bool", "fortran", "big-endian"],
)
def test_files_are_read_as_one_pattern_per_row(tmp_path, array, expected):
    np.save(tmp_path / "patterns.npy", array)
    loaded = datasets.from_file(tmp_path / "patterns.npy")
    assert loaded.dtype == jnp.float64
    np.testing.assert_array_equal(loaded, expected)
    np.savez_compressed(tmp_path / "patterns.npz", only=array)
    np.testing.assert_array_equal(datasets.from_file(str(tmp_path / "patterns.npz")), expected)


def test_files_are_single_precision_without_x64(tmp_path):
    np.save(tmp_path / "patterns.npy", NUMBERS)
    np.save(tmp_path / "large.npy", NUMBERS * 1e39)
    with jax.enable_x64(False):
        loaded = datasets.from_file(tmp_path / "patterns.npy")
        assert loaded.dtype == jnp.float32
        np.testing.assert_array_equal(np.asarray(loaded), NUMBERS.astype(np.float32))
        with pytest.raises(ValueError, match="path must hold numbers finite in float32, got others in row 0"):
            datasets.from_file(tmp_path / "large.npy")


class Malicious:
    """Creates a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def write_pickle(path, payload):
    path.write_bytes(pickle.dumps(payload))


def write_object_npy(path, payload):
    with path.open("wb") as file:
        np.save(file, np.array([[payload, 1], [2, 3]], object), allow_pickle=True)


def write_object_npz(path, payload):
    with path.open("wb") as file:
        np.savez(file, patterns=np.array([[payload, 1], [2, 3]], object))


def write_pickle_in_zip(path, payload):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("patterns", pickle.dumps(payload))


def write_pickle_named_npy_in_zip(path, payload):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("patterns.npy", pickle.dumps(payload))


PICKLES = [
    write_pickle,
    write_object_npy,
    write_object_npz,
    write_pickle_in_zip,
    write_pickle_named_npy_in_zip,
]


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".pkl"])
@pytest.mark.parametrize("write", PICKLES, ids=lambda write: write.__name__)
def test_pickled_data_never_executes(tmp_path, write, suffix):
    witness, path = tmp_path / "witness", tmp_path / f"patterns{suffix}"
    write(path, Malicious(witness))
    with pytest.raises(ValueError, match=r"^path must .*, got .*patterns") as caught:
        datasets.from_file(path)
    assert not witness.exists()
    assert "\n" not in str(caught.value)


def npy(array):
    def write(path):
        with path.open("wb") as file:
            np.save(file, array)

    return write


def npz(**arrays):
    def write(path):
        with path.open("wb") as file:
            np.savez(file, **arrays)

    return write


def truncated(keep):
    def write(path):
        npy(NUMBERS)(path)
        path.write_bytes(path.read_bytes()[:keep])

    return write


def damaged_zip(path):
    npz(a=NUMBERS)(path)
    content = bytearray(path.read_bytes())
    content[200:240] = bytes(40)
    path.write_bytes(content)


def endless_header(path):
    npy(NUMBERS)(path)
    path.write_bytes(path.read_bytes().replace(b"(6, 4)", b"(9" + b"0" * 12 + b", 4)"))


BAD_FILES = {
    "missing": (lambda path: None, None, "path must name an existing .npy, .npz or .csv file"),
    "directory": (Path.mkdir, None, "path must name an existing .npy, .npz or .csv file"),
    "pipe": (os.mkfifo, None, "path must name an existing .npy, .npz or .csv file"),
    "empty": (lambda path: path.touch(), None, "path must be a sound .npy or .npz file without pickled data"),
    "text": (lambda path: path.write_text("1,2\n3,4\n"), None, "path must be a sound .npy or .npz file"),
    "cut header": (truncated(50), None, "path must be a sound .npy or .npz file"),
    "cut data": (truncated(200), None, "path must be a sound .npy or .npz file"),
    "damaged zip": (damaged_zip, None, "path must be a sound .npy or .npz file"),
    "impossible size": (endless_header, None, "path must be a sound .npy or .npz file"),
    "rank 0": (npy(np.float64(1.0)), None, r"path must hold patterns of shape \[M, N\].*, got \(\)"),
    "rank 1": (npy(np.ones(4)), None, r"path must hold patterns of shape \[M, N\].*, got \(4,\)"),
    "no pattern": (npy(np.ones((0, 4))), None, r"path must hold patterns .*, got \(0, 4\)"),
    "no neuron": (npy(np.ones((4, 0))), None, r"path must hold patterns .*, got \(4, 0\)"),
    "text array": (npy(np.array([["a", "b"]])), None, "path must hold real numbers, got <U1"),
    "complex": (npy(np.ones((2, 2), complex)), None, "path must hold real numbers, got complex128"),
    "dates": (npy(np.zeros((2, 2), "M8[s]")), None, "path must hold real numbers, got datetime64"),
    "record": (npy(np.zeros((2, 2), "f8,i4")), None, "path must hold real numbers"),
    "nan": (npy(np.array([[1.0, 2.0], [3.0, np.nan]])), None, "numbers finite in float64, got others in row 1"),
    "infinite": (npy(np.array([[1.0, -np.inf]])), None, "numbers finite in float64, got others in row 0"),
    "several": (npz(a=NUMBERS, b=NUMBERS), None, "path must hold a single array where none is named, got 'a', 'b' in"),
    "thousands": (npz(**{f"a{i}": NUMBERS for i in range(2000)}), None, "'a7', 1992 more in"),
    "unknown name": (npz(a=NUMBERS, b=NUMBERS), "c", "name must be one of 'a', 'b', got 'c'"),
    "no array": (npz(), None, "path must hold at least one array, got none"),
    "name for npy": (npy(NUMBERS), "a", "name must be None for a .npy file, got 'a'"),
}


@pytest.mark.parametrize(("write", "name", "message"), BAD_FILES.values(), ids=BAD_FILES)
def test_bad_files_end_in_one_sentence(tmp_path, write, name, message):
    path = tmp_path / "patterns.file"
    write(path)
    with pytest.raises(ValueError, match=message) as caught:
        datasets.from_file(path, name)
    assert "patterns.file" in str(caught.value)
    assert "\n" not in str(caught.value)
