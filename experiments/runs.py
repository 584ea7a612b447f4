"""The command `hopfield runs [FOLDER ...]`: lists runs, in words, as JSON or as a page with links."""

import json
import os
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

from experiments.contract import InputError
from experiments.runner import boundary, folders, listing
from experiments.system import terminal

MARK = b'<meta name="generator" content="hopfield">'
"""Line of the pages that are written here."""
USAGE = """\
usage: hopfield runs [FOLDER ...] [key=value ...] [--json] [--html]

Lists the runs in folders (default: outputs), the last one first: state, points, size, time, options that differ from
those of their configuration, headline numbers.

  key=value   only runs whose option has this value, or state=complete, interrupted or running, conf=NAME,
              experiment=NAME
  --json      everything, as JSON
  --html      writes index.html, with links to all reports, into the folder"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run `hopfield runs` on the given words, by default the command line's. Returns the exit code."""
    return boundary.run_command(lambda: _print_runs(sys.argv[1:] if argv is None else list(argv)))


def _print_runs(words: Sequence[str]) -> int:
    """Print the runs that the words ask for."""
    if set(words) & {"-h", "--help"}:
        terminal.tell(*USAGE.split("\n"))
        return 0
    flags = {word for word in words if word.startswith("-")}
    if unknown := sorted(flags - {"--json", "--html"}):
        raise InputError(f"{unknown[0]} must be one of the flags --json, --html")
    places = [word for word in words if word not in flags and ("=" not in word or os.path.isdir(word))]
    pairs = [word.split("=", 1) for word in words if word not in flags and word not in places]
    conditions: dict[str, str] = {}
    for key, value in pairs:
        if key in conditions:
            raise InputError(f"{key} must be given once")
        conditions[key] = value
    if (state := conditions.get("state", listing.STATES[0])) not in listing.STATES:
        raise InputError(f"state must be one of {', '.join(listing.STATES)}, got {state!r}")
    held: list[listing.Run] = []
    for place in places or ["outputs"]:
        runs, bad = _runs_in(Path(place))
        held += runs
        for line in bad:
            terminal.say(line)
    found = list({os.path.realpath(run.path): run for run in held}.values())
    for key in conditions:
        if found and not any(listing.has_key(run, key) for run in found):
            raise InputError(f"{key} must be state, conf, experiment or an option of one of these runs")
    runs = [run for run in found if listing.is_selected(run, conditions)]
    if "--json" in flags:
        terminal.tell(*json.dumps([run._asdict() for run in runs], indent=2).split("\n"))
        return 0
    if "--html" in flags:
        if len(places) > 1:
            raise InputError(f"--html must be given one folder, got {len(places)}")
        terminal.tell(f"index: {_index(Path(places[0] if places else 'outputs'), runs)}")
        return 0
    for run in runs:
        terminal.tell(*listing.lines(run))
    if not runs:
        terminal.say("no runs")
    return 0


def _runs_in(place: Path) -> tuple[list[listing.Run], list[str]]:
    if not os.path.isdir(place):
        raise InputError(f"FOLDER (outputs unless one is given) must be a folder of results, got no folder {place}")
    return listing.find(place)


def _index(folder: Path, runs: Sequence[listing.Run]) -> Path:
    rows = []
    for run in runs:
        place = Path(run.path)
        options = " ".join(f"{name}={folders.words(value)}" for name, value in run.differs.items())
        page = place / "report.html"
        rows.append(
            {
                "name": str(place.relative_to(folder)),
                "link": quote(page.relative_to(folder).as_posix()) if page.is_file() else "",
                "state": run.state,
                "points": f"{run.done} of {run.points}",
                "when": datetime.fromtimestamp(run.when).strftime("%Y-%m-%d %H:%M"),
                "differs": options,
                "headlines": run.said[:8],
            }
        )
    path = folder / "index.html"
    if os.path.lexists(path) and not (path.is_file() and MARK in path.read_bytes()[:4096]):
        raise InputError(f"FOLDER must leave the files of others, got {path}, which --html has not written")
    from experiments.figures import report  # Matplotlib, which a list in words does without

    report.write_index(path, f"Runs in {folder.resolve().name}", f"{len(runs)} runs, the last first.", rows)
    return path


def process() -> int:
    """Run the command line of this process, which ends with the exit code returned."""
    return boundary.run_command(lambda: _print_runs(sys.argv[1:]), final=True)


if __name__ == "__main__":
    sys.exit(process())
