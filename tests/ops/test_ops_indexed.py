"""dynamic-slice, dynamic-update-slice, gather, scatter: attributes drawn over their legal space, indices in and out of
bounds; formulas by perturbation, references against loops over the definition."""

import numpy as np
import pytest

import indexing as ix
from indexing.ops.registry import REGISTRY
from reached import check, exact_maps, named, program, reached, root_of, run

ADD = "add {\n  a = f64[] parameter(0)\n  b = f64[] parameter(1)\n  ROOT s = f64[] add(a, b)\n}\n"
PUT = "put {\n  a = f64[] parameter(0)\n  ROOT b = f64[] parameter(1)\n}\n"
# not a function numpy folds by itself, and the old value counts
MIX = """mix {
  a = f64[] parameter(0)
  b = f64[] parameter(1)
  h = f64[] constant(0.5)
  m = f64[] multiply(a, h)
  ROOT s = f64[] add(m, b)
}
"""
PAIR = """pair {
  a = f64[] parameter(0)
  i = s64[] parameter(1)
  b = f64[] parameter(2)
  j = s64[] parameter(3)
  s = f64[] add(a, b)
  t = s64[] subtract(i, j)
  ROOT r = (f64[], s64[]) tuple(s, t)
}
"""
CROSSED = """crossed {
  a = f64[] parameter(0)
  i = f64[] parameter(1)
  b = f64[] parameter(2)
  j = f64[] parameter(3)
  s = f64[] add(a, j)
  t = f64[] add(i, b)
  ROOT r = (f64[], f64[]) tuple(s, t)
}
"""


def dims(values):
    return "[" + ",".join(map(str, values)) + "]"


def braces(values):
    return "{" + ",".join(map(str, values)) + "}"


def tags(shape):
    return np.arange(1.0, 1 + np.prod(shape, dtype=int)).reshape(shape)


def clamp(value, size, slice_size):
    return max(0, min(int(value), size - slice_size))


@pytest.mark.parametrize("seed", range(10))
def test_dynamic_slice(seed):
    rng = np.random.default_rng(seed)
    shape = [int(n) for n in rng.integers(0 if seed == 4 else 1, 5, rng.integers(0, 4))]
    sizes = [int(rng.integers(0, n + 1)) if seed % 3 == 0 else int(rng.integers(min(n, 1), n + 1)) for n in shape]
    starts = [np.array(v, np.int32) for v in rng.integers(-3, 7, len(shape))]
    names = "".join(f", p{k + 1}" for k in range(len(shape)))
    text = program(
        f"f64{dims(sizes)} dynamic-slice(p0{names}), dynamic_slice_sizes={braces(sizes)}",
        f"f64{dims(shape)}",
        *["s32[]"] * len(shape),
    )
    values = [tags(shape), *starts]
    (out,) = run(root_of(text), values)
    at = [clamp(v, n, m) for v, n, m in zip(starts, shape, sizes, strict=True)]
    np.testing.assert_array_equal(out, values[0][tuple(slice(a, a + m) for a, m in zip(at, sizes, strict=True))])
    check(text, values, operands=[0])
    check(text, values, operands=range(1, len(values)), only_bounds=range(1, len(values)))


def test_dynamic_slice_by_one_vector_of_unsigned_starts():
    text = program("f64[2,1] dynamic-slice(p0, p1), dynamic_slice_sizes={2,1}", "f64[5,3]", "u64[2]")
    values = [tags((5, 3)), np.array([2**63 + 9, 1], np.uint64)]
    (out,) = run(root_of(text), values)
    np.testing.assert_array_equal(out, values[0][3:, 1:2])


@pytest.mark.parametrize("seed", range(12))
def test_dynamic_update_slice(seed):
    rng = np.random.default_rng(seed)
    shape = [int(n) for n in rng.integers(1, 5, rng.integers(0, 4))]
    sizes = [int(rng.integers(0 if seed == 5 else 1, n + 1)) for n in shape]
    starts = [np.array(v, np.int32) for v in rng.integers(-3, 7, len(shape))]
    names = "".join(f", p{k + 2}" for k in range(len(shape)))
    text = program(
        f"f64{dims(shape)} dynamic-update-slice(p0, p1{names})",
        f"f64{dims(shape)}",
        f"f64{dims(sizes)}",
        *["s32[]"] * len(shape),
    )
    values = [tags(shape), -tags(sizes), *starts]
    (out,) = run(root_of(text), values)
    want = values[0].copy()
    at = [clamp(v, n, m) for v, n, m in zip(starts, shape, sizes, strict=True)]
    want[tuple(slice(a, a + m) for a, m in zip(at, sizes, strict=True))] = values[1]
    np.testing.assert_array_equal(out, want)
    check(text, values, operands=[0, 1], change=lambda v: v + 100)
    check(text, values, operands=range(2, len(values)), only_bounds=range(2, len(values)))


def test_dynamic_update_slice_pieces_partition_what_update_leaves():
    text = program("f64[6,4] dynamic-update-slice(p0, p1, p2, p3)", "f64[6,4]", "f64[2,3]", "s32[]", "s32[]")
    root = root_of(text)
    (kept,), (written,), *_ = REGISTRY[root.opcode].output_to_input(root, 0)
    values = {root.operands[2]: np.array(3), root.operands[3]: np.array(-1)}
    outside = {a for a, _ in named(exact_maps([kept]), values)}
    inside = {a for a, _ in named([written], values)}
    assert inside == {(i, j) for i in (3, 4) for j in range(3)}
    assert outside == {(i, j) for i in range(6) for j in range(4)} - inside
    assert len(kept.pieces) == 4


def random_indexing(rng, batching=True):
    """Dimension numbers that gather and scatter share: operand sizes, windows, index array, its vector dimension."""
    rank = int(rng.integers(1, 4))
    operand = [int(n) for n in rng.integers(1, 5, rank)]
    batch = [int(n) for n in rng.integers(1, 4, rng.integers(0, 3))]
    order = [int(k) for k in rng.permutation(rank)]
    tied = int(rng.integers(0, min(rank, len(batch)) + 1)) if batching and rng.random() < 0.5 else 0
    operand_batch, rest = sorted(order[:tied]), order[tied:]
    own_batch = [int(k) for k in rng.permutation(len(batch))[:tied]]
    for a, b in zip(operand_batch, own_batch, strict=True):
        operand[a] = batch[b]
    collapsed = sorted(rest[: rng.integers(0, len(rest) + 1)])
    window = [1 if k in collapsed or k in operand_batch else int(rng.integers(1, operand[k] + 1)) for k in range(rank)]
    started = [int(k) for k in rng.permutation(rest)[: rng.integers(0, len(rest) + 1)]]
    vector_dim = int(rng.integers(0, len(batch) + 1))
    index_shape = [*batch[:vector_dim], len(started), *batch[vector_dim:]]
    if len(started) == 1 and rng.random() < 0.5:
        vector_dim, index_shape = len(batch), batch
    own = [k + (k >= vector_dim) if len(index_shape) > len(batch) else k for k in own_batch]
    return operand, window, batch, index_shape, vector_dim, started, collapsed, operand_batch, own, own_batch


def vectors(index, index_shape, batch, vector_dim):
    whole = index[..., None] if len(index_shape) == len(batch) else np.moveaxis(index, vector_dim, -1)
    return {b: whole[b] for b in np.ndindex(*batch)}


@pytest.mark.parametrize("seed", range(30))
def test_gather(seed):
    rng = np.random.default_rng(seed)
    operand, window, batch, index_shape, vector_dim, started, collapsed, tied, own, own_batch = random_indexing(rng)
    windowed = [k for k in range(len(operand)) if k not in collapsed and k not in tied]
    rank = len(batch) + len(windowed)
    offset = sorted(int(k) for k in rng.permutation(rank)[: len(windowed)])
    others = [k for k in range(rank) if k not in offset]
    size = dict(zip(offset, (window[k] for k in windowed), strict=True)) | dict(zip(others, batch, strict=True))
    out_shape = [size[k] for k in range(rank)]
    text = program(
        f"f64{dims(out_shape)} gather(p0, p1), offset_dims={braces(offset)}, collapsed_slice_dims={braces(collapsed)}, "
        f"start_index_map={braces(started)}, operand_batching_dims={braces(tied)}, "
        f"start_indices_batching_dims={braces(own)}, index_vector_dim={vector_dim}, slice_sizes={braces(window)}",
        f"f64{dims(operand)}",
        f"s32{dims(index_shape)}",
    )
    values = [tags(operand), rng.integers(-2, 6, index_shape).astype(np.int32)]
    (out,) = run(root_of(text), values)
    read = vectors(values[1], index_shape, batch, vector_dim)
    want = np.zeros(out_shape)
    for at in np.ndindex(*out_shape):
        b, o = tuple(at[k] for k in others), [at[k] for k in offset]
        place = [0] * len(operand)
        for c, k in enumerate(started):
            place[k] = clamp(read[b][c], operand[k], window[k])
        for k, x in zip(windowed, o, strict=True):
            place[k] += x
        for k, x in zip(tied, own_batch, strict=True):
            place[k] = b[x]
        want[at] = values[0][tuple(place)]
    np.testing.assert_array_equal(out, want)
    check(text, values, operands=[0])
    check(text, values, operands=[1], only_bounds=[1])


@pytest.mark.parametrize("seed", range(30))
def test_scatter(seed):
    rng = np.random.default_rng(seed)
    operand, window, batch, index_shape, vector_dim, started, inserted, tied, own, own_batch = random_indexing(rng)
    windowed = [k for k in range(len(operand)) if k not in inserted and k not in tied]
    rank = len(batch) + len(windowed)
    update_dims = sorted(int(k) for k in rng.permutation(rank)[: len(windowed)])
    others = [k for k in range(rank) if k not in update_dims]
    size = dict(zip(update_dims, (window[k] for k in windowed), strict=True)) | dict(zip(others, batch, strict=True))
    update_shape = [size[k] for k in range(rank)]
    combine, function = [("add", ADD), ("mix", MIX), ("put", PUT)][seed % 3]
    text = program(
        f"f64{dims(operand)} scatter(p0, p1, p2), update_window_dims={braces(update_dims)}, "
        f"inserted_window_dims={braces(inserted)}, scatter_dims_to_operand_dims={braces(started)}, "
        f"input_batching_dims={braces(tied)}, scatter_indices_batching_dims={braces(own)}, "
        f"index_vector_dim={vector_dim}, to_apply={combine}",
        f"f64{dims(operand)}",
        f"s32{dims(index_shape)}",
        f"f64{dims(update_shape)}",
        computations=function,
    )
    values = [tags(operand), rng.integers(-2, 6, index_shape).astype(np.int32), tags(update_shape) / 8]
    (out,) = run(root_of(text), values)
    read = vectors(values[1], index_shape, batch, vector_dim)
    want = values[0].copy()
    for at in np.ndindex(*update_shape):
        b, w = tuple(at[k] for k in others), [at[k] for k in update_dims]
        place = [0] * len(operand)
        for c, k in enumerate(started):
            place[k] = int(read[b][c])
        if any(not 0 <= x <= operand[k] - window[k] for k, x in enumerate(place)):
            continue
        for k, x in zip(windowed, w, strict=True):
            place[k] += x
        for k, x in zip(tied, own_batch, strict=True):
            place[k] = b[x]
        old, new = want[tuple(place)], values[2][at]
        want[tuple(place)] = {"add": old + new, "mix": old * 0.5 + new, "put": new}[combine]
    np.testing.assert_allclose(out, want)
    check(text, values, operands=[0, 2], only_bounds=() if combine != "put" else [0, 2], change=lambda v: v + 100)
    check(text, values, operands=[1], only_bounds=[1])


def test_variadic_scatter_names_only_the_operands_that_a_result_uses():
    text = program(
        "(f64[6], s64[6]) scatter(p0, p1, p2, p3, p4), update_window_dims={}, inserted_window_dims={0}, "
        "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=pair",
        "f64[6]",
        "s64[6]",
        "s32[4,1]",
        "f64[4]",
        "s64[4]",
        computations=PAIR,
    )
    values = [tags([6]), np.arange(6), np.array([[1], [9], [1], [5]], np.int32), tags([4]), np.arange(4)]
    first, second = run(root_of(text), values)
    np.testing.assert_array_equal(first, values[0] + [0, 1 + 3, 0, 0, 0, 4])
    np.testing.assert_array_equal(second, values[1] - [0, 0 + 2, 0, 0, 0, 3])
    root = root_of(text)
    assert REGISTRY["scatter"].output_to_input(root, 0)[4] == []
    check(text, values, operands=[0, 1, 3, 4])


def test_a_variadic_scatter_has_maps_where_an_element_reaches_a_result_and_nowhere_else():
    text = program(
        "(f64[3], f64[3]) scatter(p0, p1, p2, p3, p4), update_window_dims={}, inserted_window_dims={0}, "
        "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=crossed",
        *["f64[3]", "f64[3]", "s32[2,1]", "f64[2]", "f64[2]"],
        computations=CROSSED,
    )
    values = [tags([3]), tags([3]) * 10, np.array([[1], [2]], np.int32), tags([2]) * 100, tags([2]) * 1000]
    root = check(text, values, operands=[0, 1, 3, 4])
    for k in range(5):
        shows = [bool(pairs) for pairs in reached(root, values, k, 0, [lambda v: v + 1])]
        assert [bool(ix.output_to_input(root, output)[k]) for output in range(2)] == shows
        assert [bool(maps) for maps in ix.input_to_output(root, k)] == shows


def test_scatter_drops_a_window_that_fits_only_in_part():
    text = program(
        "f64[4] scatter(p0, p1, p2), update_window_dims={1}, inserted_window_dims={}, "
        "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
        "f64[4]",
        "s32[3,1]",
        "f64[3,2]",
        computations=ADD,
    )
    values = [np.zeros(4), np.array([[3], [-1], [2]], np.int32), np.ones((3, 2))]
    (out,) = run(root_of(text), values)
    np.testing.assert_array_equal(out, [0, 0, 1, 1])
    check(text, values, operands=[2])


def test_gather_clamps_each_kind_of_index():
    text = program(
        "f64[3] gather(p0, p1), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, "
        "index_vector_dim=1, slice_sizes={1}",
        "f64[4]",
        "u8[3]",
    )
    (out,) = run(root_of(text), [np.arange(4.0), np.array([0, 255, 3], np.uint8)])
    np.testing.assert_array_equal(out, [0, 3, 3])


def maps_of(text, name, output=0):
    indexings = ix.output_to_input(ix.hlo.parse(text).entry.instructions[name], output)
    return [[str(m.map) for m in maps] for maps in indexings]


def test_constant_starts_fold_and_are_not_shared_between_like_instructions():
    text = """HloModule m
ENTRY e {
  p = f32[10] parameter(0)
  a = s32[] constant(3)
  b = s32[] constant(5)
  c = s32[] constant(99)
  first = f32[4] dynamic-slice(p, a), dynamic_slice_sizes={4}
  second = f32[4] dynamic-slice(p, b), dynamic_slice_sizes={4}
  ROOT third = f32[4] dynamic-slice(p, c), dynamic_slice_sizes={4}
}
"""
    module = ix.hlo.parse(text)
    actual = [ix.output_to_input(module.entry.instructions[n])[0][0] for n in ("first", "second", "third")]
    assert [str(m.map) for m in actual] == [
        "(d0) -> (d0 + 3), domain: d0 in [0, 3]",
        "(d0) -> (d0 + 5), domain: d0 in [0, 3]",
        "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 6]",
    ]
    assert [v.instruction.name for v in actual[2].runtime_values] == ["c"]


def test_iota_indices_fold_with_gathers_clamp_and_scatters_drop():
    text = program(
        "f64[5] gather(p0, n), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, "
        "index_vector_dim=1, slice_sizes={1}",
        "f64[3]",
    ).replace("  ROOT", "  n = s32[5,1] iota(), iota_dimension=0\n  ROOT")
    assert maps_of(text, "r")[0] == ["(d0) -> (min(d0, 2)), domain: d0 in [0, 4]"]
    text = program(
        "f64[3] scatter(p0, n, p1), update_window_dims={}, inserted_window_dims={0}, "
        "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
        "f64[3]",
        "f64[5]",
        computations=ADD,
    ).replace("  ROOT r", "  n = s32[5,1] iota(), iota_dimension=0\n  ROOT r")
    root = root_of(text)
    (update,) = ix.output_to_input(root)[2]
    assert not update.runtime_values
    assert named([update], {}) == {((k,), (k,)) for k in range(3)}
    ((back,),) = ix.input_to_output(root, 2)
    assert named([back], {}) == {((k,), (k,)) for k in range(3)}


def test_dynamic_update_slice_at_a_constant_leaves_known_pieces():
    text = program("f64[6] dynamic-update-slice(p0, p1, c)", "f64[6]", "f64[2]").replace(
        "  ROOT", "  c = s32[] constant(0)\n  ROOT"
    )
    (kept,), (written,), _ = ix.output_to_input(root_of(text))
    assert [str(m.map) for m in kept.pieces] == ["(d0) -> (d0), domain: d0 in [2, 5]"]
    assert str(written.map) == "(d0) -> (d0), domain: d0 in [0, 1]"


@pytest.mark.parametrize(
    ("root", "shapes"),
    [
        (
            "f64[0,2] gather(p0, p1), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
            "index_vector_dim=1, slice_sizes={1,2}",
            ((3, 2), (0,)),
        ),
        (
            "f64[3,0] gather(p0, p1), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
            "index_vector_dim=1, slice_sizes={1,0}",
            ((4, 2), (3,)),
        ),
        (
            "f64[3,2] scatter(p0, p1, p2), update_window_dims={1}, inserted_window_dims={0}, "
            "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
            ((3, 2), (0,), (0, 2)),
        ),
        (
            "f64[0,2] scatter(p0, p1, p2), update_window_dims={1}, inserted_window_dims={0}, "
            "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
            ((0, 2), (2,), (2, 2)),
        ),
        ("f64[0,2] dynamic-slice(p0, p1, p2), dynamic_slice_sizes={0,2}", ((3, 2), (), ())),
        ("f64[3,2] dynamic-update-slice(p0, p1, p2, p3)", ((3, 2), (0, 2), (), ())),
        ("f64[0] dynamic-update-slice(p0, p1, p2)", ((0,), (0,), ())),
    ],
)
def test_arrays_without_elements(root, shapes):
    kinds = [
        "f64" if k == 0 or (k == 1 and "update-slice" in root) or (k == 2 and "scatter" in root) else "s32"
        for k in range(len(shapes))
    ]
    text = program(root, *(f"{k}{dims(s)}" for k, s in zip(kinds, shapes, strict=True)), computations=ADD)
    values = [np.zeros(s, np.float64 if k == "f64" else np.int32) for k, s in zip(kinds, shapes, strict=True)]
    (out,) = run(root_of(text), values)
    np.testing.assert_array_equal(out, np.zeros(out.shape))
    check(text, values, operands=[k for k, kind in enumerate(kinds) if kind == "f64"])


@pytest.mark.parametrize(("root", "exactness"), [("add(a, b)", "exact"), ("negate(b)", "over-approximate")])
def test_a_scatter_reads_what_it_updates_where_its_computation_does(root: str, exactness: str) -> None:
    """Where the computation makes no use of the old element, those that are replaced are not read."""
    text = f"""f {{ a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] {root} }}
    ENTRY e {{ p = f32[8] parameter(0)\n i = s32[3,1] parameter(1)\n u = f32[3] parameter(2)
      ROOT s = f32[8] scatter(p, i, u), update_window_dims={{}}, inserted_window_dims={{0}},
        scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=f }}"""
    (old,) = ix.output_to_input(root_of(text))[0]
    assert (old.exactness, old.map) == (exactness, ix.IndexingMap.identity([8]))


def test_starts_in_one_vector_are_read_one_a_dimension() -> None:
    text = """ENTRY e { p = f32[4,6] parameter(0)
      s = s32[2] parameter(1)
      ROOT r = f32[2,3] dynamic-slice(p, s), dynamic_slice_sizes={2,3} }"""
    (indexing,) = ix.output_to_input(root_of(text))[0]
    assert [v.map.evaluate([0, 0], [0, 0][: len(v.map.runtimes)]) for v in indexing.runtime_values] == [(0,), (1,)]
    data, starts = np.arange(24, dtype=np.float32).reshape(4, 6), np.array([1, 2], np.int32)
    result = ix.evaluate(text, data, starts)
    assert result.tolist() == [[data[i + 1, j + 2].item() for j in range(3)] for i in range(2)]
    assert indexing.map.evaluate([1, 1], [1, 2]) == (2, 3)
