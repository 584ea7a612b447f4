"""Geometry of a trained transformer's heads: are heads whose forms J are close also heads that attend alike?

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

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from experiments.contract import Cost, Point, Row
from experiments.heads import encoder
from experiments.heads.config import MEASURES, Config
from experiments.heads.figure import panels
from experiments.heads.measurement import (
    ANGLES,
    BESIDE,
    BINS,
    check_reading,
    find_weights,
    load_layers,
    read_layers,
    rows_of_layer,
    rows_of_similarities,
)
from experiments.heads.summary import summarise
from experiments.system.files import digest

__all__ = ["X_AXIS", "Config", "check", "cost", "inputs", "measure", "panels", "points", "summarise"]
X_AXIS = "layer"
SPECTRUM, SIMILARITY = ("singular_value",), ("similarity", "published")
PAIR = (*MEASURES, "attention", "random", "random_deviation", "attention_error")


def check(config: Config) -> None:
    """Check that the text is there; else ValueError."""
    if config.text is not None and not Path(config.text).is_file():
        raise ValueError(f"text must name an existing file, got '{config.text}'")


def reads_text(config: Config) -> bool:
    """Whether attention is measured, on a text."""
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
