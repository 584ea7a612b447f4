"""Classifier around one Hopfield layer, and the quantities observed during learning."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from flax import nnx

from experiments.training import layers
from experiments.training.settings import Setting
from experiments.training.tasks import Part
from hopfield.attention.heads import head_diversity


class Batch(NamedTuple):
    """Inputs [B, T, F], their places in the training set [B], −1 for others, and factors of their features [B, W]."""

    inputs: jax.Array
    place: jax.Array
    keep: jax.Array


class Classifier(nnx.Module):
    """Embedding, Hopfield layer, read-out: logits [B, classes] of inputs [B, T, F]."""

    def __init__(self, setting: Setting, data: Part, classes: int, rngs: nnx.Rngs) -> None:
        """Build the model for a training set."""
        features, layer = data.inputs.shape[-1], layers.find(setting.layer)
        self.layer = setting.layer
        self.places = len(data.targets)
        self.embed = nnx.data(nnx.Linear(features, setting.width, rngs=rngs) if layer.embeds else None)
        self.memory: Any = layer.build(setting, data, classes, rngs)
        self.read = nnx.data(nnx.Linear(layer.features(setting), classes, rngs=rngs) if layer.embeds else None)

    def __call__(self, batch: Batch) -> jax.Array:
        found = layers.find(self.layer).read(self.memory, self._embedded(batch), self._all_but_itself(batch))
        return found if self.read is None else self.read(found)

    def observe(self, batch: Batch) -> dict[str, jax.Array]:
        """Entropy and effective number of patterns per head [H], β per head, and numbers for head diversity and metric.

        Both are means over inputs: of the entropy in nats, and of its exponential. The extreme singular values
        belong to the metric of each head [H], ones where none is learned.
        """
        found = self.inspect(batch)
        heads = found.entropy.shape[-2]
        per_head = jnp.moveaxis(found.entropy, -2, 0).reshape(heads, -1)
        association = layers.find(self.layer).association(self.memory)
        singular = _spectrum(association, heads)
        return {
            "entropy": per_head.mean(axis=1),
            "effective": jnp.exp(per_head).mean(axis=1),
            "beta": jnp.broadcast_to(jnp.ravel(association.beta()), (heads,)),
            "diversity": jnp.mean(head_diversity(found.weights)) if heads > 1 else jnp.zeros(()),
            "metric_largest": singular[:, 0],
            "metric_smallest": singular[:, -1],
        }

    def inspect(self, batch: Batch) -> Any:
        """The report of the association that holds β and metric."""
        return layers.find(self.layer).inspect(self.memory, self._embedded(batch), self._all_but_itself(batch))

    def _embedded(self, batch: Batch) -> jax.Array:
        """Features of every input [B, T, W]; [1, B, F] without an embedding: patterns are projected once for all."""
        keep = batch.keep[:, None]
        if self.embed is None:
            return jnp.swapaxes(batch.inputs * keep, 0, 1)
        return self.embed(batch.inputs) * keep

    def _all_but_itself(self, batch: Batch) -> jax.Array:
        """The training examples that an input may read [1, 1, B, places]: all but itself."""
        return (jnp.arange(self.places)[None] != batch.place[:, None])[None, None]


def _spectrum(core: Any, heads: int) -> jax.Array:
    """Singular values of the metric of every head [H, D], in falling order. They are ones without a learned metric."""
    metric = getattr(core, "metric", None)
    if metric is None:
        return jnp.ones((heads, 1))
    singular = jnp.linalg.svd(metric().dense(), compute_uv=False)
    return jnp.broadcast_to(singular, (heads, singular.shape[-1]))
