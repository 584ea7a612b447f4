"""The experiment `relaxation`."""
