"""Extents of panels: how far their data reach along an axis, and where the axis ends."""

from collections.abc import Iterator
from typing import Any

import numpy as np

MARGIN = 0.05
"""Part of the range of the data that is left free at either end of an axis."""


def extent(panel: Any, side: str, positive: bool = False) -> tuple[float, float]:
    """Least and largest of the data along the axis "x" or "y", errors included, or of the positive ones."""
    values = np.concatenate([[], *_places(panel, side)])
    values = values[np.isfinite(values) & ((values > 0) | (not positive))]
    return (float(values.min()), float(values.max())) if len(values) else (float(positive), 10.0**positive)


def _places(panel: Any, side: str) -> Iterator[np.ndarray]:
    """Coordinates along one axis of everything that a panel holds, errors included."""
    if panel.heat is not None:
        yield np.asarray(getattr(panel.heat, side), float)
    for part in panel.series:
        values = getattr(part, side)
        error = part.x_error if side == "x" else part.error
        yield values
        if error is not None:
            yield from (values - error[0], values + error[1])
        if side == "y" and part.top is not None:
            yield part.top


def with_margin(low: float, high: float, logarithmic: bool) -> tuple[float, float]:
    """Ends a little beyond the data's."""
    if logarithmic:
        low, high = (low, high) if low < high else (low / 10, high * 10)
        part = (high / low) ** MARGIN
        return low / part, high * part
    if low == high:
        low, high = low - MARGIN * abs(low or 1.0), high + MARGIN * abs(high or 1.0)
    part = MARGIN * (high - low)
    return low - part, high + part
