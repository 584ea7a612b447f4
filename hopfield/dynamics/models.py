"""Protocols of models: the methods by which dynamics move a memory, a network or a user-defined model.

A model is any object with these methods that is a pytree, as what inherits `Node` or is registered with JAX is.
"""

from typing import Any, Protocol

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from hopfield._arguments import real_vector, shown
from hopfield._pytrees import Node
from hopfield.spaces import Known, Space, Spins, State


class Updates(Protocol):
    """A model with synchronous updates, for `trajectory`: a sequence memory is one that has no energy.

    Example:
        >>> from typing import NamedTuple
        >>> from hopfield import trajectory
        >>> class Halved(NamedTuple):
        ...     centre: jax.Array
        ...     def as_state(self, state):
        ...         return jnp.asarray(state)
        ...     def update(self, state, known=None):
        ...         return 0.5 * (state + self.centre)
        >>> trajectory(Halved(jnp.ones(1)), [0.0], 2).tolist()
        [[0.0], [0.5], [0.75]]
    """

    def as_state(self, state: ArrayLike) -> State:
        """A state as an array of floating type. ValueError unless it is one state of this model."""
        ...

    def update(self, state: State, known: Known = None) -> State:
        """One synchronous step [N], units in `known` held fixed."""
        ...


class Model(Updates, Protocol):
    """Model with an energy, for `retrieve` and `fixed_point`. If its `space` is Spins, states are compared exactly.

    Example:
        >>> from hopfield import retrieve
        >>> from hopfield.networks import binary
        >>> network = binary.willshaw_network(jnp.array([[1.0, 1, 1, 0, 0]]))
        >>> retrieve(network, [1.0, 1.0, 0.0, 0.0, 0.0]).state.tolist()
        [1.0, 1.0, 1.0, 0.0, 0.0]
    """

    def energy(self, state: State) -> Float[Array, ""]:
        """E(x)."""
        ...


class SpinModel(Model, Protocol):
    """A model of spins that move one at a time, for `sweep`, `relax`, `glauber` and the dynamics of `retrieve`.

    Example:
        >>> from hopfield import Couplings, retrieve
        >>> pair = Couplings([[0, 1], [1, 0]])
        >>> retrieve(pair, [1.0, -1.0], dynamics="sequential").state.tolist()
        [-1.0, -1.0]
    """

    @property
    def space(self) -> Space:
        """Space of the states, Spins."""
        ...

    def local_field(self, state: State) -> State:
        """Half the energy each spin would lose by being +1 rather than −1 [N]."""
        ...

    def cache(self, state: State) -> Any:
        """Numbers of a state from which `field_at` is cheap."""
        ...

    def field_at(self, cache: Any, state: State, i: Any) -> Float[Array, ""]:
        """Local field of neuron i."""
        ...

    def advance(self, cache: Any, state: State, i: Any, new: Any) -> Any:
        """The cache after spin i of `state` has become `new`."""
        ...


class _Stepped(Node):
    """A `Model` of a pytree that may have an `update` of a state alone, with the states of `space`.

    Without an `energy` of its own the energy is NaN; units in `known` are held after the step.
    """

    model: Any
    space: Space

    def as_state(self, state: ArrayLike) -> State:
        """A state as an array of floating type, by the pytree's own `as_state` if it has one."""
        return self.model.as_state(state) if hasattr(self.model, "as_state") else real_vector("state", state)

    def update(self, state: State, known: Known = None) -> State:
        """One synchronous step [N], units in `known` held fixed."""
        new = self.model.update(state)
        return new if known is None else jnp.where(known, state, new)

    def energy(self, state: State) -> Float[Array, ""]:
        """E(x), NaN where the pytree has none."""
        return self.model.energy(state) if hasattr(self.model, "energy") else jnp.full((), jnp.nan, state.dtype)


class _Steps(Protocol):
    def update(self, state: State) -> State: ...


def as_stepped(name: str, model: Any, space: Space) -> Any:
    """A `Model` with a space, unchanged, or one made of a pytree that lacks some of it. ValueError without `update`."""
    if not lacking(model, Model) and hasattr(model, "space"):
        return model
    if lacking(model, _Steps):
        raise ValueError(f"{name} must be a Memory or Couplings, or a pytree with update, got {shown(model)}")
    return _Stepped(model, space)


def lacking(model: Any, protocol: type) -> list[str]:
    """Names of a protocol that an object lacks. A class, or an object that is not a pytree, lacks all of them."""
    names = [name for name in dir(protocol) if not name.startswith("_")]
    if isinstance(model, type) or jax.tree_util.all_leaves([model]):
        return names
    return [name for name in names if not hasattr(model, name)]


def as_model(name: str, model: Any, protocol: type = SpinModel) -> Any:
    """A model of a protocol, unchanged. TypeError, naming the members that it lacks, for anything else."""
    absent = lacking(model, protocol)
    if absent:
        named = ", ".join(absent)
        raise TypeError(f"{name} must be a Memory or Couplings, or a pytree with {named}, got {shown(model)}")
    return model


def as_spin_model(name: str, model: Any) -> Any:
    """A `SpinModel`, unchanged. TypeError for anything else, as a memory of a continuous space."""
    space = as_model(name, model).space
    if not isinstance(space, Spins):
        raise TypeError(f"{name} must be of spins, which have local fields, got one in {type(space).__name__}")
    return model
