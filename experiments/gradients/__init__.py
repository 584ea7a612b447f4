"""The experiment `gradients`."""
