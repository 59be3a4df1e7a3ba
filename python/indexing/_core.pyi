"""The compiled core: expressions, maps and HLO text. All values are immutable, hashable, comparable and picklable."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Generic, Literal, Protocol, Self, SupportsIndex, TypeAlias, TypeVar, final, overload

import numpy as np
import numpy.typing as npt

from indexing.certificates import Certificate, Step

__all__ = [
    "Equivalence",
    "HloModule",
    "HostViews",
    "IndexingMap",
    "Instances",
    "Interval",
    "Law",
    "Maps",
    "ParametricMap",
    "PiecewiseMap",
    "Points",
    "Propagation",
    "SymbolicExpr",
    "SymbolicMap",
    "Unstated",
    "Variable",
    "__version__",
    "build_hlo",
    "compose",
    "compose_all",
    "constant",
    "count_all",
    "global_memory_traffic",
    "hlo_element_types",
    "hlo_opcodes",
    "parse_all",
    "parse_hlo",
    "predict_times",
    "rules",
    "shared_memory_traffic",
    "simplify_all",
    "variable",
]

_Integer: TypeAlias = int | np.integer
_Integers: TypeAlias = npt.NDArray[np.integer]
#: Values taken for an interval: an Interval, its two bounds, or one value.
_IntervalLike: TypeAlias = Interval | tuple[int, int] | int
#: Values taken for a variable: a Variable, a name and an interval, or an interval (the name is then the default one).
_VariableLike: TypeAlias = Variable | tuple[str, _IntervalLike] | _IntervalLike
#: Values taken for an expression.
_ExprLike: TypeAlias = SymbolicExpr | SupportsIndex
#: _Constraints: each expression lies in its interval.
_Constraints: TypeAlias = Sequence[tuple[_ExprLike, _IntervalLike]] | Mapping[SymbolicExpr, _IntervalLike]
#: A point: the values of dimensions, and of symbols.
_Point: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]
#: A term of many instances: a factor, and an array of its coefficients.
_Term: TypeAlias = tuple[SymbolicExpr, npt.NDArray[np.int64]]
_Style: TypeAlias = Literal["plain", "xla"]
#: The values that a parameter takes: a range, an interval, or None for all positive ones.
_Values: TypeAlias = range | _IntervalLike | None
_Effort: TypeAlias = Literal["default", "search"]
#: It is called with the number of items that are done, and of all.
_Progress: TypeAlias = Callable[[int, int], object]
_View = TypeVar("_View")

@final
class Interval:
    """The integers from `lower` to `upper`, both included; empty if `lower > upper`.

    Arithmetic gives the least interval that holds all results; it saturates, and the ends of int64 mean "unbounded".
    """

    def __new__(cls, lower: SupportsIndex, upper: SupportsIndex) -> Interval: ...
    @property
    def lower(self) -> int:
        """The least element."""
    @property
    def upper(self) -> int:
        """The greatest element."""
    @property
    def is_point(self) -> bool:
        """Whether it holds exactly one integer."""
    @property
    def is_empty(self) -> bool:
        """Whether it holds no integers."""
    def __add__(self, other: _IntervalLike, /) -> Interval: ...
    def __radd__(self, other: _IntervalLike, /) -> Interval: ...
    def __sub__(self, other: _IntervalLike, /) -> Interval: ...
    def __rsub__(self, other: _IntervalLike, /) -> Interval: ...
    def __mul__(self, other: _IntervalLike, /) -> Interval: ...
    def __rmul__(self, other: _IntervalLike, /) -> Interval: ...
    def __floordiv__(self, other: _IntervalLike, /) -> Interval: ...
    def __rfloordiv__(self, other: _IntervalLike, /) -> Interval: ...
    def __neg__(self) -> Interval: ...
    def floordiv(self, other: _IntervalLike) -> Interval:
        """All floor quotients by the nonzero elements of `other`. Raises InvalidMap for the divisor 0 alone."""
    def min(self, other: _IntervalLike) -> Interval:
        """The smaller of two elements."""
    def max(self, other: _IntervalLike) -> Interval:
        """The greater of two elements."""
    def intersect(self, other: _IntervalLike) -> Interval:
        """The integers in both."""
    def union(self, other: _IntervalLike) -> Interval:
        """The least interval that holds both."""
    def contains(self, value: _IntervalLike) -> bool:
        """Whether it holds the value, or each element of the interval."""
    def __contains__(self, value: _IntervalLike, /) -> bool: ...
    def gt(self, other: _IntervalLike) -> bool | None:
        """Whether each element is greater than each of `other`; None if that depends on the elements."""
    def ge(self, other: _IntervalLike) -> bool | None:
        """`>=` of all pairs; None: it depends."""
    def lt(self, other: _IntervalLike) -> bool | None:
        """`<` of all pairs; None: it depends."""
    def le(self, other: _IntervalLike) -> bool | None:
        """`<=` of all pairs; None: it depends."""
    def eq(self, other: _IntervalLike) -> bool | None:
        """`==` of all pairs; None: it depends."""
    def ne(self, other: _IntervalLike) -> bool | None:
        """`!=` of all pairs; None: it depends."""
    def __bool__(self) -> bool:
        """Whether it holds any integers."""
    def __len__(self) -> int:
        """The number of its integers. Raises Overflow beyond int64."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[type[Interval], tuple[int, int]]: ...

@final
class Variable:
    """A variable of an indexing map: its name and the interval of its values."""

    def __new__(cls, name: str | None, interval: _IntervalLike) -> Variable: ...
    @property
    def name(self) -> str | None:
        """The name; None asks for the default name of the place."""
    @property
    def interval(self) -> Interval:
        """The values that it takes."""
    @property
    def lower(self) -> int:
        """The least value."""
    @property
    def upper(self) -> int:
        """The greatest value."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[type[Variable], tuple[str | None, Interval]]: ...

@final
class SymbolicExpr:
    """An integer expression over variables v0, v1, ..: `+ - * // %`, `ceildiv`, `min`, `max`; canonical once made.

    `//` floors, `x % m` is in [0, |m|). Raises Overflow if a coefficient exceeds int64, InvalidMap for a divisor 0.
    """

    @staticmethod
    def parse(text: str, names: Mapping[str, int] | None = None, num_dims: int | None = None) -> SymbolicExpr:
        """Read an expression. `v3` is variable 3; `names` gives other names their variables; with `num_dims` n, `d0` is
        variable 0 and `s0` variable n. Raises ParseError.
        """
    def __add__(self, other: _ExprLike, /) -> SymbolicExpr: ...
    def __radd__(self, other: _ExprLike, /) -> SymbolicExpr: ...
    def __sub__(self, other: _ExprLike, /) -> SymbolicExpr: ...
    def __rsub__(self, other: _ExprLike, /) -> SymbolicExpr: ...
    def __mul__(self, other: _ExprLike, /) -> SymbolicExpr: ...
    def __rmul__(self, other: _ExprLike, /) -> SymbolicExpr: ...
    def __floordiv__(self, other: _ExprLike, /) -> SymbolicExpr: ...
    def __rfloordiv__(self, other: _ExprLike, /) -> SymbolicExpr: ...
    def __mod__(self, other: _ExprLike, /) -> SymbolicExpr: ...
    def __rmod__(self, other: _ExprLike, /) -> SymbolicExpr: ...
    def __neg__(self) -> SymbolicExpr: ...
    def __pos__(self) -> SymbolicExpr: ...
    def ceildiv(self, other: _ExprLike) -> SymbolicExpr:
        """The quotient, rounded towards plus infinity."""
    def min(self, other: _ExprLike) -> SymbolicExpr:
        """The smaller of the two."""
    def max(self, other: _ExprLike) -> SymbolicExpr:
        """The greater of the two."""
    def canonicalize(self) -> SymbolicExpr:
        """The expression itself: all expressions are canonical."""
    @overload
    def evaluate(self, values: Sequence[_Integer]) -> int: ...
    @overload
    def evaluate(self, values: Sequence[_Integers] | _Integers) -> npt.NDArray[np.int64]:
        """The value for variable i equal to `values[i]`: an int, or an array if values are arrays (which are broadcast).

        Raises Overflow, and InvalidMap for a divisor 0 or a variable without a value.
        """
    def replace(self, replacements: Mapping[SymbolicExpr, _ExprLike]) -> SymbolicExpr:
        """The expression with each key replaced by its value, as a node, a constant or a coefficient of a sum."""
    def replace_variables(self, replacements: Sequence[_ExprLike]) -> SymbolicExpr:
        """The expression with variable i replaced by `replacements[i]`; variables beyond the list are kept."""
    def used_variables(self) -> list[int]:
        """The indices of the variables in it, sorted."""
    def postorder(self) -> list[SymbolicExpr]:
        """All subexpressions, each once, operands before their users."""
    def nodes(self) -> list[tuple[str, list[int], list[int]]]:
        """The subexpressions of `postorder`, each as its kind, its numbers and the places of its operands.

        Kinds: variable (its index), constant, floordiv, mod, product, min, max, sum (its constant, then a coefficient an
        operand).
        """
    def simplify(self, intervals: Sequence[_IntervalLike]) -> SymbolicExpr:
        """An expression of no greater cost that has the same values for variables i in `intervals[i]`."""
    def range(self, intervals: Sequence[_IntervalLike]) -> Interval:
        """An interval that contains all values for variables i in `intervals[i]`."""
    def is_multiple_of(self, factor: SupportsIndex) -> bool:
        """Whether all values are known to be multiples of `factor`."""
    @property
    def constant_value(self) -> int | None:
        """The value of a constant; None for other expressions."""
    @property
    def variable_index(self) -> int | None:
        """The index of a variable; None for other expressions."""
    def to_text(
        self, names: Sequence[str] | None = None, num_dims: int | None = None, style: _Style | None = None
    ) -> str:
        """The text; variables are named by `names`, or d0, .., s0, .. where `num_dims` is given, or v0, ..; the style
        "xla" prints `/` and binary min and max.
        """
    def _repr_latex_(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[object, tuple[str]]: ...

@final
class SymbolicMap:
    """`(d0, ..)[s0, ..] -> (results)`: variable i is dimension i for i < num_dims, then come the symbols."""

    def __new__(cls, num_dims: int, num_symbols: int, results: Sequence[_ExprLike]) -> SymbolicMap: ...
    @staticmethod
    def parse(text: str) -> SymbolicMap:
        """Read a map; runtime variables in braces are symbols too. Raises ParseError."""
    @staticmethod
    def identity(num_dims: int) -> SymbolicMap:
        """The map of each dimension to itself."""
    @property
    def num_dims(self) -> int:
        """The number of dimensions."""
    @property
    def num_symbols(self) -> int:
        """The number of symbols."""
    @property
    def results(self) -> tuple[SymbolicExpr, ...]:
        """The results."""
    @overload
    def evaluate(self, dims: Sequence[_Integer], symbols: Sequence[_Integer] | None = None) -> tuple[int, ...]: ...
    @overload
    def evaluate(
        self, dims: Sequence[_Integers] | _Integers, symbols: Sequence[_Integers] | _Integers | None = None
    ) -> tuple[npt.NDArray[np.int64], ...]:
        """The values of the results: ints, or arrays if values are arrays (which are broadcast)."""
    def replace_dims_and_symbols(
        self, dims: Sequence[_ExprLike], symbols: Sequence[_ExprLike], num_dims: int, num_symbols: int
    ) -> SymbolicMap:
        """The map with dimensions and symbols replaced, over that many variables; those beyond the lists are kept."""
    def compose(self, other: SymbolicMap) -> SymbolicMap:
        """This map after `other`, whose results become this map's dimensions; symbols are this map's, then the other's."""
    def compress_dims(self) -> SymbolicMap:
        """The map without dimensions that no result uses."""
    def compress_symbols(self) -> SymbolicMap:
        """The map without symbols that no result uses."""
    def unused_dims(self) -> list[int]:
        """The dimensions that no result uses."""
    def unused_symbols(self) -> list[int]:
        """The symbols that no result uses."""
    def sub_map(self, indices: Sequence[int]) -> SymbolicMap:
        """The map of the results at `indices`."""
    @property
    def is_identity(self) -> bool:
        """Whether the results are the dimensions, in order."""
    @property
    def is_constant(self) -> bool:
        """Whether all results are constants."""
    def to_text(self, style: _Style | None = None) -> str:
        """The text."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[object, tuple[str]]: ...

@final
class Equivalence:
    """Whether two maps are equal as relations: it converts to bool, and has a point where they differ."""

    def __new__(cls, counterexample: tuple[Sequence[int], Sequence[int]] | None = None) -> Equivalence: ...
    @property
    def counterexample(self) -> _Point | None:
        """A point (dims, symbols) in one domain only, or whose results differ; None if the maps are equivalent."""
    def __bool__(self) -> bool: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[type[Equivalence], tuple[_Point | None]]: ...

@final
class ParametricMap:
    """A map with parameters: variables whose values are given later, many at once. Made by `IndexingMap.with_parameters`."""

    def __new__(cls, map: IndexingMap, parameters: dict[str, _Values]) -> ParametricMap: ...
    @property
    def map(self) -> IndexingMap:
        """The map, the parameters among its variables, simplified once for all their values."""
    @property
    def stated(self) -> IndexingMap:
        """The map as it was stated; its parameters have their ranges."""
    @property
    def parameters(self) -> dict[str, range]:
        """The values that each parameter takes."""
    @overload
    def instantiate(self, *, certificate: Literal[True], **values: _Integer) -> tuple[IndexingMap, Certificate]: ...
    @overload
    def instantiate(  # type: ignore[overload-overlap]
        self, *, certificate: Literal[False] = False, **values: _Integer
    ) -> IndexingMap: ...
    @overload
    def instantiate(self, *, certificate: Literal[False] = False, **values: _Integer | _Integers) -> Instances:
        """The map, simplified, where the parameters have these values; for arrays (they broadcast) one an element.

        Instances are columns: arrays of coefficients and bounds. Each as a map is equal to what `simplify` makes of this map
        with the values in it; it is made when one asks for it. Raises InvalidMap for values outside of a parameter's range,
        and for parameters without a value. With `certificate`, returns a pair for one value of each: the map and its
        `Certificate`.
        """
    def global_memory_traffic(
        self,
        values: dict[str, _Integers],
        threads: _Integers,
        strides: Sequence[int],
        width: int,
        warp_size: int,
        sector: int,
        line: int,
        vector: int | None = None,
        widest: int = 0,
    ) -> tuple[list[_Traffic | None], npt.NDArray[np.int64]]:
        """As the function of that name, of blocks of `threads` threads, for each distinct row; and which one each row is."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[type[ParametricMap], tuple[IndexingMap, dict[str, range]]]: ...

@final
class Instances:
    """The instances of a map with parameters, one for each element of the given arrays.

    What differs between them are arrays: coefficients of the terms of results and constraints, and bounds. Maps are made
    when one asks for them, of equal rows once.
    """

    @property
    def maps(self) -> tuple[IndexingMap, ...]:
        """The different maps, in the order in which they are met."""
    @property
    def index(self) -> npt.NDArray[np.int64]:
        """Of each element, the place of its instance in `maps`."""
    @property
    def values(self) -> dict[str, npt.NDArray[np.int64]]:
        """The values of each parameter."""
    @property
    def results(self) -> tuple[tuple[_Term, ...], ...]:
        """Of each result its terms: factors over the variables of the map in parameters, and arrays of their coefficients. A
        result is the sum of their products; a constant has factor 1.
        """
    @property
    def constraints(self) -> tuple[tuple[tuple[_Term, ...], npt.NDArray[np.int64], npt.NDArray[np.int64]], ...]:
        """Of each constraint its terms, as those of `results`, and arrays of the least and the greatest values of their
        sum; one that is about parameters alone has no terms.
        """
    def __len__(self) -> int: ...
    def __getitem__(self, row: SupportsIndex, /) -> IndexingMap: ...

@final
class Points:
    """The points of a domain, as pairs of the values of dimensions and of symbols (ranges, then runtime variables)."""

    def __iter__(self) -> Points: ...
    def __next__(self) -> _Point: ...
    def arrays(self) -> tuple[tuple[npt.NDArray[np.int64], ...], tuple[npt.NDArray[np.int64], ...]]:
        """All remaining points, as `evaluate` takes them: an int64 array for each dimension, and one for each symbol.

        Raises MemoryError if there are too many.
        """

@final
class Law:
    """A law of the simplifier, as data."""

    @property
    def group(self) -> str:
        """The group that applies it: a "rule" on a domain, by a "constructor", to a "constraint", to derive a "range"."""
    @property
    def name(self) -> str:
        """Its stable name."""
    @property
    def family(self) -> str:
        """The operator at its left side."""
    @property
    def law(self) -> str:
        """The law; `/` is floordiv, `%` is mod."""
    @property
    def precondition(self) -> str:
        """The precondition."""
    @property
    def needs_domain(self) -> bool:
        """Whether its precondition refers to bounds of variables or to constraints; otherwise it holds for all integers."""
    @property
    def applied(self) -> str:
        """The condition under which it is applied: "always", "if cheaper", "if smaller", "if cheaper with the next"."""

@final
class IndexingMap:
    """`(d0, ..)[s0, ..]{rt0, ..} -> (results), domain: ..`: expressions over dimension, range and runtime variables.

    Variable i of an expression is dimension i, then come ranges, then runtime variables. `*` composes: `first * second`
    is `compose(first, second)`.
    """

    def __new__(
        cls,
        symbolic_map: SymbolicMap,
        dims: Sequence[_VariableLike],
        ranges: Sequence[_VariableLike] | None = None,
        runtimes: Sequence[_VariableLike] | None = None,
        constraints: _Constraints | None = None,
    ) -> IndexingMap: ...
    @staticmethod
    def parse(text: str) -> IndexingMap:
        """Read a map. Raises ParseError with line and column, Overflow, and InvalidMap for a divisor 0."""
    @staticmethod
    def from_tensor_sizes(
        results: SymbolicMap | Sequence[_ExprLike],
        dim_sizes: Sequence[SupportsIndex],
        range_sizes: Sequence[SupportsIndex] | None = None,
        runtime_bounds: Sequence[_VariableLike] | None = None,
        constraints: _Constraints | None = None,
    ) -> IndexingMap:
        """A map whose dimensions and ranges count from 0 below their sizes."""
    @staticmethod
    def identity(sizes: Sequence[SupportsIndex]) -> IndexingMap:
        """The identity on a tensor of these sizes."""
    @staticmethod
    def undefined() -> IndexingMap:
        """The map about which nothing is known."""
    @staticmethod
    def known_empty() -> IndexingMap:
        """The map whose domain is known to have no point."""
    @property
    def dims(self) -> tuple[Variable, ...]:
        """The dimensions."""
    @property
    def ranges(self) -> tuple[Variable, ...]:
        """The range variables."""
    @property
    def runtimes(self) -> tuple[Variable, ...]:
        """The runtime variables."""
    @property
    def variables(self) -> tuple[Variable, ...]:
        """Dimensions, ranges, runtime variables."""
    @property
    def num_dims(self) -> int:
        """The number of dimensions."""
    @property
    def num_ranges(self) -> int:
        """The number of range variables."""
    @property
    def num_runtimes(self) -> int:
        """The number of runtime variables."""
    @property
    def num_results(self) -> int:
        """The number of results."""
    @property
    def results(self) -> tuple[SymbolicExpr, ...]:
        """The results."""
    @property
    def constraints(self) -> tuple[tuple[SymbolicExpr, Interval], ...]:
        """Expressions and the intervals in which they lie; constraints on single variables are their bounds."""
    @property
    def symbolic_map(self) -> SymbolicMap:
        """The results, with ranges and runtime variables as symbols."""
    @property
    def is_undefined(self) -> bool:
        """Whether nothing is known about the map."""
    @property
    def is_known_empty(self) -> bool:
        """Whether the domain is known to have no points. False does not mean that it has any: see `is_empty`."""
    @overload
    def simplify(
        self, keep_points: bool = False, certificate: Literal[False] = False, effort: _Effort | None = None
    ) -> IndexingMap:
        """An equal map of no greater cost: with the same domain, and the same results on it; no variable is removed.

        With `keep_points`, variables with a single value are kept in the expressions. With `certificate`, returns a pair:
        the map and its `Certificate`, each step of which can be checked without the simplifier. The effort "search" looks for a
        cheaper form of the results by all laws, in thousands of steps: for maps that are simplified once and evaluated often.
        """
    @overload
    def simplify(
        self, keep_points: bool = False, *, certificate: Literal[True], effort: _Effort | None = None
    ) -> tuple[IndexingMap, Certificate]: ...
    @overload
    def simplify(
        self, keep_points: bool, certificate: Literal[True], effort: _Effort | None = None
    ) -> tuple[IndexingMap, Certificate]: ...
    def simplifies_fully(self) -> bool:
        """Whether `simplify` completes within its budget of work. If not, it returns an equal map that could be simpler."""
    def explain(self, effort: _Effort | None = None) -> tuple[Step[str], ...]:
        """The steps of `simplify`: those of its certificate, each with its law and the facts that it uses."""
    @overload
    def compose(self, second: IndexingMap, certificate: Literal[False] = False) -> IndexingMap:
        """As `compose(self, second)`."""
    @overload
    def compose(self, second: IndexingMap, certificate: Literal[True]) -> tuple[IndexingMap, Certificate]: ...
    def __mul__(self, second: IndexingMap, /) -> IndexingMap: ...
    def __rmul__(self, first: IndexingMap, /) -> IndexingMap: ...
    def remove_unused_symbols(self) -> IndexingMap:
        """The map without range and runtime variables on which neither results nor dimensions depend."""
    def remove_unused_variables(self) -> IndexingMap:
        """The map without variables on which no result depends."""
    def rescale_symbols(self) -> IndexingMap:
        """The map with each range variable that a constraint fixes to r modulo c replaced by one that counts in steps of c."""
    def symbols_to_dims(self) -> IndexingMap:
        """The map with ranges, then runtime variables, as further dimensions."""
    def ranges_to_dims(self, names: Sequence[str | int]) -> IndexingMap:
        """The map with these ranges (by name, or by index among all variables) as further dimensions."""
    def add_constraint(self, expr: _ExprLike, interval: _IntervalLike) -> IndexingMap:
        """The map with the additional constraint that `expr` lies in `interval`."""
    def verify(self) -> bool:
        """True; raises InvalidMap if variables are missing, or names are invalid or repeated."""
    @overload
    def evaluate(self, dims: Sequence[_Integer], symbols: Sequence[_Integer] | None = None) -> tuple[int, ...]: ...
    @overload
    def evaluate(
        self, dims: Sequence[_Integers] | _Integers, symbols: Sequence[_Integers] | _Integers | None = None
    ) -> tuple[npt.NDArray[np.int64], ...]:
        """The values of the results, whether or not the point is in the domain: ints, or arrays where values are arrays
        (they broadcast). `symbols` are ranges, then runtime variables. Raises Overflow, InvalidMap.
        """
    @overload
    def contains(self, dims: Sequence[_Integer], symbols: Sequence[_Integer] | None = None) -> bool: ...
    @overload
    def contains(
        self, dims: Sequence[_Integers] | _Integers, symbols: Sequence[_Integers] | _Integers | None = None
    ) -> npt.NDArray[np.bool_]:
        """Whether the point is in the domain: within all bounds and constraints. It is not if a constraint or a result divides
        by 0.
        """
    def points(self) -> Points:
        """The points of the domain, the last variable fastest."""
    def range(self, expr: _ExprLike) -> Interval:
        """An interval that holds all values of an expression over the map's variables; the least one unless that takes much
        work."""
    @overload
    def is_empty(self, certificate: Literal[False] = False) -> bool:
        """Whether the domain has no points. Exact; raises Undecided if neither structure nor a bounded search decides.
        With `certificate`, returns a pair: the answer and its `Certificate`.
        """
    @overload
    def is_empty(self, certificate: Literal[True]) -> tuple[bool, Certificate]: ...
    def count(self) -> int:
        """The number of points of the domain. Exact, by structure where there is one; raises Undecided as `is_empty`."""
    def image_count(self) -> int:
        """The number of different results. Exact; raises Undecided as `is_empty`."""
    def is_injective(self) -> bool:
        """Whether different points (of all variables) have different results. Exact; raises Undecided as `is_empty`."""
    def is_bijection_onto(self, sizes: Sequence[SupportsIndex]) -> bool:
        """Whether the results are the elements of a tensor of these sizes, each once. Exact; raises Undecided."""
    def inverse(self) -> IndexingMap:
        """The inverse relation, simplified: from results to dimensions.

        What the results leave open becomes a range variable; runtime variables stay. Exact: (y, ..) leads to the dimensions
        of each point whose results are y, and to no others. Raises Overflow where results may leave int64.
        """
    def intersect(self, other: IndexingMap) -> IndexingMap:
        """Both maps at once: its domain is where both domains are and all results are equal. Raises InvalidMap where the
        maps differ in their numbers of variables or results.
        """
    @overload
    def equivalent(self, other: IndexingMap, certificate: Literal[False] = False) -> Equivalence:
        """Whether domains and results are equal. The answer is true or false, with a counterexample if it is false.

        Names do not count. With `certificate`, returns a pair: the answer and its `Certificate`. Raises InvalidMap for
        different numbers of variables or results, Undecided as `is_empty`.
        """
    @overload
    def equivalent(self, other: IndexingMap, certificate: Literal[True]) -> tuple[Equivalence, Certificate]: ...
    def union(self, other: _Relation) -> PiecewiseMap:
        """The relation that has the pairs of both maps, of a point and its results. Raises InvalidMap where the numbers of
        dimensions, runtime variables or results differ.
        """
    def subtract(self, other: _Relation) -> PiecewiseMap:
        """The pairs of a point and its results that the other map or relation does not have, by pieces.

        Exact; raises Undecided where range variables of the other cannot be eliminated.
        """
    def is_disjoint(self, other: _Relation) -> bool:
        """Whether no point has a result in both. Exact; raises Undecided."""
    def covers(self, other: _Relation) -> bool:
        """Whether all pairs of the other map or relation are pairs of this one. Exact; raises Undecided as `subtract`."""
    def index_bits(self) -> int:
        """32 or 64: the width of integers that hold all subexpressions on the domain. Raises Overflow beyond 64."""
    def with_parameters(self, **parameters: _Values) -> ParametricMap:
        """The map with variables as parameters, simplified once for all values that they take: those of an Interval, of a
        range (with a step: `range(8, 129, 8)`), or all positive ones (None).

        Raises InvalidMap for a name that the map does not have, and for a range without a value.
        """
    def to_text(self, style: _Style | None = None) -> str:
        """The text, on one line; the style "xla" prints `/` and binary min and max."""
    def _repr_latex_(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[object, tuple[str]]: ...

@final
class Maps(Sequence[IndexingMap]):
    """Maps in an order: an immutable sequence. Its objects are made when they are asked for; those of equal items once."""

    @property
    def different_count(self) -> int:
        """The number of different maps."""
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, key: SupportsIndex, /) -> IndexingMap: ...
    @overload
    def __getitem__(self, key: slice, /) -> Maps: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[object, tuple[list[str]]]: ...

@final
class PiecewiseMap:
    """A relation by pieces: the pairs of a point and results of all of its maps.

    A point is the values of dimensions and runtime variables; a map relates it to the results that the range variables give.
    Pieces may overlap, and may have different results at one point (`is_function` says whether they do). The text of a relation
    is that of its pieces, separated by `;`. Arguments may be maps as well, and `first * second` composes.
    """

    def __new__(cls, pieces: Iterable[_Relation]) -> PiecewiseMap: ...
    @staticmethod
    def parse(text: str) -> PiecewiseMap:
        """Read a relation: the texts of its pieces, separated by `;`. Raises ParseError, and InvalidMap for pieces of different
        kinds.
        """
    @property
    def pieces(self) -> tuple[IndexingMap, ...]:
        """The pieces, in an order that does not depend on how they were given."""
    def union(self, other: _Relation) -> PiecewiseMap:
        """The pairs of either relation. Raises InvalidMap where the numbers of variables or results differ."""
    def subtract(self, other: _Relation) -> PiecewiseMap:
        """The pairs that the other relation does not have.

        Exact; raises Undecided where range variables of the other cannot be eliminated.
        """
    def intersect(self, other: _Relation) -> PiecewiseMap:
        """The common pairs, with the range variables of both."""
    def is_disjoint(self, other: _Relation) -> bool:
        """Whether the relations have no pair in common. Exact; raises Undecided."""
    def covers(self, other: _Relation) -> bool:
        """Whether all pairs of the other relation are pairs of this one. Exact; raises Undecided as `subtract`."""
    def equivalent(self, other: _Relation) -> Equivalence:
        """Whether the pairs are the same: true, or false with a counterexample, a point (dims, runtimes)."""
    def compose(self, second: _Relation) -> PiecewiseMap:
        """The pairs (x, z) with (x, y) in this relation and (y, z) in the second, piece by piece."""
    def __mul__(self, second: _Relation, /) -> PiecewiseMap: ...
    def __rmul__(self, first: _Relation, /) -> PiecewiseMap: ...
    def inverse(self) -> PiecewiseMap:
        """The inverse relation, from results to dimensions, piece by piece."""
    def simplify(self) -> PiecewiseMap:
        """The same relation in fewer and simpler pieces: without empty ones and those in others, neighbours as one."""
    def is_empty(self) -> bool:
        """Whether there are no pairs. Exact; raises Undecided."""
    def is_function(self) -> bool:
        """Whether each point has one result at most. Exact; raises Undecided."""
    def count(self) -> int:
        """The number of pairs, each counted once: of points, if the relation is a function. Exact; raises Undecided."""
    def image_count(self) -> int:
        """The number of different results. Exact; raises Undecided."""
    @overload
    def contains(self, dims: Sequence[_Integer], symbols: Sequence[_Integer] | None = None) -> bool: ...
    @overload
    def contains(
        self, dims: Sequence[_Integers] | _Integers, symbols: Sequence[_Integers] | _Integers | None = None
    ) -> npt.NDArray[np.bool_]:
        """Whether some piece has the point, given by dimensions and runtime variables: a bool, or an array of them.

        Raises InvalidMap if a piece has range variables.
        """
    @overload
    def evaluate(self, dims: Sequence[_Integer], symbols: Sequence[_Integer] | None = None) -> tuple[int, ...]: ...
    @overload
    def evaluate(
        self, dims: Sequence[_Integers] | _Integers, symbols: Sequence[_Integers] | _Integers | None = None
    ) -> tuple[npt.NDArray[np.int64], ...]:
        """The results at a point, given by dimensions and runtime variables: ints, or arrays where values are arrays.

        Raises InvalidMap if no piece has the point, if pieces disagree, or if one has range variables.
        """
    def to_text(self, style: _Style | None = None) -> str:
        """The text: the pieces on one line, separated by `; `."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[object, tuple[str]]: ...

_Relation: TypeAlias = IndexingMap | PiecewiseMap

def variable(index: int) -> SymbolicExpr:
    """Variable `index`."""

def rules() -> tuple[Law, ...]:
    """All laws of the simplifier, those of rules first."""

def constant(value: SupportsIndex) -> SymbolicExpr:
    """A constant."""

@overload
def compose(first: IndexingMap, second: IndexingMap, certificate: Literal[False] = False) -> IndexingMap:
    """`second` after `first`, not simplified: the results of `first` are the dimensions of `second`.

    Bounds and constraints of both hold. Range variables are the second's, then the first's; runtime variables likewise.
    With `certificate`, returns a pair: the map and its `Certificate`. Raises InvalidMap if the numbers of results and
    dimensions differ.
    """

@overload
def compose(first: IndexingMap, second: IndexingMap, certificate: Literal[True]) -> tuple[IndexingMap, Certificate]: ...
def parse_all(texts: Iterable[str], threads: int | None = None, progress: _Progress | None = None) -> Maps:
    """Read many maps from an iterable of texts; the GIL is released. The error for the first bad text states its position.

    Equal texts are read once. Uses at most `threads` threads, by default as many as there are cores, and fewer if there is too
    little work to share. `progress` is called with the number of different items that are done, and of all.
    """

def simplify_all(
    maps: Iterable[IndexingMap],
    threads: int | None = None,
    effort: _Effort | None = None,
    progress: _Progress | None = None,
) -> Maps:
    """Simplify many maps, in their order; `effort` as in `IndexingMap.simplify`, the rest as in `parse_all`."""

def count_all(maps: Iterable[IndexingMap], threads: int | None = None, progress: _Progress | None = None) -> list[int]:
    """Count the points of many maps, in their order, as `IndexingMap.count`; the rest as in `parse_all`."""

def compose_all(
    pairs: Iterable[tuple[IndexingMap, IndexingMap]],
    simplify: bool = True,
    threads: int | None = None,
    progress: _Progress | None = None,
) -> Maps:
    """Compose many pairs, the second after the first, and simplify; the rest as in `parse_all`."""

__version__: str

#: A constant's value: (shape's row, bytes), a list of a tuple's values, or None for a token.
_LiteralData: TypeAlias = tuple[int, bytes | None] | list[_LiteralData] | None

#: Exponent and mantissa bits of a float, its bias, and the codes of its largest finite number, infinity and NaN, if any.
_FormatCodes: TypeAlias = tuple[int, int, int, int, int | None, int | None]

def hlo_element_types() -> list[tuple[str, int, _FormatCodes | None]]:
    """Each element type that arrays can have: name, bits, and the format of a float, or of a complex number's halves."""

def hlo_opcodes() -> list[tuple[str, int, int | None, list[str]]]:
    """Each known opcode: its name, least and greatest number of operands, and the attributes that it needs."""

def parse_hlo(text: str) -> HloModule:
    """Parses HLO text. Raises ParseError."""

#: An instruction to be built: name, shape, opcode; operands, a parameter's number or a literal; attributes, each as text or
#: as numbers of computations.
_Draft: TypeAlias = tuple[str, str, str, Sequence[int] | int | str, Sequence[tuple[str, str | Sequence[int]]]]

def build_hlo(name: str, computations: Sequence[tuple[str, int, Sequence[_Draft]]]) -> HloModule:
    """Builds a module of computations (name, root, instructions), the entry last. Raises ParseError, as for its text."""

@final
class HloModule:
    """A parsed HLO module. Computations, instructions and shapes are rows of its tables."""

    @property
    def name(self) -> str:
        """The name; the entry's if the text has no header."""
    @property
    def entry(self) -> int:
        """Row of the entry computation."""
    @property
    def instruction_count(self) -> int:
        """The number of instructions."""
    def header(self) -> list[tuple[str, str]]:
        """The header's attributes."""
    def computations(self) -> list[tuple[str, int, int, int]]:
        """Of each computation: name, first instruction, one past the last, root."""
    def computation_attributes(self, computation: int) -> list[tuple[str, str]]:
        """The attributes behind the closing brace."""
    def instruction(self, instruction: int) -> tuple[str, str, int, int]:
        """Of an instruction: name, opcode, shape, signature."""
    def shape(self, shape: int) -> tuple[str, list[int], list[bool], tuple[list[int], str] | None, list[int], int]:
        """Element type, sizes, dynamic dimensions, layout (minor-to-major, text), rows of elements, element count."""
    def operands(self, instruction: int) -> list[int]:
        """Rows of the operands."""
    def users(self, instruction: int) -> list[int]:
        """Rows of the users."""
    def parameter_number(self, instruction: int) -> int:
        """The number of a parameter; -1 for anything else."""
    def attributes(self, instruction: int) -> list[tuple[str, str]]:
        """All attributes as written."""
    def computing_attributes(self, instruction: int) -> list[tuple[str, str]]:
        """Those that say what the instruction computes, as written."""
    def attribute(self, instruction: int, key: str) -> str | None:
        """One attribute as written."""
    def calls(self, instruction: int) -> list[tuple[str, int]]:
        """Called computations: the attribute's key, the computation's row."""
    def integers(self, instruction: int, key: str) -> list[int] | None:
        """The integers of an attribute."""
    def slices(self, instruction: int, key: str) -> list[tuple[int, int, int]] | None:
        """Start, limit, stride of each dimension."""
    def padding(self, instruction: int, key: str) -> list[tuple[int, int, int]] | None:
        """Low, high, interior padding of each dimension."""
    def window(self, instruction: int, key: str) -> list[tuple[int, int, int, int, int, int, bool]] | None:
        """Of each dimension: size, stride, padding low and high, dilation of base and window, reversal."""
    def labels(self, instruction: int, key: str) -> list[tuple[int, int, list[int]]] | None:
        """Of input, kernel, output: batch, feature, spatial dimensions."""
    def replica_groups(self, instruction: int, key: str) -> list[list[int]] | None:
        """The groups, each a list of ids."""
    def literal(self, instruction: int) -> _LiteralData:
        """A constant's value. Raises IndexError for other instructions."""
    def literal_text(self, instruction: int) -> str:
        """A constant's literal as written; empty for other instructions."""
    def place(self, instruction: int) -> tuple[int, int, str, int]:
        """The place of an instruction: line, column, the line, the characters in front of the name."""
    def text(self) -> str:
        """The module as text that reads back."""
    def computation_text(self, computation: int) -> str:
        """A computation as text."""
    def instruction_text(self, instruction: int) -> str:
        """An instruction as one line of text."""
    def shape_text(self, shape: int) -> str:
        """A shape as text."""

_I = TypeVar("_I")  # an instruction
_M = TypeVar("_M")  # a map of an operand

class _Views(Protocol[_I, _M]):  # what makes objects of Python for maps of the core
    operand_indexing: type[_M]
    @property
    def runtime_value(self) -> type[object]: ...
    def instruction(self, row: int, /) -> _I: ...
    def row(self, instruction: _I, /) -> int: ...

_Arrays: TypeAlias = list[tuple[int, int]]
_Place: TypeAlias = tuple[int, int]

class Unstated(Exception):
    """Formulas that have to be stated: a list of `(inverse, (row, array))`, and whether they are used for sure."""

@final
class Propagation(Generic[_I, _M]):
    """The known maps of a module, one caller at a time."""

    def __new__(cls, module: HloModule, structures: Mapping[str, str], views: _Views[_I, _M]) -> Self:
        """`structures` says of opcodes what follows from the program's structure: "alias", "passes", "copies", "moves",
        "counts", "calls", "starts", "branches" or "loops". `views` makes the objects that maps are given as."""
    def state(self, inverse: bool, at: _Place, formula: list[list[_M]] | None) -> None:
        """State the formula of an array of an instruction (inverse: of an operand): a list of maps for each operand (inverse:
        output), or None if the instruction has none."""
    def find_formulas(self, inverse: bool, first: int, last: int) -> list[int]:
        """Derive all formulas of the instructions in these rows, to be read later. Returns for each instruction its signature,
        or -1 - row where it shares its formulas with no other. Stops at the first error; raises it if no row came before."""
    def formula(self, inverse: bool, at: _Place) -> dict[int, list[_M]]:
        """The formula of an array of an instruction (inverse: of an operand): the maps to each array that it leads to."""
    def computation_indexing(self, inverse: bool, at: _Place, arguments: Sequence[_I]) -> dict[int, list[_M]]:
        """The maps through a computation: from array `at[1]` of its root to each parameter that it leads to, or inverse from
        that parameter to each array."""
    def identity(self, row: int, output: int) -> int:
        """The set of the identity on array `output` of an instruction."""
    def union(self, one: int, other: int) -> int:
        """The union of two sets of maps."""
    def maps(self, map_set: int, leaf: int) -> list[_M]:
        """The maps of a set, to array `leaf`."""
    def propagate(
        self, computation: int, given: list[tuple[int, _Arrays]], order: list[int]
    ) -> list[tuple[int, _Arrays]]:
        """Propagate sets of maps of a computation's arrays to the operands of instructions, in order: users before operands."""
    def propagate_to(self, start: int, leaf: int, target: int) -> _Arrays:
        """The sets of maps from array `leaf` of an instruction to the arrays of `target`, which depends on it."""
    def compose(self, first: _M, second: _M) -> _M:
        """Compose `second` after `first`."""

#: _Traffic: sums over the warp instructions of an access, and over those of one thread's vector together; what they are
#: to be multiplied with and divided by, for one runtime value of several and for samples; how many instructions were
#: counted, where that are not all.
_Traffic: TypeAlias = tuple[list[int], list[int], int, int, int | None]

def global_memory_traffic(
    map: IndexingMap,
    strides: Sequence[int],
    width: int,
    block: Sequence[int],
    warp_size: int,
    sector: int,
    line: int,
    vector: int | None = None,
    widest: int = 0,
) -> _Traffic | None:
    """The traffic of a thread map's warps in global memory; None where no thread reaches anything. Sizes are in bits.

    `map` goes from `(th_x, th_y, th_z, bl_x, bl_y, bl_z)[ranges]{runtime variables}` to an index with these `strides`
    in elements of `width`. `vector` is the place, among all variables, of the range variable that counts a thread's
    vector, `widest` what a thread moves with one instruction, 0 where that is one element. The sums are those of
    instructions, distinct bytes accessed, sectors, lines, the least number of sectors that could hold the bytes, and sectors if
    each contiguous run of bytes began with one. Raises InvalidMap for a map of other dimensions, and Overflow.
    """

def shared_memory_traffic(
    map: IndexingMap, width: int, block: Sequence[int], warp_size: int, banks: int, word: int
) -> _Traffic | None:
    """The traffic of a thread map's warps in shared memory; None where no thread reaches anything. Sizes are in bits.

    `map` goes to one cell of `width`; each of the `banks` serves one `word` in a pass. The sums are those of
    instructions, distinct bytes accessed, passes, the least number of passes, and zeros. Raises as `global_memory_traffic`.
    """

def predict_times(device: Sequence[float], demands: Sequence[npt.NDArray[np.float64]]) -> list[npt.NDArray[np.float64]]:
    """Of kernels: resident blocks of a processor, occupancy, waves, seconds, limits. The model is that of docs/prediction.md.

    `device` is processors, warp size, threads, blocks, registers and bytes of shared memory of a processor, bytes a second
    of memory and of its cache, operations a second, instructions a second of a processor and of a warp, passes a second of a
    processor, updates a second of one address, seconds from a load to its value in memory, in its cache and in the
    processor's own, seconds a launch, seconds a block, overlap of memory and arithmetic. `demands` are columns: blocks,
    threads, registers of a thread, bytes of shared memory, waits of warps for loads, loads that reach the cache, loads that
    reach memory, bytes moved, bytes of memory, passes, operations, instructions issued, updates of one address.
    A limit is the number of one of launch, latency, memory, arithmetic, issue.
    """

@final
class HostViews:
    """Views of arrays in host memory, which stays where it is while this object lives."""

    def __new__(
        cls, arrays: tuple[object, ...], dtypes: tuple[np.dtype, ...], sizes: tuple[tuple[int, ...], ...]
    ) -> Self:
        """View the `arrays` that have these types of elements and sizes, without gaps, by the buffer protocol."""

    def addresses(self) -> list[int]:
        """The address of each array; 0 for those that are not viewed."""
