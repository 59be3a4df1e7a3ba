"""Collectives: several replicas evaluated together, against the local element and the replica that maps name."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest

import indexing as ix
from indexing.ops.operand_indexing import OperandIndexing, identity
from indexing.ops.replica_groups import Members
from indexing.ops.values import leaves_of
from reached import check, named, spelled

SUM = "sum { a = s32[] parameter(0)\n b = s32[] parameter(1)\n ROOT c = s32[] add(a, b) }"
Triples = set[tuple[tuple[int, ...], int, tuple[int, ...]]]


def program(line: str, *operands: str) -> str:
    lines = "\n".join(f"  p{k} = {shape} parameter({k})" for k, shape in enumerate(operands))
    return f"HloModule m\n{SUM}\nENTRY e {{\n{lines}\n  ROOT r = {line}\n}}\n"


def reached(
    text: str, replicas: int, asking: int, which: int, output: int, given: Sequence[Sequence[object]] = ()
) -> Triples:
    """(output index on the asking replica, replica, operand index) of each element whose change shows.

    `given` are each replica's arguments, drawn where there are none.
    """
    module = ix.hlo.parse(text)
    rng = np.random.default_rng(0)
    shapes = [p.shape for p in module.entry.parameters]
    given = given or [
        [rng.permutation(s.element_count).reshape(s.dimensions) + 100 * r for s in shapes] for r in range(replicas)
    ]
    before = leaves_of(ix.evaluate_replicas(module, given)[asking])[output]
    result: Triples = set()
    for replica in range(replicas):
        for at in np.ndindex(*shapes[which].dimensions):
            changed = [list(g) for g in given]
            changed[replica][which] = given[replica][which].copy()
            changed[replica][which][at] += 7
            after = leaves_of(ix.evaluate_replicas(module, changed)[asking])[output]
            result |= {(tuple(map(int, o)), replica, at) for o in np.argwhere(before != after)}
    return result


def named_by(m: OperandIndexing, asking: int) -> Triples:
    """The triples that a map names for the asking replica."""
    pairs = named([m], {})
    result: Triples = set()
    for o, at in pairs:
        if m.replica_map is None:
            result.add((o, asking, at))
            continue
        own = m.replica_map.ranges
        for point in itertools.product(*(range(v.interval.lower, v.interval.upper + 1) for v in own)):
            symbols = [*point, *([asking] if m.replica_map.runtimes else [])]
            if m.replica_map.contains(list(o), symbols):
                result.add((o, int(m.replica_map.evaluate(list(o), symbols)[0]), at))
    return result


def asks_replicas_alone(m: OperandIndexing, replicas: int) -> bool:
    """Whether the replica that asks is one of those that there are."""
    asking = m.replica_map.runtimes if m.replica_map else ()
    return all(v.interval.lower >= 0 and v.interval.upper < replicas for v in asking)


#: Groups, with their size and the number of replicas.
GROUPS = {
    "{{0,1}}": (2, 2),
    "{{0,1},{2,3}}": (2, 4),
    "{{0,2},{1,3}}": (2, 4),
    "{{1,0},{3,2}}": (2, 4),
    "{{0,1,2,3}}": (4, 4),
    "[2,2]<=[2,2]T(1,0)": (2, 4),
    "{{0},{1}}": (1, 2),
}
LINES = [
    ("s32[{n2},3] all-gather(p0), replica_groups={g}, dimensions={{0}}", ["s32[2,3]"]),
    ("s32[{n},3] all-gather(p0), replica_groups={g}, dimensions={{0}}", ["s32[1,3]"]),
    ("s32[3,{n2}] all-gather(p0), replica_groups={g}, dimensions={{1}}", ["s32[3,2]"]),
    ("s32[2,3] all-reduce(p0), replica_groups={g}, to_apply=sum", ["s32[2,3]"]),
    ("(s32[2], s32[3]) all-reduce(p0, p1), replica_groups={g}, to_apply=sum", ["s32[2]", "s32[3]"]),
    ("s32[2,3] reduce-scatter(p0), replica_groups={g}, dimensions={{0}}, to_apply=sum", ["s32[{n2},3]"]),
    ("s32[{n2},3] all-to-all(p0), replica_groups={g}, dimensions={{0}}", ["s32[{n2},3]"]),
    ("s32[2,{n}] all-to-all(p0), replica_groups={g}, dimensions={{1}}", ["s32[2,{n}]"]),
    ("s32[2,3] collective-broadcast(p0), replica_groups={g}", ["s32[2,3]"]),
]


def check_all_replicas(text: str, replicas: int) -> None:
    """The maps of the root name what reaches each replica; exact ones, nothing else."""
    root = ix.hlo.parse(text).entry.root
    for output in range(len(root.shape.leaves)):
        for k, maps in enumerate(ix.output_to_input(root, output)):
            for asking in range(replicas):
                want = reached(text, replicas, asking, k, output)
                actual: Triples = set()
                for m in maps:
                    actual |= named_by(m, asking)
                    assert asks_replicas_alone(m, replicas)
                    assert m.replica_map is None or [str(v) for v in m.replica_map.dims] == [str(v) for v in m.map.dims]
                label = f"replica {asking}: {[(str(m.map), str(m.replica_map)) for m in maps]}"
                assert want <= actual, label
                if all(m.exactness == "exact" for m in maps):
                    assert actual <= want, label


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize(("line", "operands"), LINES)
def test_collectives_name_element_and_replica(line: str, operands: list[str], groups: str) -> None:
    size, replicas = GROUPS[groups]
    fill = {"n": size, "n2": 2 * size, "g": groups}
    text = program(line.format(**fill), *(o.format(**fill) for o in operands))
    check_all_replicas(text, replicas)


@pytest.mark.parametrize("groups", [g for g, (size, _) in GROUPS.items() if size == 2])
def test_an_all_to_all_of_a_tuple_asks_one_replica_a_result(groups: str) -> None:
    text = program(f"(s32[2], s32[2]) all-to-all(p0, p1), replica_groups={groups}", "s32[2]", "s32[2]")
    check_all_replicas(text, GROUPS[groups][1])


@pytest.mark.parametrize(
    ("pairs", "exactness"),
    [
        ("{{0,1},{1,2},{2,3},{3,0}}", "exact"),  # a rotation
        ("{{0,1},{1,2},{2,3}}", "exact"),  # a shift
        ("{{3,1}}", "exact"),
        ("{{0,3},{2,1}}", "over-approximate"),
        ("{}", ""),  # zeros everywhere
    ],
)
def test_collective_permute_names_its_source(pairs: str, exactness: str) -> None:
    one = program(f"s32[2,3] collective-permute(p0), source_target_pairs={pairs}", "s32[2,3]")
    two = program(f"(s32[4], s32[3]) collective-permute(p0, p1), source_target_pairs={pairs}", "s32[4]", "s32[3]")
    for text in (one, two):
        check_all_replicas(text, 4)
        (maps,) = ix.output_to_input(ix.hlo.parse(text).entry.root)[:1]
        assert "".join(m.exactness for m in maps) == exactness


@pytest.mark.parametrize(
    "result", ["s32[8] collective-permute", "(s32[4], s32[8], u32[], u32[]) collective-permute-start"]
)
def test_of_a_permute_that_writes_slices_nothing_is_known(result: str) -> None:
    """Its maps say so, so that the rest of a program is analyzed; it has no value."""
    text = program(
        f"{result}(p0, p1, p2, p3), source_target_pairs={{{{0,1}}}}, slice_sizes={{{{2}}}}",
        "s32[4]",
        "s32[8]",
        "s32[]",
        "s32[]",
    )
    if "start" in result:
        text = text.replace("ROOT r", "s").replace("\n}\n", "\n ROOT r = s32[8] collective-permute-done(s)\n}\n")
    module, arrays = ix.hlo.parse(text), [np.zeros(4, np.int32), np.zeros(8, np.int32), np.int32(0), np.int32(0)]
    why = "slice_sizes is not supported; slice what is sent, and write it"
    (permute,) = (i for i in module.entry.post_order() if "slice_sizes" in i.attributes)
    ((read,), *_), ((written,), *_) = ix.output_to_input(permute), ix.input_to_output(permute, 0)
    assert {read.exactness, written.exactness} == {"unknown"} and why in read.reason and why in written.reason
    assert "it exchanges data with other devices" in str(ix.analyze(module))
    with pytest.raises(ix.UnsupportedOp, match=why):
        ix.evaluate(module, *arrays)


def test_all_gather_divides_its_index_into_replica_and_element() -> None:
    text = program("s32[256,128] all-gather(p0), replica_groups={{0,1}}, dimensions={0}", "s32[128,128]")
    text = text.replace("ROOT r", "g").replace("\n}\n", "\n ROOT r = s32[32768] reshape(g)\n}\n")
    entry = ix.hlo.parse(text).entry
    gather, reshape = entry.instructions["g"], entry.root
    indexings = ix.grouped_indexing([reshape, gather], reshape)
    ((m,),) = [maps for i, maps in indexings.items() if i.opcode == "parameter"]
    assert str(m.map) == spelled("(d0) -> ((d0 floordiv 128) mod 128, d0 mod 128), domain: d0 in [0, 32767]")
    assert str(m.replica_map) == spelled("(d0) -> (d0 floordiv 16384), domain: d0 in [0, 32767]")


def test_chained_all_gathers_ask_one_after_another() -> None:
    text = """HloModule m
    ENTRY e { p0 = s32[2] parameter(0)
      a = s32[4] all-gather(p0), replica_groups={{0,1},{2,3}}, dimensions={0}
      ROOT b = s32[8] all-gather(a), replica_groups={{0,2},{1,3}}, dimensions={0} }"""
    module = ix.hlo.parse(text)
    entry = module.entry
    actual = ix.grouped_indexing(list(entry.instructions.values()), entry.root)[entry.parameters[0]]
    for asking in range(4):
        want = reached(text, 4, asking, 0, 0)
        assert named_by(actual[0], asking) == want


def test_starts_pack_operands_and_results_and_dones_unpack_them() -> None:
    text = """HloModule m
    ENTRY e { p = s32[2] parameter(0)
      s = (s32[2], s32[4]) all-gather-start(p), replica_groups={{0,1}}, dimensions={0}
      ROOT d = s32[4] all-gather-done(s) }"""
    module = ix.hlo.parse(text)
    start, done = module.entry.instructions["s"], module.entry.root
    assert ix.output_to_input(start, 0)[0][0].replica_map is None
    assert str(ix.output_to_input(start, 1)[0][0].map) == spelled("(d0) -> (d0 mod 2), domain: d0 in [0, 3]")
    assert ix.output_to_input(done)[0][0].leaf == 1
    out = ix.evaluate_replicas(module, [[np.array([1, 2])], [np.array([3, 4])]])
    assert [o.tolist() for o in out] == [[1, 2, 3, 4]] * 2
    text = f"""HloModule m
    {SUM}
    ENTRY e {{ p = s32[2] parameter(0)
      s = s32[2] all-reduce-start(p), replica_groups={{{{0,1}}}}, to_apply=sum
      ROOT d = s32[2] all-reduce-done(s) }}"""
    done = ix.hlo.parse(text).entry.root
    (start,) = ix.output_to_input(done.operands[0])[0]
    assert start.map == ix.output_to_input(done)[0][0].map == ix.IndexingMap.identity([2])
    assert start.replica_map is not None and ix.output_to_input(done)[0][0].replica_map is None
    out = ix.evaluate_replicas(text, [[np.array([1, 2])], [np.array([3, 4])]])
    assert [o.tolist() for o in out] == [[4, 6]] * 2
    text = """HloModule m
    ENTRY e { p = s32[2] parameter(0)
      s = (s32[2], s32[2], u32[], u32[]) collective-permute-start(p), source_target_pairs={{0,1}}
      ROOT d = s32[2] collective-permute-done(s) }"""
    (done,) = ix.output_to_input(ix.hlo.parse(text).entry.root)[0]
    assert (done.leaf, done.map) == (1, ix.IndexingMap.identity([2]))
    out = ix.evaluate_replicas(text, [[np.array([1, 2])], [np.array([3, 4])]])
    assert [o.tolist() for o in out] == [[0, 0], [1, 2]]


RAGGED = program(
    "s32[4] ragged-all-to-all(p0, p1, p2, p3, p4, p5), replica_groups={{0,1}}", "s32[4]", "s32[4]", *["s64[2]"] * 4
)


def test_ragged_all_to_all_is_a_bound() -> None:
    indexings = ix.output_to_input(ix.hlo.parse(RAGGED).entry.root)
    assert {m.exactness for maps in indexings for m in maps} == {"over-approximate"}
    kept = np.array([5, 6, 7, 8])
    given = [
        [np.array([1, 2, 2, 9]), kept, [0, 1], [1, 2], [0, 0], [1, 1]],
        [np.array([3, 4, 9, 9]), kept, [0, 1], [1, 1], [1, 2], [2, 1]],
    ]
    out = ix.evaluate_replicas(RAGGED, given)
    assert [o.tolist() for o in out] == [[1, 3, 7, 8], [2, 2, 4, 8]]
    for asking, k in itertools.product(range(2), range(2)):
        assert reached(RAGGED, 2, asking, k, 0, given) <= named_by(indexings[k][0], asking)


def test_ragged_all_to_all_keeps_elements_that_no_row_overwrites() -> None:
    kept, rows = ix.output_to_input(ix.hlo.parse(RAGGED).entry.root)[1], [[0, 0]] * 4
    given = [[np.arange(4) + 10 * r, np.arange(4) + 20 * r, *rows] for r in range(2)]
    for asking in range(2):
        assert reached(RAGGED, 2, asking, 1, 0, given) == named_by(kept[0], asking)


def asynchronous(name: str, results: str, attributes: str) -> str:
    start = f"s = ((s32[2], s32[3]), {results}, u32[]) {name}-start(p0, p1), {attributes}"
    return program(f"{results} {name}-done(s)", "s32[2]", "s32[3]").replace("ROOT r", f"{start}\n  ROOT r")


@pytest.mark.parametrize(
    ("name", "results", "attributes"),
    [
        ("all-gather", "(s32[4], s32[6])", "replica_groups={{0,1}}, dimensions={0}"),
        ("collective-permute", "(s32[2], s32[3])", "source_target_pairs={{0,1},{1,0}}"),
    ],
)
def test_starts_of_several_operands_give_the_operands_then_the_results(
    name: str, results: str, attributes: str
) -> None:
    text = program(f"{results} {name}(p0, p1), {attributes}", "s32[2]", "s32[3]")
    check_all_replicas(text, 2)
    wanted = [ix.output_to_input(ix.hlo.parse(text).entry.root, k) for k in range(2)]
    start = ix.hlo.parse(asynchronous(name, results, attributes)).entry.instructions["s"]
    actual = [ix.output_to_input(start, k) for k in range(5)]
    assert actual == [[[identity([2])], []], [[], [identity([3])]], *wanted, [[], []]]


def test_dones_of_several_operands_give_the_results() -> None:
    check(asynchronous("all-gather", "(s32[2], s32[3])", "replica_groups={{0}}, dimensions={0}"))


def test_an_all_to_all_without_dimensions_takes_an_operand_a_replica() -> None:
    text = program("s32[2] all-to-all(p0)", "s32[2]").replace("HloModule m", "HloModule m, replica_count=2")
    for ask in (ix.output_to_input, lambda module: ix.evaluate_replicas(module, [[np.zeros(2)]] * 2)):
        with pytest.raises(ix.IndexingError, match="2 replicas, found 1"):
            ask(ix.hlo.parse(text))


def test_an_all_to_all_without_groups_has_a_replica_for_each_operand() -> None:
    text = program("(s32[2], s32[2], s32[2]) all-to-all(p0, p1, p2)", "s32[2]", "s32[2]", "s32[2]")
    given = [[np.full(2, 10 * replica + k, np.int32) for k in range(3)] for replica in range(3)]
    for asking in range(3):
        for which in range(3):
            maps = ix.output_to_input(ix.hlo.parse(text).entry.root, asking)[which]
            assert set().union(*(named_by(m, asking) for m in maps)) >= reached(text, 3, asking, which, asking, given)
    results = ix.evaluate_replicas(text, given)
    assert [[int(a[0]) for a in r] for r in results] == [[0, 10, 20], [1, 11, 21], [2, 12, 22]]
    with pytest.raises(ix.IndexingError, match="each of the group.s 2 replicas, found 3"):
        ix.evaluate_replicas(text, given[:2])


def test_a_reducer_may_give_a_tuple_of_one() -> None:
    text = program("s32[2] all-reduce(p0), to_apply=sum", "s32[2]").replace("ROOT c =", "c =")
    text = text.replace("add(a, b)", "add(a, b)\n ROOT t = (s32[]) tuple(c)")
    assert [r.tolist() for r in ix.evaluate_replicas(text, [[np.array([1, 2])], [np.array([3, 4])]])] == [[4, 6]] * 2


def test_ids_are_positions() -> None:
    text = "HloModule m\nENTRY e {\n a = u32[] partition-id()\n b = u32[] replica-id()\n ROOT t = (u32[], u32[]) tuple(a, b)\n}"
    assert ix.evaluate_replicas(text, [[], [], []]) == [(0, 0), (1, 1), (2, 2)]
    assert ix.evaluate(text) == (0, 0)
    assert ix.output_to_input(ix.hlo.parse(text).entry.instructions["a"]) == []


def test_a_collective_of_several_replicas_is_not_evaluated_on_one() -> None:
    text = program("s32[4] all-gather(p0), replica_groups={{0,1}}, dimensions={0}", "s32[2]")
    with pytest.raises(ix.UnsupportedOp, match="evaluate the program on all of them"):
        ix.evaluate(text, np.zeros(2))
    alone = program("s32[2] all-reduce(p0), replica_groups={{0}}, to_apply=sum", "s32[2]")
    assert ix.evaluate(alone, np.array([1, 2])).tolist() == [1, 2]


def test_loops_and_calls_with_collectives_run_in_lockstep() -> None:
    text = f"""HloModule m
    {SUM}
    total {{ p = s32[] parameter(0)
      ROOT r = s32[] all-reduce(p), replica_groups={{{{0,1}}}}, to_apply=sum }}
    more {{ s = (s32[], s32[]) parameter(0)
      i = s32[] get-tuple-element(s), index=0
      n = s32[] constant(2)
      ROOT c = pred[] compare(i, n), direction=LT }}
    body {{ s = (s32[], s32[]) parameter(0)
      i = s32[] get-tuple-element(s), index=0
      x = s32[] get-tuple-element(s), index=1
      one = s32[] constant(1)
      j = s32[] add(i, one)
      y = s32[] call(x), to_apply=total
      ROOT t = (s32[], s32[]) tuple(j, y) }}
    ENTRY e {{ p = s32[] parameter(0)
      z = s32[] constant(0)
      t = (s32[], s32[]) tuple(z, p)
      w = (s32[], s32[]) while(t), condition=more, body=body
      ROOT r = s32[] get-tuple-element(w), index=1 }}"""
    assert [int(o) for o in ix.evaluate_replicas(text, [[1], [4]])] == [10, 10]


def test_groups_without_a_pattern_are_bounded_by_all_replicas() -> None:
    assert Members(((0, 1), (2, 5), (3, 4))).stride() is None
    actual, reason = Members(((0, 1), (2, 5), (3, 4))).replica_map([4])
    assert str(actual) == spelled("(d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [0, 5]")
    assert "pattern" in reason


def test_neighbours_of_a_row_of_replicas_are_named_exactly() -> None:
    """Replica r receives from r - 1; replica 0 from nobody."""
    text = """HloModule m, replica_count=4
    ENTRY e { p = f32[2] parameter(0)
      ROOT r = f32[2] collective-permute(p), source_target_pairs={{0,1},{1,2},{2,3}} }"""
    ((indexing,),) = ix.output_to_input(ix.hlo.parse(text).entry.root)
    assert indexing.exactness == "exact" and indexing.replica_map is not None
    asked = [r for r in range(4) if indexing.replica_map.contains([0], [r])]
    assert [(r, indexing.replica_map.evaluate([0], [r])) for r in asked] == [(1, (0,)), (2, (1,)), (3, (2,))]


@pytest.mark.parametrize(
    ("line", "operand"),
    [
        ("s32[8] all-gather(p0), replica_groups={}, dimensions={0}", "s32[2]"),
        ("s32[3,4] all-gather(p0), replica_groups={}, dimensions={1}", "s32[3,1]"),
        ("s32[2] reduce-scatter(p0), replica_groups={}, dimensions={0}, to_apply=sum", "s32[8]"),
        ("s32[2,3] all-reduce(p0), replica_groups={}, to_apply=sum", "s32[2,3]"),
    ],
)
def test_without_groups_all_replicas_are_one(line: str, operand: str) -> None:
    """What is gathered or scattered has a part for each, also where the module does not state their number."""
    text = program(line, operand)
    if "all-reduce" in line:
        text = text.replace("HloModule m", "HloModule m, replica_count=4")
    check_all_replicas(text, 4)
    arrays = np.random.default_rng(0).integers(0, 9, (4, *ix.hlo.parse(text).entry.parameters[0].shape.dimensions))
    texts = text, text.replace("replica_groups={}", "replica_groups={{0,1,2,3}}")
    np.testing.assert_array_equal(*(ix.evaluate_replicas(t, [[a] for a in arrays]) for t in texts))
    with pytest.raises(ix.UnsupportedOp, match="among 4 replicas; evaluate the program on all of them"):
        ix.evaluate(text, arrays[0])


def test_what_has_no_elements_tells_of_no_replicas() -> None:
    text = program("s32[0,3] all-gather(p0), replica_groups={}, dimensions={0}", "s32[0,3]")
    assert ix.evaluate(text, np.zeros((0, 3))).shape == (0, 3)


def test_a_start_without_groups_gathers_from_all_replicas() -> None:
    text = program("(s32[2], s32[8]) all-gather-start(p0), replica_groups={}, dimensions={0}", "s32[2]")
    text = text.replace("ROOT r", "s").replace("\n}\n", "\n ROOT d = s32[8] all-gather-done(s)\n}\n", 1)
    ((gathered,),) = ix.output_to_input(ix.hlo.parse(text).entry.instructions["s"], 1)
    assert str(gathered.replica_map) == spelled("(d0) -> (d0 floordiv 2), domain: d0 in [0, 7]")
    (one, other) = ix.evaluate_replicas(text.replace("8]", "4]"), [[[1, 2]], [[3, 4]]])
    assert one.tolist() == other.tolist() == [1, 2, 3, 4]


def test_without_groups_all_replicas_that_run_are_one() -> None:
    text = program("s32[2] all-reduce(p0), replica_groups={}, to_apply=sum", "s32[2]")
    assert [v.tolist() for v in ix.evaluate_replicas(text, [[[1, 2]], [[3, 4]], [[5, 6]]])] == [[9, 12]] * 3


@pytest.mark.parametrize("groups", ["{}", "{{0,1,2,3}}"])
def test_a_collective_of_more_replicas_than_run_is_refused(groups: str) -> None:
    text = program(f"s32[8] all-gather(p0), replica_groups={groups}, dimensions={{0}}", "s32[2]")
    with pytest.raises(ix.IndexingError, match="r: all-gather is among 4 replicas; arguments of 2 are given"):
        ix.evaluate_replicas(text, [[[1, 2]], [[3, 4]]])
