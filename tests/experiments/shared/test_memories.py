"""Memories from outside the package whose code is not run: what a summary that is made again knows of them."""

import pandas
import pytest

from experiments.contract import InputError, Summary, Table, records
from experiments.shared import memories

OWN = "./gone.py:own"
KEPT = {OWN: {"symbol": "M / N", "ensemble": "spins", "integer_fields": False}}
ABOUT = {"quantity": "critical load", "memory": OWN, "neurons": 20}


def summarise(table: Table) -> Summary:
    (memory,) = table["memory"].unique()
    assert memories.find(memory).theory.critical_load("retained") is None
    symbols = {memory: memories.find(memory).scaling.symbol}
    return Summary([ABOUT | {"value": table["load"].mean()}], more={"symbols": symbols})


def test_a_summary_made_again_takes_theory_from_the_runs_and_runs_no_code() -> None:
    known = {"limit": 0.14, "kind": "exact"}
    line = {"quantity": "limit", "memory": OWN, "x": [0.14], "y": []}
    runs = [Summary([ABOUT | known | {"value": load}], [line], more={memories.MEMORIES: KEPT}) for load in (0.1, 0.2)]
    table = pandas.DataFrame({"memory": [OWN] * 2, "load": [0.1, 0.2]})
    anew = memories.again(summarise, table, runs)
    (row,) = records(anew.estimates)
    assert row == ABOUT | known | {"value": pytest.approx(0.15), "headline": False}
    assert records(anew.lines) == [line]
    assert anew.more == {"symbols": {OWN: "M / N"}, memories.MEMORIES: KEPT}
    with pytest.raises(InputError, match=r"memory must be one that summary\.json keeps, got \./other\.py:own"):
        memories.again(summarise, table.assign(memory="./other.py:own"), runs)


def test_facts_are_kept_of_memories_from_outside_alone() -> None:
    assert memories.kept_of(pandas.DataFrame({"memory": ["dense:4", "classical", "spins"]})) == {}
    assert memories.kept_of(pandas.DataFrame({"memory": [3.0, 5.0]})) == {}
