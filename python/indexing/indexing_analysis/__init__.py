"""Indexing maps of instructions: through computations and fusions, inverse, accesses of functions."""
