"""Loops of C that a compiler makes vectors of: functions, choices, guards."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from functools import partial

import pytest

import indexing as ix
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.text import IDS
from indexing.kernels.passes.thread_loops import make_thread_loops
from indexing.kernels.targets import TARGETS, write
from indexing.runtime import compiler
from ir_kernels import elementwise
from ir_reader import read_kernel


def of_f32(opcode: str, *operands: ir.Value) -> ir.Op:
    return ir.Op(opcode, "f32", operands)


def becomes_vectors(value: Callable[..., ir.Value], inputs: int) -> bool:
    """Whether the compiler makes vectors of the loop over an elementwise kernel's threads."""
    kernel = elementwise(value, ["f32"] * inputs, "f32", 4096)
    return has_vectors(write(make_thread_loops(kernel), TARGETS["c"]))


def has_vectors(source: str) -> bool:
    """Whether the compiler makes vectors of a loop of a kernel; True where it isn't gcc."""
    c_compiler = compiler.find_compiler()
    if "gcc" not in subprocess.run([*c_compiler.command, "-v"], capture_output=True, text=True, check=False).stderr:
        return True  # only gcc says it in this form
    command = [*c_compiler.command, *c_compiler.flags, "-fopt-info-vec-optimized", "-", "-o", os.devnull, "-c"]
    return "loop vectorized" in subprocess.run(command, input=source, capture_output=True, text=True, check=True).stderr


def test_functions_of_f32_become_vectors() -> None:
    names = (
        "exp expm1 log log1p logistic sin cos tan sinh cosh tanh sqrt rsqrt cbrt acos acosh asin asinh atan atanh erf"
    )
    for opcode in [*names.split(), "pow", "atan2", "maximum", "round_away", "sign"]:
        inputs = 2 if opcode in ("pow", "atan2", "maximum") else 1
        assert becomes_vectors(partial(of_f32, opcode), inputs), opcode


def test_the_sign_of_a_byte_becomes_vectors() -> None:
    text = """HloModule levels
ENTRY main { x = f32[4096] parameter(0) b = u8[4096] convert(x) c = f32[4096] convert(b)
  one = f32[] constant(1) ones = f32[4096] broadcast(one), dimensions={} d = f32[4096] subtract(c, ones)
  s = f32[4096] sign(d) e = f32[4096] multiply(s, x) ROOT r = (u8[4096], f32[4096]) tuple(b, e) }"""
    (kernel,) = ix.emit_all(ix.hlo.parse(text), device="cpu")
    assert has_vectors(kernel.source)


def test_a_choice_of_predicates_becomes_vectors() -> None:
    def value(a: ir.Value, b: ir.Value) -> ir.Value:
        greater, less = (ir.Op(opcode, "pred", (a, b)) for opcode in ("gt", "lt"))
        chosen = ir.Op("select", "pred", (ir.Op("eq", "pred", (greater, less)), ir.Op("ne", "pred", (a, a)), greater))
        return ir.Op("select", "f32", (chosen, a, b))

    assert becomes_vectors(value, 2)


@pytest.mark.parametrize("guard", ["t mod 4 * 32 + bl_x", "t"])
def test_loads_under_guards_become_vectors(guard: str) -> None:
    ids = "".join(f"  index {name} in [0, {15 * (name == 'bl_x')}] thread\n" for name in IDS)
    text = f"""kernel k emitter loop grid (16, 1, 1) block (1, 1, 1)
buffer p0: f32[4096] global input 0
buffer o0: f32[4096] global output 0
entry
{ids}  for t in [0, 127] = 0 to 128 step 1
    if within({guard}, [, 99])
      v = load.f32 p0[t + bl_x * 128]
      store o0[t + bl_x * 128] = neg.f32(v)
"""
    assert has_vectors(write(read_kernel(text), TARGETS["c"]))


ZERO, SIX = ir.Constant("f32", 0.0), ir.Constant("f32", 6.0)


def of_integers(opcode: str, *operands: ir.Value) -> ir.Op:
    return ir.Op(opcode, "s32", operands)


def in_row(index: ir.Value) -> ir.Value:
    """An index into a row of 67, from its end if it is negative, clamped."""
    none, row, last = (ir.Constant("s32", n) for n in (0, 67, 66))
    from_end = of_integers("select", ir.Op("lt", "pred", (index, none)), of_integers("add", index, row), index)
    return of_integers("clamp", none, from_end, last)


def between_two(x: ir.Value) -> ir.Value:
    """The place in a row between which and the next a float is, and the float's distance from it, as one number."""
    index = ir.Op("saturate", "s32", (x,), "s32")
    return of_f32("mul", of_f32("sub", x, of_f32("convert", index)), of_f32("convert", in_row(index)))


@pytest.mark.parametrize(
    ("value", "inputs"),
    [
        (lambda x: of_f32("pow", of_f32("log1p", x), SIX), 1),
        (lambda x: of_f32("log", of_f32("log", x)), 1),
        (lambda x: of_f32("cos", of_f32("sin", x)), 1),
        (lambda x: of_f32("cbrt", of_f32("atanh", x)), 1),
        (lambda x, y: of_f32("exp", of_f32("pow", x, y)), 2),
        (lambda x: of_f32("minimum", of_f32("maximum", x, ZERO), SIX), 1),
        (lambda x, y, z: of_f32("maximum", of_f32("maximum", x, y), z), 3),
        (lambda x: of_f32("log", of_f32("maximum", x, ZERO)), 1),
        (between_two, 1),
        (lambda x, y: of_f32("pow", of_f32("select", ir.Op("lt", "pred", (x, y)), x, SIX), y), 2),
    ],
    ids="pow(log1p) log(log) cos(sin) cbrt(atanh) exp(pow) clip maximum(maximum) log(relu) between_two pow(select)".split(),
)
def test_functions_of_functions_become_vectors(value: Callable[..., ir.Value], inputs: int) -> None:
    assert becomes_vectors(value, inputs)
