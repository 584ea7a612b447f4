"""The experiment `overlap_dynamics`."""
