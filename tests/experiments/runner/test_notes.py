"""Notes on what was asked for and is not measured as such belong to a run, and are said when it measures."""

from pathlib import Path

from experiments.runner import compose, planning, session


def test_a_plan_knows_which_of_its_own_loads_are_one_number(tmp_path: Path) -> None:
    words = [
        "conf=capacity",
        "memories=[classical]",
        "neurons=[20]",
        f"output={tmp_path / 'out'}",
        "wandb.mode=disabled",
    ]
    with session.opened():
        both = [compose.jobs([*words, f"loads={loads}"], sweep=False)[0] for loads in ("[0.1,0.12]", "[0.1,0.3]")]
        first, second = map(planning.plan, both)
    assert first.notes == ("note: loads 0.1, 0.12 of classical at N=20 are all M=3: measured once",)
    assert second.notes == ()
