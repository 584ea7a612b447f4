"""Further problems: digits, read in 16 patches of 4 pixels by a transformer of two layers, or by three convolutions."""

from functools import cache
from itertools import pairwise
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jaxtyping import Array
from sklearn.datasets import load_digits

from hopfield.layers import HopfieldAttention

WIDTH, NUMBERS, CLASSES, EXAMPLES = 32, 26474, 10, 1400
"""Width and parameters of the transformer, classes, and images of the 1797 that are fitted; the rest is held out."""
RATES = {"sgd": (1e-2, 1.0), "adam": (1e-3, 3e-2), "muon": (3e-3, 0.1)}
FRICTION = (0.03, 0.3)
"""Ranges that the numbers of first-order rules are searched in."""


class Digits(NamedTuple):
    """Patches [n, 16, 4] of images, their classes, and the start of the parameters, as a pytree."""

    inputs: Array
    labels: Array
    held_inputs: Array
    held_labels: Array
    start: nnx.State


class Block(nnx.Module):
    """Attention and two dense layers, each after a norm and added to what it read."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.norms = nnx.List([nnx.LayerNorm(WIDTH, rngs=rngs) for _ in range(2)])
        self.attention = HopfieldAttention(4, WIDTH, rngs=rngs)
        self.up, self.down = nnx.Linear(WIDTH, 4 * WIDTH, rngs=rngs), nnx.Linear(4 * WIDTH, WIDTH, rngs=rngs)

    def __call__(self, x: Array) -> Array:
        x = x + self.attention(self.norms[0](x))
        return x + self.down(nnx.gelu(self.up(self.norms[1](x))))


class Transformer(nnx.Module):
    """Logits [B, 10] of patches [B, 16, 4]."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.embed = nnx.Linear(4, WIDTH, rngs=rngs)
        self.places = nnx.Param(0.02 * jax.random.normal(rngs.params(), (16, WIDTH)))
        self.blocks = nnx.List([Block(rngs) for _ in range(2)])
        self.norm, self.head = nnx.LayerNorm(WIDTH, rngs=rngs), nnx.Linear(WIDTH, CLASSES, rngs=rngs)

    def __call__(self, x: Array) -> Array:
        x = self.embed(x) + self.places[None]
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x).mean(1))


class Convolutions(nnx.Module):
    """Logits [B, 10] of patches [B, 16, 4], put together to images of 8 x 8."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        widths = (1, 16, 32, 32)
        self.convolutions = nnx.List(
            [nnx.Conv(*pair, (3, 3), strides=1 + (i > 0), rngs=rngs) for i, pair in enumerate(pairwise(widths))]
        )
        self.head = nnx.Linear(4 * widths[-1], CLASSES, rngs=rngs)

    def __call__(self, x: Array) -> Array:
        x = x.reshape(-1, 4, 4, 2, 2).swapaxes(2, 3).reshape(-1, 8, 8, 1)
        for convolution in self.convolutions:
            x = nnx.gelu(convolution(x))
        return self.head(x.reshape(len(x), -1))


NETWORKS = {"digits": Transformer, "convolutions": Convolutions}
"""Networks by the name of their problem."""


@cache
def _structure(name: str) -> nnx.GraphDef:
    return nnx.graphdef(nnx.eval_shape(lambda: NETWORKS[name](nnx.Rngs(0))))


def outputs(params: nnx.State, inputs: Array) -> Array:
    """Logits [B, 10] of patches, by the network that the parameters are of."""
    name = "convolutions" if "convolutions" in params else "digits"
    return nnx.merge(_structure(name), params)(inputs)


def digits(seed: int, name: str = "digits") -> Digits:
    """Images in an order that all seeds share, and the start of a seed."""
    images, labels = load_digits(return_X_y=True)
    patches = (images / 16.0).reshape(-1, 4, 2, 4, 2).swapaxes(2, 3).reshape(-1, 16, 4)
    order = np.random.default_rng(0).permutation(len(labels))
    x, y = jnp.asarray(patches[order], jnp.float32), jnp.asarray(labels[order], jnp.int32)
    start = nnx.state(NETWORKS[name](nnx.Rngs(seed)))
    return Digits(x[:EXAMPLES], y[:EXAMPLES], x[EXAMPLES:], y[EXAMPLES:], start)
