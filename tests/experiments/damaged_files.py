"""Command lines about damaged files: of patterns, checkpoints, texts, results and ledgers."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np


class Line(NamedTuple):
    """Command line: its module, its words, and the names that its error sentence may contain."""

    module: str
    words: tuple[str, ...]
    names: tuple[str, ...]


def write_damaged_files(folder: Path) -> list[Line]:
    """Command lines with damaged files, which are written to a folder."""
    rng = np.random.default_rng(0)
    good = np.where(rng.random((12, 8)) < 0.5, -1.0, 1.0).astype(np.float32)
    found: list[Line] = []
    for name, make in _arrays(good).items():
        path = folder / name
        make(path)
        kinds = ["capacity ensembles=[{}] memories=[modern] patterns=[5]", "separation ensembles=[{}] patterns=[3]"]
        if path.suffix == ".npy":
            mapped = "capacity ensembles=['mapped:{}'] memories=[exponential] patterns=[5] samples=1 max_steps=1"
            kinds = [f"{mapped} dynamics=[synchronous]", "retrieval ensembles=[{}] patterns=[3]"]
        for kind in kinds:
            words = f"conf={kind}".format(path).split(" ")
            found.append(Line("experiments.run", tuple(words), ("path", "ensembles", "patterns", name)))
    parts = ("path", "checkpoint", "text", "heads", "length", "layer", "vocabulary", "tensor")
    found += [Line("experiments.run", words, parts) for words in _checkpoints(folder)]
    found += [Line("experiments.plot", (str(path),), (path.name,)) for path in _results(folder)]
    for path in _outputs(folder):
        words = ("conf=gradients", f"output={path}")
        found.append(Line("experiments.run", words, ("output", "ledger", "claim", path.name)))
    return found


def _arrays(good: np.ndarray) -> dict[str, Callable[[Path], Any]]:
    """Ways to make a file of patterns, nearly all of them bad."""

    def cut(path: Path) -> None:
        np.save(path, good)
        path.write_bytes(path.read_bytes()[:-20])

    def vast(path: Path) -> None:
        head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000, 8), }".ljust(117) + b"\n"
        path.write_bytes(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head)

    def short(path: Path) -> None:
        np.savez(path, good)
        path.write_bytes(path.read_bytes()[:60])

    with_nan = good.copy()
    with_nan[2, 3] = np.nan
    return {
        "cut.npy": cut,
        "vast.npy": vast,
        "empty.npy": lambda path: path.write_bytes(b""),
        "complex.npy": lambda path: np.save(path, good + 1j),
        "big_endian.npy": lambda path: np.save(path, good.astype(">f4")),
        "nan.npy": lambda path: np.save(path, with_nan),
        "folder.npy": lambda path: path.mkdir(),
        "pipe.npy": os.mkfifo,
        "line.npy": lambda path: np.save(path, good[0]),
        "none.npy": lambda path: np.save(path, good[:0]),
        "pickled.npy": lambda path: np.save(path, np.array([[{}]], object), allow_pickle=True),
        "text.npy": lambda path: path.write_text("1 2 3"),
        "half.npy": lambda path: np.save(path, 0.5 * good),
        "short.npz": short,
        "two.npz": lambda path: np.savez(path, a=good, b=good),
        "pickled.npz": lambda path: np.savez(path, a=np.array([[{}]], object), allow_pickle=True),
        "pipe.npz": os.mkfifo,
    }


def encoder(folder: Path, change: Callable[[dict[str, Any], Path], Any] = lambda tensors, folder: None) -> Path:
    """A small BERT of random weights in a new folder, changed before it is written."""
    rng = np.random.default_rng(0)
    folder.mkdir()
    width, words = 8, ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *"abcdefghij"]
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (len(words), width),
        "embeddings.position_embeddings.weight": (32, width),
        "embeddings.token_type_embeddings.weight": (2, width),
    }
    stem = "encoder.layer.0."
    dense = [f"attention.self.{part}" for part in ("query", "key", "value")] + ["attention.output.dense"]
    for name, size in [
        *((name, (width, width)) for name in dense),
        ("intermediate.dense", (16, width)),
        ("output.dense", (width, 16)),
    ]:
        shapes |= {f"{stem}{name}.weight": size, f"{stem}{name}.bias": size[:1]}
    for name in ("embeddings.LayerNorm", f"{stem}attention.output.LayerNorm", f"{stem}output.LayerNorm"):
        shapes |= {f"{name}.weight": (width,), f"{name}.bias": (width,)}
    tensors: dict[str, Any] = {name: rng.normal(size=size).astype(np.float32) for name, size in shapes.items()}
    (folder / "vocab.txt").write_text("\n".join(words))
    (folder / "config.json").write_text(json.dumps({"num_attention_heads": 2, "model_type": "bert"}))
    change(tensors, folder)
    header, body = {}, b""
    for name, x in tensors.items():
        header[name] = {"dtype": "F32", "shape": x.shape, "data_offsets": (len(body), len(body) + x.nbytes)}
        body += x.tobytes()
    text = json.dumps(header).encode()
    if not (folder / "model.safetensors.index.json").exists():
        (folder / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + body)
    return folder


def _checkpoints(folder: Path) -> Iterator[tuple[str, ...]]:
    """Words about checkpoints and texts, nearly all of them bad."""

    def index(target: str) -> Callable[[dict[str, Any], Path], Any]:
        text = json.dumps({"weight_map": {"a": target}})
        return lambda tensors, place: (place / "model.safetensors.index.json").write_text(text)

    query = "encoder.layer.0.attention.self.query.weight"
    changes: dict[str, Callable[[dict[str, Any], Path], Any]] = {
        "nan": lambda tensors, place: tensors[query].fill(np.nan),
        "missing": lambda tensors, place: tensors.pop("encoder.layer.0.output.dense.bias"),
        "shape": lambda tensors, place: tensors.update({"encoder.layer.0.output.dense.bias": np.ones(3, np.float32)}),
        "few_words": lambda tensors, place: tensors.update(
            {"embeddings.word_embeddings.weight": np.ones((2, 8), np.float32)}
        ),
        "no_vocabulary": lambda tensors, place: (place / "vocab.txt").unlink(),
        "latin_vocabulary": lambda tensors, place: (place / "vocab.txt").write_bytes(b"[CLS]\n\xe9"),
        "poor_vocabulary": lambda tensors, place: (place / "vocab.txt").write_text("a"),
        "bad_json": lambda tensors, place: (place / "config.json").write_text("{"),
        "list_json": lambda tensors, place: (place / "config.json").write_text("[1]"),
        "outside": index("../../../../etc/passwd"),
        "absent": index("nowhere.safetensors"),
        "good": lambda tensors, place: None,
    }  # fmt: skip
    (folder / "text.txt").write_text("a b c d e f g h i j " * 50)
    (folder / "latin.txt").write_bytes(b"\xe9" * 100)
    (folder / "empty.txt").write_text("")
    os.mkfifo(folder / "pipe.txt")
    options = (f"text={folder / 'text.txt'}", "layers=[0]", "texts=2", "length=6")
    for name, change in changes.items():
        yield ("conf=heads", f"checkpoint={encoder(folder / name, change)}", *options)
    for name, data in (("void", b""), ("tail", b"\xff" * 9), ("header", b"\x02" + b"\0" * 7 + b"[]")):
        (folder / f"{name}.safetensors").write_bytes(data)
        yield ("conf=heads", f"checkpoint={folder / name}.safetensors", *options)
    os.mkfifo(folder / "pipe.safetensors")
    yield ("conf=heads", f"checkpoint={folder / 'pipe.safetensors'}", *options)
    for text in ("latin.txt", "empty.txt", "pipe.txt"):
        yield ("conf=heads", f"checkpoint={folder / 'good'}", f"text={folder / text}", *options[1:])
    yield ("conf=heads", f"checkpoint={folder / 'good'}", *options[:-1], "length=1000")


def _results(folder: Path) -> Iterator[Path]:
    """Folders of results that cannot be drawn."""
    for number, (table, summary, config) in enumerate(
        [
            ("", "{}", "experiment: gradients"),
            ("a,b\n1,2\n", "[]", "experiment: gradients"),
            ("a,b\n1,2\n", "[" * 5000, "experiment: gradients"),
            ("a\n1\n", "{}", "experiment: &x [*x]"),
            ("a\n1\n", "{}", "experiment: ../run"),
            ("\0", '{"estimates": NaN}', "experiment: capacity"),
        ]
    ):
        path = folder / f"results{number}"
        path.mkdir()
        for name, text in (("table.csv", table), ("summary.json", summary), ("config.yaml", config)):
            (path / name).write_text(text)
        yield path


def _outputs(folder: Path) -> Iterator[Path]:
    """Output folders with a damaged ledger or claim."""
    for name in ("gibberish", "pipe", "folder"):
        path = folder / f"output_{name}"
        (path / "ledger").mkdir(parents=True)
        place = path / "ledger/a.jsonl"
        {"gibberish": lambda p: p.write_bytes(b"\xff\n{}\n[]\n"), "pipe": os.mkfifo, "folder": Path.mkdir}[name](place)
        yield path
    place = folder / "output_file"
    place.write_text("precious")
    yield place
