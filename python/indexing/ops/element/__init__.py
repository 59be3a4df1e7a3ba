"""Element code: how a kernel computes one element of an op."""
