"""The experiment `attractors`."""
