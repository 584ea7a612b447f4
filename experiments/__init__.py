"""Experiments: a folder each, run by one command; those of one's own stand beside them while they are measured."""

import os

OUTSIDE = "HOPFIELD_EXPERIMENTS"
"""Variable with the folders of experiments of one's own, for processes that launchers start."""

__path__.extend(filter(None, os.environ.get(OUTSIDE, "").split(os.pathsep)))
