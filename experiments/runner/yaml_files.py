"""User-defined configuration files: read as data alone, and a mistake in one is reported with its file and line."""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import yaml
from hydra.plugins.config_source import ConfigResult
from omegaconf import open_dict

from experiments.contract import InputError
from experiments.runner.hydra_internals import UNREAD, FileConfigSource, is_unread

SWEEP = "sweep"
"""Key of a file, and word of the command, that holds options of several runs."""
LARGEST = 2**20
"""Bytes of a file at most."""
MOST = 10**5
"""Entries of a file at most, those that aliases repeat counted again."""
_STANDARD = "tag:yaml.org,2002:"
_PLAIN = {f"{_STANDARD}{name}" for name in ("map", "seq", "str", "int", "float", "bool", "null", "timestamp", "merge")}

_NAMELESS = {f"{_STANDARD}{name}" for name in ("null", "timestamp")}
_NUMBERS = {f"{_STANDARD}{name}" for name in ("int", "float")}
_SURPRISING = re.compile(r"[-+]?0[\d_]+|[^:]+:.*|.*_.*")
"""Whole numbers that YAML reads as octal, numbers to the base 60, and such as 2025_11, which it reads as 202511."""


class YamlSource(FileConfigSource):
    """Folder that holds `conf/`. Its choices need no `@package` line."""

    @staticmethod
    def scheme() -> str:
        return "hopfield"

    def load_config(self, config_path: str) -> ConfigResult:
        """A file of choices, checked before it is read."""
        check(Path(self.path) / self._normalize_file_name(config_path))
        result = super().load_config(config_path)
        if config_path.startswith("conf/"):
            config: Any = result.config
            with open_dict(config):
                config.pop(SWEEP, None)  # of many runs, which `compose` makes of it
            result.header["package"] = result.header.get("package") or "_global_"
        return result


def check(path: Path) -> None:
    """Check that a file is YAML that can be read without harm or surprise; else InputError, with file and line."""
    node = _root_node(path)
    _check_last(path, node)
    _check_hydra(path, node)
    _check_silenced(path, node)


def data(path: Path) -> Any:
    """Contents of a YAML file: mappings, lists, texts, numbers and truth values; nothing in them is resolved."""
    _root_node(path)
    return yaml.safe_load(_text(path))


def line_of(path: Path, key: str) -> int | None:
    """Line of a dotted option such as `classical.load` or `neurons[0]` in a file, from 1.

    Where only its first parts are there, it is the line of the last of these, and None where none is.
    """
    nodes = list(_nodes(path, key))
    return nodes[-1].start_mark.line + 1 if nodes else None


def holds(path: Path, key: str) -> bool:
    """True if a file itself gives a dotted option."""
    return len(list(_nodes(path, key))) == len(_parts(key))


def _parts(key: str) -> list[str]:
    return re.findall(r"[^.\[\]]+", key)


def _nodes(path: Path, key: str) -> Iterator[yaml.Node]:
    """Values of a dotted option's parts, up to the first that a file lacks."""
    node = _root_node(path)
    for part in _parts(key):
        if isinstance(node, yaml.SequenceNode):
            node = node.value[int(part)] if part.isdecimal() and int(part) < len(node.value) else None
        elif isinstance(node, yaml.MappingNode):
            node = next((value for name, value in node.value if name.value == part), None)
        else:
            return
        if node is None:
            return
        yield node


def _root_node(path: Path) -> yaml.Node | None:
    try:
        node = yaml.compose(_text(path), Loader=yaml.SafeLoader)
        if node is not None:
            _count(path, node, {}, set())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        _refuse(path, mark.line if mark else 0, f"be YAML, got: {error.problem or error.context}")
    except yaml.YAMLError as error:
        _refuse(path, 0, f"be YAML, got: {' '.join(str(error).split())}")
    except RecursionError:
        _refuse(path, 0, "not be nested so deeply")
    if node is not None and not isinstance(node, yaml.MappingNode):
        _refuse(path, node.start_mark.line, "hold options as key: value, got something else")
    return node


def _text(path: Path) -> str:
    try:
        if not path.is_file():  # a pipe could block for ever
            raise InputError(f"{path} must be a file")
        if path.stat().st_size > LARGEST:
            raise InputError(f"{path} must have at most 1 MiB, got {path.stat().st_size} bytes")
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} must be readable, got: {error.strerror}") from error
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        _refuse(path, data[: error.start].count(b"\n"), f"be text in UTF-8, got the byte 0x{data[error.start]:02x}")


def _count(path: Path, node: yaml.Node, sizes: dict[int, int], above: set[int]) -> int:
    """Number of entries of a node, with the content of every alias. Refuses anything but plain data."""
    line = node.start_mark.line
    if id(node) in above:
        _refuse(path, line, "not contain itself")
    if node.tag not in _PLAIN:
        _refuse(path, line, f"hold plain values, got the tag {node.tag.replace(_STANDARD, '!!')}")
    if node.tag in _NUMBERS and _SURPRISING.fullmatch(node.value):
        _refuse(path, line, f"write numbers without leading zeros, colons and underscores, got {node.value}")
    if id(node) not in sizes:
        above.add(id(node))
        if isinstance(node, yaml.MappingNode):
            _check_keys(path, node)
        inner = [part for pair in node.value for part in pair] if isinstance(node, yaml.MappingNode) else node.value
        parts = inner if isinstance(node, yaml.CollectionNode) else []
        sizes[id(node)] = 1 + sum(_count(path, part, sizes, above) for part in parts)
        above.remove(id(node))
    if sizes[id(node)] > MOST:
        _refuse(path, line, f"hold at most {MOST} entries, got {sizes[id(node)]:.3g} with its aliases")
    return sizes[id(node)]


def _check_keys(path: Path, node: yaml.MappingNode) -> None:
    seen: set[str] = set()
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode):
            _refuse(path, key.start_mark.line, "have names as keys, got a list or mapping")
        if key.tag in _NAMELESS:
            _refuse(path, key.start_mark.line, f"have names as keys, got {key.value or 'null'}")
        if key.value in seen:
            _refuse(path, key.start_mark.line, f"give every key once, got {key.value} again")
        seen.add(key.value)


def _check_last(path: Path, node: yaml.Node | None) -> None:
    """Check that a list of defaults ends with `_self_`: more after it would silence the file's own values."""
    entries = next((value.value for key, value in _pairs(node) if key.value == "defaults"), [])
    past = False
    for entry in entries if isinstance(entries, list) else []:
        name = entry.value[0][0].value if isinstance(entry, yaml.MappingNode) and entry.value else entry.value
        if past and not str(name).startswith("override "):
            _refuse(path, entry.start_mark.line, f"come before _self_, or it overrides this file's values, got {name}")
        past = past or name == "_self_"


def _check_hydra(path: Path, node: yaml.Node | None) -> None:
    """Check that something reads the options of Hydra's own; else InputError."""
    above = [value for key, value in _pairs(node) if key.value == "hydra"]
    for key, _ in itertools.chain.from_iterable(map(_pairs, above)):
        if is_unread(f"hydra.{key.value}"):
            _refuse(path, key.start_mark.line, f"have hydra.{key.value} {UNREAD}")


def _check_silenced(path: Path, node: yaml.Node | None) -> None:
    """Check that no option of one part or memory stands beside a common value in one file, which would silence it."""
    common = {key.value for key, _ in _non_null_entries(node)}
    for group, entries in _pairs(node):
        for name, entry in _pairs(entries) if group.value in ("part", "per_memory") else []:
            for key, _ in _non_null_entries(entry):
                if key.value in common:
                    silenced = f"{group.value}.{name.value}.{key.value}"
                    _refuse(path, key.start_mark.line, f"give {key.value} or {silenced}, which it would silence")


def _non_null_entries(node: yaml.Node | None) -> list[tuple[yaml.Node, yaml.Node]]:
    """Keys and values of a mapping without null values, since null counts as not given."""
    return [(key, value) for key, value in _pairs(node) if value.tag != f"{_STANDARD}null"]


def _pairs(node: yaml.Node | None) -> list[tuple[yaml.Node, yaml.Node]]:
    """Keys and values of a mapping node. Empty for any other node."""
    return node.value if isinstance(node, yaml.MappingNode) else []


def _refuse(path: Path, line: int, contract: str) -> NoReturn:
    raise InputError(f"{path} line {line + 1} must {contract}")
