"""The experiment `novelty`."""
