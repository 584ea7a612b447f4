"""Figures: style and panels."""
