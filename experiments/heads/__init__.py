"""The experiment `heads`."""
