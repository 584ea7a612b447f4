"""Index notation as code: the contractions of attention by name, with shape errors that name the axes.

    CONTRACTIONS["scores"](query, key)             S^ij = Q^ia K^ja
    CONTRACTIONS["head_scores"](query, key)        S^hij = Q^hia K^hja
    contract("ia,ab,jb->ij", Q=query, g=g, K=key)  any other formula
    CONTRACTIONS["scores"].summed, .free           "a" and "ij": summed and free indices; .in_words()

Source: Kataru 2026, §2.4, where the formulas are given.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array

from hopfield._arguments import instance, real_array

MEANING = {
    "a": "feature",
    "b": "feature",
    "c": "feature",
    "d": "feature",
    "h": "head",
    "i": "query position",
    "j": "key position",
    "k": "key position",
    "n": "batch",
}
"""Meaning of an index, in error messages."""


class Contraction(NamedTuple):
    """One named formula: the index that each axis of its operands carries. Repeated indices are summed.

    Example:
        >>> from hopfield import metrics
        >>> print(metrics.CONTRACTIONS["scores"].in_words())
        Q[i, a] K[j, a] summed over a (feature), for every i (query position) and j (key position)
    """

    formula: str
    operands: tuple[str, ...]

    def __call__(self, *arrays: ArrayLike) -> Array:
        """The contraction of the operands, in their order. Raises ValueError as `contract` does."""
        if len(arrays) != len(self.operands):
            raise ValueError(f"operands must be {', '.join(self.operands)}, got {len(arrays)} arrays")
        return contract(self.formula, **dict(zip(self.operands, arrays, strict=True)))

    def in_words(self) -> str:
        """The formula in words: `Q[i, a] K[j, a] summed over a (feature), for every i (query position) and …`."""
        factors = " ".join(f"{name}[{', '.join(of)}]" for name, of in zip(self.operands, self.indices, strict=True))
        sums = f" summed over {' and '.join(map(_index, self.summed))}" if self.summed else ""
        return factors + sums + (f", for every {' and '.join(map(_index, self.free))}" if self.free else "")

    @property
    def indices(self) -> tuple[str, ...]:
        """Index of every axis of each operand."""
        return tuple(self.formula.partition("->")[0].split(","))

    @property
    def free(self) -> str:
        """Indices of the result, in its order."""
        return self.formula.partition("->")[2]

    @property
    def summed(self) -> str:
        """Indices that are summed over, in the order of the operands."""
        return "".join(dict.fromkeys(index for index in "".join(self.indices) if index not in self.free))


def contract(formula: str, **operands: ArrayLike) -> Array:
    """Einstein summation of named operands, checked axis by axis.

    Args:
        formula: "ia,ja->ij": one group of single letters per operand, in the order they are given; letters that do not
            stand to the right of the arrow are summed over.
        operands: the arrays by name; every axis has its letter, and a letter has one length.

    Raises:
        ValueError: the formula has an output twice or does not fit the operands: their number, their axes, or a letter
            with two lengths.
    """
    inputs, arrow, output = instance("formula", formula, str).replace(" ", "").partition("->")
    groups = inputs.split(",")
    letters = {letter for group in groups for letter in group}
    if not arrow or not all(letter.isalpha() for letter in letters) or not letters.issuperset(output):
        raise ValueError(f"formula must read like 'ia,ja->ij', with outputs among its inputs, got '{formula}'")
    if len(set(output)) < len(output):
        raise ValueError(f"formula must have each output once, got '{formula}'")
    if len(groups) != len(operands):
        raise ValueError(f"operands must be {len(groups)} arrays for '{formula}', got {', '.join(operands) or 'none'}")
    arrays = {name: real_array(name, array) for name, array in operands.items()}
    lengths: dict[str, tuple[str, int]] = {}
    for group, (name, array) in zip(groups, arrays.items(), strict=True):
        if array.ndim != len(group):
            raise ValueError(f"{name} must have {_axes(group)}, got shape {array.shape}")
        for letter, length in zip(group, array.shape, strict=True):
            first, expected = lengths.setdefault(letter, (name, length))
            if length != expected:
                raise ValueError(f"{name} must have length {expected} along {_axis(letter)}, as {first}, got {length}")
    return jnp.einsum(formula, *arrays.values())


def _axis(letter: str) -> str:
    return f"axis {_index(letter)}"


def _index(letter: str) -> str:
    return f"{letter} ({MEANING[letter]})" if letter in MEANING else letter


def _axes(group: str) -> str:
    return f"the {len(group)} axes {', '.join(map(_axis, group))}" if group else "no axes"


CONTRACTIONS = {
    "dot": Contraction("a,a->", ("u", "v")),
    "outer": Contraction("a,b->ab", ("u", "v")),
    "matrix_product": Contraction("ij,jk->ik", ("A", "B")),
    "transpose": Contraction("ij->ji", ("B",)),
    "trace": Contraction("ii->", ("A",)),
    "batched_product": Contraction("nij,njk->nik", ("A", "B")),
    "form": Contraction("a,ab,b->", ("u", "g", "v")),
    "scores": Contraction("ia,ja->ij", ("Q", "K")),
    "metric_scores": Contraction("ia,ab,jb->ij", ("Q", "g", "K")),
    "read": Contraction("ij,jb->ib", ("A", "V")),
    "project_heads": Contraction("id,hda->hia", ("X", "W")),
    "head_scores": Contraction("hia,hja->hij", ("Q", "K")),
    "head_metric_scores": Contraction("hia,hab,hjb->hij", ("Q", "g", "K")),
    "head_read": Contraction("hij,hjc->hic", ("A", "V")),
    "combine_heads": Contraction("hic,hcd->id", ("O", "W")),
}
"""The contractions of attention by name; sums are unscaled, a factor 1/√d belongs to the metric or to β."""
