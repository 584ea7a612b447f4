"""Random graphs: layers of vectors, tokens and images joined in a chain, with synapses of every kind."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np

from hopfield import graphs, separations

WIDTHS = {"vector": (4,), "tokens": (3, 4), "image": (4, 4, 2)}
"""Shapes of layers by kind; two layers of one kind have a synapse of their own."""
LAGRANGIANS = ("identity", "relu", "softmax", "tanh", "spherical", "layer norm")
UNBOUNDED = ("identity", "relu")
SEPARATIONS = (separations.LogSumExp(), separations.Polynomial(2, True), separations.Polynomial(3, True))


def product(strength, a, b, c):
    return -strength * jnp.tanh(jnp.sum(a) * jnp.sum(b) * jnp.sum(c))


def joined(weights, a, b):
    return -jnp.ravel(a) @ weights @ jnp.ravel(b)


def random_graph(structure: int, draw: int = 0) -> graphs.Graph:
    """Two to six layers of random kinds; graphs of one structure differ in their numbers alone.

    Neighbours in a chain and one more pair are joined, the first layer reads a memory, the last one has a bias, tokens
    read each other, and the first three layers meet in one synapse. Weights are small, of order one, or large; small at
    layers without bounds, lest the energy have none.
    """
    choose, rng = np.random.default_rng(structure), np.random.default_rng((structure, draw))
    names = [f"layer {i}" for i in range(choose.integers(2, 7))]
    kinds = {name: str(choose.choice(list(WIDTHS))) for name in names}
    lagrangians = {name: str(choose.choice(LAGRANGIANS)) for name in names}
    gain = choose.choice([0.3, 1.0, 2.0])
    memory = SEPARATIONS[choose.integers(2 if lagrangians[names[0]] in UNBOUNDED else 3)]
    one, other = map(str, choose.choice(names, 2, replace=False))

    def weights(layers, *shape):
        size = 0.15 if any(lagrangians[name] in UNBOUNDED for name in layers) else gain
        return jnp.asarray(size * rng.normal(size=shape) / np.sqrt(np.prod(shape[:-1])), float)

    found: list = [(pair, _synapse(pair, kinds, weights)) for pair in (*itertools.pairwise(names), (one, other))]
    first, last = names[:1], names[-1:]
    patterns = weights(first, 4, WIDTHS[kinds[first[0]]][-1])
    found.append((first, graphs.Dense(patterns, jnp.asarray(rng.uniform(0.5, 2), float), memory)))
    found.append((last, graphs.Bias(weights(last, *WIDTHS[kinds[last[0]]]))))
    found += [((name,), _attention((name,), weights)) for name in names if kinds[name] == "tokens"]
    if len(names) > 2:
        found.append((names[:3], graphs.Formula(product, weights(names[:3], 1)[0])))
    return graphs.Graph({name: _layer(kinds[name], lagrangians[name], rng) for name in names}, found)


def batch(structure: int, draws: int) -> graphs.Graph:
    """Graphs of one structure, their numbers stacked."""
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *(random_graph(structure, draw) for draw in range(draws)))


def _layer(kind: str, lagrangian: str, rng: np.random.Generator) -> graphs.Layer:
    beta = jnp.asarray(rng.uniform(0.5, 3), float)
    shift = jnp.asarray(rng.normal(size=WIDTHS[kind][-1]), float)
    built = {
        "identity": graphs.IdentityLagrangian(),
        "relu": graphs.ReLU(),
        "softmax": graphs.Softmax(beta),
        "tanh": graphs.Tanh(beta),
        "spherical": graphs.Spherical(beta),
        "layer norm": graphs.LayerNorm(beta, shift),
    }
    return graphs.Layer(WIDTHS[kind], built[lagrangian], leak=lagrangian != "layer norm")


def _synapse(pair: tuple[str, str], kinds: dict[str, str], weights) -> graphs.Synapse:
    """The synapse of two vectors, of two layers of tokens, of two images; of any others a matrix between all units."""
    a, b = (WIDTHS[kinds[name]] for name in pair)
    kind = kinds[pair[0]] if kinds[pair[0]] == kinds[pair[1]] else "any"
    if kind == "vector":
        return graphs.BilinearSynapse(weights(pair, *a, *b))
    if kind == "tokens":
        return _attention(pair, weights)
    if kind == "image":
        return graphs.Convolution(weights(pair, 3, 3, a[-1], b[-1]))
    return graphs.Formula(joined, weights(pair, int(np.prod(a)), int(np.prod(b))))


def _attention(layers, weights) -> graphs.Attention:
    features = WIDTHS["tokens"][-1]
    query, key = (weights(layers, 2, features, 3) for _ in range(2))
    return graphs.Attention(query, key, 0.5)
