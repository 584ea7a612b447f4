"""Similarity × separation on real images: which memory returns the stored image when asked with a corrupted one.

Images are stored as they come, grey levels in [0, 1], and asked for with parts blackened or noise added. A similarity
compares the query with each, a separation turns the scores into weights p, the answer is Σ p ξ (`single`), or where
reading the answer again and again ends (`iterated`, for pairs whose update is the read-out). Every answer is judged by

    error        squared distance from the image asked for, in units of the mean squared distance of two images
    identified   nearer to the image asked for than to any other stored one
    close        error at most `threshold`
    retrieved    both

β is tuned for every pair, task and criterion on draws of images and queries that are not measured, on one grid in
units of the similarity's own lead: at its upper end softmax and sparsemax are the maximum, at its lower end the mean
image. The `visible` × `bayes` rows are the limit for any read-out: told the strength of the noise, or which pixels were
hidden, they return the likeliest image, which no answer identifies more often, and for `error` the posterior mean,
which no answer is closer to.

Source: the comparison of Millidge et al. 2022 (arXiv:2202.04557). They accept what is close within 50 squared grey
levels on 784 pixels, about half of the distance of two digits, as are many wrong ones; and they scale scores and
weights to a sum of one where β is tuned here.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from experiments.contract import Cost, Point, Row
from experiments.separation import measurement, memories
from experiments.separation.config import BOUND, PAIR, TASK, Config
from experiments.separation.results import panels, summarise
from experiments.shared import corruptions, draws, parallel, pattern_sets

__all__ = ["X_AXIS", "Config", "check", "cost", "measure", "panels", "points", "summarise"]
X_AXIS = "patterns"
TUNING = 2**31
"""Number of the first draw that β is tuned on; those measured count from zero."""


def check(config: Config) -> None:
    """Check that pairs are valid, images can have the starts, and ensembles are large enough; else ValueError."""
    _check_pairs(config)
    for start in (*config.corruption, *config.across):
        _check_start(start)
    for ensemble in config.ensembles:
        _check_ensemble(config, ensemble)


def _check_pairs(config: Config) -> None:
    for pair in product(config.similarities, config.separations):
        memories.check(*pair)
    least = min(config.patterns)
    for separation in config.separations:
        kind, _, number = separation.partition(":")
        if kind == "top_k" and int(number) > least:
            raise ValueError(f"separations must keep at most the least of patterns, {least}, got {separation}")
    if not _pairs(config)[:-1]:
        given = f"{config.separations} with dynamics {config.dynamics}"
        raise ValueError(f"separations must go with one of {', '.join(config.similarities)}, got {given}")


def _check_start(start: Any) -> None:
    kind, amount = corruptions.parts(corruptions.name(start))
    if kind == "flip" and amount:
        raise ValueError(f"corruption must be mask:, lower: or noise: for images, got {start!r}")


def _check_ensemble(config: Config, ensemble: str) -> None:
    rows, width = pattern_sets.pixels(ensemble).shape
    most = max(config.patterns)
    if most > rows:
        raise ValueError(f"patterns must be at most the {rows} of {ensemble}, got {most}")
    if most * width > 2**24:
        raise ValueError(f"patterns must be at most 2^24 / pixels, got {most} of {width} pixels in {ensemble}")


def _pairs(config: Config) -> list[tuple[str, str, str]]:
    """Triples (dynamics, similarity, separation) that are measured, the bound last."""
    chosen = product(config.dynamics, config.similarities, config.separations)
    kept = [p for p in chosen if memories.combines(*p[1:]) and (p[0] == "single" or memories.iterates(*p[1:]))]
    return [*kept, ("single", *BOUND)]


def all_dynamics_paired(config: Config) -> bool:
    """True if every dynamics that is listed is measured."""
    return {pair[0] for pair in _pairs(config)[:-1]} == set(config.dynamics)


def all_similarities_paired(config: Config) -> bool:
    """True if every similarity that is listed is measured."""
    return {pair[1] for pair in _pairs(config)[:-1]} == set(config.similarities)


def all_separations_paired(config: Config) -> bool:
    """True if every separation that is listed is measured."""
    return {pair[2] for pair in _pairs(config)[:-1]} == set(config.separations)


def any_beta(config: Config) -> bool:
    """True if a pair that is measured depends on β."""
    return any(memories.has_beta(separation) for _, _, separation in _pairs(config)[:-1])


def cost(config: Config) -> Cost:
    """Cost of all reads, those that tune β included: queries × patterns × pixels × updates."""
    width = max(pattern_sets.pixels(ensemble).shape[1] for ensemble in config.ensembles)
    tasks, most = len(config.corruption) + len(config.across) * len(config.patterns), max(config.patterns)
    curves, drawn = len(config.ensembles) * tasks * len(_pairs(config)), config.samples + config.tuning
    queries = min(config.queries, most)
    steps = config.max_steps if "iterated" in config.dynamics else 1
    reads = config.samples + config.tuning * len(config.sharpness)
    return Cost(
        curves * config.samples,
        drawn * max(most, queries) * width,
        curves * reads * queries * most * width * steps / 16,
    )


def points(config: Config) -> list[Point]:
    """One point per ensemble, number of images, start, pair and sample. The largest M also has a second dynamics."""
    largest = max(config.patterns)
    tasks = [(largest, corruptions.name(start)) for start in config.corruption]
    tasks += [
        (num_patterns, corruptions.name(start)) for start in config.across for num_patterns in sorted(config.patterns)
    ]
    pairs = _pairs(config)
    *chosen, limit = pairs
    fewer = [*(pair for pair in chosen if pair[0] == chosen[0][0]), limit]
    grid = []
    for ensemble, (num_patterns, start) in product(config.ensembles, dict.fromkeys(tasks)):
        for pair in pairs if num_patterns == largest else fewer:
            point = dict(zip([*TASK, *PAIR], (ensemble, num_patterns, start, *pair), strict=True))
            grid += [point | {"sample": sample} for sample in range(config.samples)]
    return grid


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """Rows of points. All draws of one pair on one task are measured together."""
    return parallel.rows_in_groups(wanted, [*TASK, *PAIR], "sample", partial(_rows, config))


def _rows(config: Config, group: list[Point]) -> list[Row]:
    """The rows of some draws of one pair on one task: β tuned on other draws, then measured."""
    point, samples = group[0], [row["sample"] for row in group]
    units = measurement.scale(point["ensemble"], point["similarity"])
    reader = measurement.Reader(
        point["similarity"], point["separation"], point["dynamics"] == "iterated", config.max_steps
    )
    task = _task(config, point)

    def read_draws(numbers: Sequence[int], betas: Sequence[float]) -> dict:
        every = (*range(config.samples), *range(TUNING, TUNING + config.tuning))
        places = [every.index(number) for number in numbers]
        found = measurement.draws(task, config.seed, every)
        return measurement.read(reader, task, found, places, units, betas, config.threshold)

    best = _tuned_sharpness(config, point, read_draws)
    found = {beta: read_draws(samples, [beta or 1.0] * len(samples)) for beta in set(best.values())}
    by_count, by_error = (found[best[name]] for name in ("retrieved", "error"))
    shared = {
        "neurons": pattern_sets.pixels(point["ensemble"]).shape[1],
        "queries": min(config.queries, point["patterns"]),
    } | {f"sharpness_{name}": value for name, value in best.items()}
    return [
        row
        | shared
        | {name: int(by_count[name][i]) for name in ("retrieved", "identified", "close")}
        | {"error": float(by_error["error"][i])}
        for i, row in enumerate(group)
    ]


def _task(config: Config, point: Point) -> measurement.Task:
    largest = max(config.patterns)
    padding = draws.rows_to_draw(point["patterns"], largest, pattern_sets.pixels(point["ensemble"]).shape[1])
    kind, amount = corruptions.parts(point["corruption"])
    return measurement.Task(point["ensemble"], point["patterns"], padding, min(config.queries, padding), kind, amount)


def _tuned_sharpness(config: Config, point: Point, read: Callable[..., dict]) -> dict[str, float | None]:
    """Sharpness that serves each criterion best on the tuning draws. None where β changes nothing."""
    if point["similarity"] not in memories.SIMILARITIES or not memories.has_beta(point["separation"]):
        return {"retrieved": None, "error": None}
    numbers = range(TUNING, TUNING + config.tuning)
    tried = list(product(numbers, config.sharpness))
    found = read([number for number, _ in tried], [sharpness for _, sharpness in tried])
    shape = len(numbers), len(config.sharpness)
    retrieved, error = (np.reshape(found[name], shape).mean(axis=0) for name in ("retrieved", "error"))
    # Many β retrieve equally many: of those, the one of least error.
    order = np.lexsort((error, -retrieved))
    return {"retrieved": config.sharpness[order[0]], "error": config.sharpness[int(np.argmin(error))]}
