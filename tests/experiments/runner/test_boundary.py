"""The boundary of the commands: one line whatever happens, a traceback where said, an end when asked for."""

import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from experiments import contract
from experiments.runner import registry


@pytest.mark.parametrize("stage", ["measure", "summarise", "panels"])
def test_whatever_an_experiment_raises_is_one_line_that_names_the_traceback(
    command: Callable, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, stage: str
) -> None:
    def broken(*arguments: object) -> None:
        raise LookupError("of all\nthings")

    monkeypatch.setattr(registry.load("toy"), stage, broken)
    outcome = command("conf=toy", "output=out")
    kept = 0 if stage == "measure" else 16
    assert outcome.code == 1
    assert outcome.err == (
        f"error: the run stopped (LookupError: of all things): {kept} of 16 points are kept in {tmp_path}/out; the same"
        f" command goes on from there; the traceback is in {tmp_path}/out/traceback.log\n"
    )
    assert "in broken\n" in (tmp_path / "out/traceback.log").read_text()
    monkeypatch.setenv("HYDRA_FULL_ERROR", "1")
    with pytest.raises(contract.StoppedError, match="of all things") as error:
        command("conf=toy", "output=out")
    assert isinstance(error.value.__cause__, LookupError)


def process(program: str, folder: Path) -> subprocess.Popen:
    """A command of a few lines that is guarded, as a process of its own; it prints a line when it has begun."""
    lines = "import signal, sys, time\nfrom experiments.runner import boundary\n"
    lines += f"def work():\n{textwrap.indent(program, '    ')}\n"
    lines += "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    lines += "sys.exit(boundary.run_command(work, final=True))\n"
    return subprocess.Popen([sys.executable, "-c", lines], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


BEGUN = "print('begun', flush=True)\n"
PROGRAMS = {
    "sleep": BEGUN + "time.sleep(60)",
    "cleanup": BEGUN + "try:\n    time.sleep(60)\nfinally:\n    time.sleep(60)",
    "thread": "import threading\nthreading.Thread(target=time.sleep, args=(60,)).start()\n" + BEGUN + "time.sleep(60)",
    "finaliser": "class Slow:\n    def __del__(self):\n        time.sleep(0.5)\n"
    + BEGUN
    + "while True:\n    Slow()\n    boundary.stop_if_asked()",
    # Compiled code that never looks at signals.
    "compiled": BEGUN + "import hashlib\nhashlib.pbkdf2_hmac('sha256', b'', b'', 2**31 - 1)",
}  # fmt: skip


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize(
    ("program", "twice"),
    [("sleep", False), ("cleanup", True), ("thread", False), ("compiled", True), ("finaliser", False)],
)
def test_an_interruption_is_one_line_and_an_exit_code(
    tmp_path: Path, program: str, twice: bool, number: int, code: int
) -> None:
    running = process(PROGRAMS[program], tmp_path)
    assert running.stdout is not None
    assert running.stdout.readline() == "begun\n"
    began = time.monotonic()
    for _ in range(1 + twice):
        time.sleep(0.2)
        os.kill(running.pid, number)
    _, err = running.communicate(timeout=20)
    assert time.monotonic() - began < 10
    assert running.returncode == code
    assert re.fullmatch(r"interrupted[^\n]*\n", err)


def test_a_warning_is_one_line_without_the_code_behind_it(tmp_path: Path) -> None:
    program = (
        "import warnings; from experiments.runner import boundary\n"
        "boundary.run_command(lambda: warnings.warn('of two\\nlines') or 0, final=True)"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.stderr == "warning: of two lines\n"
