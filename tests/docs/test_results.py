"""Numbers in the results are those measured, or stand with the command and month that measured them."""

import json
import re
from pathlib import Path

import pytest

from scripts.quotes import KEPT, PAGE, Quote, is_printed_as, is_quoted, quotes

ROOT = Path(__file__).resolve().parents[2]
TEXT = PAGE.read_text(encoding="utf-8")
KEPT_NUMBERS: dict[str, dict[str, list[float] | float]] = json.loads(KEPT.read_text(encoding="utf-8"))
SAVED = {
    command: {path: pair for path, pair in numbers.items() if isinstance(pair, list)}
    for command, numbers in KEPT_NUMBERS.items()
}
BARE = [
    (command, path, value)
    for command, numbers in KEPT_NUMBERS.items()
    for path, value in numbers.items()
    if isinstance(value, float)
]
QUOTES = quotes(TEXT)


@pytest.mark.parametrize("command", SAVED)
def test_every_quoted_number_of_a_saved_command_is_what_it_measured(command: str) -> None:
    mine = [quote for quote in QUOTES if command in quote.commands and set(quote.commands) <= SAVED.keys()]
    for quote in mine:
        numbers = [pair for name in quote.commands for pair in SAVED[name].values()]
        assert any(is_printed_as(quote.text, *pair) for pair in numbers), quote
    assert all(any(is_printed_as(quote.text, *pair) for quote in QUOTES) for pair in SAVED[command].values())


@pytest.mark.parametrize(("command", "path", "value"), BARE)
def test_a_number_without_an_error_is_what_was_measured(command: str, path: str, value: float) -> None:
    assert is_quoted(TEXT, command, value), f"{value:.6g}"


def test_every_number_with_an_error_stands_with_a_command() -> None:
    assert len(QUOTES) > 100
    assert re.search(r"measured in \w+ 20\d\d", PAGE.read_text(encoding="utf-8"))
    for quote in QUOTES:
        assert quote.commands, quote.text
        names = [command.split()[0].removeprefix("conf=") for command in quote.commands]
        assert all((ROOT / "conf" / f"{name}.yaml").is_file() for name in names), quote


def test_numbers_belong_to_the_command_of_their_row_or_paragraph() -> None:
    page = "By 0.12(3) (`conf=a seed=1`)\n\n| −1.5(20) | `conf=b` |\n| 7(1) % | |\n\nAnd 3.0(1)."
    assert quotes(page) == [
        Quote("0.12(3)", ("conf=a seed=1",)),
        Quote("−1.5(20)", ("conf=b",)),
        Quote("7(1) %", ("conf=a seed=1",)),
        Quote("3.0(1)", ("conf=a seed=1",)),
    ]
    assert is_printed_as("−1.5(20)", -1.52, 1.96)
    assert is_printed_as("7(1) %", 0.0712, 0.0149)
    assert not is_printed_as("0.1648(3)", 0.164843, 0.000249)


def test_every_number_of_a_paper_stands_in_the_results_or_at_the_head_of_its_configuration() -> None:
    rows = [line for line in (ROOT / "docs/papers.md").read_text(encoding="utf-8").splitlines() if "`conf=" in line]
    assert len(rows) >= 30
    for row in rows:
        name = re.findall(r"`conf=(\w+)`", row)[0]
        head = (ROOT / "conf" / f"{name}.yaml").read_text(encoding="utf-8")
        for number in re.findall(r"[−\d.]+\(\d+\)|[\d.]+ ± [\d.]+", row):
            assert number.replace("−", "-") in f"{TEXT}{head}".replace("−", "-"), (number, row)
