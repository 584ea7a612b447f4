"""Options of multiple-instance learning on bags that users bring."""

from dataclasses import dataclass

from experiments import contract
from experiments.bounds import includes
from experiments.columns import Column, shared
from experiments.contract import option

VARIANTS: dict[str, tuple[str, ...]] = {
    "hopfield": ("softmax", "entmax:1.5"),
    "attention": ("plain", "gated"),
    "instances": ("linear", "hidden"),
    "svm": ("mean", "max"),
    "forest": ("mean", "max"),
}
"""Methods, and the two forms that each of them is tried in: separations, gates, scores of instances, poolings."""
METHODS = tuple(VARIANTS)
NETWORKS = ("hopfield", "attention", "instances")
PUBLISHED = {
    ("tiger", 200, 1220): (0.913, 0.005),
    ("fox", 200, 1320): (0.6405, 0.004),
    ("elephant", 200, 1391): (0.949, 0.003),
}
"""Areas under the ROC curve of hopfield-layers and their errors, by name, bags and instances (Ramsauer et al. 2021)."""
_TRAINED = includes("methods", *NETWORKS)


@dataclass
class Config(contract.Config):
    """Options of multiple-instance learning; the defaults are smoke scale."""

    data: list[str] = option(
        ["made"],
        "made, or .npz files of bags, whose format conf/training_mil.yaml says",
        meaning="ensemble",
        nonempty=True,
        axis=True,
    )
    methods: list[str] = option(
        ["hopfield", "svm"], f"any of {', '.join(METHODS)}", among=METHODS, nonempty=True, axis=True
    )
    repetitions: int = option(1, "divisions into folds to go through, of those in the file", least=1, extends=True)
    partners: int = option(1, "half the number of folds that a choice for a test fold is made by", least=1)
    steps: list[int] = option([4, 8], "lengths of training to choose from", least=1, nonempty=True, used_when=_TRAINED)
    members: int = option(2, "networks that differ in chance alone and answer together", least=1, used_when=_TRAINED)
    weight_decay: float = option(0.01, "of Adam", least=0, used_when=_TRAINED)
    learning_rate: float = option(0.003, "of Adam", above=0, used_when=_TRAINED)
    dropout: float = option(0.2, "share of embedded features blanked in training", least=0, below=1, used_when=_TRAINED)
    width: int = option(8, "features of an embedded instance", least=1, used_when=_TRAINED)
    heads: int = option(
        2, "heads of the pooling; they divide width", least=1, used_when=includes("methods", "hopfield")
    )
    queries: int = option(2, "learned queries of the pooling", least=1, used_when=includes("methods", "hopfield"))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.width % self.heads:
            raise ValueError(f"heads must divide the width of {self.width}, got {self.heads}")


COLUMNS = shared("data", "method", "auc") | {
    "repetition": Column("number of the division of the bags into folds", kind=int),
    "fold": Column("number of the fold that is tested", kind=int),
    "held_auc": Column("area under the ROC curve within the other folds, by which the setting was chosen", "0 to 1"),
    "chosen": Column("setting that was chosen", kind=str),
    "bags": Column("number of bags of the data", "count", kind=int),
    "instances": Column("number of instances of the data", "count", kind=int),
}
