"""Devices: one record each of limits, memory and rates; imports nothing of the package but errors and argument checks."""
