"""Contract of a layer: its inputs, its construction, and its observed quantities."""

import abc
from typing import Any, ClassVar

import jax
from flax import nnx

from experiments.training.settings import Setting
from experiments.training.tasks import Part
from hopfield.layers import AssociationOptions, HopfieldAttention


class Layer(abc.ABC):
    """One Hopfield layer between an embedding and a read-out.

    Attributes:
        inputs: vectors of an input that it can read: "one", "several" or "any" number.
        learns_metric: whether it takes a metric.
        takes_quantity: whether the option `quantity` says how many patterns or queries it learns.
        embeds: whether inputs are embedded first, and what it returns is read out by a linear map.
    """

    inputs: ClassVar[str] = "any"
    learns_metric: ClassVar[bool] = True
    takes_quantity: ClassVar[bool] = False
    embeds: ClassVar[bool] = True

    @abc.abstractmethod
    def build(self, setting: Setting, data: Part, classes: int, rngs: nnx.Rngs) -> Any:
        """The module, for a training set and its number of classes."""

    def features(self, setting: Setting) -> int:
        """Number of features that `read` returns."""
        return setting.width

    @abc.abstractmethod
    def read(self, module: Any, x: jax.Array, others: jax.Array) -> jax.Array:
        """Features [B, W] of embedded inputs [B, T, W], or logits from a layer that does not embed.

        Args:
            others: the training examples that each input may read [1, 1, B, examples]: all but itself.
        """

    def inspect(self, module: Any, x: jax.Array, others: jax.Array) -> Any:
        """Report of the layer's association, the one that holds β and metric, on embedded inputs."""
        return module.inspect(x)

    def association(self, module: Any) -> Any:
        """The association that holds β and metric."""
        return module.attention.attention_fn

    def stored(self, quantity: int, examples: int, vectors: int) -> int:
        """Patterns that each query is compared with.

        Args:
            quantity: option of that name.
            examples, vectors: of the training set, and of each example.
        """
        return vectors


class LastReads(Layer):
    """A layer in which the last vector of an input reads those before it."""

    inputs = "several"

    def read(self, module: Any, x: jax.Array, others: jax.Array) -> jax.Array:
        return module(*last_and_before(x))[..., -1, :]

    def inspect(self, module: Any, x: jax.Array, others: jax.Array) -> Any:
        return module.inspect(*last_and_before(x))

    def stored(self, quantity: int, examples: int, vectors: int) -> int:
        return vectors - 1


def attention(
    setting: Setting, width: int, rngs: nnx.Rngs, beta: float | None = None, **options: Any
) -> HopfieldAttention:
    """Attention with the metric and the separation of a setting."""
    own = AssociationOptions(
        metric=None if setting.metric == "none" else setting.metric,
        separation=setting.separation,
        beta=beta,
        learn_beta=True,
        update_steps=setting.update_steps,
    )
    return HopfieldAttention(setting.heads, width, options=own, rngs=rngs, **options)


def last_and_before(x: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The last vector of every input, and those before it."""
    return x[..., -1:, :], x[..., :-1, :]
