"""Hundreds of bad command lines. None of them may end in a traceback, hang, fill the memory or leave files behind.

    python scripts/bad_lines.py [--lines 300] [--seed 0] [--only TEXT]

Options of all experiments are taken from their dataclasses and given values of the wrong kind, sign or size; files are
damaged in every way known. Each line runs in a process of its own, two at a time, with `dry=true`. It has to be refused
in one sentence that names what is wrong (exit code 2), or to be legal (exit code 0).
"""

import argparse
import itertools
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_origin

from _damaged_files import Line, write_damaged_files

from experiments import contract
from experiments.contract import StoppedError
from experiments.runner import boundary, errors, registry

SECONDS, BYTES, PATIENCE = 10.0, 2 * 2**30, 120.0
"""CPU time and memory that a line may take, and seconds after which it is taken for hung."""
DEEP = "[" * 60 + "]" * 60
ANY = ("abc", "''", "null", "true", "[1]", "{a:1}", "../../x", "/etc/passwd", DEEP, "${nope}", "1e18", "nan")
NUMBERS = ("-1", "0", "1.5", "inf", "-inf", "1e300", "1e-320", "1000000000000000000", "2147483648", "1000000000")
NUMBERS += ("9" * 5000, "-0.0", "1e9", "0x10", "1_000")
TEXTS = (
    "'a b'",
    "x" * 5000,
    "'\u202e'",
    "a:b:c",
    "dense:1e18",
    "dense:-1",
    "sparse:nan",
    "linear:1000000000",
    "~",
    "mapped:",
)
TEXTS += ("noise:nan", "flip:2", "mapped:/dev/zero", "/dev/stdin")


class Outcome(NamedTuple):
    """Outcome of a line, with its fault (empty if it ended as it should)."""

    line: Line
    code: int
    err: str
    cpu: float
    wall: float
    memory: int
    fault: str


def values(hint: Any) -> Sequence[str]:
    """Words that do not suit an option of this type, or hardly."""
    parts = [part for part in get_args(hint) if part is not type(None)] if get_origin(hint) is not list else []
    if get_origin(hint) not in (list, dict) and parts:
        return values(parts[0])
    if get_origin(hint) is list:
        inner = [value for value in values(get_args(hint)[0]) if value not in ("null", "")]
        return ("[]", "x", "1", "[[1]]", "[null]", "[1,1]", *(f"[{value}]" for value in inner))
    if hint in (int, float):
        return (*ANY, *NUMBERS)
    if hint is str or hint is Any:
        return (*ANY, *NUMBERS, *TEXTS)
    return (*ANY, "2", "perhaps", "-1", "{x:{y:1}}")


def configuration_of(experiment: str) -> str:
    """A configuration of an experiment: of its name, or the first that takes its options."""
    if (contract.ROOT / "conf" / f"{experiment}.yaml").exists():
        return experiment
    found = (
        path
        for path in sorted((contract.ROOT / "conf").glob("*.yaml"))
        if f"/schema/{experiment}\n" in path.read_text()
    )
    return next(found).stem


def lines(count: int, seed: int) -> list[Line]:
    """Lines over the options of all experiments, each experiment as often as any other."""
    rng = random.Random(seed)
    everything: dict[str, list[Line]] = {}
    for experiment in registry.names():
        conf, schema = configuration_of(experiment), registry.load(experiment).Config
        kept = [leaf for leaf in errors.leaves(schema) if leaf[0] not in ("dry", "wandb.mode", "output")]
        for key, hint, _ in kept:
            for value in values(hint):
                words = (f"conf={conf}", f"{'+' if get_origin(hint) is dict else ''}{key}={value}")
                everything.setdefault(conf, []).append(Line("experiments.run", words, (key, value)))
        names = [key for key, _, _ in kept]
        for key in (
            f"{rng.choice(names)}x",
            f"{rng.choice(names)}.a.b",
            "+a.b.c.d",
            "~seed",
            "=",
            "conf",
            "-x",
            "--",
            "@",
        ):
            everything[conf].append(Line("experiments.run", (f"conf={conf}", f"{key}=1"), (key.strip("+~-="), "key")))
    for found in everything.values():
        rng.shuffle(found)
    turns = itertools.chain.from_iterable(itertools.zip_longest(*everything.values()))
    return list(itertools.islice(filter(None, turns), count))


def fault_of(line: Line, code: int, out: str, err: str, left: Sequence[str]) -> str:
    """Fault in the end of a line's process, as text. Empty without one."""
    if left:
        return f"left {', '.join(left)} behind"
    if code == 0:
        return "" if " points" in out and not err.count("Traceback") else "is accepted without a word"
    if code != 2 or out:
        return f"ends in exit code {code}"
    if not re.fullmatch(r"error: [^\n]+\n", err):
        return "is not refused in one sentence"
    known = [part for name in line.names for part in (name, *re.split(r"[.\[\]=']", name)) if len(part) > 1]
    known += [f"{name[:-3]}y" for name in known if name.endswith("ies")] + ["conf=", "degree", "corruption", "path"]
    return "" if any(name.rstrip("s") in err for name in known) else "is refused without a name"


def try_line(line: Line, folder: Path) -> Outcome:
    """Outcome of a line that runs as a separate process in an empty folder."""
    with tempfile.TemporaryDirectory(dir=folder) as work:
        mode = [] if any(word.startswith("wandb.mode=") for word in line.words) else ["wandb.mode=disabled"]
        words = [*line.words, "dry=true", *mode] if line.module == "experiments.run" else line.words
        environment = os.environ | {"TMPDIR": work, "HYDRA_FULL_ERROR": "0"}
        begun = time.monotonic()
        with open(f"{work}.out", "w+b") as out, open(f"{work}.err", "w+b") as err:
            command = [sys.executable, "-m", line.module, *words]
            pipes = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": err}
            process = subprocess.Popen(command, cwd=work, env=environment, **pipes)
            usage, status = None, None
            while usage is None:
                number, status, found = os.wait4(process.pid, os.WNOHANG)
                usage = found if number else None
                if usage is None and time.monotonic() - begun > PATIENCE:
                    process.kill()
                time.sleep(0.02)
            process.returncode = code = os.waitstatus_to_exitcode(status or 0)
            texts = []
            for file in (out, err):
                file.seek(0)
                texts.append(file.read().decode(errors="replace"))
                Path(file.name).unlink()
        wall, cpu, memory = time.monotonic() - begun, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024
        fault = fault_of(line, code, *texts, left=[path.name for path in Path(work).iterdir()])
        if wall > PATIENCE or cpu > SECONDS:
            fault = f"takes {cpu:.1f} s of CPU time, {wall:.1f} s in all"
        if memory > BYTES:
            fault = f"takes {memory / 2**30:.1f} GiB"
    return Outcome(line, code, texts[1], cpu, wall, memory, fault)


def main(argv: Sequence[str] | None = None) -> int:
    """Try all lines. Returns 0 if none of them ends badly, else 1."""
    return boundary.run_command(lambda: _main(argv))


def _main(argv: Sequence[str] | None) -> int:
    parser = boundary.Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=boundary.count, default=300, help="lines over the options of experiments")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="lines that hold this text")
    given = parser.parse_args(argv)
    folder = Path(tempfile.mkdtemp(prefix="bad-lines-"))
    try:
        (folder / "files").mkdir()
        chosen = [*lines(given.lines, given.seed), *write_damaged_files(folder / "files")]
        chosen = [line for line in chosen if given.only in " ".join(line.words)]
        with ThreadPoolExecutor(2) as workers:
            outcomes = list(workers.map(lambda line: try_line(line, folder), chosen))
    finally:
        shutil.rmtree(folder)
    bad = [each for each in outcomes if each.fault]
    for each in bad:
        text = " ".join(word[:150] for word in each.line.words)
        print(f"{text}\n    {each.fault}: {each.err[-300:].strip()}")
    refused, tracebacks = sum(each.code == 2 for each in outcomes), sum("Traceback" in each.err for each in outcomes)
    most = {name: max(getattr(each, name) for each in outcomes) for name in ("cpu", "wall", "memory")}
    print(
        f"{len(outcomes)} lines: {refused} refused, {sum(each.code == 0 for each in outcomes)} legal, {len(bad)} bad,"
        f" {tracebacks} tracebacks; at most {most['cpu']:.1f} s of CPU time, {most['wall']:.1f} s in all,"
        f" {most['memory'] / 2**20:.0f} MiB"
    )
    if bad:
        raise StoppedError(f"every line must end as it should, got {len(bad)} that do not")
    return 0


if __name__ == "__main__":
    sys.exit(boundary.run_command(lambda: _main(None), final=True))
