"""Options of multi-query associative recall."""

from dataclasses import dataclass

from experiments import contract
from experiments.bounds import includes
from experiments.columns import Column, shared
from experiments.contract import grid_axis, option

MIXERS = ("softmax", "entmax", "softmax1", "hopfield", "linear", "delta", "gated_delta", "by_hand")
FILLERS = ("zero", "random", "clean")
SOLVED = 0.99
"""Accuracy in validation at which training ends."""
_TRAINED = includes("mixers", *MIXERS[:-1])


@dataclass
class Config(contract.Config):
    """Options of multi-query associative recall; the defaults are smoke scale."""

    mixers: list[str] = option(
        ["softmax", "by_hand"], f"any of {', '.join(MIXERS)}", among=MIXERS, nonempty=True, axis=True
    )
    widths: list[int] = grid_axis([8], "features of the model", least=1, used_when=_TRAINED)
    lengths: list[int] = grid_axis([16], "tokens L of a sequence, even", least=4)
    pairs: list[int] = grid_axis([2], "pairs K of a sequence, where L has room, 4K ≤ L", least=1)
    seeds: int = option(2, "models, each with data of its own", least=1, extends=True)
    vocabulary: int = option(16, "tokens V: 0, keys below V/2, values from V/2", least=4)
    filler: str = option("zero", "other places: zero, random, or clean, random but for keys", among=FILLERS)
    examples: int = option(64, "sequences to train on", least=1, used_when=_TRAINED)
    held: int = option(32, "sequences of validation, and as many of the test", least=1)
    learning_rate: list[float] = option(
        [0.003],
        "rates of AdamW that validation chooses from in every seed",
        above=0,
        nonempty=True,
        used_when=_TRAINED,
    )
    weight_decay: float = option(0.1, "of AdamW", least=0, used_when=_TRAINED)
    dropout: float = option(0.1, "share of embedded features blanked", least=0, below=1, used_when=_TRAINED)
    update_steps: int = option(
        3, "applications of the mixer hopfield", least=1, used_when=includes("mixers", "hopfield")
    )
    epochs: int = option(1, "epochs at most", least=1, used_when=_TRAINED)
    batch_size: int = option(32, "sequences of a step", least=1, used_when=_TRAINED)

    def __post_init__(self) -> None:
        super().__post_init__()
        for length in self.lengths:
            if length % 2:
                raise ValueError(f"lengths must be even, got {length}")
        if min(self.lengths) < 4 * min(self.pairs):
            raise ValueError(
                f"lengths must be at least 4 times the fewest pairs, {min(self.pairs)}, got {min(self.lengths)}"
            )
        if max(self.pairs) > self.vocabulary // 2 - 1:
            raise ValueError(f"pairs must be at most the {self.vocabulary // 2 - 1} keys, got {max(self.pairs)}")


COLUMNS = shared("seed_index") | {
    "mixer": Column("what mixes positions: attention by a separation, hopfield, or fast weights", kind=str),
    "width": Column("width of the model", "count", kind=int),
    "length": Column("positions of the sequence", "count", kind=int),
    "pairs": Column("pairs of a sequence", "count", kind=int),
    "state_bytes": Column("bytes that the mixer keeps of a sequence", "bytes", kind=int),
    "accuracy": Column("accuracy on test sequences", "0 to 1"),
    "held": Column("accuracy on validation sequences", "0 to 1"),
    "learning_rate": Column("learning rate that validation chose"),
    "epochs": Column("epochs that were run", "count", kind=int),
    "contradicted": Column("share of asked pairs that filler contradicts", "0 to 1"),
}
