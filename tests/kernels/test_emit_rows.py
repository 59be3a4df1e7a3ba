"""The rows emitter: chains of reductions over one row space, on the processor and as proved kernels."""

import numpy as np
import pytest

import indexing as ix
from indexing.device.table import CPU, portable_device
from indexing.kernels.emitters.rows.match import row_space
from indexing.kernels.emitters.rows.plan import plan_rows
from indexing.kernels.kernel import Kernel
from kernels import assert_written_once, check, prove, vector_moves, visits
from row_programs import REDUCERS, layernorm, softmax


def rms_norm(sizes: tuple[int, ...], dims: tuple[int, ...]) -> str:
    """Over any dimensions; the sum of squares comes back through a reshape."""
    kept = [d for d in range(len(sizes)) if d not in dims]
    of = f"f32[{','.join(map(str, sizes))}]"
    row = f"f32[{','.join(str(sizes[d]) for d in kept)}]"
    ones = f"f32[{','.join('1' if d in dims else str(n) for d, n in enumerate(sizes))}]"
    return f"""{REDUCERS}
    ENTRY fused {{
      x = {of} parameter(0)
      z = f32[] constant(1)
      q = {of} multiply(x, x)
      s = {row} reduce(q, z), dimensions={{{",".join(map(str, dims))}}}, to_apply=add
      i = {row} rsqrt(s)
      k = {ones} reshape(i)
      w = {row} reshape(k)
      ib = {of} broadcast(w), dimensions={{{",".join(map(str, kept))}}}
      ROOT o = {of} multiply(x, ib)
    }}"""


LENGTHS = [1, 7, 32, 1000, 4096, 100000]


def run(text: str, tolerance: float = 1e-5) -> Kernel:
    """The kernel with the vectors that a GPU loads, after those with and without them have been run."""
    space = row_space(ix.hlo.parse(text).entry)
    assert space is not None
    width = plan_rows(space, portable_device("cuda")).vector_width
    for own in sorted({1, width}):
        kernel = check(text, "rows", tolerance=tolerance, vector_width=own)
    return kernel


def assert_proved(kernel: Kernel) -> None:
    for target in ("c", "cuda", "opencl"):
        prove(Kernel(kernel.ir, portable_device(target)))


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("rows", [3, 200])
def test_softmax(rows: int, length: int) -> None:
    if rows * length > 1 << 20:
        rows = 2
    kernel = run(softmax(rows, length))
    assert_proved(kernel)
    if length < 100000:
        assert len(kernel.input_maps[0]) == 1
        assert (visits(kernel.thread_to_input(0), (rows, length)) == 1).all()
        assert_written_once(kernel, [ix.hlo.parse(softmax(rows, length)).entry.root.shape])


@pytest.mark.parametrize("length", LENGTHS[:-1])
def test_log_softmax_of_bf16(length: int) -> None:
    assert_proved(run(softmax(40, length, "bf16", is_log=True), tolerance=2e-2))


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("rows", [2, 9])
def test_layernorm_with_outputs_a_row(rows: int, length: int) -> None:
    kernel = run(layernorm(rows, length), tolerance=2e-4)
    assert_proved(kernel)
    if length < 100000:
        assert len(kernel.input_maps[0]) == 1


@pytest.mark.parametrize(
    ("sizes", "dims"),
    [
        *[((6, 100), (1,)), ((6, 100), (0,)), ((4, 9, 70), (1,)), ((4, 9, 70), (0, 2)), ((2, 5, 6, 4, 8), (1, 2, 4))],
        *[((3, 1, 50), (2,)), ((1000,), (0,)), ((300, 3), (0,)), ((70, 33, 2), (0,)), ((2, 300, 40), (1,))],
    ],
)
def test_rms_norm_over_any_dimensions(sizes: tuple[int, ...], dims: tuple[int, ...]) -> None:
    kernel = run(rms_norm(sizes, dims))
    assert_proved(kernel)
    assert len(kernel.input_maps[0]) == 1
    assert (visits(kernel.thread_to_input(0), sizes) == 1).all()


@pytest.mark.parametrize("keep", [0, 1, 2, 3])
@pytest.mark.parametrize("threads", [1, 4, 64])
@pytest.mark.parametrize("vector_width", [1, 4])
def test_knobs(keep: int, threads: int, vector_width: int) -> None:
    text = softmax(5, 300, "bf16")
    if (keep, threads) == (2, 1):  # a thread's registers hold less than a row
        with pytest.raises(ix.IndexingError, match=r"keep is in \{0, 1, 3\} where threads = 1"):
            ix.emit(ix.hlo.parse(text).entry, keep=keep, threads=threads, vector_width=vector_width)
        return
    kernel = check(text, "rows", tolerance=1e-2, keep=keep, threads=threads, vector_width=vector_width)
    assert_proved(kernel)
    assert len(kernel.input_maps[0]) == {0: 3, 3: 2}.get(keep, 1)
    other = ix.emit(ix.hlo.parse(text).entry, keep=keep, threads=threads, vector_width=vector_width)
    assert bool(other.shared_bytes) == (keep == 1 or threads == 64)
    assert ix.runtime.cubin(other)


def test_knobs_out_of_range() -> None:
    for knobs in ({"keep": 4}, {"threads": 3}, {"threads": 512}, {"vector_width": 8}):
        with pytest.raises(ix.IndexingError):
            ix.emit(ix.hlo.parse(softmax(5, 300)).entry, **knobs)


def test_memory_for_what_is_kept() -> None:
    """Registers as long as they suffice, then shared memory, then reading again."""
    loads, shared = [], []
    for length in (1024, 1 << 15, 1 << 17):
        kernel = ix.emit(ix.hlo.parse(softmax(512, length, "bf16")).entry)
        loads.append(len(kernel.input_maps[0]))
        shared.append(kernel.shared_bytes)
    assert loads == [1, 1, 2]
    kernel = ix.emit(ix.hlo.parse(rms_norm((64, 10000), (1,))).entry, threads=64)
    assert len(kernel.input_maps[0]) == 1
    assert kernel.shared_bytes >= 4 * 10000


def test_gradient_of_layernorm_over_shapes_that_differ() -> None:
    """Reductions of three levels, an input of two passes, a factor of each row, and shapes with and without a 1."""
    of, row = "f32[6,1,200]", "f32[6]"
    flat = "f32[6,200]"
    text = f"""{REDUCERS}
    ENTRY fused {{
      g = f32[200] parameter(0)
      dy = {of} parameter(1)
      x = {of} parameter(2)
      scale = {row} parameter(3)
      z = f32[] constant(0)
      n = f32[] constant(0.005)
      nb = {row} broadcast(n), dimensions={{}}
      s = f32[6,1] reduce(x, z), dimensions={{2}}, to_apply=add
      sums = {row} reshape(s)
      mean = {row} multiply(sums, nb)
      mb = {of} broadcast(mean), dimensions={{0}}
      d = {of} subtract(x, mb)
      gb = {of} broadcast(g), dimensions={{2}}
      w = {of} multiply(dy, gb)
      dw = {of} multiply(d, w)
      dwf = {flat} reshape(dw)
      c = {row} reduce(dwf, z), dimensions={{1}}, to_apply=add
      q = {of} multiply(d, d)
      v = f32[6,1] reduce(q, z), dimensions={{2}}, to_apply=add
      v1 = {row} reshape(v)
      one = {row} add(v1, scale)
      i = {row} rsqrt(one)
      ci = {row} multiply(c, i)
      cb = {of} broadcast(ci), dimensions={{0}}
      e = {of} multiply(cb, d)
      f = {of} subtract(w, e)
      fs = f32[6,1] reduce(f, z), dimensions={{2}}, to_apply=add
      fs1 = {row} reshape(fs)
      fm = {row} multiply(fs1, nb)
      fb = {of} broadcast(fm), dimensions={{0}}
      ib = {of} broadcast(i), dimensions={{0}}
      h = {of} subtract(f, fb)
      k = {of} multiply(h, ib)
      ROOT o = (bf16[6,1,200], {flat}) tuple(bf16[6,1,200] convert(k), {flat} reshape(d))
    }}"""
    text = text.replace(
        "ROOT o", "kb = bf16[6,1,200] convert(k)\n      df = f32[6,200] reshape(d)\n      ROOT o"
    ).replace(f"tuple(bf16[6,1,200] convert(k), {flat} reshape(d))", "tuple(kb, df)")
    kernel = run(text, tolerance=2e-2)
    assert_proved(kernel)
    assert [len(m) for m in kernel.input_maps[1:3]] == [1, 1]


def test_argmax_with_its_value_back_in_the_row() -> None:
    text = f"""{REDUCERS}
    later {{
      a = f32[] parameter(0)
      i = s32[] parameter(1)
      b = f32[] parameter(2)
      j = s32[] parameter(3)
      gt = pred[] compare(a, b), direction=GT
      eq = pred[] compare(a, b), direction=EQ
      lt = pred[] compare(i, j), direction=LT
      tie = pred[] and(eq, lt)
      left = pred[] or(gt, tie)
      v = f32[] select(left, a, b)
      k = s32[] select(left, i, j)
      ROOT t = (f32[], s32[]) tuple(v, k)
    }}
    ENTRY fused {{
      x = f32[37,150] parameter(0)
      n = s32[37,150] iota(), iota_dimension=1
      low = f32[] constant(-inf)
      zero = s32[] constant(0)
      r = (f32[37], s32[37]) reduce(x, n, low, zero), dimensions={{1}}, to_apply=later
      v = f32[37] get-tuple-element(r), index=0
      k = s32[37] get-tuple-element(r), index=1
      vb = f32[37,150] broadcast(v), dimensions={{0}}
      kb = s32[37,150] broadcast(k), dimensions={{0}}
      here = pred[37,150] compare(n, kb), direction=EQ
      d = f32[37,150] subtract(x, vb)
      zb = f32[37,150] broadcast(low), dimensions={{}}
      o = f32[37,150] select(here, zb, d)
      ROOT t = (f32[37,150], s32[37], f32[37]) tuple(o, k, v)
    }}"""
    kernel = run(text)
    assert_proved(kernel)
    assert len(kernel.input_maps[0]) == 1


def test_quantization_by_row() -> None:
    text = f"""{REDUCERS}
    ENTRY fused {{
      x = bf16[20,640] parameter(0)
      f = f32[20,640] convert(x)
      a = f32[20,640] abs(f)
      z = f32[] constant(0)
      m = f32[20] reduce(a, z), dimensions={{1}}, to_apply=max
      c = f32[] constant(0.0078125)
      cb = f32[20] broadcast(c), dimensions={{}}
      s = f32[20] multiply(m, cb)
      sb = f32[20,640] broadcast(s), dimensions={{0}}
      q = f32[20,640] divide(f, sb)
      o = s8[20,640] convert(q)
      ROOT t = (s8[20,640], f32[20]) tuple(o, s)
    }}"""
    assert_proved(run(text))


def normalized(tail: str, other: str = "f32[6,10,40]") -> str:
    """`n`, rows of x divided by their norms, and what is computed from it and y."""
    return f"""{REDUCERS}
    ENTRY fused {{
      x = f32[6,10,40] parameter(0)
      y = {other} parameter(1)
      z = f32[] constant(0)
      q = f32[6,10,40] multiply(x, x)
      s = f32[6,10] reduce(q, z), dimensions={{2}}, to_apply=add
      i = f32[6,10] rsqrt(s)
      b = f32[6,10,40] broadcast(i), dimensions={{0,1}}
      n = f32[6,10,40] multiply(x, b)
      {tail}
    }}"""


@pytest.mark.parametrize(
    ("tail", "other"),
    [
        ("t = f32[10,6,40] transpose(n), dimensions={1,0,2}\n ROOT o = f32[10,6,40] add(t, y)", "f32[10,6,40]"),
        ("t = f32[40,6,10] transpose(n), dimensions={2,0,1}\n ROOT o = f32[40,6,10] add(t, y)", "f32[40,6,10]"),
        ("""t = f32[10,6,40] transpose(n), dimensions={1,0,2}
         r = f32[60,40] reshape(t)
         ROOT o = f32[60,40] add(r, y)""", "f32[60,40]"),
        ("""t = f32[6,40,10] transpose(n), dimensions={0,2,1}
         a = f32[6,40,10] add(t, y)
         ROOT o = f32[6,10,40] transpose(a), dimensions={0,2,1}""", "f32[6,40,10]"),
        ("""w = f32[6,10,40] transpose(y), dimensions={0,2,1}
         ROOT o = f32[6,10,40] add(n, w)""", "f32[6,40,10]"),
    ],
)  # fmt: skip
def test_rows_and_transposes(tail: str, other: str) -> None:
    """Rows are reduced once wherever their elements go: not for each element of a tile that is transposed."""
    kernel = run(normalized(tail, other))
    assert_proved(kernel)
    assert (visits(kernel.thread_to_input(0), (6, 10, 40)) == 1).all()


@pytest.mark.parametrize("name", ["plain", "two", "transposed", "cut"])
def test_what_is_no_row_space(name: str) -> None:
    """A reduction alone, two side by side, a result that is read by other rows, a part of a row."""
    bodies = {
        "plain": "ROOT s = f32[64] reduce(x, z), dimensions={1}, to_apply=add",
        "two": """s = f32[64] reduce(x, z), dimensions={1}, to_apply=add
          m = f32[64] reduce(x, z), dimensions={1}, to_apply=max
          ROOT t = f32[64] divide(s, m)""",
        "transposed": """s = f32[64] reduce(x, z), dimensions={1}, to_apply=add
          b = f32[64,64] broadcast(s), dimensions={1}
          ROOT t = f32[64,64] divide(x, b)""",
        "cut": """s = f32[64] reduce(x, z), dimensions={1}, to_apply=add
          b = f32[64,64] broadcast(s), dimensions={0}
          d = f32[64,64] divide(x, b)
          ROOT t = f32[64,10] slice(d), slice={[0:64], [3:13]}""",
    }
    text = f"""{REDUCERS}
    ENTRY fused {{
      x = f32[64,64] parameter(0)
      z = f32[] constant(0)
      {bodies[name]}
    }}"""
    kernel = check(text, tolerance=1e-3)
    assert kernel.emitter != "rows"


def test_what_is_read_elsewhere_is_a_function() -> None:
    """A row's scale is found by a gather, an operand is reversed, a dot is computed once for each element."""
    text = f"""{REDUCERS}
    ENTRY fused {{
      x = f32[12,96] parameter(0)
      i = s32[12,1] parameter(1)
      table = f32[20] parameter(2)
      y = f32[12,96] parameter(3)
      e = f32[20] exponential(table)
      g = f32[12] gather(e, i), offset_dims={{}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1}}
      gb = f32[12,96] broadcast(g), dimensions={{0}}
      n = f32[12,96] negate(y)
      r = f32[12,96] reverse(n), dimensions={{1}}
      rn = f32[12,96] add(r, n)
      a = f32[12,96] multiply(x, gb)
      h = f32[12,96] add(a, rn)
      z = f32[] constant(0)
      s = f32[12] reduce(h, z), dimensions={{1}}, to_apply=max
      sb = f32[12,96] broadcast(s), dimensions={{0}}
      ROOT o = f32[12,96] subtract(h, sb)
    }}"""
    kernel = run(text)
    assert_proved(kernel)
    assert kernel.work < 20 * 12 * 96


def test_work_is_that_of_each_element_once() -> None:
    kernel = ix.emit(ix.hlo.parse(layernorm(64, 512)).entry)
    per_element = 2 + 5  # reductions; the differences, squares, products and sums
    assert per_element * 64 * 512 <= kernel.work < (per_element + 1) * 64 * 512


@pytest.mark.parametrize("sizes", [(6, 96), (1, 6, 96), (6, 1, 96), (1, 96), (1, 1, 96)])
def test_a_sum_of_a_row_with_an_output_between_two_norms_is_a_pass(sizes: tuple[int, ...]) -> None:
    """Also where dimensions have one element: nothing sums a row for each of its elements."""
    of = f"f32[{','.join(map(str, sizes))}]"
    row, kept = f"f32[{','.join(map(str, sizes[:-1]))}]", ",".join(map(str, range(len(sizes) - 1)))
    norms = "".join(
        f"""
      q{k} = {of} multiply({x}, {x})
      r{k} = {row} reduce(q{k}, z), dimensions={{{len(sizes) - 1}}}, to_apply=add
      i{k} = {row} rsqrt(r{k})
      b{k} = {of} broadcast(i{k}), dimensions={{{kept}}}
      n{k} = {of} multiply({x}, b{k})
      h{k} = {of} add(n{k}, y)"""
        for k, x in ((1, "x"), (2, "h1"))
    )
    text = f"""{REDUCERS}
    ENTRY fused {{
      x = {of} parameter(0)
      y = {of} parameter(1)
      z = f32[] constant(0){norms}
      ROOT t = ({of}, {of}) tuple(h1, h2)
    }}"""
    space = row_space(ix.hlo.parse(text).entry)
    assert space is not None and len(space.passes) == 2 and not space.frontier
    assert run(text).work < 20 * np.prod(sizes)


def test_knows_large_numbers_of_rows() -> None:
    kernel = ix.emit(ix.hlo.parse(softmax(65536, 1024, "bf16")).entry)
    proofs = kernel.verify()
    assert not proofs.refuted
    assert not proofs.open
    assert np.prod(kernel.grid) * (kernel.block[0] // 32) == 65536


def test_on_the_processor_what_is_kept_is_walked_thread_by_thread() -> None:
    """The loop over threads is the inner one wherever neighbouring threads touch neighbouring cells of what they keep."""
    source = ix.emit(ix.hlo.parse(softmax(4096, 1024)).entry, dialect="c").source
    around = source[: source.index("exp_f32(v")].splitlines()
    loops = [line.strip() for line in around if line.strip().startswith("for (")]
    assert loops[-1].startswith("for (s32 th_x")
    assert loops[-2].startswith("for (s32 step")


@pytest.mark.parametrize(
    ("sizes", "cores", "blocks", "columns"),
    [
        ((8192, 256), 2, 2, 128),
        ((8192, 256), 1, 1, 256),
        ((8192, 4096), 2, 4, 1024),
        ((8192, 256), 12, 16, 16),  # which fill a line of the cache
        ((8192, 256), 1000, 16, 16),
        ((3, 8192, 64), 3, 3, 64),
        ((5, 8192, 3), 2, 5, 3),  # all columns, so that loops over them have a length that compilers see
        ((2, 8192, 96), 2, 2, 96),
    ],
)
def test_a_core_takes_long_runs_of_columns(sizes: tuple[int, ...], cores: int, blocks: int, columns: int) -> None:
    """All cores have a block, of as many neighbouring columns as that leaves, and at least of those in a line."""
    space = row_space(ix.hlo.parse(rms_norm(sizes, (len(sizes) - 2,))).entry)
    assert space is not None
    plan = plan_rows(space, CPU.with_cores(count=cores))
    assert (plan.grid, plan.across) == ((blocks, 1, 1), columns)


def test_one_pass_by_several_blocks_where_cores_would_be_idle() -> None:
    """The sum of exponentials of a column takes twice as many in one pass as in two, of which the second hits the cache."""
    text = f"""{REDUCERS} ENTRY fused {{
      x = f32[4096,64] parameter(0)
      low = f32[] constant(-inf)
      z = f32[] constant(0)
      m = f32[64] reduce(x, low), dimensions={{0}}, to_apply=max
      mb = f32[4096,64] broadcast(m), dimensions={{1}}
      d = f32[4096,64] subtract(x, mb)
      e = f32[4096,64] exponential(d)
      s = f32[64] reduce(e, z), dimensions={{0}}, to_apply=add
      l = f32[64] log(s)
      ROOT o = f32[64] add(l, m) }}"""
    space = row_space(ix.hlo.parse(text).entry)
    assert space is not None
    assert plan_rows(space, CPU.with_cores(count=1)).split_k == 1
    assert plan_rows(space, CPU.with_cores(count=64)).split_k > 1


@pytest.mark.parametrize(("length", "rows"), [(8, 64), (12, 64), (13, 64), (17, 8), (48, 8), (64, 4), (128, 4)])
def test_short_rows_are_lanes_of_vectors_where_threads_are_loops(length: int, rows: int) -> None:
    """The rows of a block of 64 threads: one for each thread if a vector has their elements, else vectors of threads share them."""
    kernel = ix.emit(ix.hlo.parse(softmax(8192, length)).entry, dialect="c")
    assert kernel.emitter == "rows" and kernel.grid[0] == 8192 // rows


def scaled_rows(rows: int, length: int, weights: str, factor: str = "c") -> str:
    """A norm whose result is scaled by weights `v` of each column; the sum has products with a factor."""
    return f"""{REDUCERS}
    ENTRY fused {{
      x = bf16[{rows},{length}] parameter(0)
      g = {weights}[{length}] parameter(1)
      c = f32[{rows},{length}] convert(x)
      w = f32[{length}] convert(g)
      v = f32[{rows},{length}] broadcast(w), dimensions={{1}}
      q = f32[{rows},{length}] multiply(c, {factor})
      z = f32[] constant(0)
      s = f32[{rows}] reduce(q, z), dimensions={{1}}, to_apply=add
      i = f32[{rows}] rsqrt(s)
      b = f32[{rows},{length}] broadcast(i), dimensions={{0}}
      n = f32[{rows},{length}] multiply(c, b)
      m = f32[{rows},{length}] multiply(n, v)
      ROOT o = bf16[{rows},{length}] convert(m)
    }}"""


@pytest.mark.parametrize(("rows", "length"), [(2048, 256), (33, 96), (500, 50), (70, 7)])
@pytest.mark.parametrize("weights", ["f32", "bf16"])
def test_blocks_of_several_rows_load_weights_once(rows: int, length: int, weights: str) -> None:
    text = scaled_rows(rows, length, weights)
    kernel = check(text, "rows", tolerance=2e-2)
    assert_proved(kernel)
    assert (visits(kernel.thread_to_input(1), (length,)) == kernel.grid[0]).all()
    assert (visits(kernel.thread_to_input(0), (rows, length)) == 1).all()
    assert "weights" not in ix.emit(ix.hlo.parse(text).entry, "c").source


@pytest.mark.parametrize(("rows", "length", "width"), [(500, 16, 2), (64, 24, 1), (500, 50, 1)])
def test_vectors_of_few_short_rows_have_what_a_thread_would_take_in_several_steps(
    rows: int, length: int, width: int
) -> None:
    kernel = check(softmax(rows, length), "rows")
    assert vector_moves(kernel)["p0"] == ({width} if width > 1 else set())


def test_weights_of_the_first_pass_or_of_few_or_long_rows_stay_where_they_are() -> None:
    """Loaded first, they would be waited for; shared memory is little."""
    for text in (scaled_rows(500, 64, "f32", "v"), scaled_rows(64, 8192, "f32")):
        kernel = ix.emit(ix.hlo.parse(text).entry)
        assert "weights" not in kernel.source
        assert_proved(kernel)


@pytest.mark.parametrize("weights", ["f32", "bf16"])
def test_a_vector_of_weights_is_one_load(weights: str) -> None:
    """Two loads of neighbouring halves by each thread of a warp touch all sectors twice."""
    fusion = ix.hlo.parse(scaled_rows(2048, 256, weights)).entry
    assert vector_moves(ix.emit(fusion))["p1"] == {4}
    default = dict(ix.knobs(fusion).default)
    times = ix.predict(fusion, [default, {**default, "vector_width": 8}], "H100 SXM").time
    assert times[0] <= times[1]
