"""Memory use of kernels and fusions: transactions, bank conflicts, distinct elements."""
