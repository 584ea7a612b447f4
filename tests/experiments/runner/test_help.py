"""The text of `--help`: the values that will be used, in lines of the terminal's width."""

import dataclasses
import re
from collections.abc import Callable

from experiments.capacity.config import Scale
from experiments.system import files


def test_help_tells_the_values_of_single_memories(command: Callable) -> None:
    text = " ".join(command("conf=capacity", "--help").out.split())
    assert "samples=null 40 for classical, 20 for dense:3 and exponential and modern;" in text
    chosen = " ".join(command("conf=capacity", "memories=[classical]", "--help").out.split())
    assert "samples=null 40 for classical; a value" in chosen
    assert "samples=7 a value" in " ".join(command("conf=capacity", "samples=7", "--help").out.split())


def test_configurations_stand_under_the_heading_of_their_group(command: Callable) -> None:
    parts = {part.splitlines()[0]: part for part in command("--help").out.split("\n\n") if "\n  conf=" in part}
    assert list(parts) == [
        "Capacity:", "Retrieval and dynamics:", "Attention and layers:", "Checks and costs:", "Further ones:"
    ]  # fmt: skip
    for name, heading in (("capacity_images", "Capacity"), ("gradients", "Checks and costs"), ("toy", "Further ones")):
        assert f"\n  conf={name} " in parts[f"{heading}:"]
        assert "@" not in parts[f"{heading}:"]


def test_what_null_stands_for_in_a_capacity_run_is_what_it_uses() -> None:
    told = {}
    for entry in dataclasses.fields(Scale):
        found = re.search(r"\(null: ([^)]*)\)$", entry.metadata["help"])
        if found and entry.metadata["smoke"] is not None and entry.name != "between":  # else what suits the memory
            told[entry.name] = found[1].replace(" and ", ",")
    smoke = {entry.name: entry.metadata["smoke"] for entry in dataclasses.fields(Scale)}
    usual = {name: files.encode(smoke[name]).strip('[]"') for name in told}
    assert told == usual
    assert len(told) == 4
