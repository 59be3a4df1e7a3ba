"""Copies of outputs with few elements, one in the shared memory of each block, which combines its updates there first."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from indexing.hlo import Instruction, Shape
from indexing.kernels.function_builder import FunctionBuilder
from indexing.kernels.ir.nodes import Buffer
from indexing.kernels.launch import element_at, guarded, loop_over, thread_id
from indexing.ops.element_context import Index, Value
from indexing.ops.reducer_ops import neutral_element

_BITS = {"f32": "u32", "f64": "u64"}


class OutputCopy:
    """The copy of a scatter's output: its elements start as the reducer's neutral element."""

    def __init__(self, hero: Instruction, threads: int, body: FunctionBuilder) -> None:
        """Declare the copy, for blocks of so many `threads`."""
        shape = hero.shape
        assert isinstance(shape, Shape)
        self.shape, self.threads, self.body = shape, threads, body
        neutral = neutral_element(hero)
        assert neutral is not None
        self.neutral = body.number(shape.element_type, neutral)
        buffer = Buffer(body.fresh("copy"), shape.element_type, shape.dimensions, "shared", layout=shape.layout)
        self.name = body.kernel.add_buffer(buffer)

    def begin(self) -> None:
        """Fill the copy, each thread a part."""
        with self._elements() as place:
            self.body.store(self.name, place, self.body.stored(self.shape.element_type, self.neutral))

    @contextmanager
    def combined(self) -> Iterator[tuple[Index, Value]]:
        """A scope that runs for each element that has been updated, with its place and value."""
        body, kind = self.body, self.shape.element_type
        with self._elements() as place:
            value = body.named(body.load(self.name, kind, place))
            with body.when([body.op("ne", "pred", self._bits(value), self._bits(self.neutral))]):
                yield place, value

    def _bits(self, value: Value) -> Value:
        """The bits of a float, which tell -0, the neutral element of sums, from 0; other values are compared themselves."""
        bits = _BITS.get(self.shape.element_type)
        return value if bits is None else self.body.op("bits", bits, value)

    @contextmanager
    def _elements(self) -> Iterator[Index]:
        """A scope that runs for each element of a thread's part."""
        body, count = self.body, self.shape.element_count
        with loop_over(body, -(-count // self.threads), "part") as part:
            position = part * self.threads + thread_id("th_x")
            with guarded(body, body.within(position, 0, count - 1)), body.base_scope():
                cell = body.named_index(body.fresh("cell"), position, 0, count - 1)
                yield tuple(map(body.scope.simplify, element_at(cell, self.shape)))
