"""Classifier around one Hopfield layer, and what is observed of it while it learns."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from flax import nnx

from experiments.training.settings import Setting
from experiments.training.tasks import Part
from hopfield.attention.heads import head_diversity
from hopfield.layers import (
    AssociationOptions,
    DecoderBlock,
    EncoderBlock,
    EnergyTransformerBlock,
    Hopfield,
    HopfieldAttention,
    HopfieldLayer,
    HopfieldPooling,
)
from hopfield.layers.metrics import FixedParam


class Batch(NamedTuple):
    """Inputs [B, T, F], their places in the training set [B], −1 for others, and factors of their features [B, W]."""

    inputs: jax.Array
    place: jax.Array
    keep: jax.Array


class Classifier(nnx.Module):
    """Embedding, Hopfield layer, read-out: logits [B, classes] of inputs [B, T, F].

    lookup        reads learned patterns and adds what it read
    memory        stores the training set and reads learned targets with its learned projections, which in training
                  leave out the example itself: what is kept of kernel machines and nearest neighbours
    pooling       reads the inputs with learned queries
    association   reads the inputs with the last of them; decoder: in a transformer block
    encoder       a transformer block, read at its last input; energy: descent on one energy of all inputs
    """

    def __init__(self, setting: Setting, data: Part, classes: int, rngs: nnx.Rngs):
        """Build the model; of the training set `data` only "memory" takes more than the number of features."""
        features = data.inputs.shape[-1]
        self.layer = setting.layer
        self.places = len(data.targets)
        embedded = features if self.layer == "memory" else setting.width
        self.embed = nnx.data(None if self.layer == "memory" else nnx.Linear(features, embedded, rngs=rngs))
        self.memory: Any = _memory(setting, data, classes, rngs)
        pooled = setting.quantity * setting.width if self.layer == "pooling" else setting.width
        self.read = nnx.data(None if self.layer == "memory" else nnx.Linear(pooled, classes, rngs=rngs))

    def __call__(self, batch: Batch) -> jax.Array:
        x = self._embedded(batch)
        if self.embed is None or self.read is None:
            return self.memory(x, mask=self._others(batch))[0]
        if self.layer == "pooling":
            return self.read(self.memory(x))
        if self.layer == "lookup":
            return self.read(jnp.mean(nnx.relu(x) + self.memory(x), axis=-2))
        last, before = x[..., -1:, :], x[..., :-1, :]
        found = self.memory(last, before) if self.layer in ("association", "decoder") else self.memory(x)
        return self.read(found[..., -1, :])

    def observe(self, batch: Batch) -> dict[str, jax.Array]:
        """Entropy and effective number of patterns per head [H], β per head, and numbers for head diversity and metric.

        Both are means over inputs: of the entropy in nats, and of its exponential. The extreme singular values are
        those of the metric of each head [H], ones where none is learned.
        """
        found = self._inspected(self._embedded(batch), batch)
        heads = found.entropy.shape[-2]
        per_head = jnp.moveaxis(found.entropy, -2, 0).reshape(heads, -1)
        core = self._association()
        singular = _spectrum(core, heads)
        return {
            "entropy": per_head.mean(axis=1),
            "effective": jnp.exp(per_head).mean(axis=1),
            "beta": jnp.broadcast_to(jnp.ravel(core.beta()), (heads,)),
            "diversity": jnp.mean(head_diversity(found.weights)) if heads > 1 else jnp.zeros(()),
            "metric_largest": singular[:, 0],
            "metric_smallest": singular[:, -1],
        }

    def _embedded(self, batch: Batch) -> jax.Array:
        """Features of every input [B, T, W]; [1, B, F] for "memory", which projects its patterns once for all."""
        keep = batch.keep[:, None]
        if self.embed is None:
            return jnp.swapaxes(batch.inputs * keep, 0, 1)
        return self.embed(batch.inputs) * keep

    def _others(self, batch: Batch) -> jax.Array:
        """The stored examples that an input may read [1, 1, B, places]: all but itself."""
        return (jnp.arange(self.places)[None] != batch.place[:, None])[None, None]

    def _inspected(self, x: jax.Array, batch: Batch) -> Any:
        last, before = x[..., -1:, :], x[..., :-1, :]
        if self.layer == "association":
            return self.memory.inspect(last, before)
        if self.layer == "decoder":
            asked = last + self.memory.attention(self.memory.attention_norm(last))
            return self.memory.cross.inspect(self.memory.cross_norm(asked), before)
        return self.memory.inspect(x, mask=self._others(batch) if self.layer == "memory" else None)

    def _association(self) -> Any:
        """Association that holds β and metric."""
        if self.layer == "energy":
            return self.memory
        if self.layer in ("association", "encoder"):
            return self.memory.attention.attention_fn
        if self.layer == "decoder":
            return self.memory.cross.attention_fn
        return self.memory.hopfield.attention.attention_fn


def _memory(setting: Setting, data: Part, classes: int, rngs: nnx.Rngs) -> Any:
    layer, width = setting.layer, setting.width
    if layer == "memory":
        return _stored(setting, data, classes, rngs)
    if layer == "energy":
        own = AssociationOptions(separation=setting.separation, learn_beta=True)
        steps = setting.update_steps
        return EnergyTransformerBlock(width, setting.heads, setting.quantity, options=own, steps=steps, rngs=rngs)
    attention = _attention(setting, width, rngs)
    if layer == "lookup":
        return HopfieldLayer(attention, setting.quantity, separate_targets=True, rngs=rngs)
    if layer == "pooling":
        return HopfieldPooling(attention, setting.quantity, rngs=rngs)
    if layer == "association":
        return Hopfield(attention, rngs=rngs)
    if layer == "decoder":
        return DecoderBlock(attention, _attention(setting, width, rngs), rngs=rngs)
    return EncoderBlock(attention, rngs=rngs)


def _attention(
    setting: Setting, width: int, rngs: nnx.Rngs, beta: float | None = None, **layer: Any
) -> HopfieldAttention:
    own = AssociationOptions(
        metric=None if setting.metric == "none" else setting.metric,
        separation=setting.separation,
        beta=beta,
        learn_beta=True,
        update_steps=setting.update_steps,
    )
    return HopfieldAttention(setting.heads, width, options=own, rngs=rngs, **layer)


def _stored(setting: Setting, data: Part, classes: int, rngs: nnx.Rngs) -> HopfieldLayer:
    """A look-up in the training set, whose targets start as one random code per class."""
    features = data.inputs.shape[-1]
    options: Any = {"qkv_features": setting.width, "out_features": classes, "normalize_qk": True}
    # Projections are of one length each; biases that are not zero keep in their angle how long an input was.
    options["bias_init"] = nnx.initializers.normal(1.0)
    attention = _attention(setting, features, rngs, beta=1.0, **options)
    attention.key.kernel = nnx.Param(attention.query.kernel[...])
    attention.key.bias = nnx.Param(jnp.asarray(attention.query.bias))
    layer = HopfieldLayer(attention, len(data.targets), separate_targets=True, normalise=False, rngs=rngs)
    layer.patterns = FixedParam(jnp.asarray(data.inputs[:, 0]))
    codes = jax.random.normal(rngs.params(), (classes, features))
    layer.targets = nnx.data(nnx.Param(codes[jnp.asarray(data.targets)]))
    return layer


def _spectrum(core: Any, heads: int) -> jax.Array:
    """Singular values of the metric of every head [H, D], falling; ones where none is learned."""
    metric = getattr(core, "metric", None)
    if metric is None:
        return jnp.ones((heads, 1))
    singular = jnp.linalg.svd(metric().dense(), compute_uv=False)
    return jnp.broadcast_to(singular, (heads, singular.shape[-1]))
