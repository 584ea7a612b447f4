"""An option that does nothing for what else is chosen is refused; two names of one thing are one."""

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from experiments import contract
from experiments.bounds import includes
from experiments.contract import option
from experiments.runner import idle

IDLE = [
    ("capacity memories=[modern] parity=even", "parity must be left out unless a memory with loads has fields that"),
    ("capacity clamp=true", "clamp must be left out unless a start of corruption is flipped or hidden, got True"),
    ("capacity memories=[classical] per_memory.modern.samples=2", "must belong to one of the memories measured, class"),
    ("separation dynamics=[single] max_steps=5", "max_steps must be left out unless dynamics has one of iterated"),
    ("training size=100", "size must be left out unless one of tasks is drawn"),
    ("optimisers rules=[adam] natural_steps=3", "natural_steps must be left out unless rules has one of cg"),
    ("phase_diagram memories=[classical] modern.neurons=14", "modern.neurons must be left out unless memories has one"),
    ("mqar mixers=[linear] update_steps=2", "update_steps must be left out unless mixers has one of hopfield"),
    ("capacity memories=[dense:2,classical]", "got 'dense:2' and 'classical', which are the same"),
    ("separation separations=[max,top_k:1]", "got 'max' and 'top_k:1', which are the same"),
]


@pytest.mark.parametrize(("words", "sentence"), IDLE, ids=[words for words, _ in IDLE])
def test_an_option_that_would_do_nothing_is_refused(command: Callable, words: str, sentence: str) -> None:
    outcome = command(*f"conf={words} dry=true".split())
    assert (outcome.code, outcome.out) == (2, "")
    assert sentence in outcome.err
    assert outcome.err.count("\n") == 1


def test_only_what_differs_from_its_default_or_is_said_and_asks_for_something_is_idle() -> None:
    @dataclass
    class Config(contract.Config):
        kinds: list[str] = field(default_factory=lambda: ["a"])
        number: int = option(3, used_when=includes("kinds", "b"))
        numbers: list[int] = option([1], used_when=includes("kinds", "b"))

    assert dict(idle.options(Config(), None)) == dict(idle.options(Config(numbers=[]), None)) == {}
    assert dict(idle.options(Config(number=4, kinds=["a", "b"]), None)) == {}
    sentence = "number must be left out unless kinds has one of b, got 4"
    assert dict(idle.options(Config(number=4), None)) == {("number",): sentence}
    assert dict(idle.options(Config(numbers=[]), None, [("kinds",), ("numbers",)])) == {}
    assert dict(idle.options(Config(), None, [("number",)])) == {("number",): sentence.replace("got 4", "got 3")}
