"""Optimisers that are compared, each with its search ranges, and the common training loop."""

from collections.abc import Callable, Mapping
from functools import cache, partial
from types import MappingProxyType
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array

from experiments.optimisers.config import NATURAL
from experiments.optimisers.digits import FRICTION, RATES
from experiments.optimisers.problem import Params, Task, held_out, loss, model
from hopfield.optim import NaturalOptimiser, diagonal_fisher, kronecker_natural_gradient, natural_gradient

Hyper = dict[str, Any]
"""A rule's numbers: arrays, and whole numbers where shapes depend on them."""
CURVATURE = 128
"""Examples of a full batch that the kernel form takes its curvature from, others at every step."""
MEMORIES = (10, 30, 100)
LINE = 20
"""Evaluations of one line search at most."""


class Rule(NamedTuple):
    """An optimiser and the ranges, from and to, that its numbers are searched in on a logarithmic scale."""

    make: Callable[..., Any]
    """(hyper, full, **static) ↦ the transform of optax, or of natural gradients a function of the model."""
    ranges: dict[str, tuple[float, float]]
    mini: dict[str, tuple[float, float]] | None = None
    """Ranges for mini-batches where they differ."""
    choices: Mapping[str, tuple[int, ...]] = MappingProxyType({})
    """Values of numbers that shapes depend on; the nearest to what was drawn is taken."""


def _sgd(hyper: Hyper, full: bool) -> optax.GradientTransformationExtraArgs:
    return optax.sgd(hyper["rate"], momentum=1.0 - hyper["friction"])


def _adam(hyper: Hyper, full: bool) -> optax.GradientTransformationExtraArgs:
    return optax.adam(hyper["rate"], b1=1.0 - hyper["friction"])


def _muon(hyper: Hyper, full: bool) -> optax.GradientTransformation:
    return optax.contrib.muon(hyper["rate"], beta=1.0 - hyper["friction"])


def _lbfgs(hyper: Hyper, full: bool, memory: int) -> optax.GradientTransformationExtraArgs:
    # In mini-batches a line search on the batch does far better than a fixed rate, and better with a longest step.
    own = {"curv_rtol": hyper["curvature"]} if full else {"max_learning_rate": hyper["rate"]}
    search = optax.scale_by_zoom_linesearch(LINE, initial_guess_strategy="one", **own)
    return optax.lbfgs(None, memory_size=memory, linesearch=search)


def _natural(solver: str, hyper: Hyper, full: bool) -> Callable[[Callable], NaturalOptimiser]:
    if not hyper:
        return lambda model: natural_gradient(model, "categorical", solver=solver)
    # On a sample of the examples the rule that adapts the damping compares losses of that sample alone.
    damping: dict[str, Any] = {"damping": hyper["damping"]}
    if full and solver != "kernel":
        damping = {"damping": "lm", "initial_damping": hyper["damping"]}
    part = CURVATURE if full and solver == "kernel" else None
    bounds: dict[str, Any] = {"tolerance": 1e-3, "max_iterations": 100 if full else 20, "examples": part}
    return lambda model: natural_gradient(model, "categorical", hyper["rate"], solver=solver, **damping, **bounds)


def _averaging_optimiser(factory: Callable, hyper: Hyper, full: bool) -> Callable[[Callable], NaturalOptimiser]:
    if not hyper:
        return lambda model: factory(model, "categorical")
    options = {"damping": hyper["damping"], "decay": 0.0 if full else 0.95, "fisher": "exact", "examples": None}
    return lambda model: factory(model, "categorical", hyper["rate"], **options)


EXACT = {"rate": (0.1, 1.5), "damping": (1e-8, 1.0)}
NOISY = {"rate": (3e-3, 2.0), "damping": (1e-7, 10.0)}
RULES: dict[str, Rule] = {
    "sgd": Rule(_sgd, {"rate": (1e-2, 100.0), "friction": (3e-3, 1.0)}),
    "adam": Rule(_adam, {"rate": (1e-2, 1.0), "friction": (5e-3, 1.0)}),
    "lbfgs": Rule(
        _lbfgs,
        {"curvature": (0.01, 0.99), "memory": (10, 100)},
        {"rate": (0.03, 3.0), "memory": (10, 100)},
        {"memory": MEMORIES},
    ),
    "cg": Rule(partial(_natural, "cg"), EXACT, NOISY),
    "cholesky": Rule(partial(_natural, "cholesky"), EXACT, NOISY),
    "kernel": Rule(partial(_natural, "kernel"), EXACT, NOISY),
    "kronecker": Rule(partial(_averaging_optimiser, kronecker_natural_gradient), EXACT, NOISY),
    "diagonal": Rule(partial(_averaging_optimiser, diagonal_fisher), NOISY),
    "muon": Rule(_muon, {"rate": (1e-2, 3.0), "friction": (5e-3, 1.0)}),
}


def ranges(rule: str, full: bool, digits: bool = False) -> dict[str, tuple[float, float]]:
    """Search ranges of a rule's hyperparameters: none of natural gradients on digits, which keep their defaults."""
    chosen = RULES[rule]
    if digits and rule in (*NATURAL, *RATES):
        return {"rate": RATES[rule], "friction": FRICTION} if rule in RATES else {}
    return chosen.ranges if full or chosen.mini is None else chosen.mini


class Trace(NamedTuple):
    """Values recorded at the start and after every `every` steps. NaN where nothing was recorded."""

    loss: Array
    held_loss: Array
    held_accuracy: Array
    damping: Array
    residual: Array
    iterations: Array
    accepted: Array


class _State(NamedTuple):
    step: Array
    params: Params
    inner: Any
    value: Array
    trace: Trace


class Kind(NamedTuple):
    """Structure of a run: the values that its program is compiled for."""

    rule: str
    full: bool
    """True if a batch is all examples."""
    every: int
    """Steps from one entry of the trace to the next."""
    length: int
    """Entries of the trace."""


class Bounds(NamedTuple):
    """Limits of a run, and the quantities that are evaluated during it.

    Attributes:
        limit: steps at most.
        goal: loss of all examples that ends the run; so does one that is not finite.
        watch: what is evaluated for the trace though no rule needs it, and is not to be timed: nothing, the loss of all
            examples, or what is held out as well (0, 1, 2).
    """

    limit: Array
    goal: Array
    watch: Array


def train(kind: Kind, problem: Task, order: Array, hyper: Hyper, bounds: Bounds) -> tuple[Params, Trace, Array, Array]:
    """Parameters, trace, number of steps done and loss of all examples at the end.

    One program for each rule and kind of batch: all that a search or a sweep changes is traced.

    Args:
        kind: what it is compiled for.
        problem: it is trained on.
        order: examples of each batch [batches B], taken in turn; of no use in full batches.
        hyper: the rule's numbers.
        bounds: of the run.
    """
    hyper = dict(hyper)
    return _compiled(kind, int(hyper.pop("memory", 0)))(problem, order, hyper, bounds)


@cache
def _compiled(kind: Kind, memory: int) -> Callable:
    options = {"memory": memory} if memory else {}

    def run(problem: Task, order: Array, hyper: Hyper, bounds: Bounds) -> tuple[Params, Trace, Array, Array]:
        made = RULES[kind.rule].make(hyper, kind.full, **options)
        optimiser = made(model(problem)) if kind.rule in NATURAL else made
        advance = partial(_advance, kind, optimiser, problem, order, bounds.watch)
        inner: Any = optimiser.init(problem.start)
        blank = jnp.full((kind.length,), jnp.nan, jnp.float32)
        unknown = jnp.asarray(jnp.finfo(jnp.float32).max)  # until the loss of all examples is looked at
        first = _State(jnp.zeros((), jnp.int32), problem.start, inner, unknown, _blank(blank))
        running = lambda s: (s.step < bounds.limit) & (s.value > bounds.goal) & jnp.isfinite(s.value)
        last = jax.lax.while_loop(running, advance, first)
        value = loss(problem, last.params, problem.inputs, problem.labels)
        return last.params, _record(last, problem, value, kind.every, bounds.watch), last.step, value

    return jax.jit(run)


def _blank(row: Array) -> Trace:
    return Trace(*[row] * len(Trace._fields))


def _advance(
    kind: Kind,
    optimiser: Any,
    problem: Task,
    order: Array,
    watch: Array,
    state: _State,
) -> _State:
    """State of a run after one step; the trace keeps the values at the start of the step."""
    if kind.full:
        inputs, labels = problem.inputs, problem.labels
    else:
        rows = order[state.step % order.shape[0]]
        inputs, labels = problem.inputs[rows], problem.labels[rows]
    params, inner, value = _stepped(kind, optimiser, problem, state, (inputs, labels))
    whole: Any = value
    if not kind.full:
        due = (watch > 0) & (state.step % kind.every == 0)
        entire = lambda: loss(problem, state.params, problem.inputs, problem.labels)
        whole = jax.lax.cond(due, entire, lambda: jnp.where(jnp.isfinite(value), state.value, value))
    trace = _record(state, problem, whole, kind.every, watch)
    return _State(state.step + 1, params, inner, whole, trace)


def _stepped(
    kind: Kind, optimiser: Any, problem: Task, state: _State, batch: tuple[Array, Array]
) -> tuple[Params, Any, Array]:
    """Parameters and state of the optimiser after a step on a batch, and the loss of the batch before."""
    if kind.rule in NATURAL:
        params, inner = optimiser.step(state.params, state.inner, *batch)
        return params, inner, inner.loss
    of = lambda params: loss(problem, params, *batch)
    searches = kind.rule == "lbfgs" and kind.full
    value, grads = (
        optax.value_and_grad_from_state(of)(state.params, state=state.inner)
        if searches
        else jax.value_and_grad(of)(state.params)
    )
    extra = {"value": value, "value_fn": of, "grad": grads}
    updates, inner = optax.with_extra_args_support(optimiser).update(grads, state.inner, state.params, **extra)
    return cast(Params, optax.apply_updates(state.params, updates)), inner, cast(Array, value)


def _record(state: _State, problem: Task, full_loss: Array, every: int, watch: Array) -> Trace:
    """Trace with the loss, the held-out values and the optimiser's diagnostics at the present step."""
    place = state.step // every
    inner = state.inner
    own = [getattr(inner, name, jnp.nan) for name in Trace._fields[3:]] if hasattr(inner, "gain") else [jnp.nan] * 4

    def write() -> Trace:
        missing = jnp.full((), jnp.nan, full_loss.dtype)
        held = jax.lax.cond(watch > 1, lambda: held_out(problem, state.params), lambda: (missing, missing))
        seen = zip(state.trace, (full_loss, *held, *own), strict=True)
        return Trace(*[row.at[place].set(jnp.asarray(x, row.dtype)) for row, x in seen])

    return jax.lax.cond((watch > 0) & (state.step % every == 0), write, lambda: state.trace)
