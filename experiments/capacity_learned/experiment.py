"""Learned memories: by how much learning a metric, β and a separation raises the number of patterns held.

A memory answers a corrupted pattern x with Σ_μ p_μ ξ_μ, p = ∇F(β s), read once or (`iterated`) at the fixed point of
reading again. It learns to make the squared distance of the answer from the pattern small, on draws of M = `stored`
patterns of an ensemble: the metric g of the scores, β, and the numbers of the separation's family. Parts by name:

    dot, distance                     s_μ = x g ξ_μ; the same less ½ ξ_μ g ξ_μ; also manhattan, without a metric
    identity                          g = 1: only β and the family's number are learned
    whitening, matched                g the inverse second moment of the patterns, of the corrupted patterns
    projection                        g from the patterns stored: with `linear` the projection on their span
    diagonal, low_rank, definite, full   learned, from the identity (low rank: a random start)
    softmax, entmax, power, linear    entmax learns α, power its degree; linear weights are scores over M
    network                           weights are a rising curve of the score, a monotone convex network's slope

`matched` is the best metric of a dot product in a large Gaussian memory: of all u the x·g-images with which others'
scores u·ξ have variance u C u, it lifts the own mean score u C S⁻¹ x the furthest above their spread (S = E xxᵀ).
For equal norms and noise of one variance, or flips, the plain dot product is itself the likelihood: no metric beats it
where softmax can pick the largest score.

A row is a memory `before` (optimiser none) or after learning, on draws, or images, that it has not learned from
(`fresh`) or on those that it has (`seen`), queries corrupted anew in either: the share `identified` (nearer to their
pattern than to any other; an answer of spins is taken by its signs), the squared `error` in units of the mean squared
distance of two patterns, entropy of the weights, the cosines of g and three matrices (none for `projection`, another g
in every draw), and the seconds that learning took.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from experiments.capacity_learned import families, measurement, memories, tasks
from experiments.capacity_learned.config import BEFORE, KIND, TRAINED, Config, Kind, kind
from experiments.capacity_learned.measurement import Given, Lesson
from experiments.capacity_learned.results import COSINES, panels, summarise
from experiments.contract import Cost, Point, Row
from experiments.shared import draws, parallel

__all__ = ["X_AXIS", "Config", "check", "cost", "measure", "panels", "points", "summarise"]
X_AXIS = "patterns"
SHARPNESS = {"single": 5.0, "iterated": 15.0}
"""β that learning starts with, in units of 1 / the mean lead of an own score: where answers settle at patterns."""
FURTHER = 4
"""Lessons on further draws, by which rates are chosen."""


def check(config: Config) -> None:
    """Check that tasks are known, and that there are as many images as they need; else ValueError."""
    for text in config.tasks:
        task = tasks.task(text, config.neurons)
        rows = tasks.rows(task)
        for name, most in (("patterns", max(config.patterns)), ("stored", config.stored)):
            if rows is not None and most > rows:
                raise ValueError(f"{name} must be at most the {rows} images of half of {task.ensemble}, got {most}")
        if task.corruption != "noise" and task.amount * max(config.strengths, default=1.0) > 1:
            raise ValueError(f"strengths must leave fractions of at most 1 in {text}, got {max(config.strengths)}")


def cost(config: Config) -> Cost:
    """Cost of all trainings, at every learning rate, and of asking what each of them has made."""
    width = max(tasks.task(text, config.neurons).neurons for text in config.tasks)
    trainings = config.samples * (len(config.optimisers) + len(config.fewer))
    trainings *= len(config.tasks) * len(config.memories + config.overfitted) + len(config.further)
    cells = len(config.patterns) + len(config.strengths) + 2
    most = max(*config.patterns, config.stored)
    rates = max(len(config.adam_rates), len(config.natural_rates))
    step = config.batch_size * config.stored * width * 6.0 + 2.0 * width**2 * config.stored
    asked = config.held * min(config.queries, most) * most * width * 4.0
    elements = max(config.draws * config.stored, config.held * most, config.steps * config.batch_size) * width
    return Cost(
        trainings * cells * 2,
        elements,
        trainings * (rates * config.steps * step * measurement.ITERATIONS / 16 + cells * asked),
    )


def points(config: Config) -> list[Point]:
    """One point per task, memory, optimiser, number of draws, number of patterns or corruption, and training."""
    loads = [("fresh", num_patterns, 1.0) for num_patterns in sorted({*config.patterns, config.stored})]
    loads += [("fresh", config.stored, strength) for strength in sorted({*config.strengths} - {1.0})]
    grid = []
    for text in config.tasks:
        names = config.memories + (config.further if text == config.tasks[0] else [])
        for name in dict.fromkeys(names + (config.overfitted if config.fewer else [])):
            few = sorted(config.fewer) if name in config.overfitted else []
            ways = [(BEFORE, config.draws)] + [(o, d) for d in (*few, config.draws) for o in config.optimisers]
            for optimiser, lessons in ways:
                trained = dict(zip(TRAINED, (text, *kind(name), optimiser, lessons), strict=True))
                cells = loads + ([("seen", config.stored, 1.0)] if optimiser != BEFORE else [])
                for data, num_patterns, strength in cells:
                    point = trained | {"data": data, "patterns": num_patterns, "strength": strength}
                    grid += [point | {"sample": sample} for sample in range(config.samples)]
    return grid


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """Rows of the points in `wanted`. Points of one training are measured together."""
    return parallel.rows_in_groups(wanted, [*TRAINED, "sample"], "patterns", partial(_rows, config))


def _rows(config: Config, group: list[Point]) -> list[Row]:
    """Rows of a group of points that share one training."""
    point = group[0]
    task, parts = tasks.task(point["task"], config.neurons), Kind(*(point[name] for name in KIND))
    # One key for all memories of a task: they learn from the same draws and are asked the same.
    draw_key, lesson_key, start_key, asked_key = jax.random.split(draws.key(config.seed, point["sample"]), 4)
    stored = tasks.draw_patterns(task, draw_key, config.draws, config.stored, learning=True)[: point["draws"]]
    given = _fixed_parts(config, task, parts)
    params, about = _train_best(config, point, (task, parts, given), stored, (lesson_key, start_key))
    about |= _learned_columns(task, parts, params, given)
    rows = []
    for row in group:
        places = stored[np.arange(config.held) % len(stored)]
        if row["data"] == "fresh":
            width = _width(task, max(row["patterns"], config.queries))
            places = tasks.draw_patterns(task, asked_key, config.held, width, learning=False)
        queries = tasks.corrupted(task, asked_key, places[:, : config.queries], row["strength"])
        question = measurement.Question(parts, config.max_steps, task.spins)
        answers = measurement.ask(question, given, params, places, queries, np.int32(row["patterns"]))
        rows.append(row | answers | about)
    return rows


def _width(task: tasks.Task, num_patterns: int) -> int:
    """Padded number of patterns of a draw: a power of four, so that few programs serve all, and no more than images."""
    width, most = 4, tasks.rows(task)
    while width < num_patterns:
        width *= 4
    return width if most is None else min(width, most)


def _fixed_parts(config: Config, task: tasks.Task, parts: Kind) -> Given:
    """The fixed metric of a kind, β at the start and the unit of errors."""
    fixed = {"whitening": tasks.second_moment, "matched": tasks.query_moment}.get(parts.metric)
    metric = np.eye(task.neurons) if fixed is None else tasks.inverse(fixed(task))
    spread = tasks.error_unit(task)
    lead = {"dot": spread, "distance": spread, "manhattan": np.sqrt(2.0 * spread * task.neurons)}[parts.similarity]
    unit = (
        task.neurons / np.trace(tasks.second_moment(task))
        if parts.separation == "linear"
        else SHARPNESS[parts.dynamics] / lead
    )
    return Given(*(jnp.asarray(value, jnp.float32) for value in (metric, unit, spread)))


def _train_best(config: Config, point: Point, problem: tuple, stored: Any, keys: tuple) -> tuple[Any, dict]:
    """Parameters trained at the best rate, and columns with this rate, its error and the seconds of one training."""
    task, parts, given = problem
    lesson_key, start_key = keys
    if point["optimiser"] == BEFORE:
        params = memories.start(parts, task.neurons, start_key)
        return params, {"rate": None, "further_error": None, "seconds": None}
    steps, size = config.steps, config.batch_size
    key, index_key, further_key, choice_key = jax.random.split(lesson_key, 4)
    draw = np.arange(steps) % len(stored)
    index = jax.random.randint(index_key, (steps, size), 0, config.stored)
    asked = tasks.corrupted(task, key, stored[draw[:, None], index])
    further = tasks.draw_patterns(task, further_key, FURTHER, config.stored, learning=True)
    chosen = jax.random.randint(choice_key, (FURTHER, size), 0, config.stored)
    queries = tasks.corrupted(task, choice_key, further[np.arange(FURTHER)[:, None], chosen])
    every = jnp.concatenate([stored, jnp.zeros((config.draws - len(stored), *stored.shape[1:]), stored.dtype)])
    rates = config.adam_rates if point["optimiser"] == "adam" else config.natural_rates
    course = measurement.Course(every, jnp.asarray(draw), index, asked, Lesson(further, chosen, queries))
    program = measurement.Program(parts, point["optimiser"], config.max_steps)
    learned, seconds = measurement.learn(
        program, given, start_key, jnp.asarray(rates, jnp.float32), jnp.float32(config.damping), course
    )
    best = int(np.argmin(np.nan_to_num(learned.error, nan=np.inf)))
    params = jax.tree.map(lambda leaf: leaf[best], learned.params)
    about = {"rate": rates[best], "further_error": float(learned.error[best]), "seconds": seconds / len(rates)}
    return params, about


def _learned_columns(task: tasks.Task, parts: Kind, params: Any, given: Given) -> Row:
    """Columns of what was learned: β over its start, the family's number, likeness of the metric to three matrices."""
    learned = families.number(parts.separation, params)
    about = {"beta": float(jnp.exp(params["log_beta"])), "number": _or_none(learned)}
    if parts.metric == "projection":
        return about | {f"cosine_{name}": None for name in COSINES}
    metric = np.asarray(memories.dense(parts, params, given.metric), np.float64)
    beside = {"identity": np.eye(task.neurons), "whitening": tasks.inverse(tasks.second_moment(task))}
    beside["matched"] = tasks.inverse(tasks.query_moment(task))
    cosine = lambda g: float(np.sum(metric * g) / np.linalg.norm(metric) / np.linalg.norm(g))
    return about | {f"cosine_{name}": cosine(g) for name, g in beside.items()}


def _or_none(value: Any) -> float | None:
    return None if np.isnan(value) else float(value)
