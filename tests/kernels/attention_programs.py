"""Attentions as programs state them: HLO texts of one entry, by the steps between the two products."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """The sizes of an attention."""

    batch: int = 2
    heads: int = 3
    rows: int = 12
    keys: int = 32
    depth: int = 16
    columns: int = 16


REDUCERS = """
larger { a = KIND[] parameter(0)
  b = KIND[] parameter(1)
  ROOT r = KIND[] maximum(a, b) }
sum { a = KIND[] parameter(0)
  b = KIND[] parameter(1)
  ROOT r = KIND[] add(a, b) }
"""

CAUSAL = """
  is = s32[R,K] iota(), iota_dimension=0
  js = s32[R,K] iota(), iota_dimension=1
  near = pred[R,K] compare(is, js), direction=GE
  allowed = pred[B,H,R,K] broadcast(near), dimensions={2,3}
  hidden = KIND[] constant(HIDDEN)
  hiddens = KIND[B,H,R,K] broadcast(hidden), dimensions={}
  logits = KIND[B,H,R,K] select(allowed, scaled, hiddens)"""
BIAS = """
  bias = KIND[B,K] parameter(3)
  biases = KIND[B,H,R,K] broadcast(bias), dimensions={0,3}
  logits = KIND[B,H,R,K] add(scaled, biases)"""
MASKED = """
  mask = pred[B,K] parameter(3)
  masks = pred[B,H,R,K] broadcast(mask), dimensions={0,3}
  hidden = KIND[] constant(HIDDEN)
  hiddens = KIND[B,H,R,K] broadcast(hidden), dimensions={}
  logits = KIND[B,H,R,K] select(masks, scaled, hiddens)"""
NONE = """
  logits = KIND[B,H,R,K] copy(scaled)"""
SAFE = """
  finite = pred[B,H,R] is-finite(most)
  zeros = KIND[B,H,R] broadcast(zero), dimensions={}
  shift = KIND[B,H,R] select(finite, most, zeros)"""
PLAIN = """
  shift = KIND[B,H,R] copy(most)"""
BEFORE = """
  totals = KIND[B,H,R,K] broadcast(total), dimensions={0,1,2}
  weights = KIND[B,H,R,K] divide(e, totals)
  ROOT out = KIND[B,H,R,D] dot(weights, v), lhs_batch_dims={0,1}, lhs_contracting_dims={3}, rhs_batch_dims={0,1}, rhs_contracting_dims={2}"""
AFTER = """
  product = KIND[B,H,R,D] dot(e, v), lhs_batch_dims={0,1}, lhs_contracting_dims={3}, rhs_batch_dims={0,1}, rhs_contracting_dims={2}
  totals = KIND[B,H,R,D] broadcast(total), dimensions={0,1,2}
  ROOT out = KIND[B,H,R,D] divide(product, totals)"""


def attention(
    mask: str = NONE,
    shift: str = PLAIN,
    end: str = BEFORE,
    kind: str = "f32",
    hidden: str = "-inf",
    sizes: Sizes = Sizes(),
) -> str:
    """The text of an attention with these steps; queries, keys, values and what the mask reads are its parameters."""
    text = f"""{REDUCERS}
ENTRY attention {{
  q = KIND[B,H,R,C] parameter(0)
  k = KIND[B,H,K,C] parameter(1)
  v = KIND[B,H,K,D] parameter(2)
  scores = KIND[B,H,R,K] dot(q, k), lhs_batch_dims={{0,1}}, lhs_contracting_dims={{3}}, rhs_batch_dims={{0,1}}, rhs_contracting_dims={{3}}
  scale = KIND[] constant(0.25)
  scales = KIND[B,H,R,K] broadcast(scale), dimensions={{}}
  scaled = KIND[B,H,R,K] multiply(scores, scales){mask}
  lowest = KIND[] constant(-inf)
  zero = KIND[] constant(0)
  most = KIND[B,H,R] reduce(logits, lowest), dimensions={{3}}, to_apply=larger{shift}
  shifts = KIND[B,H,R,K] broadcast(shift), dimensions={{0,1,2}}
  difference = KIND[B,H,R,K] subtract(logits, shifts)
  e = KIND[B,H,R,K] exponential(difference)
  total = KIND[B,H,R] reduce(e, zero), dimensions={{3}}, to_apply=sum{end}
}}"""
    s = sizes
    named = {"B": s.batch, "H": s.heads, "R": s.rows, "K": s.keys, "C": s.depth, "D": s.columns}
    for name, size in named.items():
        for before, after in (("[", ","), (",", ","), (",", "]"), ("[", "]")):
            text = text.replace(f"{before}{name}{after}", f"{before}{size}{after}")
    return text.replace("KIND", kind).replace("HIDDEN", hidden)
