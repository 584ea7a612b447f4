"""Search with Optuna for the options of an experiment that optimise one of its results. Several may run at once.

    python scripts/search.py STUDY SCALAR conf=NAME [option=value ...] option=low..high option=low..high/log option=a|b

    python scripts/search.py study.log success conf=... beta=0.1..10/log samples=4 --trials 20 --minimise

STUDY is a journal file: started again, or on another machine that sees the file, the search goes on with what is known,
at the same other options. SCALAR is the name of a number that the run ends with. Words with .. or | are searched,
all others are kept.
"""

import argparse
import difflib
import importlib
import json
import math
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments.contract import InputError
from experiments.figures.sentences import told
from experiments.runner import boundary

ROOT = Path(__file__).resolve().parents[1]
RANGE = re.compile(r"^(?P<low>[^.|]+(\.\d+)?)\.\.(?P<high>[^/|]+?)(?P<log>/log)?$")


class Missing(InputError):
    """A run that ended well without the scalar that is searched for, such as a threshold that no load reached."""

    empty = False
    """True if the run has no scalar at all."""


def suggestion(trial: Any, word: str) -> str:
    """A word, its range or its choices replaced by the trial's value; any other word as it is.

    Raises:
        InputError: a range whose ends are not numbers, or not in ascending order.
    """
    key, _, value = word.partition("=")
    if "|" in value:
        return f"{key}={trial.suggest_categorical(key, value.split('|'))}"
    found = RANGE.match(value)
    if not found:
        return word
    try:
        ends = [
            int(found[name]) if found[name].lstrip("-").isdigit() else float(found[name]) for name in ("low", "high")
        ]
    except ValueError:
        raise InputError(f"{word} must have numbers around .., as in beta=0.1..10/log") from None
    if not -math.inf < ends[0] < ends[1] < math.inf:
        raise InputError(f"{word} must have its smaller end first, and finite ends")
    whole = all(isinstance(end, int) for end in ends)
    suggest = trial.suggest_int if whole else trial.suggest_float
    return f"{key}={suggest(key, *ends, log=bool(found['log']))}"


def run_scalar(words: Sequence[str], scalar: str) -> float:
    """The scalar that the command with these words ends with.

    Raises:
        InputError: the run failed, and has said why, or it has no such scalar.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "experiments.run", *words, f"output={folder}"]
        try:
            subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
        except subprocess.CalledProcessError as error:
            raise InputError(
                f"a run must end well, got exit code {error.returncode} from {shlex.join(words)}"
            ) from None
        estimates = json.loads((Path(folder) / "summary.json").read_text(encoding="utf-8"))["estimates"]
    scalars = {each.name: each.row.get("value") for each in told(estimates)}
    if scalar not in scalars:
        near = difflib.get_close_matches(scalar, scalars, n=5, cutoff=0.0)
        known = f"one of the {len(scalars)} that the run ends with, such as {', '.join(near)}"
        error = Missing(f"SCALAR must be {known if near else 'a result of the run, which has none'}, got {scalar!r}")
        error.empty = not scalars
        raise error
    value = scalars[scalar]
    if isinstance(value, int | float):
        return float(value)
    error = Missing(f"SCALAR must be a number, got none for {scalar}")
    error.empty = True
    raise error


def objective(study: Any, words: Sequence[str], scalar: str, trial: Any) -> float:
    """Scalar of a trial. NaN, which Optuna counts as failed, if a run at these options has none.

    Raises:
        InputError: the run failed; or it has other scalars and no run of the study had this one, a mistake in its name.
    """
    try:
        return run_scalar([suggestion(trial, word) for word in words], scalar)
    except Missing as error:
        if not error.empty and not any(told.value is not None for told in study.trials):
            raise
        print(f"trial {trial.number} has no result: {error}", file=sys.stderr)
        return float("nan")


def main(argv: Sequence[str] | None = None) -> int:
    """Run trials of a study and print the best one."""
    return boundary.run_command(lambda: _search(_options(argv)))


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = boundary.Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", type=Path)
    parser.add_argument("scalar")
    parser.add_argument("words", nargs="+")
    parser.add_argument("--trials", type=boundary.count, default=20)
    parser.add_argument("--minimise", action="store_true")
    parser.add_argument("--seed", type=int, default=None, help="of the sampler; give each searcher its own")
    given = parser.parse_intermixed_args(argv)
    for word in given.words:
        if not re.match(r"[^=]+=", word):
            raise InputError(f"{word} must be written key=value")
    if given.study.exists() and not given.study.is_file():
        raise InputError(f"STUDY must be a file, got {given.study}")
    if not given.study.absolute().parent.is_dir():
        raise InputError(f"STUDY must lie in an existing folder, got {given.study}")
    if all(suggestion(_Nobody(), word) == word for word in given.words):
        example = "beta=0.1..10/log or rule=a|b"
        raise InputError(f"some option must be searched, as {example}, got {shlex.join(given.words)}")
    return given


class _Nobody:
    """Stands for a trial where only the words are looked at."""

    def suggest_categorical(self, name: str, choices: Sequence[str]) -> str:
        return choices[0]

    def suggest_int(self, name: str, low: float, high: float, *, log: bool) -> float:
        if log and low <= 0:
            raise InputError(f"{name} must have a range above zero for /log, got {low}..{high}")
        return low

    suggest_float = suggest_int


def _search(given: argparse.Namespace) -> int:
    try:
        optuna = importlib.import_module("optuna")
        journal = importlib.import_module("optuna.storages.journal")
    except ImportError:
        raise InputError("searching needs Optuna: pip install 'hopfield[search]'") from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)  # failures are told below, in one line
    # Locks by links fail on some file systems; this kind is kept by all that create files exclusively.
    backend = journal.JournalFileBackend(str(given.study), lock_obj=journal.JournalFileOpenLock(str(given.study)))
    try:
        study = optuna.create_study(
            study_name=given.scalar,
            storage=optuna.storages.JournalStorage(backend),
            sampler=optuna.samplers.TPESampler(seed=given.seed),
            direction="minimize" if given.minimise else "maximize",
            load_if_exists=True,
        )
    except Exception as error:  # whatever lines that are no journal make of Optuna's reader
        raise InputError(f"STUDY must be a study's journal, got {given.study} ({boundary.one_line(error)})") from error
    _check_same(study, given)
    study.optimize(lambda trial: objective(study, given.words, given.scalar, trial), given.trials)
    if not any(trial.value is not None for trial in study.trials):
        raise InputError(f"SCALAR must be one that a run ends with, got {given.scalar!r}, which none of the trials had")
    best = study.best_trial
    chosen = " ".join(f"{key}={value}" for key, value in best.params.items())
    print(f"best of {len(study.trials)} trials: {given.scalar} = {best.value:.6g} at {chosen}")
    return 0


def _check_same(study: Any, given: argparse.Namespace) -> None:
    """Raises InputError where a study that is gone on with searches for something else: its best would be of both."""
    kept = sorted(word for word in given.words if suggestion(_Nobody(), word) == word)
    asked = {"--minimise": given.minimise, "options that are not searched": shlex.join(kept)}
    begun = study.user_attrs.get("asked", {})
    if not begun:
        study.set_user_attr("asked", asked)
    for name, value in asked.items():
        if begun.get(name, value) != value:
            raise InputError(f"{name} must be {begun[name]} as in the search that {given.study} holds, got {value}")


if __name__ == "__main__":
    sys.exit(boundary.run_command(lambda: _search(_options(None)), final=True))
