"""Smoke scale: what an experiment is run with where any run of it will do."""

import dataclasses

from experiments.runner import registry


def few(name: str) -> dict[str, list]:
    """The first two entries of the lists among the defaults of an experiment."""
    usual = registry.options(name)()
    lists = {entry.name: getattr(usual, entry.name) for entry in dataclasses.fields(usual)}
    return {key: value[:2] for key, value in lists.items() if isinstance(value, list) and len(value) > 2}
