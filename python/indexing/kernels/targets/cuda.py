"""CUDA C++ for NVRTC, for sm_80 and later."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.fragments import ASYNC_BYTES, COLUMNS, INSTRUCTIONS, MAX_PENDING, ROWS, MatrixInstruction
from indexing.kernels.targets.cuda_atomics import native_updates, updates_at
from indexing.kernels.targets.library import (
    C_TYPES,
    MATH,
    Definition,
    call_macro,
    definition_of,
    library_of,
    macro,
    read_definitions,
    typedef,
)
from indexing.kernels.targets.library_complex import COMPLEX
from indexing.kernels.targets.library_float import FLOAT
from indexing.kernels.targets.library_integer import INTEGER
from indexing.kernels.targets.target import Entry, Parameter, Target, id_lines
from indexing.ops.element_types import ELEMENT_TYPES

_TYPES = {"bool": "bool", **C_TYPES, "c64": "float2", "c128": "double2"}
_RENAMED = {"abs": "fabs", "mul_add": "fma", "rem": "fmod", "round_even": "rint", "round_away": "round"}


def _words() -> Iterator[Definition]:
    for name, spelling in _TYPES.items():
        yield typedef(name, spelling)
    for name in (*MATH, "rsqrt", *_RENAMED):
        spelling = _RENAMED.get(name, name)
        yield macro(f"{name}_f32", f"{spelling}f")
        yield macro(f"{name}_f64", spelling)
    yield macro("make_c64", "make_float2")
    yield macro("make_c128", "make_double2")
    yield macro("bits_set_u32", "__popc")
    yield macro("bits_set_u64", "__popcll")
    yield macro("zeros_above_u32", "__clz")
    yield macro("zeros_above_u64", "__clzll")
    yield macro("bits_f32", "__float_as_uint")
    yield call_macro("bits_f64", "x", "((u64)__double_as_longlong(x))")
    yield macro("float_f32", "__uint_as_float")
    yield macro("float_f64", "__longlong_as_double")
    yield macro("inf_f32", "(1.0f / 0.0f)")
    yield macro("inf_f64", "(1.0 / 0.0)")
    yield macro("nan_f32", "__uint_as_float(0x7fc00000u)")
    yield macro("nan_f64", "__longlong_as_double(0x7ff8000000000000ll)")
    # In tables, which functions can't initialize: NVRTC divides as x86 does, whose NaN is negative.
    yield macro("static_nan_f32", "(-(0.0f / 0.0f))")
    yield macro("static_nan_f64", "(-(0.0 / 0.0))")


_REGISTERS = {  # the letters of register constraints
    "f32": "f",
    "f64": "d",
    "u16": "h",
    "s32": "r",
    "u32": "r",
    "s64": "l",
    "u64": "l",
}


#: Of a function that has it, a compiler calls equal ones once; it does not look into assembly.
_PURE = "__attribute__((const))"


def _instruction(name: str, result: str, instruction: str, *operands: str, word: str = "") -> Definition:
    """A function of one PTX instruction, which names its result `%0`, its operands, of these types, `%1` and `%2`, and a
    constant `word` after them.
    """
    parameters = ", ".join(f"{kind} {n}" for n, kind in zip("ab", operands, strict=False))
    given = ", ".join(f'"{_REGISTERS[kind]}"({n})' for n, kind in zip("ab", operands, strict=False))
    given += f', "r"({word})' * bool(word)
    return definition_of(
        f"""\
{_PURE} {result} {name}({parameters}) {{
  {result} x;
  asm("{instruction};" : "={_REGISTERS[result]}"(x) : {given});
  return x;
}}""",
    )


_INSTRUCTIONS = (
    _instruction("encode_f16", "u16", "cvt.rn.f16.f32 %0, %1", "f32"),
    _instruction("decode_f16", "f32", "cvt.f32.f16 %0, %1", "u16"),
    _instruction("encode_bf16", "u16", "cvt.rn.bf16.f32 %0, %1", "f32"),
    _instruction("maximum_f32", "f32", "max.NaN.f32 %0, %1, %2", "f32", "f32"),
    _instruction("minimum_f32", "f32", "min.NaN.f32 %0, %1, %2", "f32", "f32"),
)


def _saturations() -> Iterator[Definition]:
    """Conversions of floats to integers: an instruction truncates and clamps, and makes 0 of a NaN if no type has 64 bits."""
    for kind in (k for k in ELEMENT_TYPES.values() if k.is_integer):
        for real in ("f32", "f64"):
            storage, wide = kind.storage_type, kind.name if kind.bits >= 32 else "s32"
            low = -1 << kind.bits - 1 if kind.kind == "signed" else 0
            high = low + (1 << kind.bits) - 1
            value = "n" if kind.bits >= 32 else f"n < {low} ? {low} : n > {high} ? {high} : n"
            if "64" in wide + real:
                value = f"x != x ? 0 : {value}"
            yield definition_of(
                f"""\
{_PURE} {storage} saturate_{kind.name}_{real}({real} x) {{
  {wide} n;
  asm("cvt.rzi.{wide}.{real} %0, %1;" : "={_REGISTERS[wide]}"(n) : "{_REGISTERS[real]}"(x));
  return ({storage})({value});
}}""",
            )


#: Sums, differences and products of two bf16 are fused with 1, -1 and -0: sm_80 has no other instructions.
_FUSED = {
    "add": ("fma.rn.bf16x2 %0, %1, %3, %2", "0x3f803f80u"),
    "sub": ("fma.rn.bf16x2 %0, %2, %3, %1", "0xbf80bf80u"),
    "mul": ("fma.rn.bf16x2 %0, %1, %2, %3", "0x80008000u"),
}


def _packed() -> Iterator[Definition]:
    """The functions of words that hold two numbers of a format."""
    # Of a shift and stores of halves, ptxas makes instructions, of these names of registers it makes none.
    yield _instruction("unpack_low", "u16", "mov.b32 {%0, _}, %1", "u32")
    yield _instruction("unpack_high", "u16", "mov.b32 {_, %0}, %1", "u32")
    for name, (fused, word) in _FUSED.items():
        yield _instruction(f"packed_{name}_f16", "u32", f"{name}.rn.f16x2 %0, %1, %2", "u32", "u32")
        yield _instruction(f"packed_{name}_bf16", "u32", fused, "u32", "u32", word=word)
    for kind in ("f16", "bf16"):
        yield _instruction(f"packed_encode_{kind}", "u32", f"cvt.rn.{kind}x2.f32 %0, %2, %1", "f32", "f32")
        for name, form in (("maximum", "max.NaN"), ("minimum", "min.NaN")):
            yield _instruction(f"packed_{name}_{kind}", "u32", f"{form}.{kind}x2 %0, %1, %2", "u32", "u32")
        for name in ("neg", "abs"):
            yield _instruction(f"packed_{name}_{kind}", "u32", f"{name}.{kind}x2 %0, %1", "u32")


def _vector_stores() -> Iterator[Definition]:
    """Stores of so many bytes from a local array, as one instruction each: NVRTC splits some vectors into their elements."""
    for size, letter, form in ((2, "h", "b16"), (4, "r", "b32"), (8, "r", "v2.b32"), (16, "r", "v4.b32")):
        count = max(size // 4, 1)
        words = ", ".join(f"%{k + 1}" for k in range(count))
        given = ", ".join(f'"{letter}"(words[{k}])' for k in range(count))
        word = "u16" if size == 2 else "u32"
        yield definition_of(
            f"""\
void store_vector_{size}(void *to, const void *from) {{
  {word} words[{count}];
  memcpy(words, from, {size});
  asm volatile("st.global.{form} [%0], {f"{{{words}}}" if count > 1 else words};"
               : : "l"(__cvta_generic_to_global(to)), {given} : "memory");
}}""",
        )


def _vector_loads() -> Iterator[Definition]:
    """Loads of so many bytes to a local array, as one instruction each: NVRTC merges three neighbours to a load of four, which
    ends beyond an array that has no fourth. Memory that the kernel writes is not read by way of the read-only cache, and in
    the order of the source.
    """
    sizes = ((1, "h", "u8"), (2, "h", "b16"), (4, "r", "b32"), (8, "r", "v2.b32"))
    kinds = (("load", "asm", ".nc", ""), ("load_written", "asm volatile", "", ' : "memory"'))
    for (name, keyword, cache, clobbered), (size, letter, form) in product(kinds, sizes):
        count = max(size // 4, 1)
        words = ", ".join(f"%{k}" for k in range(count))
        given = ", ".join(f'"={letter}"(words[{k}])' for k in range(count))
        word = "u16" if size < 4 else "u32"
        yield definition_of(
            f"""\
void {name}_vector_{size}(void *to, const void *from) {{
  {word} words[{count}];
  {keyword}("ld.global{cache}.{form} {f"{{{words}}}" if count > 1 else words}, [%{count}];"
      : {given} : "l"(__cvta_generic_to_global(from)){clobbered});
  memcpy(to, words, {size});
}}""",
        )


def _async_copies() -> Iterator[Definition]:
    """Copies from global to shared memory, past the L1 cache where the instruction can."""
    for size in ASYNC_BYTES:
        yield definition_of(
            f"""\
void copy_async_{size}(void *to, const void *from) {{
  const u32 place = (u32)__cvta_generic_to_shared(to);
  asm volatile("cp.async.{"cg" if size == 16 else "ca"}.shared.global [%0], [%1], {size};"
               : : "r"(place), "l"(__cvta_generic_to_global(from)) : "memory");
}}""",
        )
    for pending in range(1, MAX_PENDING + 1):
        name = f"wait_copies_{pending}"
        wait = f"cp.async.commit_group; cp.async.wait_group {pending};"
        yield definition_of(f'void {name}() {{ asm volatile("{wait}" : : : "memory"); }}')


def _multiply_matrices(i: MatrixInstruction) -> Definition:
    """An instruction, as a function of pointers to registers."""
    bits = "f" if i.accumulator == "f32" else "r"
    kinds = ("tf32" if t == "f32" else t.removeprefix("f8").removesuffix("fn") for t in i.element_types)
    types = ".".join((i.accumulator, *kinds, i.accumulator))
    return definition_of(
        f"""\
void multiply_matrices_{i.name}({i.accumulator} *c, const u32 *a, const u32 *b) {{
  asm volatile("mma.sync.aligned.m{ROWS}n{COLUMNS}k{i.depth}.row.col.{types} "
               "{{%0, %1, %2, %3}}, {{%4, %5, %6, %7}}, {{%8, %9}}, {{%0, %1, %2, %3}};"
               : "+{bits}"(c[0]), "+{bits}"(c[1]), "+{bits}"(c[2]), "+{bits}"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}}""",
    )


def _entry(kernel: ir.Kernel, parameters: tuple[Parameter, ...], used: frozenset[int]) -> Entry:
    x, y, z = kernel.block
    taken = ", ".join(p.declaration for p in parameters)
    head = f'extern "C" __global__ void __launch_bounds__({x * y * z}) {kernel.name}({taken}) {{'
    ids = [f"{place}.{axis}" for place in ("threadIdx", "blockIdx") for axis in "xyz"]
    return Entry((head, *id_lines(kernel, ids, used)), ("}",), uses=("s32",))


CUDA = Target(
    name="cuda",
    ending=".cu",
    library=library_of(
        *(INTEGER, FLOAT, COMPLEX, _words(), read_definitions("cuda.cu")),
        *(read_definitions("cuda_reals.cu", T=real) for real in ("f32", "f64")),
        *(_vector_stores(), _vector_loads(), _async_copies(), _INSTRUCTIONS, _saturations(), _packed(), updates_at()),
        map(_multiply_matrices, INSTRUCTIONS.values()),
    ),
    has_threads=True,
    shuffle_width=32,
    vector_bytes=16,
    entry=_entry,
    function="static __device__",
    noinline=" __noinline__",
    spaces={"global": "", "shared": "", "local": "", "constant": ""},
    declarations={"shared": "__shared__ ", "local": "", "constant": "static __device__ const "},
    restrict="__restrict__",
    aligned="__align__({n})",
    barrier="__syncthreads()",
    fence="__threadfence()",
    fetch_add="atomicAdd({pointer}, {value})",
    atomics=dict(native_updates()),
    compare_and_swap=dict.fromkeys(("u16", "u32", "u64"), "atomicCAS({pointer}, {expected}, {value})"),
    # In a warp that the block does not fill, some threads read lanes that do not exist, and get undefined values. These never
    # reach a result: it is the value of the first thread of a group, which depends on threads of the group only, and a block
    # has all threads of its groups. Lanes that do not exist count as exited, for which `sync` does not wait.
    shuffle="__shfl_down_sync(0xffffffffu, {value}, {offset})",
    shuffle_first="__shfl_sync(0xffffffffu, {value}, 0, {group})",
    unroll="#pragma unroll {n}",
)
