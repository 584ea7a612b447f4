"""Classifiers with a Hopfield layer learn real and made tasks: accuracy, and the entropy of their heads on the way.

Every run is one layer × metric × separation × optimiser on one task and seed. A row is one epoch: losses, validation
accuracy and AUC, test accuracy and AUC at the lowest validation loss so far, and, on validation inputs, every head's
entropy and effective number of patterns, β, the diversity of heads, the metric's extreme singular values and condition,
and what the optimiser says of its last step. Of several rates, dampings or noises each trial takes the one of lowest
validation loss; scikit-learn's support vector machine and random forest, beside them on real tasks, are chosen from
their own grids by the same validation set.

A run is saved in its output directory every few epochs and goes on from there, to the same numbers.

Source: the tasks of Ramsauer et al. 2021, §4.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, product
from pathlib import Path
from typing import TYPE_CHECKING

from experiments import base, tasks, training_settings
from experiments.base import about
from experiments.training_settings import BASELINES, KIND, RUN, SEARCHED

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

X_AXIS = "epoch"
SIZES = ("width", "heads", "quantity", "update_steps", "members")
COUNTS = ("trials", *SIZES, "batch", "epochs", "patience", "save_every")


@dataclass
class Config(base.Config):
    """Options of the training runs."""

    tasks: list[str] = field(default_factory=lambda: ["wine"], metadata=about(f"any of {', '.join(tasks.TASKS)}"))
    layers: list[str] = field(
        default_factory=lambda: ["lookup"], metadata=about(f"any of {', '.join(training_settings.LAYERS)}")
    )
    metrics: list[str] = field(
        default_factory=lambda: ["none"], metadata=about(f"any of {', '.join(training_settings.METRICS)}")
    )
    separations: list[str] = field(
        default_factory=lambda: ["softmax"], metadata=about("as hopfield.layers names them: softmax, entmax:1.5 ...")
    )
    optimisers: list[str] = field(
        default_factory=lambda: ["adam"], metadata=about(f"any of {', '.join(training_settings.OPTIMISERS)}")
    )
    learning_rate: list[float] = field(
        default_factory=lambda: [3e-3], metadata=about("steps of the optimiser to choose from")
    )
    damping: list[float] = field(
        default_factory=lambda: [1e-2], metadata=about("of natural gradients, or weight decay of adamw, to choose from")
    )
    noise: list[float] = field(
        default_factory=lambda: [0.0], metadata=about("deviations of noise added to training inputs, to choose from")
    )
    dropout: float = field(default=0.0, metadata=about("share of embedded features blanked in training"))
    trials: int = field(default=2, metadata=about("seeds: each splits and draws data and starts anew"))
    size: int = field(default=500, metadata=about("bags or sequences of a task that is drawn"))
    width: int = field(default=32, metadata=about("features of embedding and layer"))
    heads: int = field(default=2, metadata=about("heads; they divide width"))
    quantity: int = field(default=8, metadata=about("learned patterns of lookup and energy, queries of pooling"))
    update_steps: int = field(default=1, metadata=about("applications of the association, steps of the descent"))
    members: int = field(default=1, metadata=about("networks of other initial values that answer together"))
    schedule: str = field(default="constant", metadata=about("of the learning rate: constant or cosine, to zero"))
    epochs: int = field(default=10, metadata=about("epochs at most"))
    batch: int = field(default=64, metadata=about("examples of a step"))
    patience: int = field(default=10, metadata=about("epochs without a lower validation loss before a run ends"))
    save_every: int = field(default=5, metadata=about("epochs between two checkpoints"))
    baselines: bool = field(default=True, metadata=about("scikit-learn's SVM and random forest on real tasks"))

    def __post_init__(self) -> None:
        base.Config.__post_init__(self)
        for name in COUNTS:
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        for name in (*(f"{part}s" for part in KIND), *SEARCHED):
            if not getattr(self, name):
                raise ValueError(f"{name} must not be empty, got []")
        for name in ("learning_rate", "damping"):
            if not all(0 < value < float("inf") for value in getattr(self, name)):
                raise ValueError(f"{name} must be positive numbers, got {getattr(self, name)}")
        if not all(0 <= value < float("inf") for value in self.noise):
            raise ValueError(f"noise must be numbers of at least 0, got {self.noise}")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout must lie in [0, 1), got {self.dropout:g}")
        if self.schedule not in ("constant", "cosine"):
            raise ValueError(f"schedule must be constant or cosine, got {self.schedule!r}")
        if self.seed + self.trials > 2**32:
            raise ValueError(f"seed must leave room for {self.trials} trials below 2^32, got {self.seed}")
        if self.width % self.heads:
            raise ValueError(f"heads must divide the width of {self.width}, got {self.heads}")
        _check_names(self)


def _check_names(config: Config) -> None:
    for name in ("layers", "metrics", "optimisers"):
        known = getattr(training_settings, name.upper())
        for value in getattr(config, name):
            if value not in known:
                raise ValueError(f"{name} must be any of {', '.join(known)}, got {value!r}")
    for task in config.tasks:
        tasks.check(task, config.size)
        for layer in config.layers:
            single = task in tasks.REAL
            if layer in (training_settings.SEQUENCES if single else training_settings.VECTORS):
                kind = "single vectors" if single else "several vectors"
                raise ValueError(f"layers must not be {layer} where inputs are {kind}, as in {task}")
    if "energy" in config.layers and set(config.metrics) != {"none"}:
        raise ValueError(f"metrics must be [none] for the layer energy, which has none, got {config.metrics}")
    from hopfield.layers import attention_fn

    for name in config.separations:
        attention_fn(1, 2, separation=name)


def points(config: Config) -> list[dict]:
    """One point per run and epoch, then one per baseline and trial of real tasks, at epoch 0."""
    axes = (config.tasks, config.layers, config.metrics, config.separations, config.optimisers)
    searched = (getattr(config, name) for name in SEARCHED)
    grid = product(*map(dict.fromkeys, (*axes, *searched)), range(config.trials))
    runs: list[dict] = [dict(zip(RUN, run, strict=True)) for run in grid]
    # Rules without a damping would do the same again at every value of it.
    runs = [run for run in runs if run["optimiser"] in training_settings.DAMPED or run["damping"] == config.damping[0]]
    found: list[dict] = [run | {"epoch": epoch} for run in runs for epoch in range(config.epochs + 1)]
    if config.baselines:
        real = [task for task in dict.fromkeys(config.tasks) if task in tasks.REAL]
        for task, name, trial in product(real, BASELINES, range(config.trials)):
            values = (task, name, "none", "none", "none", 0.0, 0.0, 0.0, trial)
            found.append(dict(zip(RUN, values, strict=True)) | {"epoch": 0})
    return found


def science(config: Config) -> dict:
    """What a row depends on besides its point."""
    names = ("seed", "size", *SIZES, "dropout", "schedule", "batch", "epochs", "patience")
    return {name: getattr(config, name) for name in names}


def measure(config: Config, points_: Sequence[dict]) -> Iterator[dict]:
    """Train the runs whose epochs are missing, one after the other; rows come as epochs end."""

    def run(point: dict) -> tuple:
        return tuple(point[name] for name in RUN)

    order = {key: place for place, key in enumerate(dict.fromkeys(map(run, points_)))}
    ordered = sorted(points_, key=lambda point: (order[run(point)], point["epoch"]))
    for _, group in groupby(ordered, key=run):
        wanted = {point["epoch"]: point for point in group}
        first = next(iter(wanted.values()))
        data = tasks.split(first["task"], config.seed + first["trial"], config.size)
        if first["layer"] in BASELINES:
            from experiments.training_baselines import fitted

            yield first | fitted(first["layer"], data, config.seed + first["trial"])
        else:
            yield from _trained(config, data, wanted)


def _trained(config: Config, data: tasks.Split, wanted: dict[int, dict]) -> Iterator[dict]:
    from experiments.training_run import Length, curve
    from experiments.training_settings import Knobs, Setting

    point = next(iter(wanted.values()))
    given: dict = {name: point[name] if name in point else getattr(config, name) for name in Setting._fields}
    setting = Setting(**given)
    knobs = Knobs(**{name: point[name] for name in SEARCHED}, dropout=config.dropout)
    name = base.fingerprint([science(config), {key: point[key] for key in RUN}])[:16]
    if config.output is None:
        raise ValueError("output must name the directory where runs are saved, got None")
    path = Path(config.output) / "checkpoints" / f"{name}.msgpack"
    length = Length(config.epochs, config.patience, config.save_every, config.schedule == "cosine")
    for row in curve(setting, knobs, data, config.seed + point["trial"], path, length):
        if row["epoch"] in wanted:
            yield wanted[row["epoch"]] | row


def summarise(table: "pandas.DataFrame") -> dict:
    """Mean test accuracy and AUC of every kind of run, and paired tests against the baselines over trials."""
    from experiments.training_summary import summary

    return summary(table)


def plot(table: "pandas.DataFrame", summary: dict) -> "Figure":
    """Curves of learning, with the entropy of heads, and the test results beside the baselines."""
    from experiments.training_figure import draw

    return draw(table, summary)
