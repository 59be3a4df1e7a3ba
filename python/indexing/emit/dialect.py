"""What differs between CUDA C++ and OpenCL C, in one table.

Generated text writes `@name` for what a dialect or the library of intrinsics supplies: `@exp.f32` is `expf` in CUDA C++
and `exp` in OpenCL C, `@c64(a, b)` makes a complex number, `@fn` qualifies a device function.
"""

from __future__ import annotations

from dataclasses import dataclass

from indexing.emit import kernel


@dataclass(frozen=True, slots=True)
class DialectTable:
    """The spelling of one dialect. `words` are the plain `@word` replacements."""

    name: kernel.Dialect
    prelude: tuple[str, ...]
    words: dict[str, str]
    reals: dict[str, str]  # suffix of a math function for f32 and f64
    math: dict[str, str]  # functions of f32 and f64 whose name differs from C's


C_MATH = frozenset(
    [
        *("acos", "acosh", "asin", "asinh", "atan2", "atanh", "cbrt", "ceil", "copysign", "cos", "cosh", "erf", "exp"),
        *("expm1", "fabs", "floor", "fmod", "hypot", "log", "log1p", "pow", "rint", "round", "rsqrt", "sin", "sinh"),
        *("sqrt", "tan", "tanh", "trunc"),
    ]
)

_AXES = "xyz"
_ALIGNMENTS = (1, 2, 4, 8, 16)

CUDA = DialectTable(
    name="cuda",
    prelude=(),
    words={
        "fn": "static __device__",
        "noinline": "__noinline__",
        "kernel": 'extern "C" __global__ void',
        "global": "",
        "shared": "__shared__",
        "constant": "static __device__ const",
        "restrict": "__restrict__",
        "barrier": "__syncthreads()",
        "fence": "__threadfence()",
        "fetch_add": "atomicAdd",
        "c64": "make_float2",
        "c128": "make_double2",
        "popcount_u32": "__popc",
        "popcount_u64": "__popcll",
        "clz_u32": "__clz",
        "clz_u64": "__clzll",
        "bits_f32": "__float_as_uint",
        "bits_f64": "__double_as_longlong",
        "float_f32": "__uint_as_float",
        "float_f64": "__longlong_as_double",
        "inf_f32": "(1.0f / 0.0f)",
        "inf_f64": "(1.0 / 0.0)",
        "nan_f32": "__builtin_bit_cast(f32, 0x7fc00000u)",
        "nan_f64": "__builtin_bit_cast(f64, 0x7ff8000000000000ull)",
        **{f"aligned{n}": f"__align__({n})" for n in _ALIGNMENTS},
        **{f"thread_{a}": f"threadIdx.{a}" for a in _AXES},
        **{f"block_{a}": f"blockIdx.{a}" for a in _AXES},
    },
    reals={"f32": "f", "f64": ""},
    math={},
)

OPENCL = DialectTable(
    name="opencl",
    prelude=("#pragma OPENCL FP_CONTRACT OFF",),
    words={
        "fn": "static",
        "noinline": "__attribute__((noinline))",
        "kernel": "__kernel void",
        "global": "__global",
        "shared": "__local",
        "constant": "__constant",
        "restrict": "restrict",
        "barrier": "barrier(CLK_LOCAL_MEM_FENCE)",
        "fence": "mem_fence(CLK_GLOBAL_MEM_FENCE)",
        "fetch_add": "atomic_add",
        "c64": "(c64)",
        "c128": "(c128)",
        "popcount_u32": "popcount",
        "popcount_u64": "popcount",
        "clz_u32": "clz",
        "clz_u64": "clz",
        "bits_f32": "as_uint",
        "bits_f64": "as_ulong",
        "float_f32": "as_float",
        "float_f64": "as_double",
        "inf_f32": "INFINITY",
        "inf_f64": "((f64)INFINITY)",
        "nan_f32": "(0.0f / 0.0f)",  # PoCL's NAN is no constant that a table may hold
        "nan_f64": "((f64)(0.0f / 0.0f))",
        **{f"aligned{n}": f"__attribute__((aligned({n})))" for n in _ALIGNMENTS},
        **{f"thread_{a}": f"get_local_id({k})" for k, a in enumerate(_AXES)},
        **{f"block_{a}": f"get_group_id({k})" for k, a in enumerate(_AXES)},
    },
    reals={"f32": "", "f64": ""},
    math={},
)

TABLES: dict[str, DialectTable] = {"cuda": CUDA, "opencl": OPENCL}


def launch_bounds(dialect: kernel.Dialect, block: kernel.Dim3) -> str:
    """The attribute that tells the compiler how many threads a block has."""
    x, y, z = block
    if dialect == "cuda":
        return f"__launch_bounds__({x * y * z})"
    return f"__attribute__((reqd_work_group_size({x}, {y}, {z})))"


def spelled(token: str, table: DialectTable) -> str | None:
    """What the dialect writes for `@token`; None when it is no word of the dialect (so, an intrinsic)."""
    if token in table.words:
        return table.words[token]
    name, _, real = token.rpartition("_")
    if name in C_MATH and real in table.reals:
        return table.math.get(name, name) + table.reals[real]
    return None
