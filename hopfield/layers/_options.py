"""What a layer is given by name or by number, checked and held so that Flax can split, trace and save it."""

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from flax.typing import Dtype
from jax.typing import ArrayLike

from hopfield import separations
from hopfield._numerics import is_traced
from hopfield.attention._arguments import positive_in
from hopfield.layers.metrics import FixedMetric, FixedParam, LearnedMetric, learned_metric
from hopfield.metrics import Metric
from hopfield.separations import Separation, as_separation

MetricLike = LearnedMetric | Metric | ArrayLike | str | None
GRADIENTS = ("unrolled", "implicit")
SEPARATIONS = tuple(separations.NAMES)
"""Separations by name, as `separations.find` reads them."""


class Buffer(nnx.Module):
    """A separation as part of a module: numbers it contains are state, its class is structure."""

    def __init__(self, separation: Separation | str):
        leaves, self.structure = jax.tree.flatten(as_separation(separation))
        self.leaves = nnx.List([FixedParam(jnp.asarray(leaf)) for leaf in leaves])

    def __call__(self) -> Separation:
        return jax.tree.unflatten(self.structure, [leaf[...] for leaf in self.leaves])


class InverseTemperature(nnx.Module):
    """β > 0, a number or one per head: given and fixed, or e^(log_beta) with log_beta [H] learned."""

    def __init__(self, beta: ArrayLike | None, heads: int, width: int, learned: bool, param_dtype: Dtype):
        """See `attention_fn`. Raises ValueError unless β is positive, finite and of a shape that fits."""
        start = 1.0 / np.sqrt(width) if beta is None else beta
        if not is_traced(start):
            positive_in(param_dtype, "beta", start)
            if np.shape(start) not in ((), (heads,)):
                raise ValueError(f"beta must be positive and finite, a number or one per head [{heads}], got {beta}")
        self.log_beta = nnx.data(None)
        self.fixed = nnx.data(None)
        if learned:
            self.log_beta = nnx.Param(jnp.log(jnp.broadcast_to(jnp.asarray(start, param_dtype), (heads,))))
        elif beta is not None:
            self.fixed = FixedParam(jnp.asarray(start, param_dtype))
        self.default = float(1.0 / np.sqrt(width))

    def __call__(self) -> jax.Array:
        if self.log_beta is not None:
            return jnp.exp(self.log_beta[...])
        return jnp.asarray(self.default) if self.fixed is None else self.fixed[...]


def chosen_metric(
    metric: MetricLike, width: int, heads: int | None, rank: int | None, param_dtype: Dtype, rngs: nnx.Rngs
) -> LearnedMetric | None:
    """The metric of a layer whose heads have this width. Raises ValueError if it has another."""
    if metric is None:
        return None
    if isinstance(metric, str):
        return learned_metric(metric, width, heads, rank=rank, param_dtype=param_dtype, rngs=rngs)
    found = metric if isinstance(metric, LearnedMetric) else FixedMetric(metric)
    if found().widths != (width, width):
        raise ValueError(f"metric must have the heads' width {width} on both sides, got {tuple(found().widths)}")
    return found
