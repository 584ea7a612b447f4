"""How the public functions of the core are called: memories, dynamics, statistical mechanics, patterns, theory."""

from public import Call, Case

from hopfield import measures


def _pair(name: str) -> Case:
    """A measure of a state against a pattern."""
    function = getattr(measures, name)
    return Case(
        f"hopfield.measures.{name}",
        lambda rng, shape: Call(function, (rng.normal(size=shape), rng.normal(size=shape))),
        nan=(0, 1),
    )


CASES: tuple[Case, ...] = tuple(map(_pair, ("overlap",)))

EXCLUDED: dict[str, str] = {
    f"hopfield.{part}*": "not listed yet"
    for part in (
        "blocks.",
        "counts.",
        "datasets.",
        "diagnostics.",
        "dynamics.",
        "measures.",
        "memories.",
        "memory.",
        "numerics.",
        "pattern",
        "separations.",
        "sharding.",
        "shells.",
        "similarities.",
        "simplex.",
        "spaces.",
        "sweeps.",
        "theory.",
        "thermodynamics.",
    )
}
"""Patterns of public names without a case, and why."""
