"""The directive `columns`: tables of what columns mean, from what the experiments declare.

`{columns} NAME` lists those of an experiment, `shared` those that several experiments mean alike, and `ambiguous` the
names under which two experiments mean different quantities.
"""

from collections import defaultdict

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList
from sphinx.application import Sphinx

from experiments.columns import SHARED, Column
from experiments.runner import registry

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


def table(columns: dict[str, Column]) -> list[str]:
    """Lines of a table of columns, which names the kind of values that are no real numbers."""
    rows = [f"| `{name}` | {each.meaning} | {each.unit} | {KINDS[each.kind]} |" for name, each in columns.items()]
    return ["| column | meaning | unit | kind |", "|---|---|---|---|", *rows]


def lines(name: str) -> list[str]:
    """Lines in Markdown of what the directive is asked for."""
    if name == "shared":
        return table(dict(SHARED))
    if name == "ambiguous":
        heads = ["| column | of | meaning | unit | kind |", "|---|---|---|---|---|"]
        meanings: dict[tuple[str, Column], list[str]] = defaultdict(list)
        for column, where in ambiguous().items():
            for experiment, about in where.items():
                meanings[column, about].append(experiment)
        return heads + [
            f"| `{column}` | {', '.join(of)} | {about.meaning} | {about.unit} | {KINDS[about.kind]} |"
            for (column, about), of in meanings.items()
        ]
    columns = declared(name)
    common = [f"`{each}`" for each, column in columns.items() if SHARED.get(each) == column]
    own = {each: column for each, column in columns.items() if SHARED.get(each) != column}
    return [*table(own), *(["", f"As in several experiments: {', '.join(common)}."] if common else [])]


class Columns(Directive):
    """Directive with one argument, the name of an experiment, `shared` or `ambiguous`."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The nodes of the table."""
        node = nodes.container()
        self.state.nested_parse(StringList(lines(self.arguments[0])), self.content_offset, node)
        return node.children


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("columns", Columns)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
