"""The experiment `sequences`."""
