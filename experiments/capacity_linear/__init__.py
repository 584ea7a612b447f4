"""The experiment `capacity_linear`."""
