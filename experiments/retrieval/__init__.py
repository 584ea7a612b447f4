"""The experiment `retrieval`."""
