"""Coalescing against a simulator that lists every address of every warp, and against cases worked out by hand."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indexing as ix
from indexing.analysis.memory.global_memory import Access, Launch
from indexing.analysis.memory.transactions import VECTOR, count
from indexing.device.detect import find_device
from indexing.kernels.kernel import Argument, Kernel
from kernels import vector_moves
from memory_simulator import simulate, strides

H100 = find_device("h100")


def fusion(body: str, entry: str, called: str = "") -> ix.hlo.Instruction:
    return ix.hlo.parse(f"HloModule m\n{called}\nf {{\n{body}\n}}\nENTRY e {{\n{entry}\n}}\n").entry.root


def argument_of(kernel: Kernel, access: Access) -> Argument:
    kind, number = ("input", access.operand) if access.kind == "read" else ("output", access.output)
    return next(a for a in kernel.arguments if (a.kind, a.number) == (kind, number))


def assert_as_simulated(kernel: Kernel) -> None:
    accesses = ix.coalescing(kernel)
    assert accesses.accesses
    for access in accesses.accesses:
        argument = argument_of(kernel, access)
        layout = argument.layout if argument.layout is not None else tuple(range(len(argument.dimensions)))[::-1]
        steps = strides(argument.dimensions, layout)
        each = simulate(access.map, steps, kernel.block, access.element_bits, vector_of(kernel, access))
        assert access.total.numbers[:5] == each.numbers, f"{access.kind}: {access.map}"


def vector_of(kernel: Kernel, access: Access) -> int | None:
    """The range variable that counts a vector's elements, where the kernel moves these as one."""
    names = [v.name for v in access.map.ranges]
    number = names.index(VECTOR) if VECTOR in names else None
    name = f"o{access.output}" if access.kind == "write" else f"p{access.operand}"
    return number if vector_moves(kernel)[name] else None


ADD = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }"
PROGRAMS = {
    "elementwise": fusion(
        "p = f32[7,45] parameter(0)\n q = f32[7,45]{0,1} parameter(1)\n ROOT r = f32[7,45] add(p, q)",
        "p = f32[7,45] parameter(0)\n q = f32[7,45]{0,1} parameter(1)\n ROOT r = f32[7,45] fusion(p, q), kind=kLoop, calls=f",
    ),
    "pad": fusion(
        "p = bf16[21,37] parameter(0)\n z = bf16[] parameter(1)\n ROOT r = bf16[30,52] pad(p, z), padding=3_6x4_11",
        "p = bf16[21,37] parameter(0)\n z = bf16[] parameter(1)\n ROOT r = bf16[30,52] fusion(p, z), kind=kLoop, calls=f",
    ),
    "transpose": fusion(
        "p = s8[40,3,33] parameter(0)\n ROOT r = s8[33,3,40] transpose(p), dimensions={2,1,0}",
        "p = s8[40,3,33] parameter(0)\n ROOT r = s8[33,3,40] fusion(p), kind=kLoop, calls=f",
    ),
    "row reduction": fusion(
        "p = f32[9,100] parameter(0)\n c = f32[] constant(0)\n"
        "ROOT r = f32[9] reduce(p, c), dimensions={1}, to_apply=add",
        "p = f32[9,100] parameter(0)\n ROOT r = f32[9] fusion(p), kind=kInput, calls=f",
        ADD,
    ),
    "column reduction": fusion(
        "p = f32[50,70] parameter(0)\n c = f32[] constant(0)\n"
        "ROOT r = f32[70] reduce(p, c), dimensions={0}, to_apply=add",
        "p = f32[50,70] parameter(0)\n ROOT r = f32[70] fusion(p), kind=kInput, calls=f",
        ADD,
    ),
    "reverse, strided": fusion(
        "p = f64[200] parameter(0)\n v = f64[200] reverse(p), dimensions={0}\n ROOT r = f64[100] slice(v), slice={[0:200:2]}",
        "p = f64[200] parameter(0)\n ROOT r = f64[100] fusion(p), kind=kLoop, calls=f",
    ),
    "concatenate": fusion(
        "p = f16[42] parameter(0)\n q = f16[44] parameter(1)\n ROOT r = f16[86] concatenate(p, q), dimensions={0}",
        "p = f16[42] parameter(0)\n q = f16[44] parameter(1)\n ROOT r = f16[86] fusion(p, q), kind=kLoop, calls=f",
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_kernels_move_what_the_simulator_counts(name: str) -> None:
    assert_as_simulated(ix.emit(PROGRAMS[name]))


@pytest.mark.parametrize("vector_width", [2, 4, 8])
def test_vectors_move_what_the_simulator_counts(vector_width: int) -> None:
    assert_as_simulated(ix.emit(PROGRAMS["elementwise"], vector_width=vector_width, block_size=48))


def maps_of_threads() -> st.SearchStrategy[str]:
    def text(a: int, b: int, c: int, d: int, m: int, n: int, blocks: int, steps: int) -> str:
        address = f"(th_x * {a} + bl_x * {b} + step * {c}) floordiv {d}"
        return (
            f"(th_x, th_y, th_z, bl_x, bl_y, bl_z)[step] -> (({address}) mod {m} + th_y * {n}), "
            f"domain: th_x in [0, 39], th_y in [0, 1], th_z in [0, 0], bl_x in [0, {blocks}], bl_y in [0, 0], "
            f"bl_z in [0, 0], step in [0, {steps}], th_x + bl_x * 40 in [3, {blocks * 30}], "
            f"(th_x + bl_x + step) mod {d + 1} in [0, {d}]"
        )

    small = st.integers(0, 70)
    return st.builds(
        text, small, small, small, st.integers(1, 5), st.integers(1, 300), small, st.integers(1, 20), st.integers(0, 3)
    )


@settings(max_examples=25, deadline=None)
@given(maps_of_threads(), st.sampled_from([4, 8, 16, 32, 64]))
def test_any_thread_map_moves_what_the_simulator_counts(text: str, bits: int) -> None:
    m = ix.IndexingMap.parse(text).simplify()
    block = (40, 2, 1)
    actual = count(m, [1], block, bits, H100, False)
    got = (0,) * 5 if actual is None else actual.each.numbers[:5]
    assert got == simulate(m, [1], block, bits).numbers


def nested_map(seed: int, block: tuple[int, int, int]) -> str:
    """A thread map of quotients, remainders, least and greatest values of sums, three deep, under such bounds."""
    generator = random.Random(seed)

    def number(low: int, high: int) -> int:
        return generator.randint(low, high)

    def nested(depth: int) -> str:
        if depth == 0:
            return generator.choice(["th_x", "th_y", "th_z", "bl_x", "bl_y", "step", str(number(-20, 20))])
        a, b, c = nested(depth - 1), nested(number(0, depth - 1)), generator.choice([2, 3, 4, 5, 7, 8, 12, 30])
        forms = (
            *(
                f"({a} + {b} * {number(-9, 9)})",
                f"(({a} + {b}) floordiv {c})",
                f"(({a} * {number(1, 9)} + {b}) mod {c})",
            ),
            *(f"min({a}, {b})", f"max({a}, {b} + 2)", f"(({a} * {number(1, 40)} + {b}) floordiv {c})"),
        )
        return generator.choice(forms)

    bounds = "".join(f", {nested(2)} in [{number(-30, 5)}, {number(6, 60)}]" for _ in range(number(0, 2)))
    x, y, z = block
    return (
        f"(th_x, th_y, th_z, bl_x, bl_y, bl_z)[step] -> ({nested(3)} + {number(0, 3)} * (th_x + {x} * bl_x)), domain: "
        f"th_x in [0, {x - 1}], th_y in [0, {y - 1}], th_z in [0, {z - 1}], bl_x in [0, {number(0, 9)}], "
        f"bl_y in [0, {number(0, 2)}], bl_z in [0, 0], step in [0, {number(0, 3)}]{bounds}"
    )


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10**9),
    st.sampled_from([(32, 1, 1), (40, 2, 1), (7, 3, 2), (5, 5, 3)]),
    st.sampled_from([4, 8, 16, 32, 64, 128]),
)
def test_nested_thread_maps_move_what_the_simulator_counts(seed: int, block: tuple[int, int, int], bits: int) -> None:
    m = ix.IndexingMap.parse(nested_map(seed, block))
    if m.is_known_empty:
        return
    actual = count(m, [1], block, bits, H100, False)
    got = (0,) * 5 if actual is None else actual.each.numbers[:5]
    assert got == simulate(m, [1], block, bits).numbers


def test_a_large_launch_is_counted_by_its_period() -> None:
    """Rows of 1000 f32, one thread an element, read along columns: each lane its own sector."""
    root = fusion(
        "p = f32[4000,1000]{0,1} parameter(0)\n ROOT r = f32[4000,1000]{1,0} copy(p)",
        "p = f32[4000,1000]{0,1} parameter(0)\n ROOT r = f32[4000,1000]{1,0} fusion(p), kind=kLoop, calls=f",
    )
    (read,) = ix.coalescing(root, launch=Launch(block=128)).reads
    assert read.exactness == "exact"
    assert (read.total.instructions, read.sectors, read.lines, read.ratio) == (125000, 32.0, 32.0, 8.0)
    assert not read.coalesced
    (write,) = ix.coalescing(root, launch=Launch(block=128)).writes
    assert (write.sectors, write.lines, write.ratio, write.bytes_moved) == (4.0, 1.0, 1.0, 4000 * 1000 * 4)


def test_elements_narrower_than_a_byte() -> None:
    root = ix.hlo.parse("ENTRY e { p = s4[4096] parameter(0) ROOT n = s4[4096] negate(p) }").entry.root
    assert ix.coalescing(root).reads[0].bytes_asked == 32
    packed = ix.coalescing(root, storage="packed").reads[0]
    assert (packed.bytes_asked, packed.sectors) == (16, 1)


def test_a_broadcast_scalar_is_one_sector() -> None:
    root = ix.hlo.parse("ENTRY e { p = f32[] parameter(0) ROOT b = f32[300] broadcast(p), dimensions={} }").entry.root
    (read,) = ix.coalescing(root).reads
    assert (read.bytes_asked, read.sectors, read.coalesced) == (4, 1, True)


def test_runtime_starts_are_averaged_and_said_to_be() -> None:
    text = "ENTRY e { p = f32[64] parameter(0) i = s32[] parameter(1) ROOT d = f32[32] dynamic-slice(p, i), dynamic_slice_sizes={32} }"
    reads = [r for r in ix.coalescing(ix.hlo.parse(text).entry.root).reads if r.operand == 0]
    assert [r.exactness for r in reads] == ["estimate"]
    # 33 starts; those that are multiples of 8 (5 of them) need 4 sectors, others 5
    assert reads[0].sectors == (5 * 4 + 28 * 5) / 33


@pytest.mark.parametrize(("width", "sectors"), [(1, 1), (4, 1), (64, 8), (256, 32)])
def test_lanes_look_up_rows_of_their_own(width: int, sectors: int) -> None:
    """Each of 4,096 rows moves whole sectors, however many of them a warp looks up."""
    dims = "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1"
    text = (
        f"ENTRY e {{ x = f32[65536,{width}] parameter(0)\n i = s32[4096,1] parameter(1)\n "
        f"ROOT g = f32[4096,{width}] gather(x, i), {dims}, slice_sizes={{1,{width}}} }}"
    )
    module = ix.hlo.parse(text)
    kernel = ix.emit(module, dialect="cuda")
    (read,) = [a for a in ix.coalescing(kernel, H100).reads if a.operand == 0]
    assert read.total.sectors == read.unrolled.sectors == 4096 * sectors
    assert read.total.asked == 4096 * width * 4
    everything = sum(a.total.sectors for a in ix.coalescing(kernel, H100).accesses)
    assert ix.predict(module.entry, {}, H100).sectors.tolist() == [everything]


def test_a_warp_of_few_lanes_that_look_up_rows_loads_once() -> None:
    text = """ENTRY e { x = f32[512] parameter(0)
      i = s32[7,1] parameter(1)
      ROOT g = f32[7] gather(x, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1} }"""
    entry = ix.hlo.parse(text).entry
    (read,) = [a for a in ix.coalescing(ix.emit(entry, dialect="cuda"), H100).reads if a.operand == 0]
    assert (read.total.instructions, read.total.sectors) == (1, 7)
    assert ix.predict(entry, {}, H100).instructions.tolist() == [3]


BAGS = """add { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = f32[] add(a, b) }
f { x = f32[65536,SIZE] parameter(0)
 i = s32[4096,26,1] parameter(1)
 g = f32[4096,26,SIZE] gather(x, i), offset_dims={2}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=2, slice_sizes={1,SIZE}
 z = f32[] constant(0)
 ROOT r = f32[4096,SIZE] reduce(g, z), dimensions={1}, to_apply=add }
ENTRY e { x = f32[65536,SIZE] parameter(0)
 i = s32[4096,26,1] parameter(1)
 ROOT r = f32[4096,SIZE] fusion(x, i), kind=kLoop, calls=f }"""


@pytest.mark.parametrize("width", [8, 16, 64])
def test_each_iteration_of_a_loop_looks_up_a_row_of_its_own(width: int) -> None:
    """Sums of 26 rows each: every row is loaded, though no counter is part of its index."""
    root = ix.hlo.parse(BAGS.replace("SIZE", str(width))).entry.root
    (read,) = [a for a in ix.coalescing(root, H100).reads if a.operand == 0]
    assert read.unrolled.sectors * 8 >= 4096 * 26 * width
    moved = ix.predict(root, {}, H100).cache_bytes[0]
    assert moved >= 4096 * 26 * width * 4


def test_each_lane_of_a_vector_looks_up_an_element_of_its_own() -> None:
    dims = "offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}"
    text = "x = f32[65536] parameter(0)\n i = s32[1048576,1] parameter(1)\n"
    root = fusion(
        f"{text} ROOT g = f32[1048576] gather(x, i), {dims}",
        f"{text} ROOT r = f32[1048576] fusion(x, i), kind=kLoop, calls=f",
    )
    (read,) = [a for a in ix.coalescing(root, H100).reads if a.operand == 0]
    assert (read.total.instructions, read.total.sectors) == (1048576 / 32, 1048576)
    assert "merge" not in read.reason


def test_vectors_of_partial_sums_move_their_sectors_once() -> None:
    """Blocks leave and collect a tile's sums in scratch memory, by vectors of 16 bytes a lane."""
    text = """ENTRY e { a = f32[64,4096] parameter(0) b = f32[4096,64] parameter(1)
      ROOT d = f32[64,64] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0} }"""
    kernel = ix.emit(ix.hlo.parse(text), dialect="cuda")
    scratch = [a for a in ix.coalescing(kernel, H100).accesses if a.scratch == 0]
    parts = kernel.grid[0] * kernel.grid[1]
    assert [a.bytes_moved for a in scratch] == 2 * [4 * parts * 64 * 64] and parts > 1


def test_a_device_is_a_value() -> None:
    root = ix.hlo.parse("ENTRY e { p = f32[4096] parameter(0) ROOT n = f32[4096] negate(p) }").entry.root
    wide = H100.with_cores(warp_size=64).with_memory(sector_bytes=64, line_bytes=128)
    (read,) = ix.coalescing(root, device=wide).reads
    assert (read.bytes_asked, read.sectors, read.lines) == (256, 4, 2)
    with pytest.raises(ix.IndexingError, match="sectors"):
        H100.with_memory(sector_bytes=48)


def test_what_does_not_fit_is_refused() -> None:
    m = ix.IndexingMap.parse("(d0) -> (d0), domain: d0 in [0, 3]")
    with pytest.raises(ix.InvalidMap, match="th_x"):
        count(m, [1], (32, 1, 1), 32, H100, False)
    with pytest.raises(ix.IndexingError, match="threads"):
        Launch(block=0)


def test_parameters_behind_and_beside_a_hero_have_maps() -> None:
    root = fusion(
        "p = f32[64,96] parameter(0)\n q = f32[96,64] parameter(1)\n n = f32[64,96] negate(p)\n"
        "t = f32[96,64] transpose(n), dimensions={1,0}\n ROOT r = f32[96,64] add(t, q)",
        "p = f32[64,96] parameter(0)\n q = f32[96,64] parameter(1)\n"
        "ROOT r = f32[96,64] fusion(p, q), kind=kLoop, calls=f",
    )
    kernel = ix.emit(root)
    assert kernel.emitter == "transpose"
    assert_as_simulated(kernel)
    accesses = ix.coalescing(kernel)
    assert accesses.unknown == ()
    assert [(r.operand, r.total.asked, r.coalesced) for r in accesses.reads] == [(0, 24576, True), (1, 24576, True)]


def test_turns_of_a_block_are_warp_instructions() -> None:
    """132 vectors of 4 for 64 threads: turns of 64, 64 and 4 threads."""
    module = ix.hlo.parse("ENTRY e { p = f32[528] parameter(0) ROOT n = f32[528] negate(p) }")
    answer = ix.coalescing(ix.emit(module, block_size=64, vector_width=4, max_blocks=1, dialect="cuda"))
    assert [(a.total.instructions, a.total.asked, a.total.sectors) for a in answer.accesses] == 2 * [(5, 2112, 66)]


def test_loads_under_conditions_by_lane_are_single() -> None:
    """Row r of the window at offset j is read by rows 0 to 7 - j: all but offset 0 under a condition on each lane, though for
    some the condition is the same for all lanes of a thread.
    """
    root = fusion(
        "p = s32[8,33] parameter(0)\n z = s32[] constant(0)\n"
        "ROOT r = s32[8,33] reduce-window(p, z), window={size=8x1 pad=0_7x0_0}, to_apply=most",
        "p = s32[8,33] parameter(0)\n ROOT r = s32[8,33] fusion(p), kind=kLoop, calls=f",
        "most { a = s32[] parameter(0) b = s32[] parameter(1) ROOT m = s32[] maximum(a, b) }",
    )
    answer = ix.coalescing(ix.emit(root, block_size=32, vector_width=4, dialect="cuda"))
    threads = range(8 * 33 // 4)
    active = [[sum(4 * i + v < (8 - j) * 33 for i in threads) for v in range(4)] for j in range(1, 8)]
    expected = 3 + sum(-(-n // 32) for of in active for n in of)
    assert sum(a.total.instructions for a in answer.reads) == expected == 47


def test_what_a_compiler_may_merge_is_said_of_all_loads_together() -> None:
    """13 elements in reverse, two a thread: 12, 10, ... 2 and 11, 9, ... 1 in two sectors each, 0 by the last thread; or that
    together with the first.
    """
    module = ix.hlo.parse("ENTRY e { p = f32[13] parameter(0) ROOT r = f32[13] reverse(p), dimensions={0} }")
    answer = ix.coalescing(ix.emit(module, dialect="cuda", block_size=64, vector_width=2))
    assert sum(a.total.sectors for a in answer.reads) == 5
    merged = "at most: a compiler may merge accesses, or load under a condition what is needed only there, which leaves 4 of 5 sectors"
    assert [a.reason for a in answer.reads] == ["", merged]


def test_a_device_is_taken_by_its_name() -> None:
    module = ix.hlo.parse("ENTRY e { p = f32[64] parameter(0) ROOT n = f32[64] negate(p) }")
    assert ix.coalescing(module, "h100") == ix.coalescing(module, H100)
    with pytest.raises(ix.IndexingError, match="there is no device 'h1'"):
        ix.coalescing(module, "h1")


@pytest.mark.parametrize("length", [20, 4096])
def test_sums_side_by_side_read_their_elements_once(length: int) -> None:
    """A sum and the sum of squares, in one loop: each of the sectors of 8 columns once, as compilers load them."""
    module = ix.hlo.parse(f"""add {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }}
      ENTRY e {{ x = f32[200,{length},8] parameter(0) z = f32[] constant(0) y = f32[200,{length},8] multiply(x, x)
        s = f32[200,8] reduce(x, z), dimensions={{1}}, to_apply=add
        q = f32[200,8] reduce(y, z), dimensions={{1}}, to_apply=add ROOT d = f32[200,8] subtract(s, q) }}""")
    reads = ix.coalescing(ix.emit(module, dialect="cuda")).reads
    assert sum(a.total.sectors for a in reads if a.operand == 0) == 200 * length
