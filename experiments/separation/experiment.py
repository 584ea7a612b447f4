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
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby, product
from typing import TYPE_CHECKING, Any

from experiments import contract
from experiments.bounds import Use, chosen
from experiments.contract import Cost, about
from experiments.shared import corruptions, parallel, pattern_sets

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

    from experiments.separation.measurement import Task

X_AXIS = "patterns"
DYNAMICS = ("single", "iterated")
PAIR = ["dynamics", "similarity", "separation"]
TASK = ["source", "patterns", "corruption"]
TUNING = 2**31
"""Number of the first draw that β is tuned on; those measured count from zero."""


_TUNED = Use("one of separations depends on β", lambda config: _any_beta(config))


@dataclass
class Config(contract.Config):
    """Options of the comparison."""

    sources: list[str] = field(
        default_factory=lambda: ["digits"],
        metadata=about("images: digits, photographs, or .npy or .npz files", nonempty=True, meaning="source"),
    )
    similarities: list[str] = field(
        default_factory=lambda: ["dot", "euclidean"],
        metadata=about(
            "any of dot, cosine, correlation, euclidean, manhattan",
            nonempty=True,
            used_when=Use("each goes with one of separations", lambda config: _all_paired(config, 1)),
        ),
    )
    separations: list[str] = field(
        default_factory=lambda: ["rectified:2", "softmax", "max"],
        metadata=about(
            "any of rectified:n, softmax, entmax:a, sparsemax, normmax:a, top_k:k, epanechnikov, max",
            nonempty=True,
            numbered=True,
            meaning="separation",
            used_when=Use("each goes with one of similarities", lambda config: _all_paired(config, 2)),
        ),
    )
    dynamics: list[str] = field(
        default_factory=lambda: ["single"],
        metadata=about(
            "single, iterated or both; the second at the largest M alone",
            among=DYNAMICS,
            nonempty=True,
            used_when=Use("each goes with a pair of the others", lambda config: _all_paired(config, 0)),
        ),
    )
    patterns: list[int] = field(
        default_factory=lambda: [10, 40],
        metadata=about(
            "numbers of stored images M",
            least=2,
            nonempty=True,
            used_when=Use("across is given for all but the largest", lambda config: _each_size(config)),
        ),
    )
    corruption: list[Any] = field(
        default_factory=lambda: ["lower:0.5", "noise:0.4"],
        metadata=about(
            "queries at the largest M: mask:, lower: (fraction blackened) or noise:deviation", nonempty=True
        ),
    )
    across: list[Any] = field(
        default_factory=lambda: ["noise:0.4"], metadata=about("queries at every M, of the same kinds")
    )
    samples: int = field(default=3, metadata=about("draws of stored images", least=1))
    tuning: int = field(
        default=1, metadata=about("further draws, not measured, that β is tuned on", least=1, used_when=_TUNED)
    )
    queries: int = field(default=16, metadata=about("images asked for in each draw", least=1))
    sharpness: list[float] = field(
        default_factory=lambda: [1.0, 10.0, 100.0, 1000.0],
        metadata=about(
            "β to choose from, in units of 1 / mean lead of an image's own score",
            above=0,
            nonempty=True,
            used_when=_TUNED,
        ),
    )
    threshold: float = field(default=0.05, metadata=about("error that counts as close", above=0, below=1))
    max_steps: int = field(
        default=20,
        metadata=about(
            "read-outs of one iterated retrieval at most", least=1, used_when=chosen("dynamics", "iterated")
        ),
    )

    def __post_init__(self) -> None:
        contract.Config.__post_init__(self)
        _check_pairs(self)
        for start in (*self.corruption, *self.across):
            _check_start(start)
        for source in self.sources:
            _check_source(self, source)


def _check_pairs(config: Config) -> None:
    from experiments.separation import memories

    for pair in product(config.similarities, config.separations):
        memories.check(*pair)
    least = min(config.patterns)
    for separation in config.separations:
        kind, _, number = separation.partition(":")
        if kind == "top_k" and int(number) > least:
            raise ValueError(f"separations must keep at most the least of patterns, {least}, got {separation}")
    if not _pairs(config)[:-1]:
        raise ValueError(f"separations must go with one of {', '.join(config.similarities)}, got {config.separations}")


def _check_start(start: Any) -> None:
    kind, amount = corruptions.parts(corruptions.name(start))
    if kind == "flip" and amount:
        raise ValueError(f"corruption must be mask:, lower: or noise: for images, got {start!r}")


def _check_source(config: Config, source: str) -> None:
    rows, width = pattern_sets.pixels(source).shape
    most = max(config.patterns)
    if most > rows:
        raise ValueError(f"patterns must be at most the {rows} of {source}, got {most}")
    if most * width > 2**24:
        raise ValueError(f"patterns must be at most 2^24 / pixels, got {most} of {width} pixels in {source}")


def _pairs(config: Config) -> list[tuple[str, str, str]]:
    """All (dynamics, similarity, separation), and the bound at the end."""
    from experiments.separation import memories
    from experiments.separation.measurement import BOUND

    chosen = product(config.dynamics, config.similarities, config.separations)
    kept = [p for p in chosen if memories.combines(*p[1:]) and (p[0] == "single" or memories.iterates(*p[1:]))]
    return [*dict.fromkeys(kept), ("single", *BOUND)]


def _all_paired(config: Config, place: int) -> bool:
    """Whether every dynamics (0), similarity (1) or separation (2) that is listed is measured."""
    listed = (config.dynamics, config.similarities, config.separations)[place]
    return {pair[place] for pair in _pairs(config)[:-1]} == set(listed)


def _each_size(config: Config) -> bool:
    return bool(config.across) or len(set(config.patterns)) == 1


def _any_beta(config: Config) -> bool:
    from experiments.separation import memories

    return any(memories.has_beta(separation) for _, _, separation in _pairs(config)[:-1])


def cost(config: Config) -> Cost:
    """What all of it takes, from the options alone."""
    width = max(pattern_sets.pixels(source).shape[1] for source in config.sources)
    tasks, most = len(config.corruption) + len(config.across) * len(config.patterns), max(config.patterns)
    curves, draws = len(config.sources) * tasks * len(_pairs(config)), config.samples + config.tuning
    queries = min(config.queries, most)
    steps = config.max_steps if "iterated" in config.dynamics else 1
    reads = config.samples + config.tuning * len(config.sharpness)
    return Cost(
        curves * config.samples,
        draws * max(most, queries) * width,
        curves * reads * queries * most * width * steps / 16,
    )


def points(config: Config) -> list[dict]:
    """One point per source, number of images, start, pair and draw; a second dynamics at the largest M alone."""
    largest = max(config.patterns)
    tasks = [(largest, corruptions.name(start)) for start in config.corruption]
    tasks += [(patterns, corruptions.name(start)) for start in config.across for patterns in sorted(config.patterns)]
    pairs = _pairs(config)
    *chosen, limit = pairs
    fewer = [*(pair for pair in chosen if pair[0] == chosen[0][0]), limit]
    found = []
    for source, (patterns, start) in product(config.sources, dict.fromkeys(tasks)):
        for pair in pairs if patterns == largest else fewer:
            point = dict(zip([*TASK, *PAIR], (source, patterns, start, *pair), strict=True))
            found += [point | {"sample": sample} for sample in range(config.samples)]
    return found


def science(config: Config) -> dict:
    """What a point's numbers depend on besides the point."""
    names = ("seed", "tuning", "queries", "sharpness", "threshold", "max_steps")
    return {name: getattr(config, name) for name in names}


def measure(config: Config, points_: Sequence[dict]) -> Iterator[dict]:
    """Measure points, all draws of a pair on a task together."""

    def reading(point: dict) -> tuple:
        return tuple(point[name] for name in (*TASK, *PAIR))

    chosen = sorted(points_, key=lambda point: (reading(point), point["sample"]))
    return parallel.rows(partial(_rows, config, list(group)) for _, group in groupby(chosen, key=reading))


def _rows(config: Config, group: list[dict]) -> list[dict]:
    """The rows of some draws of one pair on one task: β tuned on other draws, then measured."""
    from experiments.separation import measurement

    point, samples = group[0], [row["sample"] for row in group]
    units = measurement.scale(point["source"], point["similarity"])
    reader = measurement.Reader(
        point["similarity"], point["separation"], point["dynamics"] == "iterated", config.max_steps
    )
    task = _task(config, point)

    def read(numbers: Sequence[int], betas: Sequence[float]) -> dict:
        every = (*range(config.samples), *range(TUNING, TUNING + config.tuning))
        places = [every.index(number) for number in numbers]
        found = measurement.draws(task, config.seed, every)
        return measurement.read(reader, task, found, places, units, betas, config.threshold)

    best = _tuned(config, point, read)
    found = {beta: read(samples, [beta or 1.0] * len(samples)) for beta in set(best.values())}
    by_count, by_error = (found[best[name]] for name in ("retrieved", "error"))
    shared = {
        "neurons": pattern_sets.pixels(point["source"]).shape[1],
        "probes": min(config.queries, point["patterns"]),
    } | {f"sharpness_{name}": value for name, value in best.items()}
    return [
        row
        | shared
        | {name: int(by_count[name][i]) for name in ("retrieved", "identified", "close")}
        | {"error": float(by_error["error"][i])}
        for i, row in enumerate(group)
    ]


def _task(config: Config, point: dict) -> "Task":
    from experiments.separation.measurement import Task

    largest = max(config.patterns)
    padding = pattern_sets.padded(point["patterns"], largest, pattern_sets.pixels(point["source"]).shape[1])
    kind, amount = corruptions.parts(point["corruption"])
    return Task(point["source"], point["patterns"], padding, min(config.queries, padding), kind, amount)


def _tuned(config: Config, point: dict, read: Callable[..., dict]) -> dict[str, float | None]:
    """Sharpness that serves each criterion best on the tuning draws; None where β changes nothing."""
    import numpy as np

    from experiments.separation import memories

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


def summarise(table: "pandas.DataFrame") -> dict:
    """Shares and errors of every pair on every task, the best pair of each, and the ranking over all starts."""
    from experiments.separation.summary import summary

    return summary(table)


def plot(table: "pandas.DataFrame", summary: dict) -> "Figure":
    """Retrieval against masks, noise and number of images, and all pairs side by side, a row for each source."""
    from experiments.separation.figure import draw

    return draw(table, summary)
