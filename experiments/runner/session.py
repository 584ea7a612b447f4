"""Hydra set up for the command: the folders `conf/`, the schema of every experiment, and what they hold.

`conf` is a config group, so the folder `conf/` of the repository is its list of choices and `conf=capacity` selects
`conf/capacity.yaml`. The dataclass of each experiment is its schema, registered under `/schema/<experiment>`; the
primary config is registered too, which leaves no file among the choices that is not one.
"""

import contextlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from hydra import compose, initialize_config_dir
from hydra.core.config_search_path import SearchPathQuery
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.plugins import Plugins
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from experiments import contract
from experiments.contract import Config
from experiments.runner import registry
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


def register() -> None:
    """Register the primary config and the schema of every experiment with Hydra."""
    Plugins.instance().register(YamlSource)
    store = ConfigStore.instance()
    vars(store)["__deepcopy__"] = lambda memo: store  # Hydra copies its sources, and so all schemas, in each command
    store.store(name=PRIMARY, node=_SETTINGS)
    for name in registry.names():
        _store(name, registry.options(name))


@cache
def _store(name: str, options: type) -> None:
    """The schema of one experiment, which takes Hydra longer to make than all else of a command: once a process."""
    try:
        ConfigStore.instance().store(group="schema", name=name, node=options, package="_global_")
    except OmegaConfBaseException as error:
        reason = " ".join(str(error).splitlines()[0].split())
        raise contract.InputError(
            f"config.py of {name} must give options defaults of their types, got: {reason}"
        ) from error


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
        try:
            options = OmegaConf.to_object(config)
            known[conf] = options if isinstance(options, Config) else None
        except (OmegaConfBaseException, ValueError):  # a choice that needs a word more
            known[conf] = None
    return known[conf]
