"""OpenCL C 1.2, for any device with a driver."""

from __future__ import annotations

from collections.abc import Iterator

from indexing.kernels.ir import nodes as ir
from indexing.kernels.targets.library import MATH, Definition, call_macro, library_of, macro, typedef
from indexing.kernels.targets.library_complex import COMPLEX
from indexing.kernels.targets.library_float import FLOAT
from indexing.kernels.targets.library_integer import INTEGER
from indexing.kernels.targets.target import Entry, Parameter, Target, id_lines

_TYPES = {
    "bool": "bool",
    "s8": "char",
    "u8": "uchar",
    "s16": "short",
    "u16": "ushort",
    "s32": "int",
    "u32": "uint",
    "s64": "long",
    "u64": "ulong",
    "f32": "float",
    "f64": "double",
    "c64": "float2",
    "c128": "double2",
}
_RENAMED = {"abs": "fabs", "mul_add": "fma", "rem": "fmod", "round_even": "rint", "round_away": "round"}


def _words() -> Iterator[Definition]:
    for name, spelling in _TYPES.items():
        yield typedef(name, spelling)
    for name in (*MATH, "hypot", "rsqrt", *_RENAMED):
        for real in ("f32", "f64"):
            yield macro(f"{name}_{real}", _RENAMED.get(name, name))
    yield macro("exp_narrow_f32", "exp")
    for name in ("c64", "c128"):
        yield call_macro(f"make_{name}", "x, y", f"(({name})(x, y))")
    for bits in ("u32", "u64"):
        yield macro(f"bits_set_{bits}", "popcount")
        yield macro(f"zeros_above_{bits}", "clz")
    yield macro("bits_f32", "as_uint")
    yield macro("bits_f64", "as_ulong")
    yield macro("float_f32", "as_float")
    yield macro("float_f64", "as_double")
    yield macro("inf_f32", "INFINITY")
    yield macro("inf_f64", "((f64)INFINITY)")
    yield macro("nan_f32", "NAN")
    yield macro("nan_f64", "((f64)NAN)")
    yield macro("static_nan_f32", "NAN")
    yield macro("static_nan_f64", "((f64)NAN)")


def _atomics() -> Iterator[tuple[tuple[str, str], str]]:
    names = {"add": "add", "maximum": "max", "minimum": "min", "and": "and", "or": "or", "xor": "xor"}
    for opcode, name in names.items():
        for kind in ("s32", "u32"):
            yield (opcode, kind), f"atomic_{name}({{pointer}}, {{value}})"


def _entry(kernel: ir.Kernel, parameters: tuple[Parameter, ...], used: frozenset[int]) -> Entry:
    x, y, z = kernel.block
    taken = ", ".join(p.declaration for p in parameters)
    head = f"__kernel void __attribute__((reqd_work_group_size({x}, {y}, {z}))) {kernel.name}({taken}) {{"
    ids = [f"{place}({axis})" for place in ("get_local_id", "get_group_id") for axis in range(3)]
    return Entry((head, *id_lines(kernel, ids, used)), ("}",), uses=("s32",))


OPENCL = Target(
    name="opencl",
    ending=".cl",
    library=library_of(INTEGER, FLOAT, COMPLEX, _words()),
    has_threads=True,
    vector_bytes=16,
    entry=_entry,
    function="static",
    noinline=" __attribute__((noinline))",
    spaces={"global": "__global ", "shared": "__local ", "local": "__private ", "constant": "__constant "},
    declarations={"shared": "__local ", "local": "", "constant": "__constant "},
    restrict="restrict",
    aligned="__attribute__((aligned({n})))",
    barrier="barrier(CLK_LOCAL_MEM_FENCE)",
    fence="mem_fence(CLK_GLOBAL_MEM_FENCE)",
    fetch_add="atomic_add({pointer}, {value})",
    atomics=dict(_atomics()),
    compare_and_swap={
        "u32": "atomic_cmpxchg({pointer}, {expected}, {value})",
        "u64": "atom_cmpxchg({pointer}, {expected}, {value})",
    },
    unroll="#pragma unroll {n}",
    prelude=("#pragma OPENCL FP_CONTRACT OFF",),
)
