"""Several processes on one sweep: every job is measured once, by whoever is there, and none is lost."""

import contextlib
import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from experiments.contract import StoppedError
from experiments.runner import locks
from experiments.system import files

pytestmark = pytest.mark.process

WORDS = ["conf=toy", "-m", "seed=0,1,2,3,4,5", "output=out", "wandb.mode=disabled"]


def rows(folder: Path) -> list[str]:
    """Every whole row of all ledgers below a folder, repeated ones included."""
    files = sorted(folder.rglob("*.jsonl"))
    return [line for file in files for line in file.read_text().split("\n")[:-1] if '"row":' in line]


def test_a_claim_is_held_by_one_and_left_behind_by_none(tmp_path: Path):
    with locks.claimed(tmp_path) as first:
        assert first is None
        with locks.claimed(tmp_path) as second:
            assert second == f"process {os.getpid()} on {os.uname().nodename}"
        assert (tmp_path / locks.NAME).exists()
    assert not list(tmp_path.iterdir())
    with locks.claimed(tmp_path) as again:
        assert again is None


@pytest.mark.parametrize(
    ("change", "dead"),
    [
        ({"process": 2**22 + 5}, True),
        ({"born": "1"}, True),
        ({"host": "elsewhere"}, False),
        ({"host": "elsewhere", "age": locks.SILENT / 2}, False),
        ({"host": "elsewhere", "age": 2 * locks.SILENT}, True),
        ({"host": "elsewhere", "age": -2 * locks.SILENT}, True),
    ],
    ids=[
        "gone",
        "number given anew",
        "another machine",
        "another machine, late",
        "another machine, silent",
        "of the future",
    ],
)
def test_a_dead_holder_is_buried(tmp_path: Path, change: dict, dead: bool):
    with locks.claimed(tmp_path):
        held = json.loads((tmp_path / locks.NAME).read_text())
    age = change.pop("age", 0.0)
    (tmp_path / locks.NAME).write_text(json.dumps(held | change))
    os.utime(tmp_path / locks.NAME, (time.time() - age, time.time() - age))
    with locks.claimed(tmp_path) as holder:
        assert (holder is None) == dead


def test_a_holder_gives_signs_of_life(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(locks, "RENEWED", 0.01)
    with locks.claimed(tmp_path):
        os.utime(tmp_path / locks.NAME, (0, 0))
        until = time.time() + 10
        while (tmp_path / locks.NAME).stat().st_mtime == 0 and time.time() < until:
            time.sleep(0.01)
        assert (tmp_path / locks.NAME).stat().st_mtime > 0


def left_behind(folder: Path, **change) -> None:
    """A claim of a process that is no more."""
    with locks.claimed(folder):
        held = json.loads((folder / locks.NAME).read_text())
    (folder / locks.NAME).write_text(json.dumps(held | {"process": 2**22 + 5} | change))


def test_a_claim_that_another_has_taken_over_meanwhile_is_not_buried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Two processes find a dead claim; by the time that the slower one buries it, it is the faster one's living one."""
    left_behind(tmp_path)
    judge, rivals = locks._is_alive, contextlib.ExitStack()

    def slow(holder: dict, age: float) -> bool:
        monkeypatch.setattr(locks, "_is_alive", judge)
        alive = judge(holder, age)
        assert rivals.enter_context(locks.claimed(tmp_path)) is None
        return alive

    monkeypatch.setattr(locks, "_is_alive", slow)
    with rivals:
        with locks.claimed(tmp_path) as holder:
            assert holder == f"process {os.getpid()} on {os.uname().nodename}"
        assert (tmp_path / locks.NAME).exists()
    assert not list(tmp_path.iterdir())


def test_a_claim_whose_holder_gives_a_sign_of_life_meanwhile_is_not_buried(tmp_path: Path, monkeypatch):
    left_behind(tmp_path, host="elsewhere")
    os.utime(tmp_path / locks.NAME, (0, 0))
    judge = locks._is_alive

    def just_before(holder: dict, age: float) -> bool:
        monkeypatch.setattr(locks, "_is_alive", judge)
        alive = judge(holder, age)
        os.utime(tmp_path / locks.NAME)
        return alive

    monkeypatch.setattr(locks, "_is_alive", just_before)
    with locks.claimed(tmp_path) as holder:
        assert holder == f"process {2**22 + 5} on elsewhere"
    assert (tmp_path / locks.NAME).exists()


def test_one_of_many_takes_over(tmp_path: Path):
    """And the others are told so; in threads, which the file system does not tell from processes."""
    for _ in range(5):
        left_behind(tmp_path)
        start, end = threading.Barrier(6), threading.Barrier(6)

        def contender(start=start, end=end) -> str | None:
            start.wait()
            with locks.claimed(tmp_path) as holder:
                end.wait()
                return holder

        with ThreadPoolExecutor(6) as pool:
            holders = [future.result() for future in [pool.submit(contender) for _ in range(6)]]
        assert holders.count(None) == 1, holders
        assert not list(tmp_path.iterdir())


def test_one_killed_as_it_buries_is_buried_itself(tmp_path: Path):
    left_behind(tmp_path)
    program = (
        "import os, pathlib, sys; from experiments.runner import locks\n"
        "unlink = pathlib.Path.unlink\n"
        "def last(path, **options):\n"
        "    os._exit(9) if path.name == locks.NAME else unlink(path, **options)\n"
        "pathlib.Path.unlink = last\n"
        "with locks.claimed(pathlib.Path(sys.argv[1])): pass"
    )
    for _ in range(2):  # the second one buries the first before it is killed, too
        root = Path(__file__).parents[3]
        assert subprocess.run([sys.executable, "-c", program, str(tmp_path)], cwd=root, timeout=60).returncode == 9
        assert len(list(tmp_path.iterdir())) == 2  # the claim, and the claim on burying it
    with locks.claimed(tmp_path) as holder:
        assert holder is None
    assert not list(tmp_path.iterdir())


def test_the_claim_on_removing_a_claim_that_is_gone_is_cleared_by_the_next_holder(tmp_path: Path):
    """Its writer was killed between the two removals; nobody will ask for that right again."""
    left_behind(tmp_path)
    (tmp_path / locks.NAME).rename(tmp_path / f"{locks.NAME}.{'0' * 32}")
    with locks.claimed(tmp_path) as holder:
        assert holder is None
        assert [path.name for path in tmp_path.iterdir()] == [locks.NAME]
    assert not list(tmp_path.iterdir())


def test_a_claim_that_is_not_sure_to_last_is_not_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def settle(folder: Path) -> None:
        monkeypatch.undo()
        raise OSError(errno.EIO, os.strerror(errno.EIO), str(folder))

    monkeypatch.setattr(files, "sync_directory", settle)
    with pytest.raises(StoppedError, match="cannot be claimed"), locks.claimed(tmp_path):
        pass
    assert not list(tmp_path.iterdir())


def test_a_former_holder_leaves_the_claim_of_its_successor(tmp_path: Path):
    with locks.claimed(tmp_path):
        other = json.loads((tmp_path / locks.NAME).read_text()) | {"host": "elsewhere", "claim": "theirs"}
        (tmp_path / locks.NAME).write_text(json.dumps(other))
    assert json.loads((tmp_path / locks.NAME).read_text()) == other


def failing(number: int) -> Callable:
    def link(source: Path, target: Path) -> None:
        raise OSError(number, os.strerror(number), str(source), None, str(target))

    return link


@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP])
def test_hard_links_are_not_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int):
    monkeypatch.setattr(os, "link", failing(number))
    test_a_claim_is_held_by_one_and_left_behind_by_none(tmp_path)
    left_behind(tmp_path)
    with locks.claimed(tmp_path) as holder:
        assert holder is None
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("text", ["", "{", "[]"])
def test_a_claim_that_cannot_be_read_is_respected_for_a_while(tmp_path: Path, text: str):
    """Without hard links it may be seen before it is written; its writer may also have died in between."""
    (tmp_path / locks.NAME).write_text(text)
    with locks.claimed(tmp_path) as holder:
        assert holder == "a process that has just begun"
    os.utime(tmp_path / locks.NAME, (0, 0))
    with locks.claimed(tmp_path) as holder:
        assert holder is None
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES])
def test_a_directory_that_cannot_be_claimed_is_one_sentence(
    command: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
):
    monkeypatch.setattr(os, "link", failing(number))
    outcome = command("conf=toy", "output=out")
    assert outcome.code != 0
    said = f"the run stopped ({os.strerror(number)}): {tmp_path / 'out'} cannot be claimed; what is there is kept"
    assert outcome.err == f"error: {said}\n"
    assert not list((tmp_path / "out").iterdir())


def test_two_processes_share_a_sweep_and_measure_nothing_twice(
    command: Callable, toy_process: Callable, tmp_path: Path
):
    both = [toy_process(*WORDS, "delay=0.02") for _ in range(2)]
    said = [process.communicate(timeout=120)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    found = rows(tmp_path / "out")
    assert len(found) == len(set(found)) == 6 * 16
    shares = [sum(str(process.pid) in path.name for path in tmp_path.rglob("*.jsonl")) for process in both]
    assert min(shares) > 0, "one process did everything"
    assert command(*WORDS[:3], "output=alone").code == 0
    jobs = sorted(table.parent for table in (tmp_path / "alone").glob("*/table.csv"))
    assert len(jobs) == 6
    for job in jobs:
        assert (job / "table.csv").read_bytes() == (tmp_path / "out" / job.name / "table.csv").read_bytes()
    assert not list(tmp_path.rglob(f"{locks.NAME}*"))


def test_the_job_of_a_killed_process_is_taken_over_at_once(toy_process: Callable, tmp_path: Path):
    first = toy_process(*WORDS, "delay=4")  # a minute for its first job: the second process starts within it
    while not rows(tmp_path / "out"):
        assert first.poll() is None, first.communicate()
        time.sleep(0.01)
    second = toy_process(*WORDS)
    while len({path.parent for path in tmp_path.rglob("*.jsonl")}) < 2:
        assert second.poll() is None, second.communicate()
        time.sleep(0.01)
    first.send_signal(signal.SIGKILL)
    first.wait()
    _, said = second.communicate(timeout=60)
    assert second.returncode == 0, said
    assert f"is being measured by process {first.pid}" in said
    found = rows(tmp_path / "out")
    assert len(found) == len(set(found)) == 6 * 16


LAUNCHERS = {
    "joblib": ["hydra/launcher=joblib", "hydra.launcher.n_jobs=2"],
    "submitit_local": ["hydra/launcher=submitit_local", "hydra.launcher.cpus_per_task=1"],
    "ray": ["hydra/launcher=ray", "++hydra.launcher.ray.init.num_cpus=2"],
}


@pytest.mark.parametrize("name", LAUNCHERS)
def test_a_sweep_of_24_jobs_killed_half_way_ends_with_the_serial_table(command: Callable, tmp_path: Path, name: str):
    """Workers first, then the parent; then the same command again."""
    pytest.importorskip(f"hydra_plugins.hydra_{name.split('_')[0]}_launcher")
    root = Path(__file__).parents[3]
    few = ["delay=0.02", "figure.format=[svg]", "wandb.mode=disabled"]
    sweep = ["--config-dir", str(root / "tests/experiments/fixture"), "conf=toy", "-m"]
    sweep += [f"seed={','.join(map(str, range(24)))}", *few]
    program = [sys.executable, "-m", "experiments.run", *sweep]
    environment = os.environ | {"PYTHONPATH": str(root), "PYTHONWARNINGS": "ignore"}

    def start(*words: str) -> subprocess.Popen:
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen([*program, *words], cwd=tmp_path, env=environment, start_new_session=True, **pipes)

    serial = start("output=alone")
    out, err = serial.communicate(timeout=300)
    assert serial.returncode == 0, (out + err)[-3000:]
    launched = ["output=out", *LAUNCHERS[name]]
    killed = start(*launched)
    until = time.time() + 180
    while len(list(tmp_path.glob("out/*/table.csv"))) < 8 and time.time() < until and killed.poll() is None:
        time.sleep(0.05)
    for process in reversed(below(killed.pid)):
        if process != killed.pid:
            end(process)
    end(killed.pid)
    killed.communicate()
    done = len(list(tmp_path.glob("out/*/table.csv")))
    assert 8 <= done < 24
    again = start(*launched)
    out, err = again.communicate(timeout=300)
    assert again.returncode == 0, (out + err)[-3000:]
    assert len(list(tmp_path.glob("out/*/table.csv"))) == 24
    jobs = sorted(table.parent for table in (tmp_path / "alone").glob("*/table.csv"))
    assert len(jobs) == 24
    for job in jobs:
        assert (job / "table.csv").read_bytes() == (tmp_path / "out" / job.name / "table.csv").read_bytes()
        found = rows(tmp_path / "out" / job.name)
        assert len(found) == len(set(found))
    for file in ("table.csv", "summary.json", "figure.svg"):
        assert (tmp_path / "alone" / file).read_bytes() == (tmp_path / "out" / file).read_bytes(), file


def below(process: int) -> list[int]:
    """A process and everything it has started, parents first."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (FileNotFoundError, ProcessLookupError):
                continue
            children.setdefault(parent, []).append(int(entry.name))
    found = [process]
    for one in found:
        found += children.get(one, [])
    return found


def end(process: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)
