"""Options of the training runs. Tasks, layers and optimisers stand in tables of these names."""

from dataclasses import dataclass

from experiments import contract
from experiments.bounds import decided_by
from experiments.columns import Column, shared
from experiments.contract import option

TASKS = ("bit_patterns", "breast_cancer", "digit_bags", "digits", "latch", "recall", "wine")
LAYERS = ("association", "decoder", "encoder", "energy", "lookup", "memory", "pooling")
OPTIMISERS = ("adam", "adamw", "diagonal_fisher", "kronecker", "levenberg", "natural", "sgd")
METRICS = ("none", "diagonal", "low_rank", "definite", "full", "projected")
DAMPING_RULES = ("fixed", "reduction")
SOLVERS = ("auto", "cg", "cholesky", "kernel")
KIND = ["task", "layer", "metric", "separation", "optimiser"]
SEARCHED = ("learning_rate", "damping", "weight_decay", "noise")
RULE = ("damping_rule", "trust_radius", "solver", "momentum")
"""Options of optimisers that a run has one value of."""
RUN = [*KIND, *SEARCHED, "seed_index"]
"""Columns that tell two runs apart: kinds of run, numbers that each seed chooses among, and its place in the seeds."""
BASELINES = ("svm", "forest")
"""Names instead of a layer for scikit-learn's models."""


@dataclass
class Config(contract.Config):
    """Options of the training runs."""

    tasks: list[str] = option(
        ["wine"],
        f"any of {', '.join(TASKS)}, or FILE.npz of inputs and targets, or FILE.csv",
        meaning="ensemble",
        nonempty=True,
        axis=True,
    )
    layers: list[str] = option(
        ["lookup"], f"any of {', '.join(LAYERS)}, or ./file.py:name for your own", nonempty=True, axis=True
    )
    metrics: list[str] = option(["none"], among=METRICS, nonempty=True, axis=True)
    separations: list[str] = option(
        ["softmax"],
        "as hopfield.layers names them: softmax, entmax:1.5 ...",
        meaning="separation",
        nonempty=True,
        axis=True,
    )
    optimisers: list[str] = option(
        ["adam"], f"any of {', '.join(OPTIMISERS)}, or ./file.py:name for your own", nonempty=True, axis=True
    )
    learning_rate: list[float] = option([], "steps of the optimiser to choose from ([]: its own)", above=0, axis=True)
    damping: list[float] = option(
        [], "of natural gradients, or its start if it is adapted, to choose from ([]: their own)", above=0, axis=True
    )
    weight_decay: list[float] = option([], "of adamw, to choose from ([]: its own)", least=0, axis=True)
    damping_rule: str | None = option(
        None,
        "of natural gradients: fixed, or reduction, adapted to the fall of the loss (null: their own)",
        among=DAMPING_RULES,
    )
    trust_radius: float | None = option(
        None, "longest step of natural gradients, in their metric (null: their own; 1e30: any)", above=0
    )
    solver: str | None = option(None, "of natural and levenberg (null: their own)", among=SOLVERS)
    momentum: float | None = option(
        None, "share of the last step that sgd, natural, levenberg keep (null: their own)", least=0, below=1
    )
    noise: list[float] = option(
        [0.0], "deviations of noise added to training inputs, to choose from", least=0, nonempty=True, axis=True
    )
    dropout: float = option(0.0, "share of embedded features blanked in training", least=0, below=1)
    seeds: int = option(2, "runs of other seeds: each splits and draws data and starts anew", least=1, extends=True)
    size: int = option(
        500,
        "bags or sequences of a task that is drawn",
        least=10,
        used_when=decided_by("one of tasks is drawn", "draws_tasks"),
    )
    width: int = option(32, "features of embedding and layer", least=1)
    heads: int = option(2, "heads; they divide width", least=1)
    quantity: int = option(
        8,
        "learned patterns of lookup and energy, queries of pooling",
        least=1,
        used_when=decided_by("one of layers learns patterns or queries", "takes_quantity"),
    )
    update_steps: int = option(1, "applications of the association, steps of the descent", least=1)
    members: int = option(1, "networks of other initial values that answer together", least=1)
    schedule: str = option(
        "constant", "of the learning rate: constant or cosine, to zero", among=("constant", "cosine")
    )
    epochs: int = option(10, "epochs at most", least=1)
    batch_size: int = option(64, "examples of a step", least=1)
    patience: int = option(10, "epochs without a lower validation loss before a run ends", least=1)
    save_every: int = option(5, "epochs between two checkpoints", least=1, axis=True)
    baselines: bool = option(
        True,
        "scikit-learn's SVM and random forest on real tasks",
        used_when=decided_by("one of tasks is real, of single vectors", "has_baselines"),
        axis=True,
    )

    def __post_init__(self) -> None:
        contract.Config.__post_init__(self)
        if self.seed + self.seeds > 2**32:
            raise ValueError(f"seed must leave room for {self.seeds} seeds below 2^32, got {self.seed}")
        if self.width % self.heads:
            raise ValueError(f"heads must divide the width of {self.width}, got {self.heads}")


COLUMNS = shared("task", "layer", "metric", "separation", "optimiser", "seed_index") | {
    "learning_rate": Column("learning rate of the run"),
    "damping": Column("damping of the run"),
    "weight_decay": Column("weight decay of the run"),
    "noise": Column("noise of the run"),
    "epoch": Column("epoch of the row", kind=int),
    "train_loss": Column("training loss", "nats"),
    "loss": Column("loss on the validation set", "nats"),
    "accuracy": Column("accuracy on the validation set", "0 to 1"),
    "auc": Column("area under the ROC curve on the validation set, of two classes and finite scores alone", "0 to 1"),
    "stopped": Column("whether the row repeats the last of a training that had ended", kind=bool),
    "diverged": Column("whether the loss ended infinite, NaN or at ten times that of the start", kind=bool),
    "diversity": Column("diversity of the heads' weights"),
    "condition": Column("largest over smallest singular value of the metrics"),
    "beta_*": Column("β of head *", "1/scores"),
    "entropy_*": Column("entropy of the weights of head *", "nats"),
    "effective_*": Column("effective number of patterns of head *"),
    "metric_largest_*": Column("largest singular value of the metric of head *"),
    "metric_smallest_*": Column("smallest singular value of the metric of head *"),
    "best_epoch": Column("epoch of the lowest validation loss so far", kind=int),
    "best_loss": Column("lowest validation loss so far", "nats"),
    "test_accuracy": Column("accuracy on the test set at best_epoch", "0 to 1"),
    "test_auc": Column("area under the ROC curve on the test set at best_epoch", "0 to 1"),
    "optimiser_residual": Column("what the optimiser's solver left over in its last step, relative"),
    "optimiser_iterations": Column("iterations of the optimiser's solver in its last step", "count"),
    "optimiser_damping": Column("damping of the optimiser's last step"),
    "optimiser_accepted": Column("1 if the optimiser took its last step, 0 otherwise"),
    "optimiser_finite": Column("1 if the optimiser's last step was finite, 0 otherwise"),
}
