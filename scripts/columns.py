"""Tables of docs/howto/tables.md: what columns mean, from what the experiments declare: `python scripts/columns.py`.

A comment `columns NAME` stands above the table of an experiment, `columns shared` above the columns that several
mean alike, and `columns ambiguous` above names under which two experiments mean different quantities.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

from experiments.columns import SHARED, Column
from experiments.runner import registry

PAGE = Path(__file__).resolve().parent.parent / "docs" / "howto" / "tables.md"
_TABLE = re.compile(r"(<!-- columns (\w+) -->).*?<!-- end of columns -->", re.DOTALL)
KINDS = {float: "", int: "whole number", str: "text", bool: "true or false"}
"""Kinds of values in words; real numbers, the usual ones, have none."""


def declared(name: str) -> dict[str, Column]:
    """The columns that an experiment declares."""
    return dict(registry.columns(name) or {})


def ambiguous() -> dict[str, dict[str, Column]]:
    """Columns of several meanings: by name, what each experiment means."""
    found: dict[str, dict[str, Column]] = defaultdict(dict)
    for experiment in registry.names():
        for name, column in declared(experiment).items():
            found[name][experiment] = column
    return {name: where for name, where in sorted(found.items()) if len(set(where.values())) > 1}


def _cells(column: Column) -> str:
    return " | ".join(text.replace("|", r"\|") for text in (column.meaning, column.unit, KINDS[column.kind]))


def table(columns: dict[str, Column]) -> list[str]:
    """Lines of a table of columns, which names the kind of values that are no real numbers."""
    rows = [f"| `{name}` | {_cells(each)} |" for name, each in columns.items()]
    return ["| column | meaning | unit | kind |", "|---|---|---|---|", *rows]


def lines(name: str) -> list[str]:
    """Lines in Markdown below the comment of a name."""
    if name == "shared":
        return table(dict(SHARED))
    if name == "ambiguous":
        heads = ["| column | of | meaning | unit | kind |", "|---|---|---|---|---|"]
        meanings: dict[tuple[str, Column], list[str]] = defaultdict(list)
        for column, where in ambiguous().items():
            for experiment, about in where.items():
                meanings[column, about].append(experiment)
        return heads + [
            f"| `{column}` | {', '.join(of)} | {_cells(about)} |" for (column, about), of in meanings.items()
        ]
    columns = declared(name)
    common = [f"`{each}`" for each, column in columns.items() if SHARED.get(each) == column]
    own = {each: column for each, column in columns.items() if SHARED.get(each) != column}
    return [*table(own), *(["", f"As in several experiments: {', '.join(common)}."] if common else [])]


def written(page: str) -> str:
    """A page with every table of columns anew."""
    made = lambda found: "\n".join([found[1], "", *lines(found[2]), "", "<!-- end of columns -->"])
    return _TABLE.sub(made, page)


def main() -> int:
    """Write the tables of the page."""
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
