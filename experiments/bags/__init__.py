"""The experiment `bags`."""
