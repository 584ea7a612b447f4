"""Association of the last input with those before it."""

from flax import nnx

from experiments.training.layers.base import LastReads, attention
from experiments.training.settings import Setting
from experiments.training.tasks import Part
from hopfield.layers import Hopfield


class Association(LastReads):
    """Reads the inputs with the last of them."""

    def build(self, setting: Setting, data: Part, classes: int, rngs: nnx.Rngs) -> Hopfield:
        return Hopfield(attention(setting, setting.width, rngs), rngs=rngs)


LAYER = Association()
