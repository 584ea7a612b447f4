"""Internals of Hydra that the runner needs: the one module that imports `hydra._internal`.

Hydra has no public way to compose from a search path of several folders, to read configurations by a source of one's
own, or to call a launcher outside of `hydra.main`. These names may move in any release, so that `pyproject.toml` bounds
the version; what breaks then breaks here. The runner
reads Hydra's own options of launchers and refuses the others.
"""

import re

from hydra._internal.callbacks import Callbacks
from hydra._internal.core_plugins.file_config_source import FileConfigSource
from hydra._internal.hydra import Hydra
from hydra._internal.utils import create_config_search_path

__all__ = ["UNREAD", "Callbacks", "FileConfigSource", "Hydra", "create_config_search_path", "is_unread"]

UNREAD = (
    "left out: of Hydra's own options the command reads hydra/launcher and hydra.launcher alone;"
    " output= says where results go, key=a,b,c with -m sweeps"
)
"""Contract of an option of Hydra's that nothing here reads."""


def is_unread(key: str) -> bool:
    """True if a key is an option of Hydra's own that nothing here reads: the runner makes folders and combinations."""
    own = re.match(r"hydra[./](\w+)", key)
    return own is not None and own[1] != "launcher"
