"""Knobs as data: every plan that a space allows can be emitted, and what it does not allow is refused."""

import pickle
import random

import numpy as np
import pytest

import indexing as ix
from indexing.emitters.knob_space import Condition, Knob, KnobSpace

REDUCER = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }\n"
MAXIMUM = "max { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] maximum(a, b) }\n"


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
EMITTERS = {
    "transpose": "transpose",
    "row reduction": "reduction",
    "rows": "rows",
    "concatenate": "concatenate",
    "update": "dynamic-update-slice",
    "sorted scatter": "scatter",
}


def computation(name: str) -> ix.hlo.Computation:
    return ix.hlo.parse(FUSIONS[name]).entry


@pytest.mark.parametrize("name", FUSIONS)
@pytest.mark.parametrize("dialect", ["cuda", "c"])
def test_every_allowed_plan_emits(name: str, dialect: str) -> None:
    fusion = computation(name)
    space = ix.knobs(fusion, dialect)
    plans = list(space.plans())
    for plan in random.Random(7).sample(plans, min(len(plans), 12)):
        kernel = ix.emit(fusion, dialect, **plan)
        assert kernel.emitter == space.emitter and kernel.grid[0] * kernel.block[0] >= 1
        assert kernel.block[0] <= 1024 and kernel.shared_bytes <= 48 * 1024, plan


@pytest.mark.parametrize("name", FUSIONS)
@pytest.mark.parametrize("dialect", ["cuda", "c"])
def test_the_default_is_what_emit_makes(name: str, dialect: str) -> None:
    fusion = computation(name)
    space = ix.knobs(fusion, dialect)
    assert space.check({}) == space.default
    assert ix.emit(fusion, dialect, **space.default).source == ix.emit(fusion, dialect).source


@pytest.mark.parametrize("name", FUSIONS)
def test_what_is_not_allowed_is_refused(name: str) -> None:
    """But for combinations that the space leaves out since they can't run well."""
    fusion, draw = computation(name), random.Random(3)
    space = ix.knobs(fusion)
    refused = 0
    for _ in range(60):
        plan = {k.name: draw.choice([*k.choices, 0, 3, 48, -1, 2048, 5000]) for k in space.knobs}
        if space.allows({n: np.array([v]) for n, v in plan.items()})[0] or plan.get("keep") == 2:
            continue
        if "max_blocks" in plan and plan["vector_width"] in (1, 2, 4, 8, 16) and 1 <= plan["block_size"] <= 1024:
            continue  # outputs of different sizes: the width is then 1
        with pytest.raises(ix.IndexingError):
            ix.emit(fusion, **plan)
        with pytest.raises(ix.IndexingError):
            space.check(plan)
        refused += 1
    assert refused


@pytest.mark.parametrize("name", FUSIONS)
def test_samples_and_grids_are_allowed(name: str) -> None:
    space = ix.knobs(computation(name))
    assert space.emitter == EMITTERS.get(name, space.emitter)
    sample, grid = space.sample(50, seed=5), space.grid()
    assert space.allows(sample).all() and space.allows(grid).all()
    assert all((a == b).all() for a, b in zip(sample.values(), space.sample(50, seed=5).values(), strict=True))
    rows = list(zip(*grid.values(), strict=True))
    assert len(set(rows)) == len(rows) <= space.size
    assert tuple(space.default.values()) in rows
    assert pickle.loads(pickle.dumps(space)) == space


def small() -> KnobSpace:
    return KnobSpace(
        "some",
        (Knob("a", (1, 2), 1), Knob("b", range(1, 9), 2), Knob("c", range(100), 0)),
        (Condition("b", ("a",), {(1,): range(1, 3), (2,): (4, 8)}),),
    )


def test_a_space_by_enumeration() -> None:
    space = small()
    legal = [(a, b, c) for a in (1, 2) for b in ((1, 2) if a == 1 else (4, 8)) for c in range(100)]
    assert space.size == len(legal)
    every = [(a, b, c) for a in range(4) for b in range(10) for c in range(-1, 102)]
    columns = dict(zip("abc", np.array(every).T, strict=True))
    assert [row for row, ok in zip(every, space.allows(columns), strict=True) if ok] == legal
    assert [tuple(p.values()) for p in space.plans(c=range(100))] == legal
    assert space.legal("b", {"a": 2}) == (4, 8)
    assert space.knobs[2].choices == (0, 1, 2, 4, 8, 16, 32, 64, 99)


def test_columns_are_checked() -> None:
    space = small()
    columns = space.columns({"b": [1, 2, 1]})
    assert {n: c.tolist() for n, c in columns.items()} == {"a": [1, 1, 1], "b": [1, 2, 1], "c": [0, 0, 0]}
    with pytest.raises(ix.IndexingError, match=r"no knob 'd'; it has a, b, c"):
        space.columns({"d": [1]})
    with pytest.raises(ix.IndexingError, match="one length"):
        space.columns({"a": [1, 2], "b": [1, 2, 1]})
    with pytest.raises(TypeError, match="integers"):
        space.columns({"a": [1.5]})
    with pytest.raises(ix.IndexingError, match=r"b is one of \{4, 8\} where a = 2, c = 0; got 1"):
        space.check({"a": 2, "b": 1})


def test_its_text_says_all() -> None:
    assert str(small()).splitlines() == [
        "some emitter:",
        "a in {1, 2}, by default 1",
        "b in [1, 8], by default 2",
        "c in [0, 99], by default 0",
        "b in {1, 2} where a = 1",
        "b in {4, 8} where a = 2",
    ]
