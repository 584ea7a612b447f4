"""Graph: layers and the synapses between them, with the energy of the whole and its slope."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
from flax import struct
from jaxtyping import Array, Float

from hopfield._arguments import instance, integer, nearest, random_key, real_array, real_scalar, shown
from hopfield._numerics import wide
from hopfield._pytrees import Node, changed, fill
from hopfield.graphs.lagrangians import IdentityLagrangian, Lagrangian
from hopfield.graphs.synapses import Synapse

States = dict[str, Array]


class Layer(Node):
    """A layer of neurons: the shape of its states, and the Lagrangian whose gradient activates them.

    Without `leak` the layer adds no energy of its own, and dx/dt = −∂S/∂g, as for the tokens of an Energy Transformer.

    Example:
        >>> from hopfield import graphs
        >>> graphs.Layer((3,), graphs.Softmax()).shape
        (3,)
    """

    shape: tuple[int, ...] = struct.field(pytree_node=False)
    lagrangian: Lagrangian = IdentityLagrangian()
    leak: bool = struct.field(pytree_node=False, default=True)


class Connection(NamedTuple):
    """A synapse and the names of the layers that it joins."""

    layers: tuple[str, ...]
    synapse: Synapse


class Graph(Node):
    """An energy of named layers, E = Σ (x·g − L(x)) + Σ S(g, …). Batch with `jax.vmap`.

    Args:
        layers: by name.
        connections: names of layers, a single one also by itself, and the synapse that joins them; a layer may be named
            twice.
    Raises:
        ValueError: a name that is no layer, or a synapse that does not fit the shapes of its layers.
        TypeError: a layer or a synapse is something else.

    Example:
        >>> from hopfield import graphs
        >>> layers = {"visible": graphs.Layer((2,)), "hidden": graphs.Layer((3,), graphs.Softmax())}
        >>> weights = graphs.BilinearSynapse(jnp.ones((2, 3)))
        >>> graph = graphs.Graph(layers, [(("visible", "hidden"), weights)])
        >>> states = {"visible": jnp.array([1.0, 0.0]), "hidden": jnp.zeros(3)}
        >>> round(float(graph.energy(states)), 4)  # ½ − ln 3 − 1
        -1.5986
    """

    layers: dict[str, Layer]
    synapses: tuple[Synapse, ...]
    joined: tuple[tuple[str, ...], ...] = struct.field(pytree_node=False)

    def __init__(self, layers: Mapping[str, Layer], connections: Sequence[tuple[Sequence[str] | str, Synapse]]) -> None:
        instance("layers", layers, Mapping)
        joined = []
        for each in instance("connections", connections, Sequence):
            if not isinstance(each, Sequence) or len(each) != 2 or not isinstance(each[0], Sequence):
                raise ValueError(f"connections must be pairs of names of layers and a synapse, got {shown(each)}")
            names, synapse = (each[0],) if isinstance(each[0], str) else tuple(each[0]), each[1]
            instance("synapse", synapse, Synapse)
            for name in names:
                if name not in layers:
                    known = f"layers among {', '.join(layers)}"
                    raise ValueError(f"connections must name {known}, got {name!r}{nearest(name, layers)}")
            joined.append(Connection(names, synapse))
        if not layers:
            raise ValueError("layers must have at least one entry, got none")
        for layer in layers.values():
            instance("layer", layer, Layer)
            instance("shape", layer.shape, tuple)
            instance("lagrangian", layer.lagrangian, Lagrangian)
            for size in layer.shape:
                integer("shape", size)
        for names, synapse in joined:
            _check_synapse(names, synapse, [layers[name].shape for name in names])
        synapses, names = tuple(c.synapse for c in joined), tuple(c.layers for c in joined)
        fill(self, layers=dict(layers), synapses=synapses, joined=names)

    replace = changed

    def zeros(self) -> States:
        """States of zeros, by layer."""
        return {name: jnp.zeros(layer.shape) for name, layer in self.layers.items()}

    def random(self, key, deviation: float = 1.0) -> States:
        """Normal states of a deviation ≥ 0, by layer."""
        deviation = real_scalar("deviation", deviation, "a finite number of at least 0", 0.0)
        keys = jax.random.split(random_key("key", key), len(self.layers))
        return {
            name: deviation * jax.random.normal(one, layer.shape)
            for one, (name, layer) in zip(keys, self.layers.items(), strict=True)
        }

    def as_states(self, states: Mapping[str, Array]) -> States:
        """States as arrays by layer. ValueError unless there is one of its shape for each layer."""
        names = set(states) if isinstance(states, Mapping) else type(states).__name__
        if names != set(self.layers):
            got = names if isinstance(names, str) else ", ".join(map(str, states))
            raise ValueError(f"states must be of the layers {', '.join(map(str, self.layers))}, got {got}")
        arrays = {name: real_array(f"states[{name!r}]", states[name]) for name in self.layers}
        for name, layer in self.layers.items():
            if arrays[name].shape != layer.shape:
                shape = arrays[name].shape
                raise ValueError(
                    f"states[{name!r}] must have shape {layer.shape} (batch with jax.vmap), got shape {shape}"
                )
        return arrays

    def activations(self, states: Mapping[str, Array]) -> States:
        """Activations g = ∇L(x) by layer."""
        states = self.as_states(states)
        return {name: layer.lagrangian.activation(states[name]) for name, layer in self.layers.items()}

    def interaction(self, activations: States) -> Float[Array, ""]:
        """Energy Σ S of all synapses at given activations, in float32 at least."""
        activations = jax.tree.map(wide, activations)
        parts = zip(self.joined, self.synapses, strict=True)
        return sum((synapse(*(activations[name] for name in names)) for names, synapse in parts), jnp.zeros(()))

    def energy(self, states: Mapping[str, Array]) -> Float[Array, ""]:
        """Energy E of the states, in float32 at least."""
        carried: States = jax.tree.map(wide, self.as_states(states))
        return self._energy(carried, self.activations(carried))

    def slope(self, states: Mapping[str, Array]) -> States:
        """Slope x + ∂ΣS/∂g by layer, without x where a layer has no leak: −dx/dt, zero where the graph is at rest."""
        states = self.as_states(states)
        gradient = jax.grad(self.interaction)(self.activations(jax.tree.map(wide, states)))
        slopes = {name: (states[name] if layer.leak else 0.0) + gradient[name] for name, layer in self.layers.items()}
        return {name: slope.astype(states[name].dtype) for name, slope in slopes.items()}

    def _energy(self, states: States, g: States) -> Float[Array, ""]:
        leaking = {name: layer.lagrangian for name, layer in self.layers.items() if layer.leak}
        energies = [lagrangian.legendre(states[name], g[name]) for name, lagrangian in leaking.items()]
        return sum(energies, jnp.zeros(())) + self.interaction(g)


def _check_synapse(names: tuple[str, ...], synapse: Synapse, shapes: list[tuple[int, ...]]) -> None:
    """Check that a synapse takes activations of these shapes and returns a single number. ValueError otherwise."""
    arguments = [jax.ShapeDtypeStruct(shape, jnp.result_type(float)) for shape in shapes]
    try:
        result = jax.eval_shape(synapse, *arguments)
    except Exception as error:
        kind = type(synapse).__name__
        raise ValueError(
            f"synapse {kind} must fit layers {names} of shapes {shapes}, got: {' '.join(str(error).split())}"
        ) from error
    if getattr(result, "shape", None) != ():
        raise ValueError(f"synapse of {names} must be one number, got shape {getattr(result, 'shape', None)}")
