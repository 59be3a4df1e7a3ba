"""The simt emitter: sizes with and without rests, layouts, types, proofs, banks, results of its kernels as loops, default plans."""

from dataclasses import replace
from functools import partial

import pytest

import indexing as ix
from indexing import kernels as emission
from indexing.analysis.memory.banks import bank_accesses
from indexing.device.detect import chosen_device
from indexing.device.table import portable_device
from indexing.kernels.emitters import simt
from indexing.kernels.emitters.simt.plan import unsplit_plans
from indexing.kernels.emitters.tile.splits import fastest_plan, is_legal
from indexing.kernels.ir import nodes as ir
from indexing.kernels.kernel import Kernel
from indexing.kernels.verify import verify
from kernel_mutants import mutants
from kernels import assert_written_once, check

PLAIN = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
TRANSPOSED = "lhs_contracting_dims={0}, rhs_contracting_dims={1}"
LAST = "lhs_contracting_dims={1}, rhs_contracting_dims={1}"
FIRST = "lhs_contracting_dims={0}, rhs_contracting_dims={0}"
BATCH = "lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}"
WIDE = {"tile_rows": 64, "tile_columns": 64, "thread_rows": 8, "thread_columns": 8}


def product(left: str, right: str, out: str, numbers: str, kinds: tuple[str, str, str] = ("f32", "f32", "f32")) -> str:
    return f"""fused {{
      x = {kinds[0]}[{left}] parameter(0)
      y = {kinds[1]}[{right}] parameter(1)
      ROOT d = {kinds[2]}[{out}] dot(x, y), {numbers}
    }}"""


def swapped(text: str) -> str:
    """The program with its result in column-major order."""
    return text.replace("] dot(", "]{0,1} dot(")


@pytest.fixture
def on_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the emitter's kernels run on a CPU, their threads as loops."""
    anywhere = replace(simt.EMITTER, runs_on=lambda match, device: True)
    monkeypatch.setattr(emission, "choose_emitter", partial(emission.choose_emitter, emitters=(anywhere,)))


def emitted(text: str, dialect: str = "cuda", **knobs: int) -> Kernel:
    kernel = ix.emit(ix.hlo.parse(text).entry, dialect=dialect, **knobs)
    assert kernel.emitter == "dot-simt"
    return kernel


PROGRAMS = [
    (product("128,64", "64,128", "128,128", PLAIN), WIDE),
    (product("101,43", "43,51", "101,51", PLAIN), {}),
    (product("100,50", "50,66", "100,66", PLAIN), {**WIDE, "stages": 2}),
    (product("40,100", "60,40", "100,60", TRANSPOSED), {"tile_depth": 8, "stages": 2}),
    (product("60,72", "52,72", "60,52", LAST), {**WIDE, "stages": 2}),
    (product("72,60", "72,52", "60,52", FIRST), {**WIDE, "thread_columns": 4}),
    (product("16,8", "8,16", "16,16", PLAIN), {"tile_rows": 16, "tile_columns": 16}),
    (product("3,24,40", "3,40,20", "3,24,20", BATCH), {}),
    (swapped(product("24,40", "40,20", "24,20", PLAIN)), {}),
    (swapped(product("70,40", "40,64", "70,64", PLAIN)), {**WIDE, "stages": 2}),
    (product("40,200", "200,60", "40,60", PLAIN), {"split_k": 3}),
    (product("200,40", "200,36", "40,36", FIRST), {"tile_depth": 8, "stages": 2, "split_k": 4}),
    (product("2,24,90", "2,90,20", "2,24,20", BATCH), {"split_k": 2}),
    (product("3,100", "100,40", "3,40", PLAIN), {"split_k": 4}),
    (product("100,8", "100,5", "8,5", FIRST), {"split_k": 3}),
    (product("70", "70,37", "37", "lhs_contracting_dims={0}, rhs_contracting_dims={0}"), {}),
    (product("2,40,64", "2,3,64", "2,40,3", BATCH.replace("rhs_contracting_dims={1}", "rhs_contracting_dims={2}")), {}),
]
TYPES = [
    ("f64", "f64", "f64"),
    ("s32", "s32", "s32"),
    ("bf16", "f32", "f32"),
    ("f32", "f32", "bf16"),
    ("s8", "s8", "u64"),
]


@pytest.mark.usefixtures("on_cpu")
@pytest.mark.parametrize(("text", "knobs"), PROGRAMS)
def test_sizes(text: str, knobs: dict[str, int]) -> None:
    tile = {"tile_rows": 32, "tile_columns": 32, "thread_rows": 4, "thread_columns": 4, "tile_depth": 16, "stages": 1}
    kernel = check(text, "dot-simt", **tile | knobs)
    assert_written_once(kernel, [ix.hlo.parse(text).entry.root.shape])
    assert ix.runtime.cubin(kernel, "sm_80")


@pytest.mark.usefixtures("on_cpu")
@pytest.mark.parametrize("kinds", TYPES)
def test_types(kinds: tuple[str, str, str]) -> None:
    knobs = {"tile_rows": 16, "tile_columns": 32, "thread_rows": 4, "thread_columns": 4, "tile_depth": 8, "stages": 2}
    check(product("33,35", "35,30", "33,30", PLAIN, kinds), "dot-simt", **knobs)


@pytest.mark.usefixtures("on_cpu")
def test_prologue_and_epilogue() -> None:
    text = """fused {
      p = bf16[33,24] parameter(0)
      y = f32[24,40] parameter(1)
      b = f32[40] parameter(2)
      x = f32[33,24] convert(p)
      e = f32[33,24] exponential(x)
      d = f32[33,40] dot(e, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
      bias = f32[33,40] broadcast(b), dimensions={1}
      ROOT out = f32[33,40] add(d, bias)
    }"""
    check(text, "dot-simt", tile_rows=32, tile_columns=32, tile_depth=8, stages=2, tolerance=1e-4)


@pytest.mark.parametrize("numbers", [PLAIN, TRANSPOSED, LAST, FIRST])
@pytest.mark.parametrize("sizes", [(128, 64, 16), (64, 32, 8), (32, 128, 32), (16, 16, 16)])
def test_there_are_no_bank_conflicts(numbers: str, sizes: tuple[int, int, int]) -> None:
    tile = dict(zip(("tile_rows", "tile_columns", "tile_depth"), sizes, strict=True))
    kernel = emitted(
        product("128,128", "128,128", "128,128", numbers), **tile, thread_rows=4, thread_columns=4, stages=1, split_k=1
    )
    accesses = list(bank_accesses(kernel, portable_device("cuda")))
    assert {(a.kind, a.array) for a in accesses} == {
        (k, f"{s}_tile") for k in ("load", "store") for s in ("left", "right")
    }
    assert all(a.conflicts == 0 for a in accesses)


def test_operands_are_copied_asynchronously_as_they_lie_in_memory() -> None:
    for numbers in (PLAIN, TRANSPOSED, LAST, FIRST):
        kernel = emitted(product("128,128", "128,128", "128,128", numbers))
        copies = [s for s in ir.statements(kernel.lowered.body) if isinstance(s, ir.CopyAsync)]
        assert {(s.source, s.width) for s in copies} == {("p0", 4), ("p1", 4)}
    bf16 = emitted(product("128,128", "128,128", "128,128", PLAIN, ("bf16", "f32", "f32")))
    assert {s.source for s in ir.statements(bf16.lowered.body) if isinstance(s, ir.CopyAsync)} == {"p1"}


def test_a_thread_loads_vectors_and_keeps_its_sums_in_registers() -> None:
    """By hand: for four places along the sum, a thread of 8 rows and columns loads 16 vectors, and adds 256 products."""
    kernel = emitted(product("256,256", "256,256", "256,256", LAST), **WIDE, tile_depth=16, stages=1)
    ptx = ix.runtime.ptx(kernel, "sm_80")
    assert ptx.count("ld.shared.v4.f32") in (16, 64) and "ld.shared.f32" not in ptx and ".local" not in ptx
    assert ptx.count("fma.rn.f32") == 16 * ptx.count("ld.shared.v4.f32")


@pytest.mark.parametrize(
    ("sizes", "is_split"),
    [
        ((4096, 4096, 4096), False),  # 1,024 tiles for 132 cores
        ((1024, 1024, 1024), True),  # 64 tiles
        ((512, 512, 512), True),
        ((8192, 512, 16), True),
        ((192, 6272, 192), True),
        ((1024, 64, 2048), False),
    ],
)
def test_default_plans_are_near_the_best_of_predictions(sizes: tuple[int, int, int], is_split: bool) -> None:
    m, k, n = sizes
    entry = ix.hlo.parse(product(f"{m},{k}", f"{k},{n}", f"{m},{n}", PLAIN)).entry
    names = ("tile_rows", "tile_columns", "thread_rows", "thread_columns")
    space = ix.knobs(entry, device="h100")
    assert (space.default["split_k"] > 1) == is_split
    tiles = [(128, 128, 8, 8), (128, 64, 8, 8), (64, 64, 8, 8), (64, 32, 4, 4), (32, 32, 4, 4), (64, 16, 4, 4)]
    plans = [{**dict(zip(names, tile, strict=True)), "split_k": split} for tile in tiles for split in (1, 2, 4, 14, 28)]
    legal = [space.default, *(p for p in plans if space.allows([p])[0])]
    times = ix.predict(entry, legal, "h100").time
    assert times[0] <= 1.1 * times.min()


@pytest.mark.parametrize("device", ["h100", "l4"])
@pytest.mark.parametrize("sizes", [(64, 4096, 48), (4096, 64, 4096), (8192, 8192, 2048), (300, 5000, 20)])
def test_default_plans_take_the_least_time_of_all_splits_and_orders(sizes: tuple[int, int, int], device: str) -> None:
    m, k, n = sizes
    dot = ix.hlo.parse(product(f"{m},{k}", f"{k},{n}", f"{m},{n}", PLAIN)).entry.root
    on = chosen_device(device)
    unsplit = [p for p in unsplit_plans(dot, (None,) * 6, on) if is_legal(p, on)]
    split = [replace(p, split_k=count) for p in unsplit for count in p.legal_splits(on)]
    plans = [replace(p, group_rows=rows) for p in split for rows in p.legal_groups(on)]
    least = min(plans, key=lambda p: (p.seconds(on), p.read_bytes(on)))
    assert fastest_plan(unsplit, None, None, on) == least


@pytest.mark.parametrize("device", ["T4", "h100"])
def test_blocks_that_share_a_tile_have_a_step_each_and_run_at_once(device: str) -> None:
    entry = ix.hlo.parse(product("64,1600", "1600,64", "64,64", PLAIN)).entry
    space = ix.knobs(entry, device=device)
    plan = {**space.default, **WIDE, "tile_depth": 16, "stages": 1}
    legal = list(space.legal("split_k", plan))  # 100 steps
    assert legal == sorted({-(-100 // k) for k in range(1, 101)})
    many = ix.knobs(ix.hlo.parse(product("2048,1600", "1600,2048", "2048,2048", PLAIN)).entry, device=device)
    held = {"T4": 40 * 8, "h100": 132 * 25}[device]  # blocks with 8 KiB of shared memory
    assert max(many.legal("split_k", plan)) == max(n for n in legal if n <= max(held // 1024, 1))
    with pytest.raises(ix.IndexingError, match=r"split_k is in \{1, 2, 3, 4, "):
        ix.emit(entry, device=device, **{**plan, "split_k": 51})


def test_results_of_shared_tiles_do_not_depend_on_the_order_of_blocks() -> None:
    """The last block to arrive adds the sums of all blocks in the order of their numbers, and has no atomic update of floats."""
    kernel = emitted(product("40,200", "200,60", "40,60", PLAIN), split_k=5).lowered
    statements = list(ir.statements(kernel.body))
    assert not any(isinstance(s, ir.AtomicUpdate) for s in statements)
    assert sum(isinstance(s, ir.FetchAdd) for s in statements) == 1
    assert {b.name for b in kernel.buffers if b.role == "scratch"} == {"w0", "w1"}


@pytest.mark.parametrize(
    ("text", "emitter"),
    [
        (product("15,24", "24,64", "15,64", PLAIN), "dot"),
        (product("7,32", "32,64", "7,64", PLAIN), "dot-simt"),
        (product("8,32", "32,5", "8,5", PLAIN), "dot-simt"),
        (product("900,8,32", "900,32,5", "900,8,5", BATCH), "loop"),  # most sums of a tile would not be stored
        (product("64,4", "4,64", "64,64", PLAIN), "dot"),
        (product("64,32", "32,64", "64,64", PLAIN, ("u8", "u8", "u8")), "loop"),
        (product("64,32", "32,64", "64,64", PLAIN, ("c64", "c64", "c64")), "loop"),
    ],
)
def test_other_products_are_left_to_others(text: str, emitter: str) -> None:
    assert ix.emit(ix.hlo.parse(text).entry, dialect="cuda").emitter == emitter


@pytest.mark.parametrize(("knob", "value"), [("tile_rows", 24), ("thread_rows", 2), ("tile_depth", 64), ("stages", 3)])
def test_knobs_that_are_not_legal(knob: str, value: int) -> None:
    with pytest.raises(ix.IndexingError, match=f"{knob} is in "):
        emitted(product("64,32", "32,64", "64,64", PLAIN), **{knob: value})


def test_kernels_without_a_barrier_or_a_wait_are_refuted() -> None:
    kernel = emitted(product("64,64", "64,64", "64,64", PLAIN), tile_rows=32, tile_columns=32, stages=2).lowered
    without = [m for m in mutants(kernel) if m.kind in ("wait", "barrier")]
    assert {m.kind for m in without} == {"wait", "barrier"}
    assert all("race" in {c.kind for c in verify(m.kernel).refuted} for m in without)
