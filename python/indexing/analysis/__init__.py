"""Analyses of maps: coalescing, utilization, tiles; and conversions to and from other layouts."""
