"""Layers by the options of hopfield-layers (PyTorch), for users of that package.

PeerOptions(input_size=8, hidden_size=4, num_heads=2, scaling=0.5).pooling(3, rngs=nnx.Rngs(0))
"""

import dataclasses

from flax import nnx
from jax.typing import ArrayLike

from hopfield._arguments import flag, integer
from hopfield.layers.attention import HopfieldAttention
from hopfield.layers.options import AssociationOptions
from hopfield.layers.pooling import Hopfield, HopfieldLayer, HopfieldPooling


@dataclasses.dataclass(frozen=True, kw_only=True)
class PeerOptions:
    """Options of `Hopfield`, `HopfieldPooling` and `HopfieldLayer` by their names in hopfield-layers 1.0.2.

    What is named differently there: `batch_first` has no meaning here, where any leading axes are sequences, and
    `update_steps_eps` is `AssociationOptions.rtol`, which each query has for itself.

    Example:
        >>> layer = PeerOptions(input_size=8, hidden_size=4, num_heads=2).lookup(16, rngs=nnx.Rngs(0))
        >>> layer(jnp.ones((5, 8))).shape
        (5, 8)
    """

    input_size: int
    """Features of state patterns (queries)."""
    hidden_size: int | None = None
    """Features of a head in which patterns are compared; input_size / num_heads if None."""
    output_size: int | None = None
    """Features of the output; input_size if None."""
    stored_pattern_size: int | None = None
    """Features of stored patterns and of what is read in their place; input_size if None."""
    num_heads: int = 1
    scaling: ArrayLike | None = None
    """β, a number or one per head; 1/√hidden_size if None."""
    update_steps_max: int = 0
    """Updates before the association that reads."""
    dropout: float = 0.0
    add_zero_association: bool = False
    """A place for weight that no stored pattern deserves."""
    normalize: bool = True
    """Layer norms of state, stored and projected patterns: `normalize_…_pattern`, the three at once."""
    affine: bool = True
    """Scale and bias of these norms: `normalize_…_pattern_affine`."""

    def attention(self, rngs: nnx.Rngs) -> HopfieldAttention:
        """The association of these options. Raises ValueError for sizes that do not fit."""
        integer("input_size", self.input_size)
        if self.hidden_size is None and self.input_size % integer("num_heads", self.num_heads):
            raise ValueError(f"num_heads must divide the input_size {self.input_size}, got {self.num_heads}")
        hidden = (
            self.input_size // self.num_heads if self.hidden_size is None else integer("hidden_size", self.hidden_size)
        )
        options = AssociationOptions(
            beta=self.scaling,
            update_steps=integer("update_steps_max", self.update_steps_max, 0) + 1,
            memory_slots=int(flag("add_zero_association", self.add_zero_association)),
        )
        return HopfieldAttention(
            self.num_heads,
            self.input_size,
            self.num_heads * hidden,
            self.output_size,
            in_kv_features=self.stored_pattern_size,
            options=options,
            dropout_rate=self.dropout,
            rngs=rngs,
        )

    def hopfield(self, *, rngs: nnx.Rngs) -> Hopfield:
        """Association of queries with stored patterns that are both inputs."""
        return Hopfield(self.attention(rngs), normalise=self.normalize, affine=self.affine, rngs=rngs)

    def pooling(self, quantity: int = 1, *, trainable: bool = True, rngs: nnx.Rngs) -> HopfieldPooling:
        """Pooling of the inputs by `quantity` learned queries."""
        norms = {"normalise": self.normalize, "affine": self.affine}
        return HopfieldPooling(self.attention(rngs), quantity, trainable=trainable, **norms, rngs=rngs)

    def lookup(
        self, quantity: int = 1, *, lookup_weights_as_separated: bool = False, trainable: bool = True, rngs: nnx.Rngs
    ) -> HopfieldLayer:
        """Look-up in `quantity` learned patterns. `lookup_weights_as_separated` learns separate targets for them."""
        norms = {"normalise": self.normalize, "affine": self.affine}
        options = {"separate_targets": lookup_weights_as_separated, "trainable": trainable}
        return HopfieldLayer(self.attention(rngs), quantity, **options, **norms, rngs=rngs)
