"""Experiments: one folder each, run by `python -m experiments.run conf=...`."""
