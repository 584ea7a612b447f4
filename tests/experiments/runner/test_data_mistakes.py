"""Mistakes about memories, options and files of patterns end in one sentence, and no data is executed."""

import pickle
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

CAPACITY = [
    ("memories=[clasical]", "must be one of adatron, classical, .*got 'clasical'"),
    ("samples=1 per_memory.classical.samples=2", "samples must not be given together with per_memory"),
    (
        "conf=retrieval parts=[few] part.many.samples=3",
        "part.many.samples must belong to .* measured, few",
    ),
    (
        "ensembles=[good.npy,copy.npy] loads=null patterns=[3]",
        "different from each other, got 'good.npy' and 'copy.npy'",
    ),
    ("neurons=250", "neurons must be a list of integers or null, got 250; did you mean neurons=\\[250\\]\\?$"),
    ("loads=[0]", "loads must .*got 0"),
    ("memories=[modern] dynamics=[asynchronous]", "dynamics must be synchronous for modern"),
    ("per_memory.clasical.samples=3", "per_memory.clasical.samples=3 must set an entry that per_memory has"),
    ("ensembles=[nowhere.npy]", "ensembles must name an existing .*got 'nowhere.npy'"),
    ("ensembles=[objects.npy]", "without pickled data, got 'objects.npy'"),
    ("ensembles=[nan.npy]", "finite.*'nan.npy'"),
    ("ensembles=[two.npz]", "'faces', 'places'.*'two.npz'"),
    ("ensembles=[good.npy] neurons=[30]", "neurons must be 20 for the patterns of good.npy, got \\[30\\]"),
    ("ensembles=[good.npy] memories=[classical] neurons=[20] loads=[0.5]", "6 patterns of good.npy, got 11"),
]


class Bomb:
    """Unpickling this makes a directory, and so shows that data was executed."""

    def __reduce__(self) -> tuple:
        return Path.mkdir, (Path("exploded"),)


@pytest.fixture
def sources(tmp_path: Path) -> list[Path]:
    """Files of patterns that cannot be used; all there is before the command."""
    np.save(tmp_path / "objects.npy", np.array([[Bomb()]], dtype=object), allow_pickle=True)
    (tmp_path / "pickle.npy").write_bytes(pickle.dumps(Bomb()))
    np.savez(tmp_path / "objects.npz", patterns=np.array([[Bomb()]], dtype=object), allow_pickle=True)
    np.save(tmp_path / "line.npy", np.ones(3))
    np.save(tmp_path / "words.npy", np.array([["a", "b"]]))
    np.save(tmp_path / "nan.npy", np.full((4, 5), np.nan))
    np.save(tmp_path / "good.npy", np.sign(np.random.default_rng(0).normal(size=(6, 20))))
    (tmp_path / "copy.npy").write_bytes((tmp_path / "good.npy").read_bytes())
    np.savez(tmp_path / "two.npz", faces=np.ones((3, 4)), places=np.ones((3, 4)))
    (tmp_path / "text.npy").write_text("1 2 3")
    return sorted(tmp_path.rglob("*"))


@pytest.mark.parametrize(("words", "sentence"), CAPACITY, ids=[line for line, _ in CAPACITY])
def test_a_mistake_about_capacity_ends_in_one_sentence_and_runs_no_data(
    command: Callable, tmp_path: Path, sources: list[Path], words: str, sentence: str
) -> None:
    outcome = command(*(words if words.startswith("conf=") else f"conf=capacity {words}").split(" "))
    assert re.search(sentence, outcome.err), outcome.err
    assert re.fullmatch(r"error: [^\n]+\n", outcome.err)
    assert (outcome.code, outcome.out) == (2, "")
    assert sorted(tmp_path.rglob("*")) == sources
