"""Flax NNX layers: attention as an associative memory, its separation, metric, β and steps chosen or learned.

sparse = AssociationOptions(separation="entmax:1.5", metric="diagonal", positions="rotary")
layer = HopfieldAttention(8, 256, options=sparse, rngs=nnx.Rngs(0))
y = layer(x)
found = layer.inspect(x)        weights, energy, entropy, steps, status
"""

from flax import nnx

from hopfield._arguments import public
from hopfield.layers._fixed import FixedParam
from hopfield.layers._signature import signed
from hopfield.layers.additive import AdditiveAssociation
from hopfield.layers.association import AssociationReport, HopfieldAssociation
from hopfield.layers.attention import HopfieldAttention
from hopfield.layers.attention_function import AttentionFunction
from hopfield.layers.blocks import DecoderBlock, EncoderBlock
from hopfield.layers.energy import EnergyReport, EnergyTransformerBlock
from hopfield.layers.imports.flax import from_flax
from hopfield.layers.imports.hopfield_layers import from_hopfield_layers
from hopfield.layers.imports.transformers import from_attention_weights
from hopfield.layers.learned_positions import NAMES as POSITIONS
from hopfield.layers.learned_positions import (
    AbsolutePositions,
    FixedPositions,
    Positions,
    RelativePositions,
    T5Positions,
)
from hopfield.layers.metrics import (
    METRICS,
    DefiniteMetric,
    DiagonalMetric,
    FixedMetric,
    FullMetric,
    LearnedMetric,
    LowRankMetric,
    ProjectedMetric,
    learned_metric,
)
from hopfield.layers.options import AssociationOptions
from hopfield.layers.peer_names import PeerOptions
from hopfield.layers.pooling import Hopfield, HopfieldLayer, HopfieldPooling
from hopfield.layers.recurrent import RecurrentMemory, RecurrentOptions

__all__ = [
    "METRICS",
    "POSITIONS",
    "AbsolutePositions",
    "AdditiveAssociation",
    "AssociationOptions",
    "AssociationReport",
    "AttentionFunction",
    "DecoderBlock",
    "DefiniteMetric",
    "DiagonalMetric",
    "EncoderBlock",
    "EnergyReport",
    "EnergyTransformerBlock",
    "FixedMetric",
    "FixedParam",
    "FixedPositions",
    "FullMetric",
    "Hopfield",
    "HopfieldAssociation",
    "HopfieldAttention",
    "HopfieldLayer",
    "HopfieldPooling",
    "LearnedMetric",
    "LowRankMetric",
    "PeerOptions",
    "Positions",
    "ProjectedMetric",
    "RecurrentMemory",
    "RecurrentOptions",
    "RelativePositions",
    "T5Positions",
    "from_attention_weights",
    "from_flax",
    "from_hopfield_layers",
    "learned_metric",
]
__dir__ = public(__all__)

signed([layer for name in __all__ if isinstance(layer := globals()[name], type) and issubclass(layer, nnx.Module)])
