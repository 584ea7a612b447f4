"""A former name of an option is refused, in a word and in a file, with the present one named."""

from collections.abc import Callable
from pathlib import Path

import pytest

FORMER = {
    "capacity probes=3": "probes: queries",
    "capacity stored=[3] loads=null": "stored: patterns",
    "capacity sources=[digits]": "sources: ensembles",
    "capacity per_memory.dense:3.probes=3": "per_memory.dense:3.probes: per_memory.dense:3.queries",
    "capacity +per_memory={modern:{stored:[3]}}": "per_memory.modern.stored: per_memory.modern.patterns",
    "capacity_asymptotic trials=3": "trials: sampled_queries",
    "capacity_asymptotic draws=3": "draws: samples",
    "retrieval betas=[3]": "betas: kappas",
    "retrieval part.few.probes=3": "part.few.probes: part.few.queries",
    "phase_diagram curves.probes=3": "curves.probes: curves.queries",
    "optimisers trials=3": "trials: search_trials",
    "training trials=3": "trials: seeds",
    "separation sources=[digits]": "sources: ensembles",
    "efficient_attention repetitions=3": "repetitions: repeats",
    "novelty kappa=[3]": "kappa: kappas",
    "retrieval_story beta=[3]": "beta: betas",
    "mqar learning_rates=[0.1]": "learning_rates: learning_rate",
    "capacity_learned updates=3": "updates: max_steps",
    "entropy rise=0.1": "rise: least_rise",
    "capacity wandb.mode=disabled -m probes=3,4": "probes: queries",
}
"""Lines with the name that an option had once, and that name beside its present one."""


@pytest.mark.parametrize("line", FORMER)
def test_a_former_name_of_an_option_is_refused_with_the_present_one(
    command: Callable, tmp_path: Path, line: str
) -> None:
    outcome = command(*f"conf={line}".split(" "))
    old, new = FORMER[line].split(": ")
    assert outcome.err == f"error: {old} is not an option of conf={line.split()[0]}: it is called {new} now\n"
    assert (outcome.code, outcome.out, list(tmp_path.iterdir())) == (2, "", [])


def test_a_former_name_in_a_file_is_refused_with_the_present_one(command: Callable, tmp_path: Path) -> None:
    (tmp_path / "own/conf").mkdir(parents=True)
    (tmp_path / "own/conf/mine.yaml").write_text(
        "# @package _global_\ndefaults: [/schema/capacity, _self_]\nprobes: 3\n", encoding="utf-8"
    )
    outcome = command("conf=mine", "--config-dir", "own")
    assert "probes is not an option of conf=mine: it is called queries now" in outcome.err
    assert "mine.yaml line 3" in outcome.err
