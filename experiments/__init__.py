"""Experiments: a folder each, run by one command; user-defined ones are found beside them while they are measured."""

import os

OUTSIDE = "HOPFIELD_EXPERIMENTS"
"""Variable with the folders of user-defined experiments, for processes that launchers start."""

__path__.extend(filter(None, os.environ.get(OUTSIDE, "").split(os.pathsep)))
