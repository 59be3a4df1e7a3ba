"""What maps are for: coalescing, utilization, tiles; and conversions to and from other layouts."""
