"""The experiment `efficient_attention`."""
