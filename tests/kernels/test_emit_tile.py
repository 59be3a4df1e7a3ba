"""The tile emitter: layouts of fragments by their definition, sizes with and without rests, types, proofs, faults."""

from dataclasses import replace
from itertools import product as all_of

import pytest

import indexing as ix
from indexing.analysis.memory.banks import bank_accesses
from indexing.device.detect import find_device
from indexing.device.table import portable_device
from indexing.kernels.emitters.tile.plan import rotated
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.fragments import INSTRUCTIONS, SUM
from indexing.kernels.ir.traversal import rewrite_blocks
from indexing.kernels.kernel import Kernel
from indexing.kernels.verify import verify
from kernel_mutants import mutants
from kernels import assert_written_once

PLAIN = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
TRANSPOSED = "lhs_contracting_dims={0}, rhs_contracting_dims={1}"
LAST = "lhs_contracting_dims={1}, rhs_contracting_dims={1}"
BATCH = "lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}"


def product(left: str, right: str, out: str, numbers: str, kind: str = "bf16", result: str = "f32") -> str:
    return f"""fused {{
      x = {kind}[{left}] parameter(0)
      y = {kind}[{right}] parameter(1)
      ROOT d = {result}[{out}] dot(x, y), {numbers}
    }}"""


def emitted(text: str, **knobs: int) -> Kernel:
    kernel = ix.emit(ix.hlo.parse(text).entry, dialect="cuda", **knobs)
    assert kernel.emitter == "dot-tile"
    return kernel


# ---------------------------------------------------------------- fragments, as PTX ISA 8.7 defines them


@pytest.mark.parametrize(
    ("kind", "word"), [("f32", 1), ("bf16", 2), ("f16", 2), ("s8", 4), ("u8", 4), ("f8e4m3fn", 4), ("f8e5m2", 4)]
)
def test_fragments_are_those_of_the_instructions(kind: str, word: int) -> None:
    """Element i of fragment A of m16n8k16 (m16n8k32): row = groupID for 0 <= i < 2 or 4 <= i < 6 (i < 4 or 8 <= i < 12), else
    groupID + 8; col = threadID_in_group * 2 + (i & 1), and 8 more for i >= 4 (* 4 + (i & 3), 16 more for i >= 8). Of m16n8k8 for
    tf32: row = groupID for a0 and a2, else groupID + 8; col = threadID_in_group, and 4 more for a2 and a3.
    """
    instruction = INSTRUCTIONS[kind]
    for lane, register, element in all_of(range(32), range(4), range(word)):
        group, thread, i = lane >> 2, lane % 4, register * word + element
        row = group if i % (2 * word) < word else group + 8
        column = thread * word + (i & (word - 1)) + (4 * word if i >= 2 * word else 0)
        assert instruction.left.evaluate([lane, register, element]) == (row, column)
    for lane, register, element in all_of(range(32), range(2), range(word)):
        i = register * word + element
        row = (lane % 4) * word + (i & (word - 1)) + (4 * word if i >= word else 0)
        assert instruction.right.evaluate([lane, register, element]) == (lane >> 2, row)
    for lane, i in all_of(range(32), range(4)):
        row = lane >> 2 if i < 2 else (lane >> 2) + 8
        assert SUM.evaluate([lane, i]) == (row, (lane % 4) * 2 + (i & 1))


@pytest.mark.parametrize("kind", [*INSTRUCTIONS])
def test_each_element_is_held_once(kind: str) -> None:
    instruction = INSTRUCTIONS[kind]
    assert instruction.left.is_bijection_onto([16, instruction.depth])
    assert instruction.right.is_bijection_onto([8, instruction.depth])
    assert SUM.is_bijection_onto([16, 8])


# ---------------------------------------------------------------- shared memory


@pytest.mark.parametrize(("lines", "run", "piece"), [*all_of((16, 64), (16, 32, 64, 128), (8, 16))])
def test_no_two_lines_of_a_matrix_share_a_bank(lines: int, run: int, piece: int) -> None:
    """Eight neighbouring lines have their pieces, of 16 bytes, in the eight parts of all banks."""
    if run // piece < 2:
        return
    place = rotated(lines, run, piece)
    assert place.is_bijection_onto([lines * run])
    for first, at in all_of(range(0, lines, 8), range(0, run, piece)):
        places = [place.evaluate([first + k, at])[0] for k in range(8)]
        assert len({p // piece % 8 for p in places}) == 8
        assert all(p % piece == 0 for p in places)


def test_the_kernel_has_no_bank_conflicts() -> None:
    kernel = emitted(
        product("128,128", "128,128", "128,128", PLAIN), tile_rows=64, tile_columns=64, stages=1, split_k=1
    )
    actual = list(bank_accesses(kernel, portable_device("cuda")))
    assert {(a.kind, a.array) for a in actual} == {
        (k, f"{s}_tile") for k in ("load", "store") for s in ("left", "right")
    }
    assert all(a.conflicts == 0 for a in actual)


# ---------------------------------------------------------------- kernels


@pytest.mark.parametrize(
    ("text", "knobs"),
    [
        (product("64,32", "32,64", "64,64", PLAIN), {}),
        (product("128,64", "64,128", "128,128", PLAIN), {"tile_rows": 128, "tile_columns": 128}),
        (product("101,43", "43,50", "101,50", PLAIN, "f16", "f16"), {}),
        (product("40,100", "50,40", "100,50", TRANSPOSED, "bf16", "bf16"), {"tile_depth": 16}),
        (product("16,16", "16,16", "16,16", PLAIN), {"tile_rows": 16, "tile_columns": 16}),
        (product("3,24,40", "3,40,20", "3,24,20", BATCH), {"tile_rows": 32}),
        (product("60,70", "70,50", "60,50", PLAIN, "s8", "s32"), {}),
        (product("48,160", "160,40", "48,40", PLAIN), {"tile_depth": 32, "stages": 2}),
        (product("48,160", "160,40", "48,40", PLAIN), {"tile_depth": 32, "stages": 2, "split_k": 5}),
        (product("5,300", "300,40", "5,40", PLAIN, "bf16", "bf16"), {"split_k": 5}),
        (product("40,64", "3,64", "40,3", LAST, "f16"), {}),
        (product("40,300", "40,300", "40,40", LAST, "s8", "s32"), {"tile_depth": 32, "stages": 1, "split_k": 10}),
        (product("40,128", "40,128", "40,40", LAST, "s8", "s32"), {"tile_depth": 32, "stages": 2}),
        (product("33,75", "75,20", "33,20", PLAIN, "f16"), {"tile_depth": 16, "stages": 2}),
        (product("70,60", "50,70", "60,50", TRANSPOSED, "u8", "s32"), {"tile_columns": 128}),
        (product("40,48", "48,30", "40,30", PLAIN).replace("] dot(", "]{0,1} dot("), {"tile_depth": 16, "stages": 2}),
    ],
)
def test_kernels_are_proved_and_compile(text: str, knobs: dict[str, int]) -> None:
    kernel = emitted(text, **knobs)
    proofs = kernel.verify()
    assert proofs.refuted == proofs.open == (), str(proofs)
    assert_written_once(kernel, [ix.hlo.parse(text).entry.root.shape])
    assert ix.runtime.cubin(kernel, "sm_80")


@pytest.mark.parametrize(
    ("text", "emitter", "turns"),
    [
        (product("96,48", "48,80", "96,80", PLAIN), "dot-tile", (1, 2, 3, 6)),
        (product("93,40", "70,40", "93,70", LAST, "f16", "f16"), "dot-tile", (2, 3)),
        (product("2,90,40", "2,40,70", "2,90,70", BATCH, "f32"), "dot-simt", (2, 3, 6)),
    ],
)
def test_rows_of_tiles_come_by_turns(text: str, emitter: str, turns: tuple[int, ...]) -> None:
    """Block b has, of a group of rows of all columns of tiles, the row b mod n, and a column that changes every n blocks."""
    few = find_device("a100").with_cores(count=1, threads=256)
    entry = ix.hlo.parse(text).entry
    rows, columns = (-(-n // 16) for n in entry.root.shape.dimensions[-2:])
    for n in turns:
        kernel = ix.emit(entry, device=few, tile_rows=16, tile_columns=16, stages=1, split_k=1, group_rows=n)
        proofs = kernel.verify()
        assert kernel.emitter == emitter and proofs.refuted == proofs.open == (), str(proofs)
        assert_written_once(kernel, [entry.root.shape])
        stores = next(a for a in kernel.global_accesses if a.kind == "store").executions[0].map
        for b in range(kernel.grid[0]):
            *_, row, column = stores.evaluate([0, 0, 0, b, 0, 0], [0] * (stores.num_ranges + stores.num_runtimes))
            of_batch = b % (rows * columns)
            group, place = divmod(of_batch, n * columns)
            assert (row // 16, column // 16) == (group * n + place % n, place // n)


def test_large_products_read_each_row_and_column_of_tiles_seldom() -> None:
    """An H100 holds a block of 256 threads with 64 x 64 sums a warp a core: 132 tiles, in order a third of a row of 416."""
    large = ix.hlo.parse(product("16384,16384", "16384,53248", "16384,53248", PLAIN, result="bf16")).entry
    space = ix.knobs(large, device="h100")
    assert space.default["group_rows"] == 8
    in_order, by_turns = ix.predict(large, {"group_rows": [1, 16]}, "h100").memory_bytes
    assert by_turns < in_order / 3
    small = ix.hlo.parse(product("1024,1024", "1024,1024", "1024,1024", PLAIN)).entry
    assert ix.knobs(small, device="h100").legal("group_rows", ix.knobs(small, device="h100").default) == (1,)
    with pytest.raises(ix.IndexingError, match="group_rows"):
        ix.emit(large, device="h100", group_rows=5)


EIGHT_BITS = [
    product("101,43", "43,50", "101,50", PLAIN, "f8e4m3fn"),
    product("40,128", "40,128", "40,40", LAST, "f8e5m2", "bf16"),
    product("70,60", "50,70", "60,50", TRANSPOSED, "f8e4m3fn", "f8e4m3fn"),
]


@pytest.mark.parametrize("text", EIGHT_BITS)
def test_floats_of_eight_bits_are_multiplied_where_the_instruction_is(text: str) -> None:
    entry = ix.hlo.parse(text).entry
    for device, arch in (("L4", "sm_89"), ("h100", "sm_90")):
        kernel = ix.emit(entry, device=device)
        assert kernel.emitter == "dot-tile"
        kind = "e4m3" if "e4m3fn" in text else "e5m2"
        assert f"mma.sync.aligned.m16n8k32.row.col.f32.{kind}.{kind}.f32" in kernel.source
        assert ix.runtime.cubin(kernel, arch)
    proofs = kernel.verify()
    assert proofs.refuted == proofs.open == (), str(proofs)
    assert_written_once(kernel, [entry.root.shape])
    assert ix.emit(entry, device="a100").emitter != "dot-tile"
    assert ix.emit(entry, dialect="cuda").emitter != "dot-tile"  # which any GPU of capability 8.0 runs


@pytest.mark.parametrize("layout", ["{1,0}", "{0,1}"])
@pytest.mark.parametrize(
    ("left", "right", "result", "types"),
    [
        ("f8e5m2", "f8e4m3fn", "f32", ("e5m2", "e4m3")),
        ("f8e4m3fn", "f8e5m2", "bf16", ("e4m3", "e5m2")),
        ("s8", "u8", "s32", ("s8", "u8")),
        ("u8", "s8", "s32", ("u8", "s8")),
    ],
)
def test_factors_of_two_types_of_eight_bits(
    left: str, right: str, result: str, types: tuple[str, str], layout: str
) -> None:
    """Where columns of the result are contiguous, the right operand is the left factor."""
    text = f"""fused {{
      x = {left}[40,70] parameter(0)
      y = {right}[70,50] parameter(1)
      ROOT d = {result}[40,50]{layout} dot(x, y), {PLAIN}
    }}"""
    kernel = ix.emit(ix.hlo.parse(text).entry, device="h100")
    first, second = types if layout == "{1,0}" else types[::-1]
    assert kernel.emitter == "dot-tile"
    sum_type = "f32" if result != "s32" else "s32"
    assert f"mma.sync.aligned.m16n8k32.row.col.{sum_type}.{first}.{second}.{sum_type}" in kernel.source
    proofs = kernel.verify()
    assert proofs.refuted == proofs.open == (), str(proofs)
    assert ix.runtime.cubin(kernel, "sm_90")


ROUNDED = ", algorithm=dot_tf32_tf32_f32"


@pytest.mark.parametrize(
    ("text", "knobs"),
    [
        (product("48,100", "100,40", "48,40", PLAIN + ROUNDED, "f32"), {}),
        (product("64,192", "64,192", "64,64", LAST + ROUNDED, "f32"), {"stages": 2}),
        (product("40,100", "50,40", "100,50", TRANSPOSED + ROUNDED, "f32", "bf16"), {"tile_depth": 8}),
    ],
)
def test_f32_is_rounded_to_tf32_where_the_program_says_so(text: str, knobs: dict[str, int]) -> None:
    kernel = emitted(text, **knobs)
    assert "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32" in kernel.source
    assert "load_matrices_rounded(" in kernel.source and "load_matrices(left" not in kernel.source
    proofs = kernel.verify()
    assert proofs.refuted == proofs.open == (), str(proofs)
    assert_written_once(kernel, [ix.hlo.parse(text).entry.root.shape])
    assert ix.runtime.cubin(kernel, "sm_80")
    for other in ("", ", algorithm=dot_f32_f32_f32", ", algorithm=dot_tf32_tf32_f32_x3"):
        assert ix.emit(ix.hlo.parse(text.replace(ROUNDED, other)).entry, dialect="cuda").emitter != "dot-tile"


def async_copies(kernel: Kernel) -> dict[str, set[int]]:
    """The widths of asynchronous copies, by the argument that they read."""
    widths: dict[str, set[int]] = {}
    for s in ir.statements(kernel.lowered.body):
        if isinstance(s, ir.CopyAsync):
            widths.setdefault(s.source, set()).add(s.width)
    return widths


def test_long_sums_are_copied_asynchronously_while_tiles_are_multiplied() -> None:
    text = product("128,512", "512,128", "128,128", PLAIN)
    kernel = emitted(text, split_k=1)
    assert async_copies(kernel) == {"p0": {8}, "p1": {8}}
    assert async_copies(emitted(text, tile_rows=32, tile_columns=32, split_k=8)) == {"p0": {8}, "p1": {8}}
    assert async_copies(emitted(text, stages=1)) == {}
    assert all(a.conflicts == 0 for a in bank_accesses(kernel, portable_device("cuda")))


@pytest.mark.parametrize(("steps", "stages"), [(1, 3), (2, 3), (3, 3), (16, 2), (16, 3), (17, 3)])
def test_a_step_waits_for_its_own_copies_only(steps: int, stages: int) -> None:
    text = product(f"64,{32 * steps}", f"{32 * steps},64", "64,64", PLAIN)
    kernel = emitted(text, tile_rows=64, tile_columns=64, tile_depth=32, stages=stages, split_k=1)
    inner = list(ir.statements(kernel.ir.body))
    turns = max(steps - stages + 1, 0) // stages
    assert sum(isinstance(s, ir.Barrier) for s in inner) == steps - max(turns - 1, 0) * stages  # one a step
    assert {s.pending for s in inner if isinstance(s, ir.WaitCopies)} == {stages - 2}
    proofs = kernel.verify()
    assert proofs.refuted == proofs.open == (), str(proofs)


def test_copies_that_are_not_waited_for_race() -> None:
    text = product("64,512", "512,64", "64,64", PLAIN)
    kernel = emitted(text, tile_rows=64, tile_columns=64, tile_depth=32, stages=3, split_k=1)
    late = replace(kernel.lowered, body=rewrite_blocks(kernel.lowered.body, with_more_pending))
    faults = [c for c in verify(late).checks if c.status != "proved"]
    assert {c.subject for c in faults if c.kind == "race"} >= {f"shared memory {s}_tile" for s in ("left", "right")}


def with_more_pending(block: ir.Block) -> ir.Block:
    """The block, whose waits leave one more group of copies incomplete."""
    return tuple(replace(s, pending=s.pending + 1) if isinstance(s, ir.WaitCopies) else s for s in block)


def test_a_block_has_the_registers_that_it_needs() -> None:
    space = ix.knobs(ix.hlo.parse(product("4096,4096", "4096,4096", "4096,4096", PLAIN)).entry, device="h100")
    sides = {(p["tile_rows"], p["tile_columns"]) for p in space.plans()}
    assert sides == {*all_of((16, 32, 64, 128, 256), repeat=2)} - {(256, 256)}  # 16 warps of more than 128 registers


def test_what_is_computed_passes_through_registers() -> None:
    text = """fused {
      x = f32[64,512] parameter(0)
      y = bf16[512,64] parameter(1)
      narrow = bf16[64,512] convert(x)
      ROOT d = f32[64,64] dot(narrow, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    }"""
    assert async_copies(emitted(text, stages=2)) == {"p1": {8}}


def test_other_targets_have_no_such_instructions() -> None:
    text = product("64,32", "32,64", "64,64", PLAIN)
    assert [ix.emit(ix.hlo.parse(text).entry, dialect=d).emitter for d in ("c", "opencl")] == ["dot-panels", "dot-simt"]


@pytest.mark.parametrize(
    ("device", "emitter"), [("T4", "dot-simt"), ("V100", "dot-simt"), ("A100 SXM 80GB", "dot-tile")]
)
def test_devices_before_the_instructions(device: str, emitter: str) -> None:
    text = product("64,32", "32,64", "64,64", PLAIN, "f16")
    assert ix.emit(ix.hlo.parse(text).entry, device=device).emitter == emitter


def test_types_without_an_instruction_are_left_to_others() -> None:
    f32 = product("64,32", "32,64", "64,64", PLAIN, "f32")
    assert ix.emit(ix.hlo.parse(f32).entry).emitter == "dot-simt"
    few = product("64,8", "8,64", "64,64", PLAIN)
    assert ix.emit(ix.hlo.parse(few).entry).emitter == "dot-simt"


@pytest.mark.parametrize(("knob", "value"), [("tile_rows", 24), ("tile_columns", 512), ("tile_depth", 8)])
def test_knobs_that_are_not_legal(knob: str, value: int) -> None:
    with pytest.raises(ix.IndexingError, match=f"{knob} is in "):
        emitted(product("64,32", "32,64", "64,64", PLAIN), **{knob: value})


def test_bytes_are_copied_as_they_lie_in_memory() -> None:
    text = product("128,512", "512,256", "128,256", PLAIN, "s8", "s32")
    kernel = emitted(text, tile_rows=64, tile_columns=128, split_k=1)
    assert async_copies(kernel) == {"p0": {16}, "p1": {16}}
    assert all(a.conflicts == 0 for a in bank_accesses(kernel, portable_device("cuda")))
    assert "store_vector_16(o0" in kernel.source  # columns of two fragments alternate
    odd = emitted(text.replace("256]", "250]"), tile_rows=64, tile_columns=128, split_k=1)
    assert "store_vector_8(o0" in odd.source
    assert odd.verify().open == odd.verify().refuted == ()
    assert_written_once(odd, [ix.hlo.parse(text.replace("256]", "250]")).entry.root.shape])


# ---------------------------------------------------------------- faults


def lowered() -> ir.Kernel:
    return emitted(product("64,64", "64,64", "64,64", PLAIN), tile_rows=32, tile_columns=32, tile_depth=32).lowered


def test_a_kernel_without_its_barriers_is_refuted() -> None:
    kernel = lowered()
    without = [m.kernel for m in mutants(kernel) if m.kind == "barrier"]
    assert len(without) == 2
    assert all("race" in {c.kind for c in verify(k).checks if c.status != "proved"} for k in without)


def test_a_kernel_that_does_not_wait_for_its_copies_is_refuted() -> None:
    text = product("64,160", "160,64", "64,64", PLAIN)
    kernel = emitted(text, tile_rows=32, tile_columns=32, tile_depth=32, stages=2).lowered
    without = [m for m in mutants(kernel) if m.kind in ("wait", "barrier")]
    assert {m.kind for m in without} == {"wait", "barrier"}
    assert all("race" in {c.kind for c in verify(m.kernel).refuted} for m in without)


def test_places_beside_pieces_are_not_proved() -> None:
    actual = [m for m in mutants(lowered()) if "source_index of the loadmatrices" in m.what]
    assert actual
    assert all(any(c.status != "proved" for c in verify(m.kernel).checks) for m in actual)


def test_a_warp_multiplies_as_one() -> None:
    """A matrix instruction under a condition that differs among threads is refuted, and one of other registers."""
    kernel = lowered()
    some = ir.Within(ix.variable(0), 0, 40)

    def under_condition(block: ir.Block) -> ir.Block:
        return tuple(ir.If((some,), (s,)) if isinstance(s, ir.MatrixMultiply) else s for s in block)

    def of_type(block: ir.Block) -> ir.Block:
        return tuple(replace(s, instruction="s8") if isinstance(s, ir.MatrixMultiply) else s for s in block)

    for change, kind in ((under_condition, "barrier"), (of_type, "typed")):
        checks = verify(replace(kernel, body=rewrite_blocks(kernel.body, change))).refuted
        assert kind in {c.kind for c in checks}
