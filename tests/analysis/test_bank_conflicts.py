"""Bank conflicts against a simulator that looks at every word of every warp, and against the text of the kernels."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indexing as ix
from fusion_texts import FUSIONS, fusion
from indexing.analysis.memory.transactions import count_banks
from indexing.device.detect import find_device
from indexing.kernels.ir.accesses import entry_accesses
from indexing.kernels.ir.nodes import Copy, statements
from indexing.kernels.ir.types import storage_bytes
from indexing.kernels.targets.target import Dialect
from memory_simulator import simulate_banks

H100 = find_device("h100")
LANE = "vector_index_of_copy"
ADD = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }\n"
MAX_INDEX = (
    "pick { v = f32[] parameter(0) i = s32[] parameter(1) w = f32[] parameter(2) j = s32[] parameter(3) "
    "g = pred[] compare(v, w), direction=GE m = f32[] select(g, v, w) k = s32[] select(g, i, j) "
    "ROOT t = (f32[], s32[]) tuple(m, k) }\n"
)


def transposed(kind: str, rows: int, columns: int) -> str:
    return (
        f"ENTRY e {{ p = {kind}[{rows},{columns}] parameter(0) "
        f"ROOT t = {kind}[{columns},{rows}] transpose(p), dimensions={{1,0}} }}"
    )


def summed(kind: str, rows: int, columns: int, dim: int) -> str:
    kept = (rows, columns)[1 - dim]
    reducer = ADD.replace("f32", kind)
    return (
        f"{reducer}ENTRY e {{ p = {kind}[{rows},{columns}] parameter(0) z = {kind}[] constant(0) "
        f"ROOT s = {kind}[{kept}] reduce(p, z), dimensions={{{dim}}}, to_apply=add }}"
    )


PROGRAMS = {
    "f32": transposed("f32", 40, 70),
    "f64": transposed("f64", 40, 70),
    "c128": transposed("c128", 20, 35),
    "bf16": transposed("bf16", 64, 130),
    "s8": transposed("s8", 70, 150),
    "runs": "ENTRY e { p = s8[40,50,3] parameter(0) ROOT t = s8[50,40,3] transpose(p), dimensions={1,0,2} }",
    "rows": summed("f32", 5, 3000, 1),
    "wide rows": summed("f64", 5, 3000, 1),
    "columns": summed("f32", 200, 70, 0),
    "few columns": summed("f64", 500, 6, 0),
    "two arrays": MAX_INDEX
    + "ENTRY e { p = f32[3,2000] parameter(0) q = s32[3,2000] parameter(1) z = f32[] constant(0) n = s32[] constant(0) "
    "ROOT r = (f32[3], s32[3]) reduce(p, q, z, n), dimensions={1}, to_apply=pick }",
}


@pytest.mark.parametrize("dialect", ["cuda", "opencl"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_kernels_take_as_many_passes_as_the_simulator_counts(name: str, dialect: Dialect) -> None:
    kernel = ix.emit(ix.hlo.parse(PROGRAMS[name]).entry, dialect=dialect)
    shared = ix.coalescing(kernel).shared
    assert shared
    for access in shared:
        assert access.exactness == "exact" or "at most" in access.reason  # bytes of a word in a partial vector
        assert access.total.numbers == simulate_banks(access.map, kernel.block, access.cell_bytes), access.map


@settings(max_examples=30, deadline=None)
@given(*[st.integers(0, 40)] * 3, st.integers(1, 7), st.integers(1, 70), st.sampled_from([1, 2, 4, 8, 16]))
def test_any_map_takes_as_many_passes_as_the_simulator_counts(
    a: int, b: int, c: int, d: int, m: int, cell_bytes: int
) -> None:
    text = (
        f"(th_x, th_y, th_z, bl_x, bl_y, bl_z)[step] -> (((th_x * {a} + th_y * {b} + step * {c}) floordiv {d}) mod {m} "
        f"+ th_x), domain: th_x in [0, 47], th_y in [0, 1], th_z in [0, 0], bl_x in [0, 2], bl_y in [0, 0], "
        f"bl_z in [0, 0], step in [0, 3], th_x + bl_x * 7 + step in [2, 60]"
    )
    map_ = ix.IndexingMap.parse(text)
    actual = count_banks(map_, (48, 2, 1), cell_bytes * 8, H100)
    assert actual is not None
    assert actual[0].numbers == simulate_banks(map_, (48, 2, 1), cell_bytes)


def test_conflicts_worked_out_by_hand() -> None:
    def conflicts(stride: int, cell_bytes: int = 4) -> float:
        text = (
            f"(th_x, th_y, th_z, bl_x, bl_y, bl_z) -> (th_x * {stride}), domain: th_x in [0, 31], th_y in [0, 0], "
            "th_z in [0, 0], bl_x in [0, 9], bl_y in [0, 0], bl_z in [0, 0]"
        )
        actual = count_banks(ix.IndexingMap.parse(text), (32, 1, 1), cell_bytes * 8, H100)
        assert actual is not None
        return (actual[0].passes - actual[0].ideal) / actual[0].instructions

    # a column of a tile of 32 words a row: all lanes in one bank; a row padded by one word: none
    assert [conflicts(s) for s in (0, 1, 2, 4, 32, 33)] == [0, 0, 1, 3, 31, 0]
    # two lanes share a word of 4 bytes where they are neighbours
    assert [conflicts(s, 2) for s in (1, 2, 64, 66)] == [0, 0, 31, 0]
    # halves of 16 lanes, each 2 words wide
    assert [conflicts(s, 8) for s in (1, 2, 16, 17)] == [0, 2, 30, 0]


def test_the_tile_of_a_transpose_has_no_conflicts() -> None:
    for kind in ("f32", "f64", "bf16", "s8"):
        accesses = ix.coalescing(ix.emit(ix.hlo.parse(transposed(kind, 512, 512)).entry))
        assert [(a.kind, a.conflicts) for a in accesses.shared] == [("store", 0), ("load", 0)], kind


BYTES = {"s8": 1, "bf16": 2, "f32": 4, "f64": 8}


@pytest.mark.parametrize("kind", BYTES)
@pytest.mark.parametrize("run", [2, 3, 4])
def test_runs_in_a_tile_have_no_conflicts(kind: str, run: int) -> None:
    """But for those that a run beginning within a word brings."""
    text = f"ENTRY e {{ p = {kind}[512,512,{run}] parameter(0) ROOT t = {kind}[512,512,{run}] transpose(p), dimensions={{1,0,2}} }}"
    kernel = ix.emit(ix.hlo.parse(text).entry)
    assert kernel.emitter in ("transpose", "loop")
    for access in ix.coalescing(kernel).shared:
        assert access.conflicts <= (0 if run * BYTES[kind] % 4 == 0 else 1), access


def elements_of(cells: ix.IndexingMap, width: int) -> ix.IndexingMap:
    """The map to elements, of which `width` are a cell."""
    each = f"(d0)[{LANE}] -> (d0 * {width} + {LANE}), domain: d0 in [0, {1 << 40}], {LANE} in [0, {width - 1}]"
    return cells.simplify() if width == 1 else ix.compose(cells, ix.IndexingMap.parse(each)).simplify()


@pytest.mark.parametrize("name", FUSIONS)
def test_what_is_judged_is_what_the_source_does(name: str) -> None:
    """The passes behind change no access, but that some loops are written out: those of the kernel are the same."""
    kernel = ix.emit(fusion(name))
    lowered = kernel.stage("narrow-floats")
    written = entry_accesses(lowered)
    shared = {b.name: storage_bytes(b.element_type) for b in lowered.buffers if b.space == "shared"}
    maps = [written.access_map(a) for a in written.once if a.buffer in shared and a.kind != "atomic"]
    actual = [elements_of(a.execution.map, a.cell_bytes // shared[a.array]) for a in kernel.shared_accesses]
    assert {*actual} == {m.simplify().remove_unused_symbols() for m in maps if not m.is_known_empty}
    for body in (lowered.body, kernel.lowered.body):
        copied = {end for s in statements(body) if isinstance(s, Copy) for end in (s.source, s.destination)}
        assert kernel.vector_arguments == {
            (b.role, b.number) for b in lowered.buffers if b.role != "none" and b.name in copied
        }
    accessed = {(a.argument.kind, a.argument.number) for a in kernel.global_accesses}
    assert accessed == {(a.kind, a.number) for a in kernel.arguments}


@pytest.mark.parametrize("name", ["transpose", "transpose of short rows", "row reduction"])
def test_shared_memory_of_a_target_without_threads_has_no_banks(name: str) -> None:
    accesses = ix.coalescing(ix.emit(fusion(name), "c"))
    assert accesses.shared == () and accesses.accesses
