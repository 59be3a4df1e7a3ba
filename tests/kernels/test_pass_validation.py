"""The validation of passes: faults that a pass could make are found, and named with the pass."""

import pickle
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import indexing as ix
from indexing.device.table import portable_device
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.text import IDS
from indexing.kernels.ir.traversal import rewrite_values
from indexing.kernels.passes import PASSES, Pass, run_pass
from indexing.kernels.verify import cover
from indexing.kernels.verify.cover import covers, normalized
from indexing.kernels.verify.enumeration import difference, first_missing, numbered
from indexing.kernels.verify.initialized import check_initialized
from indexing.kernels.verify.lowering import verify_steps
from indexing.kernels.verify.translation import compare_accesses
from ir_reader import read_kernel
from pass_mutants import check, faults, steps, verdict

PASS = Pass("pass", lambda kernel, target: kernel, "memory")
GOLDEN = Path(__file__).parents[1] / "golden"
FILES = [
    GOLDEN / f"{name}.hlo"
    for name in (
        "concatenate",
        "loop_exp_rows",
        "loop_gelu_bf16",
        "loop_pool",
        "reduction_interactions",
        "reduction_moments_bf16",
        "reduction_split",
        "rows_columns",
        "scatter_sorted",
        "transpose_021",
        "transpose_packed",
        "transpose_short",
        "reduction_column",
    )
]
FAULTS = 5  # each pass gets so many


@pytest.fixture(scope="module")
def changed():
    of_cuda = (
        s
        for name, passes in (
            ("dot_tile_bf16", ("async-copies", "pack-lanes")),
            ("dot_simt_bias", ("hoist-from-lanes",)),
        )
        for s in steps([GOLDEN / f"{name}.hlo"], ("cuda",))
        if s.of.name in passes
    )
    return [*steps(FILES, ("c", "opencl")), *of_cuda]


def test_faults_of_each_pass_are_found(changed) -> None:
    counts, missed = check(changed, FAULTS, seed=9)
    assert not missed
    assert set(counts) == {p.name for p in PASSES}
    assert set(counts.values()) == {FAULTS}


def test_a_loop_over_threads_that_keeps_too_little_is_found() -> None:
    """Values that are kept from one barrier to the next are in arrays that no other kernel has, and so nothing to compare."""
    (step,) = (s for s in steps([GOLDEN / "rows_softmax_bf16.hlo"], ("c",)) if s.of.name == "thread-loops")
    assert not [c for c in check_initialized(step.after) if c.status != "proved"]
    stops = [f for f in faults(step.after) if f.what.startswith("stop") and f.what.endswith("by -1")]
    short = [f.kernel for f in stops if f.is_reached()]
    assert len(short) > 3
    actual = [[c for c in check_initialized(k) if c.status == "refuted"] for k in short]
    assert any(actual)
    assert all(verdict(step, k) for k in short)


def test_sums_that_take_the_values_of_others_are_found() -> None:
    """Values of several sums lie side by side in shared memory."""
    (step,) = (s for s in steps([GOLDEN / "reduction_split_columns.hlo"], ("cuda",)) if s.of.name == "group-reductions")

    def swapped(v: ir.Value) -> ir.Value:
        is_held = isinstance(v, ir.Load) and v.buffer.startswith("parts")
        return replace(v, index=(1 - v.index[0],)) if is_held and v.index[0].evaluate([]) < 2 else v

    mutant = replace(step.after, body=rewrite_values(step.after.body, swapped))
    assert not verdict(step, step.after)
    assert mutant != step.after
    assert "reduction" in verdict(step, mutant)


def test_a_value_that_is_loaded_in_the_place_of_another_is_found() -> None:
    ids = "".join(f"  index {name} in [0, {31 * (name == 'th_x')}] thread\n" for name in IDS)
    text = f"""kernel k emitter loop grid (1, 1, 1) block (32, 1, 1)
buffer p0: f32[64] global input 0
buffer o0: f32[32] global output 0
entry
{ids}  v = load.f32 p0[th_x]
  w = load.f32 p0[th_x + 32]
  store o0[th_x] = sub.f32(v, w)
"""
    before = read_kernel(text)
    swapped = read_kernel(
        text.replace("v = load.f32 p0[th_x]", "v = load.f32 p0[th_x + 32]", 1).replace(
            "w = load.f32 p0[th_x + 32]", "w = load.f32 p0[th_x]"
        )
    )
    renamed = read_kernel(text.replace("v = load", "a = load").replace("sub.f32(v", "sub.f32(a"))

    def statuses(after: ir.Kernel) -> set[str]:
        return {c.status for c in compare_accesses(before, after, PASS)}

    assert statuses(swapped) == {"proved", "refuted"}
    assert statuses(renamed) == {"proved"}


@pytest.mark.parametrize(
    ("load", "is_shared", "status"),
    [("p0[0]", True, "proved"), ("p0[0]", False, "refuted"), ("p0[1]", True, "refuted")],
)
def test_a_load_in_front_of_a_loop_that_one_block_does_not_run(load: str, is_shared: bool, status: str) -> None:
    ids = "".join(f"  index {name} in [0, {3 * (name == 'bl_x')}] thread\n" for name in IDS)
    inside = """  for k in [0, 2] = 0 to bl_x step 1
    v = load.f32 p0[0]
    store o0[bl_x * 4 + k] = v
"""
    ahead = f"  v = load.f32 {load}\n" + inside.replace("    v = load.f32 p0[0]\n", "")
    head = """kernel k emitter loop grid (4, 1, 1) block (1, 1, 1)
buffer p0: f32[2] global input 0
buffer o0: f32[16] global output 0
entry
"""
    before, after = (read_kernel(f"{head}{ids}{body}") for body in (inside, ahead))
    checks = compare_accesses(before, after, replace(PASS, may_share_loads=is_shared))
    assert {c.status for c in checks if "load" in c.subject} == {status}


def test_a_pass_is_named_where_its_kernel_cannot_be_proved(changed) -> None:
    step = next(s for s in changed if s.of.name == "row-loops")
    fault = next(f for f in faults(step.after) if "stop" in f.what and f.is_reached())
    checks = verify_steps([(step.of, step.before, fault.kernel)], portable_device("c").limits).checks
    actual = [c for c in checks if c.status != "proved"]
    assert actual, fault.what
    assert all("row-loops" in str(c) for c in actual)


LANES = "(d0)[s0] -> (d0 * 8 + s0), domain: d0 in [0, 9], s0 in [0, 7]"


PARTS = [
    ([LANES], True),
    (["(d0)[s0] -> (d0 * 8 + s0 + 4), domain: d0 in [0, 9], s0 in [0, 3]"], False),
    (
        [
            "(d0)[s0] -> (d0 * 8 + s0), domain: d0 in [0, 9], s0 in [0, 6]",
            "(d0) -> (d0 * 8 + 7), domain: d0 in [0, 9]",
        ],
        True,
    ),
    (
        [
            "(d0)[s0] -> (d0 * 8 + s0), domain: d0 in [0, 9], s0 in [0, 6]",
            "(d0) -> (d0 * 8 + 6), domain: d0 in [0, 9]",
        ],
        False,
    ),
    (
        [
            "(d0)[s0] -> (d0 * 8 + s0), domain: d0 in [0, 9], s0 in [0, 3]",
            "(d0)[s0] -> (d0 * 8 + s0 + 4), domain: d0 in [0, 9], s0 in [0, 3]",
        ],
        True,
    ),
    (
        [
            "(d0)[s0] -> (d0 * 8 + s0), domain: d0 in [0, 9], s0 in [0, 4]",
            "(d0)[s0] -> (d0 * 8 + s0 + 4), domain: d0 in [0, 9], s0 in [0, 2]",
        ],
        False,
    ),
    ([f"(d0) -> (d0 * 8 + {k}), domain: d0 in [0, 9]" for k in range(8)], True),
    ([f"(d0) -> (d0 * 8 + {k}), domain: d0 in [0, 9]" for k in range(1, 9)], False),
    ([LANES.replace("d0 in [0, 9]", "d0 in [0, 4]"), LANES.replace("d0 in [0, 9]", "d0 in [5, 9]")], True),
    ([LANES.replace("d0 in [0, 9]", "d0 in [0, 4]"), LANES.replace("d0 in [0, 9]", "d0 in [6, 9]")], False),
    (
        [
            "(d0)[s0, s1] -> (d0 * 8 + s0), domain: d0 in [0, 9], s0 in [0, 7], s1 in [0, 3], "
            "s0 + d0 * 8 - s1 * 20 in [0, 19]"
        ],
        True,
    ),
]


@pytest.mark.parametrize(("parts", "is_covered"), PARTS)
def test_parts_of_accesses_cover_them(parts: list[str], is_covered: bool) -> None:
    whole = normalized(ix.IndexingMap.parse(LANES).simplify())
    actual = tuple(normalized(ix.IndexingMap.parse(m).simplify()) for m in parts)
    assert covers(actual, (whole,)) == is_covered
    accesses = {(*d, *m.evaluate(d, s)) for m in actual for d, s in m.points()}
    assert ({(*d, *whole.evaluate(d, s)) for d, s in whole.points()} <= accesses) == is_covered
    fault, is_whole = difference([whole], actual)
    assert is_whole
    assert ("no access" in fault or "only after" in fault) or is_covered


@pytest.mark.parametrize(("parts", "is_covered"), PARTS[:-1])
def test_parts_of_many_accesses_cover_them(parts: list[str], is_covered: bool) -> None:
    """As a few do, though they are too many to enumerate."""
    whole, *actual = (normalized(ix.IndexingMap.parse(m.replace("9]", "99999]")).simplify()) for m in (LANES, *parts))
    assert covers(tuple(actual), (whole,)) == is_covered


ROWS = "(d0)[s0, s1] -> (d0 * 8 + s0 * 96 + s1 - ((d0 + s0 * 12) floordiv 5) * 10), domain: "
PART = "d0 in [0, 11], s0 in [0, 6], s1 in [0, 7], s1 + ((d0 + s0 * 2) mod 5) * 8 in [0, 29]"


@pytest.mark.parametrize(
    ("domain", "is_covered"),
    [
        (PART, True),
        (PART.replace("s0 in [0, 6]", "s0 in [0, 7], d0 + s0 * 12 in [0, 89]"), True),
        (PART.replace("s0 in [0, 6]", "s0 in [0, 7], d0 + s0 * 12 in [0, 82]"), False),
        (PART.replace("s0 in [0, 6]", "s0 in [0, 5]"), False),
        (PART.replace("29]", "28]"), False),
        (PART.replace("s1 + ((d0 + s0 * 2) mod 5) * 8", "s1 + ((d0 + s0 * 12) mod 5) * 8 + s0 * 8"), False),
    ],
)
def test_accesses_on_a_part_of_a_domain_are_covered(
    domain: str, is_covered: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As bounds and ranges show, without comparing the points of both."""
    whole, part = (normalized(ix.IndexingMap.parse(ROWS + d).simplify()) for d in (domain, PART))
    points = [{(*d, *m.evaluate(d, s)) for d, s in m.points()} for m in (whole, part)]
    assert (points[1] <= points[0]) == is_covered
    if is_covered:
        monkeypatch.setattr(cover, "_is_covered", lambda m, others: False)
        monkeypatch.setattr(cover, "_written_out", lambda m: [])
    assert covers.__wrapped__((whole,), (part,)) == is_covered


def test_a_map_without_points_is_covered_and_covers_nothing() -> None:
    some = normalized(ix.IndexingMap.parse(LANES).simplify())
    none = ix.IndexingMap.parse(LANES.replace("s0 in [0, 7]", "s0 in [0, 7], s0 in [9, 12]")).simplify()
    assert none.is_known_empty
    assert covers((some,), (none,)) and not covers((none,), (some,))


@pytest.mark.parametrize(("before", "last", "is_same"), [(298, 299, True), (297, 299, False), (298, 298, False)])
def test_the_last_iteration_of_a_long_loop_is_part_of_it(before: int, last: int, is_same: bool) -> None:
    text = "(d0)[s0] -> (d0 + s0 * 10 + ((d0 + s0 * 3) floordiv 7) * 100), domain: d0 in [0, 9], s0 in [{0}, {1}]"
    bounds = [(0, 299), (0, before), (last, last)]
    whole, *parts = [normalized(ix.IndexingMap.parse(text.format(*b)).simplify()) for b in bounds]
    assert covers(tuple(parts), (whole,)) == is_same
    assert covers((whole,), tuple(parts)) or not is_same


def test_an_index_outside_of_its_condition_has_all_its_values() -> None:
    """Loops over threads begin within the loops of the convolution, in front of which its indices are computed."""
    text = """fused {
      p0 = f32[1,24,24,3] parameter(0)
      p1 = f32[3,3,3,64] parameter(1)
      z = f32[] constant(0)
      c = f32[1,22,22,64] convolution(p0, p1), window={size=3x3}, dim_labels=b01f_01io->b01f
      ROOT r = f32[1,24,24,64] pad(c, z), padding=0_0x1_1x1_1x0_0
    }"""
    proofs = ix.emit(ix.hlo.parse(text).entry, "c").verify()
    assert proofs.refuted == proofs.open == ()


@pytest.mark.parametrize("seed", range(20))
def test_rows_that_are_missing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    low, high = ((-3, 4), (0, 1 << 40))[seed % 2]
    a, b = (rng.integers(low, high, (rng.integers(0, 60), 3)) for _ in range(2))
    b = np.concatenate([b, rng.permutation(a)[: len(a) - seed % 3]])
    known = {tuple(row) for row in b.tolist()}
    missing = next((row for row in a.tolist() if tuple(row) not in known), None)
    actual = first_missing(np.asfortranarray(a), b)
    assert (None if actual is None else actual.tolist()) == missing


@pytest.mark.parametrize("scale", [1, 1 << 40])
def test_rows_as_numbers_keep_their_order(scale: int) -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-5, 6, (n, 4)) * scale for n in (200, 300))
    numbers = np.concatenate(numbered(a, b)).tolist()
    rows = [tuple(row) for row in (*a.tolist(), *b.tolist())]
    assert [x for _, x in sorted(zip(rows, numbers, strict=True))] == sorted(numbers)
    assert len(set(numbers)) == len(set(rows))


def test_a_pass_that_changes_nothing_returns_the_kernel() -> None:
    kernel = ix.emit(ix.hlo.parse("ENTRY e { p = f32[8,8] parameter(0)\n ROOT r = f32[8,8] negate(p) }").entry)
    stages = [kernel.ir]
    for p in PASSES:
        stages.append(run_pass(p, stages[-1], kernel.target))
        assert stages[-1] is stages[-2] or stages[-1] != stages[-2]
    assert stages[-1] is kernel.lowered  # each pass runs once
    assert any(a is b for a, b in pairwise(stages))


def test_the_hash_of_a_kernel_stays_in_its_process() -> None:
    kernel = ix.emit(ix.hlo.parse("ENTRY e { p = f32[8] parameter(0)\n ROOT r = f32[8] negate(p) }").entry).ir
    hash(kernel)
    read = pickle.loads(pickle.dumps(kernel))
    assert "_hash" in vars(kernel)
    assert "_hash" not in vars(read)
    assert {read: 1}[kernel] == 1
    assert hash(replace(kernel, body=())) != hash(kernel)
