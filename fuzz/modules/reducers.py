"""Computations that reduce: sums, products, extremes, bits, pairs of value and index, several arrays at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from modules.program import Array, Builder, Computation, Instruction
from modules.values import ANY, COMPLEX, SMALL, Data, is_float


@dataclass(frozen=True)
class Reducer:
    """A computation, the data for which its result doesn't depend on the order, and its neutral elements as text."""

    computation: Computation
    data: Data
    neutral: tuple[str, ...]


def operations(kind: str) -> tuple[str, ...]:
    """Opcodes that reduce this type; none for the narrowest, whose sums are not exact."""
    if kind == "pred":
        return ("and", "or", "xor")
    if kind in COMPLEX:
        return ("add",)
    if kind[0] in "su":
        return ("add", "multiply", "maximum", "minimum", "and", "or", "xor")
    return ("add", "maximum", "minimum", "multiply") if kind in ("f32", "f64", "bf16", "f16") else ()


def of_one_precision(b: Builder, kinds: Sequence[str]) -> list[str]:
    """The types, all but the first that is not of integers replaced: one instruction takes floats of one precision."""
    first = next((k for k in kinds if is_float(k) or k in COMPLEX), None)
    return [k if k == first or not (is_float(k) or k in COMPLEX) else b.pick("s32", "u8", first) for k in kinds]


def neutral(opcode: str, kind: str) -> str:
    """The element that changes nothing, as HLO writes it."""
    if opcode in ("add", "or", "xor"):
        return "false" if kind == "pred" else "(0, 0)" if kind in COMPLEX else "0"
    if opcode == "multiply":
        return "1"
    if opcode == "and":
        return "true" if kind == "pred" else "-1" if kind[0] == "s" else str(2 ** int(kind[1:]) - 1)
    if is_float(kind):
        return "-inf" if opcode == "maximum" else "inf"
    low, high = (
        (-(2 ** (int(kind[1:]) - 1)), 2 ** (int(kind[1:]) - 1) - 1) if kind[0] == "s" else (0, 2 ** int(kind[1:]) - 1)
    )
    return str(low if opcode == "maximum" else high)


def reducer(b: Builder, kinds: Sequence[str], assigns: bool = False) -> Reducer:
    """A random reducer of arrays of these types: each by an operation of its own, or a pair of value and index."""
    name = b.names.new("reducer")
    if assigns:
        return Reducer(_assignment(name, kinds[0]), ANY, ())
    if len(kinds) == 2 and kinds[1] in ("s32", "s64") and is_float(kinds[0]) and b.chance(0.5):
        return Reducer(_largest_with_index(name, kinds), SMALL, ("-inf", "0"))
    chosen = [b.pick(*operations(k)) for k in kinds]
    count = len(kinds)
    body = [Instruction(f"{name}.p{k}", Array(kinds[k % count]), "parameter", literal=str(k)) for k in range(2 * count)]
    rounding = [k for k in kinds if is_float(k) or k in COMPLEX]
    data = SMALL if rounding else ANY
    for k, opcode in enumerate(chosen):
        operands = [f"{name}.p{k}", f"{name}.p{count + k}"]
        b.rng.shuffle(operands)
        body.append(Instruction(f"{name}.r{k}", Array(kinds[k]), opcode, tuple(operands)))
    if "multiply" in chosen and rounding:
        data = Data("range", -1, 1)
    if count > 1:
        shape = tuple(Array(k) for k in kinds)
        body.append(Instruction(f"{name}.r", shape, "tuple", tuple(f"{name}.r{k}" for k in range(count))))
    neutrals = tuple(neutral(o, k) for o, k in zip(chosen, kinds, strict=True))
    return Reducer(Computation(name, tuple(body)), data, neutrals)


def _assignment(name: str, kind: str) -> Computation:
    """The second argument: the last update wins."""
    parameters = [Instruction(f"{name}.p{k}", Array(kind), "parameter", literal=str(k)) for k in range(2)]
    root = Instruction(f"{name}.r", Array(kind), "copy", (f"{name}.p1",))
    return Computation(name, (*parameters, root))


def _largest_with_index(name: str, kinds: Sequence[str]) -> Computation:
    """The larger value with its index; of equal ones the smaller index."""
    a, i, c, j = (f"{name}.p{k}" for k in range(4))
    value, index, pred = Array(kinds[0]), Array(kinds[1]), Array("pred")
    pairs = (value, index, value, index)
    body = [
        Instruction(p, s, "parameter", literal=str(k)) for k, (p, s) in enumerate(zip((a, i, c, j), pairs, strict=True))
    ]
    steps = [
        ("gt", pred, "compare", (a, c), "direction=GT"),
        ("eq", pred, "compare", (a, c), "direction=EQ"),
        ("less", pred, "compare", (i, j), "direction=LT"),
        ("first", pred, "and", (f"{name}.eq", f"{name}.less"), ""),
        ("take", pred, "or", (f"{name}.gt", f"{name}.first"), ""),
        ("value", value, "select", (f"{name}.take", a, c), ""),
        ("index", index, "select", (f"{name}.take", i, j), ""),
        ("r", (value, index), "tuple", (f"{name}.value", f"{name}.index"), ""),
    ]
    body += [Instruction(f"{name}.{n}", s, o, operands, attributes) for n, s, o, operands, attributes in steps]
    return Computation(name, tuple(body))
