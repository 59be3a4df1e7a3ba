"""Costs of loops, by hand from the laws of docs/prediction.md: kernels as the reader takes them."""

import numpy as np
import pytest

import indexing as ix
from indexing.device.table import CPU
from indexing.model.loop_costs import LoopCosts, costs_of_loops
from ir_reader import read_kernel

HEAD = """kernel k emitter loop grid ({grid}, {rows}, 1) block (1, 1, 1)
buffer p0: f32[{size}] global input 0
buffer o0: f32[{size}] global output 0
{more}entry
  index th_x in [0, 0] thread
  index th_y in [0, 0] thread
  index th_z in [0, 0] thread
  index bl_x in [0, {last}] thread
  index bl_y in [0, {last_row}] thread
  index bl_z in [0, 0] thread
"""


def costs(body: str, size: int, grid: int = 1, rows: int = 1, more: str = "") -> LoopCosts:
    text = HEAD.format(grid=grid, last=grid - 1, rows=rows, last_row=rows - 1, size=size, more=more) + body
    return costs_of_loops(read_kernel(text), CPU.memory)


def test_neighbouring_elements_are_vectors_and_one_run() -> None:
    cost = costs(
        "  for t in [0, 127] = 0 to 128 step 1\n"
        "    v0 = load.f32 p0[t + bl_x * 128]\n"
        "    v1 = exp.f32(v0)\n"
        "    store o0[t + bl_x * 128] = v1\n",
        size=1024,
        grid=8,
    )
    assert cost.steps == pytest.approx(8 * (2 + 128 // 8 * (4 + 1 + 100 + 1)))
    assert (cost.lines, cost.runs) == pytest.approx((2 * 4096 / 64, 2))


def steps_of_elements(value: str) -> float:
    """The steps of a loop that stores a value of each of 128 elements, `v0`."""
    cost = costs(
        f"  for t in [0, 127] = 0 to 128 step 1\n    v0 = load.f32 p0[t]\n    v1 = {value}\n    store o0[t] = v1\n",
        size=128,
    )
    return cost.steps


@pytest.mark.parametrize(("opcode", "steps"), [("neg", 1), ("sqrt", 10), ("log", 120), ("asin", 500)])
def test_functions_take_the_steps_of_their_polynomials(opcode: str, steps: int) -> None:
    assert steps_of_elements(f"{opcode}.f32(v0)") == pytest.approx(2 + 128 // 8 * (4 + 1 + steps + 1))


@pytest.mark.parametrize(("opcode", "steps"), [("div", 200), ("rem", 200), ("maximum", 1), ("add", 1)])
def test_integers_are_divided_one_by_one(opcode: str, steps: int) -> None:
    cost = costs(
        "  for t in [0, 127] = 0 to 128 step 1\n"
        "    v0 = load.f32 p0[t]\n"
        "    v1 = bits.u32(v0)\n"
        f"    v2 = {opcode}.u32(v1, v1)\n"
        "    v3 = from_bits.f32(v2)\n"
        "    store o0[t] = v3\n",
        size=128,
    )
    assert cost.steps == pytest.approx(2 + 128 // 8 * (4 + 1 + 1 + steps + 1 + 1))


@pytest.mark.parametrize(
    ("divisor", "steps"), [("u32 100", 10), ("v4", 10), ("v1", 200)], ids=["stated", "chosen when compiled", "loaded"]
)
def test_a_division_by_a_constant_is_a_product(divisor: str, steps: int) -> None:
    """What is computed of constants alone takes no step."""
    cost = costs(
        "  for t in [0, 127] = 0 to 128 step 1\n"
        "    v0 = load.f32 p0[t]\n"
        "    v1 = bits.u32(v0)\n"
        "    v3 = eq.pred(u32 100, u32 0)\n"
        "    v4 = select.u32(v3, u32 1, u32 100)\n"
        f"    v2 = rem.u32(v1, {divisor})\n"
        "    v5 = from_bits.f32(v2)\n"
        "    store o0[t] = v5\n",
        size=128,
    )
    assert cost.steps == pytest.approx(2 + 128 // 8 * (4 + 1 + 1 + steps + 1 + 1))


@pytest.mark.parametrize(("divisor", "steps"), [("f32 100.0", 175), ("v0", 700)])
def test_a_remainder_by_a_constant_takes_fewer_steps(divisor: str, steps: int) -> None:
    assert steps_of_elements(f"rem.f32(v0, {divisor})") == pytest.approx(2 + 128 // 8 * (4 + 1 + steps + 1))


def test_lanes_that_are_written_out_are_vectors() -> None:
    body = (
        "  for t in [0, 63] = 0 to 64 step 1\n"
        "    for lane in [0, 3] = 0 to 4 step 1 unroll 4\n"
        "      v0 = load.f32 p0[t * {step} + lane * {apart}]\n"
        "      store o0[t * {step} + lane] = v0\n"
    )
    assert costs(body.format(step=4, apart=1), 256).steps == 2 + 64 * (4 + 2)
    assert costs(body.format(step=8, apart=1), 512).steps == 2 + 64 * (4 + 2)
    assert costs(body.format(step=8, apart=2), 512).steps == 2 + 64 * (4 + 4 * 2)  # no better by vectors


def test_elements_that_lie_apart_are_accessed_one_by_one() -> None:
    body = "  for t in [0, 127] = 0 to 128 step 1\n    v0 = load.f32 p0[t * 3]\n    v1 = {}.f32(v0)\n    store o0[t] = v1\n"
    assert costs(body.format("exp"), 512).steps == 2 + 128 // 8 * (4 + 100 + 1) + 128 * 4
    scattered = "  for t in [0, 127] = 0 to 128 step 1\n    store o0[t * 3] = f32 0.0\n"
    assert costs(scattered, 512).steps == pytest.approx(2 + 128 // 8 * 4 + 128 * 4)


def test_few_iterations_are_vectors_of_fewer_lanes() -> None:
    body = "  for t in [0, {last}] = 0 to {count} step 1\n    v0 = load.f32 p0[t]\n    store o0[t] = v0\n"
    turns = {4: 1, 7: 3, 13: 3}
    assert {n: costs(body.format(count=n, last=n - 1), 16).steps for n in turns} == {
        n: 2 + t * 6 for n, t in turns.items()
    }


def test_indices_that_move_unevenly_and_guards_that_change_are_no_vectors() -> None:
    body = "  for t in [0, 127] = 0 to 128 step 1\n    v0 = load.f32 p0[{}]\n    store o0[{}] = v0\n"
    assert costs(body.format("t", "t // 8"), 128).steps == 2 + 128 * (4 + 2)
    assert costs(body.format("t // 8", "t"), 128).steps == 2 + 128 // 8 * (4 + 1) + 128 * 4
    assert costs(body.format("t // 128", "t"), 128).steps == 2 + 128 // 8 * (4 + 2)
    guarded = (
        "  for t in [0, 127] = 0 to 128 step 1\n"
        "    if within({}, [, 3])\n"
        "      v0 = load.f32 p0[t * {}]\n"
        "      v1 = exp.f32(v0)\n"
        "      store o0[t] = v1\n"
    )
    assert costs(guarded.format("t // 32", 2), 256).steps == 2 + 128 * (4 + 2 + 102 + 32)
    assert costs(guarded.format("t // 32", 1), 256).steps == 2 + 128 // 8 * (4 + 2 + 101) + 128 * 4  # stores by a mask
    assert costs(guarded.format("bl_x", 2), 256).steps == 2 + 128 // 8 * (4 + 2 + 101) + 128 * 4  # single loads


def test_a_sum_in_one_variable_waits_for_each_turn() -> None:
    cost = costs(
        "  var s: f32 = f32 0.0\n"
        "  for t in [0, 99] = 0 to 100 step 1\n"
        "    v0 = load.f32 p0[t]\n"
        "    v1 = add.f32(s, v0)\n"
        "    set s = v1\n"
        "  store o0[0] = s\n",
        size=128,
    )
    assert cost.steps == 2 + 100 * 12 + 1


def test_short_sums_wait_beside_each_other() -> None:
    body = (
        "  for r in [0, 49] = 0 to 50 step 1\n"
        "    var s: f32 = f32 0.0\n"
        "    for u in [0, {last}] = 0 to {outer} step 1\n"
        "      for t in [0, 9] = 0 to 10 step 1\n"
        "        v0 = load.f32 p0[r * 100 + u * 10 + t]\n"
        "        v1 = add.f32(s, v0)\n"
        "        set s = v1\n"
        "    store o0[r] = s\n"
    )
    of_loop = 10 * (4 + 2)
    one, ten = (costs(body.format(outer=n, last=n - 1), 5000).steps for n in (1, 10))
    assert one == pytest.approx(2 + 50 * (2 + 2 + of_loop + 1))
    assert ten == pytest.approx(2 + 50 * (2 + 10 * (2 + 10 * 12) + 1))


def test_a_store_that_stays_is_no_vector() -> None:
    cost = costs("  for t in [0, 99] = 0 to 100 step 1\n    store o0[0] = f32 0.0\n", size=128)
    assert (cost.steps, cost.lines, cost.runs) == (2 + 100 * (4 + 1), 1, 1)


@pytest.mark.parametrize(
    ("index", "steps"),
    [("t", 128 // 8 * (4 + 1 + 3)), ("t * 2", 128 * (4 + 1 + 20)), ("0", 128 * (4 + 1 + 20))],
    ids=["neighbours", "apart", "one element"],
)
def test_updates_that_move_by_one_element_are_vectors(index: str, steps: int) -> None:
    function = "function sum(a: f32, b: f32)\n  return add.f32(a, b)\n"
    cost = costs(
        f"  for t in [0, 127] = 0 to 128 step 1\n    v0 = load.f32 p0[t]\n    atomic o0[{index}] = sum.add(v0)\n",
        size=256,
        more=function,
    )
    assert cost.steps == pytest.approx(2 + steps)


def test_single_lines_that_data_choose_bring_no_others() -> None:
    cost = costs(
        "  for t in [0, 1023] = 0 to 1024 step 1\n"
        "    v0 = load.f32 p0[t]\n"
        "    v1 = bits.s32(v0)\n"
        "    j in [0, 1048575] = v1 by clamp\n"
        "    v2 = load.f32 p0[j]\n"
        "    store o0[t] = v2\n",
        size=1 << 20,
    )
    assert cost.lines == pytest.approx(1024 + 2 * 64)
    assert cost.runs == pytest.approx(2)


def test_loops_of_functions_count() -> None:
    function = (
        "function f0(a0: f32)\n"
        "  var s: f32 = a0\n"
        "  for k in [0, 9] = 0 to 10 step 1\n"
        "    v0 = add.f32(s, a0)\n"
        "    set s = v0\n"
        "  return s\n"
    )
    body = "  for t in [0, 99] = 0 to 100 step 1\n    v0 = call f0[](load.f32 p0[t])\n    store o0[t] = v0\n"
    assert costs(body, 128, more=function).steps == 2 + 100 * (4 + 1 + (2 + 10 * (1 + 1)) + 1)


def test_blocks_move_by_each_of_their_numbers() -> None:
    body = "  for t in [0, 127] = 0 to 128 step 1\n    store o0[t + bl_x * 128 + bl_y * {}] = f32 0.0\n"
    cost = costs(body.format(512), 1536, grid=4, rows=3)
    assert (cost.steps, cost.lines, cost.runs) == pytest.approx((12 * (2 + 16 * (4 + 1)), 3 * 512 * 4 / 64, 1))
    apart = costs(body.format(1024), 2560, grid=4, rows=3)
    assert (apart.lines, apart.runs) == pytest.approx((3 * 512 * 4 / 64, 3))
    split = costs(body.format(0).replace("bl_x * 128", "bl_x % 2 * 2048 + bl_x // 2 * 128"), 4096, grid=4)
    assert (split.lines, split.runs) == pytest.approx((512 * 4 / 64, 2))


def test_the_last_block_to_arrive_is_one_of_all_and_shared_memory_is_near() -> None:
    buffers = "buffer w0: u32[1] global scratch 0\nbuffer last0: u32[1] shared\n"
    cost = costs(
        "  arrived = fetch_add w0[0] += u32 1\n"
        "  store last0[0] = arrived\n"
        "  if eq.pred(load.u32 last0[0], u32 15)\n"
        "    for t in [0, 9] = 0 to 10 step 1\n"
        "      store o0[t * 32] = f32 0.0\n",
        size=320,
        grid=16,
        more=buffers,
    )
    assert cost.steps == pytest.approx(16 * (20 + 1 + 2) + 2 + (1 + 1) * 4 + 10 * 4)
    assert (cost.lines, cost.runs) == pytest.approx(
        (1 + 10, 10)
    )  # whichever block is the last; `w0` is no more than a line


def test_a_branch_counts_as_often_as_it_is_taken() -> None:
    cost = costs(
        "  for t in [0, 99] = 0 to 100 step 1\n"
        "    if within(t, [, 24])\n"
        "      for u in [0, 9] = 0 to 10 step 1\n"
        "        store o0[t * 5 + u * 50] = f32 0.0\n",
        size=1024,
    )
    assert cost.steps == pytest.approx(2 + 100 * 2 + 25 * (2 + (1 + 1) * 4 + 10 * 4))


def fetched(body: str, buffer: str, size: int = 1 << 20, grid: int = 1) -> tuple[float, float]:
    """The lines of a buffer, and the bytes of them that are used."""
    of = costs(body, size, grid).fetches[buffer]
    return of.lines, of.used


def test_a_guard_that_alternates_leaves_all_lines_of_neighbours_and_half_of_rows() -> None:
    body = "  for t in [0, 1023] = 0 to 1024 step 1\n    if within({} mod 2, [, 0])\n      store o0[t * {}] = f32 0.0\n"
    assert fetched(body.format("t", 1), "o0") == pytest.approx((64, 2048))
    assert fetched(body.format("t", 16), "o0") == pytest.approx((512, 2048))
    assert fetched(body.format("(t floordiv 4)", 1), "o0") == pytest.approx((64, 2048))
    assert fetched(body.format("(t floordiv 64)", 1), "o0") == pytest.approx((32, 2048))
    half = "  for t in [0, 1023] = 0 to 1024 step 1\n    if within(t, [, 511])\n      store o0[t] = f32 0.0\n"
    assert fetched(half, "o0") == pytest.approx((32, 2048))


def test_guards_on_block_numbers_hold_as_often_as_for_all_blocks() -> None:
    """Of six blocks the visited ones are odd: 1, 3 and 5. Each other one writes a row of its own, or all the same one."""
    body = "  if within(bl_x mod 2, [, 0])\n    for t in [0, 127] = 0 to 128 step 1\n      store o0[t + {}] = f32 0.0\n"
    assert fetched(body.format("bl_x * 128"), "o0", grid=6) == pytest.approx((3 * 8, 3 * 512))
    assert fetched(body.format("bl_x floordiv 2 * 128"), "o0", grid=6) == pytest.approx((3 * 8, 3 * 512))
    assert fetched(body.format("0"), "o0", grid=6) == pytest.approx((8, 512))


def test_an_element_that_turns_fetch_again_is_fetched_in_those_that_a_guard_leaves() -> None:
    """More than the core's own cache keeps: half of 64 turns fetch all of it."""
    body = (
        "  for u in [0, 63] = 0 to 64 step 1\n"
        "    if within(u mod 2, [, 0])\n"
        "      for t in [0, 1048575] = 0 to 1048576 step 1\n"
        "        v0 = load.f32 p0[t]\n"
        "        store o0[0] = v0\n"
    )
    assert fetched(body, "p0") == pytest.approx((32 * 65536, 32 * 4 * 2**20))


def test_what_data_guard_element_by_element_leaves_all_lines() -> None:
    body = (
        "  for t in [0, 1023] = 0 to 1024 step 1\n"
        "    v0 = load.f32 p0[t]\n"
        "    if lt.pred(v0, f32 0.0)\n"
        "      store o0[t{}] = f32 0.0\n"
    )
    assert fetched(body.format(""), "o0") == pytest.approx((64, 2048))
    assert fetched(body.format(" * 16"), "o0") == pytest.approx((512, 2048))


def strided(inner: int, outer: int, stride: int) -> LoopCosts:
    """Steps of `stride` elements, and again from the element beside."""
    return costs(
        f"  for t in [0, {outer - 1}] = 0 to {outer} step 1\n"
        f"    for u in [0, {inner - 1}] = 0 to {inner} step 1\n"
        f"      v0 = load.f32 p0[t + u * {stride}]\n"
        "      store o0[0] = v0\n",
        size=inner * stride,
    )


def test_lines_are_found_again_where_they_are_few() -> None:
    few, many, far, beside = strided(128, 16, 64), strided(256, 16, 64), strided(256, 16, 1024), strided(256, 16, 80)
    assert (few.lines, few.runs) == (128 + 1, 128 + 1)
    assert (beside.lines, beside.runs) == (256 + 1, 256 + 1)  # in all sets
    assert (many.lines, many.runs) == (16 * 256 + 1, 16 * 256 + 1)
    assert (far.lines, far.runs) == (16 * 256 + 1, 16 * 256 + 1)
    assert many.from_memory == far.from_memory == 2 * 256 + 2  # the last cache keeps them
    assert few.steps == 2 + 16 * 2 + 16 * 128 * (4 + 1 + 1)


def test_accesses_beside_each_other_fetch_together() -> None:
    body = "  for t in [0, 127] = 0 to 128 step 1\n    v0 = load.f32 p0[t * 64]\n    v1 = load.f32 p0[t * 64 + {}]\n"
    beside, apart = (costs(body.format(n), 8320).fetches["p0"] for n in (15, 40))
    assert (beside.lines, beside.used) == (128, 128 * 8)
    assert (apart.lines, apart.used) == (256, 128 * 8)


def test_loops_that_turn_from_row_to_row_fetch_all_of_them() -> None:
    body = (
        "  for t in [0, 127] = 0 to 128 step 1\n    v0 = load.f32 p0[t % 16 * 1024 + t // 16]\n    store o0[0] = v0\n"
    )
    fetched = costs(body, 16384).fetches["p0"]
    assert (fetched.lines, fetched.used) == (16 * 8, 16 * 8 * 4)  # a set holds eight of the sixteen lines
    near = costs(body.replace("1024", "1040"), 16640).fetches["p0"]
    assert (near.lines, near.used) == (16, 16 * 8 * 4)


def test_a_counter_that_starts_with_another_moves_with_it() -> None:
    cost = costs(
        "  for t in [0, 127] = 0 to 128 step 1\n"
        "    for u in [0, 1023] = t to 1024 step 128\n"
        "      v0 = load.f32 p0[u]\n"
        "      store o0[u] = v0\n",
        size=1024,
    )
    assert cost.lines == 2 * 1024 * 4 / 64


def test_plans_are_ranked_as_their_loops_are() -> None:
    """By loops that stride through memory, and those that leave vectors unused."""
    text = "ENTRY f { p = f32[1024,1024] parameter(0)\n ROOT n = f32[1024,1024] negate(p) }"
    plans = {"block_size": [128, 512, 8], "vector_width": [1, 2, 1], "max_blocks": [2**31 - 1, 1, 4096]}
    prediction = ix.predict(ix.hlo.parse(text).entry, plans, device="cpu")
    assert prediction.time[0] * 3 < prediction.time[1] and prediction.time[0] * 1.5 < prediction.time[2]
    assert (
        not prediction.exact.any()
        and (prediction.operations > 0).all()
        and (prediction.memory_bytes >= 2 * 4 * 2**20).all()
    )
    assert prediction.threads.tolist() == [128, 512, 8] and prediction.blocks.tolist() == [8192, 1, 4096]
    text = "ENTRY f { p = f32[1000,1100] parameter(0)\n ROOT t = f32[1100,1000] transpose(p), dimensions={1,0} }"
    transposes = ix.predict(ix.hlo.parse(text).entry, {"tile": [32, 64], "block_size": [256, 864]}, device="cpu")
    assert transposes.operations[0] < transposes.operations[1]
    again = ix.predict(ix.hlo.parse(text).entry, {"tile": [64, 32], "block_size": [864, 256]}, device="cpu")
    assert np.array_equal(again.time, transposes.time[::-1])


def test_branches_that_assign_one_variable_stay_branches() -> None:
    """C compilers make no vectors of a loop with them, though it does not change what they ask: each turn asks all."""
    one = (
        "    if within(bl_x mod 2, [, 0])\n      v1 = load.f32 p0[t]\n      set v0 = v1\n"
        "    if within(bl_x mod 2, [1, ])\n      v2 = load.f32 p0[t + 128]\n      set v0 = v2\n"
    )
    body = "  for t in [0, 127] = 0 to 128 step 1\n    var v0: f32 = f32 0.0\n{}    store o0[t] = v0\n"
    cost = costs(body.format(one), size=256, grid=2)
    assert cost.steps == pytest.approx(2 * (2 + 128 * (4 + 2 + 2 + 1 + 1)))
    single = costs(body.format(one[: one.index("    if within(bl_x mod 2, [1")]), size=256, grid=2)
    assert single.steps == pytest.approx(2 * (2 + 128 // 8 * (4 + 2 + 0.5 + 1)))
