"""Ops that group, order and call: tuples, conditionals, loops, asynchronous forms, and what reaches outside."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import indexing as ix
from kernels import compiled
from reached import check, spelled


def root_of(text: str) -> ix.hlo.Instruction:
    return ix.hlo.parse(text).entry.root


def test_tuple_and_get_tuple_element_pass_arrays_on() -> None:
    check("HloModule m\nENTRY e {\n p0 = s32[2,3] parameter(0)\n p1 = s32[4] parameter(1)\n"
          " ROOT t = (s32[2,3], s32[4]) tuple(p0, p1)\n}")  # fmt: skip
    check("HloModule m\nENTRY e {\n p0 = s32[2,3] parameter(0)\n p1 = s32[4] parameter(1)\n"
          " i = (s32[4], s32[2,3]) tuple(p1, p0)\n t = (s32[2,3], (s32[4], s32[2,3])) tuple(p0, i)\n"
          " ROOT g = (s32[4], s32[2,3]) get-tuple-element(t), index=1\n}")  # fmt: skip


def test_get_tuple_element_names_the_array_of_its_operand() -> None:
    root = root_of("HloModule m\nENTRY e {\n p = (s32[2], (s32[3], s32[4])) parameter(0)\n"
                   " ROOT g = (s32[3], s32[4]) get-tuple-element(p), index=1\n}")  # fmt: skip
    assert [[m.leaf for m in ix.output_to_input(root, k)[0]] for k in range(2)] == [[1], [2]]
    assert [[m.leaf for m in maps] for maps in ix.input_to_output(root)] == [[1], [2]]


def test_tokens_have_no_elements() -> None:
    root = check("HloModule m\nENTRY e {\n p = s32[2] parameter(0)\n t = token[] after-all()\n"
                 " ROOT d = s32[2] add-dependency(p, t)\n}")  # fmt: skip
    data, token = ix.output_to_input(root)
    assert str(data[0].map) == spelled("(d0) -> (d0), domain: d0 in [0, 1]")
    assert token == []
    assert ix.output_to_input(root.operands[1]) == []


def test_opaque_values_have_no_elements() -> None:
    root = root_of("HloModule m\nENTRY e {\n p = (opaque[], s32[2]) parameter(0)\n"
                   " ROOT b = (opaque[], s32[2]) opt-barrier(p)\n}")  # fmt: skip
    assert [[m.leaf for m in ix.output_to_input(root, k)[0]] for k in range(2)] == [[], [1]]
    assert [[m.leaf for m in maps] for maps in ix.input_to_output(root)] == [[], [1]]


def test_copies_that_start_and_end() -> None:
    text = ("HloModule m\nENTRY e {\n p = s32[2,3] parameter(0)\n"
            " s = (s32[2,3], s32[2,3], u32[]) copy-start(p)\n ROOT d = s32[2,3] copy-done(s)\n}")  # fmt: skip
    root = check(text)
    assert [m.leaf for m in ix.output_to_input(root)[0]] == [0]
    start = root.operands[0]
    assert [[m.leaf for m in ix.output_to_input(start, k)[0]] for k in range(3)] == [[0], [0], []]
    assert [[m.leaf for m in maps] for maps in ix.input_to_output(start, 0)] == [[0], [0], []]


def test_asynchronous_wrappers_carry_the_maps_of_their_computation() -> None:
    text = """HloModule m
    turn { p = s32[2,3] parameter(0)
      ROOT t = s32[3,2] transpose(p), dimensions={1,0} }
    ENTRY e { p = s32[2,3] parameter(0)
      s = ((s32[2,3]), s32[3,2], u32[]) async-start(p), calls=turn
      u = ((s32[2,3]), s32[3,2], u32[]) async-update(s)
      ROOT d = s32[3,2] async-done(u) }"""
    module = ix.hlo.parse(text)
    start, update, done = (module.entry.instructions[n] for n in "sud")
    assert str(ix.output_to_input(start, 1)[0][0].map) == spelled(
        "(d0, d1) -> (d1, d0), domain: d0 in [0, 2], d1 in [0, 1]"
    )
    assert str(ix.output_to_input(start, 0)[0][0].map) == spelled(
        "(d0, d1) -> (d0, d1), domain: d0 in [0, 1], d1 in [0, 2]"
    )
    assert ix.output_to_input(start, 2) == [[]]
    assert [ix.output_to_input(update, k)[0][0].leaf for k in range(2)] == [0, 1]
    assert ix.output_to_input(done)[0][0].leaf == 1
    x = np.arange(6, dtype=np.int32).reshape(2, 3)
    assert (ix.evaluate(module, x) == x.T).all()


CONDITIONAL = """HloModule m
left {{ p = s32[3] parameter(0)
  ROOT r = s32[3] reverse(p), dimensions={{0}} }}
right {{ q = (s32[3], s32[3]) parameter(0)
  a = s32[3] get-tuple-element(q), index=0
  b = s32[3] get-tuple-element(q), index=1
  ROOT s = s32[3] add(a, b) }}
ENTRY e {{ c = {kind} parameter(0)
  x = s32[3] parameter(1)
  y = s32[3] parameter(2)
  t = (s32[3], s32[3]) tuple(x, y)
  ROOT r = s32[3] conditional(c, x, t), {branches} }}"""
PREDICATED = CONDITIONAL.format(kind="pred[]", branches="true_computation=left, false_computation=right")
TURNED = CONDITIONAL.format(kind="pred[]", branches="false_computation=right, true_computation=left")
INDEXED = CONDITIONAL.format(kind="s32[]", branches="branch_computations={left, right}")


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        (PREDICATED, np.array(True)),
        (PREDICATED, np.array(False)),
        (TURNED, np.array(True)),
        (TURNED, np.array(False)),
        *((INDEXED, np.int32(choice)) for choice in (0, 1, -5)),
    ],
)
def test_a_conditional_may_read_what_any_branch_reads(text: str, choice: np.ndarray) -> None:
    x, y = np.array([1, 5, 9], np.int32), np.array([20, 30, 44], np.int32)
    root = check(text, [choice, x, y], only_bounds=[0])
    predicate, left, right = ix.output_to_input(root)
    assert str(left[0].map) == spelled("(d0) -> (-d0 + 2), domain: d0 in [0, 2]")
    assert [m.leaf for m in right] == [0, 1]
    assert {m.exactness for m in (*left, *right)} == {"over-approximate"}
    assert [m.exactness for m in predicate] == ["exact"]


def test_the_order_in_which_branches_are_written_says_nothing() -> None:
    x, y = np.array([1, 5, 9], np.int32), np.array([20, 30, 44], np.int32)
    for text, choice in itertools.product((PREDICATED, TURNED), (True, False)):
        module = ix.hlo.parse(text)
        want = x[::-1] if choice else x + y
        assert np.array_equal(ix.evaluate(module, np.array(choice), x, y), want)
        assert np.array_equal(compiled(module, "cpu")(np.array(choice), x, y), want)
        assert [c.name for c in ix.hlo.parse(str(module)).entry.root.called] == ["left", "right"]


LOOP = """HloModule m
more { s = (s32[], s32[4], s32[4], s32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT }
body { s = (s32[], s32[4], s32[4], s32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  a = s32[4] get-tuple-element(s), index=1
  b = s32[4] get-tuple-element(s), index=2
  k = s32[4] get-tuple-element(s), index=3
  z = s32[4] add(a, b)
  ROOT t = (s32[], s32[4], s32[4], s32[4]) tuple(j, z, b, k) }
ENTRY e { p0 = s32[] parameter(0)
  p1 = s32[4] parameter(1)
  p2 = s32[4] parameter(2)
  p3 = s32[4] parameter(3)
  t = (s32[], s32[4], s32[4], s32[4]) tuple(p0, p1, p2, p3)
  ROOT w = (s32[], s32[4], s32[4], s32[4]) while(t), condition=more, body=body }"""


def test_a_loop_carries_what_its_body_changes_and_keeps_the_rest() -> None:
    ids = np.arange(4, dtype=np.int32)
    root = check(LOOP, [np.int32(0), ids, ids + 10, ids + 20], only_bounds=[0])
    read = [sorted({(m.leaf, m.exactness) for m in ix.output_to_input(root, k)[0]}) for k in range(4)]
    assert read[2] == [(2, "exact")]
    assert read[3] == [(3, "exact")]
    assert read[1] == [(leaf, "over-approximate") for leaf in (0, 1, 2)]
    out = ix.evaluate(root.computation.module, np.int32(0), ids, ids + 10, ids)
    assert out[0] == 3
    assert (out[1] == ids + 3 * (ids + 10)).all()


def test_map_applies_a_computation_to_each_element() -> None:
    text = """HloModule m
    f { a = f32[] parameter(0)
      b = f32[] parameter(1)
      c = f32[] constant(3)
      d = f32[] multiply(b, c)
      ROOT s = f32[] add(a, d) }
    ENTRY e { p = f32[2,3] parameter(0)
      q = f32[2,3] parameter(1)
      ROOT m = f32[2,3] map(p, q), dimensions={0,1}, to_apply=f }"""
    check(text)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert (ix.evaluate(text, x, x) == 4 * x).all()


def test_a_mapped_computation_may_give_a_tuple_of_one() -> None:
    text = "f { a = f32[] parameter(0) n = f32[] negate(a) ROOT t = (f32[]) tuple(n) }"
    text += " ENTRY e { p = f32[3] parameter(0) ROOT m = f32[3] map(p), dimensions={0}, to_apply=f }"
    check(text)
    assert ix.evaluate(text, np.arange(3, dtype=np.float32)).tolist() == [0, -1, -2]


def test_map_with_a_loop_inside_runs_it_once_an_element() -> None:
    text = """HloModule m
    more { s = (s32[], s32[]) parameter(0)
      i = s32[] get-tuple-element(s), index=0
      n = s32[] get-tuple-element(s), index=1
      ROOT c = pred[] compare(i, n), direction=LT }
    body { s = (s32[], s32[]) parameter(0)
      i = s32[] get-tuple-element(s), index=0
      n = s32[] get-tuple-element(s), index=1
      j = s32[] add(i, i)
      ROOT t = (s32[], s32[]) tuple(j, n) }
    f { a = s32[] parameter(0)
      one = s32[] constant(1)
      t = (s32[], s32[]) tuple(one, a)
      w = (s32[], s32[]) while(t), condition=more, body=body
      ROOT r = s32[] get-tuple-element(w), index=0 }
    ENTRY e { p = s32[4] parameter(0)
      ROOT m = s32[4] map(p), dimensions={0}, to_apply=f }"""
    assert ix.evaluate(text, np.array([1, 2, 3, 9])).tolist() == [1, 2, 4, 16]


def test_recv_done_gives_what_was_received() -> None:
    text = """HloModule m
    ENTRY e { t = token[] after-all()
      r = (s32[2], u32[], token[]) recv(t), channel_id=1
      ROOT d = (s32[2], token[]) recv-done(r), channel_id=1 }"""
    root = root_of(text)
    ((indexing,),) = ix.output_to_input(root)
    assert (str(indexing.map), indexing.leaf) == (spelled("(d0) -> (d0), domain: d0 in [0, 1]"), 0)
    assert ix.output_to_input(root, 1) == [[]]
    assert [[m.leaf for m in maps] for maps in ix.input_to_output(root)] == [[0], []]


def test_what_is_received_may_be_several_arrays() -> None:
    root = root_of("HloModule m\nENTRY e {\n t = token[] after-all()\n"
                   " r = ((s32[2], s32[3]), u32[], token[]) recv(t), channel_id=1\n"
                   " ROOT d = ((s32[2], s32[3]), token[]) recv-done(r), channel_id=1\n}")  # fmt: skip
    assert [[m.leaf for m in ix.output_to_input(root, k)[0]] for k in range(3)] == [[0], [1], []]
    assert [[m.leaf for m in maps] for maps in ix.input_to_output(root)] == [[0], [1], []]


@pytest.mark.parametrize(
    ("line", "operand"),
    [
        ('s32[2] custom-call(p0), custom_call_target="mystery"', "s32[3]"),
        ("(s32[2], token[]) infeed(p0)", "token[]"),
        (
            "(s32[2], u32[], token[]) recv(p0), channel_id=1\n d = (s32[2], token[]) recv-done(r), channel_id=1",
            "token[]",
        ),
    ],
)
def test_what_is_not_known_says_why(line: str, operand: str) -> None:
    root = root_of(f"HloModule m\nENTRY e {{\n p0 = {operand} parameter(0)\n ROOT r = {line}\n}}")
    for actual in (ix.output_to_input(root), ix.input_to_output(root)):
        (m,) = actual[0]
        assert (m.exactness, m.map.is_undefined) == ("unknown", True)
        assert m.reason
    with pytest.raises(ix.UnsupportedOp):
        ix.evaluate(root.computation.module, np.zeros(3))


def test_a_custom_call_that_marks_a_value_gives_it_back() -> None:
    check('HloModule m\nENTRY e {\n p0 = s32[2,3] parameter(0)\n'
          ' ROOT r = s32[2,3] custom-call(p0), custom_call_target="Sharding"\n}')  # fmt: skip


def test_outfeed_and_send_hand_out_their_operand() -> None:
    root = root_of("HloModule m\nENTRY e {\n p0 = s32[2] parameter(0)\n t = token[] after-all()\n"
                   " ROOT o = token[] outfeed(p0, t)\n}")  # fmt: skip
    data, token = ix.output_to_input(root)
    assert str(data[0].map) == spelled("()[s0] -> (s0), domain: s0 in [0, 1]")
    assert token == []
    assert ix.evaluate(root.computation.module, np.zeros(2)) is None
    sent = root_of("HloModule m\nENTRY e {\n p0 = s32[2] parameter(0)\n t = token[] after-all()\n"
                   " s = (s32[2], u32[], token[]) send(p0, t), channel_id=1\n ROOT d = token[] send-done(s), channel_id=1\n}")  # fmt: skip
    assert str(ix.output_to_input(sent.operands[0], 0)[0][0].map) == spelled("(d0) -> (d0), domain: d0 in [0, 1]")
    assert ix.output_to_input(sent) == [[]]
    assert ix.evaluate(sent.computation.module, np.zeros(2)) is None


def test_what_is_sent_may_be_several_arrays() -> None:
    """The data in flight are the operand's arrays, in order; the context and the token have none of its elements."""
    root = root_of("HloModule m\nENTRY e {\n p = (s32[2], s32[3]) parameter(0)\n t = token[] after-all()\n"
                   " s = ((s32[2], s32[3]), u32[], token[]) send(p, t), channel_id=1\n"
                   " ROOT d = token[] send-done(s), channel_id=1\n}")  # fmt: skip
    read = [ix.output_to_input(root.operands[0], k) for k in range(4)]
    assert [[m.leaf for m in data] for data, _ in read] == [[0], [1], [], []]
    assert str(read[1][0][0].map) == spelled("(d0) -> (d0), domain: d0 in [0, 2]")


def test_no_such_output_or_operand_is_an_error() -> None:
    root = root_of("HloModule m\nENTRY e {\n p0 = s32[2] parameter(0)\n ROOT c = s32[2] copy(p0)\n}")
    with pytest.raises(ix.IndexingError, match="there is no"):
        ix.input_to_output(root, 1)
    for output in (1, -1):
        with pytest.raises(ix.IndexingError, match="there is no"):
            ix.output_to_input(root, output)


def test_arguments_that_do_not_fit_are_errors() -> None:
    text = "HloModule m\nENTRY e {\n p0 = s32[2] parameter(0)\n ROOT c = s32[2] copy(p0)\n}"
    with pytest.raises(ix.IndexingError, match=r"expected 1 \(p0: s32"):
        ix.evaluate(text)
    with pytest.raises(ix.IndexingError, match=r"has shape \[3\]"):
        ix.evaluate(text, np.zeros(3))


def test_calls_nested_as_deep_as_programs_may_be() -> None:
    depth = 99
    lines = ["HloModule m", "f0 { p = s32[2] parameter(0)\n ROOT r = s32[2] reverse(p), dimensions={0} }"]
    lines += [
        f"f{k} {{ p = s32[2] parameter(0)\n ROOT r = s32[2] call(p), to_apply=f{k - 1} }}" for k in range(1, depth)
    ]
    lines.append(f"ENTRY e {{ p = s32[2] parameter(0)\n ROOT r = s32[2] call(p), to_apply=f{depth - 1} }}")
    module = ix.hlo.parse("\n".join(lines))
    for actual in (ix.output_to_input(module.entry.root), ix.input_to_output(module.entry.root)):
        assert str(actual[0][0].map) == spelled("(d0) -> (-d0 + 1), domain: d0 in [0, 1]")
    assert ix.evaluate(module, np.array([1, 2])).tolist() == [2, 1]


def test_the_state_of_the_device_is_no_operand() -> None:
    root = root_of("HloModule m\nENTRY e {\n ROOT r = u64[2] rng-get-and-update-state(), delta=4\n}")
    assert ix.output_to_input(root) == []
    with pytest.raises(ix.UnsupportedOp):
        ix.evaluate(root.computation.module)


@pytest.mark.parametrize("line", ["f32[?,3] negate(p)", "f32[3,?] transpose(p), dimensions={1,0}", "f32[?] reshape(p)"])
def test_sizes_without_a_bound_have_no_maps(line: str) -> None:
    root = root_of(f"HloModule m\nENTRY e {{\n p = f32[?,3] parameter(0)\n ROOT r = {line}\n}}")
    for actual in (ix.output_to_input(root), ix.input_to_output(root)):
        ((m,),) = actual
        assert (m.exactness, m.map.is_undefined) == ("unknown", True)
        assert "not known" in m.reason


def test_a_program_with_sizes_without_a_bound_has_the_other_maps() -> None:
    module = root_of("""HloModule m
    ENTRY e { p = f32[?,3] parameter(0)
      q = f32[4] parameter(1)
      n = f32[?,3] negate(p)
      m = f32[4] negate(q)
      ROOT t = (f32[?,3], f32[4]) tuple(n, m) }""").computation.module
    unknown = ix.output_to_input(module, 0)[0]
    assert [m.exactness for m in unknown] == ["unknown"] and "is not known" in unknown[0].reason
    assert [m.exactness for m in ix.output_to_input(module, 0, physical_layout=True)[0]] == ["unknown"]
    (exact,) = ix.output_to_input(module, 1)[1]
    assert (exact.exactness, str(exact.map)) == ("exact", "(d0) -> (d0), domain: d0 in [0, 3]")
    for direction in ("output_to_input", "input_to_output"):
        assert "UNDEFINED" in str(ix.maps(module, direction=direction))
    n = module.entry.instructions["n"]
    assert [m.exactness for m in ix.grouped_indexing([n], n)[n.operands[0]]] == ["unknown"]
    (itself,) = ix.output_to_input("ENTRY e { ROOT p = f32[?] parameter(0) }")[0]
    assert (itself.exactness, itself.reason) == ("unknown", "a dimension's size is not known, nor bounded")


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (ix.partition, r"is f32\[\?\]: give each dimension a size or a bound"),
        (ix.analyze, r"p is f32\[\?\]: no kernel computes on bounded dimensions"),
        (ix.emit_all, r"p is f32\[\?\]: no kernel computes on bounded dimensions"),
        (ix.utilization, r"p is f32\[\?\]: how many elements it has is not known"),
        (lambda m: ix.layout.to_physical(m.entry.root.shape), r"f32\[\?\] has no known size"),
        (lambda m: ix.layout.to_logical(m.entry.root.shape), r"f32\[\?\] has no known size"),
        (lambda m: ix.layout.linear_map(m.entry.root.shape), r"f32\[\?\] has no known size"),
    ],
)
def test_sizes_without_a_bound_are_named(ask, said: str) -> None:
    module = root_of("HloModule m\nENTRY e { p = f32[?] parameter(0) ROOT n = f32[?] negate(p) }").computation.module
    with pytest.raises(ix.IndexingError, match=said):
        ask(module)


def test_what_the_root_does_not_need_is_not_computed() -> None:
    text = """HloModule m
    ENTRY e { p = s32[2] parameter(0)
      c = s32[2] custom-call(p), custom_call_target="mystery"
      ROOT n = s32[2] negate(p) }"""
    assert ix.evaluate(text, np.array([1, 2])).tolist() == [-1, -2]
