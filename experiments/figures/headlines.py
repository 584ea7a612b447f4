"""Headlines of a report: the numbers that a summary is about, each with its error and the theory beside it."""

import math
from collections.abc import Iterator
from typing import Any

from experiments.contract import ERROR, LIMIT, THEORY


def headlines(summary: dict) -> Iterator[dict[str, str]]:
    """Name, value with error, and theory of every number that a summary is about."""
    scalars = summary.get("scalars", {})
    for name, value in scalars.items():
        if any(name.endswith(end) and name.removesuffix(end) in scalars for end in (ERROR, THEORY, LIMIT)):
            continue
        known, limit, error = scalars.get(f"{name}{THEORY}"), scalars.get(f"{name}{LIMIT}"), f"{name}{ERROR}"
        theory = "" if known is None else with_error(known)
        yield {
            "name": name,
            "value": with_error(value, scalars[error]) if error in scalars else with_error(value),
            "sort": str(value),
            "theory": theory if limit is None else f"{with_error(limit)} (N → ∞)",
        }


def in_words(summary: dict) -> Iterator[str]:
    """A line for every number that a summary is about: its name, value with error, theory."""
    for line in headlines(summary):
        yield f"{line['name']}: {line['value']}{line['theory'] and ', theory '}{line['theory']}"


def with_error(value: Any, error: Any = 0.0) -> str:
    """A number rounded to the digits that its error justifies. The error is unknown for a single sample."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "unknown" if value is None or math.isnan(value) else str(value)
    if not isinstance(value, float):
        return str(value)
    if error is None or not math.isfinite(error):
        return f"{value:.5g} (error unknown)"
    if error == 0:
        return f"{value:.6g}"
    digits = max(0, 1 - math.floor(math.log10(abs(error))))
    return f"{value:.{digits}f} ± {error:.{digits}f}" if digits < 10 else f"{value:.5g} ± {error:.2g}"
