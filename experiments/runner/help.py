"""The text of `conf=NAME --help`: the options of an experiment with the values that they have."""

import dataclasses
import textwrap
from collections.abc import Iterator, Sequence
from enum import Enum
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from experiments import contract
from experiments.runner import catalogue, configuration, errors, registry, session
from experiments.system import files

_COLUMN = 34


def text(words: Sequence[str], folder: Path | None) -> str:
    """The options of the experiment that a command line names, as its words set them.

    Args:
        words: its overrides.
        folder: holds further choices of `conf=` and experiments.

    Raises:
        InputError: an override is wrong.
    """
    with registry.including(folder), session.opened(folder):
        name, schema, plain = configuration.options(words)
        choice = list(catalogue.lines({name: session.source(name)}))
        options = f"Options of conf={name}:\n" + "\n".join(_options(OmegaConf.create(plain), schema))
    return "\n\n".join([catalogue.HEAD, *choice, options, catalogue.FOOT])


def _options(config: DictConfig, schema: type) -> Iterator[str]:
    """Lines of every option: its value, values of single entries, allowed values and description.

    Options of every experiment stand behind its own, W&B's last.
    """
    common = {entry.name: entry.name == "wandb" for entry in dataclasses.fields(contract.Config)}
    place = lambda option: (option[0].partition(".")[0] in common, common.get(option[0].partition(".")[0], False))
    options = sorted(errors.leaves(schema), key=place)
    indent = " " * _COLUMN
    for key, hint, about in options:
        value = OmegaConf.select(config, key)
        setting = f"  {key}={_command_line_value(value)}"
        entries = _of_entries(config, schema, key) if value is None else ""
        text = "; ".join(filter(None, (entries, errors.describe(hint), about)))
        lines = textwrap.wrap(
            text, catalogue.columns(), initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
        )
        if len(setting) < _COLUMN and lines:
            lines[0] = setting.ljust(_COLUMN) + lines[0][_COLUMN:]
        else:
            yield setting
        yield from lines


def _of_entries(config: DictConfig, schema: Any, key: str) -> str:
    """Values of an option that is left to the entries of a mapping, as to single memories: those that they have."""
    by_value: dict[str, list[str]] = {}
    for field in dataclasses.fields(schema):
        entries = config[field.name] if field.metadata.get("entries_of") else {}
        names = config[field.metadata["entries_of"]] if entries else None
        for name, entry in entries.items():
            value = OmegaConf.select(entry, key)
            if value is not None and (names is None or name in names):
                by_value.setdefault(_command_line_value(value).replace(",", ", "), []).append(str(name))
    return ", ".join(f"{value} for {' and '.join(names)}" for value, names in by_value.items())


def _command_line_value(value: Any) -> str:
    """A value as it is written on the command line."""
    if isinstance(value, Enum):
        return value.name
    if OmegaConf.is_dict(value):
        return f"{{{','.join(map(str, value))}}}"
    if OmegaConf.is_list(value):
        return files.encode(OmegaConf.to_container(value, enum_to_str=True)).replace('"', "")
    return value if isinstance(value, str) else files.encode(value)
