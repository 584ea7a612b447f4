"""Compiler options of a run of seconds: the same spins, chosen by the run as a whole, never one that XLA lacks."""

import dataclasses

import pytest

from experiments.contract import Config
from experiments.shared import compiling, hardware
from tests.experiments.shared.test_hardware import AFTER, BESIDE, check_alike, measured

BRIEF = dataclasses.replace(AFTER, brief=True)


@pytest.fixture
def free_choice(monkeypatch):
    """The environment of a person who has set no flags of XLA, as the tests do."""
    monkeypatch.delenv("XLA_FLAGS")
    compiling._known.cache_clear()
    yield
    compiling._known.cache_clear()


def test_a_run_of_seconds_has_the_rows_of_a_long_one_up_to_rounding(free_choice):
    chosen = compiling.LESS | compiling.PLAIN
    assert compiling.options(BRIEF, 1.0) == {
        name: chosen[name] for name in chosen if compiling._known(name, chosen[name])
    }
    assert "xla_backend_optimization_level" in compiling.options(BRIEF, 1.0)
    check_alike(measured(BRIEF), measured(AFTER))


def test_options_are_chosen_by_the_whole_run_and_not_by_what_is_left():
    config = Config(device="cpu")
    assert not hardware.choose(config, 2 * hardware.BRIEF, left=1e-6).brief
    assert hardware.choose(config, hardware.BRIEF, left=1e-6) == hardware.choose(config, hardware.BRIEF)


def test_long_runs_accelerators_and_flags_of_a_person_keep_what_xla_does(free_choice, monkeypatch):
    assert compiling.options(AFTER, 1.0) == compiling.options(dataclasses.replace(BESIDE, brief=True), 1.0) == {}
    monkeypatch.setenv("XLA_FLAGS", "--xla_backend_optimization_level=3")
    assert "xla_backend_optimization_level" not in compiling.options(BRIEF, 1.0)


def test_an_option_that_this_version_of_xla_lacks_is_left_out(free_choice, monkeypatch):
    monkeypatch.setattr(compiling, "PLAIN", {"xla_cpu_of_another_version": True})
    assert compiling.options(BRIEF, 1.0) == compiling.LESS
