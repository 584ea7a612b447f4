"""Jobs: one configuration to run, the folder of its results, and the command and YAML that give them again."""

import os
import shlex
from dataclasses import asdict, dataclass
from enum import Enum
from functools import cached_property
from pathlib import Path
from platform import python_version

import yaml

from experiments.contract import Config
from experiments.runner import folders
from experiments.system.versions import version


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
        call: the call of Python that asked for it; empty for the command, which prints what it found.
        kept: whether its directory outlives it, so that figure and report are drawn there.
        asked: the words of the sweep that it is of, those that its file makes left out.
    """

    conf: str
    experiment: str
    config: Config
    words: tuple[str, ...]
    label: str = ""
    usual: Config | None = None
    call: str = ""
    kept: bool = True
    asked: tuple[str, ...] = ()

    @cached_property
    def folder(self) -> str:
        """Name of the default directory for its options."""
        return folders.name(self.config, self.usual)

    @property
    def collects(self) -> bool:
        """True if its directory gathers the points of all commands with its options."""
        return folders.is_default_folder(self.directory, self.conf, self.folder)

    @cached_property
    def directory(self) -> Path:
        """Absolute directory of its results, which depends on the options and not on the clock."""
        if self.config.output is None:
            return folders.default_folder(self.conf, self.folder)
        return Path(os.path.abspath(os.path.expanduser(self.config.output))) / self.label

    @property
    def command(self) -> str:
        """The command, or the call of Python, that gives its results again."""
        kept = (word for word in self.words if not word.startswith(("output=", "overwrite=", "shard=", "hydra")))
        return self.call or f"hopfield {shlex.join(kept)}"

    def yaml(self) -> str:
        """Resolved options as YAML, below the command that gives the same results and the versions used."""
        versions = ", ".join(f"{name} {version(name)}" for name in ("hopfield", "jax", "jaxlib", "numpy"))
        head = f"# {self.command}\n# Python {python_version()}, {versions}\n"
        named = lambda pairs: {key: value.name if isinstance(value, Enum) else value for key, value in pairs}
        options = {"experiment": self.experiment, "conf": self.conf} | asdict(self.config, dict_factory=named)
        return head + yaml.safe_dump(options, allow_unicode=True, sort_keys=False)
