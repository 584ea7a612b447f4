"""Versions: what is installed, and this project also where it is not."""

import importlib.metadata

import pytest

import hopfield
from experiments.system.versions import version


def test_versions_are_those_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    assert version("numpy") == importlib.metadata.version("numpy")
    assert version("no-such-package") == ""

    def nothing(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", nothing)
    assert version("hopfield") == hopfield.__version__
    assert version("numpy") == ""
