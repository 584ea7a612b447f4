"""The experiment `mqar`."""
