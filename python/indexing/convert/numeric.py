"""NumPy strides, CuTe layouts and Triton linear layouts: the position of each element of an array.

They are maps with one result, a dimension for each coordinate, and a box that begins at 0 as domain.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from indexing._core import IndexingMap, Interval, SymbolicExpr, SymbolicMap, constant, variable
from indexing.arguments import of_type, takes
from indexing.convert.expressions import check_has_value
from indexing.errors import InvalidMap, ParseError
from indexing.lazy import np

Bases: TypeAlias = "Mapping[str, Sequence[Sequence[int]]]"
Tree: TypeAlias = "int | tuple[Tree, ...]"
MAX_POINTS = 1 << 20  # a layout without a closed form is checked at this number of points at most


@dataclass(frozen=True, slots=True)
class Strided:
    """Element (i, j, ..) of an array of `sizes` lies at `offset + i * strides[0] + j * strides[1] + ..`, in elements."""

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0

    def byte_strides(self, itemsize: int) -> tuple[int, ...]:
        """The strides that `numpy.lib.stride_tricks.as_strided` takes."""
        return tuple(s * itemsize for s in self.strides)


# ---------------------------------------------------------------- strides


@takes(m=of_type(IndexingMap))
def to_strides(m: IndexingMap) -> Strided:
    """Sizes, strides and offset of a map from an index to one position. Raises InvalidMap if it is not affine."""
    position = _position(m)
    sizes = tuple(v.upper + 1 for v in m.dims)
    zero = [0] * m.num_dims
    offset = int(position.evaluate(zero))
    strides = []
    rest = position - offset
    for d, size in enumerate(sizes):
        at = [int(k == d) for k in range(m.num_dims)]
        stride = int(position.evaluate(at)) - offset if size > 1 else 0
        strides.append(stride)
        rest = rest - variable(d) * stride
    if rest.simplify([v.interval for v in m.dims]).constant_value != 0:
        raise InvalidMap(f"{position} is no sum of multiples of the index: it has no strides")
    return Strided(sizes, tuple(strides), offset)


@takes(strided=of_type(Strided))
def from_strides(strided: Strided) -> IndexingMap:
    """The map from an index to the position of the element."""
    terms = [variable(d) * s for d, s in enumerate(strided.strides)]
    return IndexingMap.from_tensor_sizes([sum(terms, constant(strided.offset))], strided.sizes).simplify()


# ---------------------------------------------------------------- CuTe


@takes(m=of_type(IndexingMap))
def to_cute(m: IndexingMap) -> str:
    """`shape:stride` of a map from coordinates to one position; a coordinate that is split by // and % is a nested mode.

    Raises InvalidMap if the term of a coordinate is no sum of its digits, if a term depends on several coordinates, or if the
    first element is not at position 0.
    """
    position = _position(m)
    zero = [constant(0)] * m.num_dims
    modes: list[tuple[list[int], list[int]]] = []
    rest = position
    for d, v in enumerate(m.dims):
        alone = position.replace_variables([variable(d) if k == d else z for k, z in enumerate(zero)])
        rest = rest - alone
        modes.append(_digits(alone, d, v.upper + 1))
    first = position.replace_variables(zero).constant_value
    if first != 0:
        raise InvalidMap(f"the first element lies at {first}: a CuTe layout begins at 0")
    if rest.simplify([v.interval for v in m.dims]).constant_value != 0:
        raise InvalidMap(f"{position} mixes coordinates: a CuTe layout is a sum of one part each")
    shape, stride = (",".join(_mode(mode[k]) for mode in modes) for k in (0, 1))
    plain = len(modes) == 1 and len(modes[0][0]) == 1
    return f"{shape}:{stride}" if plain else f"({shape}):({stride})"


@takes(text=of_type(str))
def from_cute(text: str) -> IndexingMap:
    """The map from the coordinates of a layout's modes to the position; in nested modes, the first part is the fastest.

    `Sw<bits,base,shift> o pointer o shape:stride` is a layout with a swizzle; static integers may be written as CuTe
    prints them, `_4`. Raises ParseError for other text, InvalidMap if shape and stride do not match.
    """
    swizzled = re.fullmatch(
        r"\s*Sw<(\d{1,2}),(\d{1,2}),(-?\d{1,2})>\s*o\s*(?:_?0|\S*ptr\S*)\s*o\s*(\S.*)", text, re.DOTALL
    )
    if swizzled is not None:
        bits, lowest, shift = (int(swizzled[k]) for k in (1, 2, 3))
        return _swizzled(_of_modes(swizzled[4]), bits, lowest, shift)
    return _of_modes(text)


def _swizzled(m: IndexingMap, bits: int, lowest: int, shift: int) -> IndexingMap:
    """The layout whose position has its `bits` bits from `lowest` on combined by xor with those `shift` bits above.

    With a negative shift, the upper bits are replaced instead.
    """
    if abs(shift) < bits or lowest + abs(shift) + bits > 62:
        raise InvalidMap(f"Sw<{bits},{lowest},{shift}>: the shift is less than the bits, or int64 has fewer bits")
    position = m.results[0]
    if m.range(position).lower < 0:
        raise InvalidMap("a swizzle permutes bits: no position may be negative")
    total = position
    for bit in range(lowest + max(-shift, 0), lowest + max(-shift, 0) + bits):
        own, other = position // (1 << bit) % 2, position // (1 << (bit + shift)) % 2
        total = total + ((own + other) % 2 - own) * (1 << bit)
    return IndexingMap(SymbolicMap(m.num_dims, 0, [total]), list(m.dims)).simplify()


def _of_modes(text: str) -> IndexingMap:
    shape_text, colon, stride_text = text.partition(":")
    if not colon:
        raise _unread(text, len(text), "expected shape:stride")
    shape, stride = _tree(shape_text.strip(), text), _tree(stride_text.strip(), text)
    modes = list(zip(shape, stride, strict=False)) if isinstance(shape, tuple) and isinstance(stride, tuple) else []
    if not modes and not (shape == () == stride):
        modes = [(shape, stride)]
    elif isinstance(shape, tuple) and isinstance(stride, tuple) and len(shape) != len(stride):
        raise InvalidMap(f"{text}: shape and stride have different numbers of modes")
    position, sizes = constant(0), []
    for d, (part, steps) in enumerate(modes):
        leaves = _paired(part, steps, text)
        below = 1
        for k, (size, step) in enumerate(leaves):
            digit = variable(d) // below
            position = position + (digit % size if k + 1 < len(leaves) else digit) * step
            below *= size
        sizes.append(below)
    return IndexingMap.from_tensor_sizes([position], sizes).simplify()


def _digits(part: SymbolicExpr, d: int, size: int) -> tuple[list[int], list[int]]:
    """The sizes and strides of the digits of one coordinate, fastest first."""
    if size > MAX_POINTS:
        interval = [Interval(0, size - 1)] * (d + 1)
        step = int(part.evaluate([0] * d + [1]))
        if (part - variable(d) * step).simplify(interval).constant_value == 0:
            return [size], [step]
        raise InvalidMap(f"{part} is not linear and has more than {MAX_POINTS} values")
    values = np.broadcast_to(part.evaluate([np.zeros(1, np.int64)] * d + [np.arange(size)]), (size,))
    values = values - values[0]
    sizes, strides = [], []
    while len(values) > 1:
        step = int(values[1])
        breaks = np.flatnonzero(values != np.arange(len(values)) * step)
        run = int(breaks[0]) if len(breaks) else len(values)
        rows = values.reshape(-1, run) if len(values) % run == 0 else values[:0].reshape(0, run)
        if not len(rows) or (rows != rows[:, :1] + np.arange(run) * step).any():
            raise InvalidMap(f"{part} is no sum of digits of its coordinate: it has no shape and stride")
        sizes.append(run)
        strides.append(step)
        values = rows[:, 0]
    return sizes or [1], strides or [0]


def _mode(numbers: list[int]) -> str:
    return str(numbers[0]) if len(numbers) == 1 else f"({','.join(map(str, numbers))})"


def _tree(text: str, whole: str) -> Tree:
    """Parse nested tuples of integers, without recursion."""
    stack: list[list[Tree]] = [[]]
    after_value = False
    tokens = re.findall(r"_?-?\d+|[(),]|\S", text)
    for token in tokens:
        if token == "(" and not after_value:
            stack.append([])
        elif token == ")" and len(stack) > 1:
            done = tuple(stack.pop())
            stack[-1].append(done)
            after_value = True
        elif token == "," and after_value:
            after_value = False
        elif re.fullmatch(r"_?-?\d+", token) and not after_value and len(token) < 19:
            stack[-1].append(int(token.removeprefix("_")))
            after_value = True
        else:
            raise _unread(whole, whole.find(token), "expected integers, or tuples of them")
    if len(stack) != 1 or len(stack[0]) != 1:
        raise _unread(whole, len(whole), "expected one tuple or integer")
    return stack[0][0]


def _paired(shape: Tree, stride: Tree, text: str) -> list[tuple[int, int]]:
    """The pairs of leaves of two trees of the same structure."""
    pairs: list[tuple[int, int]] = []
    pending = [(shape, stride)]
    while pending:
        a, b = pending.pop()
        if isinstance(a, int) and isinstance(b, int):
            if a < 1:
                raise InvalidMap(f"{text}: sizes are positive")
            pairs.append((a, b))
        elif isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
            pending += reversed(list(zip(a, b, strict=True)))
        else:
            raise InvalidMap(f"{text}: shape and stride are nested differently")
    return pairs


# ---------------------------------------------------------------- Triton


@takes(m=of_type(IndexingMap))
def to_linear_layout(m: IndexingMap) -> dict[str, list[list[int]]]:
    """A Triton linear layout's bases: for each dimension of the map, by name, the images of 1, 2, 4, ..

    Raises InvalidMap if a dimension's size is no power of two, or if the map is not linear in the bits: map(x xor y) must be
    map(x) xor map(y).
    """
    _check_box(m)
    sizes = [v.upper + 1 for v in m.dims]
    if any(n & (n - 1) for n in sizes):
        raise InvalidMap(f"sizes {sizes}: a linear layout needs powers of two")
    if prod(sizes) > MAX_POINTS:
        raise InvalidMap(f"{prod(sizes)} elements are too many to check for linearity")
    grid = [g.reshape(-1) for g in np.meshgrid(*(np.arange(n) for n in sizes), indexing="ij")]
    points = prod(sizes)
    values = [np.broadcast_to(r, (points,)) for r in m.evaluate(grid)] if sizes else []
    expected = [np.zeros(points, np.int64) for _ in values]
    bases: dict[str, list[list[int]]] = {}
    for d, (v, n) in enumerate(zip(m.dims, sizes, strict=True)):
        bases_of = bases.setdefault(v.name or f"d{d}", [])
        for bit in range(n.bit_length() - 1):
            basis = [int(x) for x in m.evaluate([int(k == d) << bit for k in range(m.num_dims)])]
            bases_of.append(basis)
            for known, b in zip(expected, basis, strict=True):
                known ^= np.where(grid[d] >> bit & 1, b, 0)
    if any((x != y).any() for x, y in zip(values, expected, strict=True)):
        raise InvalidMap(f"{m.symbolic_map} is not linear in the bits of its index: it is no linear layout")
    return bases


@takes(bases=of_type(Mapping))
def from_linear_layout(bases: Bases) -> IndexingMap:
    """The map of a linear layout; where bits coincide, their xor is the sum modulo 2.

    Raises InvalidMap for bases of different lengths or with negative parts.
    """
    every = [basis for of_dimension in bases.values() for basis in of_dimension]
    ranks = {len(basis) for basis in every}
    if len(ranks) > 1 or any(part < 0 for basis in every for part in basis):
        raise InvalidMap("every basis must have one non-negative part for each output")
    results = []
    for k in range(ranks.pop() if ranks else 0):
        width = max(basis[k].bit_length() for basis in every)
        results.append(sum((_bit(bases, k, bit) * (1 << bit) for bit in range(width)), constant(0)))
    dims = [(name, Interval(0, (1 << len(of_dimension)) - 1)) for name, of_dimension in bases.items()]
    return IndexingMap(SymbolicMap(len(dims), 0, results), dims).simplify()


def _bit(bases: Bases, k: int, bit: int) -> SymbolicExpr:
    """Bit `bit` of output `k`."""
    terms = [
        variable(d) // (1 << place) % 2
        for d, of_dimension in enumerate(bases.values())
        for place, basis in enumerate(of_dimension)
        if basis[k] >> bit & 1
    ]
    total = sum(terms, constant(0))
    return total if len(terms) <= 1 else total % 2


# ---------------------------------------------------------------- shared by all notations


def _check_box(m: IndexingMap) -> None:
    check_has_value(m)
    if m.ranges or m.runtimes:
        raise InvalidMap("the map has range or runtime variables: a layout has a single position for each index")
    if m.constraints or any(v.lower != 0 for v in m.dims):
        raise InvalidMap("the domain is not a box that begins at 0: a layout has an element at every index")


def _position(m: IndexingMap) -> SymbolicExpr:
    _check_box(m)
    if m.num_results != 1:
        raise InvalidMap(
            f"the map has {m.num_results} results; a layout leads to one position (compose with linear_map)"
        )
    return m.results[0]


def _unread(text: str, at: int, what: str) -> ParseError:
    return ParseError(what, 1, max(at, 0) + 1, text)
