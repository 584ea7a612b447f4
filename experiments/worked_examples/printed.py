"""Numbers that the documents print, by example, and the inputs that they are computed from."""

from typing import NamedTuple

DOCUMENTS = ("guide", "notes", "draft")
CAPACITY = "capacity"
EXAMPLES = ("attention", "temperature", "jacobian", CAPACITY)
QUERIES = ((1.0, 0.0), (0.0, 1.0))
KEYS = ((1.0, 0.0), (0.0, 1.0), (1.0, 1.0))
VALUES = ((2.0, 0.0), (0.0, 2.0), (1.0, 1.0))
SCORES = (2.0, 1.0, 0.0)
LOGITS = (1.0, 2.0)
SIZES = {250: 72, 500: 48, 1000: 24}
"""Draws at each load, by N."""


class Case(NamedTuple):
    """Patterns, λ and criterion of one exponent, with its sizes d."""

    ensemble: str
    beta: float
    criterion: str
    sizes: tuple[int, ...]

    @property
    def name(self) -> str:
        """Name of the case in the table."""
        where = "start" if self.criterion == "target_weight" else "converged"
        return f"{self.ensemble} λ={self.beta:g} {where}"


CASES = (
    Case("gaussian", 2.0, "target_weight", (8, 12, 16, 20)),
    Case("sphere", 0.5, "target_weight", (8, 12, 16, 20)),
    Case("sphere", 1.0, "target_weight", (8, 10, 12, 14, 16)),
    Case("sphere", 1.0, "converged_weight", (8, 10, 12)),
)


def claimed_numbers() -> dict[tuple[str, str], str]:
    """The number claimed by quantity and row, for every row of the table."""
    claims = {("M/N", f"N={size}"): "0.14" for size in [*SIZES, "inf"]}
    for case in CASES:
        claims |= {("ln M/d", f"{case.name} d={size}"): "0.5" for size in case.sizes}
        claims |= {("d ln M/dd", case.name): "0.5"} if case.criterion == "target_weight" else {}
    return claims


PRINTED: dict[tuple[str, str], dict[tuple[str, str], str]] = {
    ("guide", "attention"): {
        ("1/sqrt(d)", ""): "0.707",
        ("S", "query 1"): "0.707 0 0.707",
        ("S", "query 2"): "0 0.707 0.707",
        ("exp S", "query 1"): "2.028 1.000 2.028",
        ("Z", "query 1"): "5.056",
        ("A", "query 1"): "0.401 0.198 0.401",
        ("A", "query 2"): "0.198 0.401 0.401",
        ("O", "query 1"): "1.203 0.797",
        ("O", "query 2"): "0.797 1.203",
    },
    ("notes", "attention"): {
        ("1/sqrt(d)", ""): "0.707",
        ("exp S", "query 1"): "2.03 1 2.03",
        ("Z", "query 1"): "5.06",
        ("A", "query 1"): "0.401 0.198 0.401",
        ("A", "query 2"): "0.198 0.401 0.401",
        ("O", "query 1"): "1.203 0.797",
        ("O", "query 2"): "0.797 1.203",
    },
    ("draft", "attention"): {
        ("exp S", "query 1"): "2.03 1 2.03",
        ("Z", "query 1"): "5.06",
        ("A", "query 1"): "0.40 0.20 0.40",
        ("A", "query 2"): "0.20 0.40 0.40",
        ("O", "query 1"): "1.20 0.80",
        ("O", "query 2"): "0.80 1.20",
    },
    ("guide", "temperature"): {
        ("p", "T=0.25"): "0.997 0.003 0.000",
        ("H", "T=0.25"): "0.02",
        ("p", "T=0.5"): "0.876 0.118 0.006",
        ("H", "T=0.5"): "0.42",
        ("p", "T=1"): "0.665 0.245 0.090",
        ("H", "T=1"): "0.80",
        ("p", "T=2"): "0.474 0.316 0.211",
        ("H", "T=2"): "1.02",
        ("p", "T=inf"): "0.333 0.333 0.333",
        ("H", "T=inf"): "1.10",
    },
    ("notes", "temperature"): {
        ("p", "T=0.5"): "0.88 0.11 0.01",
        ("H", "T=0.5"): "0.42",
        ("p", "T=1"): "0.67 0.24 0.09",
        ("H", "T=1"): "0.80",
        ("p", "T=2"): "0.47 0.32 0.21",
        ("H", "T=2"): "1.02",
        ("p", "T=inf"): "0.33 0.33 0.33",
        ("H", "T=inf"): "1.10",
    },
    ("guide", "jacobian"): {
        ("a", ""): "0.269 0.731",
        ("J", "row 1"): "0.197 -0.197",
        ("J", "row 2"): "-0.197 0.197",
    },
}
"""Numbers of each document, as it prints them, by (document, example) and (quantity, row)."""
PRINTED |= {(document, CAPACITY): claimed_numbers() for document in DOCUMENTS}
