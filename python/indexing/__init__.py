"""Indexing maps of tensor programs: which elements of an operand one element of the output needs."""
