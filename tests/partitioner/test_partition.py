"""Partition of computations: what is one function, what it is called, and that the work is linear."""

import time

import pytest

import indexing as ix
from indexing.partitioner import Epilogue, c_identifier, partition


def parts(text: str, **options) -> dict[str, list[str]]:
    """Root's name -> names of the instructions of its function."""
    computation = ix.hlo.parse(text).entry
    forced = [computation.instructions[n] for n in options.pop("force", ())]
    partitioned = ix.partition(computation, force_roots=forced)
    return {s.roots[0].name: sorted(i.name for i in s.instructions) for s in partitioned.subgraphs}


def test_a_transposed_and_a_direct_user_split() -> None:
    partitioned = parts("""fused {
      p = f32[8,8] parameter(0)
      log = f32[8,8] log(p)
      t = f32[8,8] transpose(log), dimensions={1,0}
      ROOT add = f32[8,8] add(log, t)
    }""")
    assert partitioned == {"add": ["add", "t"], "log": ["log", "p"]}


def test_users_at_one_index_share_a_function() -> None:
    partitioned = parts("""fused {
      p = f32[8] parameter(0)
      e = f32[8] exponential(p)
      a = f32[8] add(e, p)
      m = f32[8] multiply(e, e)
      ROOT s = f32[8] subtract(a, m)
    }""")
    assert partitioned == {"s": ["a", "e", "m", "p", "s"]}


def test_paths_that_lead_back_to_one_index_join() -> None:
    partitioned = parts("""fused {
      p = f32[4,6] parameter(0)
      e = f32[4,6] exponential(p)
      t = f32[6,4] transpose(e), dimensions={1,0}
      n = f32[6,4] negate(t)
      b = f32[4,6] transpose(n), dimensions={1,0}
      ROOT a = f32[4,6] add(e, b)
    }""")
    assert partitioned == {"a": ["a", "b", "e", "n", "p", "t"]}


def test_a_chain_of_slices_is_a_chain_of_functions() -> None:
    lines = ["p = f32[6] parameter(0)"]
    previous = "p"
    for k, size in enumerate((5, 4, 3)):
        lines += [f"l{k} = f32[{size}] slice({previous}), slice={{[0:{size}]}}"]
        lines += [f"h{k} = f32[{size}] slice({previous}), slice={{[1:{size + 1}]}}"]
        lines += [f"{'ROOT ' if k == 2 else ''}a{k} = f32[{size}] add(l{k}, h{k})"]
        previous = f"a{k}"
    partitioned = ix.partition(ix.hlo.parse("fused {\n" + "\n".join(lines) + "\n}").entry)
    assert [s.name for s in partitioned.subgraphs] == ["fused_a2", "fused_a1", "fused_a0", "fused_p"]
    assert [s.has_no_compute for s in partitioned.subgraphs] == [False, False, False, True]
    assert [i.name for i in partitioned.subgraphs[0].instructions] == ["l2", "h2", "a2"]


def test_starts_that_differ_are_different_indices() -> None:
    partitioned = parts("""fused {
      x = f32[16] parameter(0)
      e = f32[16] exponential(x)
      i = s32[] parameter(1)
      j = s32[] parameter(2)
      a = f32[4] dynamic-slice(e, i), dynamic_slice_sizes={4}
      b = f32[4] dynamic-slice(e, j), dynamic_slice_sizes={4}
      ROOT s = f32[4] add(a, b)
    }""")
    assert partitioned["e"] == ["e", "x"]


def test_two_loops_over_an_operand_share_a_function_and_no_copy() -> None:
    partitioned = parts("""sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
    max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] maximum(a, b) }
    ENTRY fused {
      x = f32[4,8] parameter(0)
      e = f32[4,8] exponential(x)
      z = f32[] constant(0)
      s = f32[4] reduce(e, z), dimensions={1}, to_apply=sum
      m = f32[4] reduce(e, z), dimensions={1}, to_apply=max
      ROOT a = f32[4] add(s, m)
    }""")
    assert partitioned == {"a": ["a", "m", "s", "z"], "e": ["e", "x"]}


def test_forced_roots() -> None:
    text = """fused {
      p = f32[8,4] parameter(0)
      r = f32[8,4] reverse(p), dimensions={0}
      t = f32[4,8] transpose(r), dimensions={1,0}
      ROOT e = f32[4,8] tanh(t)
    }"""
    assert parts(text) == {"e": ["e", "p", "r", "t"]}
    assert parts(text, force=["t"]) == {"e": ["e"], "t": ["p", "r", "t"]}


def test_a_tuples_elements_of_one_shape_share_its_function() -> None:
    partitioned = parts("""fused {
      p = f32[6] parameter(0)
      q = f32[2,3] parameter(1)
      a = f32[6] negate(p)
      b = f32[6] exponential(p)
      c = f32[2,3] log(q)
      d = f32[5] slice(p), slice={[0:5]}
      ROOT t = (f32[6], f32[6], f32[2,3], f32[5]) tuple(a, b, c, d)
    }""")
    assert partitioned == {"t": ["a", "b", "c", "q", "t"], "d": ["d"], "p": ["p"]}


def test_arrays_of_one_element_share_a_function_whatever_their_rank() -> None:
    partitioned = parts("""fused {
      p = f32[1] parameter(0)
      q = f32[1,1] parameter(1)
      ROOT t = (f32[1], f32[1,1]) tuple(p, q)
    }""")
    assert partitioned == {"t": ["p", "q", "t"]}


def test_dead_instructions_are_in_no_subgraph() -> None:
    computation = ix.hlo.parse("""fused {
      p = f32[6] parameter(0)
      d = f32[6] exponential(p)
      ROOT n = f32[6] negate(p)
    }""").entry
    partitioned = ix.partition(computation)
    assert partitioned.find(computation.root).roots == (computation.root,)
    assert partitioned.holds(computation.root) and not partitioned.holds(computation.instructions["d"])
    with pytest.raises(ix.IndexingError, match="in no subgraph"):
        partitioned.find(computation.instructions["d"])


def test_names_that_c_does_not_allow_are_spelled_apart() -> None:
    partitioned = ix.partition(
        ix.hlo.parse("""%fused.1-x {
      %p = f32[6] parameter(0)
      %a.b = f32[6] exponential(%p)
      %a-b = f32[6] reverse(%a.b), dimensions={0}
      %r = f32[6] add(%a.b, %a-b)
      ROOT %a_b = f32[6] reverse(%r), dimensions={0}
    }""").entry
    )
    names = [s.name for s in partitioned.subgraphs]
    assert len(set(names)) == len(names) == 2
    assert all(n.isascii() and n.isidentifier() for n in names)


def test_equal_names_are_numbered_from_2() -> None:
    computation = ix.hlo.parse("""%f {
      %p = f32[6] parameter(0)
      %a.b = f32[6] exponential(%p)
      %a-b = f32[6] reverse(%a.b), dimensions={0}
      ROOT %a_b = f32[6] log(%a-b)
    }""").entry
    partitioned = ix.partition(computation, force_roots=computation.instructions.values())
    assert {s.name for s in partitioned.subgraphs} == {"f_a_b", "f_a_b_2", "f_a_b_3", "f_p"}


@pytest.mark.parametrize(("name", "identifier"), [("", "_"), ("1x", "_1x"), ("x1", "x1"), ("a.b-c", "a_b_c")])
def test_identifiers_of_c_do_not_begin_with_a_digit(name: str, identifier: str) -> None:
    assert c_identifier(name) == identifier


GATHERS = {
    1: """p = f32[4] parameter(0) q = s32[3,1] parameter(1) i = s32[3,1] negate(q)
      {} = f32[3] gather(p, i), offset_dims={{}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1,
        slice_sizes={{1}}""",
    2: """p = f32[4,5] parameter(0) q = s32[3,2] parameter(1) i = s32[3,2] negate(q)
      {} = f32[3] gather(p, i), offset_dims={{}}, collapsed_slice_dims={{0,1}}, start_index_map={{0,1}}, index_vector_dim=1,
        slice_sizes={{1,1}}""",
}


def test_index_vectors_of_several_components_are_computed_apart() -> None:
    """Each component is read by code of its own, unless the gather is the root, whose kernel reads the vector."""
    one, two = (f"fused {{ {GATHERS[k].format('g')} ROOT n = f32[3] negate(g) }}" for k in (1, 2))
    assert parts(one) == {"n": ["g", "i", "n", "p", "q"]}
    assert parts(two) == {"n": ["g", "n", "p"], "i": ["i", "q"]}
    assert parts(f"fused {{ {GATHERS[2].format('ROOT g')} }}") == {"g": ["g", "i", "p", "q"]}


def test_an_index_of_more_nodes_than_the_limit_starts_a_function(monkeypatch: pytest.MonkeyPatch) -> None:
    text = """fused {
      p = f32[6,4] parameter(0)
      e = f32[6,4] exponential(p)
      r = f32[8,3] reshape(e)
      ROOT t = f32[3,8] transpose(r), dimensions={1,0}
    }"""
    computation = ix.hlo.parse(text).entry
    ((indexing,),) = ix.output_to_input(computation)
    nodes = sum(len(e.nodes()) for e in indexing.map.results)
    monkeypatch.setattr("indexing.partitioner.MAX_INDEX_NODES", nodes)
    assert parts(text) == {"t": ["e", "p", "r", "t"]}
    monkeypatch.setattr("indexing.partitioner.MAX_INDEX_NODES", nodes - 1)
    assert parts(text) == {"t": ["r", "t"], "e": ["e", "p"]}


REDUCTION = """sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
ENTRY fused {
  p = f32[4] parameter(0)
  z = f32[] constant(0)
  r = f32[] reduce(p, z), dimensions={0}, to_apply=sum
  b = f32[1] bitcast(r)
  a = f32[1] abs(b)
  l = f32[1] log(a)
  s = f32[1] sign(b)
  ROOT t = (f32[1], f32[1]) tuple(l, s)
}"""


def test_an_epilogue_takes_the_heroes_values() -> None:
    c = ix.hlo.parse(REDUCTION).entry
    get = c.instructions
    partitioned = partition(c, epilogues=[Epilogue.from_paths([(get["r"], get["l"]), (get["r"], get["s"])])])
    (epilogue,) = partitioned.epilogues
    assert epilogue.name == "fused__epilogue__l_s"
    assert [i.name for i in epilogue.instructions] == ["b", "a", "l", "s"]
    assert epilogue.injected == (get["r"],)
    assert epilogue.index_sizes == ()
    assert partitioned.find(get["p"]).roots == (get["p"],)
    assert partitioned.find(get["z"]).roots == (get["z"],)
    with pytest.raises(ix.IndexingError, match="hero"):
        partitioned.find(get["r"])


def test_an_epilogue_recomputes_a_hero_at_another_index() -> None:
    c = ix.hlo.parse("""fused {
      p = f32[4] parameter(0)
      h = f32[4] exponential(p)
      r = f32[4] reverse(h), dimensions={0}
      n = f32[4] negate(h)
      ROOT t = (f32[4], f32[4]) tuple(n, r)
    }""").entry
    get = c.instructions
    partitioned = partition(c, epilogues=[Epilogue((get["h"],), (get["n"], get["r"]), (4,), 2 * (IDENTITY,))])
    assert {i.name for i in partitioned.epilogues[0].instructions} == {"h", "n", "r"}
    alone = partition(c, epilogues=[Epilogue((get["h"],), (get["n"],), (4,), (IDENTITY,))])
    assert alone.find(get["n"]) is alone.epilogues[0] and alone.find(get["r"]).roots == (get["r"],)


def test_an_epilogue_takes_a_hero_of_a_tuple_along_a_dimension_of_one_element() -> None:
    """The tuple names the hero at the index itself, which is not simplified to 0 in the first dimension."""
    c = ix.hlo.parse("""fused {
      p = f32[1,8] parameter(0)
      h = f32[1,8] exponential(p)
      n = f32[1,8] negate(h)
      ROOT t = (f32[1,8], f32[1,8]) tuple(h, n)
    }""").entry
    get, own = c.instructions, ix.IndexingMap.identity((1, 8))
    partitioned = partition(c, epilogues=[Epilogue((get["h"],), (get["t"],), (1, 8), (own,))])
    assert partitioned.find(get["h"]) is partitioned.find(get["n"])  # which alone computes it


def test_heroes_of_an_epilogue_have_one_shape() -> None:
    get = ix.hlo.parse(REDUCTION).entry.instructions
    with pytest.raises(ix.IndexingError, match="one shape"):
        Epilogue.from_paths([(get["r"], get["l"])], [get["p"]])


IDENTITY = ix.IndexingMap.identity((4,))


def test_text_form() -> None:
    computation = ix.hlo.parse("""fused {
      p0 = f32[4,2]{1,0} parameter(0)
      t = f32[2,4]{1,0} transpose(p0), dimensions={1,0}
      ROOT r = f32[2,4]{1,0} tanh(t)
    }""").entry
    partitioned = ix.partition(computation, force_roots=[computation.instructions["t"]])
    lines = str(partitioned).splitlines()
    assert lines[0] == "PartitionedComputation fused:"
    assert lines[1] == "SUBGRAPH fused_r {"
    assert lines[4] == "SUBGRAPH fused_t no_compute {"
    assert [line.strip().startswith("ROOT") for line in lines[5:7]] == [False, True]


def test_time_is_linear_in_the_stages() -> None:
    def stages(count: int) -> float:
        lines = ["x0 = f32[64,64] parameter(0)"]
        for k in range(count):
            lines += [f"l{k} = f32[64,64] log(x{k})"]
            lines += [f"t{k} = f32[64,64] transpose(l{k}), dimensions={{1,0}}"]
            lines += [f"{'ROOT ' if k == count - 1 else ''}x{k + 1} = f32[64,64] add(l{k}, t{k})"]
        computation = ix.hlo.parse("fused {\n" + "\n".join(lines) + "\n}").entry
        start = time.process_time()
        assert len(ix.partition(computation).subgraphs) == count + 1
        return time.process_time() - start

    stages(16)
    assert stages(512) < 40 * max(stages(64), 0.02)


def test_arrays_of_a_call_are_read_at_their_own_indices() -> None:
    module = ix.hlo.parse(
        """f { a = f32[4] parameter(0)
             b = f32[4,3] parameter(1)
             e = f32[4] exponential(a)
             ROOT t = (f32[4], f32[4,3]) tuple(e, b) }
        ENTRY main { x = f32[4] parameter(0)
          y = f32[4,3] parameter(1)
          c = (f32[4], f32[4,3]) call(x, y), to_apply=f
          g = f32[4,3] get-tuple-element(c), index=1
          h = f32[4] get-tuple-element(c), index=0
          s = f32[4,3] broadcast(h), dimensions={0}
          ROOT n = f32[4,3] add(g, s) }"""
    )
    partitioned = ix.partition(module)
    assert [[r.name for r in s.roots] for s in partitioned.subgraphs] == [["n"], ["c"]], (
        "c is read at (d0, d1) and at (d0)"
    )
    assert {i.name for i in partitioned.find(module.entry.root).instructions} >= {"n", "s", "g", "h"}


def test_arrays_of_a_call_read_its_operands_at_their_own_indices() -> None:
    """Those that are read, each at an index of its own: `y` by one, `x` by two, `z` by none."""
    module = ix.hlo.parse(
        """f { a = f32[4] parameter(0)
             b = f32[4,3] parameter(1)
             c = f32[5] parameter(2)
             n = f32[4] negate(a)
             ROOT t = (f32[4], f32[4], f32[4,3], f32[5]) tuple(a, n, b, c) }
        ENTRY main { x = f32[4] parameter(0)
          y = f32[4,3] parameter(1)
          z = f32[5] parameter(2)
          c = (f32[4], f32[4], f32[4,3], f32[5]) call(x, y, z), to_apply=f
          g = f32[4] get-tuple-element(c), index=0
          h = f32[4] get-tuple-element(c), index=1
          k = f32[4,3] get-tuple-element(c), index=2
          s = f32[4] add(g, h)
          b = f32[4,3] broadcast(s), dimensions={0}
          ROOT r = f32[4,3] add(k, b) }"""
    )
    partitioned = ix.partition(module)
    owner = {name: partitioned.find(i).roots[0].name for name, i in module.entry.instructions.items()}
    assert (owner["c"], owner["y"], owner["x"], owner["z"]) == ("c", "c", "x", "z")


@pytest.mark.parametrize("what", ["while", "conditional", "custom-call"])
def test_arrays_of_several_sizes_are_read_together_at_one_index_only(what: str) -> None:
    module = ix.hlo.parse(MIXED[what])
    parts = ix.partition(module)
    inner = next(i for i in module.entry.instructions.values() if i.opcode == what)
    reads_one = what == "conditional"
    assert (parts.find(inner) is parts.find(module.entry.root)) == reads_one
    with pytest.raises(ix.UnsupportedOp, match=inner.name):
        ix.emit(module)


STATE = "(s32[], f32[4,3])"
MIXED = {
    "while": f"""body {{ s = {STATE} parameter(0) i = s32[] get-tuple-element(s), index=0
        x = f32[4,3] get-tuple-element(s), index=1 ROOT t = {STATE} tuple(i, x) }}
      more {{ s = {STATE} parameter(0) ROOT p = pred[] constant(false) }}
      ENTRY e {{ i = s32[] parameter(0) x = f32[4,3] parameter(1) s = {STATE} tuple(i, x)
        w.1 = {STATE} while(s), condition=more, body=body
        g = f32[4,3] get-tuple-element(w.1), index=1 j = s32[] get-tuple-element(w.1), index=0
        c = f32[] convert(j) b = f32[4,3] broadcast(c), dimensions={{}} ROOT r = f32[4,3] add(g, b) }}""",
    "conditional": f"""same {{ s = {STATE} parameter(0) ROOT t = {STATE} copy(s) }}
      ENTRY e {{ i = s32[] parameter(0) x = f32[4,3] parameter(1) s = {STATE} tuple(i, x)
        c.1 = {STATE} conditional(i, s, s), branch_computations={{same, same}}
        g = f32[4,3] get-tuple-element(c.1), index=1 ROOT r = f32[4,3] negate(g) }}""".replace("copy", "opt-barrier"),
    "custom-call": f"""ENTRY e {{ i = s32[] parameter(0) x = f32[4,3] parameter(1)
        k.1 = {STATE} custom-call(i, x), custom_call_target="nobody.knows"
        g = f32[4,3] get-tuple-element(k.1), index=1 j = s32[] get-tuple-element(k.1), index=0
        c = f32[] convert(j) b = f32[4,3] broadcast(c), dimensions={{}} ROOT r = f32[4,3] add(g, b) }}""",
}


def test_evaluations_count_loops_and_places() -> None:
    module = ix.hlo.parse(
        """add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
        ENTRY f { x = f32[64,100] parameter(0)
          e = f32[64,100] exponential(x)
          z = f32[] constant(0)
          t = f32[64] reduce(e, z), dimensions={1}, to_apply=add
          l = f32[64] log(t)
          b = f32[64,100] broadcast(l), dimensions={0}
          r = f32[64,100] reverse(e), dimensions={1}
          p = f32[128,100] pad(r, z), padding=64_0x0_0
          q = f32[64,100] slice(p), slice={[64:128], [0:100]}
          ROOT y = f32[64,100] subtract(b, q) }"""
    )
    counts = {i.name: n for i, n in ix.partition(module).evaluations.items()}
    assert (counts["y"], counts["l"], counts["t"]) == (6400, 6400, 6400), "log and sum are computed for each element"
    assert counts["e"] == 6400 * 100 + 6400, "in the sum's loop, and reversed"
    assert (counts["q"], counts["r"]) == (6400, 6400), "all of what the slice keeps comes from r"


def test_evaluations_of_what_is_not_read_and_of_what_an_unknown_op_reads() -> None:
    """A pad reads its operand inside of the padding alone; an unknown op may read all of it for each element."""
    module = ix.hlo.parse(
        """ENTRY f { x = f32[4] parameter(0)
          z = f32[] constant(0)
          e = f32[4] exponential(x)
          p = f32[4] pad(e, z), padding=4_-4
          h = f32[2] negate(f32[2] parameter(2))
          i = f32[4] pad(h, z), padding=2_0
          l = f32[5] log(f32[5] parameter(1))
          c = f32[4] custom-call(l), custom_call_target="nobody.knows"
          b = f32[4] add(p, i)
          ROOT a = f32[4] add(b, c) }"""
    )
    counts = {i.name: n for i, n in ix.partition(module).evaluations.items()}
    assert (counts["p"], counts["e"]) == (4, 0)
    assert (counts["i"], counts["h"]) == (4, 2)
    assert (counts["c"], counts["l"]) == (4, 4 * 5)


def test_evaluations_of_a_tuples_arrays() -> None:
    """Those of other sizes than the first are computed at unknown elements, each of them once an array."""
    module = ix.hlo.parse(
        """ENTRY f { a = f32[6] negate(f32[6] parameter(0))
          b = f32[5] negate(f32[5] parameter(1))
          c = f32[4] negate(f32[4] parameter(2))
          e = () tuple()
          ROOT t = (f32[6], f32[5], f32[4], f32[4], ()) tuple(a, b, c, c, e) }"""
    )
    counts = {i.name: n for i, n in ix.partition(module).evaluations.items()}
    assert (counts["a"], counts["b"], counts["c"], counts["e"]) == (6, 5, 2 * 4, 0)


def test_arrays_of_one_index_are_computed_together() -> None:
    module = ix.hlo.parse(
        """larger { v = f32[] parameter(0) i = f32[] parameter(1) w = f32[] parameter(2) j = f32[] parameter(3)
          c = pred[] compare(v, w), direction=GT a = f32[] select(c, v, w) b = f32[] select(c, i, j)
          ROOT t = (f32[], f32[]) tuple(a, b) }
        ENTRY f { x = f32[4,50] parameter(0) y = f32[4,50] parameter(1) z = f32[] constant(0)
          r = (f32[4], f32[4]) reduce(x, y, z, z), dimensions={1}, to_apply=larger
          v = f32[4] get-tuple-element(r), index=0
          w = f32[4] get-tuple-element(r), index=1
          ROOT s = f32[4] add(v, w) }"""
    )
    partitioned = ix.partition(module)
    assert partitioned.find(module.entry.instructions["r"]) is partitioned.find(module.entry.root)
    assert partitioned.evaluations[module.entry.instructions["r"]] == 4
    forced = module.entry.instructions["v"]
    assert ix.partition(module, force_roots=[forced]).find(forced).roots == (forced,)


def test_an_index_of_size_one_divides_no_function() -> None:
    """The identity of a dimension of one element is 0: what results read at it and at their own index is read at one index."""
    text = """ENTRY main {
      p = u32[1,8] parameter(0)
      a = u32[1,8] negate(p)
      b = u32[1,8] xor(a, p)
      c = u32[1,8] add(a, b)
      ROOT t = (u32[1,8], u32[1,8], u32[1,8]) tuple(a, b, c)
    }"""
    partitioned = ix.partition(ix.hlo.parse(text))
    assert len(partitioned.subgraphs) == 1
    assert set(partitioned.evaluations.values()) == {8}
