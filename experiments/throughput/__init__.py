"""The experiment `throughput`."""
