"""Times of calls through Python, by pytest-benchmark: `make bench`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import indexing as ix
from problems import problems

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "transformer_block.hlo"
TEXTS = [p.map_text() for p in problems(1000)]
TILED = "(d0, d1) -> ((d0 * 16 + d1) floordiv 8, (d0 * 16 + d1) mod 8), domain: d0 in [0, 9], d1 in [0, 15]"
ROWS = "(d0) -> (d0 floordiv 4, d0 mod 4), domain: d0 in [0, 11]"
FLAT = "(d0, d1) -> (d0 * 4 + d1), domain: d0 in [0, 2], d1 in [0, 3]"


def test_parse_a_map(benchmark: Any) -> None:
    assert benchmark(ix.IndexingMap.parse, TILED).dims


def test_simplify_a_map(benchmark: Any) -> None:
    assert benchmark(ix.IndexingMap.parse(TILED).simplify).results


def test_compose_two_maps(benchmark: Any) -> None:
    assert benchmark(ix.compose, ix.IndexingMap.parse(ROWS), ix.IndexingMap.parse(FLAT)).results


@pytest.mark.parametrize("threads", [1, 2])
def test_parse_and_simplify_a_thousand(benchmark: Any, threads: int) -> None:
    simplified = benchmark(lambda: ix.simplify_all(ix.parse_all(TEXTS), threads=threads))
    assert len(simplified) == len(TEXTS)


def test_evaluate_over_arrays(benchmark: Any) -> None:
    import numpy as np

    m = ix.IndexingMap.parse(TILED)
    rows, columns = np.meshgrid(np.arange(10), np.arange(16))
    assert len(benchmark(m.evaluate, [rows, columns], [])) == 2


def test_parse_a_program(benchmark: Any) -> None:
    assert benchmark(ix.hlo.parse, EXAMPLE.read_text()).entry


def test_maps_of_a_program(benchmark: Any) -> None:
    def all_maps() -> int:
        module = ix.hlo.load(EXAMPLE)  # a new module: nothing is remembered from the last round
        return sum(len(ix.output_to_input(i)) for c in module.computations.values() for i in c.instructions.values())

    assert benchmark(all_maps) > 200


def test_emit_a_fusion(benchmark: Any) -> None:
    module = ix.hlo.load(EXAMPLE)
    fusion = max(
        (i for i in module.entry.instructions.values() if i.called), key=lambda i: len(i.called[0].instructions)
    )
    assert benchmark(ix.emit, fusion).source
