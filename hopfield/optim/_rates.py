"""Arguments that all optimisers share: rates or schedules of the step, and the parameters that are moved."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

from hopfield._arguments import real_scalar
from hopfield._arrays import Tree

Schedule = float | Array | Callable[[Array], Array]


def value_at(schedule: Any, count: Array) -> Any:
    """The value of a number or schedule at a step."""
    return schedule(count) if callable(schedule) else schedule


def check_rate(rate: Any) -> None:
    """Check that a learning rate is a finite number or a schedule. ValueError otherwise."""
    if not callable(rate):
        real_scalar("learning_rate", rate, "a finite number or a schedule")


def check_params(params: Tree, updates: Tree | None = None) -> None:
    """Check that parameters are real arrays and updates, if given, have their shapes. ValueError otherwise."""
    leaves = jax.tree.leaves(params)
    for leaf in leaves:
        if not jnp.issubdtype(jnp.result_type(leaf), jnp.floating) or jnp.size(leaf) == 0:
            got = f"{jnp.result_type(leaf)} of shape {jnp.shape(leaf)}"
            raise ValueError(f"params must be non-empty arrays of real numbers, got {got}")
    if not leaves:
        raise ValueError(f"params must have at least one array, got {params}")
    if updates is not None:
        shapes, wanted = jax.tree.map(jnp.shape, updates), jax.tree.map(jnp.shape, params)
        if shapes != wanted:
            raise ValueError(f"updates must have the structure and shapes of params, {wanted}, got {shapes}")
