"""Sampling of graphs: layers drawn in turn at a temperature, each from its distribution given all others.

    p(g) ∝ exp(−[S(g, g', …) + Σ ½‖g‖²]/T)        the last sum over Gaussian layers

A layer's Lagrangian says what its units are, as its slope at β = 1/T is their mean in a given field: spins ±1 for Tanh,
Gaussian units for IdentityLagrangian, one unit of each row that is on for Softmax. Spins and Gaussian units joined by
√β Ξ are the classical network: integrating h out of −h·√β Ξ x + ½‖h‖² leaves −½β Σ (ξ_μ·x)².

Source: Barra, Bernacchia, Santucci & Contucci 2012, the equivalence of Hopfield networks and Boltzmann machines.
"""

from collections.abc import Mapping
from functools import partial

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array

from hopfield._arguments import instance, integer, positive_scalar, random_key
from hopfield._numerics import scan, violated
from hopfield.graphs.graph import Graph, States
from hopfield.graphs.lagrangians import IdentityLagrangian, Lagrangian, Softmax, Tanh


def sample(graph: Graph, activations: Mapping[str, Array], key, temperature: ArrayLike, *, sweeps: int = 100) -> States:
    """Activations along sweeps of block Gibbs sampling, layers drawn in the alphabetical order of their names.

    Args:
        graph: synapses must be linear in the activations of every single layer, as `BilinearSynapse`, `Convolution` and
            `Bias` are, and join no layer to itself.
        activations: by layer, where the chain starts; the first layer's are drawn before any use.
        key: JAX random key, third by position or by name; `temperature` follows in the same way, as in `glauber`.
        temperature: T > 0; may be traced.
        sweeps: how many; every layer is drawn once in each.
    Returns:
        Activations by layer after every sweep, each [sweeps, ...].
    Raises:
        ValueError: activations of other layers or shapes, a layer of other units, a synapse of a layer and itself, or
            one that is not linear.
    """
    activations = instance("graph", graph, Graph).as_states(activations)
    for name, layer in graph.layers.items():
        if not isinstance(layer.lagrangian, Tanh | IdentityLagrangian | Softmax):
            kind = type(layer.lagrangian).__name__
            raise ValueError(f"layers must be Tanh, IdentityLagrangian or Softmax to be drawn, got {kind} of {name!r}")
        if isinstance(layer.lagrangian, IdentityLagrangian) and not layer.leak:
            raise ValueError(f"layers of IdentityLagrangian must have leak=True, got {name!r}, which nothing confines")
    for names in graph.joined:
        if len(set(names)) < len(names):
            raise ValueError(f"synapses must join no layer to itself, got one of {', '.join(names)}")
    for name in graph.layers:
        if violated(partial(_linear, name), graph):
            raise ValueError(f"synapses must be linear in every layer, got one that is not in {name!r}")
    heat = jnp.asarray(positive_scalar("temperature", temperature), jnp.result_type(float))
    return _gibbs(graph, activations, random_key("key", key), heat, sweeps=integer("sweeps", sweeps))


@partial(jax.jit, static_argnums=0)
def _linear(name: str, graph: Graph) -> Array:
    """True if the field on a layer stays where the layer's own activations change, all others being random."""
    first, second = map(graph.random, jax.random.split(jax.random.key(0)))
    one, other = (jax.grad(graph.interaction)(first | {name: at[name]})[name] for at in (first, second))
    return jnp.allclose(one, other, rtol=0.0, atol=1e-3 * jnp.max(jnp.abs(one), initial=0.0), equal_nan=True)


@partial(jax.jit, static_argnames="sweeps")
def _gibbs(graph: Graph, activations: States, key, heat: Array, *, sweeps: int) -> States:
    def sweep(activations, key):
        keys = jax.random.split(key, len(graph.layers))
        for one, (name, layer) in zip(keys, graph.layers.items(), strict=True):
            field = -jax.grad(graph.interaction)(activations)[name]
            drawn = _sample_units(layer.lagrangian, one, field, heat.astype(field.dtype))
            activations = activations | {name: drawn.astype(activations[name].dtype)}
        return activations, activations

    return scan(sweep, activations, jax.random.split(key, sweeps))[1]


def _sample_units(lagrangian: Lagrangian, key, field: Array, heat: Array) -> Array:
    """Samples of a layer's units in given fields. A field of NaN gives NaN."""
    if isinstance(lagrangian, IdentityLagrangian):
        return field + jnp.sqrt(heat) * jax.random.normal(key, field.shape, field.dtype)
    if isinstance(lagrangian, Tanh):
        up = jax.random.uniform(key, field.shape, field.dtype) < jax.nn.sigmoid(2.0 * field / heat)
        return jnp.where(jnp.isnan(field), jnp.nan, jnp.where(up, 1.0, -1.0))
    chosen = jax.random.categorical(key, field / heat)
    one_hot = jax.nn.one_hot(chosen, field.shape[-1], dtype=field.dtype)
    return jnp.where(jnp.any(jnp.isnan(field), axis=-1, keepdims=True), jnp.nan, one_hot)
