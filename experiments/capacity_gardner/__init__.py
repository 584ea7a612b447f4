"""The experiment `capacity_gardner`."""
