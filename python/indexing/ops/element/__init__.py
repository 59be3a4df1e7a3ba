"""Element code of ops that move, index and loop: how a kernel computes one of their elements."""
