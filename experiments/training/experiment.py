"""Training of classifiers with a Hopfield layer on real and made tasks: accuracy, and the entropy of their heads.

Every run is one layer × metric × separation × optimiser on one task and seed. A row is one epoch: losses, validation
accuracy and AUC, test accuracy and AUC at the lowest validation loss so far, and, on validation inputs, every head's
entropy and effective number of patterns, β, the diversity of heads, the metric's extreme singular values and condition,
and what the optimiser says of its last step. Of several rates, dampings or noises each seed takes the one of lowest
validation loss; scikit-learn's support vector machine and random forest, beside them on real tasks, are chosen from
their own grids by the same validation set.

A run is saved in its output directory every few epochs and goes on from there, to the same numbers.

Source: the tasks of Ramsauer et al. 2021, §4.
"""

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import groupby, product
from pathlib import Path
from typing import Any

from experiments.contract import Cost, Point, Row
from experiments.shared.draws import seed_of
from experiments.system import files, provenance
from experiments.training import baselines, layers, measurement, optimisers, settings, tasks
from experiments.training.config import BASELINES, KIND, LAYERS, OPTIMISERS, RULE, RUN, SEARCHED, Config
from experiments.training.figure import panels
from experiments.training.summary import summarise
from hopfield import separations
from hopfield.layers import AssociationOptions

__all__ = ["X_AXIS", "Config", "check", "cost", "measure", "panels", "points", "summarise"]
X_AXIS = "epoch"
SIZES = ("width", "heads", "quantity", "update_steps", "members")


def check(config: Config) -> None:
    """Check that tasks, layers and options are there, and go with what else is chosen; else ValueError."""
    for task, layer in product(config.tasks, config.layers):
        kind = ("several", "one")[tasks.is_single(task)]
        if layers.find(layer).inputs not in ("any", kind):
            words = "single vectors" if kind == "one" else "several vectors"
            raise ValueError(f"layers must not be {layer} where inputs are {words}, as in {task}")
    for layer in config.layers:
        if not layers.find(layer).learns_metric and set(config.metrics) != {"none"}:
            raise ValueError(f"metrics must be [none] for the layer {layer}, which has none, got {config.metrics}")
    _check_rules(config)
    for name in config.separations:
        AssociationOptions(separation=name)
        separation = separations.find(name)
        for task, layer in product(config.tasks, config.layers):
            stored = layers.find(layer).stored(config.quantity, *tasks.lengths(task, config.size))
            if isinstance(separation, separations.TopK) and separation.count > stored:
                what = f"{stored} patterns that {layer} reads in {task}"
                raise ValueError(f"separations must keep at most the {what}, got {name}")
    _check_own(config)


def _check_own(config: Config) -> None:
    """Check that user-defined layers and optimisers work on all of the tasks; else ValueError."""
    own = [name for name in config.optimisers if name not in OPTIMISERS]
    for task, *model in product(config.tasks, config.layers, config.metrics, config.separations):
        kind = dict(zip(KIND, (task, *model, config.optimisers[0]), strict=True))
        examples, vectors = tasks.lengths(task, config.size)
        shape = (examples, vectors, tasks.sizes(task, config.size)[1] // vectors)
        if kind["layer"] not in LAYERS:
            measurement.check_traceable(_setting(config, kind), shape)
        for name in own:
            measurement.check_trainable(_setting(config, kind | {"optimiser": name}), shape)


def _check_rules(config: Config) -> None:
    """Check that an optimiser asked for takes each option that is set; else ValueError."""
    for name in (*SEARCHED[:-1], *RULE):
        value = getattr(config, name)
        if value in (None, []) or _takers(name, config.optimisers):
            continue
        hints = ["the decay of adamw is weight_decay"] if name == "damping" and "adamw" in config.optimisers else []
        hints += [f"{rule} has no parameter {name}" for rule in config.optimisers if rule not in OPTIMISERS]
        takers = ", ".join(_takers(name, OPTIMISERS)) + (f" ({'; '.join(hints)})" if hints else "")
        raise ValueError(f"{name} must be left out unless optimisers has one of {takers}, got {value}")
    if config.schedule != "constant" and not _takers("learning_rate", config.optimisers):
        raise ValueError(
            f"schedule must be constant unless one of optimisers takes learning_rate, got {config.schedule}"
        )


def _takers(option: str, names: Sequence[str]) -> list[str]:
    """Optimisers of the options that take an option."""
    return [name for name in names if option in optimisers.own_options(name)]


def draws_tasks(config: Config) -> bool:
    """True if one of the tasks is drawn."""
    return not all(map(tasks.is_real, config.tasks))


def takes_quantity(config: Config) -> bool:
    """True if one of the layers has `quantity` learned patterns or queries."""
    return any(layers.find(layer).takes_quantity for layer in config.layers)


def has_baselines(config: Config) -> bool:
    """True if one of the tasks has baselines beside it."""
    return bool(_tasks_with_baselines(config))


def _tasks_with_baselines(config: Config) -> list[str]:
    return [task for task in config.tasks if tasks.is_real(task) and tasks.is_single(task)]


def _option(config: Config, optimiser: str, name: str) -> Any:
    """The value of an option for an optimiser: as given, its own, or one of no effect if it does not take it."""
    nothing = {"damping_rule": "fixed", "solver": "auto"}
    own = optimisers.own_options(optimiser)
    if name not in own:
        return (0.0,) if name in SEARCHED else nothing.get(name, 0.0)
    given = getattr(config, name)
    return own[name] if given in (None, []) else given


def cost(config: Config) -> Cost:
    """Cost of all runs: updates on every example of every epoch × weights of one model."""
    axes = (config.tasks, config.layers, config.metrics, config.separations, config.noise)
    numbers = (math.prod(len(_option(config, rule, name)) for name in SEARCHED[:-1]) for rule in config.optimisers)
    runs = math.prod(map(len, axes)) * sum(numbers) * config.seeds
    rows, features = max(tasks.sizes(task, config.size) for task in config.tasks)
    width = config.width * config.members
    weights = width * max(config.width, config.quantity, features // 8)
    held = rows * max(features, width, config.quantity * config.heads * config.members)
    steps = runs * config.epochs * rows * config.update_steps
    points = runs * (config.epochs + 1) + 2 * len(config.tasks) * config.seeds
    return Cost(points, max(4 * weights, held), steps * (12 * weights + features * width))


def points(config: Config) -> list[Point]:
    """One point per run and epoch, then one per baseline and seed of real tasks, at epoch 0."""
    kinds = product(*(getattr(config, f"{part}s") for part in KIND))
    runs: list[Point] = []
    for kind in kinds:
        numbers = [_option(config, kind[-1], name) for name in SEARCHED[:-1]]
        grid = product(*numbers, config.noise, range(config.seeds))
        runs += [dict(zip(RUN, (*kind, *run), strict=True)) for run in grid]
    epochs: list[Point] = [run | {"epoch": epoch} for run in runs for epoch in range(config.epochs + 1)]
    if config.baselines:
        for task, name, number in product(_tasks_with_baselines(config), BASELINES, range(config.seeds)):
            values = (task, name, "none", "none", "none", 0.0, 0.0, 0.0, 0.0, number)
            epochs.append(dict(zip(RUN, values, strict=True)) | {"epoch": 0})
    return epochs


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """Train the runs whose epochs are missing, one after the other. Rows are yielded as epochs end."""

    def run_key(point: Point) -> tuple:
        return tuple(point[name] for name in RUN)

    order = {key: place for place, key in enumerate(dict.fromkeys(map(run_key, wanted)))}
    ordered = sorted(wanted, key=lambda point: (order[run_key(point)], point["epoch"]))
    for _, group in groupby(ordered, key=run_key):
        epochs = {point["epoch"]: point for point in group}
        first = next(iter(epochs.values()))
        seed = seed_of(config.seed, first["seed_index"])
        data = tasks.load_split(first["task"], seed, config.size)
        if first["layer"] in BASELINES:
            yield first | baselines.baseline_accuracies(first["layer"], data, seed) | {"diverged": False}
        else:
            yield from _rows_of_training(config, data, epochs)


def _known(config: Config, point: Point) -> Row:
    """Options of a point: its own values, and the value that its optimiser takes of each option of optimisers."""
    return asdict(config) | {name: _option(config, point["optimiser"], name) for name in RULE} | point


def _setting(config: Config, point: Point) -> settings.Setting:
    known = _known(config, point)
    return settings.Setting(**{name: known[name] for name in settings.Setting._fields})


def _rows_of_training(config: Config, data: tasks.Split, wanted: dict[int, Point]) -> Iterator[Row]:
    point = next(iter(wanted.values()))
    known = _known(config, point)
    knobs = settings.Knobs(**{name: known[name] for name in settings.Knobs._fields})
    depends = provenance.science(sys.modules[__name__], config)
    name = files.fingerprint([depends, {key: point[key] for key in RUN}])[:16]
    if config.output is None:
        raise ValueError("output must name the directory where runs are saved, got None")
    path = Path(config.output) / "checkpoints" / f"{name}.msgpack"
    length = measurement.Length(config.epochs, config.patience, config.save_every, config.schedule == "cosine")
    seed = seed_of(config.seed, point["seed_index"])
    for row in measurement.curve(_setting(config, point), knobs, data, seed, path, length):
        if row["epoch"] in wanted:
            yield wanted[row["epoch"]] | row
