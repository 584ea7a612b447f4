"""Prose of the tree: how often its docstrings, comments and pages use words that make a sentence hard to solve.

    python scripts/prose.py [FOLDER ...]     counts by word and by folder; of one folder, every place

No gate: a count says where to read, and whether a rewrite helped.
"""

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACES = ("hopfield", "experiments", "conf", "docs", "scripts", "README.md", "CONTRIBUTING.md")
WORDS = (
    "those of",
    "that of",
    "of which",
    "such a",
    "such an",
    "what is left",
    "in place of",
    "as far as",
    "as of",
    "where it",
)
OPENINGS = ("Whether", "Where", "What", "Of", "It ", "Its ", "So ", "Such", "Those", "That ")
"""First words of a docstring that name no thing."""


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Line and text of every docstring of a Python file, or the whole page."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        yield 1, text
        return
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        for part in body if isinstance(body, list) else []:
            if (
                isinstance(part, ast.Expr)
                and isinstance(part.value, ast.Constant)
                and isinstance(part.value.value, str)
            ):
                yield part.lineno, part.value.value


def found(path: Path) -> Iterator[tuple[int, str]]:
    """Line and word of every place of a file."""
    for first, text in texts(path):
        for number, line in enumerate(text.splitlines()):
            yield from ((first + number, word) for word in WORDS if re.search(rf"\b{word}\b", line, re.IGNORECASE))
        if path.suffix == ".py" and text.startswith(OPENINGS):
            yield first, f"begins with {text.split()[0]}"


def main(places: list[str]) -> None:
    """Print the counts, or the places of the folders that are named."""
    totals: dict[str, Counter] = {}
    for place in places or PLACES:
        files = [ROOT / place] if (ROOT / place).is_file() else sorted((ROOT / place).rglob("*"))
        for path in files:
            if path.suffix in (".py", ".md", ".yaml") and not {"_build", "node_modules", "reference"} & set(path.parts):
                for line, word in found(path):
                    totals.setdefault(word, Counter())[place] += 1
                    if places:
                        print(f"{path.relative_to(ROOT)}:{line}: {word}")
    for word, counts in sorted(totals.items(), key=lambda item: -item[1].total()):
        print(f"{counts.total():5}  {word:20} " + ", ".join(f"{place} {count}" for place, count in counts.items()))
    print(f"{sum(counts.total() for counts in totals.values()):5}  together")


if __name__ == "__main__":
    main(sys.argv[1:])
