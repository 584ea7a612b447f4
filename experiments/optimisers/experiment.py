"""Natural gradients against first-order optimisers and L-BFGS: steps and time to a target on ill-conditioned inputs.

A small memory with a learned metric (`problem`) is fitted by

    sgd, adam   with momentum
    muon        with steps of orthogonal matrices (Jordan et al. 2024), optax.contrib.muon
    lbfgs       with a line search, in mini-batches on the batch
    cg          natural gradient by conjugate gradients; in full batches with Levenberg–Marquardt damping
    cholesky    the same from the whole matrix
    kernel      the same in the space of the examples, in full batches of 128 of them; fixed damping
    kronecker   with a Kronecker product in the place of the matrix; fixed damping
    diagonal    with its diagonal; fixed damping

Each rule has two numbers of its own, which the same number of trials chooses for every conditioning and kind of batch,
on problems that are not measured. The target is a share `tolerance` of the gain over chance above the least loss known.
A run whose loss ends infinite, NaN or at more than ten times that at the start has diverged: it has not reached the
target, and its numbers are chosen where all trials did so alone.
Times are for compiled programs with nothing evaluated beyond what the rule needs, rules in alternation.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby

import numpy as np

from experiments.contract import Cost, Point, Row
from experiments.optimisers import measurement, rules
from experiments.optimisers.config import BATCHES, NATURAL, RULES, Config
from experiments.optimisers.digits import EXAMPLES, NUMBERS
from experiments.optimisers.figure import panels
from experiments.optimisers.problem import Shape
from experiments.optimisers.summary import summarise
from experiments.shared import timing
from experiments.shared.axes import product_of

__all__ = ["X_AXIS", "Config", "cost", "measure", "panels", "points", "summarise"]
X_AXIS = "conditioning"
TUNING = 2**31
"""Number of the first problem that rules are tuned on; those measured count from zero."""


def cost(config: Config) -> Cost:
    """Cost of all runs, trials of the search included: steps × (gradient over all examples + solver)."""
    memory = config.problem == "memory"
    tasks = len(config.batches) * (len(config.conditioning) if memory else 1)
    examples, size = EXAMPLES, NUMBERS
    if memory:
        examples, size = config.examples + config.held, config.features * config.patterns
    steps = max(config.steps, config.natural_steps, config.mini_steps)
    whole = max(
        size**2 if memory and set(config.rules) & {"cg", "cholesky", "kernel"} else size,
        config.patterns**2,
    )
    order = (steps + config.examples) * config.batch_size if "mini" in config.batches else 0
    elements = max(examples * max(config.features, config.patterns), whole, order, 8 * steps, 8 * config.search_trials)
    runs = tasks * len(config.rules) * (config.search_trials * config.tuning + config.samples * (config.repeats + 2))
    points = tasks * len(config.rules) * config.samples
    each = 1 / 32 if memory else 1.0  # weights of a transformer are used for each of 16 patches
    return Cost(points, elements, runs * steps * each * (10 * examples * size + whole))


def points(config: Config) -> list[Point]:
    """One point per kind of batch, conditioning, rule and problem."""
    return product_of(
        batch=config.batches,
        conditioning=sorted(config.conditioning) if config.problem == "memory" else [1.0],
        rule=config.rules,
        sample=range(config.samples),
    )


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """Rows of points, by kind of batch and conditioning: every rule is tuned, then all run each problem in turn."""

    def task(point: Point) -> tuple:
        return BATCHES.index(point["batch"]), point["conditioning"]

    for _, group in groupby(sorted(wanted, key=task), key=task):
        chosen = list(group)
        tuned = {rule: _tune(config, chosen[0], rule) for rule in dict.fromkeys(point["rule"] for point in chosen)}
        for sample in sorted({point["sample"] for point in chosen}):
            yield from _rows(config, [point for point in chosen if point["sample"] == sample], tuned)


def _limit(config: Config, rule: str, batch: str) -> int:
    if rule not in NATURAL:
        return config.steps
    return config.natural_steps if batch == "full" else config.mini_steps


def _setting(config: Config, point: Point, sample: int) -> measurement.Course:
    sizes = config.features, config.patterns, config.classes, config.examples, config.held
    seed = (config.seed, sample)
    batch, longest = (0, config.natural_steps) if point["batch"] == "full" else (config.batch_size, config.mini_steps)
    length = max(config.steps, longest)
    shape = Shape(*sizes) if config.problem == "memory" else config.problem
    return measurement.setting(shape, seed, point["conditioning"], batch, config.tolerance, length)


def _tune(config: Config, point: Point, rule: str) -> measurement.Tuned:
    settings = [_setting(config, point, TUNING + i) for i in range(config.tuning)]
    seed = [config.seed, RULES.index(rule), BATCHES.index(point["batch"])]
    return measurement.tune(rule, settings, _limit(config, rule, point["batch"]), config.search_trials, seed)


def _rows(config: Config, group: list[Point], tuned: dict[str, measurement.Tuned]) -> Iterator[Row]:
    """The rows of all rules on one problem: each runs, then all are timed in turn, so that noise meets all alike."""
    course = _setting(config, group[0], group[0]["sample"])
    found = {}
    for point in group:
        rule = point["rule"]
        found[rule] = measurement.run(rule, tuned[rule].hyper, course, _limit(config, rule, point["batch"]))
    # Where the target is not reached the whole run is timed.
    marks = {rule: max(each.steps if each.reached is None else each.reached, 1) for rule, each in found.items()}
    runs = [
        partial(measurement.train_untracked, rule, tuned[rule].hyper, course, steps) for rule, steps in marks.items()
    ]
    taken = dict(zip(marks, timing.in_turn(runs, config.repeats).T.tolist(), strict=True))
    for point in group:
        rule, result = point["rule"], found[point["rule"]]
        median = float(np.median(taken[rule]))
        times = {marks[rule]: median} | _times_at_steps(rule, tuned[rule].hyper, course, result, marks[rule])
        row = (
            point
            | _result_columns(result, course, tuned[rule], config.search_trials)
            | _time_columns(taken[rule], marks[rule], result)
        )
        timed = rule == "cg" and config.problem == "memory"
        cost = measurement.product_cost(course.given) if timed else (None, None, None)
        row |= dict(zip(("product_ratio", "product_low", "product_high"), cost, strict=True))
        yield row | {"curve": measurement.curve(result, course, times)}


def _times_at_steps(
    rule: str, hyper: rules.Hyper, course: measurement.Course, result: measurement.Run, mark: int
) -> dict[int, float]:
    """Times of further numbers of steps for the curve: of the whole run, and of powers of two where steps differ."""
    steps = {result.steps} | ({2**i for i in range(result.steps.bit_length())} if rule in ("cg", "lbfgs") else set())
    return {
        count: timing.seconds(partial(measurement.train_untracked, rule, hyper, course, count))
        for count in sorted(steps - {mark})
    }


def _time_columns(taken: list[float], steps: int, result: measurement.Run) -> Row:
    """Seconds to the target, None if it is missed, and seconds per step."""
    reached = result.reached is not None
    spread = [float(f(taken)) if reached else None for f in (np.median, min, max)]
    names = ("seconds", "seconds_low", "seconds_high")
    return dict(zip(names, spread, strict=True)) | {"step_seconds": float(np.median(taken)) / max(steps, 1)}


def _result_columns(result: measurement.Run, course: measurement.Course, tuned: measurement.Tuned, trials: int) -> Row:
    """Numbers chosen, steps, losses, and the optimiser's account of itself up to the target (or the end)."""
    trace = result.trace
    place = len(trace["loss"]) - 1 if result.reached is None else result.reached // course.every
    part = {name: row[: place + 1] for name, row in trace.items()}
    finite = lambda x: float(x) if np.isfinite(x) else None
    own = {name: part[name][1:][np.isfinite(part[name][1:])] for name in ("iterations", "accepted", "residual")}
    average = {name: float(values.mean()) if len(values) else None for name, values in own.items()}
    numbers = {name: float(value) for name, value in tuned.hyper.items()}
    return {
        **{name: numbers.get(name) for name in ("rate", "friction", "damping", "curvature", "memory")},
        "edge": tuned.edge,
        "tuned": tuned.reached,
        "search_trials": trials,
        "search_trials_diverged": tuned.diverged,
        "diverged": result.diverged,
        "optimum": course.optimum,
        "target": course.target,
        "steps": result.reached,
        "steps_done": result.steps,
        "loss": finite(trace["loss"][-1]),
        "held_loss": finite(part["held_loss"][-1]),
        "held_accuracy": finite(part["held_accuracy"][-1]),
        "held_best": finite(np.nanmin(trace["held_loss"], initial=np.inf)),
        "last_damping": finite(part["damping"][-1]),
        **average,
    }
