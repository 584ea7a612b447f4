"""Numbers that the results page quotes, held against the summaries they come from.

`python scripts/quotes.py "conf=NAME [option=value ...]" RUN [PATH ...]` looks for every number with an error that
docs/results.md gives for this command in RUN/summary.json, and keeps it, unrounded, in docs/results.json, which the
tests compare the page with. Numbers without an error are kept by their paths in the summary, as /results/3/steps, from
then on.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from experiments.contract import InputError
from experiments.runner import boundary

ROOT = Path(__file__).resolve().parent.parent
PAGE, KEPT = ROOT / "docs" / "results.md", ROOT / "docs" / "results.json"
COMMAND = re.compile(r"`(conf=[^`]+)`")
PLAIN = re.compile(r"(?<![\w.,(])[-−]?\d+(?:\.(\d+))?(?![\w(]|[.,]\d)")
NUMBER = re.compile(r"([-−]?\d+(?:\.(\d+))?)\((\d+)\)( ?%)?")


class Quote(NamedTuple):
    """A number with its error as printed, and the commands that it may come from."""

    text: str
    commands: tuple[str, ...]


def quotes(page: str) -> list[Quote]:
    """Every number with an error, with the commands of its row, its paragraph, or the last ones before it."""
    found: list[Quote] = []
    before: tuple[str, ...] = ()
    for block in page.split("\n\n"):
        table = block.startswith("|")
        before = before if table else tuple(COMMAND.findall(block)) or before
        for part in block.splitlines() if table else [block]:
            commands = tuple(COMMAND.findall(part)) or before
            found += [Quote(match[0], commands) for match in NUMBER.finditer(part)]
    return found


def is_printed_as(text: str, value: float, error: float) -> bool:
    """True if a number and its error round to the printed ones."""
    match = NUMBER.fullmatch(text)
    if match is None:
        return False
    scale, digits = (100 if match[4] else 1), len(match[2] or "")
    printed = f"{value * scale:.{digits}f}({error * scale * 10**digits:.0f})"
    return printed == f"{match[1].replace('−', '-')}({match[3]})"


def numbers_with_error(summary: Any, path: str = "") -> Iterator[tuple[str, float, float]]:
    """Numbers that have an error, by path: `x` with `x/stderr`, `x_stderr` or, right after it, `stderr`."""
    if isinstance(summary, list):
        for index, entry in enumerate(summary):
            yield from numbers_with_error(entry, f"{path}/{index}")
    elif isinstance(summary, Mapping):
        before = ""
        for name, value in summary.items():
            owner = before if name == "stderr" else re.sub(r"[/_]stderr$", "", name)
            if owner != name and isinstance(value, float) and isinstance(summary.get(owner), float):
                yield f"{path}/{owner}", summary[owner], value
            before = name
            yield from numbers_with_error(value, f"{path}/{name}")


def numbers_without_error(page: str, command: str) -> list[tuple[float, int]]:
    """Numbers without an error in the paragraphs that name a command, with their decimals."""
    blocks = [block for block in page.split("\n\n") if command in COMMAND.findall(block)]
    found = [match for block in blocks for match in PLAIN.finditer(block)]
    return [(float(match[0].replace("−", "-")), len(match[1] or "")) for match in found]


def is_quoted(page: str, command: str, value: float) -> bool:
    """True if a paragraph of a command has a value, rounded as it prints it."""
    return any(round(value, decimals) == number for number, decimals in numbers_without_error(page, command))


def _number_at(summary: Any, path: str) -> float:
    for name in path.strip("/").split("/"):
        summary = summary[int(name)] if isinstance(summary, list) else summary[name]
    return float(summary)


def keep(command: str, run: Path, paths: Sequence[str] = ()) -> list[str]:
    """Keep the numbers that the page quotes for a command. Returns the numbers that its summary or the page lacks.

    Args:
        command: as the page names it.
        run: the folder of its results.
        paths: of numbers without an error, beside those kept so far.
    """
    wanted = [quote.text for quote in quotes(PAGE.read_text(encoding="utf-8")) if command in quote.commands]
    try:
        summary = json.loads((run / "summary.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"RUN must hold a readable summary.json, got {run} ({error})") from None
    there = list(numbers_with_error(summary))
    chosen = {text: [entry for entry in there if is_printed_as(text, *entry[1:])] for text in wanted}
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    bare = [*(path for path, value in kept.get(command, {}).items() if isinstance(value, float)), *paths]
    kept[command] = {path: [value, error] for entries in chosen.values() for path, value, error in entries[:1]}
    kept[command] |= {path: _number_at(summary, path) for path in bare}
    kept = {command: numbers for command, numbers in sorted(kept.items()) if numbers}
    KEPT.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    lost = [f"{path} ({kept[command][path]:.6g})" for path in bare if not is_quoted(page, command, kept[command][path])]
    return [text for text, entries in chosen.items() if not entries] + lost


def tell(command: str, run: Path, paths: Sequence[str] = ()) -> None:
    """Keep the numbers of a command and say which of them its run, or the page, does not have."""
    for text in keep(command, run, paths):
        print(f"{text} is not among the numbers of {command}")


def main(argv: list[str]) -> int:
    """Keep the numbers of one command."""
    if len(argv) < 2:
        raise InputError(f'quotes.py must be followed by "conf=NAME ..." and a run\'s folder, got {" ".join(argv)}')
    tell(argv[0], Path(argv[1]), argv[2:])
    return 0


if __name__ == "__main__":
    sys.exit(boundary.run_command(lambda: main(sys.argv[1:]), final=True))
