"""Shapes that annotations of several modules name."""

from typing import Any

from jaxtyping import Array, Bool, Float

Tree = Any
"""Pytree of arrays."""
Scalar = Float[Array, ""]
State = Float[Array, "N"]
Patterns = Float[Array, "M N"]
Scores = Float[Array, "M"]
Mask = Bool[Array, "M"] | None
Rows = Float[Array, "*b T D"]
Keys = Float[Array, "*b S K"]
