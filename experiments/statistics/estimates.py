"""Estimates of a table of means: a row for each number, as `contract.Summary` takes them."""

from collections.abc import Mapping, Sequence
from typing import Any

from experiments.contract import Row, Table

BESIDE = ("stderr", "low", "high", "theory", "limit", "samples")


def tidy(frame: Table, of: Sequence[str], quantities: Mapping[str, str], **about: Any) -> list[Row]:
    """A row for every number of some columns of a table.

    Args:
        frame: rows; beside a column `x` may stand `x_stderr`, `x_low`, `x_high`, `x_theory` and `x_limit`, beside
            `mean` the same without `x`, and `clusters`, the independent draws behind it.
        of: columns that tell the numbers apart.
        quantities: words for each column of numbers; columns that are not there are left out.
        about: what is the same for all of them, as `kind="exact"` or `headline=True`.
    """
    rows = []
    for entry in frame.to_dict("records"):
        for name, quantity in ((name, words) for name, words in quantities.items() if name in entry):
            row = {"quantity": quantity, **{column: entry[column] for column in of}, "value": entry[name]}
            for end in BESIDE:
                if (beside := end if name == "mean" else f"{name}_{end}") in entry:
                    row[end] = entry[beside]
            rows.append(row | ({"samples": entry["clusters"]} if "clusters" in entry else {}) | about)
    return rows
