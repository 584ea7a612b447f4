"""Multiple-instance learning: bags with one label each, of which some instances decide.

    hopfield      HopfieldPooling with learned queries and β; its separation is chosen
    attention     attention pooling, plain or gated (Ilse et al. 2018)
    instances     MI-SVM: the largest score of an instance, hinge loss; linear, or with a hidden layer
    svm, forest   scikit-learn's, on the mean or the largest instance of a bag

All see the features of an instance and their ranks. Each method chooses, for every test fold and within the other folds
alone, among as many settings. A row is the test fold of one method and division into folds, with the numbers of `bags`
and `instances` of its data.

Source: Ramsauer et al. 2021, §4; Andrews, Tsochantaridis & Hofmann 2002 (MI-SVM and the data).
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product

import numpy as np

from experiments.bags import data, measurement
from experiments.bags.config import NETWORKS, VARIANTS, Config
from experiments.bags.figure import panels
from experiments.bags.summary import summarise
from experiments.contract import Cost, Point, Row, total
from experiments.shared import parallel
from experiments.shared.axes import product_of

__all__ = ["X_AXIS", "Config", "check", "cost", "measure", "panels", "points", "summarise"]
X_AXIS = "auc"
KEYS = ("data", "method", "repetition")


def check(config: Config) -> None:
    """Check that data are there, with enough folds, of both classes each; else ValueError."""
    for name in config.data:
        bags = data.load(name)
        if config.repetitions > len(bags.tested):
            raise ValueError(
                f"repetitions must be at most {len(bags.tested)}, those in {name}, got {config.repetitions}"
            )
        if 2 * config.partners >= bags.folds:
            raise ValueError(f"partners must be below half of the {bags.folds} folds of {name}, got {config.partners}")
        _check_folds(name, bags, config.repetitions)


def _check_folds(name: str, bags: data.Bags, repetitions: int) -> None:
    """Check that every fold has bags of both classes, without which it has no area; else ValueError."""
    for repetition, fold in product(range(repetitions), range(bags.folds)):
        if len(np.unique(bags.labels[bags.tested[repetition] == fold])) < 2:
            where = f"fold {fold} of repetition {repetition} of {name}"
            raise ValueError(f"data must test bags of both classes in every fold, got one class or none in {where}")


def cost(config: Config) -> Cost:
    """Cost of training the networks and fitting the baselines on all folds, by the sizes of the data."""
    parts = []
    for name in config.data:
        bags = data.load(name)
        count = config.repetitions * bags.folds
        models = count * config.partners * config.members
        slots = bags.there.size
        each = config.width * (12 * bags.instances.size + 40 * slots * config.width) * max(config.steps)
        trained = sum(len(VARIANTS[method]) for method in set(config.methods) & set(NETWORKS)) * models * each
        fitted = len(set(config.methods) - set(NETWORKS)) * count * config.partners * 1e9
        held = max(config.members * slots * config.width, 2 * bags.folds * config.partners * bags.instances.size)
        parts.append(Cost(count * len(config.methods), held, trained + fitted))
    return total(parts)


def points(config: Config) -> list[Point]:
    """One point per data set, method, division and fold."""
    runs = product_of(data=config.data, method=config.methods, repetition=range(config.repetitions))
    return [run | {"fold": fold} for run in runs for fold in range(data.load(run["data"]).folds)]


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """Rows of points. All folds of a division are measured together."""
    groups: dict[tuple, list[Point]] = {}
    for point in wanted:
        groups.setdefault(tuple(point[key] for key in KEYS), []).append(point)

    def measure_group(key: tuple, members: list[Point]) -> list[Row]:
        name, method, repetition = key
        bags = data.load(name)
        sizes = {"bags": len(bags.labels), "instances": len(bags.instances)}
        results = measurement.results(config, method, bags, repetition)
        return [point | sizes | results[point["fold"]] for point in members]

    yield from parallel.rows([partial(measure_group, *group) for group in groups.items()])
