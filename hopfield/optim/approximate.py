"""Natural gradients with an approximate Fisher information averaged over steps: Kronecker factors, and the diagonal."""

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array

from hopfield.curvature import Likelihood, as_likelihood, fisher
from hopfield.numerics import is_traced
from hopfield.optim.contract import Call, Schedule, at, check_kind, transform

Tree = Any


class ApproximateState(NamedTuple):
    """Steps taken, the running average of the curvature, and the norm of the last direction."""

    count: Array
    average: Tree
    norm: Array


def kronecker_natural_gradient(
    learning_rate: Schedule,
    *,
    likelihood: Likelihood | str,
    damping: float = 1e-3,
    decay: float = 0.95,
    fisher: str = "exact",
    samples: int = 1,
) -> optax.GradientTransformationExtraArgs:
    """θ ← θ − η (F̂ + λ I)⁻¹ ∇ with F̂ a Kronecker product per matrix of parameters, averaged over steps.

    An approximation: blocks of different arrays are decoupled and each is taken to factor
    (`hopfield.curvature.structured.kronecker`). The damped inverse is exact for that F̂.

    Args:
        learning_rate: η, a number or a schedule of the step.
        likelihood: of the targets given the model's outputs.
        damping: λ > 0.
        decay: weight of the past in the average of the factors, in [0, 1), corrected for its start.
        fisher, samples: kind of the rows, as for `hopfield.curvature.fisher`.

    Returns:
        A transform whose `update` needs `params` and `model_fn`, and takes `inputs`, `targets`, `weights`, `key` and
        `accumulated`, as that of `hopfield.optim.natural_gradient`.

    Source: Martens & Grosse 2015; Ren & Goldfarb 2021.
    """
    form = lambda curvature: curvature.kronecker(factored_damping=False).blocks  # noqa: E731

    def solve(curvature, average, grads, damping):
        blocks = curvature.kronecker(factored_damping=False).replace(blocks=average)
        return blocks.solve(grads, damping)

    return _averaged(learning_rate, form, solve, likelihood, damping, decay, fisher, samples)


def diagonal_fisher(
    learning_rate: Schedule,
    *,
    likelihood: Likelihood | str,
    damping: float = 1e-3,
    decay: float = 0.95,
    fisher: str = "exact",
    samples: int = 1,
) -> optax.GradientTransformationExtraArgs:
    """θ ← θ − η ∇ / (diag F + λ), the diagonal averaged over steps: an approximation that decouples all parameters.

    Arguments and `update` as of `kronecker_natural_gradient`.
    """

    def solve(curvature, average, grads, damping):
        return jax.tree.map(lambda g, d: g / (d + damping), grads, average)

    return _averaged(
        learning_rate, lambda curvature: curvature.diagonal(), solve, likelihood, damping, decay, fisher, samples
    )


def _averaged(
    learning_rate: Schedule,
    form: Callable,
    solve: Callable,
    likelihood: Likelihood | str,
    damping: float,
    decay: float,
    kind: str,
    samples: int,
) -> optax.GradientTransformationExtraArgs:
    if not is_traced(damping) and not 0 < damping < float("inf"):
        raise ValueError(f"damping must be positive and finite, got {damping}")
    if not 0 <= decay < 1:
        raise ValueError(f"decay must lie in [0, 1), got {decay}")
    check_kind(kind, samples)
    chosen = as_likelihood(likelihood)

    def init(params: Tree) -> ApproximateState:
        # The shapes of the average follow from the parameters alone: those of a model with one output.
        probe = fisher(lambda p: _one_output(p), params, likelihood="gaussian")
        empty = jax.tree.map(jnp.zeros_like, form(probe))
        dtype = jnp.result_type(*jax.tree.leaves(params))
        return ApproximateState(jnp.zeros((), jnp.int32), empty, jnp.zeros((), dtype))

    def step(updates: Tree, state: ApproximateState, params: Tree, call: Call) -> tuple[Tree, ApproximateState]:
        curvature = call.fisher(params, chosen, kind, samples)
        now = form(curvature)
        average = jax.tree.map(lambda a, x: (decay * a + (1 - decay) * x).astype(a.dtype), state.average, now)
        start = 1 - decay ** (state.count + 1.0)
        unbiased = jax.tree.map(lambda a: (a / start).astype(a.dtype), average)
        direction = solve(curvature, unbiased, updates, damping)
        rate = at(learning_rate, state.count)
        moved = jax.tree.map(lambda d, p: (-rate * d).astype(p.dtype), direction, params)
        norm = optax.tree.norm(direction).astype(state.norm.dtype)
        return moved, ApproximateState(cast(Array, optax.safe_increment(state.count)), average, norm)

    return transform(init, step)


def _one_output(params: Tree) -> Array:
    return sum((jnp.sum(x) for x in jax.tree.leaves(params)), jnp.zeros(())).reshape(1, 1)
