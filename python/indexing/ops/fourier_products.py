"""Expansion of Fourier transforms to products of matrices, by the algorithm of Cooley and Tukey.

With n = r * m, the transform of x along a dimension of n is, for elements j * m + i of x and k + r * l of the result,
sum over i of w_m^(i l) * w_n^(i k) * sum over j of w_r^(j k) * x[j, i], where w_n is an n-th root of 1: a product by a matrix
of r x r, a factor for each element ("twiddles"), and a transform of m. Real and imaginary parts are a dimension of their own,
the last one, over which the products sum as well.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from indexing.hlo import BuiltInstruction, Computation, Instruction
from indexing.ops.expansion import Expansion

MAX_RADIX = 32  # lengths are taken apart until matrices have so many rows
MAX_PRIME = 128  # rows of a matrix for a prime factor
MAX_LENGTH = 1 << 24  # numbers of elements below are f32s

REAL, IMAGINARY = range(2)
WHOLE = 0  # the number of a dimension that isn't transformed, or of what is left of it


def fourier_in_products(instruction: Instruction) -> Computation | None:
    """A computation equal to an fft; None where a length has a prime factor beyond MAX_PRIME, or is beyond MAX_LENGTH."""
    lengths, kind = instruction.ints("fft_length"), instruction.text("fft_type")
    if not instruction.operands[0].shape.element_count or not instruction.shape.element_count:
        return None
    if any(n > MAX_LENGTH or max(radices(n)) > MAX_PRIME for n in lengths):
        return None
    return _Transform(instruction, kind).computation(lengths)


def radices(length: int) -> list[int]:
    """Factors of a length, similar ones, of which none but a prime is beyond MAX_RADIX if that can be."""
    primes = _prime_factors(length)
    if not primes:
        return [1]
    filled: list[int] = []
    for p in primes:
        place = next((k for k, product in enumerate(filled) if product * p <= MAX_RADIX), None)
        if place is None:
            filled.append(p)
        else:
            filled[place] *= p
    evenly = [1] * len(filled)
    for p in primes:
        evenly[evenly.index(min(evenly))] *= p
    return evenly if all(f <= MAX_RADIX or f in primes for f in evenly) else filled


def _prime_factors(number: int) -> list[int]:
    """The prime factors, the greatest first."""
    factors, p = [], 2
    while p * p <= number:
        while number % p == 0:
            factors.append(p)
            number //= p
        p += 1
    return [number, *reversed(factors)] if number > 1 else factors[::-1]


class _Transform:
    """The steps of one expansion.

    `value` has the real and imaginary parts as its last dimension; `axes` says what the others are: (dimension of the operand,
    WHOLE), or what is left of it, or one of its result's digits, of which number 1 is the least significant.
    """

    def __init__(self, instruction: Instruction, kind: str) -> None:
        self.parts = Expansion(instruction)
        (self.operand,) = self.parts.parameters
        self.kind = kind
        is_double = instruction.shape.element_type in ("f64", "c128")
        self.element_type, self.complex_type = ("f64", "c128") if is_double else ("f32", "c64")
        self.turn = 1 if kind in ("FFT", "RFFT") else -1  # the direction, of clockwise

    def computation(self, lengths: Sequence[int]) -> Computation:
        """The expansion. Of real elements, the last dimension comes first in a forward transform, last in an inverse one."""
        parts, operand, sizes = self.parts, self.operand, self.parts.results[0].dimensions
        *leading, last = enumerate(lengths, len(sizes) - len(lengths))
        if self.kind == "RFFT":
            every = self._transformed(parts.reshape(operand, (*operand.dimensions, 1)), [last, *leading])
            return parts.finish([parts.first(every, sizes)])
        if self.kind == "IRFFT":
            stored = self._transformed(self._in_parts(operand), leading) if leading else operand
            every = self._transformed(self._in_parts(self._mirrored(stored, lengths[-1])), [last])
            return parts.finish([self._part_of(every, "real")])
        return parts.finish([self._transformed(self._in_parts(operand), [last, *leading])])

    # ---------------------------------------------------------------- elements in parts

    def _in_parts(self, whole: BuiltInstruction) -> BuiltInstruction:
        parts, sizes = self.parts, whole.dimensions
        every = range(len(sizes))
        real, imaginary = (parts.broadcast(self._part_of(whole, p), (*sizes, 2), every) for p in ("real", "imag"))
        zero = parts.filled("s32", REAL, (*sizes, 2))
        is_real = parts.compare(self._index((*sizes, 2), len(sizes)), zero, "EQ")
        return parts.select(is_real, real, imaginary)

    def _part_of(self, whole: BuiltInstruction, part: str) -> BuiltInstruction:
        """`part` is "real" or "imag"."""
        return self.parts.add(part, self.element_type, whole.dimensions, [whole])

    def _index(self, sizes: Sequence[int], dimension: int) -> BuiltInstruction:
        return self.parts.add("iota", "s32", sizes, [], iota_dimension=dimension)

    def _whole(self) -> BuiltInstruction:
        """The complex elements, in the operand's dimensions."""
        *sizes, _ = self.value.dimensions
        both = [self._taken(part) for part in (REAL, IMAGINARY)]
        return self._in_order(self.parts.add("complex", self.complex_type, sizes, both))

    def _taken(self, part: int) -> BuiltInstruction:
        """One part of all elements."""
        *sizes, _ = self.value.dimensions
        ends = [*(slice(n) for n in sizes), slice(part, part + 1)]
        taken = self.parts.add("slice", self.element_type, (*sizes, 1), [self.value], slice=ends)
        return self.parts.reshape(taken, sizes)

    def _in_order(self, value: BuiltInstruction) -> BuiltInstruction:
        """The elements in the operand's dimensions: their digits are joined, the most significant ones first."""
        order = sorted(range(len(self.axes)), key=lambda k: (self.axes[k][0], -self.axes[k][1]))
        joined = [1] * len(self.operand.dimensions)
        for (axis, _), n in zip(self.axes, value.dimensions, strict=True):
            joined[axis] *= n
        return self.parts.reshape(self.parts.transpose(value, order), joined)

    def _mirrored(self, value: BuiltInstruction, length: int) -> BuiltInstruction:
        """The result of a real transform with what its last dimension lacks: the conjugates of its first elements."""
        parts, kind = self.parts, value.element_type
        *rows, stored = value.dimensions
        lacks = length - stored
        if not lacks:
            return value
        ends = [*(slice(n) for n in rows), slice(1, lacks + 1)]
        taken = parts.add("slice", kind, (*rows, lacks), [value], slice=ends)
        turned = parts.add("reverse", kind, (*rows, lacks), [taken], dimensions=[len(rows)])
        conjugate = [self._part_of(turned, "real"), parts.apply("negate", self._part_of(turned, "imag"))]
        mirror = parts.add("complex", kind, (*rows, lacks), conjugate)
        return parts.add("concatenate", kind, (*rows, length), [value, mirror], dimensions=[len(rows)])

    # ---------------------------------------------------------------- transforms

    def _transformed(self, value: BuiltInstruction, axes: Iterable[tuple[int, int]]) -> BuiltInstruction:
        """The complex transform of elements in parts along dimensions, given with their lengths."""
        self.value = value
        self.axes = [(k, WHOLE) for k in range(len(value.dimensions) - 1)]
        for axis, length in axes:
            self._transform(axis, length)
        return self._whole()

    def _transform(self, axis: int, length: int) -> None:
        """Transform along a dimension: digit by digit, the least significant ones of the result first."""
        steps, left = radices(length), length
        for number, radix in enumerate(steps, 1):
            if number > 1:
                self._twiddle(axis, left * steps[number - 2])
            left //= radix
            self._multiply(axis, number, radix, left)
        k, sizes = self.axes.index((axis, WHOLE)), self.value.dimensions
        self.value = self.parts.reshape(self.value, (*sizes[:k], *sizes[k + 1 :]))
        del self.axes[k]

    def _multiply(self, axis: int, number: int, radix: int, left: int) -> None:
        """Take a dimension apart into `radix` pieces of `left` elements, and sum over them, times the matrix of w^(j k): the
        new digit is the last dimension.
        """
        k, given = self.axes.index((axis, WHOLE)), self.value.dimensions
        pieces = self.parts.reshape(self.value, (*given[:k], radix, left, *given[k + 1 :]))
        self.value = self.parts.add(
            "dot",
            self.element_type,
            (*given[:k], left, *given[k + 1 : -1], radix, 2),
            [pieces, self._matrix(radix, given[-1])],
            lhs_contracting_dims=[k, len(given)],
            rhs_contracting_dims=[0, 1],
        )
        self.axes.append((axis, number))

    def _matrix(self, radix: int, given: int) -> BuiltInstruction:
        """The matrix [j, part of a term, k, part of a sum] of a transform, an inverse one divided by the radix; of real terms,
        `given` is 1.
        """
        angles = [2 * math.pi * j / radix for j in range(radix)]
        scale = 1 if self.turn > 0 else 1 / radix
        points = [(scale * math.cos(a), scale * self.turn * math.sin(a)) for a in angles]

        def row(j: int, part: int) -> str:
            turned = [points[j * k % radix] for k in range(radix)]
            pairs = [(c, -s) if part == REAL else (s, c) for c, s in turned]
            return "{" + ",".join(f"{{{a!r},{b!r}}}" for a, b in pairs) + "}"

        rows = ["{" + ",".join(row(j, part) for part in range(given)) + "}" for j in range(radix)]
        return self.parts.literal(self.element_type, (radix, given, radix, 2), "{" + ",".join(rows) + "}")

    def _twiddle(self, axis: int, length: int) -> None:
        """Multiply by w_length^(i k): i along what is left of a dimension, k along its last digit."""
        parts, sizes = self.parts, self.value.dimensions
        i, k = self.axes.index((axis, WHOLE)), len(self.axes) - 1
        pair = (sizes[i], sizes[k])
        turns = parts.apply("multiply", *(self._index(pair, d) for d in range(2)))
        angles = parts.scaled(parts.convert(turns, self.element_type), 2 * math.pi / length)
        cosines, sines = (
            parts.broadcast(parts.add(f, self.element_type, pair, [angles]), sizes, (i, k)) for f in ("cosine", "sine")
        )
        swapped = parts.add("reverse", self.element_type, sizes, [self.value], dimensions=[len(sizes) - 1])
        across = parts.apply("multiply", parts.apply("multiply", swapped, sines), self._signs(sizes, self.turn))
        self.value = parts.apply("add", parts.apply("multiply", self.value, cosines), across)

    def _signs(self, sizes: Sequence[int], of_real: int) -> BuiltInstruction:
        """`of_real` (1 or -1) for real parts, its negative for imaginary ones."""
        parts = self.parts
        number = parts.convert(self._index(sizes, len(sizes) - 1), self.element_type)
        return parts.apply("subtract", self._filled(sizes, of_real), parts.scaled(number, 2 * of_real))

    def _filled(self, sizes: Sequence[int], number: float) -> BuiltInstruction:
        return self.parts.filled(self.element_type, number, sizes)
