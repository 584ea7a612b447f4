"""The experiment `landscape`."""
