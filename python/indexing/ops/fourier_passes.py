"""Expansion of Fourier transforms to passes over complex elements, by the algorithm of Stockham.

With m = r * l elements along a dimension, of which each is a row of elements that are transformed alike, a pass computes
y[p, k, row] = w_m^(p k) * sum over t of w_r^(t k) * x[t * l + p, row] for p < l and k < r, where w_n is an n-th root of 1. The
rows of the next pass, of l elements along the dimension, are r times as long. The last pass leaves the result in order, so that
nothing is ever transposed. A transform of n real elements is one of n / 2 complex ones, and one pass more.
"""

from __future__ import annotations

import cmath
from collections.abc import Sequence
from functools import reduce
from math import pi, prod

from indexing.hlo import BuiltInstruction, Computation, Instruction
from indexing.ops.expansion import Expansion

RADICES = (4, 2, 3, 5, 7)
MAX_LENGTH = 1 << 16  # the roots of 1 are tables


def fourier_in_passes(instruction: Instruction) -> Computation | None:
    """A computation equal to an fft; None where a length has a prime factor beyond 7, is beyond MAX_LENGTH, or is odd and of a
    real transform.
    """
    lengths, kind = instruction.ints("fft_length"), instruction.text("fft_type")
    if not instruction.operands[0].shape.element_count or not instruction.shape.element_count:
        return None
    if any(n > MAX_LENGTH or prod(radices(n)) != n for n in lengths):
        return None
    if kind in ("RFFT", "IRFFT") and lengths[-1] % 2:
        return None
    return _Transform(instruction, 1 if kind in ("FFT", "RFFT") else -1).computation(kind, lengths)


def radices(length: int) -> list[int]:
    """The radices of the passes of a transform; their product is the length, unless it has other prime factors."""
    factors = []
    for radix in RADICES:
        while length % radix == 0:
            factors.append(radix)
            length //= radix
    return factors


class _Transform:
    """The steps of one expansion; `turn` is the direction of its roots of 1, of clockwise."""

    def __init__(self, instruction: Instruction, turn: int) -> None:
        self.parts = Expansion(instruction)
        (self.operand,) = self.parts.parameters
        self.turn = turn
        is_double = instruction.shape.element_type in ("f64", "c128")
        self.real_type, self.complex_type = ("f64", "c128") if is_double else ("f32", "c64")

    def computation(self, kind: str, lengths: Sequence[int]) -> Computation:
        """The expansion. Of real elements, the last dimension comes first in a forward transform, last in an inverse one."""
        rank = len(self.operand.dimensions)
        *leading, last = enumerate(lengths, rank - len(lengths))
        if kind == "RFFT":
            value = self._forward_of_reals(self.operand)
            return self.parts.finish([self._along(value, leading)])
        if kind == "IRFFT":
            return self.parts.finish([self._inverse_to_reals(self._along(self.operand, leading), last[1])])
        return self.parts.finish([self._along(self.operand, [last, *leading])])

    def _along(self, value: BuiltInstruction, axes: Sequence[tuple[int, int]]) -> BuiltInstruction:
        """The transform along dimensions, given with their lengths."""
        return reduce(lambda value, axis: self._transformed(value, *axis), axes, value)

    def _transformed(self, value: BuiltInstruction, axis: int, length: int) -> BuiltInstruction:
        """The transform along one dimension."""
        parts, sizes = self.parts, value.dimensions
        rows, left, width = prod(sizes[:axis]), length, prod(sizes[axis + 1 :])
        for radix in radices(length):
            left //= radix
            value = self._pass(parts.reshape(value, (rows, radix, left, width)), radix * left == radix)
            width *= radix
        return parts.reshape(value, sizes)

    def _pass(self, value: BuiltInstruction, is_last: bool) -> BuiltInstruction:
        """A pass over [rows, radix, what is left, width]; an inverse transform is divided by the radix."""
        parts = self.parts
        rows, radix, left, width = value.dimensions
        pieces = [self._slice(value, 1, t, t + 1, (rows, left, width)) for t in range(radix)]
        sums = self._of_four(pieces) if radix == 4 else [self._sum(pieces, k) for k in range(radix)]
        if self.turn < 0:
            sums = [self._scaled(s, 1 / radix) for s in sums]
        if not is_last:
            sums[1:] = [
                self._turned(s, 1, [p * k / (radix * left) for p in range(left)]) for k, s in enumerate(sums[1:], 1)
            ]
        columns = [parts.reshape(s, (rows, left, 1, width)) for s in sums]
        return parts.add("concatenate", self.complex_type, (rows, left, radix, width), columns, dimensions=[2])

    def _sum(self, pieces: Sequence[BuiltInstruction], k: int) -> BuiltInstruction:
        """The sum of w_r^(t k) times the piece t."""
        radix, parts = len(pieces), self.parts
        terms = [self._times(piece, self._root(t * k % radix / radix)) for t, piece in enumerate(pieces)]
        return reduce(lambda a, b: parts.apply("add", a, b), terms)

    def _of_four(self, pieces: Sequence[BuiltInstruction]) -> list[BuiltInstruction]:
        """The four sums of four pieces, without products."""
        parts, (a, b, c, d) = self.parts, pieces
        (even, odd), (same, other) = (
            [parts.apply(sign, *pair) for sign in ("add", "subtract")] for pair in ((a, c), (b, d))
        )
        real, imaginary = self._part(other, "real"), self._part(other, "imag")
        if self.turn > 0:  # times -i, else times i
            crossed = self._complex(imaginary, parts.apply("negate", real))
        else:
            crossed = self._complex(parts.apply("negate", imaginary), real)
        return [
            parts.apply(sign, *pair)
            for sign, pair in (
                ("add", (even, same)),
                ("add", (odd, crossed)),
                ("subtract", (even, same)),
                ("subtract", (odd, crossed)),
            )
        ]

    # ---------------------------------------------------------------- real elements

    def _forward_of_reals(self, value: BuiltInstruction) -> BuiltInstruction:
        """The first half of the transform of real elements, along the last dimension: that of pairs as complex elements z, then
        of even and odd elements, as z is a sum of theirs.
        """
        parts, (*rows, length) = self.parts, value.dimensions
        half, last = length // 2, len(rows)
        pairs = parts.reshape(value, (*rows, half, 2))
        z = self._complex(*(self._slice(pairs, last + 1, k, k + 1, (*rows, half)) for k in range(2)))
        z = self._transformed(z, last, half)
        around = self._slice(z, last, 0, 1, (*rows, 1))
        z = parts.add("concatenate", self.complex_type, (*rows, half + 1), [z, around], dimensions=[last])
        even, odd = self._even_and_odd(z)
        odd = self._turned(odd, last, [0.25 + k / length for k in range(half + 1)])
        return parts.apply("add", even, odd)

    def _inverse_to_reals(self, value: BuiltInstruction, length: int) -> BuiltInstruction:
        """The inverse of it; the imaginary parts of the first and the last element, which have no meaning, are not read."""
        parts, (*rows, stored) = self.parts, value.dimensions
        half, last = length // 2, len(rows)
        zero = parts.filled(self.real_type, 0, (*rows, 1))
        imaginary = self._slice(self._part(value, "imag"), last, 1, half, (*rows, half - 1))
        ends = [zero, imaginary, zero] if half > 1 else [zero, zero]
        imaginary = parts.add("concatenate", self.real_type, (*rows, stored), ends, dimensions=[last])
        even, odd = self._even_and_odd(self._complex(self._part(value, "real"), imaginary))
        odd = self._turned(odd, last, [0.25 + k / length for k in range(half + 1)])
        z = self._slice(parts.apply("add", even, odd), last, 0, half, (*rows, half))
        z = self._transformed(z, last, half)
        both = [parts.reshape(self._part(z, part), (*rows, half, 1)) for part in ("real", "imag")]
        pairs = parts.add("concatenate", self.real_type, (*rows, half, 2), both, dimensions=[last + 1])
        return parts.reshape(pairs, (*rows, length))

    def _even_and_odd(self, value: BuiltInstruction) -> list[BuiltInstruction]:
        """Half of the sum of elements and of the conjugates of those in reverse order, and half of the difference."""
        parts, sizes = self.parts, value.dimensions
        turned = parts.add("reverse", self.complex_type, sizes, [value], dimensions=[len(sizes) - 1])
        conjugate = self._complex(self._part(turned, "real"), parts.apply("negate", self._part(turned, "imag")))
        return [self._scaled(parts.apply(sign, value, conjugate), 0.5) for sign in ("add", "subtract")]

    # ---------------------------------------------------------------- complex elements

    def _root(self, turns: float) -> complex:
        return cmath.exp(-2j * pi * self.turn * turns)

    def _turned(self, value: BuiltInstruction, dimension: int, turns: Sequence[float]) -> BuiltInstruction:
        """Elements times the roots of 1 for their place along a dimension."""
        roots = [self._root(t) for t in turns]
        text = "{" + ",".join(f"({r.real!r},{r.imag!r})" for r in roots) + "}"
        table = self.parts.literal(self.complex_type, (len(roots),), text)
        return self.parts.apply("multiply", value, self.parts.broadcast(table, value.dimensions, [dimension]))

    def _times(self, value: BuiltInstruction, factor: complex) -> BuiltInstruction:
        return value if factor == 1 else self.parts.scaled(value, factor)

    def _scaled(self, value: BuiltInstruction, factor: float) -> BuiltInstruction:
        return self._complex(*(self.parts.scaled(self._part(value, part), factor) for part in ("real", "imag")))

    def _complex(self, real: BuiltInstruction, imaginary: BuiltInstruction) -> BuiltInstruction:
        return self.parts.add("complex", self.complex_type, real.dimensions, [real, imaginary])

    def _part(self, value: BuiltInstruction, part: str) -> BuiltInstruction:
        """`part` is "real" or "imag"."""
        return self.parts.add(part, self.real_type, value.dimensions, [value])

    def _slice(
        self, value: BuiltInstruction, dimension: int, first: int, stop: int, sizes: Sequence[int]
    ) -> BuiltInstruction:
        """Some places along a dimension, as an array of these sizes."""
        ends = [slice(first, stop) if k == dimension else slice(n) for k, n in enumerate(value.dimensions)]
        taken = [stop - first if k == dimension else n for k, n in enumerate(value.dimensions)]
        return self.parts.reshape(self.parts.add("slice", value.element_type, taken, [value], slice=ends), sizes)
