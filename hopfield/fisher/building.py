"""Constructor of a Fisher information: the terms it is a mean over, their weights, and its kind."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.typing import ArrayLike
from jaxtyping import Array, PRNGKeyArray

from hopfield._arguments import integer, one_of, random_key, real_array, shown
from hopfield._arrays import Tree
from hopfield._numerics import is_traced, largest, power_of_two, violated
from hopfield.fisher.likelihoods import Likelihood, as_likelihood
from hopfield.fisher.operator import FISHER_KINDS, Fisher, FisherKind


def fisher(
    model_fn: Callable,
    params: Tree,
    *,
    likelihood: Likelihood | str,
    inputs: Tree = None,
    targets: Array | None = None,
    weights: ArrayLike | None = None,
    kind: FisherKind = "exact",
    key: PRNGKeyArray | None = None,
    samples: int = 1,
) -> Fisher:
    """The Fisher information of a model at its parameters.

    Args:
        model_fn: params ↦ outputs [B, *t, K], the likelihood's natural parameters; (params, inputs) if those are given.
            Products need forward derivatives, which iterated layers have with gradient="unrolled".
        params: pytree of floating-point arrays, such as a dict or an `nnx.State`.
        likelihood: of the targets given the outputs, or its name.
        inputs: arrays with the leading axis B. Rows, diagonal and structured forms then treat one example at a time;
            outputs of one example must not depend on the others, for which the first one is tried.
        targets: of the data, for "empirical".
        weights: [B, *t] or its leading axes, ≥ 0: sample weights, or a mask of tokens.
        kind: "exact", the model's own expectation (= generalised Gauss–Newton); "monte_carlo", its unbiased estimate
            from targets drawn from the model; "empirical", the data's own scores, which is no Fisher information.
        key, samples: of "monte_carlo".
    Raises ValueError for an argument out of its range, or missing for the kind.
    """
    chosen = as_likelihood(likelihood)
    one_of("kind", kind, FISHER_KINDS)
    _check_params(params)
    if not callable(model_fn):
        raise ValueError(f"model_fn must be a function of params and inputs, got {shown(model_fn)}")
    outputs = jax.lax.stop_gradient(model_fn(params) if inputs is None else model_fn(params, inputs))
    check_outputs(outputs)
    if inputs is not None:
        _check_examples(model_fn, params, inputs, outputs)
    examples = Examples(inputs, targets, shares_of(weights, outputs), key)
    return at_outputs(model_fn, params, outputs, examples, chosen, kind, samples)


def _check_examples(model_fn: Callable, params: Tree, inputs: Tree, outputs: Array) -> None:
    """Check that the first example has the outputs that it has alone, as rows take it. ValueError otherwise."""
    if outputs.shape[0] == 1 or is_traced(params, inputs, outputs):
        return
    alone = model_fn(params, jax.tree.map(lambda x: jnp.asarray(x)[:1], inputs))
    near = float(jnp.finfo(outputs.dtype).eps) ** 0.5 * float(jnp.max(jnp.abs(outputs)))
    gap = float(jnp.max(jnp.abs(alone[0] - outputs[0])))
    if gap > near:
        raise ValueError(
            "outputs of model_fn must not depend on other examples or on chance, as in batch norms that train, "
            f"got a difference of {gap:.3g} for the first example alone"
        )


class Examples(NamedTuple):
    """Examples that a loss and its curvature are means over, with their shares of the mean [B, *t]."""

    inputs: Tree
    targets: Array | None
    shares: Array
    key: PRNGKeyArray | None


def at_outputs(
    model_fn: Callable,
    params: Tree,
    outputs: Array,
    examples: Examples,
    likelihood: Likelihood,
    kind: FisherKind,
    samples: int,
) -> Fisher:
    """The Fisher information of examples whose outputs are known."""
    inputs, targets, shares, key = examples
    factor = None
    if kind == "monte_carlo":
        factor = _drawn_scores(likelihood, outputs, key, samples)
    elif kind == "empirical":
        factor = _data_scores(likelihood, outputs, targets)
    return Fisher(params, inputs, outputs, shares, factor, likelihood, model_fn, kind)


def check_outputs(outputs: Array) -> None:
    """Check that outputs are real numbers with axes [B, ..., K], none empty. ValueError otherwise."""
    if outputs.ndim < 2 or 0 in outputs.shape:
        raise ValueError(f"outputs of model_fn must have axes [B, ..., K], none empty, got shape {outputs.shape}")
    if not jnp.issubdtype(outputs.dtype, jnp.floating):
        raise ValueError(f"outputs of model_fn must be real numbers, got {outputs.dtype}")


def _data_scores(likelihood: Likelihood, outputs: Array, targets: Array | None) -> Array:
    """Scores of the data's own targets [B, *t, K, 1]."""
    if targets is None:
        raise ValueError("targets must be given for kind 'empirical', got None")
    likelihood.check(outputs, targets)
    return likelihood.score(outputs, jnp.asarray(targets))[..., None]


def _drawn_scores(likelihood: Likelihood, outputs: Array, key: PRNGKeyArray | None, samples: int) -> Array:
    """Scores of targets drawn from the model, over the root of their number [B, *t, K, samples]."""
    if key is None:
        raise ValueError("key must be a random key for 'monte_carlo', got None")
    samples = integer("samples", samples)
    keys = jax.random.split(random_key("key", key), samples)
    drawn = jax.vmap(lambda k: likelihood.score(outputs, likelihood.sample(k, outputs)))(keys)
    return jnp.moveaxis(drawn, 0, -1) / samples**0.5


def shares_of(weights: ArrayLike | None, outputs: Array) -> Array:
    """w / Σ w for every term. All are zero if the weights sum to zero."""
    shape = outputs.shape[:-1]
    if weights is None:
        weights = jnp.ones(shape)
    elif isinstance(weights, Array | np.ndarray) and weights.dtype == np.bool_:  # the terms in use
        weights = jnp.asarray(weights, outputs.dtype)
    shares = real_array("weights", weights).astype(outputs.dtype)
    if shares.ndim < 1 or shares.ndim > len(shape) or shares.shape != shape[: shares.ndim]:
        raise ValueError(f"weights must have the leading axes of {shape}, got shape {shares.shape}")
    if violated(lambda x: (x >= 0) & (x < jnp.inf), shares):
        raise ValueError(f"weights must be non-negative and finite, got {jnp.min(shares)}")
    shares = jnp.broadcast_to(shares.reshape(shares.shape + (1,) * (len(shape) - shares.ndim)), shape)
    shares = shares / power_of_two(largest(shares))  # whose sum may overflow
    total = jnp.sum(shares)
    return shares / jnp.where(total == 0, 1.0, total)


def _check_params(params: Tree) -> None:
    leaves = jax.tree.leaves(params, is_leaf=lambda x: x is None or isinstance(x, optax.MaskedNode))
    for leaf in leaves:
        if leaf is None or isinstance(leaf, optax.MaskedNode):
            raise ValueError(
                "params must have an array at every leaf, got a masked one: hand over the trained part alone, such as "
                "nnx.state(model, wrt), and close model_fn over the rest"
            )
        if not jnp.issubdtype(jnp.result_type(leaf), jnp.floating):
            raise ValueError(f"params must be floating-point arrays, got {jnp.result_type(leaf)}")
    if not leaves:
        raise ValueError(f"params must have at least one array, got {params}")
