"""Composition of the words of one job to its configuration, through Hydra; no option is judged yet."""

import re
from collections.abc import Collection, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, get_args, get_origin

from hydra import compose
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf, open_dict
from omegaconf.errors import OmegaConfBaseException

from experiments.contract import Config, InputError
from experiments.runner import errors, overrides, session, values, yaml_files
from experiments.runner.hydra_internals import UNREAD, is_unread


def composed(words: Sequence[str]) -> DictConfig:
    """The configuration behind `conf=`, `hydra` included, within a session. Words that are not Hydra's own wait.

    Raises:
        InputError: a choice or the file behind it is wrong.
    """
    conf, hydras = "", []
    for override in map(overrides.parse, words):
        if is_unread(override.key_or_group):
            raise InputError(f"{override.key_or_group} must be {UNREAD}")
        if override.is_delete() and not override.key_or_group.startswith("hydra"):
            raise InputError(f"{override.input_line} must be left out: an option can be set, not deleted")
        if override.key_or_group == "conf":
            conf = errors.as_typed(override.get_value_string())
        if _is_hydras(override):
            hydras.append(str(override.input_line))
    if not re.fullmatch(r"\w[\w.-]*", conf) or conf == "null":
        raise InputError(errors.not_among("conf", conf, session.choices()))
    try:
        config = compose(session.PRIMARY, overrides=hydras, return_hydra_config=True)
    except (HydraException, OmegaConfBaseException) as error:
        raise InputError(_sentence(error, conf)) from error
    except InputError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError) as error:  # a list of defaults that is none
        raise InputError(f"{session.source(conf)} must be a configuration, got: {errors.first_line(error)}") from error
    except RecursionError as error:
        raise InputError(f"{session.source(conf)} must not come back to itself through its defaults") from error
    schema = _schema(config, conf)
    for key in set(map(str, config)) - {field.name for field in fields(schema)} - {"hydra"}:
        raise InputError(with_place(errors.unknown_option(key, conf, schema), conf, ()))
    return config


def options(words: Sequence[str]) -> tuple[str, type[Config], dict[str, Any]]:
    """Choice of `conf=`, class of its options, and the options that words ask for as plain data, within a session.

    Raises:
        InputError: a key or a choice is wrong; values are not judged yet.
    """
    config = composed(words)
    conf = str(config.hydra.runtime.choices["conf"])
    schema = _schema(config, conf)
    with open_dict(config):
        config.pop("hydra")
    plain: Any = OmegaConf.to_container(config)
    parsed = [override for override in map(overrides.parse, words) if not _is_hydras(override)]
    try:
        for override in sorted(parsed, key=lambda override: override.value() != {}):  # what is emptied comes first
            _check_entries(override, schema, plain)
            path = override.key_or_group.split(".")
            plain = values.overlaid(schema, plain, values.nested(path, override.value()), conf)
        found: Any = OmegaConf.to_container(OmegaConf.create(plain), resolve=True, throw_on_missing=True)
        return conf, schema, found
    except (OmegaConfBaseException, ValueError) as error:
        raise InputError(with_place(errors.sentence(error, conf, schema), conf, words)) from error


def _is_hydras(override: Override) -> bool:
    return override.key_or_group == "conf" or override.key_or_group.startswith("hydra")


def _check_entries(override: Override, schema: type[Config], plain: dict[str, Any]) -> None:
    """Check that a word without + names entries that a mapping of groups has: a slip would add one; else ValueError."""
    group, *inner = override.key_or_group.split(".")
    value = override.value()
    names = inner[:1] or (value if isinstance(value, dict) else ())
    is_mapping = get_origin(errors.type_of(schema, group)) is dict
    if is_mapping and not override.is_add() and any(str(name) not in plain[group] for name in names):
        add = f"+{group}={{name:{{option:value}}}}"
        raise ValueError(f"{override.input_line} must set an entry that {group} has, or add one as in {add}")


def leave_out(schema: type[Config], plain: dict[str, Any], given: Collection[tuple[str, ...]]) -> None:
    """Leave out what a file gives for one entry beside an option that is given: loads of a memory at other sizes.

    Args:
        schema: class of the options.
        plain: the options; some entries become null.
        given: paths of the options that are given, by words or from Python.
    """
    for field in (each for each in fields(schema) if each.metadata.get("entries_of")):
        kind = get_args(errors.type_of(schema, field.name))[-1]
        for name, entry in plain[field.name].items():
            for option in fields(kind) if is_dataclass(kind) else ():
                mine = lambda word, key=field.name, name=name: {(word,), (key, name, word)}.intersection(given)
                beside = option.metadata.get("goes_with")
                if beside and mine(beside) and not mine(option.name):
                    entry[option.name] = None


def _schema(config: DictConfig, conf: str) -> type[Config]:
    """The options of the experiment that a choice names."""
    schema = OmegaConf.get_type(config)
    if isinstance(schema, type) and issubclass(schema, Config):
        return schema
    place = f"'defaults: [/schema/capacity, _self_]' ({session.source(conf)} line 1)"
    raise InputError(f"conf={conf} must name its experiment, as in {place}")


def with_place(sentence: str, conf: str, words: Sequence[str]) -> str:
    """A sentence that begins with an option, with the place in the YAML file where no word of the command sets it."""
    key, path = sentence.split(" ", 1)[0], session.source(conf)
    option = re.split(r"[.\[]", key)[0]
    if path is None or any(re.match(rf"\+*{re.escape(option)}[.=]", word) for word in words):
        return sentence
    line = yaml_files.line_of(path, key)
    return sentence if line is None else f"{sentence} ({path} line {line})"


def _sentence(error: Exception, conf: str) -> str:
    """Error sentence for a choice that does not compose."""
    path, named, schema = session.source(conf), session.experiments_of(conf), session.options_class_of(conf)
    if path is not None and len(named) > 1:
        place = f"({path} line {yaml_files.line_of(path, 'defaults')})"
        return f"conf={conf} must name one experiment in its defaults, got {' and '.join(named)} {place}"
    wrong = errors.misfit(schema, yaml_files.data(path)) if path is not None else None
    text = errors.sentence(error, conf, schema) if wrong is None else errors.wrong_type(*wrong)
    return with_place(text, conf, ())
