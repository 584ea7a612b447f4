"""The experiment `capacity_learned`."""
