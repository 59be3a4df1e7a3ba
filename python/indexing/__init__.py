"""Indexing maps of tensor programs: which elements of an operand one element of the output needs."""

from indexing import _core as _core  # at once: a package without its core is found out when it is imported
from indexing.lazy import load_later as _load_later

_load_later(__name__)
