"""Internals of Hydra that the runner needs: the one module that imports `hydra._internal`.

Hydra has no public way to compose from a search path of several folders, to read configurations by a source of one's
own, or to call a launcher outside of `hydra.main`. These names may move in any release, so that `pyproject.toml` bounds
the version; what breaks then breaks here.
"""

from hydra._internal.callbacks import Callbacks
from hydra._internal.core_plugins.file_config_source import FileConfigSource
from hydra._internal.hydra import Hydra
from hydra._internal.utils import create_config_search_path

__all__ = ["Callbacks", "FileConfigSource", "Hydra", "create_config_search_path"]
