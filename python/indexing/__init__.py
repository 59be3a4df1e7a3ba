"""Indexing maps of tensor programs: which elements of an operand one element of the output needs."""

from indexing import hlo as hlo
from indexing._core import IndexingMap as IndexingMap
from indexing._core import Interval as Interval
from indexing._core import SymbolicExpr as SymbolicExpr
from indexing._core import SymbolicMap as SymbolicMap
from indexing._core import Variable as Variable
from indexing._core import compose as compose
from indexing._core import compose_all as compose_all
from indexing._core import constant as constant
from indexing._core import parse_all as parse_all
from indexing._core import simplify_all as simplify_all
from indexing._core import variable as variable
from indexing.emit import emit as emit
from indexing.errors import CompileError as CompileError
from indexing.errors import IndexingError as IndexingError
from indexing.errors import InvalidMap as InvalidMap
from indexing.errors import Overflow as Overflow
from indexing.errors import ParseError as ParseError
from indexing.errors import Undecided as Undecided
from indexing.errors import UnsupportedOp as UnsupportedOp
from indexing.partition import Epilogue as Epilogue
from indexing.partition import PartitionedComputation as PartitionedComputation
from indexing.partition import Subgraph as Subgraph
from indexing.partition import partition as partition
