"""The typed readers of attributes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indexing as ix
from indexing.hlo import WindowDim
from indexing.hlo.metadata import op_name


def root(*lines: str) -> ix.hlo.Instruction:
    return ix.hlo.parse("ENTRY e {\n" + "\n".join(lines) + "\n}").entry.root


def opaque(attributes: str) -> ix.hlo.Instruction:
    """An instruction of an opcode that nobody knows, which keeps whatever attributes it has."""
    return root(f"r = f32[] opaque(), {attributes}")


def test_integers_and_flags() -> None:
    i = opaque('dimensions={0, 1,2}, none={}, one=-7, yes=true, no=false, name="a b", word=LT, braced={5}')
    assert i.ints("dimensions") == (0, 1, 2) and i.ints("none") == () == i.ints("absent")
    assert i.ints("one") == (-7,) and i.integer("one") == -7 == i.integer("one", 3) and i.integer("absent", 3) == 3
    assert i.integer("braced") == 5
    assert i.flag("yes") and not i.flag("no") and not i.flag("absent")
    assert i.text("name") == "a b" and i.text("word") == "LT" and i.text("absent", "x") == "x"


@pytest.mark.parametrize(
    "written",
    [
        r"a\"b\\c",
        r"\n\t\r\a\b\f\v\?\'",
        r"\303\244\7\1234",
        r"\x41z\xC3\xa4",
        r"\u00e9\U0001F600",
        "ä",
        r"\\n\\\"",
    ],
)
def test_strings_are_what_xla_reads(written: str) -> None:
    """By the bytes of XLA's own protocol buffer."""
    hlo_module_from_text = pytest.importorskip("jaxlib._hlo").hlo_module_from_text
    call = f'c = f32[] custom-call(), custom_call_target="<{written}>", metadata={{op_name="[{written}]"}}'
    named = root(call)
    target, name = named.text("custom_call_target"), op_name(named)
    assert target[1:-1] == name[1:-1] and len(target) > 2
    read = hlo_module_from_text(f"HloModule m\nENTRY e {{ ROOT {call} }}").as_serialized_hlo_module_proto()
    assert target.encode() in read and name.encode() in read


def test_escapes_that_xla_refuses_stay_readable() -> None:
    odd = opaque(r'number="\400\x414\ud800\U99999999", letter="\q", bytes="\303"')
    assert odd.text("number") == r"\400\x414\ud800\U99999999"
    assert (odd.text("letter"), odd.text("bytes")) == ("q", r"\xc3")


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda i: i.integer("absent"), "attribute absent needs one integer, it is absent"),
        (lambda i: i.integer("many"), "attribute many needs one integer, found {1,2}"),
        (lambda i: i.flag("word"), "attribute word needs true or false, found LT"),
        (lambda i: i.text("absent"), "attribute absent needs a value"),
        (lambda i: i.ints("word"), "expected an integer, found 'LT'"),
        (lambda i: i.ints("open"), "expected '}', found 'x'"),
        (lambda i: i.slices(), "attribute slice needs a value"),
        (lambda i: i.dim_labels(), "attribute dim_labels needs a value"),
        (lambda i: i.computation_of("to_apply"), "attribute to_apply needs a computation"),
        (lambda i: i.parameter_number, "not a parameter"),
        (lambda i: i.window(), "extra is no field of a window"),
        (lambda i: i.replica_groups(), "expected"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(read, message: str) -> None:
    i = opaque("many={1,2}, word=LT, open={1 x}, window={size=3 extra=1}, replica_groups={0,1}")
    with pytest.raises(ix.IndexingError) as caught:
        read(i)
    assert message in str(caught.value)
    if isinstance(caught.value, ix.ParseError):
        assert caught.value.line == 2 and caught.value.column >= 1 and str(caught.value).endswith("^")


def test_slices_and_padding() -> None:
    i = opaque("slice={[0:10:2], [3:4]}, padding=1_2x-3_0_4")
    assert i.slices() == ((0, 10, 2), (3, 4, 1)) and i.padding() == ((1, 2, 0), (-3, 0, 4))
    assert opaque("slice={}").slices() == () and opaque("a=1").padding() == ()
    for bad in ("padding=1", "padding=1_2x", "padding=1_2_3_4", "padding=", "padding=ax"):
        with pytest.raises(ix.ParseError):
            opaque(bad).padding()


def test_windows() -> None:
    i = opaque("window={size=3x5 stride=2x1 pad=0_1x-2_2 lhs_dilate=1x3 rhs_dilate=2x1 rhs_reversal=0x1}")
    assert i.window() == (WindowDim(3, 2, 0, 1, 1, 2, False), WindowDim(5, 1, -2, 2, 3, 1, True))
    assert opaque("window={size=4}").window() == (WindowDim(4),)
    assert opaque("window={}").window() == () == opaque("a=1").window()
    for bad in ("size=3 stride=0", "size=-1", "size=2x2 pad=0_0", "size=1 rhs_reversal=2", "size=1 lhs_dilate=0", "3"):
        with pytest.raises(ix.ParseError):
            opaque(f"window={{{bad}}}").window()
    for bad, why in (
        ("pad=1_1_0 size=1", "or the end of the field"),
        ("size=1 size=1", "a second size"),
        ("pad=1_1 pad=1_1", "a second pad"),
    ):
        with pytest.raises(ix.ParseError, match=why):
            opaque(f"window={{{bad}}}").window()


def test_labels_of_convolutions() -> None:
    labels = opaque("dim_labels=b01f_0i1o->f10b").dim_labels()
    assert (labels.input.batch, labels.input.feature, labels.input.spatial) == (0, 3, (1, 2))
    assert (labels.kernel.batch, labels.kernel.feature, labels.kernel.spatial) == (1, 3, (0, 2))
    assert (labels.output.batch, labels.output.feature, labels.output.spatial) == (3, 0, (2, 1))
    assert opaque("dim_labels=bf_io->bf").dim_labels().input.spatial == ()
    for bad in ("bf_io", "bf->bf", "b0f_0io->bf", "bb_io->bf", "b0f_1io->b0f", "b00f_01io->b01f", "_->"):
        with pytest.raises(ix.ParseError, match="b01f_01io->b01f"):
            opaque(f"dim_labels={bad}").dim_labels()


def test_replica_groups_that_are_listed() -> None:
    assert opaque("replica_groups={{0,1},{2,3}}").replica_groups() == ((0, 1), (2, 3))
    assert opaque("replica_groups={{0},{1},{}}").replica_groups() == ((0,), (1,), ())
    assert opaque("replica_groups={}").replica_groups() == () == opaque("a=1").replica_groups()


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_replica_groups_by_iota_are_numpys_transposes(sizes: list[int], random) -> None:
    order = list(range(len(sizes)))
    random.shuffle(order)
    total = int(np.prod(sizes))
    groups = random.choice([d for d in range(1, total + 1) if total % d == 0])
    expected = np.arange(total).reshape(sizes).transpose(order).reshape(groups, -1)
    text = f"replica_groups=[{groups},{total // groups}]<=[{','.join(map(str, sizes))}]T({','.join(map(str, order))})"
    assert opaque(text).replica_groups() == tuple(map(tuple, expected.tolist()))


def test_replica_groups_by_iota_that_are_wrong() -> None:
    assert opaque("replica_groups=[2,2]<=[4]").replica_groups() == ((0, 1), (2, 3))
    for bad in ("[2,2]<=[5]", "[4]<=[4]", "[2,2]<=[2,2]T(0,0)", "[2,2]<=[2,2]T(0)", "[0,2]<=[0]", "[9999999,9999999]<=[4]",
                "[4294967296,4294967296]<=[4294967296,4294967296]"):  # fmt: skip
        with pytest.raises(ix.ParseError):
            opaque(f"replica_groups={bad}").replica_groups()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mesh['a'=2,'b'=4] {'b'}", ((0, 1, 2, 3), (4, 5, 6, 7))),
        ("mesh['a'=2,'b'=4] {'a'}", ((0, 4), (1, 5), (2, 6), (3, 7))),
        ("mesh['a'=2,'b'=2] {'b','a'}", ((0, 2, 1, 3),)),  # the first axis named varies slowest
        ("mesh['x y'=4]{'x y'}", ((0, 1, 2, 3),)),
        ("mesh['a'=2,'b'=1] {'b'}", ((0,), (1,))),
        ("mesh['a'=2,'b'=2], device_ids=(0,2,1,3) {'b'}", ((0, 2), (1, 3))),
        ("mesh['a'=2,'b'=2], device_ids=([2,2]T(1,0)) {'b'}", ((0, 2), (1, 3))),
        ("mesh['a'=8] {'a':(2)2}", ((0, 2), (1, 3), (4, 6), (5, 7))),  # a is 2 x 2 x 2; the group runs along the middle
        ("mesh['a'=8] {'a':(4)2}", ((0, 1), (2, 3), (4, 5), (6, 7))),
        ("mesh['a'=8] {'a':(1)2,'a':(4)2}", ((0, 1, 4, 5), (2, 3, 6, 7))),
    ],
)
def test_replica_groups_along_axes_of_a_mesh(text: str, expected: tuple[tuple[int, ...], ...]) -> None:
    instruction = opaque(f"a=1, replica_groups={text}, dimensions={{0}}")
    assert instruction.replica_groups() == expected and instruction.ints("dimensions") == (0,)
    again = ix.hlo.parse(str(instruction.module)).entry.root
    assert again.attributes == instruction.attributes and again.attributes["replica_groups"] == text


@pytest.mark.parametrize(
    "text",
    [
        "mesh['a'=2]", "mesh['a'=2] {'b'}", "mesh['a'=0] {'a'}", "mesh[a=2] {'a'}", "mesh['a'=2] {'a','a'}",
        "mesh['a'=6] {'a':(4)2}",
        "mesh['a'=8] {'a':(1)4,'a':(2)4}", "mesh['a'=2], device_ids=(0) {'a'}", "mesh['a'=2], device_ids=([3]) {'a'}",
        "mesh['a'=99999999,'b'=99999999] {'a'}", "mesh['a'=4] {'a':(0)2}",
    ],
)  # fmt: skip
def test_replica_groups_of_a_mesh_that_are_wrong(text: str) -> None:
    with pytest.raises(ix.ParseError):
        opaque(f"replica_groups={text}").replica_groups()
