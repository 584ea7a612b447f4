"""Tuning, runs and times of a rule on a problem, and the cost of a Fisher–vector product."""

import json
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from scipy.stats import qmc

from experiments.optimisers.digits import CLASSES, EXAMPLES, Digits, digits
from experiments.optimisers.problem import Shape, Task, loss, model, problem
from experiments.optimisers.rules import RULES, Bounds, Hyper, Kind, Trace, ranges, train
from experiments.shared import timing
from hopfield.fisher import fisher

Ranges = dict[str, tuple[float, float]]
STARTS = 3
"""Starts of other problems that the optimum is sought from, besides the teacher's parameters and the own start."""
LONG = 200
"""Steps of each of those searches."""
ALTERNATIONS, CALLS = 21, 20
"""Turns of product and gradient when they are timed, and calls in each."""
RISE = 10.0
"""Multiple of the loss at the start that a run which has diverged ends beyond."""


class Course(NamedTuple):
    """Course that all rules run on one problem: data, order of the batches, target and conditions of the end."""

    given: Task
    order: Any
    full: bool
    every: int
    optimum: float
    target: float
    end: float
    """Loss beyond the target that ends a run that is watched."""
    length: int
    """Most steps of any rule, which the traces have room for."""


class Run(NamedTuple):
    """Run of a rule: its trace up to its end, its steps, and its steps to the target (None if not reached).

    A run has diverged if its loss of all examples ends infinite, NaN, or at more than RISE times that at the start. It
    has not reached the target then, whatever it passed on its way.
    """

    trace: dict[str, np.ndarray]
    steps: int
    reached: int | None
    diverged: bool


@cache
def optimum(shape: Shape, seed: tuple[int, ...]) -> float:
    """Least known loss of a problem, from long isotropic runs that begin at its start, its teacher and other starts."""
    given = problem(shape, seed, 1.0)
    # A seed with a zero at its end is the seed without.
    starts = [given.teacher, given.start] + [problem(shape, (*seed, 2 + i), 1.0).start for i in range(STARTS)]
    hyper = {"rate": jnp.float32(1.0), "damping": jnp.float32(0.1)}
    losses = []
    for start in starts:
        setting = Course(
            given=given._replace(start=start),
            order=jnp.zeros((1, 1), jnp.int32),
            full=True,
            every=1,
            optimum=-np.inf,
            target=-np.inf,
            end=-np.inf,
            length=LONG,
        )
        losses.append(run("cholesky", hyper, setting, LONG).trace["loss"].min())
    return float(min(losses))


def setting(
    shape: Shape | str, seed: tuple[int, ...], conditioning: float, batch: int, tolerance: float, length: int
) -> Course:
    """Problem with its target: a share `tolerance` of the gain over chance from its optimum. Batch 0 is the full one.

    A name instead of a shape names a network that reads digits, whose least loss counts as zero.

    Batches run through the examples in a new order every epoch; the loss of all is looked at once an epoch.
    """
    named = isinstance(shape, str)
    examples, classes = (EXAMPLES, CLASSES) if named else (shape.examples, shape.classes)
    every = examples // batch if batch else 1
    length = -(-length // every) * every
    given = digits(seed[-1], shape) if named else problem(shape, seed, conditioning)
    best = 0.0 if named else optimum(shape, seed)
    gain = np.log(classes) - best
    order = np.zeros((1, 1), np.int32)
    if batch:
        rng = np.random.default_rng([*seed, 7])
        epochs = [rng.permutation(examples)[: every * batch] for _ in range(length // every)]
        order = np.concatenate(epochs).reshape(-1, batch)
    target, end = (float(best + share * tolerance * gain) for share in (1.0, 0.01))
    batches = jnp.asarray(order, jnp.int32)
    return Course(given, batches, full=not batch, every=every, optimum=best, target=target, end=end, length=length)


def run(rule: str, hyper: Hyper, course: Course, limit: int, *, goal: float | None = None) -> Run:
    """A watched run, which ends at the setting's own end, or at `goal` with nothing held out evaluated."""
    ends, watch = (course.end, 2) if goal is None else (goal, 1)
    _, trace, steps, last = _train(rule, hyper, course, limit, ends, watch)
    noted = int(steps) // course.every + 1
    seen = {name: np.array(row, float)[:noted] for name, row in zip(Trace._fields, trace, strict=True)}
    if not np.isfinite(last):
        seen["loss"][-1] = np.inf
    diverged = not float(last) <= RISE * seen["loss"][0] < np.inf
    hit = np.flatnonzero(seen["loss"] <= course.target)
    return Run(seen, int(steps), int(hit[0]) * course.every if len(hit) and not diverged else None, diverged)


def _train(rule: str, hyper: Hyper, course: Course, limit: int, goal: float, watch: int) -> tuple:
    kind = Kind(rule, course.full, course.every, course.length // course.every + 2)
    bounds = Bounds(jnp.int32(limit), jnp.float32(goal), jnp.int32(watch))
    return train(kind, course.given, course.order, hyper, bounds)


def train_untracked(rule: str, hyper: Hyper, course: Course, steps: int) -> tuple:
    """Training run of `steps` steps, to be timed, without evaluations other than the rule's own."""
    return _train(rule, hyper, course, steps, -np.inf, 0)


def candidates(searched: Ranges, rule: str, trials: int, seed: Sequence[int]) -> tuple[np.ndarray, list[Hyper]]:
    """Numbers to try, drawn evenly on logarithmic scales: places in the ranges [trials, numbers], and the numbers."""
    if not searched:
        return np.zeros((1, 0)), [{}]
    places = qmc.LatinHypercube(len(searched), rng=np.random.default_rng(seed)).random(trials)
    low, high = np.log(list(searched.values())).T
    numbers = np.exp(low + places * (high - low))
    return places, [_hyperparameter_arrays(rule, dict(zip(searched, row, strict=True))) for row in numbers]


def _hyperparameter_arrays(rule: str, numbers: dict[str, float]) -> Hyper:
    """Hyperparameters as arrays. Those that fix a shape are rounded to the nearest of their choices."""
    fixed = RULES[rule].choices
    near = {name: min(values, key=lambda v: abs(np.log(v / numbers[name]))) for name, values in fixed.items()}
    return {name: near.get(name, jnp.float32(value)) for name, value in numbers.items()}


class Tuned(NamedTuple):
    """Best numbers of a rule, whether they reached the target, and which lie in the outermost of the trials' strata.

    `diverged` counts the trials that did on some problem; where all did, the numbers are of one of these.
    """

    hyper: Hyper
    reached: bool
    edge: str
    diverged: int


def tune(rule: str, settings: Sequence[Course], limit: int, trials: int, seed: Sequence[int]) -> Tuned:
    """The trial of the fewest steps to the target, summed over problems.

    If no trial reaches every target, the one that reaches most is the best; ties go to the least loss at the end, and
    trials that diverged come last. A trial is stopped once it can no longer be the best.
    """
    searched = ranges(rule, settings[0].full, isinstance(settings[0].given, Digits))
    places, tried = candidates(searched, rule, trials, seed)
    scores = []
    for hyper in tried:
        best = min((steps for missed, steps, _ in scores if not missed), default=np.inf)
        scores.append(_score(rule, hyper, settings, limit, best))
    first = min(range(len(tried)), key=lambda i: scores[i])
    ends = zip(searched, places[first], strict=True)
    edge = [f"{name} {'low' if u < 0.5 else 'high'}" for name, u in ends if min(u, 1 - u) < 1 / trials]
    lost = sum(np.isinf(loss) for _, _, loss in scores)
    return Tuned(tried[first], not scores[first][0], ", ".join(edge), int(lost))


def _score(rule: str, hyper: Hyper, settings: Sequence[Course], limit: int, best: float) -> tuple[int, float, float]:
    """Score of one trial, lower is better: problems that miss the target, sum of steps to it, sum of last losses.

    The loss at the end of a run that diverged is infinite, and its trial is missed on all problems.
    """
    missed, steps, last = 0, 0, 0.0
    for where in settings:
        left = int(min(limit, max(best - steps, 0) + where.every))
        found = run(rule, hyper, where, left, goal=where.target)
        missed += found.reached is None
        steps += limit if found.reached is None else found.reached
        last += np.inf if found.diverged else float(found.trace["loss"][-1])
        if found.diverged or (missed and np.isfinite(best)):
            break
    missed = len(settings) if np.isinf(last) else missed
    return missed, float(steps if not missed else 0), last


def curve(found: Run, course: Course, times: dict[int, float], points: int = 40) -> str:
    """A run as JSON lists, at steps evenly spaced in their logarithm. Times are interpolated."""
    last = len(found.trace["loss"]) - 1
    grid = np.unique(np.round(np.geomspace(1, last + 1, points)).astype(int) - 1)
    steps = grid * course.every
    known = sorted({0: 0.0} | times)
    columns: dict[str, Any] = {
        "step": steps,
        "seconds": np.interp(steps, known, [({0: 0.0} | times)[k] for k in known]),
    }
    columns |= {name: row[grid] for name, row in found.trace.items() if np.isfinite(row[grid]).any()}
    return json.dumps({name: [_number(x) for x in row.tolist()] for name, row in columns.items()})


def _number(value: float) -> float | int | None:
    if isinstance(value, int):
        return value
    return float(f"{value:.6g}") if np.isfinite(value) else None


def product_cost(given: Task) -> tuple[float, float, float]:
    """Time of a Fisher–vector product over the time of a gradient, in turn: median and quartiles of the ratio."""
    operator = fisher(model(given), given.start, likelihood="categorical", inputs=given.inputs)
    product = jax.jit(lambda params, vector: operator.replace(params=params) @ vector)
    gradient = jax.jit(jax.grad(lambda params: loss(given, params, given.inputs, given.labels)))
    vector = gradient(given.start)
    sides = (lambda: product(given.start, vector)), (lambda: gradient(given.start))
    taken = timing.in_turn(sides, ALTERNATIONS, CALLS)
    middle, low, high = np.quantile(taken[:, 0] / taken[:, 1], [0.5, 0.25, 0.75])
    return float(middle), float(low), float(high)
