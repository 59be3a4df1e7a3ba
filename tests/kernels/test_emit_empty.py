"""Arrays without elements, as results, parts and operands; and heroes that need one another."""

import numpy as np
import pytest

import indexing as ix
from kernels import as_list, check, compiled, random_array

ADD = "add { a = s32[] parameter(0)\n b = s32[] parameter(1)\n ROOT s = s32[] add(a, b) }\n"

EMPTY = {
    "beside another": """q = s32[7,3,0] parameter(1)
        a = s32[4,7] negate(p)
        b = s32[7,3,0] negate(q)
        ROOT r = (s32[4,7], s32[7,3,0]) tuple(a, b)""",
    "slice": """s = s32[0,7] slice(p), slice={[0:0], [0:7]}
        ROOT r = s32[0,7] negate(s)""",
    "slice that is padded": """s = s32[0,7] slice(p), slice={[2:2], [0:7]}
        z = s32[] constant(5)
        n = s32[0,7] negate(s)
        ROOT r = s32[3,7] pad(n, z), padding=1_2x0_0""",
    "padding away": """z = s32[] constant(5)
        n = s32[4,7] negate(p)
        ROOT r = s32[2,7] pad(n, z), padding=-4_2x0_0""",
    "concatenate": """s = s32[0,7] slice(p), slice={[1:1], [0:7]}
        n = s32[0,7] negate(s)
        ROOT r = s32[4,7] concatenate(n, p, s), dimensions={0}""",
    "reduce": """s = s32[4,0] slice(p), slice={[0:4], [3:3]}
        n = s32[4,0] negate(s)
        z = s32[] constant(3)
        ROOT r = s32[4] reduce(n, z), dimensions={1}, to_apply=add""",
    "reduce to nothing": """s = s32[0,7] slice(p), slice={[0:0], [0:7]}
        z = s32[] constant(3)
        ROOT r = s32[0] reduce(s, z), dimensions={1}, to_apply=add""",
    "reduce and an empty side": """q = s32[0] parameter(1)
        z = s32[] constant(3)
        m = s32[4] reduce(p, z), dimensions={1}, to_apply=add
        n = s32[0] negate(q)
        ROOT r = (s32[4], s32[0]) tuple(m, n)""",
    "transpose": """s = s32[4,0] slice(p), slice={[0:4], [1:1]}
        t = s32[0,4] transpose(s), dimensions={1,0}
        u = s32[7,4] transpose(p), dimensions={1,0}
        ROOT r = (s32[0,4], s32[7,4]) tuple(t, u)""",
    "dot": """s = s32[4,0] slice(p), slice={[0:4], [1:1]}
        ROOT r = s32[4,4] dot(s, s), lhs_contracting_dims={1}, rhs_contracting_dims={1}""",
    "reshape": """s = s32[4,0] slice(p), slice={[0:4], [1:1]}
        n = s32[4,0] negate(s)
        h = s32[0,3] reshape(n)
        ROOT r = s32[3,0] transpose(h), dimensions={1,0}""",
    "update of nothing": """s = s32[0,7] slice(p), slice={[0:0], [0:7]}
        z = s32[] constant(0)
        n = s32[4,7] negate(p)
        ROOT r = s32[4,7] dynamic-update-slice(n, s, z, z)""",
    "scatter into nothing": """t = s32[0] parameter(1)
        i = s32[2,1] constant({{0}, {1}})
        u = s32[2] constant({1, 2})
        ROOT r = s32[0] scatter(t, i, u), update_window_dims={}, inserted_window_dims={0},
          scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add""",
    "gather of nothing": """i = s32[0,1] parameter(1)
        g = s32[0,7] gather(p, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1,
          slice_sizes={1,7}
        ROOT r = s32[0,7] negate(g)""",
}


@pytest.mark.parametrize("body", EMPTY.values(), ids=EMPTY.keys())
def test_arrays_without_elements(body: str) -> None:
    text = f"{ADD}ENTRY f {{\n p = s32[4,7] parameter(0)\n {body} }}"
    check(text)
    module = ix.hlo.parse(text)
    rng = np.random.default_rng(0)
    arrays = [random_array(p.shape, rng) for p in module.entry.parameters]
    for got, want in zip(as_list(compiled(text)(*arrays)), as_list(ix.evaluate(text, *arrays)), strict=True):
        assert got.shape == want.shape
        assert np.array_equal(got, want)


CHAINED = {
    "initial value": """v = s32[] reduce(p, z), dimensions={0,1}, to_apply=add
        w = s32[] reduce(p, v), dimensions={0,1}, to_apply=add
        n = s32[] negate(v)
        ROOT r = (s32[], s32[]) tuple(n, w)""",
    "initial value, first output last": """v = s32[] reduce(p, z), dimensions={0,1}, to_apply=add
        w = s32[] reduce(p, v), dimensions={0,1}, to_apply=add
        n = s32[] negate(v)
        ROOT r = (s32[], s32[]) tuple(w, n)""",
    "what the initial value is made of": """v = s32[] reduce(p, z), dimensions={0,1}, to_apply=add
        k = s32[] multiply(v, v)
        w = s32[] reduce(p, k), dimensions={0,1}, to_apply=add
        ROOT r = (s32[], s32[]) tuple(v, w)""",
    "operand": """v = s32[33] reduce(p, z), dimensions={1}, to_apply=add
        b = s32[33,70] broadcast(v), dimensions={0}
        d = s32[33,70] subtract(p, b)
        w = s32[33] reduce(d, z), dimensions={1}, to_apply=add
        ROOT r = (s32[33], s32[33]) tuple(v, w)""",
    "transposes": """t = s32[70,33] transpose(p), dimensions={1,0}
        u = s32[33,70] transpose(t), dimensions={1,0}
        n = s32[33,70] negate(u)
        ROOT r = (s32[70,33], s32[33,70]) tuple(t, n)""",
}


@pytest.mark.parametrize("body", CHAINED.values(), ids=CHAINED.keys())
def test_heroes_that_need_one_another(body: str) -> None:
    check(f"{ADD}ENTRY f {{\n p = s32[33,70] parameter(0)\n z = s32[] constant(0)\n {body} }}")
