"""C11 for CPUs, with the extensions of gcc and clang: a block's threads are loops in the kernel, blocks a loop around it.

The function is `void name(void *const *buffers, int64_t first_block, int64_t last_block)`: it runs the blocks from the first
up to, but not including, the last, of which the grid has x * y * z, x fastest. No header is included.
"""

from __future__ import annotations

from collections.abc import Iterator

from indexing.errors import CompileError
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.fragments import PANEL_PRODUCTS
from indexing.kernels.ir.types import storage_type
from indexing.kernels.targets.library import (
    C_TYPES,
    MATH,
    Definition,
    call_macro,
    definition_of,
    library_of,
    macro,
    read_definitions,
    read_text,
    typedef,
)
from indexing.kernels.targets.library_complex import COMPLEX
from indexing.kernels.targets.library_float import FLOAT
from indexing.kernels.targets.library_integer import INTEGER
from indexing.kernels.targets.library_math import VECTORIZABLE
from indexing.kernels.targets.target import Entry, Parameter, Target, id_lines
from indexing.ops.element_types import element_type


def panel_definitions() -> Iterator[Definition]:
    """The width of vectors, and a function for each product."""
    for name, product in PANEL_PRODUCTS.items():
        sizes = {"NAME": name, "ROWS": product.rows, "COLUMNS": product.columns, "BYTES": product.row_bytes}
        left, right = map(storage_type, product.factors)
        if product.group == 1:
            yield from read_definitions("panels.c", T=left, W=left.replace("s", "u"), **sizes)
            continue
        types = {"LEFT": left, "RIGHT": right, "SUM": product.sums}
        instruction = "tdpbf16ps" if name == "bf16" else f"tdpb{left[0]}{right[0]}d"
        yield from read_definitions("panels_in_groups.c", NAME=name, INSTRUCTION=instruction, **types)
        yield from read_definitions("panels_of_bf16.c" if name == "bf16" else "panels_of_bytes.c", **types, **sizes)


_TYPES = {**C_TYPES, "c64": "struct { float x, y; }", "c128": "struct { double x, y; }"}
_RENAMED = {"abs": "fabs", "rem": "fmod", "round_even": "rint"}
_OF_F32 = ("ceil", "copysign", "floor", "sqrt", "trunc", "abs", "round_even")  # instructions of the CPU


# gcc 12 loses what a branch assigns, if a loop has several, one after another, whose conditions do not change in it.
_SCALAR_BRANCH = """#if defined(__GNUC__) && !defined(__clang__)
#define scalar_branch __asm__ volatile("");
#else
#define scalar_branch
#endif"""
# gcc 12 makes no vectors of a loop in which `?:` selects a predicate.
_CHOOSE_PRED = "bool choose_pred(bool condition, bool a, bool b) { return (condition & a) | (!condition & b); }"


def _words() -> Iterator[Definition]:
    for name, spelling in _TYPES.items():
        yield typedef(name, spelling)
    yield Definition("scalar_branch", _SCALAR_BRANCH)
    yield Definition("choose_pred", _CHOOSE_PRED, is_function=True)
    yield Definition("bool", "typedef _Bool bool;\n#define true 1\n#define false 0")
    for name in (*MATH, "hypot", *_RENAMED):
        yield macro(f"{name}_f64", f"__builtin_{_RENAMED.get(name, name)}")
    for name in _OF_F32:
        yield macro(f"{name}_f32", f"__builtin_{_RENAMED.get(name, name)}f")
    for name in ("c64", "c128"):
        yield call_macro(f"make_{name}", "x, y", f"(({name}){{x, y}})")
    yield macro("exp_narrow_f32", "exp_f32")
    yield macro("bits_set_u32", "__builtin_popcount")
    yield macro("bits_set_u64", "__builtin_popcountll")
    yield call_macro("zeros_above_u32", "x", "((x) == 0 ? 32 : __builtin_clz(x))")
    yield call_macro("zeros_above_u64", "x", "((x) == 0 ? 64 : __builtin_clzll(x))")
    yield macro("inf_f32", "__builtin_inff()")
    yield macro("inf_f64", "__builtin_inf()")
    yield macro("nan_f32", '__builtin_nanf("")')
    yield macro("nan_f64", '__builtin_nan("")')
    yield macro("static_nan_f32", '__builtin_nanf("")')
    yield macro("static_nan_f64", '__builtin_nan("")')
    yield definition_of("f64 rsqrt_f64(f64 x) { return 1 / sqrt_f64(x); }")


def _atomics() -> Iterator[tuple[tuple[str, str], str]]:
    for opcode in ("add", "and", "or", "xor"):
        for kind in ("s32", "u32", "s64", "u64", "s8", "u8", "s16", "u16"):
            yield (opcode, kind), f"__atomic_fetch_{opcode}({{pointer}}, {{value}}, __ATOMIC_RELAXED)"


def _entry(kernel: ir.Kernel, parameters: tuple[Parameter, ...], used: frozenset[int]) -> Entry:
    if kernel.block != (1, 1, 1):
        raise CompileError(f"kernel {kernel.name} has threads; run the pass `thread_loops`, which makes loops of them")
    taken = ", ".join([*(p.declaration for p in parameters), "s64 first_block", "s64 last_block"])
    x, y, _ = kernel.grid
    head = [
        f"static void {kernel.name}_blocks({taken}) {{",
        "  for (s64 block = first_block; block < last_block; block++) {",
    ]
    ids = ("0", "0", "0", f"block % {x}", f"block / {x} % {y}", f"block / {x * y}")
    head += id_lines(kernel, ids, used, "    ")
    passed = ", ".join([*(f"buffers[{k}]" for k in range(len(parameters))), "first_block", "last_block"])
    closing = (
        "  }",
        "}",
        "",
        f"void {kernel.name}(void *const *buffers, s64 first_block, s64 last_block) {{",
        f"  {kernel.name}_blocks({passed});",
        "}",
    )
    return Entry(tuple(head), closing, depth=2, uses=("s32", "s64"))


_ROOTS = {"f32": "__builtin_sqrtf", "f64": "__builtin_sqrt"}


def _solvers(kind: str) -> str:
    """The source of the functions for whole matrices of an element type."""
    real = element_type(kind).real
    is_complex, spelling = real != kind, C_TYPES[real]
    words = {"T": spelling + " _Complex" * is_complex, "R": spelling, "PARTS": 1 + is_complex, "SQRT": _ROOTS[real]}
    return read_text("solvers.c", KIND=kind, **words)


_SWAP = "__sync_val_compare_and_swap({pointer}, {expected}, {value})"

C = Target(
    name="c",
    ending=".c",
    library=library_of(INTEGER, FLOAT, COMPLEX, _words(), VECTORIZABLE, panel_definitions()),
    has_threads=False,
    entry=_entry,
    function="static inline",
    noinline=" __attribute__((noinline))",
    spaces={"global": "", "shared": "", "local": "", "constant": ""},
    declarations={
        "shared": "__attribute__((aligned(64))) ",
        "local": "__attribute__((aligned(64))) ",
        "constant": "static const ",
    },
    restrict="restrict",
    aligned="__attribute__((aligned({n})))",
    barrier="",
    fence="__atomic_thread_fence(__ATOMIC_SEQ_CST)",
    fetch_add="__atomic_fetch_add({pointer}, {value}, __ATOMIC_ACQ_REL)",
    atomics=dict(_atomics()),
    compare_and_swap=dict.fromkeys(("u8", "u16", "u32", "u64"), _SWAP),
    # gcc 12 makes wrong code of some loops that it vectorizes over several branches.
    joins_conditions=True,
    scalar_branch="scalar_branch",
    select={"pred": "choose_pred", "f32": "choose_f32", "f64": "choose_f64"},
    thread_loop="#pragma GCC ivdep",
    lane_loop="#pragma GCC unroll 1",  # gcc makes vectors of the loop, but few of the statements that it would unroll it to
    solvers={kind: _solvers(kind) for kind in ("f32", "f64", "c64", "c128")},
)
