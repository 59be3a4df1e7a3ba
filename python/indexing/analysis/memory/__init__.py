"""What kernels and fusions ask of memory: transactions, bank conflicts, distinct elements."""
