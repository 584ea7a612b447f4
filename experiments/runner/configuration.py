"""Composition of the words of one job to its configuration, through Hydra; no option is judged yet."""

import re
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, get_args, get_origin

from hydra import compose
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf, open_dict
from omegaconf.errors import OmegaConfBaseException

from experiments.contract import Config, InputError
from experiments.runner import errors, overrides, session, yaml_files
from experiments.runner.hydra_internals import UNREAD, is_unread


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
        raise InputError(with_place(errors.unknown_option(key, conf, schema), conf, words))
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
                return with_place(errors.wrong_type(*wrong), conf, words)
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
            return with_place(errors.sentence(single, conf, schema), conf, words)
    return errors.sentence(error, conf, schema)
