"""Imports: weights of other implementations, taken into layers of this one."""
