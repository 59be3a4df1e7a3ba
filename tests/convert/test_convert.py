"""Conversions: round trips, values against numpy and isl, and refusals."""

import ast
import copy
import functools
import itertools
import operator
import pickle

import islpy
import numpy as np
import pytest
import tensor_layouts
from hypothesis import given, settings
from hypothesis import strategies as st
from tensor_layouts import atoms_nv

import indexing as ix
from indexing import convert
from indexing.convert import polyhedral


def parse(text: str) -> ix.IndexingMap:
    return ix.IndexingMap.parse(text)


def test_strides_are_those_of_numpy() -> None:
    array = np.arange(60, dtype=np.int16).reshape(3, 4, 5)[::-1, :, 1::2]
    offset = int(array[0, 0, 0])
    strided = convert.Strided(array.shape, tuple(s // 2 for s in array.strides), offset)
    m = convert.from_strides(strided)
    assert all(m.evaluate(i)[0] == array[i] for i in np.ndindex(*array.shape))
    assert convert.to_strides(m) == strided
    assert strided.byte_strides(2) == array.strides


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("(4,8):(8,1)", lambda i, j: 8 * i + j),
        ("((2,3),4):((1,8),2)", lambda i, j: i % 2 + i // 2 * 8 + 2 * j),
        ("12:3", lambda i: 3 * i),
        ("(2,(2,(3,2))):(100,(10,(1,50)))", lambda i, j: 100 * i + j % 2 * 10 + j // 2 % 3 + j // 6 * 50),
        ("(3,4):(0,1)", lambda i, j: j),
    ],
)
def test_cute_layouts(text: str, value: object) -> None:
    m = convert.from_cute(text)
    for dims, _ in m.points():
        assert m.evaluate(dims) == (value(*dims),)  # type: ignore[operator]
    assert convert.from_cute(convert.to_cute(m)).equivalent(m)


@pytest.mark.parametrize("text", ["(4,8):(8,1)", "((2,3),4):((1,8),2)", "12:3", "(3,4):(0,1)", "(2,(2,6)):(40,(10,1))"])
def test_cute_text_round_trips(text: str) -> None:
    assert convert.to_cute(convert.from_cute(text)) == text


def test_linear_layouts() -> None:
    """A swizzle: rows of 8, the column xor the row."""
    bases = {"row": [[9], [18], [36]], "column": [[1], [2], [4]]}
    m = convert.from_linear_layout(bases)
    for row, column in itertools.product(range(8), range(8)):
        assert m.evaluate([row, column]) == (8 * row + (row ^ column),)
    assert convert.to_linear_layout(m) == bases
    blocked = parse(
        "(lane, register) -> (lane floordiv 4, (lane mod 4) * 2 + register), domain: lane in [0, 31], register in [0, 1]"
    )
    assert convert.to_linear_layout(blocked) == {
        "lane": [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]],
        "register": [[0, 1]],
    }


MAPS = [
    "(d0, d1)[s0] -> (d0 * 8 + s0, d1 floordiv 4), domain: d0 in [0, 3], d1 in [0, 7], s0 in [0, 7], d0 + s0 in [0, 9]",
    "(d0) -> ((d0 * 3 + 1) mod 5 - d0, 7), domain: d0 in [-4, 9], (d0 + 1) mod 3 in [0, 1]",
    "(d0, d1) -> (), domain: d0 in [2, 2], d1 in [0, 4]",
    "()[s0] -> (s0 floordiv 2 + s0 mod 2), domain: s0 in [0, 9]",
]


@pytest.mark.parametrize("text", MAPS)
def test_affine_maps_round_trip(text: str) -> None:
    m = parse(text)
    assert polyhedral.from_affine_map(polyhedral.to_affine_map(m), polyhedral.to_affine_set(m)).equivalent(m)


def test_affine_text() -> None:
    m = parse("(d0)[s0] -> (d0 floordiv 2 + s0), domain: d0 in [0, 9], s0 in [0, 3]")
    assert polyhedral.to_affine_map(m) == "affine_map<(d0)[s0] -> (s0 + d0 floordiv 2)>"
    assert polyhedral.to_affine_set(m) == "affine_set<(d0)[s0] : (d0 >= 0, 9 - d0 >= 0, s0 >= 0, 3 - s0 >= 0)>"


@pytest.mark.parametrize("text", MAPS)
def test_isl_agrees_and_round_trips(text: str) -> None:
    m = parse(text)
    relation = islpy.Map(convert.to_isl(m))
    pairs = {(d, m.evaluate(d, s)) for d, s in m.points()}
    actual = set()

    def add(point: islpy.Point) -> None:
        space = point.get_space()
        numbers = [
            point.get_coordinate_val(islpy.dim_type.set, k).to_python() for k in range(space.dim(islpy.dim_type.set))
        ]
        actual.add((tuple(numbers[: m.num_dims]), tuple(numbers[m.num_dims :])))

    relation.wrap().flatten().foreach_point(add)
    assert actual == pairs
    assert convert.from_isl(convert.to_isl(m)).equivalent(m)


def test_runtime_variables_are_parameters_of_isl() -> None:
    m = parse("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 6]")
    assert convert.to_isl(m).startswith("[rt0] -> { [d0] -> [out0] : ")
    assert convert.from_isl(convert.to_isl(m)).equivalent(m)
    with pytest.raises(ix.InvalidMap, match="runtime"):
        polyhedral.to_affine_map(m)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 5), st.integers(0, 40)), min_size=1, max_size=4), st.integers(0, 3))
def test_any_cute_layout_survives(leaves: list[tuple[int, int]], split: int) -> None:
    groups = [leaves[:split], leaves[split:]]
    shape, stride = (",".join("(" + ",".join(str(leaf[k]) for leaf in g) + ")" for g in groups if g) for k in (0, 1))
    m = convert.from_cute(f"({shape}):({stride})")
    assert convert.from_cute(convert.to_cute(m)).equivalent(m)


@pytest.mark.parametrize(
    ("text", "convertor", "why"),
    [
        ("(d0) -> (d0 floordiv 2), domain: d0 in [0, 5]", convert.to_strides, "strides"),
        ("(d0) -> (d0 + 1), domain: d0 in [0, 5]", convert.to_cute, "begins at 0"),
        ("(d0) -> ((d0 * 2) mod 5), domain: d0 in [0, 5]", convert.to_cute, "digits"),
        ("(d0, d1) -> ((d0 + d1) mod 4), domain: d0 in [0, 3], d1 in [0, 3]", convert.to_cute, "mixes"),
        ("(d0) -> (d0), domain: d0 in [0, 5]", convert.to_linear_layout, "powers of two"),
        ("(d0) -> (d0 * 3), domain: d0 in [0, 3]", convert.to_linear_layout, "linear"),
        ("(d0)[s0] -> (d0), domain: d0 in [0, 3], s0 in [0, 3]", convert.to_strides, "range"),
        ("(d0) -> (d0), domain: d0 in [0, 3], d0 mod 2 in [0, 0]", convert.to_strides, "box"),
        ("(d0) -> (max(d0, 3)), domain: d0 in [0, 5]", polyhedral.to_affine_map, "max"),
        ("(d0, d1) -> (d0 * d1), domain: d0 in [0, 3], d1 in [0, 3]", convert.to_isl, "product"),
    ],
)
def test_what_cannot_be_said_is_refused(text: str, convertor: object, why: str) -> None:
    with pytest.raises(ix.InvalidMap, match=why):
        convertor(parse(text))  # type: ignore[operator]


@pytest.mark.parametrize("text", ["", "4", "(4:1", "(4,):x", "4:1:2", "(a):(b)"])
def test_text_that_is_no_layout(text: str) -> None:
    with pytest.raises(ix.IndexingError):
        convert.from_cute(text)


@pytest.mark.parametrize("text", ["", "{ [d0] -> }", "{ [d0] -> [o] : o }", "(d0) -> (d0)"])
def test_text_that_is_no_relation(text: str) -> None:
    with pytest.raises(ix.IndexingError):
        convert.from_isl(text)


# ---------------------------------------------------------------- held against tensor-layouts

MODES = st.recursive(
    st.tuples(st.integers(1, 5), st.integers(0, 40)),
    lambda inner: st.lists(inner, min_size=1, max_size=3).map(
        lambda parts: (tuple(s for s, _ in parts), tuple(d for _, d in parts))
    ),
    max_leaves=4,
)


def cute_text(layout: tensor_layouts.Layout) -> str:
    return f"{layout.shape}:{layout.stride}".replace(" ", "").replace(",)", ")")


def of_one_coordinate(m: ix.IndexingMap) -> list[int]:
    """The positions, the first coordinate fastest."""
    sizes = [v.upper + 1 for v in m.dims]
    grid = np.meshgrid(*(np.arange(n) for n in sizes), indexing="ij")
    return m.evaluate([g.ravel(order="F") for g in grid])[0].tolist()


@settings(max_examples=60, deadline=None)
@given(st.lists(MODES, min_size=2, max_size=3))
def test_cute_layouts_are_those_of_tensor_layouts(modes: list[tuple[object, object]]) -> None:
    layout = tensor_layouts.Layout(tuple(s for s, _ in modes), tuple(d for _, d in modes))
    m = convert.from_cute(cute_text(layout))
    assert of_one_coordinate(m) == [layout(k) for k in range(tensor_layouts.size(layout))]
    back = convert.to_cute(m).split(":")
    again = tensor_layouts.Layout(*(ast.literal_eval(part) for part in back))
    assert [again(k) for k in range(tensor_layouts.size(again))] == of_one_coordinate(m)


ATOMS = [
    (name, getattr(atoms_nv, name))
    for name in sorted(vars(atoms_nv))
    if name.startswith(("SM70_", "SM80_", "SM90_64x64x"))
]
IN_SHARED_MEMORY = {"SS": ("a_layout", "b_layout"), "RS": ("b_layout",)}  # each thread has all of it
FRAGMENTS = [
    pytest.param(getattr(atom, part), id=f"{name}.{part}")
    for name, atom in ATOMS
    for part in ("a_layout", "b_layout", "c_layout")
    if hasattr(atom, part) and not any(f"_{kind}" in name and part in of for kind, of in IN_SHARED_MEMORY.items())
]


def test_fragments_of_matrix_instructions_convert() -> None:
    """Thread and value of a register to the element of the tile; where sizes are powers of two, as a linear layout too."""
    assert len(FRAGMENTS) > 30
    for parameter in FRAGMENTS:
        layout = parameter.values[0]
        m = convert.from_cute(cute_text(layout))
        positions = [layout(k) for k in range(tensor_layouts.size(layout))]
        assert of_one_coordinate(m) == positions, parameter.id
        count = len(positions)
        if count & (count - 1):
            continue
        bits = [positions[1 << b] for b in range(count.bit_length() - 1)]
        xors = [functools.reduce(operator.xor, (x for b, x in enumerate(bits) if k >> b & 1), 0) for k in range(count)]
        if positions == xors:
            assert of_one_coordinate(convert.from_linear_layout(convert.to_linear_layout(m))) == positions, parameter.id
        else:
            with pytest.raises(ix.InvalidMap, match="not linear"):
                convert.to_linear_layout(m)


@pytest.mark.parametrize(
    ("bits", "base", "shift"), [(3, 3, 3), (2, 4, 3), (1, 3, 4), (3, 4, 3), (2, 0, -3), (3, 2, -4)]
)
@pytest.mark.parametrize("layout", [((8, 64), (64, 1)), ((16, 32), (1, 16)), (((2, 4), 48), ((8, 1), 16))])
def test_swizzled_layouts_are_those_of_tensor_layouts(
    bits: int, base: int, shift: int, layout: tuple[object, object]
) -> None:
    plain = tensor_layouts.Layout(*layout)
    swizzled = tensor_layouts.compose(tensor_layouts.Swizzle(bits, base, shift), plain)
    m = convert.from_cute(f"Sw<{bits},{base},{shift}> o 0 o {cute_text(plain)}")
    assert of_one_coordinate(m) == [swizzled(k) for k in range(tensor_layouts.size(plain))]


def test_cute_text_as_cute_prints_it() -> None:
    plain = convert.from_cute("((2,3),4):((1,8),2)")
    assert convert.from_cute("((_2,_3),4):((_1,8),_2)") == plain
    assert convert.from_cute("Sw<0,4,3> o smem_ptr[16b](unset) o ((_2,_3),4):((_1,8),_2)") == plain
    for wrong in (
        "Sw<3,3> o 0 o 4:1",
        "Sw<3,3,2> o 0 o 8:1",
        "Sw<3,3,3> o 4:1",
        "Sw<3,62,3> o 0 o 4:1",
        "Sw<3,3,3> o 5 o 4:1",
    ):
        with pytest.raises(ix.IndexingError):
            convert.from_cute(wrong)
    with pytest.raises(ix.InvalidMap, match="negative"):
        convert.from_cute("Sw<2,1,2> o 0 o 4:-1")


def test_linear_layouts_by_brute_force() -> None:
    rng = np.random.default_rng(7)
    for _ in range(30):
        ins, outs = rng.integers(1, 4, 2)
        widths = [int(w) for w in rng.integers(0, 4, ins)]
        bases = {
            f"in{k}": [[int(x) for x in rng.integers(0, 16, outs)] for _ in range(w)] for k, w in enumerate(widths)
        }
        if not any(widths):
            continue
        m = convert.from_linear_layout(bases)
        for index in itertools.product(*(range(1 << w) for w in widths)):
            expected = [0] * int(outs)
            for value, actual in zip(index, bases.values(), strict=True):
                for bit, basis in enumerate(actual):
                    if value >> bit & 1:
                        expected = [e ^ b for e, b in zip(expected, basis, strict=True)]
            assert m.evaluate(index) == tuple(expected)
        assert convert.to_linear_layout(m) == bases


@pytest.mark.parametrize(
    "value",
    [
        parse(MAPS[0]),
        parse(MAPS[1]).results[0],
        parse(MAPS[0]).symbolic_map,
        parse(MAPS[0]).dims[0],
        ix.Interval(-3, 9),
        convert.Strided((3, 4), (4, 1), 2),
        ix.IndexingMap.undefined(),
    ],
    ids=lambda v: type(v).__name__,
)
def test_values_are_equal_after_pickling(value: object) -> None:
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(value, protocol))
        assert again == value and hash(again) == hash(value) and repr(again) == repr(value)
    assert copy.deepcopy(value) == value
