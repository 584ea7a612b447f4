"""The experiment `basins`."""
