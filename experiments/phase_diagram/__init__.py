"""The experiment `phase_diagram`."""
