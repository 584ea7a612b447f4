"""Measurement of one method on one division into folds: models, the choice among them, and the test result.

A model is trained without two folds i and j, and serves both: as one of those that fold j chooses a setting by when i
is tested, and the other way round. What a test fold is judged by has seen neither its labels nor its features (but for
one number, the root mean square of all), and the models that were trained to choose among settings answer together. In
place of one network, its members do: networks of other initial values and dropout.
"""

from itertools import product

import jax
import numpy as np

from experiments.bags import baselines, networks
from experiments.bags.config import NETWORKS, VARIANTS, Config
from experiments.bags.data import Bags
from experiments.contract import Row
from experiments.shared.draws import seed_of
from experiments.statistics.ranking import auc


def pairs(folds: int, partners: int) -> list[tuple[int, int]]:
    """Folds that a model is trained without: each with the next `partners`, in a circle."""
    return [(i, (i + step) % folds) for i in range(folds) for step in range(1, partners + 1)]


def candidates(config: Config, method: str) -> list[str]:
    """Names of the settings that a test fold chooses from, in the order of `scores`."""
    if method not in NETWORKS:
        return [f"{kind} {number}" for kind, number in baselines.settings(method)]
    return [f"{kind} steps {steps}" for kind, steps in product(VARIANTS[method], sorted(config.steps))]


def results(config: Config, method: str, bags: Bags, repetition: int) -> list[Row]:
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
        return baselines.scores(method, bags, used, seed_of(config.seed, repetition))
    found = []
    for number, variant in enumerate(VARIANTS[method]):
        key = jax.random.fold_in(jax.random.fold_in(jax.random.key(config.seed), repetition), number)
        size = (config.width, config.heads, config.queries, tuple(sorted(config.steps)), config.members)
        kind = networks.Structure(
            method, variant, 2 * bags.instances.shape[1], *size, config.dropout, config.learning_rate
        )
        found.append(networks.scores(kind, bags, used, config.weight_decay, key))
    return np.concatenate(found, axis=1)
