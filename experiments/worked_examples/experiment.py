"""Worked examples that this project was seeded with, worked again: each printed number beside the computed one.

Three documents print them, all by B. Kataru:

    guide   "Attention as Bilinear Form: A Physicist's Guide to Transformer Attention", January 2026, section 11
    notes   "Attention as Bilinear Form", tutorial notes, January 2025, section 11
    draft   "From tensor structure to practical gradients", the worked example

and the examples are

    attention     2 queries on 3 keys: scores S, their exponentials, sum Z, weights A, output O
    temperature   weights p and entropy H (nats) of the scores [2, 1, 0] at temperatures T
    jacobian      softmax a of the scores [1, 2] and its Jacobian J
    capacity      the claims that a classical network holds 0.14 N patterns and attention e^(d/2), beside a measurement
                  (see `capacity_claims`)

A printed number is right if the computed one rounds to it. Capacities are measured on random patterns and have errors;
all else has one value.
"""

from collections.abc import Iterator, Sequence

from experiments.contract import Cost, Point, Row
from experiments.worked_examples import capacity_claims
from experiments.worked_examples.config import Config
from experiments.worked_examples.figure import panels
from experiments.worked_examples.measurement import attention, jacobian, temperature
from experiments.worked_examples.printed import CAPACITY, PRINTED
from experiments.worked_examples.summary import summarise

__all__ = ["X_AXIS", "Config", "cost", "measure", "panels", "points", "summarise"]
X_AXIS = "printed"
ROUNDING = 1e-6
"""Uncertainty of a computed number, in single precision."""


def cost(config: Config) -> Cost:
    """Cost of the printed numbers, of which only the claims of capacity take work: 1e11 multiplications."""
    operations = 1e11 if CAPACITY in config.examples else 0.0
    return Cost(len(PRINTED) * 100 * len(config.documents) * len(config.examples), operations=operations)


def points(config: Config) -> list[Point]:
    """One point per printed number."""
    return [
        {
            "document": document,
            "example": example,
            "quantity": quantity,
            "row": row,
            "column": column,
            "printed": float(text),
            "decimals": len(text.partition(".")[2]),
        }
        for (document, example), lines in PRINTED.items()
        if document in config.documents and example in config.examples
        for (quantity, row), line in lines.items()
        for column, text in enumerate(line.split(), start=1)
    ]


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """Computed or measured value of every printed number, and whether it rounds to the print."""
    computed = {"attention": attention, "temperature": temperature, "jacobian": jacobian}
    values = {name: computed[name]() for name in computed if any(point["example"] == name for point in wanted)}
    for point in wanted:
        line = point["quantity"], point["row"]
        stderr = theory = None
        if point["example"] == CAPACITY:
            value, stderr, theory = capacity_claims.measure_claim(config.seed, *line)
        else:
            value = values[point["example"]][line][point["column"] - 1]
        right = abs(value - point["printed"]) <= 0.5 * 10.0 ** -point["decimals"] + ROUNDING
        yield point | {"stderr": stderr, "theory": theory, "value": value, "right": right}
