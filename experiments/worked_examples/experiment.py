"""The worked examples that this project was seeded with, worked again: each printed number beside the computed one.

Three documents print them, all by B. Kataru:

    guide   "Attention as Bilinear Form: A Physicist's Guide to Transformer Attention", January 2026, section 11
    notes   "Attention as Bilinear Form", tutorial notes, January 2025, section 11
    draft   "From tensor structure to practical gradients", the worked example

and the examples are

    attention     2 queries on 3 keys: scores S, their exponentials, sum Z, weights A, output O
    temperature   weights p and entropy H (nats) of the scores [2, 1, 0] at temperatures T
    jacobian      softmax a of the scores [1, 2] and its Jacobian J
    capacity      the claims that a classical network holds 0.14 N patterns and attention e^(d/2), beside a measurement
                  (see `worked_examples_capacity`)

A printed number is right if the computed one rounds to it. Capacities are measured on random patterns and have errors;
all else has one value.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from experiments import contract
from experiments.bounds import Use
from experiments.contract import Cost, about
from experiments.worked_examples import capacity_claims

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Table = Any
"""A pandas.DataFrame, whose columns no type checker knows."""

X_AXIS = "printed"
DOCUMENTS = ("guide", "notes", "draft")
CAPACITY = "capacity"
EXAMPLES = ("attention", "temperature", "jacobian", CAPACITY)
QUERIES = ((1.0, 0.0), (0.0, 1.0))
KEYS = ((1.0, 0.0), (0.0, 1.0), (1.0, 1.0))
VALUES = ((2.0, 0.0), (0.0, 2.0), (1.0, 1.0))
SCORES = (2.0, 1.0, 0.0)
LOGITS = (1.0, 2.0)
ROUNDING = 1e-6
"""Uncertainty of a computed number, in single precision."""

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
"""What each document prints, as it prints it, by (document, example) and (quantity, row)."""
PRINTED |= {(document, CAPACITY): capacity_claims.claimed() for document in DOCUMENTS}


@dataclass
class Config(contract.Config):
    """Options of the worked examples."""

    documents: list[str] = field(
        default_factory=lambda: list(DOCUMENTS),
        metadata=about(
            f"documents, any of {', '.join(DOCUMENTS)}",
            among=DOCUMENTS,
            nonempty=True,
            used_when=Use("each prints one of examples", lambda config: _all_printed(config, 0)),
        ),
    )
    examples: list[str] = field(
        default_factory=lambda: list(EXAMPLES),
        metadata=about(
            f"examples, any of {', '.join(EXAMPLES)}",
            among=EXAMPLES,
            nonempty=True,
            used_when=Use("each is printed in one of documents", lambda config: _all_printed(config, 1)),
        ),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not any((document, example) in PRINTED for document in self.documents for example in self.examples):
            raise ValueError(f"examples must be printed in one of {', '.join(self.documents)}, got {self.examples}")


def _all_printed(config: Config, place: int) -> bool:
    """Whether every document (0) or example (1) that is listed has a number to work again."""
    listed = (config.documents, config.examples)[place]
    return {point[("document", "example")[place]] for point in points(config)} == set(listed)


def cost(config: Config) -> Cost:
    """What all of it takes, from the options alone."""
    operations = 1e11 if CAPACITY in config.examples else 0.0
    return Cost(len(PRINTED) * 100 * len(config.documents) * len(config.examples), operations=operations)


def points(config: Config) -> list[dict]:
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


def science(config: Config) -> dict:
    """The seed, of what is random: the capacities."""
    return {"seed": config.seed}


def measure(config: Config, points: Sequence[dict]) -> Iterator[dict]:
    """The computed or measured value of every printed number, and whether it rounds to what is printed."""
    computed = {"attention": attention, "temperature": temperature, "jacobian": jacobian}
    values = {name: computed[name]() for name in computed if any(point["example"] == name for point in points)}
    for point in points:
        line = point["quantity"], point["row"]
        stderr = theory = None
        if point["example"] == CAPACITY:
            value, stderr, theory = capacity_claims.measured(config.seed, *line)
        else:
            value = values[point["example"]][line][point["column"] - 1]
        right = abs(value - point["printed"]) <= 0.5 * 10.0 ** -point["decimals"] + ROUNDING
        yield point | {"stderr": stderr, "theory": theory, "value": value, "right": right}


def attention() -> dict[tuple[str, str], list[float]]:
    """Scaled dot-product attention of the queries, read from a memory of the keys at β = 1/√d."""
    import jax.numpy as jnp

    from hopfield.memory import Memory

    memory = Memory.create(jnp.asarray(KEYS), len(KEYS[0]) ** -0.5, values=jnp.asarray(VALUES))
    found = {("1/sqrt(d)", ""): [float(memory.beta)]}
    for number, query in enumerate(jnp.asarray(QUERIES), start=1):
        scores = memory.beta * memory.scores(query)
        exponentials = jnp.exp(scores)
        row = {"S": scores, "exp S": exponentials, "Z": jnp.sum(exponentials)[None]}
        row |= {"A": memory.weights(query), "O": memory.read(query)}
        found |= {(quantity, f"query {number}"): list(map(float, values)) for quantity, values in row.items()}
    return found


def temperature() -> dict[tuple[str, str], list[float]]:
    """Gibbs weights of the scores and their entropy at the temperatures that are printed."""
    import jax.numpy as jnp

    from hopfield.observables import thermodynamics

    found = {}
    for _, row in PRINTED["guide", "temperature"]:
        weights = thermodynamics.gibbs(jnp.asarray(SCORES), 1 / float(row.removeprefix("T=")))
        found["p", row] = list(map(float, weights))
        found["H", row] = [float(thermodynamics.entropy(weights))]
    return found


def jacobian() -> dict[tuple[str, str], list[float]]:
    """Softmax and its Jacobian: weights and susceptibility of a memory whose patterns are the unit vectors at β = 1."""
    import jax.numpy as jnp

    from hopfield.memory import Memory
    from hopfield.observables import stability

    memory, logits = Memory.create(jnp.eye(len(LOGITS))), jnp.asarray(LOGITS)
    found = {("a", ""): list(map(float, memory.weights(logits)))}
    for number, row in enumerate(stability.susceptibility(memory, logits), start=1):
        found["J", f"row {number}"] = list(map(float, row))
    return found


def summarise(table: Table) -> dict:
    """How many printed numbers are right, corrections of the wrong ones, the examples line by line, the claims."""
    table = table.fillna({"row": ""})
    capacity = table[table["example"] == CAPACITY].drop_duplicates(["quantity", "row"])
    table = table[table["example"] != CAPACITY]
    wrong = table[~table["right"]]
    scalars: dict[str, Any] = {}
    for (example, document, row, quantity), line in table.groupby(
        ["example", "document", "row", "quantity"], sort=False
    ):
        name = f"{example} ({document}) {' '.join(filter(None, (quantity, row)))}"
        values = " ".join(f"{value:.4f}" for value in line["value"])
        printed = " ".join(f"{p:.{d}f}" for p, d in zip(line["printed"], line["decimals"], strict=True))
        scalars[name] = f"{values}  printed {printed}  {'right' if line['right'].all() else 'wrong'}"
    scalars |= {"numbers": len(table), "numbers_right": int(table["right"].sum()), "numbers_wrong": len(wrong)}
    scalars |= _claims(capacity)
    counts = table.groupby(["document", "example"], sort=False)["right"].agg(["sum", "size"])
    return {
        "examples": [
            {"document": key[0], "example": key[1], "right": int(row["sum"]), "printed": int(row["size"])}
            for key, row in counts.iterrows()
        ],
        "corrections": wrong[["document", "example", "quantity", "row", "column", "printed", "value"]].to_dict(
            "records"
        ),
        "claims": capacity[["quantity", "row", "printed", "value", "stderr", "theory", "right"]].to_dict("records"),
        "scalars": scalars,
    }


def _claims(capacity: Table) -> dict[str, float]:
    """Both claims by name, with what was measured, its error and theory."""
    words = {
        "M/N": "claim 0.14 N patterns, half are retained at M/N",
        "d ln M/dd": "claim e^(d/2) patterns, exponent",
    }
    scalars: dict[str, float] = {}
    for row in capacity[capacity["quantity"].isin(list(words))].to_dict("records"):
        name = f"{words[row['quantity']]}, {row['row']}"
        scalars |= {name: row["value"], f"{name}/stderr": row["stderr"], f"{name}, theory": row["theory"]}
    return scalars


def plot(table: Table, summary: dict) -> "Figure":
    """The examples as pictures with the printed numbers on them; crosses are wrong."""
    from experiments.worked_examples.figure import draw

    return draw(table)
