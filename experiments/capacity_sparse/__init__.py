"""The experiment `capacity_sparse`."""
