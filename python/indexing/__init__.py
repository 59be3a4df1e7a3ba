"""Indexing maps of tensor programs: which elements of an operand one element of the output needs."""

from indexing import hlo as hlo
from indexing.errors import CompileError as CompileError
from indexing.errors import IndexingError as IndexingError
from indexing.errors import InvalidMap as InvalidMap
from indexing.errors import Overflow as Overflow
from indexing.errors import ParseError as ParseError
from indexing.errors import UnsupportedOp as UnsupportedOp
