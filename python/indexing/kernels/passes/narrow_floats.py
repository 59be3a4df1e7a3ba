"""Narrow floats: bf16, f16 and types of at most 8 bits are computed in f32; rounding to them becomes explicit conversions.

Before this pass, `round` states where HLO rounds. It becomes an `encode` to the bits of the format and a `decode` of these,
each with a name: the bits are stored, the f32 is computed with. Values that are numbers of the format already, since they
were decoded or rounded, are not converted again, and keep their bits, even those of a NaN. Targets need only `encode` and
`decode`: an instruction, or a function of their library.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from indexing.kernels.ir.copying import Names
from indexing.kernels.ir.nodes import Block, For, Function, If, Kernel, Let, Op, Ref, Statement, Value, Var, statements
from indexing.kernels.ir.traversal import rewrite_bodies, rewrite_statement, rewrite_value, same_block
from indexing.kernels.ir.types import storage_type


def convert_narrow_floats(kernel: Kernel) -> Kernel:
    """The kernel with conversions in place of roundings."""

    def converted(f: Function | Kernel) -> tuple[Block, Iterator[Value]]:
        converting = _Converter(f)
        return converting.block(f.body), map(converting.value, f.results)

    return rewrite_bodies(kernel, converted)


class _Converter:
    """Converts one function, with the bits of its names, in program order."""

    def __init__(self, function: Function | Kernel) -> None:
        self.names = Names(function)
        self.mutable = {s.name for s in statements(function.body) if isinstance(s, Var)}
        self.bits: dict[tuple[str, str], Value] = {}  # by name and format, for names that are numbers of the format

    def block(self, block: Block) -> Block:
        out: list[Statement] = []
        for statement in block:
            rewritten = rewrite_statement(statement, self._value)
            if isinstance(rewritten, For):
                body = self.block(rewritten.body)
                rewritten = rewritten if body is rewritten.body else replace(rewritten, body=body)
            elif isinstance(rewritten, If):
                rewritten = replace(
                    rewritten, then=self.block(rewritten.then), otherwise=self.block(rewritten.otherwise)
                )
            elif isinstance(rewritten, Let) and isinstance(rewritten.value, Op) and rewritten.value.opcode == "decode":
                out += self._bits(rewritten.name, rewritten.value)
                bits = self.bits[rewritten.name, rewritten.value.format]
                if bits is not rewritten.value.operands[0]:
                    rewritten = Let(rewritten.name, replace(rewritten.value, operands=(bits,)))
            elif isinstance(rewritten, Let) and isinstance(rewritten.value, Ref):
                same = rewritten.value.name
                self.bits |= {(rewritten.name, f): bits for (name, f), bits in self.bits.items() if name == same}
            out.append(rewritten)
        return same_block(block, out)

    def value(self, value: Value) -> Value:
        """A value with conversions in place of roundings."""
        return rewrite_value(value, self._value)

    def _value(self, value: Value) -> Value:
        if not isinstance(value, Op) or value.opcode not in ("encode", "exact_bits", "round"):
            return value
        (operand,) = value.operands
        known = self._known(operand, value.format)
        if value.opcode != "round":
            return value if known is None else known
        if known is not None:
            return operand
        bits = Op("encode", storage_type(value.format), (operand,), value.format)
        return Op("decode", "f32", (bits,), value.format)

    def _known(self, value: Value, narrow: str) -> Value | None:
        """The bits of a value that is a number of the format; None for others."""
        if isinstance(value, Op) and value.opcode == "decode" and value.format == narrow:
            return value.operands[0]
        return self.bits.get((value.name, narrow)) if isinstance(value, Ref) else None

    def _bits(self, name: str, decoded: Op) -> list[Statement]:
        """A definition of a name for the bits of the decoded value `name`, unless they have a constant name."""
        (bits,) = decoded.operands
        if isinstance(bits, Ref) and bits.name not in self.mutable:
            self.bits[name, decoded.format] = bits
            return []
        named = Ref(bits.type, self.names.fresh(f"{name}_bits"))
        self.bits[name, decoded.format] = named
        return [Let(named.name, bits)]
