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

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments import contract
from experiments.bounds import chosen
from experiments.contract import Cost, about
from experiments.runner import provenance
from experiments.shared import files
from experiments.training import settings, tasks
from experiments.training.settings import BASELINES, KIND, RULE, RUN, SEARCHED

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

X_AXIS = "epoch"
SIZES = ("width", "heads", "quantity", "update_steps", "members")


_DRAWN = chosen("tasks", *tasks.MADE)


@dataclass
class Config(contract.Config):
    """Options of the training runs."""

    tasks: list[str] = field(
        default_factory=lambda: ["wine"],
        metadata=about(f"any of {', '.join(tasks.TASKS)}", among=tasks.TASKS, nonempty=True),
    )
    layers: list[str] = field(
        default_factory=lambda: ["lookup"],
        metadata=about(f"any of {', '.join(settings.LAYERS)}", among=settings.LAYERS, nonempty=True),
    )
    metrics: list[str] = field(
        default_factory=lambda: ["none"],
        metadata=about(f"any of {', '.join(settings.METRICS)}", among=settings.METRICS, nonempty=True),
    )
    separations: list[str] = field(
        default_factory=lambda: ["softmax"],
        metadata=about(
            "as hopfield.layers names them: softmax, entmax:1.5 ...",
            nonempty=True,
            numbered=True,
            meaning="separation",
        ),
    )
    optimisers: list[str] = field(
        default_factory=lambda: ["adam"],
        metadata=about(f"any of {', '.join(settings.OPTIMISERS)}", among=settings.OPTIMISERS, nonempty=True),
    )
    learning_rate: list[float] = field(
        default_factory=list, metadata=about("steps of the optimiser to choose from ([]: its own)", above=0)
    )
    damping: list[float] = field(
        default_factory=list,
        metadata=about("of natural gradients, or its start if it is adapted, to choose from ([]: their own)", above=0),
    )
    weight_decay: list[float] = field(
        default_factory=list, metadata=about("of adamw, to choose from ([]: its own)", least=0)
    )
    damping_rule: str | None = field(
        default=None,
        metadata=about(
            "of natural gradients: fixed, or reduction, adapted to the fall of the loss (null: their own)",
            among=settings.DAMPING_RULES,
        ),
    )
    trust_radius: float | None = field(
        default=None,
        metadata=about("longest step of natural gradients, in their metric (null: their own; 1e30: any)", above=0),
    )
    solver: str | None = field(
        default=None, metadata=about("of natural and levenberg (null: their own)", among=settings.SOLVERS)
    )
    momentum: float | None = field(
        default=None,
        metadata=about("share of the last step that sgd, natural, levenberg keep (null: their own)", least=0, below=1),
    )
    noise: list[float] = field(
        default_factory=lambda: [0.0],
        metadata=about("deviations of noise added to training inputs, to choose from", least=0, nonempty=True),
    )
    dropout: float = field(
        default=0.0, metadata=about("share of embedded features blanked in training", least=0, below=1)
    )
    trials: int = field(default=2, metadata=about("seeds: each splits and draws data and starts anew", least=1))
    size: int = field(
        default=500,
        metadata=about("bags or sequences of a task that is drawn", least=10, used_when=_DRAWN),
    )
    width: int = field(default=32, metadata=about("features of embedding and layer", least=1))
    heads: int = field(default=2, metadata=about("heads; they divide width", least=1))
    quantity: int = field(
        default=8,
        metadata=about(
            "learned patterns of lookup and energy, queries of pooling",
            least=1,
            used_when=chosen("layers", "lookup", "pooling", "energy"),
        ),
    )
    update_steps: int = field(
        default=1, metadata=about("applications of the association, steps of the descent", least=1)
    )
    members: int = field(default=1, metadata=about("networks of other initial values that answer together", least=1))
    schedule: str = field(
        default="constant",
        metadata=about("of the learning rate: constant or cosine, to zero", among=("constant", "cosine")),
    )
    epochs: int = field(default=10, metadata=about("epochs at most", least=1))
    batch: int = field(default=64, metadata=about("examples of a step", least=1))
    patience: int = field(
        default=10, metadata=about("epochs without a lower validation loss before a run ends", least=1)
    )
    save_every: int = field(default=5, metadata=about("epochs between two checkpoints", least=1))
    baselines: bool = field(default=True, metadata=about("scikit-learn's SVM and random forest on real tasks"))

    def __post_init__(self) -> None:
        contract.Config.__post_init__(self)
        if self.seed + self.trials > 2**32:
            raise ValueError(f"seed must leave room for {self.trials} trials below 2^32, got {self.seed}")
        if self.width % self.heads:
            raise ValueError(f"heads must divide the width of {self.width}, got {self.heads}")
        _check_names(self)
        _check_rules(self)


def _check_names(config: Config) -> None:
    for task in config.tasks:
        tasks.check(task, config.size)
        for layer in config.layers:
            single = task in tasks.REAL
            if layer in (settings.SEQUENCES if single else settings.VECTORS):
                kind = "single vectors" if single else "several vectors"
                raise ValueError(f"layers must not be {layer} where inputs are {kind}, as in {task}")
    if "energy" in config.layers and set(config.metrics) != {"none"}:
        raise ValueError(f"metrics must be [none] for the layer energy, which has none, got {config.metrics}")
    from hopfield.layers import attention_fn

    for name in config.separations:
        attention_fn(1, 2, separation=name)
        kind, _, count = name.partition(":")
        for task, layer in product(config.tasks, config.layers):
            stored = settings.stored(layer, config.quantity, *tasks.lengths(task, config.size))
            if kind == "top_k" and int(count or 8) > stored:
                what = f"{stored} patterns that {layer} reads in {task}"
                raise ValueError(f"separations must keep at most the {what}, got {name}")


def _check_rules(config: Config) -> None:
    """Raise ValueError for an option that no optimiser asked for takes."""
    own = settings.OWN
    for name in (*SEARCHED[:-1], *RULE):
        value, takers = getattr(config, name), [rule for rule in own if name in own[rule]]
        if value in (None, []) or set(takers) & set(config.optimisers):
            continue
        other = " (the decay of adamw is weight_decay)" if name == "damping" and "adamw" in config.optimisers else ""
        raise ValueError(
            f"{name} must be left out unless optimisers has one of {', '.join(takers)}{other}, got {value}"
        )


def _option(config: Config, optimiser: str, name: str) -> Any:
    """The value of an option for an optimiser: as given, its own, or one of no effect if it does not take it."""
    nothing = {"damping_rule": "fixed", "solver": "auto"}
    own = settings.OWN[optimiser]
    if name not in own:
        return (0.0,) if name in SEARCHED else nothing.get(name, 0.0)
    given = getattr(config, name)
    return own[name] if given in (None, []) else given


def cost(config: Config) -> Cost:
    """What all of it takes, from the options alone."""
    axes = (config.tasks, config.layers, config.metrics, config.separations, config.noise)
    numbers = (math.prod(len(_option(config, rule, name)) for name in SEARCHED[:-1]) for rule in config.optimisers)
    runs = math.prod(map(len, axes)) * sum(numbers) * config.trials
    rows, features = max(tasks.sizes(task, config.size) for task in config.tasks)
    width = config.width * config.members
    weights = width * max(config.width, config.quantity, features // 8)
    held = rows * max(features, width, config.quantity * config.heads * config.members)
    steps = runs * config.epochs * rows * config.update_steps
    points = runs * (config.epochs + 1) + 2 * len(config.tasks) * config.trials
    return Cost(points, max(4 * weights, held), steps * (12 * weights + features * width))


def points(config: Config) -> list[dict]:
    """One point per run and epoch, then one per baseline and trial of real tasks, at epoch 0."""
    kinds = product(*(dict.fromkeys(getattr(config, f"{part}s")) for part in KIND))
    runs: list[dict] = []
    for kind in kinds:
        numbers = [_option(config, kind[-1], name) for name in SEARCHED[:-1]]
        grid = product(*map(dict.fromkeys, (*numbers, config.noise)), range(config.trials))
        runs += [dict(zip(RUN, (*kind, *run), strict=True)) for run in grid]
    found: list[dict] = [run | {"epoch": epoch} for run in runs for epoch in range(config.epochs + 1)]
    if config.baselines:
        real = [task for task in dict.fromkeys(config.tasks) if task in tasks.REAL]
        for task, name, trial in product(real, BASELINES, range(config.trials)):
            values = (task, name, "none", "none", "none", 0.0, 0.0, 0.0, 0.0, trial)
            found.append(dict(zip(RUN, values, strict=True)) | {"epoch": 0})
    return found


def science(config: Config) -> dict:
    """What a row depends on besides its point."""
    names = ("seed", "size", *SIZES, "dropout", "schedule", "batch", "epochs", "patience")
    rules = {rule: {name: _option(config, rule, name) for name in RULE} for rule in settings.OPTIMISERS}
    return {name: getattr(config, name) for name in names} | {"rules": rules}


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
            from experiments.training.baselines import fitted

            yield first | fitted(first["layer"], data, config.seed + first["trial"]) | {"diverged": False}
        else:
            yield from _trained(config, data, wanted)


def _trained(config: Config, data: tasks.Split, wanted: dict[int, dict]) -> Iterator[dict]:
    from experiments.training.measurement import Length, curve
    from experiments.training.settings import Knobs, Setting

    point = next(iter(wanted.values()))
    rule = {name: _option(config, point["optimiser"], name) for name in RULE}
    known = asdict(config) | rule | point
    setting = Setting(**{name: known[name] for name in Setting._fields})
    knobs = Knobs(**{name: known[name] for name in Knobs._fields})
    depends = provenance.science(sys.modules[__name__], config)
    name = files.fingerprint([depends, {key: point[key] for key in RUN}])[:16]
    if config.output is None:
        raise ValueError("output must name the directory where runs are saved, got None")
    path = Path(config.output) / "checkpoints" / f"{name}.msgpack"
    length = Length(config.epochs, config.patience, config.save_every, config.schedule == "cosine")
    for row in curve(setting, knobs, data, config.seed + point["trial"], path, length):
        if row["epoch"] in wanted:
            yield wanted[row["epoch"]] | row


def summarise(table: "pandas.DataFrame") -> dict:
    """Mean test accuracy and AUC of every kind of run, and paired tests against the baselines over trials."""
    from experiments.training.summary import summary

    return summary(table)


def plot(table: "pandas.DataFrame", summary: dict) -> "Figure":
    """Curves of learning, with the entropy of heads, and the test results beside the baselines."""
    from experiments.training.figure import draw

    return draw(table, summary)
