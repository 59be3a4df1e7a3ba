"""The products of a tile kernel, as each thread computes them: which fragments it loads and multiplies, and where sums go."""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product as all_of

import pytest

import indexing as ix
from indexing._core import SymbolicExpr, constant
from indexing.kernels.emitters.tile.plan import interleaved, rotated
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.fragments import INSTRUCTIONS, SUM
from indexing.kernels.kernel import Kernel
from test_emit_tile import PLAIN, emitted, product


def executed(block: ir.Block, known: dict[int, int]) -> Iterator[tuple[ir.Statement, Callable[[SymbolicExpr], int]]]:
    """Yield the statements that a thread executes where all conditions hold, each with what it makes of an index; ids that are
    not `known` are 0.
    """

    def at(e: SymbolicExpr) -> int:
        size = max(e.used_variables(), default=-1) + 1
        value = e.replace_variables([constant(known.get(k, 0)) for k in range(size)]).constant_value
        assert value is not None
        return value

    for s in block:
        match s:
            case ir.For():
                for counter in range(at(s.start), at(s.stop), s.step):
                    known[s.variable] = counter
                    yield from executed(s.body, known)
            case ir.If():
                yield from executed(s.then, known)
            case ir.LetIndex(number, SymbolicExpr() as value):
                known[number] = at(value)
            case _:
                yield s, at


def multiplied(kernel: Kernel, lane: int = 0) -> Iterator[list]:
    """Yield, for each product of a thread, the source of both factors in its registers, the buffer of `LoadMatrices` and the
    place that it gives, and the register of the sum.
    """
    held: dict[tuple[str, int], tuple[str, int]] = {}
    for s, at in executed(kernel.ir.body, {0: lane}):
        match s:
            case ir.LoadMatrices(to, first, source, place):
                held |= {(to, at(first) + k): (source, at(place)) for k in range(4)}
            case ir.MatrixMultiply():
                yield [held[s.left, at(s.left_index)], held[s.right, at(s.right_index)], at(s.accumulator_index)]


@pytest.mark.parametrize(("depth", "stages"), [(64, 1), (64, 2), (32, 3), (16, 3)])
def test_each_fragment_is_multiplied_once_with_those_of_its_place_along_the_sum(depth: int, stages: int) -> None:
    steps = 7
    text = product(f"32,{depth * steps}", f"{depth * steps},32", "32,32", PLAIN)
    kernel = emitted(text, tile_rows=32, tile_columns=32, tile_depth=depth, stages=stages, split_k=1)
    lines = {"left": (rotated(32, depth, 8), 0), "right": (rotated(depth, 32, 8), 1)}
    places = {
        side: {m.evaluate(list(p))[0]: (p[free], p[1 - free]) for p in all_of(*(range(n + 1) for n in bounds(m)))}
        for side, (m, free) in lines.items()
    }
    count = Counter()
    for left, right, total in multiplied(kernel):
        (row, along), (column, other) = places["left"][left[1]], places["right"][right[1]]
        assert along == other and left[0].removeprefix("left") == right[0].removeprefix("right")
        count[row, column, along, total] += 1
    corners = {(row, column) for row, column, _, _ in count}
    assert {row for row, _ in corners} <= {0, 16} and {column for _, column in corners} <= {0, 16}
    assert {along for *_, along, _ in count} == {*range(0, depth, 16)}
    assert {*count.values()} == {steps} and len({total for *_, total in count}) * depth // 16 == len(count)


@pytest.mark.parametrize(
    ("kind", "columns", "depth"), [("s8", 32, 64), ("u8", 64, 32), ("s8", 128, 64), ("f8e5m2", 16, 32)]
)
def test_transposed_bytes_are_fragments_of_even_and_of_odd_columns(kind: str, columns: int, depth: int) -> None:
    """Word l of a matrix that `ldmatrix.trans` loads is pair l floordiv 4 of lines 2 * (l mod 4) and the next; of two words,
    a permutation has the bytes 0 and 2 of both, another one 1 and 3.
    """
    text = product(
        f"32,{depth}", f"{depth},{columns}", f"32,{columns}", PLAIN, kind, "f32" if kind[0] == "f" else "s32"
    )
    kernel = ix.emit(
        ix.hlo.parse(text).entry,
        device="h100",
        tile_rows=32,
        tile_columns=columns,
        tile_depth=depth,
        stages=1,
        split_k=1,
    )
    place = interleaved(depth, columns, 16)
    assert place.is_bijection_onto([depth * columns])
    held = {place.evaluate([k, n])[0]: (k, n) for k, n in all_of(range(depth), range(columns))}
    firsts = [next(multiplied(kernel, lane))[1][1] for lane in range(32)]
    for quarter in range(0, 32, 8):
        assert len({p // 16 % 8 for p in firsts[quarter : quarter + 8]}) == min(8, depth * columns // 16)
    words = [
        [
            [held[firsts[8 * q + 2 * (lane % 4) + of] + lane // 4 * 2 + b] for of, b in all_of(range(2), repeat=2)]
            for q in range(4)
        ]
        for lane in range(32)
    ]
    for lane, odd, register, element in all_of(range(32), range(2), range(2), range(4)):
        column, k = INSTRUCTIONS[kind].right.evaluate([lane, register, element])
        word = words[lane][2 * register + element // 2]
        assert word[2 * (element % 2) + odd] == (k, 2 * column + odd)


@pytest.mark.parametrize(("kind", "together"), [("s8", 2), ("bf16", 1)])
def test_the_sums_of_fragments_are_stored_where_their_columns_are(kind: str, together: int) -> None:
    text = product("64,64", "64,64", "64,64", PLAIN, kind, "s32" if kind == "s8" else "f32")
    kernel = emitted(text, tile_rows=64, tile_columns=64, split_k=1)
    columns = 32 // 8  # a warp has 32 rows and columns
    for lane in range(32):
        named: dict[str, int] = {}
        for s, at in executed(kernel.ir.body, {0: lane}):
            match s:
                case ir.Let(name, ir.Load(_, "sums", (register,))):
                    named[name] = at(register)
                case ir.Store("o0", index, ir.Ref(_, name)):
                    fragment, register = divmod(named[name], 4)
                    row, column = SUM.evaluate([lane, register])
                    first = fragment % columns // together * together * 8
                    place = fragment // columns * 16 + row, first + column * together + fragment % together
                    assert tuple(map(at, index)) == place


def bounds(m: ix.IndexingMap) -> list[int]:
    """The last value of each variable of a map."""
    return [v.interval.upper for v in m.variables]
