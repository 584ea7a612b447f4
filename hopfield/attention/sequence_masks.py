"""Masks of sequences that lie side by side in one, or that go on where their keys began earlier."""

from flax import struct
from jaxtyping import Array, Bool, Int

from hopfield._arguments import integer
from hopfield.attention.masks import Mask


class CausalLast(Mask):
    """Keys j ≤ i + ahead."""

    ahead: int = struct.field(pytree_node=False)
    band = property(lambda self: (None, self.ahead))

    def allows(self, rows: Int[Array, "T 1"], columns: Int[Array, "1 S"]) -> Bool[Array, "*b T S"]:
        return columns <= rows + self.ahead


def causal_last(queries: int, keys: int) -> CausalLast:
    """Causal mask of queries that are the last of the keys, so that the last query reads the last key."""
    return CausalLast(integer("keys", keys, 0) - integer("queries", queries, 0))
