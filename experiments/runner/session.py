"""Hydra set up for the command: the folders `conf/`, and the schema of the experiment that a choice names.

`conf` is a config group, so the folder `conf/` of the repository is its list of choices and `conf=capacity` selects
`conf/capacity.yaml`. Its defaults name `/schema/<experiment>`, the dataclass of options of an experiment, which is
imported then; the primary config is registered, which leaves no file among the choices that is not one.
"""

import contextlib
import copy
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from hydra import compose, initialize_config_dir
from hydra.core.config_search_path import ConfigSearchPath, SearchPathQuery
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.object_type import ObjectType
from hydra.core.plugins import Plugins
from hydra.errors import HydraException
from hydra.plugins.config_source import ConfigResult, ConfigSource
from hydra.plugins.search_path_plugin import SearchPathPlugin
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from experiments import contract
from experiments.contract import Config
from experiments.runner import registry, values
from experiments.runner.hydra_internals import Hydra, create_config_search_path
from experiments.runner.yaml_files import YamlSource

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


class SchemaSource(ConfigSource):
    """Schemas of the experiments as a config group. Each is imported when a list of defaults names it."""

    @staticmethod
    def scheme() -> str:
        """Prefix of the addresses of schemas."""
        return "experiments"

    def load_config(self, config_path: str) -> ConfigResult:
        """The schema of one experiment."""
        name = config_path.removeprefix("schema/")
        schema = copy.deepcopy(_schema(name, registry.options(name)))
        return ConfigResult(self.provider, self.full_path(), schema, {"package": "_global_"}, is_schema_source=True)

    def available(self) -> bool:
        """True: there always are schemas."""
        return True

    def is_group(self, config_path: str) -> bool:
        """True if a path leads to the group of all schemas."""
        return config_path.rstrip("/") == "schema"

    def is_config(self, config_path: str) -> bool:
        """True if a path leads to an experiment's schema."""
        group, _, name = config_path.partition("/")
        return group == "schema" and name in registry.names()

    def list(self, config_path: str, results_filter: ObjectType | None) -> list[str]:
        """Names in the group."""
        return registry.names() if self.is_group(config_path) and results_filter != ObjectType.GROUP else []


class Schemas(SearchPathPlugin):
    """Entry of every search path of Hydra's: the schemas."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        """Add the schemas to a search path."""
        search_path.append(provider="experiments", path=f"{SchemaSource.scheme()}://")


@cache
def _schema(name: str, options: type) -> DictConfig:
    """The schema of an experiment, which takes OmegaConf long to make: once a process."""
    try:
        return OmegaConf.structured(options)
    except OmegaConfBaseException as error:
        reason = " ".join(str(error).splitlines()[0].split())
        raise contract.InputError(f"options of {name} must have defaults of their types, got: {reason}") from error


def register() -> None:
    """Register the primary config and the sources of configurations with Hydra."""
    for plugin in (YamlSource, SchemaSource, Schemas):
        Plugins.instance().register(plugin)
    ConfigStore.instance().store(name=PRIMARY, node=_SETTINGS)


@contextlib.contextmanager
def opened(folder: Path | None = None) -> Iterator[None]:
    """Hydra set up on the folder that holds `conf/`, and on another such folder if given. Undone on leaving."""
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
    """Names that `conf=` accepts, within `opened`."""
    return sorted(GlobalHydra.instance().config_loader().get_group_options("conf"))


def source(conf: str) -> Path | None:
    """The file behind a choice of `conf=`, within `opened`."""
    folders = [Path(source.path) for source in GlobalHydra.instance().config_loader().get_sources()]
    return next((path for folder in folders if (path := folder / "conf" / f"{conf}.yaml").is_file()), None)


def experiments_of(conf: str) -> list[str]:
    """Experiments whose schemas a `conf=` choice includes, directly or not. Empty if its defaults cannot be read."""
    try:
        composed = GlobalHydra.instance().config_loader().compute_defaults_list(PRIMARY, [f"conf={conf}"], RunMode.RUN)
    except HydraException:
        return []
    paths = [str(entry.config_path) for entry in composed.defaults]
    return [path.removeprefix("schema/") for path in paths if path.startswith("schema/")]


def options_class_of(conf: str) -> type[Config] | None:
    """Options class that a choice of `conf=` names by its defaults, even if they do not compose. None without one."""
    named = experiments_of(conf)
    return registry.options(named[0]) if named else None


def usual(conf: str) -> Config | None:
    """The options of `conf=` alone, once for each set-up of Hydra."""
    known = _USUAL.setdefault(GlobalHydra.instance().config_loader(), {})
    if conf not in known:
        config = compose(PRIMARY, overrides=[f"conf={conf}"])
        schema = OmegaConf.get_type(config)
        try:
            known[conf] = values.typed(schema, OmegaConf.to_container(config)) if schema is not dict else None
        except (OmegaConfBaseException, ValueError):  # a choice that needs a word more
            known[conf] = None
    return known[conf]
