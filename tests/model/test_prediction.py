"""Predictions of many plans at once, beside what the kernel of each plan is counted to do by itself."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indexing as ix
from fusion_texts import FUSIONS, fusion
from indexing.device.detect import find_device
from indexing.device.table import portable_device
from indexing.kernels import block_order, emit_fused, knobs_of
from indexing.kernels.kernel import Kernel
from indexing.model.traffic import with_block_size
from indexing.model.work_time import LIMITS
from memory_simulator import simulate
from random_fusions import random_fusion, random_hero_fusion


def by_itself(kernel: object) -> tuple[float, float, float, float]:
    accesses = ix.coalescing(kernel)
    total = [a.total for a in accesses.accesses]
    passes = sum(a.total.passes for a in accesses.shared)
    ideal = sum(a.total.ideal for a in accesses.shared)
    return sum(t.instructions for t in total), sum(t.sectors for t in total), passes, passes - ideal


def assert_as_counted(computation: ix.hlo.Computation, columns: dict[str, np.ndarray]) -> ix.Predictions:
    """Each plan against the kernel that it makes."""
    prediction = ix.predict(computation, columns)
    for row in range(len(prediction)):
        kernel = emit_fused(computation, portable_device("cuda"), **prediction.plan(row))
        numbers = (
            prediction.instructions[row],
            prediction.sectors[row],
            prediction.passes[row],
            prediction.conflicts[row],
        )
        if prediction.exact[row]:
            assert numbers == by_itself(kernel), prediction.plan(row)
        assert prediction.blocks[row] == np.prod(kernel.grid) and prediction.threads[row] == np.prod(kernel.block)
        assert prediction.shared_bytes[row] == kernel.shared_bytes
        assert prediction.issued[row] > 0 and prediction.limit[row] in LIMITS
    return prediction


@pytest.mark.parametrize("name", FUSIONS)
def test_each_plan_is_what_its_kernel_is_counted_to_do(name: str) -> None:
    computation = fusion(name)
    space = ix.knobs(computation)
    actual = assert_as_counted(computation, space.sample(25, seed=11))
    assert actual.exact.any() == (name not in ("scatter", "sorted scatter", "unique scatter", "update"))


@pytest.mark.parametrize("seed", [3, 11, 24, 46, 53, 59])
@pytest.mark.parametrize("made", [random_fusion, random_hero_fusion])
def test_random_fusions(made: Callable[[int], str], seed: int) -> None:
    """Also those whose threads begin late, and small planes of packed words."""
    computation = ix.hlo.parse(made(seed)).entry
    assert_as_counted(computation, knobs_of(computation, portable_device("cuda")).sample(6, seed))


def test_blocks_that_share_results_leave_parts_beside_a_second_output() -> None:
    """By hand, of 128 sums of 1,024 rows: 16,384 sectors are read, and written for the second output; 16 hold the sums. A column
    of parts is 16 sectors, written and read for each of the blocks that share; of the four groups of 32 columns, each resets
    a counter of its own. Of 32 parts, a compiler may load those alone whose sums a condition lets through.
    """
    text = """add { a = f32[] parameter(0)
      b = f32[] parameter(1)
      ROOT s = f32[] add(a, b) }
    ENTRY f { p = f32[1024,128] parameter(0)
      z = f32[] constant(0)
      n = f32[1024,128] negate(p)
      s = f32[128] reduce(n, z), dimensions={0}, to_apply=add
      ROOT t = (f32[128], f32[1024,128]) tuple(s, n) }"""
    prediction = ix.predict(ix.hlo.parse(text).entry, {"split_k": [1, 2, 8, 32], "threads": 32, "vector_width": 1})
    assert prediction.sectors.tolist() == [2 * 16384 + 16 + (2 * 16 * n + 4 if n > 1 else 0) for n in (1, 2, 8, 32)]
    assert prediction.exact.tolist() == [True, True, True, False]


def test_blocks_of_any_size_are_counted_exactly() -> None:
    """By enumeration: the sectors of each warp's elements."""
    computation = fusion("loop")
    blocks = np.array([1, 7, 31, 32, 33, 96, 100, 1000, 1024])
    prediction = ix.predict(computation, {"block_size": blocks, "vector_width": 1})
    for b, sectors in zip(blocks, prediction.sectors, strict=True):
        threads = np.arange(33 * 40)
        warps = threads // b * 1000 + threads % b // 32
        pairs = {(w, a // 8) for w, a in zip(warps, threads, strict=True)}
        assert sectors == 2 * len(pairs)


PLACES = st.recursive(
    st.sampled_from(["P", "P * 3", "P + s"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["mod 7", "mod 40", "floordiv 5", "* 3", "+ 11", "* -1"])).map(
            lambda p: f"({p[0]}) {p[1]}"
        ),
        st.tuples(inner, inner).map(lambda p: f"{p[0]} + {p[1]}"),
    ),
    max_leaves=3,
)


@settings(max_examples=15, deadline=None)
@given(
    PLACES,
    st.sampled_from(["", ", P mod 9 in [0, 5]", ", P * 2 + vector_index in [0, 150]"]),
    st.sampled_from([1, 40, 97, 700]),
    st.sampled_from([8, 32, 64]),
    st.sampled_from([0, 128]),
)
def test_threads_cut_into_blocks_of_many_sizes(place: str, bound: str, threads: int, bits: int, widest: int) -> None:
    """By enumeration of all warps, of the map with the blocks written out."""
    sizes = np.array([1, 3, 31, 32, 33, 64, 90, 1024])

    def thread_map(number: str, block: int) -> ix.IndexingMap:
        text = (
            f"(th_x, th_y, th_z, bl_x, bl_y, bl_z)[vector_index, s] -> (({place}) * 2 + vector_index), domain: "
            f"th_x in [0, {block - 1}], th_y in [0, 0], th_z in [0, 0], bl_x in [0, {-(-threads // block) - 1}], "
            f"bl_y in [0, 0], bl_z in [0, 0], vector_index in [0, 1], s in [0, 2], P in [0, {threads - 1}]{bound}"
        )
        return ix.IndexingMap.parse(text.replace("P", number))

    memory = [1], bits, 32, 256, 1024, 6, widest
    of_sizes = with_block_size(thread_map("bl_x", 1).simplify(), 1024)
    actual, index = of_sizes.global_memory_traffic({"block": sizes}, sizes, *memory)
    for k, block in zip(index.tolist(), sizes.tolist(), strict=True):
        m = thread_map(f"(bl_x * {block} + th_x)", block)
        moved = simulate(m, [1], (block, 1, 1), bits, 0 if widest else None, widest)
        each = (0, 0, 0) if actual[k] is None else actual[k][0]
        assert (each[0], each[2]) == (moved.instructions, moved.sectors), block


def test_the_default_is_the_whole_grid_and_repeats_cost_nothing() -> None:
    computation = fusion("transpose")
    prediction = ix.predict(computation)
    assert len(prediction) == len(list(ix.knobs(computation).plans()))
    again = ix.predict(computation, {n: np.tile(c, 3) for n, c in prediction.plans.items()})
    assert (again.time == np.tile(prediction.time, 3)).all()
    assert prediction.best(2)[0] == prediction.plan(int(np.argmin(prediction.time)))


def test_the_model_ranks_what_is_plain() -> None:
    computation = ix.hlo.parse("ENTRY f { p = f32[4096,4096] parameter(0)\n ROOT n = f32[4096,4096] negate(p) }").entry
    prediction = ix.predict(computation, {"block_size": [1, 32, 128, 1000], "vector_width": 1, "max_blocks": 2**31 - 1})
    assert prediction.time[0] > 4 * prediction.time[1] > 0 and prediction.time[3] > 0.9 * prediction.time[2]
    ideal_bytes = 2 * 4096 * 4096 * 4
    assert ideal_bytes / 3350e9 < prediction.time[2] < 1.3 * ideal_bytes / 3350e9
    assert (prediction.memory_bytes[1:3] == ideal_bytes).all() and prediction.occupancy[2] == 1


@pytest.mark.parametrize("device", ["t4", "h100"])
def test_every_legal_plan_has_a_time_however_many_registers_its_threads_want(device: str) -> None:
    """16 f64 of each of 4 arrays are 128 registers, which blocks of 512 threads and more don't have."""
    names = [f"p{k}" for k in range(4)]
    parameters = "\n".join(f"{n} = f64[64,65536] parameter({k})" for k, n in enumerate(names))
    products = (
        "a = f64[64,65536] multiply(p0, p1)\nb = f64[64,65536] multiply(a, p2)\nc = f64[64,65536] multiply(b, p3)"
    )
    add = "add { x = f64[] parameter(0) y = f64[] parameter(1) ROOT z = f64[] add(x, y) }"
    reduce = "z = f64[] constant(0)\nROOT r = f64[64] reduce(c, z), dimensions={1}, to_apply=add"
    p = ix.predict(ix.hlo.parse(f"{add}\nENTRY e {{\n{parameters}\n{products}\n{reduce}\n}}").entry, device=device)
    assert np.isfinite(p.time).all() and (p.time >= p.memory_bytes / find_device(device).memory.bandwidth).all()
    wide = (p.plans["vector_width"] == 16) & (p.plans["split_k"] == 1)
    limits = [256, 512, 1024], [255, 128, 64]  # of 65536 registers, and of a thread
    for threads, most in zip(*limits, strict=True):
        assert set(p.registers[wide & (p.threads == threads)]) == {min(18 + 128 + 2, most)}


def test_partial_sums_are_read_from_the_cache_to_which_blocks_wrote_them() -> None:
    """128x128 sums of 8192 products in tiles of 64x64: factors and result move once, and what 8 blocks a tile write; all of it
    goes through the L2 cache, in which each tile reads its rows and columns.
    """
    text = (
        "ENTRY e { a = f32[128,8192] parameter(0) b = f32[8192,128] parameter(1) "
        "ROOT d = f32[128,128] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0} }"
    )
    plan = {"tile_rows": [64] * 2, "tile_columns": [64] * 2, "thread_rows": [4] * 2, "thread_columns": [4] * 2}
    p = ix.predict(ix.hlo.parse(text).entry, {**plan, "split_k": [1, 8]}, device="l4")
    factors, result = 2 * 128 * 8192 * 4, 128 * 128 * 4
    counters = 4 * 4  # of the tiles' blocks that are done, which each last one clears: a sector of 32 bytes
    assert p.memory_bytes[0] == factors + result
    assert p.memory_bytes[1] - p.memory_bytes[0] == 8 * result + counters
    assert p.cache_bytes[0] == 2 * factors + result
    assert p.cache_bytes[1] - p.cache_bytes[0] == 2 * 8 * result + 4 * 32


def test_what_a_block_reads_twice_moves_once_wherever_its_wave_begins() -> None:
    """Both halves of each row are read for both halves of a result of as many bytes. A wave's blocks cross from one batch to the
    next, so that the box around them is several times what they read.
    """
    text = """
    ENTRY e { x = bf16[16,2048,32,128] parameter(0)
      a = bf16[16,2048,32,64] slice(x), slice={[0:16],[0:2048],[0:32],[0:64]}
      b = bf16[16,2048,32,64] slice(x), slice={[0:16],[0:2048],[0:32],[64:128]}
      d = bf16[16,2048,32,64] subtract(a, b)
      s = bf16[16,2048,32,64] add(a, b)
      ROOT r = bf16[16,2048,32,128] concatenate(d, s), dimensions={3} }"""
    p = ix.predict(ix.hlo.parse(text).entry, {}, device="h100")
    size = 16 * 2048 * 32 * 128 * 2
    assert (p.bytes[0], p.cache_bytes[0], p.memory_bytes[0]) == (3 * size, 2 * size, 2 * size)


@pytest.mark.parametrize("heads", [7, 8])
@pytest.mark.parametrize("end", ["", ",1"])
def test_a_transposed_read_moves_once_from_memory_where_a_wave_fits_into_the_cache(heads: int, end: str) -> None:
    """Lanes read sectors of 32 bytes for 2 of each; those of the rows beside theirs read the rest, in the same wave."""
    sizes, layout = f"16,{heads},2048,2048", "{2,3,4,1,0}" if end else "{2,3,1,0}"
    order, flat = ("0,1,4,3,2", f"16,{heads},1,2048,2048") if end else ("0,1,3,2", sizes)
    text = f"""ENTRY e {{ x = bf16[{sizes}{end}] parameter(0)
      t = bf16[{flat}]{layout} transpose(x), dimensions={{{order}}}
      y = bf16[{flat}] parameter(1)
      ROOT r = bf16[{flat}] multiply(t, y) }}"""
    p = ix.predict(ix.hlo.parse(text).entry, {}, device="h100")
    size = 16 * heads * 2048 * 2048 * 2
    assert p.emitter == "loop" and p.bytes[0] == 18 * size
    assert 3 * size <= p.memory_bytes[0] <= 3.1 * size


def test_each_core_loads_a_small_array_once() -> None:
    """A row of 512 bytes, added to a million rows by blocks of few rows, stays in the cache of a core from block to block."""
    rows = 2**20
    text = f"""ENTRY e {{ x = f32[{rows},128] parameter(0)
      b = f32[128] parameter(1)
      w = f32[{rows},128] broadcast(b), dimensions={{1}}
      ROOT r = f32[{rows},128] add(x, w) }}"""
    p = ix.predict(ix.hlo.parse(text).entry, {}, device="h100")
    assert p.bytes[0] == 3 * rows * 512 and p.cache_bytes[0] == 2 * rows * 512 + 132 * 512


def test_the_blocks_of_a_core_share_an_array_that_half_of_its_cache_holds() -> None:
    """Each block reads all of `y`, 48 KiB, and a core holds 16 blocks: it loads `y` once, and once a block where `y` is larger."""

    def cached(points: int) -> tuple[float, float]:
        text = f"""sum {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }}
        ENTRY e {{ x = f32[8192,3] parameter(0)
          y = f32[{points},3] parameter(1)
          z = f32[] constant(0)
          a = f32[8192,{points},3] broadcast(x), dimensions={{0,2}}
          b = f32[8192,{points},3] broadcast(y), dimensions={{1,2}}
          d = f32[8192,{points},3] subtract(a, b)
          ROOT r = f32[8192,{points}] reduce(d, z), dimensions={{2}}, to_apply=sum }}"""
        p = ix.predict(ix.hlo.parse(text).entry, {}, device="h100")
        return p.cache_bytes[0] - 4 * 8192 * points, 12.0 * points

    small, size = cached(4096)
    assert 132 * size <= small <= 132 * 1.1 * size + 12 * 8192 * 132
    large, size = cached(16384)
    assert large >= 8192 * size


def test_a_stencil_finds_the_planes_of_the_wave_before_and_the_rows_of_its_neighbours() -> None:
    """Of 7 points, 3 are of one row, and 3 rows of one plane; a wave is two planes, of which the L2 cache holds dozens."""
    n, m = 514, 512
    slices = [("1:-1", "1:-1", "2:"), ("1:-1", "1:-1", ":-2"), ("1:-1", "2:", "1:-1"), ("1:-1", ":-2", "1:-1")]
    slices += [("2:", "1:-1", "1:-1"), (":-2", "1:-1", "1:-1"), ("1:-1", "1:-1", "1:-1")]
    ends = {"1:-1": "1:513", "2:": "2:514", ":-2": "0:512"}
    lines = [f"p = f32[{n},{n},{n}] parameter(0)"]
    for k, place in enumerate(slices):
        cut = ",".join(f"[{ends[part]}]" for part in place)
        lines.append(f"c{k} = f32[{m},{m},{m}] slice(p), slice={{{cut}}}")
    lines += [f"a{k} = f32[{m},{m},{m}] add({f'a{k - 1}' if k > 1 else 'c0'}, c{k})" for k in range(1, 7)]
    lines[-1] = "ROOT " + lines[-1]
    p = ix.predict(ix.hlo.parse("ENTRY e { " + "\n".join(lines) + " }").entry, {}, device="h100")
    size = 4 * m**3
    assert p.emitter == "loop" and p.bytes[0] > 7 * size
    assert 2 * size <= p.memory_bytes[0] <= 2.15 * size
    assert 3 * size <= p.cache_bytes[0] <= 5.5 * size, "two planes, and some rows of a third, beside the result"


def test_taps_of_a_window_move_once_where_few_iterations_fit_into_a_cache() -> None:
    """A block sums a channel of all images, several of which 16 iterations cross: the box around them has whole images."""
    lines = ["x = f32[96,96,113,113] parameter(0)", "y = f32[96,96,56,56] parameter(1)", "z = f32[] constant(0)"]
    for k in range(3):
        cut = f"[0:96], [0:96], [{k}:{k + 111}:2], [0:111:2]"
        lines.append(f"c{k} = f32[96,96,56,56] slice(x), slice={{{cut}}}")
        lines.append(f"m{k} = f32[96,96,56,56] multiply(c{k}, y)")
        lines.append(f"r{k} = f32[96] reduce(m{k}, z), dimensions={{0,2,3}}, to_apply=sum")
    lines.append("ROOT t = (f32[96], f32[96], f32[96]) tuple(r0, r1, r2)")
    add = "sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }"
    plan = {"split_k": 1, "threads": 256}
    p = ix.predict(ix.hlo.parse(f"{add} ENTRY e {{ {chr(10).join(lines)} }}").entry, plan, device="h100")
    x, y = 4 * 96 * 96 * 113 * 113, 4 * 96 * 96 * 56 * 56
    assert p.bytes[0] >= 1.5 * x + y
    assert 0.9 * (x + y) <= p.memory_bytes[0] <= 1.25 * x + y


def test_an_atomic_update_reads_what_it_writes() -> None:
    """Rows of an array far beyond the L2 cache: of each that an update reaches, both ways."""
    text = """sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
    ENTRY e { t = f32[65536,1024] parameter(0)
      i = s32[16384,1] parameter(1)
      u = f32[16384,1024] parameter(2)
      ROOT s = f32[65536,1024] scatter(t, i, u), update_window_dims={1}, inserted_window_dims={0},
        scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum }"""
    p = ix.predict(ix.hlo.parse(text).entry, {}, device="h100")
    updates = 4 * 16384 * 1024
    assert p.emitter == "scatter" and 3 * updates <= p.memory_bytes[0] <= 3.01 * updates
    assert 2 * updates <= p.bytes[0] <= 2.1 * updates


def test_arrays_that_some_blocks_read_count_for_all_of_them() -> None:
    """Every fourth row of the result reads a row of the array, twice; blocks of other rows read nothing."""
    text = """ENTRY e { x = f32[2048,4096] parameter(0)
      z = f32[] constant(0)
      p = f32[8192,4096] pad(x, z), padding=0_3_3x0_0
      y = f32[8192,4096] parameter(1)
      r = f32[8192,4096] reverse(p), dimensions={1}
      s = f32[8192,4096] add(p, r)
      ROOT a = f32[8192,4096] add(s, y) }"""
    p = ix.predict(ix.hlo.parse(text).entry, {}, device="h100")
    size, result = 2048 * 4096 * 4, 8192 * 4096 * 4
    assert 2 * result + size <= p.memory_bytes[0] <= p.cache_bytes[0] <= 2 * result + 2.1 * size


def test_of_equal_times_the_plan_nearest_to_the_default_is_best() -> None:
    computation = ix.hlo.parse("ENTRY f { p = f32[4096,4096] parameter(0)\n ROOT n = f32[4096,4096] negate(p) }").entry
    prediction = ix.predict(
        computation, {"block_size": [32, 1024, 128, 64], "vector_width": 4, "max_blocks": 2**31 - 1}
    )
    prediction = replace(prediction, time=np.ones(4))
    assert [plan["block_size"] for plan in prediction.best(4)] == [128, 64, 32, 1024]


@pytest.mark.parametrize("device", ["h100", "cpu"])
@pytest.mark.parametrize("name", ["concatenate", "concatenate_vectors", "loop_pool", "transpose_021"])
def test_no_plan_is_faster_than_the_bytes_that_must_move(name: str, device: str) -> None:
    """By the figures of `analyze`, which counts the distinct elements that are read, and the results."""
    module = ix.hlo.load(Path(__file__).parents[1] / "golden" / f"{name}.hlo")
    for kernel in ix.analyze(module, device).fusions:
        p = ix.predict(kernel.instruction, device=device)
        assert (p.memory_bytes >= kernel.ideal_bytes).all(), kernel.name
        assert (p.time >= kernel.ideal_bytes / p.device.reached_bandwidth).all(), kernel.name


def test_what_cannot_be_is_refused() -> None:
    computation = fusion("row reduction")
    with pytest.raises(ix.IndexingError, match=r"plan 1 is not legal: threads is in"):
        ix.predict(computation, {"threads": [32, 33], "split_k": 1})
    with pytest.raises(ix.IndexingError, match="no knob 'tile'"):
        ix.predict(computation, {"tile": [32]})
    with pytest.raises(
        ix.IndexingError, match="there is no device 'TPU'; one of 'V100', 'V100 PCIe 32GB', 'A100 SXM 80GB'"
    ):
        ix.predict(computation, device="TPU")
    with pytest.raises(TypeError, match="predict: fusion is an int"):
        ix.predict(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="predict: plans is an int; expected a Mapping or a list or a tuple"):
        ix.predict(computation, 32)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="threads is no array; expected one dimension of integers"):
        ix.predict(computation, {"threads": [[32], 32]})
    with pytest.raises(TypeError, match="plan 1 is 32; expected a mapping"):
        ix.predict(computation, [{"threads": 32}, 32])  # type: ignore[list-item]
    with pytest.raises(ix.IndexingError, match="no knob 'tile'"):
        ix.predict(computation, [{"threads": 32}, {"tile": 32}])
    with pytest.raises(ix.IndexingError, match=r"plan 1 is not legal: threads is in .* got 33"):
        ix.predict(computation, [{"threads": 32}, {"threads": 33, "split_k": 1}])
    with pytest.raises(TypeError, match="emit: threads is a str; expected an integer"):
        ix.emit(computation, threads="32")  # type: ignore[arg-type]
    assert len(ix.predict(computation, {"threads": np.array([], np.int64)})) == 0


def test_plans_are_columns_or_a_list() -> None:
    computation = fusion("row reduction")
    default = ix.knobs(computation).default
    listed = ix.predict(computation, [{"threads": 32}, {}, {"threads": 16, "split_k": 1}])
    columns = {n: [v, default[n], w] for n, v, w in (("threads", 32, 16), ("split_k", default["split_k"], 1))}
    by_column = ix.predict(computation, columns)
    assert [listed.plan(k) for k in range(3)] == [by_column.plan(k) for k in range(3)] != []
    assert listed.time.tolist() == by_column.time.tolist() and listed.plan(1) == default
    best = ix.predict(computation).best(5)
    assert ix.predict(computation, best).plan(4) == best[4]
    assert len(ix.predict(computation, [])) == 0


def test_devices_differ() -> None:
    slow = find_device("h100").with_memory(bandwidth=1e9)
    computation = fusion("loop")
    assert (ix.predict(computation, device=slow).time >= ix.predict(computation).time).all()
    assert ix.predict(computation, {}, slow).time[0] > 3 * ix.predict(computation, {}).time[0]
    assert np.isfinite(ix.predict(computation, device="cpu").time).all()


@pytest.mark.parametrize("kind", ["bf16", "f32"])
def test_plans_that_differ_in_the_order_of_blocks_are_counted_once(kind: str) -> None:
    """A block of grouped rows writes what the block of its number without groups does."""
    text = f"""ENTRY e {{ a = {kind}[96,256] parameter(0) b = {kind}[256,80] parameter(1)
      ROOT d = {kind}[96,80] dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}} }}"""
    entry, few = ix.hlo.parse(text).entry, find_device("a100").with_cores(count=1, threads=256)
    plan = {"tile_rows": 16, "tile_columns": 16, "stages": 1, "split_k": 1}
    natural, grouped = (ix.emit(entry, device=few, **plan, group_rows=n) for n in (1, 3))
    order = block_order(entry, few, **plan, group_rows=3)
    blocks = range(grouped.grid[0])
    places = [order.evaluate([0, 0, 0, k, 0, 0]) for k in blocks]
    assert sorted(places) == [*blocks] != places
    assert [*map(stored_by(grouped), blocks)] == [*map(stored_by(natural), places)]
    alone, together = (ix.predict(entry, {**plan, "group_rows": n}, few) for n in (3, [1, 3]))
    assert alone.time[0] == together.time[1] and alone.sectors[0] == by_itself(grouped)[1]


def stored_by(kernel: Kernel) -> Callable[[int], list[object]]:
    """The first elements of the output that thread 5 of a block stores."""
    maps = [e.map for a in kernel.global_accesses if a.kind == "store" for e in a.executions]
    return lambda k: [m.evaluate([5, 0, 0, k, 0, 0], [0] * (m.num_ranges + m.num_runtimes)) for m in maps]
