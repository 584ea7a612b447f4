"""The experiment `separation`."""
