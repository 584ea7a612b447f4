"""Summary of the worked examples: how many printed numbers are right, corrections of the others, claims of capacity."""

from typing import Any

from experiments.contract import Table
from experiments.statistics.columns import headline
from experiments.worked_examples.printed import CAPACITY


def summarise(table: Table) -> dict:
    """Count of printed numbers that are right, corrections of the wrong ones, the examples line by line, the claims."""
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
        scalars |= headline(name, row["value"], row["stderr"], theory=row["theory"])
    return scalars
