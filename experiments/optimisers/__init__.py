"""The experiment `optimisers`."""
