"""Weights & Biases as a mirror of a run: it gets every row and is never read, and a failure of it is a warning.

The record is the ledger. Nothing here prompts, and every call ends: the library's own waits are bounded by
`wandb.init_timeout` and `wandb.finish_timeout`, and after a first failure nothing more is sent but the end of the run.
"""

import contextlib
import json
import os
import re
import shlex
import sys
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from experiments.contract import InputError, Mode, Point, Row, Table, Wandb
from experiments.figures.sentences import told
from experiments.runner import folders
from experiments.runner.job import Job
from experiments.runner.series import Series
from experiments.system.files import encode, write_text

_VARIABLE = {"online": "online", "run": "online", "shared": "online", "offline": "offline", "dryrun": "offline"}
Target = Literal["online", "offline", "disabled"]
CHARTS = 5
"""Charts of W&B, each of one measured quantity."""


def resolve(options: Wandb) -> Target:
    """Mode of W&B: "online", "offline" or "disabled". An explicit mode beats the variable WANDB_MODE.

    Raises:
        InputError: the configured key is malformed, online mode has no key, or WANDB_MODE is none of W&B's modes.
    """
    mode: str = options.mode.name
    if os.environ.get("WANDB_MODE") == "":
        del os.environ["WANDB_MODE"]  # set to nothing it is not set, which W&B takes for an error
    if options.mode is Mode.auto and (variable := os.environ.get("WANDB_MODE")):
        if variable not in (*_VARIABLE, "disabled"):
            raise InputError(f"WANDB_MODE must be one of {', '.join(_VARIABLE)}, disabled, got {variable}")
        mode = _VARIABLE.get(variable, "disabled")
    if mode == "offline" or mode == "disabled":
        return mode
    if mode == "auto" and not _may_have_key():
        return "offline"
    wandb = _wandb()
    try:
        wandb.setup(settings=wandb.Settings(silent=True, mode="online"))
        has_key = wandb.login(prompt=False, verify=False)
    except (wandb.Error, ValueError) as error:
        raise InputError(
            f"the W&B key or server must be valid, got: {_reason(error)}; use wandb.mode=offline to do without"
        ) from error
    if not has_key and mode == "online":
        raise InputError("wandb.mode=online needs a key, got none: run `wandb login`, or use wandb.mode=offline")
    return "online" if has_key else "offline"


def _may_have_key() -> bool:
    """True if W&B may have a key or settings of its own; then W&B is asked, and imported, which takes a second."""
    told = "wandb" in sys.modules or any(name.startswith("WANDB_") and name != "WANDB_MODE" for name in os.environ)
    files = os.environ.get("NETRC", "~/.netrc"), "~/_netrc", "~/.config/wandb/settings", "wandb/settings"
    return told or any(Path(file).expanduser().exists() for file in files)


def _wandb() -> ModuleType:
    """Library of W&B, imported by the first run that uses it, since the import takes a second."""
    import wandb

    return wandb


def _reason(error: Exception) -> str:
    """Reason why W&B refuses the settings, on one line: the first of its list of errors, with the variable at fault."""
    for wrong in getattr(error, "errors", list)():
        where = "_".join(["WANDB", *map(str, wrong["loc"])]).upper()
        return f"{where}={wrong['input']!r}, {wrong['msg']}"
    return " ".join(str(error).split()).rstrip(".")


class Mirror:
    """One run of W&B, or nothing at all in mode "disabled" and after W&B could not be started.

    Args:
        job: what is run; `job.config.wandb` says what it is called. Its directory exists and gets a folder `wandb`.
        mode: "online", "offline" or "disabled".
        x_axis: the quantity that charts are drawn against.
        known: points and rows of what was measured before.
        again: whether the run was finished before: where W&B has it in this mode, nothing is sent a second time.
        warn: what to do with one line of warning.
    """

    def __init__(
        self,
        job: Job,
        *,
        mode: Target,
        x_axis: str,
        known: Sequence[tuple[Point, Row]] = (),
        again: bool = False,
        warn: Callable[[str], None],
    ) -> None:
        self._warn = warn
        self._directory = job.directory
        self._name = re.sub(r"[^A-Za-z0-9_.-]+", "-", job.conf)
        self._x_axis = x_axis
        self._run: Any = None
        self._broken = False
        self._mode: Target = mode
        self._series = Series(x_axis)
        self._known = known
        if again and any((job.directory / "wandb").glob("offline-run-*" if mode == "offline" else "run-*")):
            return
        arguments = _arguments(job)
        if mode == "online" and not self._start(mode, arguments, "goes on offline"):
            shut_down()  # its process still holds the name of the run
            self._mode = mode = "offline"
        if mode == "offline" and self._run is None:
            self._start(mode, arguments, "goes on without it")

    def expect(self, points: Sequence[Point]) -> None:
        """Announce the points of the table, and add the rows that are already measured."""
        self._series.expect(points)
        for point, row in self._known:
            self._series.add(point, row)
        self._known = ()

    def log(self, point: Point, row: Row) -> None:
        """Take one row. Means over samples are sent under the names of their series once they are complete."""
        named = self._series.add(point, row)
        if named:
            self._send(lambda run: run.log(named, step=self._series.done - 1))

    def _charts(self) -> dict[str, Any]:
        """Charts of the first quantities that were measured, each with all curves along the x-axis."""
        charts = {}
        for name, curves in list(self._series.curves.items())[:CHARTS]:
            lines = {label or name: sorted(places) for label, places in curves.items()}
            x, y = ([[place[axis] for place in places] for places in lines.values()] for axis in (0, 1))
            title = name.replace("_", " ")
            charts[f"curves/{name}"] = _wandb().plot.line_series(x, y, list(lines), title, self._x_axis)
        return charts

    def unsent_place(self) -> str:
        """Words that say where unsent data lie and how to send them. Empty if there are none."""
        if self._mode != "offline" or self._broken:
            return ""
        runs = sorted((self._directory / "wandb").glob("offline-run-*"))  # by the time at which each began
        return f"W&B: offline; wandb sync {shlex.join(map(str, runs))} sends it" if runs else ""

    def finish(self, table: Table, estimates: Table) -> None:
        """Send the results (table, estimates, figure, files; headlines as numbers of the run) and end the run."""
        wandb = _wandb()

        def results(run: Any) -> None:
            run.summary.update(_numbers(estimates))
            picture = self._directory / "figure.png"
            figure = {"figure": wandb.Image(str(picture))} if picture.exists() else {}
            report = wandb.Html(str(self._directory / "report.html"), inject=False)
            shown = {name: _shown(rows) for name, rows in (("table", table), ("estimates", estimates))}
            run.log(shown | {"report": report} | figure | self._charts())

        def files(run: Any) -> None:
            artifact = wandb.Artifact(self._name, type="results")
            for name in (name for name in folders.RESULTS if (self._directory / name).exists()):
                artifact.add_file(str(self._directory / name), name=name)
            run.log_artifact(artifact)

        if self._run is not None:
            self._send(results)
            self._send(files)
        self.close(0)

    def close(self, exit_code: int) -> None:
        """End the run, waiting no longer than `wandb.finish_timeout`."""
        run, self._run = self._run, None
        if run is not None:
            self._guard("lost its server", lambda: run.finish(exit_code=exit_code))

    def _start(self, mode: Target, arguments: dict[str, Any], consequence: str) -> bool:
        def start() -> None:
            self._run = _wandb().init(mode=mode, dir=str(self._directory), id=_identifier(self._directory), **arguments)
            self._run.define_metric(self._x_axis)
            self._run.define_metric("*", step_metric=self._x_axis, hidden=True)  # no chart of each, but `_charts`

        started = self._guard(f"did not start and the run {consequence}", start)
        self._broken = False
        return started

    def _send(self, action: Callable[[Any], None]) -> None:
        run = self._run
        if run is not None and not self._broken:
            self._guard("stopped taking results", lambda: action(run))

    def _guard(self, trouble: str, action: Callable[[], None]) -> bool:
        try:
            action()
        except Exception as error:  # noqa: BLE001 - whatever W&B raises (it has no common base), no result may be lost
            if not self._broken:
                reason = " ".join(str(error).split())[:200] or type(error).__name__
                self._warn(f"W&B {trouble} ({reason}); the results in {self._directory} are not affected")
            self._broken = True
            return False
        return True


def _shown(rows: Table) -> Any:
    """A table of W&B, which infers the types of a frame anew with every row."""
    data = rows.astype(object).where(rows.notna(), None).to_numpy(object).tolist()
    return _wandb().Table(columns=list(rows.columns), data=data, allow_mixed_types=True)


def _numbers(estimates: Table) -> dict[str, Any]:
    """Headlines by name, with errors and theory beside them; `headline` is the first of them."""
    found: dict[str, Any] = {}
    for each in told(estimates):
        value = each.row.get("said", each.row.get("value"))
        found |= {"headline": value} if "headline" not in found and value is not None else {}
        found[each.name] = value
        found |= {f"{each.name}, {name}": each.row[name] for name in ("stderr", "theory", "limit") if name in each.row}
    return json.loads(encode(found))


def shut_down() -> None:
    """Stop W&B's background process, if it was started, so that the caller's process is as before."""
    if "wandb" in sys.modules:
        with contextlib.suppress(Exception):  # it is gone already
            _wandb().teardown()


def _arguments(job: Job) -> dict[str, Any]:
    """Arguments of `wandb.init` that do not depend on the mode."""
    options, conf, directory = job.config.wandb, job.conf, job.directory
    about = {"conf": conf, "experiment": job.experiment, "folder": str(directory)}
    return {
        "project": options.project,
        "entity": options.entity,
        "group": options.group or conf,
        "name": options.name or f"{conf} {directory.name}"[:128],
        "tags": [conf, *options.tags],
        "job_type": job.experiment,
        "resume": "allow",
        "config": json.loads(encode(job.config)) | about,
        "settings": _wandb().Settings(
            silent=True,
            console="off",
            init_timeout=options.init_timeout,
            finish_timeout=options.finish_timeout,
            finish_timeout_raises=True,
        ),
    }


def _identifier(directory: Path) -> str | None:
    """W&B's name for the run of a directory, under which a resumed run continues. None inside a W&B sweep."""
    if os.environ.get("WANDB_RUN_ID") or os.environ.get("WANDB_SWEEP_ID"):
        return None
    path = directory / "wandb" / "id"
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        write_text(path, uuid.uuid4().hex[:8])
    return path.read_text(encoding="utf-8")
