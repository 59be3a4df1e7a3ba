"""Modules that are built against the same ones read from text."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

import indexing as ix
from indexing import _core
from indexing.hlo import ConvolutionLabels, DimensionLabels, ModuleBuilder, Shape, WindowDim
from opcode_samples import SAMPLES, program

F32 = Shape.array("f32", ())


def array(*sizes: int) -> Shape:
    return Shape.array("f32", sizes)


def rebuilt(module: ix.hlo.Module) -> ix.hlo.Module:
    """The same module, copied instruction by instruction."""
    builder, built = ModuleBuilder(module.name, module.entry.name), {}
    for instruction in module.entry.instructions.values():
        built[instruction] = builder.entry.copy(instruction, [built[o] for o in instruction.operands])
    builder.entry.root = built[module.entry.root]
    return builder.build()


def lines(computation: ix.hlo.Computation) -> dict[str, str]:
    return {name: str(instruction) for name, instruction in computation.instructions.items()}


@pytest.mark.parametrize("opcode", sorted(SAMPLES))
def test_a_copy_has_the_same_instructions(opcode: str) -> None:
    """Of the computations, those that are called."""
    module = ix.hlo.parse(program(opcode))
    built = rebuilt(module)
    assert lines(built.entry) == lines(module.entry)
    for name, computation in built.computations.items():
        assert lines(computation) == lines(module.computations[name])
    read = ix.hlo.parse(str(built))
    assert str(read) == str(built)
    signatures = [
        [i.signature for i in c.instructions.values()] for m in (read, built) for c in m.computations.values()
    ]
    assert signatures[: len(signatures) // 2] == signatures[len(signatures) // 2 :]


def test_attributes_are_written_as_hlo_has_them() -> None:
    module = ModuleBuilder("m", "main")
    body, add = module.entry, module.reducer("add", "f32")
    x, w = body.parameter(array(1, 6, 5, 2), "x"), body.parameter(array(3, 1, 2, 4), "w")
    labels = ConvolutionLabels(
        DimensionLabels(0, 3, (1, 2)), DimensionLabels(2, 3, (0, 1)), DimensionLabels(0, 3, (1, 2))
    )
    window = [WindowDim(3, 2, 1, 0, rhs_dilation=1), WindowDim(1, lhs_dilation=2, reversed=True)]
    c = body.add("convolution", array(1, 3, 9, 4), [x, w], "c", window=window, dim_labels=labels)
    s = body.add("slice", array(1, 2, 9, 2), [c], slice=[slice(1), slice(0, 3, 2), slice(0, 9), slice(1, 3)])
    r = body.add("reduce", array(1, 2), [s, body.constant(F32, 1.5)], dimensions=(2, 3), to_apply=add)
    t = body.add("sort", array(1, 2), [r], "t", dimensions=[1], is_stable=True, to_apply=less_than(module))
    body.add("iota", Shape.array("s32", (4,)), iota_dimension=0)
    body.root = t
    built = module.build()
    assert [re.sub(r"^(ROOT )?%", "", line) for line in lines(built.entry).values()] == [
        "x = f32[1,6,5,2] parameter(0)",
        "w = f32[3,1,2,4] parameter(1)",
        "c = f32[1,3,9,4] convolution(%x, %w), "
        "window={size=3x1 stride=2x1 pad=1_0x0_0 lhs_dilate=1x2 rhs_reversal=0x1}, dim_labels=b01f_01io->b01f",
        "slice = f32[1,2,9,2] slice(%c), slice={[0:1], [0:3:2], [0:9], [1:3]}",
        "constant = f32[] constant(1.5)",
        "reduce = f32[1,2] reduce(%slice, %constant), dimensions={2,3}, to_apply=%add_f32",
        "t = f32[1,2] sort(%reduce), dimensions={1}, is_stable=true, to_apply=%less",
        "iota = s32[4] iota(), iota_dimension=0",
    ]
    assert built.entry.root.name == "t" and built.entry.instructions["c"].window() == tuple(window)
    assert built.entry.instructions["c"].dim_labels() == labels
    assert str(ix.hlo.parse(str(built))) == str(built)


def less_than(module: ModuleBuilder) -> ix.hlo.ComputationBuilder:
    less = module.computation("less")
    a, b = less.parameter(F32), less.parameter(F32)
    less.add("compare", Shape.array("pred", ()), [a, b], direction="LT")
    return less


def test_names_are_distinct_and_several_computations_can_be_called() -> None:
    module = ModuleBuilder()
    branches = []
    for _ in range(2):
        branch = module.computation("branch")
        branch.add("negate", F32, [branch.parameter(F32)])
        branches.append(branch)
    body = module.entry
    which, x = body.parameter(Shape.array("s32", ())), body.parameter(F32, "p0")
    body.add("conditional", F32, [which, x, x], branch_computations=branches)
    built = module.build()
    assert [c.name for c in built.entry.root.called] == ["branch", "branch.1"]
    assert built.entry.called == built.entry.root.called and built.entry.root.called[0].called == ()
    assert list(built.entry.instructions) == ["p0", "p0.1", "conditional"]
    assert ix.evaluate(built, 0, 2.5) == -2.5


def test_copies_of_equal_computations_are_one() -> None:
    """Of two modules, and whatever their names; what they call is compared by what it does."""
    text = """inner { a = f32[] parameter(0) ROOT n = f32[] negate(a) }
    outer { b = f32[] parameter(0) ROOT c = f32[] call(b), to_apply=inner }
    ENTRY e { p = f32[] parameter(0) ROOT r = f32[] call(p), to_apply=outer }"""
    others = [text, text.replace("inner", "i").replace("outer", "o"), text.replace("negate", "abs")]
    module = ModuleBuilder()
    x = module.entry.parameter(F32)
    called = [module.entry.copy(ix.hlo.parse(other).entry.root, [x]) for other in others]
    module.entry.tuple_of(called)
    built = module.build()
    assert list(built.computations) == ["inner", "outer", "inner.1", "outer.1", "entry"]
    assert [i.called[0].name for i in built.entry.root.operands] == ["outer", "outer", "outer.1"]
    assert [float(v) for v in ix.evaluate(built, 2.0)] == [-2.0, -2.0, 2.0]


@pytest.mark.parametrize(
    ("kind", "number", "text"),
    [
        ("pred", 1, "true"),
        ("s8", -3, "-3"),
        ("u64", 2.0, "2"),
        ("f32", 2, "2.0"),
        ("f32", float("-inf"), "-inf"),
        ("c64", 1 + 2j, "(1.0, 2.0)"),
        ("f32", "nan", "nan"),
    ],
)
def test_constants(kind: str, number: complex | str, text: str) -> None:
    module = ModuleBuilder()
    module.entry.constant(Shape.array(kind, ()), number)
    assert str(module.build().entry.root).endswith(f"constant({text})")


def test_content_is_equal_where_names_alone_differ() -> None:
    def content(name: str, order: tuple[int, ...] = (0, 1), opcode: str = "subtract", root: bool = False) -> object:
        module = ModuleBuilder(name, name)
        callee = module.computation(name)
        callee.add(opcode, F32, [callee.parameter(F32, name), callee.parameter(F32)])
        parameters = [module.entry.parameter(F32, f"{name}{k}") for k in range(2)]
        called = module.entry.add("call", F32, [parameters[k] for k in order], name, to_apply=callee)
        module.entry.add("negate", F32, [called])
        if root:
            module.entry.root = called
        return module.content

    assert content("a") == content("b") and hash(content("a")) == hash(content("b"))
    assert len({content("a"), content("a", (1, 0)), content("a", opcode="add"), content("a", root=True)}) == 4


REFUSED: dict[str, tuple[Callable[[ModuleBuilder], object], str]] = {
    "shapes that do not fit": (
        lambda m: m.entry.add("negate", array(3), [m.entry.parameter(array(2))]),
        "negate: the operands give f32[2], the text says f32[3]",
    ),
    "a missing attribute": (
        lambda m: m.entry.add("transpose", array(2), [m.entry.parameter(array(2))]),
        "transpose: attribute dimensions is missing",
    ),
    "too many operands": (
        lambda m: m.entry.add("negate", F32, [m.entry.parameter(F32)] * 2),
        "negate takes 1 operand, found 2",
    ),
    "text in place of a name": (
        lambda m: m.entry.parameter(F32, "x = f32[] parameter(0)\n %y"),
        "expected an instruction's name, found",
    ),
    "text in place of an opcode": (
        lambda m: m.entry.add("negate(x), metadata={}", F32, [m.entry.parameter(F32)], "n"),
        "expected an opcode, found",
    ),
    "two values in one attribute": (
        lambda m: m.entry.add("transpose", F32, [m.entry.parameter(F32)], dimensions="{}, metadata={}"),
        "expected one value, found",
    ),
    "a literal of another shape": (lambda m: m.entry.constant(array(2), "{1,2,3}"), "expected '}' after 2 elements"),
    "a literal and more": (lambda m: m.entry.constant(F32, "1), metadata={}"), "expected a literal, found"),
    "text in place of a computation": (
        lambda m: m.entry.add("call", F32, [m.entry.parameter(F32)], to_apply="%f"),
        "only an attribute of to_apply, calls,",
    ),
    "a computation in place of integers": (
        lambda m: m.entry.add("transpose", F32, [m.entry.parameter(F32)], dimensions=m.reducer("add", "f32")),
        "only an attribute of to_apply, calls,",
    ),
    "nothing": (lambda m: None, "computation entry has no instruction"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_the_reader_would_refuse(case: str) -> None:
    make, said = REFUSED[case]
    module = ModuleBuilder()
    make(module)
    with pytest.raises(ix.ParseError, match=re.escape(said)) as caught:
        module.build()
    assert caught.value.line > 0


def test_what_belongs_elsewhere() -> None:
    module, other = ModuleBuilder("one"), ModuleBuilder("two")
    x = other.entry.parameter(F32, "x")
    with pytest.raises(ix.UnsupportedOp, match="x belongs to another computation, entry; give one of entry"):
        module.entry.add("negate", F32, [x])
    with pytest.raises(ix.UnsupportedOp, match="entry is the entry of two: no instruction may call it"):
        other.entry.add("call", F32, [x], to_apply=other.entry)
    with pytest.raises(ix.IndexingError, match="x has 0 elements"):
        other.entry.element(x, 0)
    for number, said in ((1j, "1j is complex, f32 is not"), (0.5, "0.5 is not an integer, as s8 requires")):
        with pytest.raises(ix.UnsupportedOp, match=said):
            module.entry.constant(Shape.array("s8" if number == 0.5 else "f32", ()), number)


ROWS = [("p", "f32[]", "parameter", 0, []), ("n", "f32[]", "negate", [0], [])]


def test_rows_that_do_not_fit() -> None:
    assert _core.build_hlo("m", [("e", 1, ROWS)]).instruction_count == 2
    wrong = {
        "the root of e is instruction 2 of 2": [("e", 2, ROWS)],
        "operand 1 of instruction 1 is not defined before": [("e", 1, [ROWS[0], ("n", "f32[]", "negate", [1], [])])],
        "a parameter has its number, a constant its literal": [("e", 0, [("p", "f32[]", "parameter", [], [])])],
        "must be numbered 0, 1": [("e", 0, [("p", "f32[]", "parameter", 1, [])])],
        "p is defined twice in e": [("e", 1, [ROWS[0], ("p", "f32[]", "negate", [0], [])])],
        "computation e is defined twice": [("e", 1, ROWS), ("e", 1, ROWS)],
        "computation 0 is not defined before e calls it": [
            ("e", 1, [ROWS[0], ("c", "f32[]", "call", [0], [("to_apply", [0])])])
        ],
        'expected a shape, found "f32[] f32[]"': [("e", 0, [("p", "f32[] f32[]", "parameter", 0, [])])],
        "attribute index is given twice": [
            ("e", 1, [ROWS[0], ("n", "f32[]", "negate", [0], [("index", "1"), ("index", "1")])])
        ],
        "expected a computation": [],
    }
    for said, rows in wrong.items():
        with pytest.raises(ix.ParseError, match=re.escape(said)):
            _core.build_hlo("m", rows)
    with pytest.raises(ix.ParseError, match="expected a module's name"):
        _core.build_hlo("a b", [("e", 1, ROWS)])
