"""Learning and querying of one memory, with one compiled program for each kind and optimiser."""

from collections.abc import Callable, Hashable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax.typing import ArrayLike
from jaxtyping import Array

from experiments.capacity_learned import memories
from experiments.capacity_learned.config import Kind
from experiments.shared import parallel, timing
from hopfield.fisher import Gaussian
from hopfield.observables.thermodynamics import entropy
from hopfield.optim import NaturalOptimiser, natural_gradient
from hopfield.spaces import aligned

ITERATIONS = 10
"""Conjugate gradients of one natural step at most."""
TRUST = 0.3
"""Longest natural step in the Fisher metric."""


class Program(NamedTuple):
    """Structure of a compiled learning. Everything else is traced."""

    kind: Kind
    optimiser: str
    max_steps: int


class Lesson(NamedTuple):
    """Patterns [M, N] of a draw, which are asked for [B], and their corrupted selves [B, N]; or many of such."""

    stored: Array
    index: Array
    queries: Array


class Course(NamedTuple):
    """Training data: draws of patterns [D, M, N], and for every step the draw [T] and its question [T, ...].

    Rates are chosen by the error of `further` lessons [V, ...].
    """

    stored: Array
    draw: Array
    index: Array
    queries: Array
    further: Lesson


class Given(NamedTuple):
    """Numbers of a task: the fixed metric [N, N], the β that learning starts with, and the unit of squared errors."""

    metric: Array
    unit: Array
    spread: Array


class Learned(NamedTuple):
    """Parameters of every rate [R, ...], and their error on draws that are not measured [R]."""

    params: memories.Params
    error: Array


def learn(
    program: Program, given: Given, key: Array, rates: Array, damping: Array, course: Course
) -> tuple[Learned, float]:
    """Parameters that each rate leads to, and the seconds that they took together, compiling aside.

    Args:
        program: what is compiled.
        given: numbers of the task.
        key: of the start.
        rates: learning rates [R].
        damping: of natural gradients.
        course: patterns and questions of every step.
    """
    arguments = given, key, rates, damping, course
    leaves, structure = jax.tree.flatten(arguments)
    run = _compiled(program, structure, tuple((leaf.shape, leaf.dtype) for leaf in leaves))
    parameters: list[Learned] = []
    taken = timing.seconds(lambda: parameters.append(jax.block_until_ready(run(*arguments))))
    return parameters[0], taken


@parallel.locked_cache(128)
def _compiled(program: Program, structure: Hashable, shapes: tuple) -> Callable:
    arguments = jax.tree.unflatten(structure, [jax.ShapeDtypeStruct(*shape) for shape in shapes])
    return jax.jit(partial(_learn_at_rates, program)).lower(*arguments).compile()


def _learn_at_rates(
    program: Program, given: Given, key: Array, rates: Array, damping: Array, course: Course
) -> Learned:
    first = memories.start(program.kind, course.stored.shape[-1], key)

    def learn_at_rate(rate: Array) -> Learned:
        descent = optax.adam(rate)

        def adam_step(params, state, lesson):
            slopes = jax.grad(lambda values: error(given, answers(program, given, values, lesson), lesson))(params)
            updates, state = descent.update(slopes, state, params)
            return optax.apply_updates(params, updates), state

        def natural_step(params, state, lesson):
            model = lambda values: answers(program, given, values, lesson)
            return _natural(model, given, rate, damping).step(params, state, None, lesson.stored[lesson.index])

        start, step = descent.init, adam_step
        if program.optimiser == "natural":
            start, step = _natural(lambda values: values, given, rate, damping).init, natural_step

        def follow(carry, now):
            (params, state), (draw, index, queries) = carry, now
            return step(params, state, Lesson(course.stored[draw], index, queries)), None

        begun: Any = first, start(first)
        params: Any = jax.lax.scan(follow, begun, (course.draw, course.index, course.queries))[0][0]
        errors = jax.lax.map(
            lambda lesson: error(given, answers(program, given, params, lesson), lesson), course.further
        )
        return Learned(params, jnp.mean(errors))

    return jax.vmap(learn_at_rate)(rates)


def _natural(model: Callable, given: Given, rate: Array, damping: Array) -> NaturalOptimiser:
    options: dict[str, Any] = {"damping": damping, "solver": "cg", "max_iterations": ITERATIONS, "trust_radius": TRUST}
    return natural_gradient(model, Gaussian(given.spread), rate, **options)


def answers(program: Program, given: Given, params: memories.Params, lesson: Lesson) -> Array:
    """Answers [B, N] to the queries of a lesson."""
    used = jnp.ones(len(lesson.stored), bool)
    memory = memories.build(program.kind, params, given.metric, given.unit, lesson.stored, used)
    return jax.vmap(lambda query: memories.answer(program.kind, memory, query, program.max_steps))(lesson.queries)


def error(given: Given, found: Array, lesson: Lesson) -> Array:
    """Error of answers: half their mean squared distance from their patterns, in units of `tasks.error_unit`."""
    return 0.5 * jnp.mean(jnp.sum((found - lesson.stored[lesson.index]) ** 2, axis=-1)) / given.spread


class Question(NamedTuple):
    """Structure of a compiled measurement."""

    kind: Kind
    max_steps: int
    spins: bool


def ask(question: Question, given: Given, params: Any, stored: Array, queries: Array, num_patterns: ArrayLike) -> dict:
    """Means over draws and over the queries of the first M patterns.

    Args:
        question: what is compiled.
        given: numbers of the task.
        params: of the memory.
        stored: draws [H, M, N], each with its first `num_patterns` patterns stored.
        queries: corrupted selves of the first patterns of each [H, Q, N].
    """
    means = jax.device_get(_means(question)(given, params, stored, queries, num_patterns))
    return {name: float(value) for name, value in means.items()}


@parallel.locked_cache(64)
def _means(question: Question) -> Callable:
    kind = question.kind

    def draw(
        given: Given, params: memories.Params, stored: Array, queries: Array, num_patterns: Array
    ) -> dict[str, Array]:
        used = jnp.arange(len(stored)) < num_patterns
        memory = memories.build(kind, params, given.metric, given.unit, stored, used)

        def query(state: Array, target: Array) -> dict[str, Array]:
            found = memories.answer(kind, memory, state, question.max_steps)
            found = aligned(found, state) if question.spins else found
            square = jnp.where(used, jnp.sum((stored - found[None, :]) ** 2, axis=1), jnp.inf)
            own = jnp.sum((target - found) ** 2)
            weight = entropy(memories.shares(kind, memory, state))
            # Rounding must not tell a pattern from itself; spins that repeat another are as near as it.
            nearest = (own <= 1.000001 * jnp.min(square)).astype(own.dtype)
            return {"identified": nearest, "error": 0.5 * own / given.spread, "entropy": weight}

        each = jax.vmap(query)(queries, stored[: len(queries)])
        valid = used[: len(queries)]
        return {name: jnp.sum(jnp.where(valid, value, 0.0)) / jnp.sum(valid) for name, value in each.items()}

    def every(
        given: Given, params: memories.Params, stored: Array, queries: Array, num_patterns: Array
    ) -> dict[str, Array]:
        found = jax.lax.map(lambda pair: draw(given, params, pair[0], pair[1], num_patterns), (stored, queries))
        return {name: jnp.mean(value) for name, value in found.items()}

    return jax.jit(every)
