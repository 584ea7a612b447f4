"""The experiment `capacity_asymptotic`."""
