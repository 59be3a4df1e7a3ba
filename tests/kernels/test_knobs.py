"""Knobs as data: every plan that a space allows can be emitted, and what it does not allow is refused."""

import pickle
import random
import re
from dataclasses import replace
from inspect import Parameter, signature
from pathlib import Path

import numpy as np
import pytest

import indexing as ix
from fusion_texts import FUSIONS, fusion
from indexing.kernels.emitters import EMITTERS as ALL
from indexing.kernels.knob_space import Condition, GridSizes, Knob, KnobSpace

EMITTERS = {
    "transpose": "transpose",
    "row reduction": "reduction",
    "rows": "rows",
    "concatenate": "concatenate",
    "update": "dynamic-update-slice",
    "sorted scatter": "scatter",
}


@pytest.mark.parametrize("name", FUSIONS)
@pytest.mark.parametrize("dialect", ["cuda", "c"])
def test_every_allowed_plan_emits(name: str, dialect: str) -> None:
    computation = fusion(name)
    space = ix.knobs(computation, dialect)
    plans = list(space.plans())
    for plan in random.Random(7).sample(plans, min(len(plans), 12)):
        kernel = ix.emit(computation, dialect, **plan)
        assert kernel.emitter == space.emitter and kernel.grid[0] * kernel.block[0] >= 1
        assert kernel.block[0] <= 1024 and kernel.shared_bytes <= kernel.device.limits.shared_bytes, plan


@pytest.mark.parametrize("name", FUSIONS)
@pytest.mark.parametrize("dialect", ["cuda", "c"])
def test_the_default_is_what_emit_makes(name: str, dialect: str) -> None:
    computation = fusion(name)
    space = ix.knobs(computation, dialect)
    assert space.check({}) == space.default
    assert ix.emit(computation, dialect, **space.default).source == ix.emit(computation, dialect).source


def test_the_table_of_emitters_names_all_and_their_knobs() -> None:
    """Those of docs/kernels.md, in the order in which they are tried; the knobs are the parameters of `plan`."""
    text = (Path(__file__).parents[2] / "docs" / "kernels.md").read_text(encoding="utf-8")
    _, _, table = text.partition("| emitter | hero | what each thread does | knobs |\n")
    rows = [line.split("|") for line in table.partition("\n\n")[0].splitlines()[1:]]
    stated = {name.strip(" `"): re.findall(r"`(\w+)`", knobs) for _, name, *_, knobs, _ in rows}
    keyword = Parameter.KEYWORD_ONLY
    plans = {e.name: [k for k, p in signature(e.plan).parameters.items() if p.kind is keyword] for e in ALL}
    assert list(stated.items()) == list(plans.items())


def test_what_no_kernel_computes_has_no_plans() -> None:
    """As `emit` says: of an op that is no element's, and of a loop that would run again for each element."""
    add = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n"
    fft = "ENTRY f { p = c64[64] parameter(0) s = c64[64] fft(p), fft_type=FFT, fft_length={64} ROOT n = c64[64] negate(s) }"
    again = """ENTRY f { p = f32[512,512] parameter(0) z = f32[] constant(0) e = f32[512,512] exponential(p)
      r = f32[512] reduce(e, z), dimensions={1}, to_apply=add b = f32[512,512] broadcast(r), dimensions={1}
      s = f32[512,512] multiply(b, p) ROOT c = f32[512,512] add(s, e) }"""
    for text in (fft, add + again):
        computation = ix.hlo.parse(text).entry
        with pytest.raises(ix.UnsupportedOp) as refused:
            ix.emit(computation)
        with pytest.raises(ix.UnsupportedOp, match=re.escape(str(refused.value))):
            ix.knobs(computation)


@pytest.mark.parametrize("name", FUSIONS)
def test_what_is_not_allowed_is_refused(name: str) -> None:
    computation, draw = fusion(name), random.Random(3)
    space = ix.knobs(computation)
    refused = 0
    for _ in range(60):
        plan = {k.name: draw.choice([*k.choices, 0, 3, 48, -1, 2048, 5000]) for k in space.knobs}
        if space.allows({n: np.array([v]) for n, v in plan.items()})[0]:
            continue
        with pytest.raises(ix.IndexingError):
            ix.emit(computation, **plan)
        with pytest.raises(ix.IndexingError):
            space.check(plan)
        refused += 1
    assert refused


def test_what_the_plans_own_choices_exclude_is_refused() -> None:
    """A row of 36 elements has 9 vectors by default, so that 16 threads would have no work; of narrower vectors, they have."""
    add = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n"
    row = "ENTRY f { p = f32[512,36] parameter(0) z = f32[] constant(0) ROOT r = f32[512] reduce(p, z), dimensions={1}, to_apply=add }"
    computation = ix.hlo.parse(add + row).entry
    with pytest.raises(ix.IndexingError, match=r"threads is in \{1, 2, 4, 8\} where vector_width = 4, .*; got 16"):
        ix.emit(computation, threads=16)
    assert ix.emit(computation, threads=16, vector_width=2).block == (256, 1, 1)


@pytest.mark.parametrize("name", FUSIONS)
def test_samples_and_grids_are_allowed(name: str) -> None:
    space = ix.knobs(fusion(name))
    assert space.emitter == EMITTERS.get(name, space.emitter)
    sample, grid = space.sample(50, seed=5), space.grid()
    assert space.allows(sample).all() and space.allows(grid).all()
    assert all((a == b).all() for a, b in zip(sample.values(), space.sample(50, seed=5).values(), strict=True))
    rows = list(zip(*grid.values(), strict=True))
    assert len(set(rows)) == len(rows) <= space.size
    assert tuple(space.default.values()) in rows
    assert pickle.loads(pickle.dumps(space)) == space


def test_the_number_of_samples() -> None:
    space = ix.knobs(fusion(next(iter(FUSIONS))))
    assert {n: len(c) for n, c in space.sample(0).items()} == dict.fromkeys(space.names, 0)
    with pytest.raises(ix.IndexingError, match="count is a number of plans, from 0 to 10,000,000; got -1"):
        space.sample(-1)


def small() -> KnobSpace:
    return KnobSpace(
        "some",
        (Knob("a", (1, 2), 1), Knob("b", range(1, 9), 2), Knob("c", range(100), 0)),
        (Condition("b", ("a",), {(1,): range(1, 3), (2,): (4, 8)}),),
    )


def test_a_space_by_enumeration() -> None:
    space = small()
    legal = [(a, b, c) for a in (1, 2) for b in ((1, 2) if a == 1 else (4, 8)) for c in range(100)]
    assert space.size == len(legal)
    every = [(a, b, c) for a in range(4) for b in range(10) for c in range(-1, 102)]
    columns = dict(zip("abc", np.array(every).T, strict=True))
    assert [row for row, ok in zip(every, space.allows(columns), strict=True) if ok] == legal
    alone = [row for row in every if space.allows([dict(zip("abc", row, strict=True))])[0]]
    assert alone == legal, "fewer plans than conditions have keys"
    assert [tuple(p.values()) for p in space.plans(c=range(100))] == legal
    assert space.legal("b", {"a": 2}) == (4, 8)
    assert space.knobs[2].choices == (0, 1, 2, 4, 8, 16, 32, 64, 99)


def test_columns_are_checked() -> None:
    space = small()
    columns = space.columns({"b": [1, 2, 1]})
    assert {n: c.tolist() for n, c in columns.items()} == {"a": [1, 1, 1], "b": [1, 2, 1], "c": [0, 0, 0]}
    with pytest.raises(ix.IndexingError, match=r"no knob 'd'; it has a, b, c"):
        space.columns({"d": [1]})
    with pytest.raises(ix.IndexingError, match="one length"):
        space.columns({"a": [1, 2], "b": [1, 2, 1]})
    for odd in ([1.5], [[1]], "1", [2.0]):
        with pytest.raises(TypeError, match="expected one dimension of integers"):
            space.columns({"a": odd})
    assert len(space.columns({"a": []})["c"]) == 0
    with pytest.raises(ix.IndexingError, match=r"b is in \{4, 8\} where a = 2, c = 0; got 1"):
        space.check({"a": 2, "b": 1})


def test_its_text_says_all() -> None:
    assert str(small()).splitlines() == [
        "some emitter:",
        "a in {1, 2}, by default 1",
        "b in [1, 8], by default 2",
        "c in [0, 99], by default 0",
        "b in {1, 2} where a = 1",
        "b in {4, 8} where a = 2",
    ]
    conditions = (Condition("b", ("a",), {(1,): range(1, 9), (2,): (4,)}),)  # of which one leaves all
    assert str(replace(small(), conditions=conditions)).splitlines()[4:] == ["b in {4} where a = 2"]


@pytest.mark.parametrize("blocks", [*range(1, 130), 4095, 4096, 99_999])
def test_grid_sizes_are_all_quotients_rounded_up(blocks: int) -> None:
    sizes = GridSizes(blocks)
    quotients = {-(-blocks // k) for k in range(1, blocks + 1)}
    assert sorted(sizes) == sorted(quotients) and len(sizes) == len(quotients), "each once"
    for most in {1, 2, 3, blocks // 2 + 1, blocks, 10 * blocks}:
        assert sizes.of(most) == max(q for q in quotients if q <= most)


def test_only_plans_that_differ_are_counted_and_drawn() -> None:
    """By their launches: the kernels of a loop over 96 elements."""
    computation = ix.hlo.parse("ENTRY e { p = f32[96] parameter(0) ROOT n = f32[96] negate(p) }").entry
    space = ix.knobs(computation)
    few = KnobSpace("loop", (Knob("block_size", range(1, 9), 8), *space.knobs[1:]), limit=space.limit)
    most = {m for b in range(1, 97) for m in (b, 2**31 - 1)}
    launches = {
        (plan["block_size"], plan["vector_width"], plan["max_blocks"]): ix.emit(computation, **plan).grid
        for plan in few.plans(block_size=range(1, 9), max_blocks=sorted(most))
    }
    differing = {(block, width, grid) for (block, width, _), grid in launches.items()}
    assert few.size == len(differing)
    drawn = few.sample(500, seed=2)
    rows = list(zip(*(drawn[n].tolist() for n in few.names), strict=True))
    assert {(b, w, launches[b, w, m]) for b, w, m in rows} <= differing and len(set(rows)) > 150
    assert all(launches[row][0] == row[2] for row in rows), "a value is the number of blocks"
    grid = list(zip(*few.grid().values(), strict=True))
    assert len(
        {
            (b, w, ix.emit(computation, block_size=b, vector_width=w, max_blocks=m).grid)
            for b, w, m in map(tuple, np.array(grid).tolist())
        }
    ) == len(grid)


def test_rows_in_registers_and_in_shared_memory_are_one_array_of_a_block_on_cpus() -> None:
    rows = ix.hlo.load(Path(__file__).parents[1] / "golden" / "rows_columns.hlo").entry
    space = ix.knobs(rows, "c")
    by_source: dict[str, list[dict[str, int]]] = {}
    for plan in space.plans():
        by_source.setdefault(ix.emit(rows, "c", **plan).source, []).append(plan)
    equal = [plans for plans in by_source.values() if len(plans) > 1]
    assert equal and sum(map(len, by_source.values())) == space.size
    assert all([{**p, "keep": 0} for p in plans] == [{**plans[0], "keep": 0}] * len(plans) for plans in equal)
    assert len({ix.emit(rows, "cuda", **p).source for p in ix.knobs(rows, "cuda").plans()}) == space.size
