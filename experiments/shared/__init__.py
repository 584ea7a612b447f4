"""Shared parts of the measurements: patterns, corruptions, retrievals."""
