"""The whole capacity experiment, from the start of the process to its figure: with nothing compiled, and again."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import MEBIBYTE, BenchmarkError, Case, Run, Side

LONG = True
ROOT = Path(__file__).resolve().parents[2]
SMALL = ("memories=[classical]", "neurons=[50,100]", "samples=4")


def case(size: str, workspace: Path) -> Case:
    """The command with an empty cache directory, then with the one that this has left."""
    options = SMALL if size == "small" else ()

    def command(name: str) -> Callable[[Any, Run], bytes]:
        return lambda _, run: table(workspace / name, workspace / "cache", options, run)

    return Case(
        what="hopfield conf=capacity, the whole process, with a filled and with an empty cache.",
        shapes={},
        draw=lambda number: number,
        ours=Side("filled cache", command("filled")),
        theirs=Side("empty cache", command("empty")),
        check=same_tables,
        once=True,
    )


def table(output: Path, cache: Path, options: tuple[str, ...], run: Run) -> bytes:
    """Table that the command writes in a separate process. Raises BenchmarkError if it fails."""
    words = ("-m", "experiments.run", "conf=capacity", "wandb.mode=disabled", f"output={output}", *options)
    environment = {name: value for name, value in os.environ.items() if name != "JAX_COMPILATION_CACHE_DIR"}
    environment["XDG_CACHE_HOME"] = str(cache)
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen([sys.executable, *words], cwd=ROOT, env=environment, stdout=said, stderr=said)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            said.seek(0)
            raise BenchmarkError(f"conf=capacity ended with code {process.returncode}: {said.read().decode().strip()}")
    run.memory = usage.ru_maxrss / MEBIBYTE
    return (output / "table.csv").read_bytes()


def same_tables(_, ours: list[bytes], theirs: list[bytes]) -> dict[str, float]:
    """Check that what was compiled before makes no difference to the numbers."""
    if ours != theirs:
        raise BenchmarkError("the table must not depend on the cache, got two different ones")
    return {"rows of the table, the same twice": ours[0].count(b"\n") - 1}
