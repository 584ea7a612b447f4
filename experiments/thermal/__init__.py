"""The experiment `thermal`."""
