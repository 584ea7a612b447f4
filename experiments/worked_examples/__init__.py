"""The experiment `worked_examples`."""
