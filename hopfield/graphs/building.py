"""Graphs of known models: a memory, a network of two layers, and the Energy Transformer."""

from jaxtyping import Array, Float

from hopfield._arguments import instance, real_matrix
from hopfield.graphs.graph import Graph, Layer
from hopfield.graphs.lagrangians import IdentityLagrangian, Lagrangian, LayerNorm, Softmax, Tanh
from hopfield.graphs.synapses import Attention, Bias, BilinearSynapse, Dense
from hopfield.memory import Memory
from hopfield.separations import Polynomial, Separation
from hopfield.similarities import Dot
from hopfield.spaces import Box, Euclidean


def from_memory(memory: Memory) -> Graph:
    """One layer "state" with the energy of a continuous memory, whose steps of size 1 are its updates.

    Args:
        memory: patterns in an array compared by dot products, with states in ℝᴺ or in a box.
    Raises:
        ValueError: it is another kind of memory.
    """
    instance("memory", memory, Memory)
    space = memory.space
    confined = (isinstance(space, Euclidean) and space.confined) or isinstance(space, Box)
    if not (confined and isinstance(memory.similarity, Dot)):
        got = f"{type(memory.similarity).__name__}, {type(space).__name__}"
        raise ValueError(f"memory must compare by Dot in Euclidean space or a Box, got {got}")
    if memory.mask is not None:
        raise ValueError("memory must have no mask to become a graph, got one")
    lagrangian = Tanh(1.0 / space.temperature) if isinstance(space, Box) else IdentityLagrangian()
    patterns = memory.stored()
    synapse = Dense(patterns, memory.beta, memory.separation)
    return Graph({"state": Layer(patterns.shape[1:], lagrangian)}, [("state", synapse)])


def two_layers(
    weights: Float[Array, "M N"],
    *,
    visible: Lagrangian = IdentityLagrangian(),
    hidden: Lagrangian = Softmax(),
    biases: tuple[Float[Array, "N"], Float[Array, "M"]] | None = None,
) -> Graph:
    """Layers "visible" [N] and "hidden" [M] joined by weights, as in a restricted Boltzmann machine.

    A hidden layer at rest, h = W g, has the energy −L_hidden(W g): with a softmax the energy of the modern memory.

    Args:
        weights: [M, N], a row per hidden unit.
        visible, hidden: Lagrangians of the layers.
        biases: fields on visible [N] and hidden units [M].
    Source: Krotov & Hopfield 2021 (arXiv:2008.06996).
    """
    weights = real_matrix("weights", weights)
    layers = {"visible": Layer(weights.shape[1:], visible), "hidden": Layer(weights.shape[:1], hidden)}
    connections: list = [(("hidden", "visible"), BilinearSynapse(weights))]
    if biases is not None:
        if len(biases) != 2:
            raise ValueError(f"biases must be of visible and hidden units, two arrays, got {len(biases)}")
        connections += [(name, Bias(bias)) for name, bias in zip(("visible", "hidden"), biases, strict=True)]
    return Graph(layers, connections)


def energy_transformer(
    attention: Attention,
    patterns: Float[Array, "M F"],
    tokens: int,
    *,
    norm: LayerNorm = LayerNorm(),
    memory: Separation | None = None,
) -> Graph:
    """One layer "tokens" [T, F] with layer norm and no leak, joined to itself by attention and by a memory.

    Args:
        attention: queries, keys and β.
        patterns: of the memory [M, F].
        tokens: T.
        norm: the normalisation of every token.
        memory: its separation, Σ [z]₊²/2 if None.
    Source: Hoover et al. 2023 (arXiv:2302.07253).
    """
    patterns = real_matrix("patterns", patterns)
    dense = Dense(patterns, 1.0, Polynomial(2, rectified=True) if memory is None else memory)
    layer = Layer((tokens, patterns.shape[1]), norm, leak=False)
    return Graph({"tokens": layer}, [("tokens", attention), ("tokens", dense)])
