"""Statistics: means over clusters, thresholds, extrapolation."""
