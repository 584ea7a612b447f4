"""Contract of every part of the library, and how the parts are found, so that new ones need no edit of a test."""

import importlib
import inspect
import pkgutil
import re
import sys
from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np

import hopfield
from hopfield import memories
from hopfield.dynamics.asynchronous import sweep, visiting_order
from hopfield.memory import Memory
from hopfield.separations import Separation
from hopfield.similarities import Similarity
from hopfield.spaces import Euclidean, Space


def _understood(options: dict) -> dict:
    """Compiler options that the installed XLA has."""

    def works(option) -> bool:
        try:
            jax.jit(lambda x: x, compiler_options=dict([option]))(0.0)
        except jax.errors.JaxRuntimeError:
            return False
        return True

    return dict(filter(works, options.items()))


quick = partial(
    jax.jit,
    compiler_options=_understood(
        {
            "xla_backend_optimization_level": 0,
            "xla_llvm_disable_expensive_passes": True,
            "xla_cpu_use_fusion_emitters": False,
        }
    ),
)
"""jit for programs that run once on tiny arrays, where compiling is all of the cost."""

WIDTH = 6
"""Neurons of the states that parts are tried on."""

METRIC = jax.random.normal(jax.random.key(77), (WIDTH, WIDTH))


def snake_case(name: str) -> str:
    """LogSumExp -> log_sum_exp."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def parts(base: type) -> dict:
    """An instance of every concrete class of the library below `base`, from its factory where its module has one."""
    for module in pkgutil.walk_packages(hopfield.__path__, "hopfield."):
        importlib.import_module(module.name)
    found, waiting = {}, [base]
    while waiting:
        cls = waiting.pop()
        waiting += cls.__subclasses__()
        if cls.__module__.startswith("hopfield.") and not inspect.isabstract(cls):
            found[snake_case(cls.__name__)] = _build(cls)
    return dict(sorted(found.items()))


def _build(cls: type):
    factory = getattr(sys.modules[cls.__module__], snake_case(cls.__name__), cls)
    metric = {"metric": METRIC} if "metric" in inspect.signature(factory).parameters else {}
    return factory(**metric)


def has_jacobian_by_hand(separation: Separation) -> bool:
    """True if a separation tells the Jacobian of its weights from the weights."""
    return separation.gibbs or type(separation).jacobian_product is not Separation.jacobian_product


def has_regulariser(separation: Separation) -> bool:
    """True if the potential of a separation is a maximum over weights, with an entropy that it tells."""
    try:
        jax.eval_shape(separation.regulariser, jnp.ones(2))
    except TypeError:
        return False
    return True


SEPARATIONS: dict[str, Separation] = parts(Separation)
SIMILARITIES: dict[str, Similarity] = parts(Similarity)
SPACES: dict[str, Space] = parts(Space) | {"unconfined": Euclidean(confined=False)}
MODELS: dict[str, memories.Blueprint] = {name: memories.find(name) for name in memories.names()}


def is_accepted(**choices) -> bool:
    """True if `Memory` takes this combination."""
    try:
        Memory(jnp.ones((1, WIDTH)), **choices)
    except ValueError:
        return False
    return True


PLACES = [
    (name, place)
    for name, similarity in SIMILARITIES.items()
    for place, space in SPACES.items()
    if is_accepted(similarity=similarity, space=space)
]
"""Every pair of a similarity and a space that belong together."""


def slopes(function, point, step: float = 1e-6) -> np.ndarray:
    """Jacobian of an array function at a vector [K] by central differences [..., K]."""
    moves = step * jnp.eye(point.size)
    batched = quick(jax.vmap(function))
    difference = np.asarray(batched(point[None] + moves)) - np.asarray(batched(point[None] - moves))
    return np.moveaxis(difference, 0, -1) / (2 * step)


@cache
def _order(dynamics: str, turn: int, neurons: int):
    with jax.ensure_compile_time_eval():
        return visiting_order(jax.random.key(3), turn, neurons, dynamics)


def energies(model, state, dynamics: str, known=None, steps: int = 5):
    """Energies along one trajectory, after each update of all neurons or of a single one [T]."""
    if dynamics == "synchronous":
        visits = jnp.arange(steps)[:, None]
    else:
        visits = jnp.concatenate([_order(dynamics, turn, state.size) for turn in range(2)])[:, None]

    def visit(now, order):
        new = model.update(now, known) if dynamics == "synchronous" else sweep(model, now, order, known=known)
        return new, model.energy(now)

    return jax.lax.scan(visit, state, visits)[1]


def rises(energy) -> np.ndarray:
    """By how much more than rounding E rises from one step to the next [..., T − 1].

    Energies without a lower bound, as exponential memories have in ℝᴺ, may run away to −∞ and end as ∞ − ∞.
    """
    energy = np.asarray(energy)
    energy = np.where(np.logical_or.accumulate(np.isneginf(energy), axis=-1), -np.inf, energy)
    before, after = energy[..., :-1], energy[..., 1:]
    with np.errstate(invalid="ignore"):
        falls = (after <= before) | (after <= before + 1e-9 * (1.0 + np.abs(before)))
        falls |= np.isnan(after) & (before < -1e100)
        return np.where(falls, 0.0, np.nan_to_num(after - before, nan=np.inf))


def assert_never_rises(energy) -> None:
    """The descent theorem, for energies along trajectories [..., T]."""
    assert np.max(rises(energy)) == 0.0, f"the energy rises by {np.max(rises(energy)):.3g}"
