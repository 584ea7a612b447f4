"""Errors of a configuration, one sentence for every mistake: the key, its value, and the allowed values."""

import re
import types
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

from hydra.errors import MissingConfigException
from omegaconf.errors import InterpolationResolutionError, OmegaConfBaseException

from experiments.bounds import suggestion
from experiments.runner import registry

_WORDS = {int: "an integer", float: "a number", bool: "true or false", str: "a string"}
_PLURALS = {int: "integers", float: "numbers", bool: "booleans", str: "strings"}


def leaves(schema: Any, prefix: str = "") -> Iterator[tuple[str, Any, str]]:
    """Dotted name, type and line of help of every option of a dataclass, in its order."""
    hints = get_type_hints(schema)
    for field in fields(schema):
        if is_dataclass(hints[field.name]):
            yield from leaves(hints[field.name], f"{prefix}{field.name}.")
        else:
            yield prefix + field.name, hints[field.name], field.metadata.get("help", "")


def describe(hint: Any) -> str:
    """Values that the type of an option allows, in words."""
    if get_origin(hint) in (Union, types.UnionType):
        return " or ".join("null" if part is type(None) else describe(part) for part in get_args(hint))
    if get_origin(hint) is list:
        return f"a list of {_PLURALS.get(get_args(hint)[0], 'values')}"
    if isinstance(hint, type) and issubclass(hint, Enum):
        return f"one of {', '.join(member.name for member in hint)}"
    if is_dataclass(hint):
        return f"a group of options ({', '.join(field.name for field in fields(hint))})"
    return "a mapping" if get_origin(hint) is dict else _WORDS.get(hint, "a value")


def misfit(schema: Any, values: Any, name: str = "") -> tuple[str, Any, Any] | None:
    """Dotted name, type and value of the first option that has a list, mapping or single value but takes another.

    Args:
        schema: the type of the values: a dataclass of options, or what an option may be.
        values: plain data, as a file or a word gives them; null and what is read from other options fit everything.
        name: dotted name of the values.
    """
    hint = without_none(schema)
    single = not (get_origin(hint) in (list, dict) or is_dataclass(hint))
    fits = isinstance(values, list if get_origin(hint) is list else dict)
    if values is None or hint in (None, Any) or (isinstance(values, str) and values.startswith("${")):
        return None
    if isinstance(values, list | dict) if single else not fits:
        return name, schema, values
    for key, part in values.items() if isinstance(values, dict) else ():
        inner = get_args(hint)[-1] if get_origin(hint) is dict else get_type_hints(hint).get(key)
        if (wrong := misfit(inner, part, f"{name}.{key}".lstrip("."))) is not None:
            return wrong
    return None


LAUNCHERS = {"joblib": "joblib", "ray": "ray", "submitit_local": "slurm", "submitit_slurm": "slurm"}
"""Launchers of Hydra that come with an extra of this package."""


def not_among(key: str, value: str, allowed: Sequence[str]) -> str:
    """The sentence for a choice that does not exist, or needs more than is installed."""
    if key == "hydra/launcher" and value in LAUNCHERS:
        extra = f"hopfield[{LAUNCHERS[value]}]"
        return f"hydra/launcher={value} must be installed, got none: pip install '{extra}' brings it"
    if near := suggestion(value, allowed):  # before the list, which is long
        return f"{key} must be one of those there are, got {value}{near} ({', '.join(allowed)})"
    return f"{key} must be one of {', '.join(allowed)}, got {value or 'nothing'}"


def unknown_option(key: str, conf: str, schema: Any) -> str:
    """The sentence for an option that does not exist.

    Args:
        key: its dotted name.
        conf: the choice of `conf=`.
        schema: the dataclass that lacks it, None if unknown.
    """
    group = key.rpartition(".")[0]
    keys = [name for name, _, _ in leaves(schema, f"{group}." if group else "")] if is_dataclass(schema) else []
    allowed = suggestion(key, keys) or (f" ({', '.join(keys)})" if keys else "")
    return f"{key} is not an option of conf={conf}{allowed}"


def sentence(error: BaseException, conf: str, schema: Any) -> str:
    """The sentence for an error of Hydra, of OmegaConf or of a Config.

    Args:
        error: what was raised, with its causes.
        conf: the choice of `conf=`.
        schema: the dataclass behind that choice, None if unknown.
    """
    if isinstance(error, MissingConfigException) and error.missing_cfg_file:
        file = error.missing_cfg_file
        group, _, name = file.partition("/") if file.startswith("conf/") else file.rpartition("/")
        return not_among(group, name, sorted(error.options or (registry.names() if group == "schema" else [])))
    detail: BaseException | None = error
    while detail is not None and not isinstance(detail, OmegaConfBaseException):
        detail = detail.__cause__ or detail.__context__
    if detail is None or not detail.full_key:
        missing = re.match(r"Could not override '([^']+)'", str(error))
        return unknown_option(missing[1], conf, schema) if missing else " ".join(str(error).split())
    key = str(detail.full_key)
    if isinstance(detail, AttributeError | KeyError):
        return unknown_option(key, conf, detail.object_type)
    hint = type_of(schema, key)
    if hint is None or isinstance(detail, InterpolationResolutionError) or not isinstance(detail, ValueError):
        return f"{key} cannot be read: {first_line(detail)}"
    return wrong_type(key, hint, detail.value)


def wrong_type(key: str, hint: Any, value: Any) -> str:
    """The sentence for a value that an option of this type cannot have."""
    contract, text = describe(hint), as_typed(value)
    if isinstance(value, str) and text.startswith("["):
        return f"{key} must be {contract}, got the text '{text}': leave out its quotes"
    alone = "a list of" in contract and text != "null" and not isinstance(value, list | dict)
    return f"{key} must be {contract}, got {text}" + (f"; did you mean {key}=[{text}]?" if alone else "")


def own_name(text: str, options: Any, name: str = "") -> str:
    """Sentence of a library in which the option's name replaces `path`, for the option whose value it quotes."""
    if isinstance(options, str) and text.startswith("path must"):
        spellings = [repr(part) for part in (options, options.partition(":")[2], str(Path(options))) if part]
        quoted = next((part for part in spellings if part in text), None)
        return text if quoted is None else name + text.removeprefix("path").replace(quoted, repr(options))
    parts = options.items() if isinstance(options, dict) else []
    parts = [(name, part) for part in options] if isinstance(options, list) else parts
    for key, part in parts:
        key = f"{name}.{key}" if name and isinstance(options, dict) else str(key)
        text = own_name(text, part, key)
    return text


def as_typed(value: Any) -> str:
    """A value as it would be written on the command line."""
    return {"": "''", "None": "null"}.get(str(value), str(value))


def first_line(error: BaseException) -> str:
    """First informative line of an error's message."""
    lines = [line for line in str(error).splitlines() if line.strip() and not line.startswith("Error parsing override")]
    return lines[0].strip().rstrip(".") if lines else type(error).__name__


def type_of(schema: Any, key: str) -> Any:
    """Type of the option with a dotted name such as `neurons[0]` or `wandb.mode`. None for an unknown name."""
    hint = schema
    for part in re.findall(r"[^.\[\]]+", key):
        hint = without_none(hint)
        if get_origin(hint) in (list, dict):
            hint = get_args(hint)[-1]
        else:
            hint = get_type_hints(hint).get(part) if is_dataclass(hint) else None
    return hint


def without_none(hint: Any) -> Any:
    """The type of an option that is not null."""
    optional = get_origin(hint) in (Union, types.UnionType)
    return next(kind for kind in get_args(hint) if kind is not type(None)) if optional else hint
