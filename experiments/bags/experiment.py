"""Multiple-instance learning: bags with one label each, decided by some instances.

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

from experiments.bags import baselines, data, networks
from experiments.bags.config import NETWORKS, VARIANTS, Config
from experiments.bags.data import Bags
from experiments.bags.results import panels, summarise
from experiments.contract import Cost, Point, Row, total
from experiments.shared import draws, parallel
from experiments.shared.axes import product_of
from experiments.statistics.ranking import auc

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
        results = results_of(config, method, bags, repetition)
        return [point | sizes | results[point["fold"]] for point in members]

    yield from parallel.rows([partial(measure_group, *group) for group in groups.items()])


def pairs(folds: int, partners: int) -> list[tuple[int, int]]:
    """Folds that a model is trained without: each with the next `partners`, in a circle."""
    return [(i, (i + step) % folds) for i in range(folds) for step in range(1, partners + 1)]


def candidates(config: Config, method: str) -> list[str]:
    """Names of the settings that a test fold chooses from, in the order of `scores`."""
    if method not in NETWORKS:
        return [f"{kind} {number}" for kind, number in baselines.settings(method)]
    return [f"{kind} steps {steps}" for kind, steps in product(VARIANTS[method], sorted(config.steps))]


def results_of(config: Config, method: str, bags: Bags, repetition: int) -> list[Row]:
    """Test results of all folds of a division.

    Returns:
        By fold: the area under the ROC curve in test, that by which the setting was chosen, and its name.
    """
    tested = bags.tested[repetition]
    left = pairs(bags.folds, config.partners)
    used = np.array([(tested != i) & (tested != j) for i, j in left])
    outcome = _scores(config, method, bags, used, repetition)
    names, rows = candidates(config, method), []

    def area(scores: np.ndarray, fold: int) -> float:
        return auc(scores[tested == fold], bags.labels[tested == fold])

    for fold in range(bags.folds):
        mine = [(k, j if i == fold else i) for k, (i, j) in enumerate(left) if fold in (i, j)]
        held = np.mean([[area(scores, other) for scores in outcome[k]] for k, other in mine], axis=0)
        best = int(np.argmax(np.where(np.isnan(held), -1.0, held)))  # of scores not finite there is no area
        together = np.mean([outcome[k][best] for k, _ in mine], axis=0)
        rows.append({"auc": area(together, fold), "held_auc": float(held[best]), "chosen": names[best]})
    return rows


def _scores(config: Config, method: str, bags: Bags, used: np.ndarray, repetition: int) -> np.ndarray:
    """Scores [models, candidates, B] of all bags, by models that know the bags `used` [models, B]."""
    if method not in NETWORKS:
        return baselines.scores(method, bags, used, draws.seed_of(config.seed, repetition))
    found = []
    for number, variant in enumerate(VARIANTS[method]):
        key = draws.key(config.seed, repetition, number)
        size = (config.width, config.heads, config.queries, tuple(sorted(config.steps)), config.members)
        kind = networks.Structure(
            method, variant, 2 * bags.instances.shape[1], *size, config.dropout, config.learning_rate
        )
        found.append(networks.scores(kind, bags, used, config.weight_decay, key))
    return np.concatenate(found, axis=1)
