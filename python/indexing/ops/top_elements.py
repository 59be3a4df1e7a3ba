"""Expansion of topk of few elements: each is the greatest, in a total order, of those behind the last one that was found.

Elements are compared by integers in the same order: those of floats are their bits, with all but the sign inverted where it is
set, so that NaN lies beyond infinity, and -0 before 0. Of equal elements, the first comes first.
"""

from __future__ import annotations

from indexing.hlo import BuiltInstruction, Computation, ComputationBuilder, Instruction, Shape
from indexing.ops.expansion import NO_PLACE, Expansion, Scalars

MAX_ELEMENTS = 16  # longer results are left to the sorts of the reference
# Integers as wide as floats and unsigned numbers, for their bits.
KEYS = {"f64": "s64", "f32": "s32", "bf16": "s16", "f16": "s16", "u64": "s64"}
CONVERTED = {"s8": "s32", "s16": "s32", "u8": "s32", "u16": "s32", "u32": "s64"}  # integers that hold these


def top_elements_expansion(instruction: Instruction) -> Computation | None:
    """A computation equal to a topk; None for more than MAX_ELEMENTS, and for element types without keys."""
    values, kind = instruction.shape.leaves[0], instruction.operands[0].shape.element_type
    known = {*KEYS, *CONVERTED, "s32", "s64"}
    if values.dimensions[-1] > MAX_ELEMENTS or not values.element_count or kind not in known:
        return None
    return _Top(instruction).computation(values.dimensions[-1])


class _Top:
    """The steps of one expansion."""

    def __init__(self, instruction: Instruction) -> None:
        self.parts = Expansion(instruction)
        (self.operand,) = self.parts.parameters
        self.is_largest = instruction.attributes.get("largest", "true") == "true"
        self.kind = self.operand.element_type

    def computation(self, count: int) -> Computation:
        """The expansion: one reduction for each of the `count` elements."""
        parts, sizes = self.parts, self.operand.dimensions
        keys = self._keys()
        places = parts.add("iota", "s32", sizes, [], iota_dimension=len(sizes) - 1)
        ranked = [self._greatest(keys, places)]
        for _ in range(count - 1):
            ranked.append(self._greatest(keys, self._left(keys, places, *ranked[-1])))
        best, index = (self._beside([f[k] for f in ranked]) for k in range(2))
        return parts.finish([self._elements(best), index][: len(parts.results)])

    # ---------------------------------------------------------------- keys

    def _keys(self) -> BuiltInstruction:
        """Integers in the order of the elements, the greatest first to be found."""
        parts, bits = self.parts, self.operand
        if self.kind in KEYS:
            bits = self._ordered(parts.add("bitcast-convert", KEYS[self.kind], bits.dimensions, [bits]))
        keys = parts.convert(bits, {"s16": "s32", **CONVERTED}.get(bits.element_type, bits.element_type))
        return keys if self.is_largest else parts.apply("not", keys)

    def _ordered(self, bits: BuiltInstruction) -> BuiltInstruction:
        """The bits of floats as integers in their order, and the reverse; of unsigned ones, with the first bit inverted."""
        parts, size = self.parts, 1 << int(bits.element_type[1:]) - 1
        if self.kind[0] == "u":
            return parts.apply("xor", bits, parts.constant(bits.element_type, -size))
        zero = parts.filled(bits.element_type, 0, bits.dimensions)
        turned = parts.apply("xor", bits, parts.constant(bits.element_type, size - 1))
        is_negative = parts.compare(bits, zero, "LT")
        return parts.select(is_negative, turned, bits)

    def _elements(self, keys: BuiltInstruction) -> BuiltInstruction:
        """The elements of keys."""
        parts = self.parts
        keys = keys if self.is_largest else parts.apply("not", keys)
        if self.kind not in KEYS:
            return parts.convert(keys, self.kind)
        bits = self._ordered(parts.convert(keys, KEYS[self.kind]))
        return parts.add("bitcast-convert", self.kind, bits.dimensions, [bits])

    # ---------------------------------------------------------------- reductions

    def _greatest(self, keys: BuiltInstruction, places: BuiltInstruction) -> list[BuiltInstruction]:
        """The greatest key of each row and its place, of those that have one."""
        parts = self.parts
        last = len(keys.dimensions) - 1
        shapes = [Shape.array(a.element_type, keys.dimensions[:last]) for a in (keys, places)]
        starts = [parts.constant(a.element_type, NO_PLACE) for a in (keys, places)]
        return parts.results_of(
            "reduce", shapes, [keys, places, *starts], dimensions=[last], to_apply=self._comparison(keys.element_type)
        )

    def _comparison(self, key_type: str) -> ComputationBuilder:
        """The computation that takes the greater of two keys with its place: of equal ones the first."""

        def is_first(first: Scalars, second: Scalars) -> BuiltInstruction:
            body, flag = first[0].computation, Shape.array("pred", ())
            (a, i), (b, j) = first, second
            greater, equal, before = (
                body.add("compare", flag, pair, direction=how)
                for *pair, how in ((a, b, "GT"), (a, b, "EQ"), (i, j, "LT"))
            )
            return body.add("or", flag, [greater, body.add("and", flag, [equal, before])])

        return self.parts.placed_choice("greater", key_type, "s32", is_first)

    def _left(
        self, keys: BuiltInstruction, places: BuiltInstruction, best: BuiltInstruction, index: BuiltInstruction
    ) -> BuiltInstruction:
        """The places of the elements behind the last one that was found, and none for the others."""
        parts, sizes = self.parts, keys.dimensions
        rows = range(len(sizes) - 1)
        limit, at = (parts.broadcast(x, sizes, rows) for x in (best, index))
        is_tied = parts.apply("and", parts.compare(keys, limit, "EQ"), parts.compare(places, at, "GT"))
        is_left = parts.apply("or", parts.compare(keys, limit, "LT"), is_tied)
        none = parts.filled("s32", NO_PLACE, sizes)
        return parts.select(is_left, places, none)

    def _beside(self, columns: list[BuiltInstruction]) -> BuiltInstruction:
        """The values as the columns of an array."""
        parts, rows = self.parts, columns[0].dimensions
        parted = [parts.reshape(c, (*rows, 1)) for c in columns]
        sizes = (*rows, len(columns))
        if len(columns) == 1:
            return parted[0]
        return parts.add("concatenate", columns[0].element_type, sizes, parted, dimensions=[len(rows)])
