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
from dataclasses import dataclass

import jax.numpy as jnp

from experiments import contract
from experiments.bounds import Use
from experiments.columns import Column
from experiments.contract import Cost, Point, Row, option
from experiments.worked_examples import capacity_claims
from experiments.worked_examples.printed import (
    CAPACITY,
    DOCUMENTS,
    EXAMPLES,
    KEYS,
    LOGITS,
    PRINTED,
    QUERIES,
    SCORES,
    VALUES,
)
from experiments.worked_examples.results import panels, summarise
from hopfield.memory import Memory
from hopfield.observables import stability, thermodynamics

__all__ = ["X_AXIS", "Config", "cost", "measure", "panels", "points", "summarise"]


@dataclass
class Config(contract.Config):
    """Options of the worked examples."""

    documents: list[str] = option(
        [*DOCUMENTS],
        f"documents, any of {', '.join(DOCUMENTS)}",
        among=DOCUMENTS,
        nonempty=True,
        used_when=Use("each prints one of examples", lambda config: _all_printed(config, 0)),
        axis=True,
    )
    examples: list[str] = option(
        [*EXAMPLES],
        f"examples, any of {', '.join(EXAMPLES)}",
        among=EXAMPLES,
        nonempty=True,
        used_when=Use("each is printed in one of documents", lambda config: _all_printed(config, 1)),
        axis=True,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not any((document, example) in PRINTED for document in self.documents for example in self.examples):
            raise ValueError(f"examples must be printed in one of {', '.join(self.documents)}, got {self.examples}")


def _all_printed(config: Config, place: int) -> bool:
    """True if every document (0) or example (1) that is listed has a number to work again."""
    listed = (config.documents, config.examples)
    return {key[place] for key in PRINTED if key[0] in listed[0] and key[1] in listed[1]} == set(listed[place])


COLUMNS = {
    "document": Column("document that prints the number", kind=str),
    "example": Column("worked example that the number is of", kind=str),
    "quantity": Column("quantity that the number is of", kind=str),
    "row": Column("row of the quantity", kind=str),
    "column": Column("column of the quantity", kind=int),
    "printed": Column("number as it is printed"),
    "decimals": Column("decimals that are printed", "count", kind=int),
    "value": Column("computed number"),
    "stderr": Column("standard error of the value, where it was measured"),
    "theory": Column("prediction, where there is one"),
    "right": Column("whether the value rounds to what is printed", kind=bool),
}


X_AXIS = "printed"
ROUNDING = 1e-6
"""Uncertainty of a computed number, in single precision."""


def cost(config: Config) -> Cost:
    """Cost of the printed numbers; only the claims of capacity take work: 1e11 multiplications."""
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


def attention() -> dict[tuple[str, str], list[float]]:
    """Scaled dot-product attention of the queries, read from a memory of the keys at β = 1/√d."""
    memory = Memory(jnp.asarray(KEYS), len(KEYS[0]) ** -0.5, values=jnp.asarray(VALUES))
    printed = {("1/sqrt(d)", ""): [float(memory.beta)]}
    for number, query in enumerate(jnp.asarray(QUERIES), start=1):
        scores = memory.beta * memory.scores(query)
        exponentials = jnp.exp(scores)
        row = {"S": scores, "exp S": exponentials, "Z": jnp.sum(exponentials)[None]}
        row |= {"A": memory.weights(query), "O": memory.read(query)}
        printed |= {(quantity, f"query {number}"): list(map(float, values)) for quantity, values in row.items()}
    return printed


def temperature() -> dict[tuple[str, str], list[float]]:
    """Gibbs weights of the scores and their entropy at the temperatures that are printed."""
    printed = {}
    for _, row in PRINTED["guide", "temperature"]:
        weights = thermodynamics.boltzmann_weights(jnp.asarray(SCORES), 1 / float(row.removeprefix("T=")))
        printed["p", row] = list(map(float, weights))
        printed["H", row] = [float(thermodynamics.entropy(weights))]
    return printed


def jacobian() -> dict[tuple[str, str], list[float]]:
    """Softmax and its Jacobian: weights and susceptibility of a memory whose patterns are the unit vectors at β = 1."""
    memory, logits = Memory(jnp.eye(len(LOGITS))), jnp.asarray(LOGITS)
    printed = {("a", ""): list(map(float, memory.weights(logits)))}
    for number, row in enumerate(stability.susceptibility(memory, logits), start=1):
        printed["J", f"row {number}"] = list(map(float, row))
    return printed
