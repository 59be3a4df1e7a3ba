"""Element code of ops that move, index and loop: builds the computation of one of their elements in a kernel."""
