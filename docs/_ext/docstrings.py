"""Docstrings of the library as reStructuredText: their prose is plain text with `code`, formulas stand indented."""

import importlib
import inspect
import re

from sphinx.application import Sphinx

TITLES = ("Args", "Returns", "Raises", "Yields", "Attributes")
ITEM = re.compile(r"^(\s+)([\w`][\w`, *.]*?)( \([^)]*\))?: +(.*)$")


def prose(line: str) -> str:
    """One line of plain text: `code` as code, every other character as it is."""
    parts = re.split(r"(`+[^`]+`+)", line)
    return "".join(f"``{part.strip('`')}``" if part.startswith("`") else _escaped(part) for part in parts)


def _escaped(text: str) -> str:
    return re.sub(r"([\\*|_])", r"\\\1", text).replace("``", "")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _blocks(lines: list[str]) -> list[list[str]]:
    """Paragraphs, split at blank lines and where indentation changes from prose to formula or back."""
    blocks: list[list[str]] = []
    for line in lines:
        if not line.strip():
            blocks.append([])
        elif not blocks or not blocks[-1] or (_indent(line) == 0) != (_indent(blocks[-1][0]) == 0):
            blocks.append([line])
        else:
            blocks[-1].append(line)
    return [block for block in blocks if block]


def _section(title: str, lines: list[str]) -> list[str]:
    """A list of `name: text` items under a title; lines that are no item go on with the one before."""
    found, base = (
        [f"**{title.replace('Args', 'Arguments')}**", ""],
        min(map(_indent, filter(str.strip, lines)), default=0),
    )
    for line in filter(str.strip, lines):
        item = ITEM.match(line) if _indent(line) == base else None
        if item:
            found.append(f"- ``{item[2].strip('`')}``{prose(item[3] or '')}: {prose(item[4])}")
        elif _indent(line) == base:
            found.append(f"- {prose(line.strip())}")
        else:
            found.append(f"  {prose(line.strip())}")
    return [*found, ""]


def restructured(lines: list[str]) -> list[str]:
    """The whole docstring in reStructuredText."""
    found: list[str] = []
    rest = list(lines)
    while rest:
        title = rest[0].strip().rstrip(":")
        if _indent(rest[0]) == 0 and rest[0].rstrip().endswith(":") and title in TITLES:
            end = next((k for k, line in enumerate(rest[1:], 1) if line.strip() and _indent(line) == 0), len(rest))
            found += _section(title, rest[1:end])
        else:
            starts = [k for k, line in enumerate(rest) if k and line.rstrip(":") in TITLES]
            end = starts[0] if starts else len(rest)
            found += _plain(rest[:end])
        rest = rest[end:]
    return found


def _plain(lines: list[str]) -> list[str]:
    found: list[str] = []
    for block in _blocks(lines):
        if block[0].startswith(">>>"):
            found += [*block, ""]
        elif _indent(block[0]):
            found += [
                ".. code-block:: pycon" if block[0].lstrip().startswith(">>>") else "::",
                "",
                *("    " + line for line in block),
                "",
            ]
        else:
            found += [*map(prose, block), ""]
    return found


def _field(name: str) -> list[str]:
    """Type, with its shape, and comment of a named tuple's field, which Python knows only by a number."""
    path, _, field = name.rpartition(".")
    module, _, cls = path.rpartition(".")
    source = inspect.getsource(getattr(importlib.import_module(module), cls))
    found = re.search(rf"^ +{field}: ([^#=\n]+?)(?: = [^#\n]+?)? *(?:# *(.*))?$", source, re.MULTILINE)
    return [] if found is None else [f"``{found[1]}``" + (f": {prose(found[2])}" if found[2] else "")]


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx extension."""

    def process(app, what, name, obj, options, lines: list[str]) -> None:
        alias = what in ("property", "attribute") and lines[:1] and lines[0].startswith("Alias for field number")
        lines[:] = _field(name) if alias else restructured(lines)

    app.connect("autodoc-process-docstring", process)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
