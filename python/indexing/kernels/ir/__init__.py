"""The kernel IR: typed values and statements, the passes that rewrite them, the proofs about them."""
