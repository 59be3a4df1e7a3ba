"""Programs over the rows of an array, as text."""

REDUCERS = """
add { a = f32[] parameter(0)
      b = f32[] parameter(1)
      ROOT c = f32[] add(a, b) }
max { a = f32[] parameter(0)
      b = f32[] parameter(1)
      ROOT c = f32[] maximum(a, b) }
"""


def softmax(rows: int, length: int, kind: str = "f32", is_log: bool = False) -> str:
    of, row = f"[{rows},{length}]", f"[{rows}]"
    after = f"l = f32{row} log(s)" if is_log else f"l = f32{row} copy(s)"
    root = f"r = f32{of} {'subtract(d, lb)' if is_log else 'divide(e, lb)'}"
    return f"""{REDUCERS}
    ENTRY fused {{
      p = {kind}{of} parameter(0)
      x = f32{of} convert(p)
      low = f32[] constant(-inf)
      z = f32[] constant(0)
      m = f32{row} reduce(x, low), dimensions={{1}}, to_apply=max
      mb = f32{of} broadcast(m), dimensions={{0}}
      d = f32{of} subtract(x, mb)
      e = f32{of} exponential(d)
      s = f32{row} reduce(e, z), dimensions={{1}}, to_apply=add
      {after}
      lb = f32{of} broadcast(l), dimensions={{0}}
      {root}
      ROOT o = {kind}{of} convert(r)
    }}"""


def layernorm(rows: int, length: int) -> str:
    of, row = f"f32[{rows},{length}]", f"f32[{rows}]"
    return f"""{REDUCERS}
    ENTRY fused {{
      x = {of} parameter(0)
      g = f32[{length}] parameter(1)
      b = f32[{length}] parameter(2)
      z = f32[] constant(0)
      n = f32[] constant({1 / length})
      nb = {row} broadcast(n), dimensions={{}}
      s = {row} reduce(x, z), dimensions={{1}}, to_apply=add
      mean = {row} multiply(s, nb)
      mb = {of} broadcast(mean), dimensions={{0}}
      d = {of} subtract(x, mb)
      q = {of} multiply(d, d)
      v = {row} reduce(q, z), dimensions={{1}}, to_apply=add
      var = {row} multiply(v, nb)
      eps = f32[] constant(1e-5)
      epsb = {row} broadcast(eps), dimensions={{}}
      ve = {row} add(var, epsb)
      i = {row} rsqrt(ve)
      ib = {of} broadcast(i), dimensions={{0}}
      y = {of} multiply(d, ib)
      gb = {of} broadcast(g), dimensions={{1}}
      bb = {of} broadcast(b), dimensions={{1}}
      yg = {of} multiply(y, gb)
      o = {of} add(yg, bb)
      ROOT t = ({of}, {row}, {row}) tuple(o, mean, i)
    }}"""


def log_sum_exp(rows: int, length: int) -> str:
    """As JAX writes it: what is not finite is not subtracted."""
    of, row = f"f32[{rows},{length}]", f"f32[{rows}]"
    return f"""{REDUCERS}
    ENTRY fused {{
      x = {of} parameter(0)
      low = f32[] constant(-inf)
      z = f32[] constant(0)
      m = {row} reduce(x, low), dimensions={{1}}, to_apply=max
      f = pred[{rows}] is-finite(m)
      zb = {row} broadcast(z), dimensions={{}}
      k = {row} select(f, m, zb)
      kr = f32[{rows},1] reshape(k)
      kk = {row} reshape(kr)
      mb = {of} broadcast(kk), dimensions={{0}}
      d = {of} subtract(x, mb)
      e = {of} exponential(d)
      s = {row} reduce(e, z), dimensions={{1}}, to_apply=add
      l = {row} log(s)
      ROOT o = {row} add(l, k)
    }}"""


def moments(rows: int, length: int) -> str:
    """The mean of each row, and the sum of squares about it."""
    of, row = f"f32[{rows},{length}]", f"f32[{rows}]"
    return f"""{REDUCERS}
    ENTRY fused {{
      x = {of} parameter(0)
      z = f32[] constant(0)
      n = f32[] constant({length})
      nb = {row} broadcast(n), dimensions={{}}
      s = {row} reduce(x, z), dimensions={{1}}, to_apply=add
      mean = {row} divide(s, nb)
      mb = {of} broadcast(mean), dimensions={{0}}
      d = {of} subtract(x, mb)
      q = {of} multiply(d, d)
      v = {row} reduce(q, z), dimensions={{1}}, to_apply=add
      ROOT t = ({row}, {row}) tuple(mean, v)
    }}"""
