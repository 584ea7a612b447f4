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
    ("loads=null patterns=[3] parity=even", "parity must not be given together with patterns"),
    ("memories=[dense:03]", "memories must be written as in dense:3, got 'dense:03'"),
    ("memories=[dense:3,dense:+3]", "memories must be written as in dense:3, got 'dense:\\+3'"),
    ("memories=[sparse:1.50]", "memories must be written as in sparse:1.5, got 'sparse:1.50'"),
    (
        "conf=retrieval parts=[few] part.many.samples=3",
        "part.many.samples must belong to .* measured, few",
    ),
    ("conf=separation patterns=[10,40] separations=[top_k:11]", "at most the least of patterns, 10, got top_k:11"),
    ("memories=[dense,dense:3]", "memories must be different from each other, got 'dense' and 'dense:3', which are"),
    (
        "ensembles=[good.npy,./good.npy] loads=null patterns=[3]",
        "different from each other, got 'good.npy' and './good.npy'",
    ),
    (
        "ensembles=[good.npy,copy.npy] loads=null patterns=[3]",
        "different from each other, got 'good.npy' and 'copy.npy'",
    ),
    ("dynamics=[synchronous,synchronous] memories=[classical]", "^error: dynamics must be different from each other"),
    ("corruption=[0.1,flip:0.1]", "^error: corruption must be different from each other, got 0.1 and 'flip:0.1'"),
    ("corruption=[0,noise:0]", "^error: corruption must be different from each other, got 0 and 'noise:0'"),
    ("conf=separation across=[lower:0.5,lower:.5]", "^error: across must be different .* 'lower:0.5' and 'lower:.5'"),
    ("conf=retrieval parts=[few,few]", "^error: parts must be different from each other, got \\['few', 'few'\\]"),
    ("per_memory.classical.loads=[0.1,0.1]", "^error: per_memory.classical.loads must be different from each other"),
    (
        "conf=retrieval part.memories.memories=[dense,dense:3]",
        "^error: part.memories.memories must be different .* 'dense' and 'dense:3'",
    ),
    ("conf=separation separations=[top_k:0]", "^error: separations must hold .*, got 'top_k:0': count must be an int"),
    ("conf=training separations=[softmax,entmax:1]", "^error: separations must hold .*, got 'entmax:1': alpha must"),
    ("memories=[dense:2.5]", "^error: memories must hold .*, got 'dense:2.5': memory dense takes an integer"),
    ("conf=separation across=[flip:7]", "^error: across must hold .*, got 'flip:7': corruption must have a fraction"),
    ("conf=separation separations=[hardmax]", "^error: separations must be any of rectified, "),
    ("memories=[classical] neurons=[100,250] samples={250:3}", "^error: samples must name a size of at most N=100, "),
    ("samples={0:4} per_memory.classical.samples=2", "samples must not be given together with per_memory.classical"),
    ("samples=2 samples=3", "samples must be given once, got samples=2 and samples=3"),
    (
        "per_memory.dense:3.queries=2 +per_memory={dense\\:3:{queries:1}}",
        "per_memory.dense:3.queries must be given once",
    ),
    ("conf=capacity conf=capacity_dense", "conf must be given once, got conf=capacity and conf=capacity_dense"),
    ("wandb={mode:disabled} wandb.mode=online", "wandb.mode must be given once"),
    ("memories=[]", "memories must .*got \\[\\]"),
    ("memories=classical", "memories must be a list of strings, got classical"),
    ("memories=[dense:x]", "dense:x"),
    ("memories=[dense:1]", "degree must be .*got 1"),
    ("memories=[classical:3]", "classical"),
    ("neurons=[-5]", "neurons must .*got -5"),
    ("neurons=[0]", "neurons must .*got 0"),
    ("neurons=[]", "neurons must .*got \\[\\]"),
    ("neurons=[30.5]", "neurons\\[0\\] must be an integer, got 30.5"),
    ("neurons=250", "neurons must be a list of integers or null, got 250; did you mean neurons=\\[250\\]\\?$"),
    ("loads=[0]", "loads must .*got 0"),
    ("loads=[-0.1]", "loads must .*got -0.1"),
    ("loads=[]", "loads must .*got \\[\\]"),
    ("loads=[nan]", "loads must .*got nan"),
    ("loads=[1e9]", "loads must .*got 1e\\+11"),
    ("samples=0", "samples must .*got 0"),
    ("queries=-1", "queries must .*got -1"),
    ("dynamics=[sideways]", "dynamics must be one of asynchronous, synchronous, got 'sideways'"),
    ("dynamics=[]", "dynamics must .*got \\[\\]"),
    ("memories=[modern] dynamics=[asynchronous]", "dynamics must be synchronous for modern"),
    ("corruption=[2]", "corruption must .*got 2"),
    ("corruption=['fold:0.1']", "corruption must .*got 'fold:0.1'"),
    ("corruption=[[1]]", "corruption must be a list of values or null, got \\[\\[1\\]\\]"),
    ("per_memory.classical.samples=0", "samples must .*got 0"),
    (
        "per_memory={} per_memory.classical.samples=3",
        "per_memory.classical.samples=3 must name an entry that per_memory={} does not clear",
    ),
    ("per_memory.clasical.samples=3", "per_memory.clasical.samples=3 must set an entry that per_memory has"),
    ("ensembles=[nowhere.npy]", "ensembles must name an existing .*got 'nowhere.npy'"),
    ("ensembles=[objects.npy]", "without pickled data, got 'objects.npy'"),
    ("conf=entropy ensembles=[text.npy]", "ensembles must be a sound .npy or .npz file .*got 'text.npy'"),
    ("conf=heads checkpoint=./nowhere", "checkpoint must name an existing safetensors file .*got 'nowhere'"),
    (
        "ensembles=['mapped:line.npy'] dynamics=[synchronous] max_steps=1 memories=[classical]",
        "ensembles must name .*got 'mapped:line.npy'",
    ),
    ("ensembles=[objects.npz]", "got 'objects.npz'"),
    ("ensembles=[pickle.npy]", "without pickled data, got 'pickle.npy'"),
    ("ensembles=[text.npy]", "got 'text.npy'"),
    ("ensembles=[line.npy]", "must hold patterns of shape .*'line.npy'"),
    ("ensembles=[words.npy]", "must hold real numbers.*'words.npy'"),
    ("ensembles=[nan.npy]", "finite.*'nan.npy'"),
    ("ensembles=[two.npz]", "'faces', 'places'.*'two.npz'"),
    ("ensembles=[.]", "got '.'"),
    ("ensembles=[good.npy] neurons=[30]", "neurons must be 20 for the patterns of good.npy, got \\[30\\]"),
    ("ensembles=[good.npy] memories=[classical] neurons=[20] loads=[0.5]", "6 patterns of good.npy, got 11"),
]


class Bomb:
    """Unpickling this makes a directory, and so shows that data was executed."""

    def __reduce__(self) -> tuple:
        return Path.mkdir, (Path("exploded"),)


def test_the_bomb_goes_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pickle.loads(pickle.dumps(Bomb()))
    assert Path("exploded").is_dir()


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


def test_a_mapped_file_of_whole_numbers_is_named_as_it_was_given(command: Callable, tmp_path: Path) -> None:
    np.save(tmp_path / "big.npy", np.ones((3, 4), np.int8))
    words = "ensembles=[mapped:big.npy] patterns=[2] dynamics=[synchronous] max_steps=1"
    outcome = command("conf=capacity", *words.split())
    assert outcome.code == 2
    asked = "ensembles must name a .npy file of a matrix [M, N] of float16, float32 or float64, got 'mapped:big.npy'"
    assert outcome.err == f"error: {asked}, which holds int8 of shape (3, 4)\n"
