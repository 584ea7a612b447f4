"""The experiment `entropy`."""
