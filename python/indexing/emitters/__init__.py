"""From a fusion to a kernel: heroes build a kernel in a small typed IR, passes rewrite it, targets write it as source."""
