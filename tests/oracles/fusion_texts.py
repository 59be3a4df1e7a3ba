"""Small fusions, one or more an emitter, whose kernels have knobs, and a program of two."""

import indexing as ix

REDUCER = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }\n"
MAXIMUM = "max { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] maximum(a, b) }\n"
PROGRAM = """
twice { a = f32[40,25] parameter(0) ROOT sum = f32[40,25] add(a, a) }
turned { b = f32[40,25] parameter(0) ROOT t = f32[25,40] transpose(b), dimensions={1,0} }
ENTRY main {
  p = f32[40,25] parameter(0)
  f = f32[40,25] fusion(p), kind=kLoop, calls=twice
  ROOT g = f32[25,40] fusion(f), kind=kInput, calls=turned
}
"""


def reduction(source: str, target: str, dims: str) -> str:
    return f"""{REDUCER}
    ENTRY f {{ p = f32[{source}] parameter(0)
      z = f32[] constant(0)
      ROOT r = f32[{target}] reduce(p, z), dimensions={{{dims}}}, to_apply=add }}"""


def softmax(rows: int, length: int) -> str:
    shape, row = f"f32[{rows},{length}]", f"f32[{rows}]"
    return f"""{REDUCER}{MAXIMUM}
    ENTRY f {{ p = {shape} parameter(0)
      low = f32[] constant(-inf)
      m = {row} reduce(p, low), dimensions={{1}}, to_apply=max
      mb = {shape} broadcast(m), dimensions={{0}}
      d = {shape} subtract(p, mb)
      e = {shape} exponential(d)
      z = f32[] constant(0)
      s = {row} reduce(e, z), dimensions={{1}}, to_apply=add
      sb = {shape} broadcast(s), dimensions={{0}}
      ROOT r = {shape} divide(e, sb) }}"""


def scatter(attributes: str) -> str:
    return f"""{REDUCER}
    ENTRY f {{ o = f32[100] parameter(0)
      i = s32[300,1] parameter(1)
      u = f32[300] parameter(2)
      ROOT s = f32[100] scatter(o, i, u), update_window_dims={{}}, inserted_window_dims={{0}},
        scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, {attributes}to_apply=add }}"""


FUSIONS = {
    "loop": """ENTRY f { p = f32[33,40] parameter(0)
      ROOT n = f32[33,40] negate(p) }""",
    "loop of outputs of two sizes": """ENTRY f { p = f32[33,40] parameter(0)
      q = f32[4,5] parameter(1)
      n = f32[33,40] negate(p)
      m = f32[4,5] negate(q)
      ROOT t = (f32[33,40], f32[4,5]) tuple(n, m) }""",
    "transpose": "ENTRY f { p = f32[70,90] parameter(0)\n ROOT t = f32[90,70] transpose(p), dimensions={1,0} }",
    "transpose of bytes": "ENTRY f { p = s8[128,200] parameter(0)\n ROOT t = s8[200,128] transpose(p), dimensions={1,0} }",
    "transpose of short rows": "ENTRY f { p = f64[500,3] parameter(0)\n ROOT t = f64[3,500] transpose(p), dimensions={1,0} }",
    "transpose of runs": "ENTRY f { p = f32[70,90,3] parameter(0)\n ROOT t = f32[90,70,3] transpose(p), dimensions={1,0,2} }",
    "row reduction": reduction("64,1000", "64", "1"),
    "short rows": reduction("300,7", "300", "1"),
    "one row": reduction("1030", "", "0"),
    "runs of rows": reduction("6,5,40", "5", "0,2"),
    "column reduction": reduction("500,72", "72", "0"),
    "few columns": reduction("500,3", "3", "0"),
    "rows": softmax(20, 256),
    "long rows": softmax(3, 20000),
    "concatenate": """ENTRY f { p = f32[30,8] parameter(0)
      q = f32[30,12] parameter(1)
      ROOT c = f32[30,20] concatenate(p, q), dimensions={1} }""",
    "update": """ENTRY f { p = f32[30,64] parameter(0)
      u = f32[5,8] parameter(1)
      i = s32[] parameter(2)
      ROOT r = f32[30,64] dynamic-update-slice(p, u, i, i) }""",
    "scatter": scatter(""),
    "sorted scatter": scatter("indices_are_sorted=true, "),
    "unique scatter": scatter("unique_indices=true, "),
}


def fusion(name: str) -> ix.hlo.Computation:
    """The computation of one of the FUSIONS, of a module of its own."""
    return ix.hlo.parse(FUSIONS[name]).entry


def fusion_of(body: str, *operands: str, out: str) -> str:
    """A program whose root is a fusion with this body, of parameters of these shapes."""
    names = ", ".join(f"p{k}" for k in range(len(operands)))
    lines = "\n".join(f"  p{k} = {shape} parameter({k})" for k, shape in enumerate(operands))
    adder = "sum { a = s32[] parameter(0)\n b = s32[] parameter(1)\n ROOT c = s32[] add(a, b) }"
    return (
        f"HloModule m\n{adder}\nf {{\n{lines}\n{body}\n}}\nENTRY e {{\n{lines}\n"
        f"  ROOT r = {out} fusion({names}), kind=kLoop, calls=f\n}}\n"
    )


def texts(actual: list[list[object]]) -> list[list[str]]:
    return [[str(m.map) for m in maps] for maps in actual]
