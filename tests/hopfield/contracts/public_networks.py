"""How the public functions of networks of other kinds are called: binary, disturbed, graphs, features."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from hopfield import Couplings, disturbances, graphs
from hopfield.networks import binary, random_features
from tests.hopfield.contracts.public import Call, Case, Shape, by_reason

KEY = jax.random.key(0)
NEURONS = (8,)


def _binary(verb: str) -> Case:
    def draw(rng: np.random.Generator, shape: Shape) -> Call:
        patterns = rng.choice([0.0, 1.0], (3, *shape))
        network = binary.covariance_network(patterns, 0.4, offset=rng.uniform())
        more = (int(rng.integers(1, 8)),) if verb == "winners" else ()
        return Call(getattr(binary.BinaryNetwork, verb), (network, rng.choice([0.0, 1.0], shape), *more))

    return Case(f"hopfield.networks.BinaryNetwork.{verb}", draw, nan=(1,), shapes=(NEURONS,))


def _disturbed(function: Callable, *more: float) -> Case:
    def draw(rng: np.random.Generator, shape: Shape) -> Call:
        drawn = rng.normal(size=(*shape, *shape))

        def disturbed(matrix):
            couplings = Couplings(matrix, np.ones((), matrix.dtype))
            return function(couplings, KEY, *more) if more else function(couplings)

        return Call(disturbed, (drawn + drawn.T,))

    return Case(f"hopfield.disturbances.{function.__name__}", draw, shapes=(NEURONS,))


def _graph(name: str, function: Callable) -> Case:
    """A function of a graph of two layers and the states of the visible one."""

    def draw(rng: np.random.Generator, shape: Shape) -> Call:
        graph = graphs.two_layers(rng.normal(size=(3, *shape)), visible=graphs.Tanh())
        hidden = jnp.asarray(rng.normal(size=3))

        def called(visible):
            return function(graph, {"visible": visible, "hidden": hidden})

        return Call(called, (rng.normal(size=shape),))

    return Case(f"hopfield.graphs.{name}", draw, nan=(0,), shapes=(NEURONS,))


def _features(name: str, function: Callable) -> Case:
    """A function of a memory of random features and a state."""

    def draw(rng: np.random.Generator, shape: Shape) -> Call:
        patterns = 0.1 * rng.normal(size=(3, *shape))
        memory = random_features.FeatureMemory(KEY, *shape, 64).add(patterns)
        return Call(function, (memory, 0.1 * rng.normal(size=shape)))

    return Case(f"hopfield.networks.{name}", draw, nan=(1,), shapes=(NEURONS,))


CASES: tuple[Case, ...] = (
    *map(_binary, ("local_field", "energy", "update", "winners")),
    _disturbed(disturbances.clipped),
    _disturbed(disturbances.diluted, 0.5),
    _disturbed(disturbances.noisy, 0.7),
    *(
        _features(f"FeatureMemory.{verb}", getattr(random_features.FeatureMemory, verb))
        for verb in ("features", "kernel_sum", "predicted_error", "energy", "update")
    ),
    _features("random_features.descend", lambda memory, x: random_features.descend(memory, x, max_steps=3)[::2]),
    _graph("Graph.energy", graphs.Graph.energy),
    _graph("Graph.activations", lambda graph, states: graph.activations(states)["visible"]),
    _graph("Graph.slope", graphs.Graph.slope),
    _graph("descend", lambda graph, states: graphs.descend(graph, states, 4).energies),
    _graph("sample", lambda graph, states: graphs.sample(graph, states, KEY, 1.0, sweeps=2)),
    _graph("flow", lambda graph, states: graphs.flow(graph, states, np.array([0.0, 0.1]))),
)

EXCLUDED = by_reason(
    {
        "loops over compiled retrievals; the matrix is checked": "networks.attractors.*",
        "a sum of a checked matrix": "networks.BinaryNetwork.couplings",
        "a product of checked patterns": "networks.*_network",
        "a sum of features of checked patterns": "networks.FeatureMemory.add networks.FeatureMemory.forget",
        "called by `Graph.energy` and `Graph.slope`": "graphs.*.__call__ graphs.Graph.interaction",
        "called by `Graph.activations`": "graphs.*.activation",
        "called by `Graph.energy`": "graphs.*.legendre",
        "checks shapes": "graphs.Graph.as_states",
        "no number goes in": "graphs.Graph.zeros graphs.Graph.random",
        "builds a graph from checked arrays": "graphs.[a-z]*",
        "called by `energy` and the dynamics": "couplings.Couplings.energy_at",
        "NaN always": "networks.AsymmetricCouplings.energy*",
        "what it does not inherit is called by `update` and the dynamics": "networks.AsymmetricCouplings.*",
    }
)
"""Patterns of public names without a case, and why."""
