"""Composition of words on the command line to typed, validated configurations, through Hydra.

`conf` is a config group, so the folder `conf/` of the repository is its list of choices and `conf=capacity` selects
`conf/capacity.yaml`. The dataclass of each experiment is its schema, registered under `/schema/<experiment>`; the
primary config is registered too, which leaves no file among the choices that is not one.
"""

import contextlib
import itertools
import math
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from typing import Any, get_args, get_origin
from weakref import WeakKeyDictionary

from hydra import compose, initialize_config_dir
from hydra._internal.hydra import Hydra
from hydra._internal.utils import create_config_search_path
from hydra.core.config_search_path import SearchPathQuery
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.core.plugins import Plugins
from hydra.errors import HydraException, OverrideParseException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf, open_dict
from omegaconf.errors import OmegaConfBaseException

from experiments import contract
from experiments.contract import Config, InputError
from experiments.runner import errors, folders, idle, overrides, registry
from experiments.runner.yaml_files import YamlSource, line_of
from experiments.shared import files

SWEEP = 10_000
"""Jobs of one sweep at most: composing each takes a good part of a second."""
PRIMARY = "primary"
_USUAL: WeakKeyDictionary[Any, dict[str, Config | None]] = WeakKeyDictionary()
_SETTINGS = {
    "defaults": [
        "_self_",
        {"conf": "???"},
        {"override hydra/job_logging": "none"},
        {"override hydra/hydra_logging": "none"},
    ],
    "hydra": {"output_subdir": None, "sweep": {"dir": "outputs/jobs", "subdir": "."}},
}


@dataclass(frozen=True)
class Job:
    """One configuration to run.

    Attributes:
        conf: the choice of `conf=`.
        experiment: name of the module that runs it.
        config: its validated options.
        words: the overrides that select it, none of them a sweep.
        label: name of the job within its sweep, fit for a directory; empty outside a sweep.
        usual: the options of `conf=` alone, None where they are no complete choice.
    """

    conf: str
    experiment: str
    config: Config
    words: tuple[str, ...]
    label: str = ""
    usual: Config | None = None

    @cached_property
    def folder(self) -> str:
        """Name of the directory for its options, where none is given."""
        return folders.name(self.config, self.usual)

    @property
    def collects(self) -> bool:
        """Whether its directory gathers the points of all commands with its options."""
        return folders.named(self.directory, self.conf, self.folder)

    @cached_property
    def directory(self) -> Path:
        """Directory of its results, which depends on the options, not on the clock; absolute."""
        if self.config.output is None:
            return folders.placed(self.conf, self.folder)
        return Path(os.path.abspath(os.path.expanduser(self.config.output))) / self.label


def register() -> None:
    """Tell Hydra the primary config and the schema of every experiment."""
    Plugins.instance().register(YamlSource)
    store = ConfigStore.instance()
    store.store(name=PRIMARY, node=_SETTINGS)
    for name in registry.names():
        _store(name, registry.options(name))


@cache
def _store(name: str, options: type) -> None:
    """The schema of one experiment, which takes Hydra longer to make than all else of a command: once a process."""
    ConfigStore.instance().store(group="schema", name=name, node=options, package="_global_")


@contextlib.contextmanager
def session(folder: Path | None = None) -> Iterator[None]:
    """Hydra set up on the folder that holds `conf/`, and on another such folder if given; undone on leaving."""
    register()
    with initialize_config_dir(str(contract.ROOT), job_name="run", version_base="1.3"):
        scheme = YamlSource.scheme()
        path = create_config_search_path(f"{scheme}://{contract.ROOT}")
        if folder is not None:
            query = SearchPathQuery(provider="schema")
            path.prepend(provider="command-line", path=f"{scheme}://{folder}", anchor=query)
        GlobalHydra.instance().clear()
        Hydra.create_main_hydra2(task_name="run", config_search_path=path)
        yield


def choices() -> list[str]:
    """Names that `conf=` accepts, within a `session`."""
    return sorted(GlobalHydra.instance().config_loader().get_group_options("conf"))


def source(conf: str) -> Path | None:
    """The file behind a choice of `conf=`, within a `session`."""
    folders = [Path(source.path) for source in GlobalHydra.instance().config_loader().get_sources()]
    return next((path for folder in folders if (path := folder / "conf" / f"{conf}.yaml").is_file()), None)


def jobs(words: Sequence[str], *, sweep: bool) -> list[Job]:
    """Every configuration that the words ask for, validated, within a `session`.

    Args:
        words: overrides such as `conf=capacity` and `seed=3`; with `sweep`, `seed=0,1` means both.
        sweep: whether the product of all comma-separated values is asked for.

    Raises:
        InputError: one of them cannot be run.
    """
    axes: dict[str, list[str]] = {}
    swept: set[str] = set()
    parsed = [_parse(word) for word in words]
    overrides.check_once(parsed)
    for override in parsed:
        key = override.get_key_element()
        axis = str(override.input_line) if override.is_add() else key  # several entries may be added to one group
        axes[axis] = _alternatives(override)
        if override.is_sweep_override():
            swept.add(axis)
            if not sweep:
                value = str(override.input_line).partition("=")[2]
                raise InputError(
                    f"{key}={value} gives {key} several values: add -m to run each; "
                    f"a list is written {key}=[{value}], a text with a comma in quotes"
                )
    labelled = [key in swept and key != "output" for key in axes]
    total = math.prod(map(len, axes.values()))
    if total == 0:
        raise InputError(f"-m must give at least one job, got no value of {' and '.join(sorted(swept))}")
    if total > SWEEP:
        raise InputError(f"-m must give at most {SWEEP} jobs, got {' × '.join(sorted(swept))} with more")
    if total > 100:
        files.say(f"{total} jobs are checked before the first of them begins")
    combinations = itertools.product(*axes.values())
    return [_job(words, _label(list(itertools.compress(words, labelled)))) for words in combinations]


def composed(words: Sequence[str]) -> DictConfig:
    """The composed configuration of one job, `hydra` included, within a `session`.

    Raises:
        InputError: a key, a value or a choice is wrong.
    """
    conf = ""
    for override in map(_parse, words):
        if override.is_delete() and not override.key_or_group.startswith("hydra"):
            raise InputError(f"{override.input_line} must be left out: an option can be set, not deleted")
        if override.key_or_group == "conf":
            conf = errors.shown(override.get_value_string())
    if not re.fullmatch(r"\w[\w.-]*", conf) or conf == "null":
        raise InputError(errors.not_among("conf", conf, choices()))
    try:
        config = compose(PRIMARY, overrides=list(words), return_hydra_config=True)
    except (HydraException, OmegaConfBaseException) as error:
        raise InputError(_sentence(error, conf, words)) from error
    except InputError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError) as error:  # a list of defaults that is none
        raise InputError(f"{source(conf)} must be a configuration, got: {errors.first_line(error)}") from error
    except RecursionError as error:
        raise InputError(f"{source(conf)} must not come back to itself through its defaults") from error
    schema = _schema(config, conf)
    for key in set(map(str, config)) - {field.name for field in fields(schema)} - {"hydra"}:
        raise InputError(_placed(errors.unknown(key, conf, schema), conf, words))
    return config


def command(job: Job) -> str:
    """The command that gives the results of a job again."""
    kept = (word for word in job.words if not word.startswith(("output=", "overwrite=", "hydra")))
    return f"python -m experiments.run {shlex.join(kept)}"


def yaml(job: Job) -> str:
    """The resolved options of a job as YAML, below the command that gives the same results and the versions used."""
    versions = ", ".join(f"{name} {version(name)}" for name in ("hopfield", "jax", "jaxlib", "numpy"))
    head = f"# {command(job)}\n# Python {python_version()}, {versions}\n"
    origin = OmegaConf.to_yaml({"experiment": job.experiment, "conf": job.conf})
    return head + origin + OmegaConf.to_yaml(OmegaConf.structured(job.config))


def _idle(job: Job) -> dict[tuple[str, ...], str]:
    try:
        return dict(idle.options(job.config, registry.load(job.experiment)))
    except ValueError as error:
        raise InputError(" ".join(str(error).split())) from error


def _check_idle(job: Job, given: Mapping[tuple[str, ...], Any]) -> None:
    """Raise InputError for an option that does nothing, if a word sets it, or its file where it stands alone."""
    found = _idle(job)
    for path, sentence in found.items():
        if any(path[: len(word)] == word for word in given):
            raise InputError(sentence)
    if found and len(given) > 1:  # what the words have left idle in a file is no mistake in it
        found = _idle(_composed_job([f"conf={job.conf}"], ""))
    for sentence in found.values():
        raise InputError(_placed(sentence, job.conf, ()))


def _job(words: Sequence[str], label: str) -> Job:
    given = {path: value for override in map(_parse, words) for path, value in overrides.given(override).items()}
    overrides.check_silenced(given)
    job = _composed_job(words, label)
    _check_idle(job, given)
    return job


def _composed_job(words: Sequence[str], label: str) -> Job:
    config = composed(words)
    conf = str(config.hydra.runtime.choices["conf"])
    with open_dict(config):
        config.pop("hydra")
    return typed(config, conf, tuple(words), label)


def typed(config: DictConfig, conf: str, words: tuple[str, ...], label: str) -> Job:
    """The job of composed options, validated."""
    schema = OmegaConf.get_type(config)
    for key, hint, _ in errors.leaves(schema):
        items = OmegaConf.select(config, key, throw_on_resolution_failure=False)
        nodes = [items._get_node(i) for i in range(len(items))] if OmegaConf.is_list(items) else []
        if any(map(OmegaConf.is_config, nodes)):  # OmegaConf lets a list in a list pass
            raise InputError(_placed(f"{key} must be {errors.describe(hint)}, got {items}", conf, words))
    try:
        options = OmegaConf.to_object(config)
        assert isinstance(options, Config)
        experiment = registry.name_of(type(options))
        registry.judge(experiment, options)
    except (OmegaConfBaseException, ValueError) as error:
        given = OmegaConf.to_container(config, throw_on_missing=False, resolve=False)
        text = errors.own_name(errors.sentence(error, conf, schema), given)
        raise InputError(_placed(text, conf, words)) from error
    return Job(conf, experiment, options, words, label, _usual(conf))


def _usual(conf: str) -> Config | None:
    """The options of `conf=` alone, once for each set-up of Hydra."""
    known = _USUAL.setdefault(GlobalHydra.instance().config_loader(), {})
    if conf not in known:
        config = compose(PRIMARY, overrides=[f"conf={conf}"])
        try:
            options = OmegaConf.to_object(config)
            known[conf] = options if isinstance(options, Config) else None
        except (OmegaConfBaseException, ValueError):  # a choice that needs a word more
            known[conf] = None
    return known[conf]


def _parse(word: str) -> Override:
    if not re.match(r"[^=]+=|~", word):
        raise InputError(f"{word or repr(word)} must be written key=value")
    loader = GlobalHydra.instance().config_loader()
    try:
        return OverridesParser.create(loader).parse_overrides([word])[0]
    except (OverrideParseException, RecursionError, ValueError) as error:  # also a number of too many digits
        reason = errors.first_line(error).partition(" expecting {")[0]
        if reason.startswith("LexerNoViableAlt"):
            reason = "a sign that needs quotes, as in key='a b'"
        raise InputError(f"{word[:200]} must be written so that Hydra can read it, got: {reason}") from error


def _alternatives(override: Override) -> list[str]:
    """The words of one axis of a sweep; a word that is not swept is an axis of one."""
    if not override.is_sweep_override():
        return [str(override.input_line)]
    if not override.is_discrete_sweep():
        raise InputError(f"{override.input_line} must list its values, as in {override.key_or_group}=1,2,3")
    values = itertools.islice(override.sweep_string_iterator(), SWEEP + 1)
    return [f"{override.get_key_element()}={value}" for value in values]


def _label(swept: Sequence[str]) -> str:
    """A directory name for a job of a sweep, unique to its values: `conf_capacity+seed_0`."""
    text = "+".join(word.replace("=", "_", 1) for word in swept)
    safe = re.sub(r"[^A-Za-z0-9._+-]+", "-", text)[:100]
    return safe if safe == text else f"{safe}-{files.fingerprint(text)[:8]}"


def _schema(config: DictConfig, conf: str) -> type[Config]:
    """The options of the experiment that a choice names."""
    schema = OmegaConf.get_type(config)
    if isinstance(schema, type) and issubclass(schema, Config):
        return schema
    place = f"'defaults: [/schema/capacity, _self_]' ({source(conf)} line 1)"
    raise InputError(f"conf={conf} must name its experiment, as in {place}")


def _experiments(conf: str) -> list[str]:
    """The experiments whose schemas a choice takes among its defaults, and theirs; none where these cannot be read."""
    try:
        found = GlobalHydra.instance().config_loader().compute_defaults_list(PRIMARY, [f"conf={conf}"], RunMode.RUN)
    except HydraException:
        return []
    paths = [str(entry.config_path) for entry in found.defaults]
    return [path.removeprefix("schema/") for path in paths if path.startswith("schema/")]


def _placed(sentence: str, conf: str, words: Sequence[str]) -> str:
    """A sentence that begins with an option, with the place in the YAML file where no word of the command sets it."""
    key, path = sentence.split(" ", 1)[0], source(conf)
    option = re.split(r"[.\[]", key)[0]
    if path is None or any(re.match(rf"\+*{re.escape(option)}[.=]", word) for word in words):
        return sentence
    line = line_of(path, key)
    return sentence if line is None else f"{sentence} ({path} line {line})"


def _sentence(error: Exception, conf: str, words: Sequence[str]) -> str:
    """The sentence for words that do not compose; where a single one of them is to blame, about that one."""
    config, schema = None, None
    for word in (f"conf={conf}", *words):
        try:
            config = compose(PRIMARY, overrides=[f"conf={conf}", word])
            schema = _schema(config, conf)
        except (HydraException, OmegaConfBaseException) as single:
            if (path := source(conf)) is not None and len(named := _experiments(conf)) > 1:
                place = f"({path} line {line_of(path, 'defaults')})"
                return f"conf={conf} must name one experiment in its defaults, got {' and '.join(named)} {place}"
            key = _parse(word).key_or_group
            group, dot, inner = key.partition(".")
            hint = next((hint for name, hint, _ in errors.leaves(schema) if name == group), None) if schema else None
            if config is not None and get_origin(hint) is dict and (dot or not word.startswith("+")):
                if inner.rpartition(".")[0] in OmegaConf.select(config, group):
                    return errors.unknown(key, conf, get_args(hint)[1])
                return f"{word} must set an entry that {group} has, or add one as in +{group}={{name:{{option:value}}}}"
            return _placed(errors.sentence(single, conf, schema), conf, words)
    return errors.sentence(error, conf, schema)
