"""Which kernels programs need: every example is partitioned and emitted, and no planned kernel repeats its work."""

import ast
from pathlib import Path

import numpy as np
import pytest

import indexing as ix
from indexing.device.detect import find_device
from indexing.device.table import portable_device
from indexing.executable import planned_kernels
from indexing.hlo import Computation, Module
from indexing.planning.program import plan_program
from indexing.work import MAX_REPETITION, work_once
from kernels import compiled
from plain_device import PlainDevice

TESTS = Path(__file__).resolve().parents[1]
FILES = sorted([*(TESTS.parent / "examples").glob("*.hlo"), *(TESTS / "golden").glob("*.hlo")])
ADD = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b) }\n"

LOG_OF_ROW_SUM = f"""{ADD}ENTRY main {{
  x = f32[16,40] parameter(0)
  e = f32[16,40] exponential(x)
  z = f32[] constant(0)
  t = f32[16] reduce(e, z), dimensions={{1}}, to_apply=add
  l = f32[16] log(t)
  b = f32[16,40] broadcast(l), dimensions={{0}}
  ROOT y = f32[16,40] subtract(x, b) }}"""

# The elements of a row need the sums of all rows: only a loop an element would make it one kernel.
LOG_OF_ALL_ROWS = LOG_OF_ROW_SUM.replace("[16", "[40").replace(
    "broadcast(l), dimensions={0}", "broadcast(l), dimensions={1}"
)

FAR_APART = f"""{ADD}ENTRY main {{
  x = f32[16,40] parameter(0)
  z = f32[] constant(0)
  t = f32[16] reduce(x, z), dimensions={{1}}, to_apply=add
  r = f32[16,1] reshape(t)
  n = f32[16,1] negate(r)
  b = f32[16,1] broadcast(n), dimensions={{0,1}}
  s = f32[16] reshape(b)
  c = f32[16,40] broadcast(s), dimensions={{0}}
  d = f32[16,40] subtract(x, c)
  q = f32[16,40] multiply(d, d)
  v = f32[16] reduce(q, z), dimensions={{1}}, to_apply=add
  w = f32[16] rsqrt(v)
  u = f32[16,40] broadcast(w), dimensions={{0}}
  ROOT y = f32[16,40] multiply(d, u) }}"""

SCATTER = f"""{ADD}ENTRY main {{
  p = f32[64] parameter(0)
  i = s32[8,1] parameter(1)
  u = f32[8] parameter(2)
  e = f32[8] exponential(u)
  s = f32[64] scatter(p, i, e), update_window_dims={{}}, inserted_window_dims={{0}},
    scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=add
  n = f32[64] negate(s)
  ROOT y = f32[64] exponential(n) }}"""

SCATTER_INTO_ZEROS = f"""{ADD}ENTRY main {{
  i = s32[8,1] parameter(0)
  u = f32[8] parameter(1)
  k = f32[] constant(0)
  p = f32[64] broadcast(k), dimensions={{}}
  e = f32[8] exponential(u)
  s = f32[64] scatter(p, i, e), update_window_dims={{}}, inserted_window_dims={{0}},
    scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=add
  ROOT y = f32[64] maximum(s, p) }}"""

READ_BESIDES = f"""{ADD}ENTRY main {{
  i = s32[64,1] parameter(0)
  u = f32[64] parameter(1)
  k = f32[] constant(0)
  p = f32[64] broadcast(k), dimensions={{}}
  e = f32[64] maximum(u, p)
  ROOT s = f32[64] scatter(p, i, e), update_window_dims={{}}, inserted_window_dims={{0}},
    scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=add }}"""

BIAS = """ENTRY main {
  x = f32[16,40] parameter(0)
  g = bf16[40] parameter(1)
  c = f32[40] convert(g)
  b = f32[16,40] broadcast(c), dimensions={1}
  ROOT y = f32[16,40] multiply(x, b) }"""

PRODUCT = """ENTRY main {
  x = f32[16,40] parameter(0)
  w = f32[40,24] parameter(1)
  e = f32[16,40] exponential(x)
  ROOT d = f32[16,24] dot(e, w), lhs_contracting_dims={1}, rhs_contracting_dims={0} }"""

# What a row of a normalization needs little work for is computed again where it is read once, not where windows overlap.
NORMALIZED_WINDOWS = f"""{ADD}ENTRY main {{
  x = f32[4,3,9,9] parameter(0)
  w = f32[5,3,3,3] parameter(1)
  z = f32[] constant(0)
  t = f32[3] reduce(x, z), dimensions={{0,2,3}}, to_apply=add
  b = f32[4,3,9,9] broadcast(t), dimensions={{1}}
  s = f32[4,3,9,9] subtract(x, b)
  m = f32[9,4,3,9] transpose(s), dimensions={{2,0,1,3}}
  c = f32[4,5,9,9] convolution(m, w), window={{size=3x3 pad=1_1x1_1}}, dim_labels=0bf1_oi01->bf01
  ROOT y = f32[4,5,9,9] negate(c) }}"""

# The gradient needs what the activation has been computed from: one kernel writes both.
ACTIVATION = """ENTRY main {
  x = f32[16,40] parameter(0)
  y = f32[16,40] parameter(1)
  a = f32[16,40] multiply(x, y)
  t = f32[16,40] tanh(a)
  ROOT r = (f32[16,40], f32[16,40]) tuple(a, t) }"""

# A result that the kernel reads at another index, and one that a path through another kernel leads back from, are no part of it.
TRANSPOSED_RESULT = ACTIVATION.replace("f32[16,40]", "f32[40,40]").replace(
    "  t = f32[40,40] tanh(a)", "  b = f32[40,40] transpose(a), dimensions={1,0}\n  t = f32[40,40] tanh(b)"
)
AROUND_ANOTHER = f"""{ADD}ENTRY main {{
  x = f32[16,40] parameter(0)
  a = f32[16,40] exponential(x)
  z = f32[] constant(0)
  s = f32[40] reduce(a, z), dimensions={{0}}, to_apply=add
  l = f32[40] log(s)
  b = f32[16,40] broadcast(l), dimensions={{1}}
  m = f32[16,40] reverse(b), dimensions={{1}}
  t = f32[16,40] subtract(a, m)
  ROOT r = (f32[16,40], f32[16,40]) tuple(a, t) }}"""

# Both read all of x at one index; where the second reads it backwards, nothing would be saved.
SIBLINGS = """ENTRY main {
  x = f32[16,40] parameter(0)
  y = f32[16,40] parameter(1)
  a = f32[16,40] multiply(x, y)
  b = f32[16,40] subtract(x, y)
  ROOT r = (f32[16,40], f32[16,40]) tuple(a, b) }"""
BACKWARDS = SIBLINGS.replace("subtract(x, y)", "subtract(v, w)").replace(
    "  b =",
    "  v = f32[16,40] reverse(x), dimensions={0}\n  w = f32[16,40] reverse(y), dimensions={0}\n  b =",
)

# What does not follow from the sum has no place in its kernel.
BESIDE_SUM = f"""{ADD}ENTRY main {{
  x = f32[16,40] parameter(0)
  y = f32[16] parameter(1)
  z = f32[] constant(0)
  t = f32[16] reduce(x, z), dimensions={{1}}, to_apply=add
  e = f32[16] exponential(y)
  p = f32[16] multiply(t, e)
  ROOT r = (f32[16], f32[16]) tuple(e, p) }}"""
AFTER_SUM = BESIDE_SUM.replace("exponential(y)", "exponential(t)")

# Each update is written into its own array: the other result would take a copy of the whole.
BESIDE_UPDATE = """ENTRY main {
  c = f32[16,40] parameter(0)
  u = f32[1,40] parameter(1)
  i = s32[] parameter(2)
  z = s32[] constant(0)
  d = f32[16,40] dynamic-update-slice(c, u, i, z)
  n = f32[16,40] negate(d)
  ROOT r = (f32[16,40], f32[16,40]) tuple(d, n) }"""

# A gather at indices of two arrays, as `x[i, j]` has them, twice: its few indices are no loop.
GATHERS = """ENTRY main {
  x = f32[30,40] parameter(0)
  i = s32[500,1] parameter(1)
  j = s32[500,1] parameter(2)
  n = s32[500,1] negate(j)
  v = s32[500,2] concatenate(i, n), dimensions={1}
  g = f32[500] gather(x, v), offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={0,1}, index_vector_dim=1,
    slice_sizes={1,1}
  w = s32[500,2] concatenate(i, j), dimensions={1}
  h = f32[500] gather(x, w), offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={0,1}, index_vector_dim=1,
    slice_sizes={1,1}
  ROOT y = f32[500] multiply(g, h) }"""

# A loop that collects two results: one launch updates both arrays. What reads one of them to update the other goes before.
TWO_UPDATES = """ENTRY main {
  c = f32[16,40] parameter(0)
  d = f32[8,40] parameter(1)
  u = f32[1,40] parameter(2)
  i = s32[] parameter(3)
  z = s32[] constant(0)
  e = f32[1,40] exponential(u)
  n = f32[1,40] negate(u)
  p = f32[16,40] dynamic-update-slice(c, e, i, z)
  q = f32[8,40] dynamic-update-slice(d, n, i, z)
  ROOT r = (f32[16,40], f32[8,40]) tuple(p, q) }"""
UPDATES_BY_EACH_OTHER = TWO_UPDATES.replace("negate(u)", "dynamic-slice(c, i, z), dynamic_slice_sizes={1,40}")
UPDATES_OF_ONE_ARRAY = TWO_UPDATES.replace("(d, n", "(c, n").replace("f32[8,40]", "f32[16,40]")

PLANS = {
    "gathers at indices of two arrays": (GATHERS, ["g h n v w y"]),
    "two updates": (TWO_UPDATES, ["e n p q tuple"]),
    "an update by the array that another updates": (UPDATES_BY_EACH_OTHER, ["n", "e p q tuple"]),
    "updates of one array": (UPDATES_OF_ONE_ARRAY, ["e p", "n q"]),
    "a result beside another": (ACTIVATION, ["a t tuple"]),
    "a result read at another index": (TRANSPOSED_RESULT, ["a", "b t"]),
    "a result whose reader is read": (AROUND_ANOTHER, ["a", "l s", "b m t"]),
    "readers of one array": (SIBLINGS, ["a b tuple"]),
    "readers of one array at two indices": (BACKWARDS, ["a b tuple v w"]),
    "a result beside a sum": (BESIDE_SUM, ["e", "p t"]),
    "results of a sum": (AFTER_SUM, ["e p t tuple"]),
    "a result beside an update": (BESIDE_UPDATE, ["d", "n"]),
    "windows of normalized rows": (NORMALIZED_WINDOWS, ["b s t", "c m y"]),
    "log of sum": (LOG_OF_ROW_SUM, ["b e l t y"]),
    "logs of all rows' sums": (LOG_OF_ALL_ROWS, ["e l t", "b y"]),
    "far apart": (FAR_APART, ["b c d n q r s t u v w y"]),
    "scatter": (SCATTER, ["e s", "n y"]),
    "scatter into zeros": (SCATTER_INTO_ZEROS, ["p", "e s", "p y"]),
    "scatter into zeros that are read besides": (READ_BESIDES, ["p", "e p s"]),
    "cheap and outside of loops": (BIAS, ["b c y"]),
    "read again by a loop": (PRODUCT.replace("40", "4"), ["e", "d"]),
    "computed while a product copies its operand": (PRODUCT, ["d e"]),
}


def programs() -> dict[str, str]:
    """The programs of examples and goldens, and all that stand as text in tests."""
    result = {f.name: f.read_text() for f in FILES}
    for file in sorted(TESTS.rglob("test_*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            text = node.value if isinstance(node, ast.Constant) else None
            if isinstance(text, str) and "ROOT" in text and "{" in text:
                result[f"{file.name}:{node.lineno}"] = text
    return result


def modules() -> dict[str, Module]:
    parsed = {}
    for name, text in programs().items():
        try:
            parsed[name] = ix.hlo.parse(text)
        except (ix.ParseError, ix.UnsupportedOp, ix.InvalidMap):
            assert not name.endswith(".hlo"), name  # pieces of programs, and bad ones
    return parsed


def test_equal_fusions_have_one_kernel() -> None:
    """Whatever their names; not those that differ in a constant, an operand's layout or the order of operands."""
    body = "f{k} {{ x{k} = f32[8,8]{of} parameter(0) c{k} = f32[] constant({c}) b{k} = f32[8,8] broadcast(c{k}), dimensions={{}}\n"
    body += "ROOT r{k} = f32[8,8] {op}(x{k}, b{k}) }}\n"
    kinds = [("", 1, "add"), ("", 1, "add"), ("", 2, "add"), ("{0,1}", 1, "add"), ("", 1, "multiply"), ("", 2, "add")]
    text = "".join(body.format(k=k, of=of, c=c, op=op) for k, (of, c, op) in enumerate(kinds))
    text += "ENTRY e { p = f32[8,8] parameter(0) q = f32[8,8]{0,1} copy(p)\n"
    for k, (of, _, _) in enumerate(kinds):
        text += f'y{k} = f32[8,8] fusion({"q" if of else "p"}), kind=kLoop, calls=f{k}, metadata={{op_name="{k}"}}\n'
    text += f"ROOT t = ({', '.join(['f32[8,8]'] * 6)}) tuple({', '.join(f'y{k}' for k in range(6))}) }}"
    module = ix.hlo.parse(text)
    (planned,) = plan_program(module.entry, portable_device("c")).values()
    bodies = {n.instruction.name: p.computation.name for n, p in planned.kernels.items() if n.instruction.is_fusion}
    assert bodies == {"y0": "f0", "y1": "f0", "y2": "f2", "y3": "f3", "y4": "f4", "y5": "f2"}


def names_what_it_is_about(error: ix.IndexingError, computation: Computation) -> bool:
    inside = {computation, *(c for i in computation.instructions.values() for c in i.called)}
    names = {c.name for c in inside} | {n for c in inside for n in c.instructions}
    return any(name in str(error) for name in names)


def test_every_computation_is_partitioned_and_emitted_or_refused_by_name() -> None:
    actual = modules()
    assert len(actual) > 60
    emitted = 0
    for name, module in actual.items():
        computations = list(module.computations.values())
        fusions = [i for c in computations for i in c.instructions.values() if i.opcode == "fusion"]
        for computation in computations:
            try:
                assert ix.partition(computation).holds(computation.root)
            except ix.UnsupportedOp as error:
                assert names_what_it_is_about(error, computation), f"{name}: {error}"
        for target in (*computations, *fusions):
            body = target if isinstance(target, Computation) else target.called[0]
            try:
                emitted += bool(ix.emit(target).source)
            except (ix.UnsupportedOp, ix.CompileError) as error:
                assert names_what_it_is_about(error, body), f"{name}: {error}"
    assert emitted > 100


def test_no_planned_kernel_repeats_work_for_longer_than_memory_would_take() -> None:
    """But for fusions of the program that are predicted to be faster than their parts."""
    device, seen = portable_device("cuda"), 0
    for name, module in modules().items():
        try:
            kernels = planned_kernels(module, device)
        except ix.UnsupportedOp:
            continue
        given = {
            c for of in module.computations.values() for i in of.instructions.values() if i.is_fusion for c in i.called
        }
        for planned in kernels:
            if planned.computation in given:
                continue
            order = planned.computation.post_order()
            moved = sum(2 * s.element_count * s.dtype.itemsize for i in order for s in i.shape.leaves)
            repeated = planned.kernel.work - sum(map(work_once, order))
            most = device.launch_seconds + moved / device.reached_bandwidth
            assert repeated / device.rates.operations <= most, f"{name}: {planned.kernel.name}"
            seen += 1
    assert seen > 100


def test_the_index_of_a_row_is_computed_where_the_row_is_gathered() -> None:
    text = """ENTRY rows {
      table = f32[500,64] parameter(0)
      index = s32[40] parameter(1)
      zero = s32[] constant(0)
      zeros = s32[40] broadcast(zero), dimensions={}
      below = pred[40] compare(index, zeros), direction=LT
      size = s32[] constant(500)
      sizes = s32[40] broadcast(size), dimensions={}
      above = s32[40] add(index, sizes)
      wrapped = s32[40] select(below, above, index)
      column = s32[40,1] reshape(wrapped)
      ROOT g = f32[40,64] gather(table, column), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,64}
    }"""
    executable = compiled(text)
    assert len(executable.kernels) == 1
    table = np.random.default_rng(0).standard_normal((500, 64)).astype(np.float32)
    for index in (np.arange(-20, 20), np.arange(460, 500)):
        np.testing.assert_array_equal(executable(table, index.astype(np.int32)), table[index])


def test_an_array_that_is_updated_is_read_by_another_kernel_before() -> None:
    """x.at[i].add(-x[i]) takes a gather, and a scatter in place; in one kernel, each element would look at all updates."""
    text = """fold { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
    ENTRY e {
      x = f32[3000] parameter(0)
      i = s32[200,1] parameter(1)
      g = f32[200] gather(x, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}
      n = f32[200] negate(g)
      ROOT s = f32[3000] scatter(x, i, n), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=fold
    }"""
    planned = planned_kernels(ix.hlo.parse(text))
    assert {p.kernel.emitter for p in planned} == {"loop", "scatter"}
    for p in planned:
        assert p.kernel.work <= MAX_REPETITION * sum(map(work_once, p.computation.post_order()))
    x = np.random.default_rng(0).standard_normal(3000).astype(np.float32)
    i = np.arange(-100, 100, dtype=np.int32)[:, None]  # what lies outside is read at 0 and updates nothing
    want = x.copy()
    want[:100] -= x[:100]
    np.testing.assert_array_equal(compiled(text)(x, i), want)


@pytest.mark.parametrize("rows", [1, 3])
def test_a_hero_whose_epilogue_reads_it_back_through_a_reshape_counts_once(rows: int) -> None:
    """Where a dimension has one element, 0 is its own index: 64 elements a row, their negatives, and a sum."""
    text = f"""ENTRY e {{ a = f32[{rows},1,32] parameter(0) b = f32[{rows},64] parameter(1)
      c = f32[{rows},2,32] concatenate(a, a), dimensions={{1}} r = f32[{rows},64] reshape(c)
      n = f32[{rows},64] negate(r) ROOT s = f32[{rows},64] add(n, b) }}"""
    (planned,) = planned_kernels(ix.hlo.parse(text))
    assert planned.kernel.emitter == "concatenate"
    assert planned.kernel.work == 3 * 64 * rows


def test_a_product_is_computed_before_the_update_of_a_large_array() -> None:
    """Of the array that is updated in place, a kernel moves the update alone: another launch costs less than loops."""
    text = """ENTRY e {
      s = f32[512,64,512] parameter(0)
      h = f32[64,512] parameter(1)
      w = f32[512,512] parameter(2)
      i = s32[] parameter(3)
      z = s32[] constant(0)
      d = f32[64,512] dot(h, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
      t = f32[64,512] tanh(d)
      u = f32[1,64,512] reshape(t)
      ROOT r = f32[512,64,512] dynamic-update-slice(s, u, i, z, z) }"""
    planned = planned_kernels(ix.hlo.parse(text), find_device("h100"))
    assert [p.kernel.emitter for p in planned] == ["dot-simt", "dynamic-update-slice"]


@pytest.mark.parametrize(("text", "wanted"), PLANS.values(), ids=PLANS.keys())
def test_plans(text: str, wanted: list[str]) -> None:
    actual = []
    for planned in planned_kernels(ix.hlo.parse(text)):
        names = (i.name for i in planned.computation.instructions.values() if i.opcode not in ("parameter", "constant"))
        actual.append(" ".join(sorted(names)))
    assert actual == wanted


@pytest.mark.parametrize("name", PLANS)
def test_planned_programs_are_right(name: str) -> None:
    text, _ = PLANS[name]
    rng = np.random.default_rng(0)
    shapes = [p.shape for p in ix.hlo.parse(text).entry.parameters]
    arrays = [rng.uniform(0.5, 8, s.dimensions).astype(s.dtype) for s in shapes]
    actual, want = compiled(text)(*arrays), ix.evaluate(text, *arrays)
    pairs = zip(actual, want, strict=True) if isinstance(want, tuple) else [(actual, want)]
    for a, b in pairs:
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_a_program_is_no_single_kernel() -> None:
    module = ix.hlo.parse(LOG_OF_ALL_ROWS)
    with pytest.raises(ix.UnsupportedOp, match=r"compute \w+ repeatedly.*emit_all\(module\)"):
        ix.emit(module)
    assert [k.emitter for k in ix.emit_all(module)] == ["reduction", "loop"]
    assert {k.dialect for k in ix.emit_all(module, dialect="opencl")} == {"opencl"}


@pytest.mark.parametrize(("length", "kernels"), [(40, 1), (4_000, 2)])
def test_a_fusion_is_one_kernel_whatever_it_repeats_but_programs_take_it_apart(length: int, kernels: int) -> None:
    """Where a launch takes less time than the repeated work."""
    body = LOG_OF_ALL_ROWS.replace("ENTRY main", "body")
    text = f"{body}\nENTRY e {{ x = f32[40,40] parameter(0)\n ROOT f = f32[40,40] fusion(x), kind=kLoop, calls=body }}"
    module = ix.hlo.parse(text.replace("40", f"{length}"))
    assert ix.emit(module).emitter == "loop"
    assert ix.emit(module.entry.root).work > length**3
    assert len(ix.emit_all(module)) == kernels


def test_an_entry_with_several_fusions_is_emitted_in_parts() -> None:
    body = "n { a = f32[8] parameter(0)\n ROOT r = f32[8] negate(a) }\nm { a = f32[8] parameter(0)\n ROOT r = f32[8] tanh(a) }"
    text = f"""{body}
      ENTRY e {{ x = f32[8] parameter(0)
        f.1 = f32[8] fusion(x), kind=kLoop, calls=n
        f.2 = f32[8] fusion(f.1), kind=kLoop, calls=m
        unused = f32[8] fusion(x), kind=kLoop, calls=m
        ROOT f.3 = f32[8] fusion(f.2), kind=kLoop, calls=n }}"""
    with pytest.raises(ix.UnsupportedOp, match=r"fusions of its own \(f.1, f.2, .*emit_all"):
        ix.emit(ix.hlo.parse(text))
    assert [k.name for k in ix.emit_all(ix.hlo.parse(text))] == ["loop_negate", "loop_tanh"]


def test_the_work_of_a_scatter_is_its_result_and_its_updates() -> None:
    assembled, negated = ix.emit_all(ix.hlo.parse(SCATTER))
    assert assembled.work == 64 + 8 + 8, "the result, the updates, and what these are computed by"
    assert negated.work == 64 + 64


def test_an_unknown_dialect_is_named() -> None:
    with pytest.raises(ix.CompileError, match="no dialect 'ptx'"):
        ix.emit_all(ix.hlo.parse("ENTRY e { ROOT p = f32[2] parameter(0) }"), dialect="ptx")


# Sorted rows with their indices, so many and so long that the host sorts them on a CPU: what reads the index, and the number of kernels.
SORTED = {
    "an iota": ("i = s32[300,77] iota(), iota_dimension=1", "slice(k), slice={[0:300],[0:5]}", 1),
    "moved and converted": (
        "j = s32[77] iota(), iota_dimension=0 i = s32[300,77] broadcast(j), dimensions={1}",
        "slice(k), slice={[0:300],[0:5]}",
        1,
    ),
    "a constant": (
        "z = s32[] constant(3) i = s32[300,77] broadcast(z), dimensions={}",
        "slice(k), slice={[0:300],[0:5]}",
        1,
    ),
    "read by a kernel too": ("i = s32[300,77] iota(), iota_dimension=1", "subtract(k, i)", 1),
    "a result too": ("i = s32[300,77] iota(), iota_dimension=1", "slice(k), slice={[0:300],[0:5]}", 2),
}


@pytest.mark.parametrize("device", ["cpu", PlainDevice()], ids=["cpu", "plain"])
@pytest.mark.parametrize("name", SORTED)
def test_a_step_of_the_host_computes_indices_and_constants_that_it_reads(name: str, device: str | PlainDevice) -> None:
    """As XLA's fusions of a sort do: no kernel writes them."""
    index, reader, kernels = SORTED[name]
    shape = "s32[300,77]" if "subtract" in reader else "s32[300,5]"
    results = ("f32[300,77]", "s", shape, "y") if name != "a result too" else ("s32[300,77]", "i", shape, "y")
    text = f"""less {{ a = f32[] parameter(0) b = f32[] parameter(1) c = s32[] parameter(2) d = s32[] parameter(3)
      ROOT r = pred[] compare(a, b), direction=LT }}
    ENTRY e {{ x = f32[300,77] parameter(0) {index}
      t = (f32[300,77], s32[300,77]) sort(x, i), dimensions={{1}}, is_stable=true, to_apply=less
      s = f32[300,77] get-tuple-element(t), index=0 k = s32[300,77] get-tuple-element(t), index=1
      y = {shape} {reader} ROOT r = ({results[0]}, {shape}) tuple({results[1]}, y) }}"""
    run = compiled(text, device)
    assert len(run.kernels) == kernels
    x = np.random.default_rng(5).permutation(300 * 77).reshape(300, 77).astype(np.float32)
    for got, want in zip(run(x), ix.evaluate(text, x), strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    "results",
    ["ROOT t = (u32[1,64], u32[1,64]) tuple(a30, b30)", "ROOT t = u32[2,64] concatenate(a30, b30), dimensions={0}"],
)
def test_a_chain_is_not_computed_once_for_each_path(results: str) -> None:
    """Each step reads the one before twice, as random bits do: through functions, calls would double with each."""
    rounds = "\n".join(
        f"a{k + 1} = u32[1,64] add(a{k}, b{k})\n b{k + 1} = u32[1,64] xor(a{k + 1}, b{k})" for k in range(30)
    )
    text = f"ENTRY main {{\n a0 = u32[1,64] parameter(0)\n b0 = u32[1,64] parameter(1)\n {rounds}\n {results} }}"
    module = ix.hlo.parse(text)
    once = sum(map(work_once, module.entry.post_order()))
    assert sum(k.work for k in ix.emit_all(module, dialect="c")) <= 40 * once
    arrays = [np.arange(64, dtype=np.uint32)[None] * k for k in (2654435761, 40503)]
    a, b = arrays
    for _ in range(30):
        a = a + b
        b = a ^ b
    actual = compiled(text, device="cpu")(*arrays)
    wanted = np.concatenate([a, b])
    np.testing.assert_array_equal(np.concatenate([*map(np.asarray, actual)]).reshape(2, 64), wanted)
