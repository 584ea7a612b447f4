"""How the public functions of attention, layers, bilinear forms, curvature, geometry and optimisers are called."""

from public import Case

CASES: tuple[Case, ...] = ()

EXCLUDED: dict[str, str] = {
    "hopfield.attention.*": "not listed yet",
    "hopfield.bilinear.*": "not listed yet",
    "hopfield.checkpoints.*": "not listed yet",
    "hopfield.curvature.*": "not listed yet",
    "hopfield.geometry.*": "not listed yet",
    "hopfield.layers.*": "not listed yet",
    "hopfield.optim.*": "not listed yet",
}
"""Patterns of public names without a case, and why."""
