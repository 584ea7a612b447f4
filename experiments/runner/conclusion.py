"""Conclusion of a run: table, summary and figure from the ledger alone, and the lines the command prints about them."""

from pathlib import Path

from experiments.contract import Summary
from experiments.figures import report
from experiments.figures.sentences import sentences
from experiments.runner import boundary, folders, mirror, results, tables
from experiments.runner.planning import Plan
from experiments.shared import memories
from experiments.system import files, provenance, terminal


def conclude(plan: Plan, copy: mirror.Mirror) -> None:
    """Write table, summary and figure, send them to the mirror, and print where they are."""
    directory = plan.job.directory
    plan.ledger.reload()
    record = plan.record(complete=True)
    if record.further:
        terminal.say(f"the table holds {record.further} further points, measured for earlier commands in {directory}")
    elif others := len(plan.ledger.further(plan.points)):
        terminal.say(
            f"the table leaves out {others} points, measured for earlier commands, whose rows {directory} keeps"
        )
    _say_mixed(plan)
    tables.write(directory, plan.ledger.rows(plan.table()))
    table = tables.read(directory, plan.job.experiment)  # the numbers that a redraw sees
    summary = plan.experiment.summarise(table)
    if kept := memories.kept_of(table):
        summary.more = {**summary.more, memories.MEMORIES: kept}
    _write(directory, record, summary)
    figure = results.draw(directory, plan.experiment, plan.job.config.figure) if plan.job.kept else None
    (directory / boundary.LOG).unlink(missing_ok=True)  # of a run that was stopped here before
    copy.finish(table, summary.estimates)
    if not plan.job.call:
        _say_headlines(directory, summary)
    for note in summary.notes:
        terminal.say(f"warning: {note}")
    if plan.job.call:
        return
    if where := copy.unsent_place():
        terminal.tell(where)
    terminal.tell(f"table: {directory / tables.NAME}", f"figure: {figure}", f"report: {directory / report.NAME}")


def _say_headlines(directory: Path, summary: Summary) -> None:
    """Print the first numbers that a summary is about, and where the others are."""
    lines = sentences(summary.estimates)
    terminal.tell(*lines)
    if more := len(summary.estimates) - len(lines):
        terminal.tell(f"{more} more numbers: {directory / 'estimates.csv'}")


def _write(directory: Path, record: folders.Record, summary: Summary) -> None:
    """Write the summary of a directory, and the record of a run that is complete with it."""
    results.write(directory, summary)
    digests = (files.digest(directory / name) for name in (tables.NAME, "summary.json"))
    record._replace(**dict(zip(("table", "summary"), digests, strict=True))).write(directory)


def _say_mixed(plan: Plan) -> None:
    """Print a warning if rows of the table were measured in different environments, or with other code."""
    environments = plan.ledger.environments(plan.table())
    old = sum(count for environment, count in environments if environment.get("code") != provenance.code())
    if old:
        rows = f"{old} of {sum(count for _, count in environments)} rows"
        terminal.say(
            f"warning: {rows} were measured with other code of hopfield than there is; output=NEW measures anew"
        )
    names = dict.fromkeys(name for environment, _ in environments for name in environment if name != "code")
    changing = [name for name in names if len({environment.get(name, "") for environment, _ in environments}) > 1]
    if changing:
        kinds = [
            f"{count} with {', '.join(f'{name} {environment.get(name) or chr(45)}' for name in changing)}"
            for environment, count in environments
        ]
        terminal.say(f"warning: the rows of the table were measured in different ways: {'; '.join(kinds)}")
