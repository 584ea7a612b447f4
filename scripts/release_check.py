"""Release check: version, changelog, citation and placeholders of the tree, and a wheel tried in an empty environment.

python scripts/release_check.py                  the tree; placeholders are named, and no error yet
python scripts/release_check.py --tag v1.2.3     the same for a tag to be published: placeholders are an error
python scripts/release_check.py --wheel dist     the wheel in the folder `dist`, installed alone and run
"""

import argparse
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACEHOLDER = "OWNER"
"""Word that stands in pyproject.toml and CITATION.cff until the authors and the address of the project are known."""
CAPACITY = (
    "import hopfield; print(hopfield.capacity('modern', neurons=[8], loads=[.5], samples=6, queries=4).table.shape)"
)


def faults(tag: str | None) -> list[str]:
    """Contradictions within the tree and, for a tag, what must not be published; a sentence each."""
    found = re.search(r'^__version__ = "(.+)"$', (ROOT / "hopfield" / "__init__.py").read_text(), re.MULTILINE)
    version = found[1] if found else ""
    citation, changes = ((ROOT / name).read_text() for name in ("CITATION.cff", "CHANGELOG.md"))
    told = []
    if f"\nversion: {version}\n" not in citation:
        told.append(f"CITATION.cff must say version: {version}, as hopfield/__init__.py does")
    if not re.search(rf"^## {re.escape(version)} \(\d{{4}}-\d\d-\d\d\)$", changes, re.MULTILINE):
        told.append(f"CHANGELOG.md must have a section '## {version} (date)'")
    if tag is not None:
        told += [f"tag must be v{version}, got {tag}"] if tag != f"v{version}" else []
        told += [f"{place} must be filled in before a release: {PLACEHOLDER} stands there" for place in placeholders()]
    return told


def placeholders() -> list[str]:
    """Entries of pyproject.toml and lines of CITATION.cff in which the placeholder stands."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    entries = {"authors": project["authors"], **project["urls"]}
    lines = (ROOT / "CITATION.cff").read_text().splitlines()
    return [f"pyproject.toml, {name}" for name, value in entries.items() if PLACEHOLDER in str(value)] + [
        f"CITATION.cff, {line.strip()}" for line in lines if PLACEHOLDER in line
    ]


def try_wheel(folder: Path) -> None:
    """Install the one wheel of a folder into an empty environment, outside the checkout, and run what it is for."""
    (wheel,) = folder.resolve().glob("*.whl")
    with tempfile.TemporaryDirectory() as empty:
        venv.create(f"{empty}/venv", with_pip=True)
        bin_ = Path(empty, "venv", "bin")
        for command in (
            [bin_ / "python", "-m", "pip", "install", "--quiet", wheel],
            [bin_ / "hopfield", "--help"],
            [bin_ / "hopfield", "conf=capacity", "dry=true"],
            [bin_ / "python", "-c", CAPACITY],
        ):
            print("$", *command, flush=True)
            subprocess.run(command, cwd=empty, check=True, stdout=subprocess.DEVNULL)


def main() -> int:
    """The exit status: 0 if nothing is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tag", help="the tag that is about to be published")
    parser.add_argument("--wheel", type=Path, help="folder of one wheel to try")
    given = parser.parse_args()
    if given.wheel is not None:
        try_wheel(given.wheel)
        return 0
    told = faults(given.tag)
    for sentence in told or [f"to be filled in before a tag: {place}" for place in placeholders()]:
        print(sentence)
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main())
