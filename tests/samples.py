"""Samples of the tests' cases: others in every commit, and all of what a commit touches."""

import hashlib
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MOST_TOUCHED = 300
"""Cases at most of the tests whose files or sources a commit touches, besides the sample's."""


def git(*words: str) -> str:
    """Output of git, nothing without git or without the commit."""
    try:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    except OSError:
        return ""


def _number(*texts: str) -> float:
    """A number from 0 to 1 that is the same whenever it is asked for, and another one for other texts."""
    return int(hashlib.sha256("\n".join(texts).encode()).hexdigest()[:12], 16) / 16**12


def all_but_few(items: list[pytest.Item], sample: str) -> set[pytest.Item]:
    """All but about √n of n cases of one test, which are spread evenly, from another one on in every commit.

    Tests of one file begin at the same place: what a run or a program of a case serves, all of them ask.
    """
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    kept = set()
    for name, each in cases.items():
        count, begin = round(len(each) ** 0.5), _number(sample, name.partition("::")[0])
        kept |= {each[int((i + begin) * len(each) / count)] for i in range(count)}
    return set(items) - kept


def touched(items: set[pytest.Item], sample: str) -> set[pytest.Item]:
    """Tests whose own files, or whose sources, the commit or what follows it here touches, `MOST_TOUCHED` at most."""
    names = git("diff", "--name-only", f"{sample}^", sample) + git("diff", "--name-only", "HEAD")
    places = {ROOT / place for name in names.split() for place in mirrored(name)}
    found = [item for item in items if item.path in places or item.path.parent in places]
    return set(sorted(found, key=lambda item: _number(sample, item.nodeid))[:MOST_TOUCHED])


def mirrored(name: str) -> list[str]:
    """The file of tests, by its mirrored path, that a changed file has, else their folder, else nothing."""
    path = Path(name)
    if path.suffix != ".py" or path.parts[0] not in ("hopfield", "experiments", "tests"):
        return []
    if path.parts[0] == "tests":
        return [name] if path.name.startswith("test_") else []
    folder = Path("tests", *path.parts[:-1])
    own = folder / f"test_{path.stem.strip('_')}.py"
    return [str(own if (ROOT / own).exists() else folder)]
