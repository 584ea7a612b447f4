"""Composition of words on the command line to typed, validated configurations, through Hydra."""

import itertools
import math
import re
from collections.abc import Collection, Sequence
from dataclasses import fields
from typing import Any, get_args, get_origin

from hydra import compose
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf, open_dict
from omegaconf.errors import OmegaConfBaseException

from experiments.contract import Config, InputError
from experiments.runner import errors, idle, overrides, registry, session, yaml_files
from experiments.runner.hydra_internals import UNREAD, is_unread
from experiments.runner.job import Job
from experiments.system import files


def jobs(words: Sequence[str], *, sweep: bool) -> list[Job]:
    """Jobs of the configurations that the words ask for, validated, within a session.

    Args:
        words: overrides such as `conf=capacity` and `seed=3`; with `sweep`, `seed=0,1` means both.
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
        files.say(f"{total} jobs are checked before the first of them begins")
    combinations = itertools.product(*axes.values())
    return [_job(words, overrides.label(list(itertools.compress(words, labelled)))) for words in combinations]


def composed(words: Sequence[str]) -> DictConfig:
    """The composed configuration of one job, `hydra` included, within a session.

    Raises:
        InputError: a key, a value or a choice is wrong.
    """
    conf = ""
    for override in map(overrides.parse, words):
        if is_unread(override.key_or_group):
            raise InputError(f"{override.key_or_group} must be {UNREAD}")
        if override.is_delete() and not override.key_or_group.startswith("hydra"):
            raise InputError(f"{override.input_line} must be left out: an option can be set, not deleted")
        if override.key_or_group == "conf":
            conf = errors.as_typed(override.get_value_string())
    if not re.fullmatch(r"\w[\w.-]*", conf) or conf == "null":
        raise InputError(errors.not_among("conf", conf, session.choices()))
    try:
        config = compose(session.PRIMARY, overrides=with_clearing_words(conf, words), return_hydra_config=True)
    except (HydraException, OmegaConfBaseException) as error:
        raise InputError(_sentence(error, conf, words)) from error
    except InputError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError) as error:  # a list of defaults that is none
        raise InputError(f"{session.source(conf)} must be a configuration, got: {errors.first_line(error)}") from error
    except RecursionError as error:
        raise InputError(f"{session.source(conf)} must not come back to itself through its defaults") from error
    clear(config, conf, words)
    schema = _schema(config, conf)
    for key in set(map(str, config)) - {field.name for field in fields(schema)} - {"hydra"}:
        raise InputError(_with_place(errors.unknown_option(key, conf, schema), conf, words))
    return config


def with_clearing_words(conf: str, words: Sequence[str]) -> list[str]:
    """Words whose mappings by size, as samples={0: 9, 60: 4}, replace a file's mapping instead of being merged with it.

    A word that clears the option stands before each mapping; `without_clearing_words` takes these words away again.
    """
    replaced, schema = [], type(session.usual(conf))
    for word in words:
        override = overrides.parse(word)
        key = override.key_or_group
        if word.startswith(f"{key}=") and isinstance(override.value(), dict) and errors.type_of(schema, key) is Any:
            replaced.append(f"{key}=null")
        replaced.append(word)
    return replaced


def without_clearing_words(words: Sequence[str]) -> tuple[str, ...]:
    """The words that `with_clearing_words` was given."""
    following = (*words[1:], "")
    return tuple(
        word
        for word, after in zip(words, following, strict=True)
        if not (word.endswith("=null") and after.startswith(word.removesuffix("null") + "{"))
    )


def clear(config: DictConfig, conf: str, words: Sequence[str]) -> None:
    """Empty the mappings of a composed configuration that a word such as `per_memory={}` gives no entry.

    Raises:
        InputError: another word changes an entry that is cleared.
    """
    usual, parsed = session.usual(conf), [overrides.parse(word) for word in words]
    for cleared in (override for override in parsed if override.value() == {} and not override.is_add()):
        key = cleared.key_or_group
        if get_origin(errors.type_of(type(usual), key)) is not dict:
            continue
        added = set()
        for override in parsed:
            names = {path[1] for path in overrides.values_of(override) if path[0] == key and len(path) > 1}
            if names & set(getattr(usual, key)):
                raise InputError(f"{override.input_line} must name an entry that {cleared.input_line} does not clear")
            added |= names
        with open_dict(config):
            for name in set(config[key]) - added:
                del config[key][name]


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
    if sentences and len(paths) > 1:  # what the words have left idle in a file is no mistake in it
        sentences = _idle(_composed_job([f"conf={job.conf}"], ""), ())
    source = session.source(job.conf)
    for path, sentence in sentences.items():  # nor is what a file leaves idle of its defaults
        if source is None or yaml_files.holds(source, ".".join(path)):
            raise InputError(_with_place(sentence, job.conf, ()))


def _job(words: Sequence[str], label: str) -> Job:
    settings = {
        path: value for override in map(overrides.parse, words) for path, value in overrides.values_of(override).items()
    }
    overrides.check_silenced(settings)
    job = _composed_job(words, label)
    _check_idle(job, settings)
    return job


def _composed_job(words: Sequence[str], label: str) -> Job:
    config = composed(words)
    conf = str(config.hydra.runtime.choices["conf"])
    with open_dict(config):
        config.pop("hydra")
    return validated_job(config, conf, tuple(words), label)


def validated_job(config: DictConfig, conf: str, words: tuple[str, ...], label: str) -> Job:
    """The job of composed options, validated."""
    schema = OmegaConf.get_type(config)
    for key, hint, _ in errors.leaves(schema):
        items = OmegaConf.select(config, key, throw_on_resolution_failure=False)
        nodes = [items._get_node(i) for i in range(len(items))] if OmegaConf.is_list(items) else []
        nested = any(map(OmegaConf.is_config, nodes))  # OmegaConf lets a list in a list pass
        plain = OmegaConf.to_container(items, resolve=False) if OmegaConf.is_config(items) else items
        if nested or errors.misfit(hint, plain) is not None:  # and one option stand for another of any type
            raise InputError(_with_place(f"{key} must be {errors.describe(hint)}, got {items}", conf, words))
    try:
        options = OmegaConf.to_object(config)
        assert isinstance(options, Config)
        experiment = registry.name_of(type(options))
        registry.judge(experiment, options)
    except (OmegaConfBaseException, ValueError) as error:
        plain = OmegaConf.to_container(config, throw_on_missing=False, resolve=False)
        text = errors.own_name(errors.sentence(error, conf, schema), plain)
        raise InputError(_with_place(text, conf, words)) from error
    return Job(conf, experiment, options, words, label, session.usual(conf))


def _schema(config: DictConfig, conf: str) -> type[Config]:
    """The options of the experiment that a choice names."""
    schema = OmegaConf.get_type(config)
    if isinstance(schema, type) and issubclass(schema, Config):
        return schema
    place = f"'defaults: [/schema/capacity, _self_]' ({session.source(conf)} line 1)"
    raise InputError(f"conf={conf} must name its experiment, as in {place}")


def _with_place(sentence: str, conf: str, words: Sequence[str]) -> str:
    """A sentence that begins with an option, with the place in the YAML file where no word of the command sets it."""
    key, path = sentence.split(" ", 1)[0], session.source(conf)
    option = re.split(r"[.\[]", key)[0]
    if path is None or any(re.match(rf"\+*{re.escape(option)}[.=]", word) for word in words):
        return sentence
    line = yaml_files.line_of(path, key)
    return sentence if line is None else f"{sentence} ({path} line {line})"


def _sentence(error: Exception, conf: str, words: Sequence[str]) -> str:
    """Error sentence for words that do not compose. If a single word is at fault, the sentence is about that word."""
    config, schema = None, None
    for word in (f"conf={conf}", *words):
        try:
            config = compose(session.PRIMARY, overrides=[f"conf={conf}", *with_clearing_words(conf, [word])])
            schema = _schema(config, conf)
        except (HydraException, OmegaConfBaseException) as single:
            if (path := session.source(conf)) is not None and len(named := session.experiments_of(conf)) > 1:
                place = f"({path} line {yaml_files.line_of(path, 'defaults')})"
                return f"conf={conf} must name one experiment in its defaults, got {' and '.join(named)} {place}"
            schema = session.options_class_of(conf) if schema is None else schema
            override, path = overrides.parse(word), session.source(conf)
            values = overrides.nested_value(override) if config is not None or path is None else yaml_files.data(path)
            if (wrong := errors.misfit(schema, values)) is not None:
                return _with_place(errors.wrong_type(*wrong), conf, words)
            key = override.key_or_group
            group, dot, inner = key.partition(".")
            hint = next((hint for name, hint, _ in errors.leaves(schema) if name == group), None) if schema else None
            if (
                config is not None
                and get_origin(hint) is dict
                and override.value() is not None
                and (dot or not word.startswith("+"))
            ):
                if inner.rpartition(".")[0] in OmegaConf.select(config, group):
                    return errors.unknown_option(key, conf, get_args(hint)[1])
                return f"{word} must set an entry that {group} has, or add one as in +{group}={{name:{{option:value}}}}"
            return _with_place(errors.sentence(single, conf, schema), conf, words)
    return errors.sentence(error, conf, schema)
