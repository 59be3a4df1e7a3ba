"""The validation of passes: what is stored is computed by the same operations before and after."""

from pathlib import Path

import pytest

import indexing as ix
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.text import IDS
from indexing.kernels.passes import PASSES, Pass
from indexing.kernels.verify.bounds import check_bounds
from indexing.kernels.verify.lowering import compare
from indexing.kernels.verify.order import compare_order
from indexing.kernels.verify.translation import compare_accesses
from indexing.kernels.verify.values import _Instances, _Terms, compare_values
from ir_kernels import TH_X, kernel, result
from ir_reader import read_kernel
from last_faults import KINDS, faults, steps_of, verdict

PASS = Pass("pass", lambda kernel, target: kernel, "memory")
GOLDEN = Path(__file__).parents[1] / "golden"
HEADER = """kernel k emitter loop grid (1, 1, 1) block (32, 1, 1)
buffer p0: f32[128] global input 0
buffer p1: f32[128] global input 1
buffer o0: f32[32] global output 0
buffer x0: f32[1] local
entry
""" + "".join(f"  index {name} in [0, {31 * (name == 'th_x')}] thread\n" for name in IDS)
SUM = """\
  var s: f32 = f32 0.0
  for k in [0, 3] = 0 to 4 step 1
    v = load.f32 p0[th_x * 4 + k]
    set s = mul_add.f32(v, load.f32 p1[th_x * 4 + k], s)
  if lt.pred(s, f32 1.0)
    set s = f32 1.0
  store o0[th_x] = sub.f32(s, load.f32 p1[th_x])
"""


def statuses(after: str) -> set[str]:
    return {c.status for c in compare_values(read_kernel(HEADER + SUM), read_kernel(HEADER + after), "pass")}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("sub.f32", "add.f32"),
        ("sub.f32(s, load.f32 p1[th_x])", "sub.f32(load.f32 p1[th_x], s)"),
        ("load.f32 p1[th_x]", "load.f32 p0[th_x]"),
        ("sub.f32(s, load.f32 p1[th_x])", "s"),
        ("f32 = f32 0.0", "f32 = f32 1.0"),
        ("f32 = f32 0.0", "f32 = f32 -0.0"),
        ("lt.pred", "le.pred"),
        ("lt.pred(s, f32 1.0)", "not.pred(lt.pred(s, f32 1.0))"),
        ("    set s = f32 1.0", "    set s = f32 2.0"),
        ("  if lt.pred(s, f32 1.0)\n    set s = f32 1.0\n", ""),
        ("  if lt.pred(s, f32 1.0)\n    set s = f32 1.0\n", "  set s = f32 1.0\n"),
        ("    set s = mul_add.f32(v, load.f32 p1[th_x * 4 + k], s)\n", ""),
        ("load.f32 p1[th_x * 4 + k], s", "s, load.f32 p1[th_x * 4 + k]"),
        ("load.f32 p1[th_x * 4 + k], s", "v, s"),
    ],
)
def test_other_operations_are_seen(old: str, new: str) -> None:
    assert old in SUM
    assert statuses(SUM.replace(old, new, 1)) == {"open"}


CONTROL = """\
  v = load.s32 p2[th_x]
  j in [0, 31] = clamp.s32(s32 0, v, s32 31)
  var s: f32 = load.f32 p0[j]
  for k in [0, 3] = 0 to 4 step 1
    break if lt.pred(s, f32 1.0)
    set s = sub.f32(s, f32 1.0)
  if lt.pred(s, f32 2.0)
    set s = f32 3.0
  else
    set s = f32 4.0
  if gt.pred(s, f32 5.0)
    set s = f32 6.0
  t = shuffle 16 of s
  atomic o0[th_x] = combine0.add(t)
"""
COMBINER = "function combine0(a0: f32, b0: f32)\n  v0 = add.f32(a0, b0)\n  return v0\nentry\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("s32 31)", "s32 30)"),
        ("break if lt.pred(s, f32 1.0)", "break if lt.pred(s, f32 2.0)"),
        ("set s = f32 3.0\n  else\n    set s = f32 4.0", "set s = f32 4.0\n  else\n    set s = f32 3.0"),
        ("f32 2.0)\n    set s = f32 3.0", "f32 5.0)\n    set s = f32 3.0"),
        (
            CONTROL[CONTROL.index("f32 3.0") : CONTROL.index("  t =")],
            "f32 6.0\n  else\n    set s = f32 4.0\n  if gt.pred(s, f32 5.0)\n    set s = f32 3.0\n",
        ),
        ("shuffle 16", "shuffle 8"),
        ("combine0.add", "combine0.maximum"),
    ],
)
def test_other_control_by_data_is_seen(old: str, new: str) -> None:
    head = HEADER.replace("buffer x0", "buffer p2: s32[32] global input 2\nbuffer x0").replace("entry\n", COMBINER)
    before = read_kernel(head + CONTROL)
    assert old in CONTROL
    same = read_kernel(head + CONTROL.replace("v = ", "w = ").replace(", v,", ", w,"))
    assert {c.status for c in compare_values(before, same, "pass")} == {"proved"}
    after = read_kernel(head + CONTROL.replace(old, new))
    assert "open" in {c.status for c in compare_values(before, after, "pass")}


def test_what_was_assumed_of_a_variable_is_taken_back() -> None:
    """Of `z`, which is computed of `x`, nothing is known by what was assumed of `x`, which holds another value as well."""
    terms = _Terms()
    always, one, p = terms.node(()), terms.node(("1",)), terms.node(("p",))
    x, z, old_x, old_z = (terms.holder() for _ in range(4))
    for a, b in ((x, z), (old_x, old_z)):
        terms.given[a][terms.node(("f",), b), always] = None
        terms.given[b][terms.node(("h",), a), always] = None
        terms.given[b][p, always] = None
    terms.given[x][one, always] = None
    instances = _Instances(terms)
    assert not instances.has_all([terms.node(("q",), x)], [terms.node(("q",), old_x)])
    assert not instances.has_all([terms.node(("q",), z)], [terms.node(("q",), old_z)])
    assert instances.has_all([terms.node(("q",), old_z)], [terms.node(("q",), z)])


INSIDE = "".join(f"  {line}\n" for line in SUM.splitlines())


@pytest.mark.parametrize(
    "after",
    [
        SUM.replace("v = ", "w = ").replace("(v", "(w"),
        SUM.replace("0 to 4", "0 to 3").replace(
            "  if lt", "  set s = mul_add.f32(load.f32 p0[th_x * 4 + 3], load.f32 p1[th_x * 4 + 3], s)\n  if lt"
        ),
        SUM.replace("  store", "  t = sub.f32(s, load.f32 p1[th_x])\n  store").replace(
            "] = sub.f32(s, load.f32 p1[th_x])", "] = t"
        ),
        SUM.replace("  store", "  var t: f32 = s\n  set t = s\n  store").replace("sub.f32(s", "sub.f32(t"),
        SUM.replace("v = load.f32 p0", "store x0[0] = load.f32 p0").replace(
            "mul_add.f32(v", "mul_add.f32(load.f32 x0[0]"
        ),
        SUM.replace("v = load.f32 p0", "copy 1: x0[0] = p0").replace("mul_add.f32(v", "mul_add.f32(load.f32 x0[0]"),
        f"  if within(th_x, [, 9])\n{INSIDE}  else\n{INSIDE}",
    ],
)
def test_names_copies_and_moves_do_not_matter(after: str) -> None:
    assert after != SUM
    assert statuses(after) == {"proved"}


def test_an_index_as_a_value_is_compared_and_within_its_type() -> None:
    def stored(expression: ix.SymbolicExpr, kind: str) -> ir.Kernel:
        value = ir.Op("convert", "f32", (ir.IndexValue(expression, kind),))
        return kernel([ir.Store("o0", (TH_X,), value)], [result(0, "f32", 32)], block=32)

    of = next(p for p in PASSES if p.name == "hoist")
    before = stored(TH_X + 100, "s64")
    wrong = [c for c in compare(of, before, stored(TH_X + 101, "s64")) if c.status != "proved"]
    assert [(c.kind, c.status) for c in wrong] == [("same accesses", "refuted")]
    assert {c.status for c in compare(of, before, stored(TH_X + 100, "s32"))} == {"proved"}
    narrow = [c for c in check_bounds(stored(TH_X + 100, "s8")) if c.subject.endswith("index as s8")]
    assert [c.status for c in narrow] == ["refuted"]
    assert {c.status for c in check_bounds(stored(TH_X + 96, "s8"))} == {"proved"}


SEEN = [
    "predicate negated",
    "another identity",
    "another operation",
    "another constant",
    "another format",
    "barrier lost",
]


@pytest.mark.parametrize(("name", "dialect"), [("rows_softmax_bf16", "c"), ("reduction_split_columns", "cuda")])
def test_faults_after_the_last_pass_are_found(name: str, dialect: str) -> None:
    steps = steps_of(ix.emit(ix.hlo.load(GOLDEN / f"{name}.hlo").entry, dialect))
    assert not verdict(steps, steps[-1][2])
    mutants = [m for kind in SEEN for m in faults(steps[-1][2], kind)[:2]]
    assert len(mutants) > 4
    assert all(verdict(steps, m) for m in mutants)
    assert set(SEEN) <= KINDS.keys()


def test_a_store_that_a_later_one_covers_is_found() -> None:
    """Both phases store all elements, so that the elements of all stores together say nothing of one."""
    body = """\
  for k in [0, 1] = 0 to 2 step 1
    store tile[th_x * 2 + k] = load.f32 p0[th_x * 2 + k]
  barrier
  v = load.f32 tile[63 - th_x]
  barrier
  for j in [0, 1] = 0 to 2 step 1
    store tile[th_x * 2 + j] = load.f32 p1[th_x * 2 + j]
  barrier
  store o0[th_x] = sub.f32(v, load.f32 tile[63 - th_x])
"""
    head = HEADER.replace("buffer x0: f32[1] local", "buffer tile: f32[64] shared")
    before = read_kernel(head + body)
    after = read_kernel(head + body.replace("tile[th_x * 2 + k]", "tile[th_x * 2]"))
    assert {c.status for c in compare_order(before, after, "pass")} == {"refuted"}
    assert {c.status for c in compare_order(before, read_kernel(head + body.replace("v", "w")), "pass")} == {"proved"}


def test_a_load_for_what_nothing_needs_is_none() -> None:
    before = read_kernel(HEADER + SUM)
    after = read_kernel(HEADER + SUM.replace("mul_add.f32(v, load", "mul_add.f32(f32 0.0, load"))
    wrong = [c for c in compare_accesses(before, after, PASS) if c.status != "proved"]
    assert [(c.subject, c.status) for c in wrong] == [("pass: load p0", "refuted")]


def test_a_fence_is_needed_where_threads_are_loops() -> None:
    steps = steps_of(ix.emit(ix.hlo.load(GOLDEN / "reduction_split_columns.hlo").entry, "c"))
    mutants = faults(steps[-1][2], "fence lost")
    assert mutants
    assert all("no fence" in verdict(steps, m) for m in mutants)
