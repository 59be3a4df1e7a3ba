"""The fusions that benches/gpu.py measures, as HLO text by name."""

from collections.abc import Sequence


def binary(op: str, kind: str) -> str:
    """A reducer of two scalars, called `op`."""
    return f"{op} {{ a = {kind}[] parameter(0) b = {kind}[] parameter(1) ROOT c = {kind}[] {op}(a, b) }}\n"


def sizes_of(sizes: Sequence[int]) -> str:
    """Sizes as a shape has them."""
    return ",".join(map(str, sizes))


def chain(kind: str, count: int) -> str:
    """x * y + x, tanh: an elementwise chain."""
    return f"""f {{
      x = {kind}[{count}] parameter(0)
      y = {kind}[{count}] parameter(1)
      m = {kind}[{count}] multiply(x, y)
      a = {kind}[{count}] add(m, x)
      ROOT t = {kind}[{count}] tanh(a)
    }}"""


def biased(kind: str, rows: int, columns: int) -> str:
    """A bias added to rows, then max with zero."""
    shape = f"{kind}[{rows},{columns}]"
    return f"""f {{
      x = {shape} parameter(0)
      b = {kind}[{columns}] parameter(1)
      s = {shape} broadcast(b), dimensions={{1}}
      a = {shape} add(x, s)
      z = {kind}[] constant(0)
      n = {shape} broadcast(z), dimensions={{}}
      ROOT r = {shape} maximum(a, n)
    }}"""


def transposed(kind: str, sizes: Sequence[int], order: Sequence[int]) -> str:
    """A transpose."""
    target = sizes_of([sizes[d] for d in order])
    dims = sizes_of(order)
    source = sizes_of(sizes)
    return f"f {{ x = {kind}[{source}] parameter(0) ROOT t = {kind}[{target}] transpose(x), dimensions={{{dims}}} }}"


def reduced(kind: str, sizes: Sequence[int], dims: Sequence[int], op: str = "add") -> str:
    """A reduction, in f32, of a widened input."""
    source, kept = sizes_of(sizes), sizes_of([s for d, s in enumerate(sizes) if d not in dims])
    start = "-inf" if op == "maximum" else "0"
    widened = "x" if kind == "f32" else "w"
    widen = "" if kind == "f32" else f"w = f32[{source}] convert(x)"
    return f"""{binary(op, "f32")}ENTRY f {{
      x = {kind}[{source}] parameter(0)
      {widen}
      z = f32[] constant({start})
      ROOT s = f32[{kept}] reduce({widened}, z), dimensions={{{sizes_of(dims)}}}, to_apply={op}
    }}"""


def moments(kind: str, rows: int, columns: int) -> str:
    """Means and variances of rows, as layer normalization needs them."""
    return f"""{binary("add", "f32")}ENTRY f {{
      x = {kind}[{rows},{columns}] parameter(0)
      w = f32[{rows},{columns}] convert(x)
      q = f32[{rows},{columns}] multiply(w, w)
      z = f32[] constant(0)
      s = f32[{rows}] reduce(w, z), dimensions={{1}}, to_apply=add
      t = f32[{rows}] reduce(q, z), dimensions={{1}}, to_apply=add
      n = f32[] constant({1 / columns!r})
      b = f32[{rows}] broadcast(n), dimensions={{}}
      mean = f32[{rows}] multiply(s, b)
      square = f32[{rows}] multiply(t, b)
      product = f32[{rows}] multiply(mean, mean)
      variance = f32[{rows}] subtract(square, product)
      ROOT r = (f32[{rows}], f32[{rows}]) tuple(mean, variance)
    }}"""


def exponentials(kind: str, rows: int, columns: int) -> str:
    """The second pass of a softmax: the sum of exp(x - largest) of each row."""
    wide = f"f32[{rows},{columns}]"
    return f"""{binary("add", "f32")}ENTRY f {{
      x = {kind}[{rows},{columns}] parameter(0)
      m = f32[{rows}] parameter(1)
      w = {wide} convert(x)
      b = {wide} broadcast(m), dimensions={{0}}
      d = {wide} subtract(w, b)
      e = {wide} exponential(d)
      z = f32[] constant(0)
      ROOT s = f32[{rows}] reduce(e, z), dimensions={{1}}, to_apply=add
    }}"""


def joined(kind: str, rows: int, sizes: Sequence[int]) -> str:
    """A concatenate along the fast dimension."""
    lines = [f"p{k} = {kind}[{rows},{size}] parameter({k})" for k, size in enumerate(sizes)]
    names = ", ".join(f"p{k}" for k in range(len(sizes)))
    root = f"ROOT c = {kind}[{rows},{sum(sizes)}] concatenate({names}), dimensions={{1}}"
    return "\n".join(["f {", *lines, root, "}"])


def scatter_add(rows: int, width: int, updates: int, flags: str = "") -> str:
    """Rows added at indices."""
    return f"""{binary("add", "f32")}ENTRY f {{
      x = f32[{rows},{width}] parameter(0)
      i = s32[{updates},1] parameter(1)
      u = f32[{updates},{width}] parameter(2)
      ROOT s = f32[{rows},{width}] scatter(x, i, u), update_window_dims={{1}}, inserted_window_dims={{0}},
        scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=add{flags}
    }}"""


def gathered(kind: str, rows: int, width: int, count: int) -> str:
    """Rows looked up at indices."""
    return f"""f {{
      x = {kind}[{rows},{width}] parameter(0)
      i = s32[{count},1] parameter(1)
      ROOT g = {kind}[{count},{width}] gather(x, i), offset_dims={{1}}, collapsed_slice_dims={{0}},
        start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1,{width}}}
    }}"""


def updated(kind: str, rows: int, width: int, update: int) -> str:
    """Some rows overwritten in place."""
    return f"""f {{
      x = {kind}[{rows},{width}] parameter(0)
      u = {kind}[{update},{width}] parameter(1)
      i = s32[] parameter(2)
      z = s32[] constant(0)
      ROOT d = {kind}[{rows},{width}] dynamic-update-slice(x, u, i, z)
    }}"""


CASES: dict[str, str] = {
    **{f"chain {kind} 2^26": chain(kind, 2**26) for kind in ("f32", "bf16", "f16")},
    "bias bf16 65536x1024": biased("bf16", 2**16, 1024),
    **{f"row sum f32 {r}x{c}": reduced("f32", (r, c), (1,)) for r, c in ((2**19, 128), (2**16, 1024), (2**10, 2**16))},
    **{f"row sum bf16 {r}x{c}": reduced("bf16", (r, c), (1,)) for r, c in ((2**19, 128), (2**13, 8192))},
    "row sum f32 1024x50257": reduced("f32", (2**10, 50257), (1,)),
    "row max bf16 8192x8192": reduced("bf16", (2**13, 8192), (1,), "maximum"),
    "softmax sum bf16 8192x4096": exponentials("bf16", 2**13, 4096),
    "moments bf16 16384x4096": moments("bf16", 2**14, 4096),
    "sum f32 2^26": reduced("f32", (2**26,), (0,)),
    "max bf16 2^26": reduced("bf16", (2**26,), (0,), "maximum"),
    "column sum f32 8192x8192": reduced("f32", (8192, 8192), (0,)),
    "column sum f32 2^20x64": reduced("f32", (2**20, 64), (0,)),
    "column sum f32 2^22x8": reduced("f32", (2**22, 8), (0,)),
    "column sum bf16 16384x4096": reduced("bf16", (2**14, 4096), (0,)),
    "batch sum f32 64x256x3136": reduced("f32", (64, 256, 3136), (0, 2)),
    **{f"transpose {kind} 8192x8192": transposed(kind, (8192, 8192), (1, 0)) for kind in ("f32", "bf16", "s8", "f64")},
    "transpose f32 0213": transposed("f32", (16, 2048, 16, 128), (0, 2, 1, 3)),
    "transpose f32 210": transposed("f32", (510, 200, 510), (2, 1, 0)),
    "transpose s8 runs of 3": transposed("s8", (4096, 4096, 3), (1, 0, 2)),
    "transpose u8 pixels": transposed("u8", (64, 2**20, 3), (0, 2, 1)),
    "transpose f32 2^24x4": transposed("f32", (2**24, 4), (1, 0)),
    **{f"concatenate {kind}": joined(kind, 2**16, (256, 512, 128)) for kind in ("f32", "bf16")},
    "scatter-add": scatter_add(2**16, 256, 2**17),
    "scatter-add sorted": scatter_add(2**16, 256, 2**17, ", indices_are_sorted=true"),
    "gather bf16": gathered("bf16", 2**16, 1024, 2**17),
    "update slice bf16": updated("bf16", 2**16, 1024, 2**15),
    "reshape odd": "f { x = f32[1021,30030] parameter(0) n = f32[1021,30030] negate(x) "
    "ROOT r = f32[30030,1021] reshape(n) }",
}
