"""Analyses of maps: coalescing, bank conflicts, utilization, and tiles."""
