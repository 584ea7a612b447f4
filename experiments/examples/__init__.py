"""The experiment `examples`."""
