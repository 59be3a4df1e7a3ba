"""Atomic updates on CUDA: functions of one instruction, and library functions where instructions depend on the GPU."""

from __future__ import annotations

from collections.abc import Iterator

from indexing.kernels.targets.library import Definition, definition_of

VECTOR_BYTES = 16
_SIZES = {"f32": 4, "f16": 2, "bf16": 2}


def native_updates() -> Iterator[tuple[tuple[str, str], str]]:
    """Native atomic updates by opcode and type. 64-bit min and max have signed forms; for the others, the unsigned form gives
    the same bits.
    """
    names = {"add": "Add", "maximum": "Max", "minimum": "Min", "and": "And", "or": "Or", "xor": "Xor"}
    for opcode, name in names.items():
        for kind in ("s32", "u32", "s64", "u64"):
            unsigned = kind == "s64" and opcode not in ("maximum", "minimum")
            form = (
                "((unsigned long long *){pointer}, (unsigned long long){value})" if unsigned else "({pointer}, {value})"
            )
            yield (opcode, kind), f"atomic{name}{form}"
    for kind in ("f32", "f64"):
        yield ("add", kind), "atomicAdd({pointer}, {value})"


def updates_at() -> Iterator[Definition]:
    """Functions that update neighbouring elements of global memory: `add_at_f32_4` adds to four."""
    for kind, size in _SIZES.items():
        for count in (1, 2, 4, 8):
            if count * size <= VECTOR_BYTES and (kind, count) != ("f32", 1):
                yield _sum(kind, count)
    for opcode in ("maximum", "minimum"):
        for kind, widths in (("f32", (1, 2, 4)), ("f64", (1, 2))):
            yield _extremum(opcode, kind)
            yield from (_extrema(opcode, kind, count) for count in widths)


def _sum(kind: str, count: int) -> Definition:
    """The addition to `count` neighbours: one instruction since sm_90, before one by one."""
    own, letter, rounds = ("f32", "f", "") if kind == "f32" else ("u16", "h", ".noftz")
    values = "abcdefgh"[:count]
    lanes, places = (f".v{count}", f"{{{_places(1, count)}}}") if count > 1 else ("", "%1")
    given = ", ".join(f'"{letter}"({v})' for v in values)
    body = f"""\
  asm volatile("red.global.add{rounds}{lanes}.{kind} [%0], {places};"
               : : "l"(__cvta_generic_to_global(at)), {given} : "memory");"""
    before = _before_sm_90(kind, values)
    if before:
        body = f"#if __CUDA_ARCH__ >= 900\n{body}\n#else\n{before}\n#endif"
    name = f"add_at_{kind}_{count}"
    return definition_of(f"void {name}({own} *at, {_parameters(own, values)}) {{\n{body}\n}}")


def _before_sm_90(kind: str, values: str) -> str:
    """The additions of these values one by one; "" for one of f16, which is an instruction."""
    if len(values) > 1:
        one = "atomicAdd" if kind == "f32" else f"add_at_{kind}_1"
        return "\n".join(f"  {one}(at + {k}, {v});" for k, v in enumerate(values))
    if kind == "f16":
        return ""
    return """\
  u16 old = *(volatile u16 *)at, seen;
  do {
    seen = old;
    old = atomicCAS(at, seen, encode_bf16(decode_bf16(seen) + decode_bf16(a)));
  } while (old != seen);"""


def _extremum(opcode: str, kind: str) -> Definition:
    """The maximum or minimum of floats by those of integers: bits of numbers with one sign are ordered as the numbers, or the
    other way round. All bits but the sign, for a maximum, or all, for a minimum, are a NaN that no number replaces. Other NaNs
    can only have been there before; all threads see them, and leave them.
    """
    width = kind[1:]
    after, own, other, shift = (">", "Max", "Min", " >> 1") if opcode == "maximum" else ("<", "Min", "Max", "")
    return definition_of(
        f"""\
void {opcode}_after_{kind}({kind} old, {kind} *at, {kind} x) {{
  if (old != old || old {after} x) return;
  const u{width} bits = x == x ? (u{width})bits_{kind}(x) : ~(u{width})0{shift};
  if ((s{width})bits >= 0) atomic{own}((s{width} *)at, (s{width})bits);
  else atomic{other}((u{width} *)at, bits);
}}""",
    )


def _extrema(opcode: str, kind: str, count: int) -> Definition:
    """The maxima or minima of `count` neighbours, which are loaded together, as others may change them."""
    values = "abcdefgh"[:count]
    name = f"{opcode}_at_{kind}_{count}"
    lanes, places = (f".v{count}", f"{{{_places(0, count)}}}") if count > 1 else ("", "%0")
    held = ", ".join(f'"={"d" if kind == "f64" else "f"}"(old[{k}])' for k in range(count))
    each = "\n".join(f"  {opcode}_after_{kind}(old[{k}], at + {k}, {v});" for k, v in enumerate(values))
    return definition_of(
        f"""\
void {name}({kind} *at, {_parameters(kind, values)}) {{
  {kind} old[{count}];
  asm volatile("ld.relaxed.gpu.global{lanes}.{kind} {places}, [%{count}];"
               : {held} : "l"(__cvta_generic_to_global(at)) : "memory");
{each}
}}""",
    )


def _places(first: int, count: int) -> str:
    """The operands of an instruction, from one on."""
    return ", ".join(f"%{first + k}" for k in range(count))


def _parameters(kind: str, names: str) -> str:
    return ", ".join(f"{kind} {name}" for name in names)
