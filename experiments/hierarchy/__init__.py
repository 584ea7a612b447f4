"""The experiment `hierarchy`."""
