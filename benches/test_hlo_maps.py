"""Times of a program of 42,000 instructions through Python: parsing, views, all maps; by pytest-benchmark: `make bench`.

Each round starts from a module that is parsed anew, and from empty caches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import indexing as ix
from indexing.ops import op
from programs import program

TEXT = program()
SIZE = 42_012


def _forget() -> None:
    for function in vars(op).values():
        if hasattr(function, "cache_clear"):
            function.cache_clear()


def _parsed() -> tuple[tuple[ix.hlo.Module], dict[str, Any]]:
    _forget()
    return (ix.hlo.parse(TEXT),), {}


def _viewed() -> tuple[tuple[list[ix.hlo.Instruction]], dict[str, Any]]:
    (module,), _ = _parsed()
    return (_views(module),), {}


def _views(module: ix.hlo.Module) -> list[ix.hlo.Instruction]:
    return [i for c in module.computations.values() for i in c.instructions.values()]


def _from_outputs(instructions: list[ix.hlo.Instruction]) -> int:
    return sum(len(ix.output_to_input(i)) for i in instructions)


def _from_inputs(instructions: list[ix.hlo.Instruction]) -> int:
    return sum(len(ix.input_to_output(i, k)) for i in instructions for k in range(len(i.operands)))


def test_parse_a_large_program(benchmark: Any) -> None:
    assert benchmark(ix.hlo.parse, TEXT).instruction_count == SIZE


def test_views_of_a_large_program(benchmark: Any) -> None:
    assert len(benchmark.pedantic(_views, setup=_parsed, rounds=5)) == SIZE


@pytest.mark.parametrize("direction", [_from_outputs, _from_inputs])
def test_maps_of_a_large_program(benchmark: Any, direction: Callable[..., int]) -> None:
    assert benchmark.pedantic(direction, setup=_viewed, rounds=5) > SIZE


def test_text_to_maps_of_a_large_program(benchmark: Any) -> None:
    assert benchmark.pedantic(lambda: _from_outputs(_views(ix.hlo.parse(TEXT))), setup=_forget, rounds=5) > SIZE
