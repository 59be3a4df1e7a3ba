"""Indexing maps of instructions, composed through computations and fusions, and inverted; accesses of functions."""
