"""Jobs of a command line: typed configurations, judged by their experiments."""

import itertools
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from experiments import contract
from experiments.contract import Config, InputError
from experiments.runner import configuration, errors, folders, idle, overrides, registry, session, values, yaml_files
from experiments.runner.job import Job
from experiments.runner.words import override as as_override
from experiments.shared import spellings
from experiments.system import terminal


def jobs(words: Sequence[str], *, sweep: bool) -> list[Job]:
    """Jobs of the configurations that the words ask for, validated, within a session.

    Args:
        words: overrides such as `conf=capacity` and `seed=3`; with `sweep`, `seed=0,1` means both, and the word or the
            entry of the file `sweep` the runs that it lists.
        sweep: whether the product of all comma-separated values is asked for.

    Raises:
        InputError: one of them cannot be run.
    """
    axes: dict[str, list[str]] = {}
    swept: set[str] = set()
    parsed = [overrides.parse(word) for word in words]
    overrides.check_once(parsed)
    for override in parsed:
        key = override.get_key_element()
        axis = str(override.input_line) if override.is_add() else key  # several entries may be added to one group
        axes[axis] = overrides.alternatives(override)
        if override.is_sweep_override():
            swept.add(axis)
            if not sweep:
                value = str(override.input_line).partition("=")[2]
                raise InputError(
                    f"{key}={value} gives {key} several values: add -m to run each; "
                    f"a list is written {key}=[{value}], a text with a comma in quotes"
                )
    labelled = [key in swept and key not in ("output", "shard") for key in axes]
    total = math.prod(map(len, axes.values()))
    if total == 0:
        raise InputError(f"-m must give at least one job, got no value of {' and '.join(sorted(swept))}")
    if total > overrides.SWEEP:
        raise InputError(f"-m must give at most {overrides.SWEEP} jobs, got {' × '.join(sorted(swept))} with more")
    if total > 100:
        terminal.say(f"{total} jobs are checked before the first of them begins")
    made = []
    for chosen in itertools.product(*axes.values()):
        for words, told in _runs(chosen, sweep=sweep):
            label = overrides.label([*itertools.compress(chosen, labelled), *told])
            made.append(replace(_job(words, label), asked=tuple(chosen)))
    return made


def _runs(words: Sequence[str], *, sweep: bool) -> Iterator[tuple[list[str], list[str]]]:
    """Words of each run that the word `sweep`, or the file's `sweep`, makes of some words, and words for its folder."""
    rest = [word for word in words if not word.startswith(f"{yaml_files.SWEEP}=")]
    given = {overrides.parse(word).key_or_group: word for word in words}
    conf = errors.as_typed(given.get("conf", "conf=").removeprefix("conf="))
    runs, place = swept_by_file(conf), f"{yaml_files.SWEEP} of conf={conf}"
    if yaml_files.SWEEP in given:
        place = yaml_files.SWEEP
        runs = overrides.runs(place, overrides.listed(place, overrides.parse(given[place]).value()))
    if _is_one(given, runs):
        yield rest, []
        return
    keys = dict.fromkeys(str(key) for run in runs for key in run)
    if beside := [key for key in keys if key in given]:
        raise InputError(f"{beside[0]} must be given once, got it in {place} and as {given[beside[0]]}")
    named = " and ".join(keys)
    if not sweep:
        raise InputError(f"{place} gives {named} several values: add -m to run each of the {len(runs)} runs")
    for run in runs:
        told = [f"{key}={folders.words(value)}" for key, value in run.items()]
        yield [*rest, *(as_override(f"{key}={overrides.written(value)}") for key, value in run.items())], told


def _is_one(given: Collection[str], runs: Sequence[Mapping[str, Any]]) -> bool:
    """True if no sweep is asked for: there is none, or all options of one of its runs are given beside it."""
    return not runs or any({*given} >= {*run} for run in runs)


def swept_by_file(conf: str) -> list[dict[str, Any]]:
    """The runs of the sweep that the file of a choice of `conf=` holds, within a session."""
    path = session.source(conf) if conf in session.choices() else None
    over = None if path is None else (yaml_files.data(path) or {}).get(yaml_files.SWEEP)
    place = f"{path}: {yaml_files.SWEEP}"
    return [] if over is None else overrides.runs(place, overrides.listed(place, over))


def _idle(job: Job, paths: Collection[idle.Path]) -> dict[idle.Path, str]:
    try:
        return dict(idle.options(job.config, registry.load(job.experiment), paths))
    except ValueError as error:
        raise InputError(" ".join(str(error).split())) from error


def _check_idle(job: Job, paths: Collection[idle.Path]) -> None:
    """Check that no option without effect is set by a word, or by the file alone; else InputError."""
    sentences = _idle(job, paths)
    for path, sentence in sentences.items():
        if idle.was_set(path, paths):
            raise InputError(sentence)
    if sentences and len(paths) > 1:  # an option of the file that the command line made useless is no error
        sentences = _idle(_judged(*configuration.options([f"conf={job.conf}"]), ()), ())
    source = session.source(job.conf)
    for path, sentence in sentences.items():  # nor is a default that the file made useless
        if source is None or yaml_files.holds(source, ".".join(path)):
            raise InputError(configuration.with_place(sentence, job.conf, ()))


def _job(words: Sequence[str], label: str) -> Job:
    parsed = map(overrides.parse, words)
    given = {path: value for override in parsed for path, value in overrides.values_of(override).items()}
    overrides.check_silenced(given)
    conf, schema, plain = configuration.options(words)
    configuration.leave_out(schema, plain, given)
    made = _judged(conf, schema, plain, words)
    _check_idle(made, given)
    return replace(made, words=tuple(words), label=label)


def job(conf: str, options: Mapping[str, Any]) -> Job:
    """The job of a choice of `conf=` with options that are given as values, validated, within a session.

    Args:
        conf: the choice.
        options: plain data by the dotted names of options; of a group or mapping a dict.

    Raises:
        InputError: it cannot be run.
    """
    named = {key: tuple(key.split(".")) for key in options}
    given = {path: value for key in options for path, value in values.paths(options[key], named[key])}
    overrides.check_silenced(given)
    if not _is_one(options, swept_by_file(conf)):
        raise InputError(f"conf={conf} must be given to hopfield.sweep, got a file with a sweep")
    _, schema, plain = configuration.options([f"conf={conf}"])
    try:
        for key, value in options.items():
            plain = values.overlaid(schema, plain, values.nested(named[key], value), conf)
    except ValueError as error:
        raise InputError(str(error)) from error
    configuration.leave_out(schema, plain, given)
    made = _judged(conf, schema, plain, [f"{key}=" for key in options])
    _check_idle(made, {("conf",): conf} | given)
    return made


def _judged(conf: str, schema: type[Config], plain: dict[str, Any], words: Sequence[str]) -> Job:
    """The job of plain options, validated; `words` are those that set any."""
    try:
        options, experiment = values.typed(schema, plain), registry.name_of(schema)
        _judge(experiment, options)
    except ValueError as error:
        text = errors.own_name(" ".join(str(error).split()), plain)
        raise InputError(configuration.with_place(text, conf, words)) from error
    return Job(conf, experiment, options, (), "", session.usual(conf))


def _judge(experiment: str, options: Config) -> None:
    """Check that options are valid for their experiment, and that all the names in them mean something.

    Raises:
        ValueError: one of them is wrong; one sentence that begins with its name.
    """
    spellings.check(options)
    try:
        contract.check(registry.load(experiment), options)
    except ValueError as error:
        raise ValueError(spellings.own_name(str(error), options)) from error
