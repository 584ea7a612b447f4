"""The experiment `capacity_features`."""
