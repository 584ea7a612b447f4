"""The text of `--help`: the values that will be used, in lines of the terminal's width."""

import dataclasses
import re

from experiments.capacity.config import Scale
from experiments.system import files


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
