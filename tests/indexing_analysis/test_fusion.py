"""Maps through fusions and called computations: composition, merging, runtime values, clusters and epilogues."""

from __future__ import annotations

import gc
import math
import time
import weakref

import numpy as np
import pytest

import indexing as ix
from fusion_texts import fusion_of, texts
from reached import check, spelled

# ---------------------------------------------------------------- random fusions against the reference


KINDS = """transpose reverse reshape broadcast slice concatenate reduce add dynamic-slice pad update gather dot
    window""".split()


class RandomBody:
    """A random computation of integer ops that add and move, so that every element that is read shows in the result."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.lines: list[str] = []
        self.values: list[tuple[str, list[int]]] = []
        self.parameters: list[str] = []
        for _ in range(2):
            sizes = [int(s) for s in self.rng.integers(1, 4, int(self.rng.integers(1, 4)))]
            self.values.append((f"p{len(self.parameters)}", sizes))
            self.parameters.append(self._shape(sizes))
        self.offset = f"p{len(self.parameters)}"
        self.parameters.append("s32[]")

    def _shape(self, sizes: list[int]) -> str:
        return f"s32[{','.join(map(str, sizes))}]"

    def _emit(self, sizes: list[int], text: str) -> None:
        name = f"v{len(self.lines)}"
        self.lines.append(f"  {name} = {self._shape(sizes)} {text}")
        self.values.append((name, sizes))

    def step(self) -> None:
        name, sizes = self.values[int(self.rng.integers(len(self.values)))]
        rng, rank = self.rng, len(sizes)
        kind = rng.choice(KINDS)
        if kind == "transpose":
            order = rng.permutation(rank)
            self._emit([sizes[d] for d in order], f"transpose({name}), dimensions={{{','.join(map(str, order))}}}")
        elif kind == "reverse" and rank:
            self._emit(sizes, f"reverse({name}), dimensions={{{rng.integers(rank)}}}")
        elif kind == "reshape":
            count = math.prod(sizes)
            first = int(rng.choice([d for d in range(1, count + 1) if count % d == 0]))
            self._emit([first, count // first], f"reshape({name})")
        elif kind == "broadcast" and math.prod(sizes) < 20 and rank < 4:
            at = int(rng.integers(rank + 1))
            kept = [d for d in range(rank + 1) if d != at]
            self._emit([*sizes[:at], 2, *sizes[at:]], f"broadcast({name}), dimensions={{{','.join(map(str, kept))}}}")
        elif kind == "slice" and rank:
            starts = [int(rng.integers(s)) for s in sizes]
            strides = [int(rng.integers(1, 3)) for _ in sizes]
            out = [math.ceil((n - a) / t) for n, a, t in zip(sizes, starts, strides, strict=True)]
            bounds = ", ".join(f"[{a}:{n}:{t}]" for n, a, t in zip(sizes, starts, strides, strict=True))
            self._emit(out, f"slice({name}), slice={{{bounds}}}")
        elif kind == "concatenate" and rank and math.prod(sizes) < 20:
            self._emit([2 * sizes[0], *sizes[1:]], f"concatenate({name}, {name}), dimensions={{0}}")
        elif kind == "reduce" and rank > 1:
            d = int(rng.integers(rank))
            self.lines.append(f"  z{len(self.lines)} = s32[] constant(0)")
            zero = f"z{len(self.lines) - 1}"
            out = [*sizes[:d], *sizes[d + 1 :]]
            self._emit(out, f"reduce({name}, {zero}), dimensions={{{d}}}, to_apply=sum")
        elif kind == "pad" and rank:
            self.lines.append(f"  z{len(self.lines)} = s32[] constant(3)")
            zero = f"z{len(self.lines) - 1}"
            config = "x".join(["1_1_1"] + ["0_0_0"] * (rank - 1))
            self._emit([2 * sizes[0] + 1, *sizes[1:]], f"pad({name}, {zero}), padding={config}")
        elif kind == "dynamic-slice" and rank:
            self.lines.append(f"  z{len(self.lines)} = s32[] constant({rng.integers(-1, 4)})")
            starts = [self.offset] + [f"z{len(self.lines) - 1}"] * (rank - 1)
            out = [max(1, s - 1) for s in sizes]
            text = f"dynamic-slice({name}, {', '.join(starts)}), dynamic_slice_sizes={{{','.join(map(str, out))}}}"
            self._emit(out, text)
        elif kind == "update" and rank:
            inner = [n for n, s in self.values if len(s) == rank and all(a <= b for a, b in zip(s, sizes, strict=True))]
            update = str(rng.choice(inner))
            starts = ", ".join([self.offset] * rank)
            self._emit(sizes, f"dynamic-update-slice({name}, {update}, {starts})")
        elif kind == "gather" and rank and math.prod(sizes) < 20:
            self.lines.append(f"  z{len(self.lines)} = s32[3] iota(), iota_dimension=0")
            indices = f"z{len(self.lines) - 1}"
            if rng.random() < 0.5:
                self.lines.append(f"  z{len(self.lines)} = s32[3] broadcast({self.offset}), dimensions={{}}")
                indices = f"z{len(self.lines) - 1}"
            offsets = ",".join(str(d) for d in range(1, rank))
            cut = ",".join(["1", *map(str, sizes[1:])])
            text = (
                f"gather({name}, {indices}), offset_dims={{{offsets}}}, collapsed_slice_dims={{0}}, "
                f"start_index_map={{0}}, index_vector_dim=1, slice_sizes={{{cut}}}"
            )
            self._emit([3, *sizes[1:]], text)
        elif kind == "dot" and rank == 2:
            right = [(n, s) for n, s in self.values if len(s) == 2 and s[0] == sizes[1]]
            if right:
                other, other_sizes = right[int(rng.integers(len(right)))]
                dims = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
                self._emit([sizes[0], other_sizes[1]], f"dot({name}, {other}), {dims}")
        elif kind == "window" and rank and sizes[0] > 1:
            self.lines.append(f"  z{len(self.lines)} = s32[] constant(0)")
            zero = f"z{len(self.lines) - 1}"
            size = "x".join(["2"] + ["1"] * (rank - 1))
            pad = "x".join(["0_1"] + ["0_0"] * (rank - 1))
            window = f"window={{size={size} pad={pad}}}"
            self._emit(sizes, f"reduce-window({name}, {zero}), {window}, to_apply=sum")
        elif kind == "add":
            same = [n for n, s in self.values if s == sizes]
            self._emit(sizes, f"add({name}, {rng.choice(same)})")

    def text(self) -> str:
        while len(self.values) < 9:
            self.step()
        self.lines[-1] = self.lines[-1].replace("  v", "  ROOT v", 1)
        return fusion_of("\n".join(self.lines), *self.parameters, out=self._shape(self.values[-1][1]))


@pytest.mark.parametrize("seed", range(120))
def test_random_fusions_name_what_the_reference_reads(seed: int) -> None:
    body = RandomBody(seed)
    text = body.text()
    made = [np.random.default_rng(seed).permutation(64)[: math.prod(s)].reshape(s) + 1 for _, s in body.values[:2]]
    check(text, [*made, np.int32(seed % 4)], only_bounds=[2])


# ---------------------------------------------------------------- several maps, one map


def test_an_operand_read_in_two_ways_has_two_maps() -> None:
    text = fusion_of("  t = s32[5,5]{0,1} transpose(p0), dimensions={1,0}\n  ROOT a = s32[5,5] add(p0, t)",
                     "s32[5,5]", out="s32[5,5]")  # fmt: skip
    (maps,) = texts(ix.output_to_input(ix.hlo.parse(text).entry.root))
    assert sorted(maps) == [spelled("(d0, d1) -> (d0, d1), domain: d0 in [0, 4], d1 in [0, 4]"),
                            spelled("(d0, d1) -> (d1, d0), domain: d0 in [0, 4], d1 in [0, 4]")]  # fmt: skip


def test_equal_maps_merge() -> None:
    body = """  a = f32[10,20,50] transpose(p0), dimensions={1,0,2}
  b = f32[10,20,50] exponential(a)
  c = f32[10,50,20] transpose(b), dimensions={0,2,1}
  d = f32[50,10,20] transpose(p0), dimensions={2,1,0}
  e = f32[50,10,20] exponential(d)
  g = f32[10,50,20] transpose(e), dimensions={1,0,2}
  ROOT h = f32[10,50,20] add(c, g)"""
    root = ix.hlo.parse(fusion_of(body, "f32[20,10,50]", out="f32[10,50,20]")).entry.root
    want = spelled("(d0, d1, d2) -> (d2, d0, d1), domain: d0 in [0, 9], d1 in [0, 49], d2 in [0, 19]")
    assert texts(ix.output_to_input(root)) == [[want]]


def test_softmax_reads_its_element_and_its_row() -> None:
    body = """  lowest = f32[] constant(-inf)
  zero = f32[] constant(0)
  top = f32[2,65] reduce(p0, lowest), dimensions={2}, to_apply=max
  tops = f32[2,65,125] broadcast(top), dimensions={0,1}
  less = f32[2,65,125] subtract(p0, tops)
  exp = f32[2,65,125] exponential(less)
  sum = f32[2,65] reduce(exp, zero), dimensions={2}, to_apply=add
  sums = f32[2,65,125] broadcast(sum), dimensions={0,1}
  ROOT out = f32[2,65,125] divide(exp, sums)"""
    scalars = "".join(
        f"{name} {{ a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] {opcode}(a, b) }}\n"
        for name, opcode in (("max", "maximum"), ("add", "add"))
    )
    text = fusion_of(body, "f32[2,65,125]", out="f32[2,65,125]").replace("HloModule m\n", f"HloModule m\n{scalars}")
    (maps,) = texts(ix.output_to_input(ix.hlo.parse(text).entry.root))
    box = "domain: d0 in [0, 1], d1 in [0, 64], d2 in [0, 124]"
    row = f"(d0, d1, d2)[s0] -> (d0, d1, s0), {box}, s0 in [0, 124]"
    assert sorted(maps) == sorted([row, f"(d0, d1, d2) -> (d0, d1, d2), {box}"])


def test_an_operand_that_nothing_reads_has_no_maps() -> None:
    text = fusion_of("  ROOT n = s32[3] negate(p1)", "s32[3]", "s32[3]", out="s32[3]")
    assert [len(maps) for maps in ix.output_to_input(ix.hlo.parse(text).entry.root)] == [0, 1]


def test_what_a_slice_cuts_away_is_known_to_be_empty() -> None:
    body = "  c = s32[5] concatenate(p0, p1), dimensions={0}\n  ROOT s = s32[2] slice(c), slice={[0:2]}"
    root = ix.hlo.parse(fusion_of(body, "s32[2]", "s32[3]", out="s32[2]")).entry.root
    assert texts(ix.output_to_input(root)) == [[spelled("(d0) -> (d0), domain: d0 in [0, 1]")], ["KNOWN EMPTY"]]


def diamond(stages: int, sizes: str, mover: str) -> str:
    lines = []
    at = "p0"
    for k in range(stages):
        lines.append(f"  l{k} = f32[{sizes}] log({at})\n  t{k} = f32[{sizes}] {mover.format(f'l{k}')}")
        root = "ROOT " if k == stages - 1 else ""
        lines.append(f"  {root}a{k} = f32[{sizes}] add(l{k}, t{k})")
        at = f"a{k}"
    return fusion_of("\n".join(lines), f"f32[{sizes}]", out=f"f32[{sizes}]")


def test_forty_stages_of_a_diamond_are_two_maps_in_milliseconds() -> None:
    module = ix.hlo.parse(diamond(40, "64,64", "transpose({}), dimensions={{1,0}}"))
    start = time.process_time()
    (maps,) = ix.output_to_input(module.entry.root)
    took = time.process_time() - start
    assert len(maps) == 2
    assert took < 0.5, f"{took:.3f} s"


def test_too_many_different_maps_become_one_that_says_so() -> None:
    """Rotations by 1, 2, 4, ...: every stage doubles the number of different maps."""
    lines, at = [], "p0"
    for k in range(9):
        turn = 2**k
        lines += [
            f"  x{k} = s32[{1024 - turn}] slice({at}), slice={{[{turn}:1024]}}",
            f"  y{k} = s32[{turn}] slice({at}), slice={{[0:{turn}]}}",
            f"  c{k} = s32[1024] concatenate(x{k}, y{k}), dimensions={{0}}",
            f"  {'ROOT ' if k == 8 else ''}a{k} = s32[1024] add({at}, c{k})",
        ]
        at = f"a{k}"
    root = ix.hlo.parse(fusion_of("\n".join(lines), "s32[1024]", out="s32[1024]")).entry.root
    (indexing,) = ix.output_to_input(root)[0]
    assert indexing.exactness == "over-approximate"
    assert "more than 64 different maps" in indexing.reason
    assert str(indexing.map) == spelled("(d0)[s0] -> (s0), domain: d0 in [0, 1023], s0 in [0, 1023]")


# ---------------------------------------------------------------- outputs, nesting, tuples


def test_outputs_of_a_fusion_are_counted_through_tuples() -> None:
    body = """  n = s32[3] negate(p0)
  r = s32[3] reverse(p1), dimensions={0}
  i = (s32[3], s32[3]) tuple(r, n)
  ROOT t = (s32[3], (s32[3], s32[3])) tuple(n, i)"""
    root = check(fusion_of(body, "s32[3]", "s32[3]", out="(s32[3], (s32[3], s32[3]))"))
    assert [[len(maps) for maps in ix.output_to_input(root, k)] for k in range(3)] == [[1, 0], [0, 1], [1, 0]]
    with pytest.raises(ix.IndexingError, match="3 outputs"):
        ix.output_to_input(root, 3)


def test_fusions_and_calls_nest() -> None:
    text = """HloModule m
    inner { a = s32[4] parameter(0)
      b = s32[4] parameter(1)
      r = s32[4] reverse(a), dimensions={0}
      ROOT t = (s32[4], s32[4]) tuple(r, b) }
    called { a = s32[4] parameter(0)
      ROOT s = s32[2] slice(a), slice={[0:4:2]} }
    outer { a = s32[4] parameter(0)
      f = (s32[4], s32[4]) fusion(a, a), kind=kLoop, calls=inner
      g = s32[4] get-tuple-element(f), index=0
      h = s32[4] get-tuple-element(f), index=1
      c = s32[2] call(g), to_apply=called
      d = s32[2] call(h), to_apply=called
      ROOT s = s32[2] add(c, d) }
    ENTRY e { p = s32[4] parameter(0)
      ROOT r = s32[2] fusion(p), kind=kLoop, calls=outer }"""
    root = check(text)
    want = sorted(spelled(f"(d0) -> ({e}), domain: d0 in [0, 1]") for e in ("d0 * -2 + 3", "d0 * 2"))
    assert sorted(texts(ix.output_to_input(root))[0]) == want


# ---------------------------------------------------------------- runtime values


SLICES = """  a = s32[7,6] dynamic-slice(p0, p1, p2), dynamic_slice_sizes={7,6}
  ROOT b = s32[3,2] dynamic-slice(a, p3, p4), dynamic_slice_sizes={3,2}"""


def test_composition_keeps_each_runtime_variable_with_its_value() -> None:
    text = fusion_of(SLICES, "s32[9,8]", "s32[]", "s32[]", "s32[]", "s32[]", out="s32[3,2]")
    root = ix.hlo.parse(text).entry.root
    (indexing,) = ix.output_to_input(root)[0]
    starts = {v.instruction.name: v.bounds for v in indexing.runtime_values}
    assert starts == {"p1": (0, 2), "p2": (0, 2), "p3": (0, 4), "p4": (0, 4)}
    rng = np.random.default_rng(0)
    for _ in range(6):
        given = [np.int32(s) for s in rng.integers(-2, 9, 4)]
        check(text, [np.arange(72).reshape(9, 8), *given], only_bounds=[1, 2, 3, 4])


@pytest.mark.parametrize(
    ("offset", "want"), [(42, "(d0) -> (d0 + 42)"), (0, "(d0) -> (d0)"), (90, "(d0) -> (d0 + 90)")]
)
def test_a_constant_start_folds(offset: int, want: str) -> None:
    body = f"  c = s32[] constant({offset})\n  ROOT s = s32[10] dynamic-slice(p0, c), dynamic_slice_sizes={{10}}"
    root = check(fusion_of(body, "s32[100]", out="s32[10]"))
    (indexing,) = ix.output_to_input(root)[0]
    assert str(indexing.map).startswith(want)
    assert indexing.runtime_values == ()


@pytest.mark.parametrize("offset", [99, -3])
def test_a_constant_start_out_of_range_stays_and_is_clamped(offset: int) -> None:
    body = f"  c = s32[] constant({offset})\n  ROOT s = s32[10] dynamic-slice(p0, c), dynamic_slice_sizes={{10}}"
    root = check(fusion_of(body, "s32[100]", out="s32[10]"))
    (indexing,) = ix.output_to_input(root)[0]
    assert [(v.instruction.name, v.bounds) for v in indexing.runtime_values] == [("c", (0, 90))]


def test_an_iota_start_folds_with_its_clamp() -> None:
    body = """  i = s32[12,1] iota(), iota_dimension=0
  ROOT g = s32[12,1] gather(p0, i), offset_dims={1}, collapsed_slice_dims={}, start_index_map={0},
    index_vector_dim=1, slice_sizes={1}"""
    root = check(fusion_of(body, "s32[8]", out="s32[12,1]"))
    assert texts(ix.output_to_input(root))[0][0].startswith("(d0, d1) -> (min(d0, 7))")


# ---------------------------------------------------------------- what is remembered


def test_what_is_remembered_of_a_module_is_freed_with_it() -> None:
    module = ix.hlo.parse(fusion_of(SLICES, "s32[9,8]", "s32[]", "s32[]", "s32[]", "s32[]", out="s32[3,2]"))
    ix.output_to_input(module.entry.root)
    ix.input_to_output(module.entry.root)
    gone = weakref.ref(module)
    del module
    gc.collect()
    assert gone() is None


def test_answers_are_the_callers_own() -> None:
    root = ix.hlo.parse("HloModule m\nENTRY e {\n p = s32[2] parameter(0)\n ROOT n = s32[2] negate(p)\n}").entry.root
    ix.output_to_input(root)[0].clear()
    assert len(ix.output_to_input(root)[0]) == 1


def test_equal_signatures_with_different_values_keep_their_own() -> None:
    text = """HloModule m
    ENTRY e { p = s32[9] parameter(0)
      i = s32[] parameter(1)
      j = s32[] parameter(2)
      a = s32[3] dynamic-slice(p, i), dynamic_slice_sizes={3}
      b = s32[3] dynamic-slice(p, j), dynamic_slice_sizes={3}
      ROOT s = s32[3] add(a, b) }"""
    root = ix.hlo.parse(text).entry.root
    assert root.operands[0].signature == root.operands[1].signature
    starts = [ix.output_to_input(o)[0][0].runtime_values[0].instruction.name for o in root.operands]
    assert starts == ["i", "j"]


def test_a_call_with_a_known_start_folds_it_where_it_is_called() -> None:
    text = """HloModule m
    f { p = s32[9] parameter(0)
      i = s32[] parameter(1)
      ROOT a = s32[3] dynamic-slice(p, i), dynamic_slice_sizes={3} }
    ENTRY e { p = s32[9] parameter(0)
      two = s32[] constant(2)
      j = s32[] parameter(1)
      a = s32[3] call(p, two), to_apply=f
      b = s32[3] call(p, j), to_apply=f
      ROOT s = s32[3] add(a, b) }"""
    first, second = ix.hlo.parse(text).entry.root.operands
    assert str(ix.output_to_input(first)[0][0].map) == spelled("(d0) -> (d0 + 2), domain: d0 in [0, 2]")
    assert [v.instruction.name for v in ix.output_to_input(second)[0][0].runtime_values] == ["j"]


def test_pieces_of_equal_signatures_keep_their_own_values() -> None:
    text = """HloModule m
    ENTRY e { p = s32[9] parameter(0)
      u = s32[3] parameter(1)
      i = s32[] parameter(2)
      j = s32[] parameter(3)
      a = s32[9] dynamic-update-slice(p, u, i)
      b = s32[9] dynamic-update-slice(p, u, j)
      ROOT s = s32[9] add(a, b) }"""
    root = ix.hlo.parse(text).entry.root
    for call in (ix.output_to_input, ix.input_to_output):
        for operand, name in zip(root.operands, "ij", strict=True):
            ((actual,), *_) = call(operand)
            assert {v.instruction.name for p in actual.pieces or () for v in p.runtime_values} == {name}


@pytest.mark.parametrize("starts", [(0, 4), (2, 3), (7, -1)])
def test_a_fusion_that_updates_twice_names_what_it_keeps(starts: tuple[int, int]) -> None:
    body = """  a = s32[9] dynamic-update-slice(p0, p1, p2)
  b = s32[9] dynamic-update-slice(p0, p1, p3)
  t = s32[9] reverse(b), dimensions={0}
  ROOT s = s32[9] add(a, t)"""
    text = fusion_of(body, "s32[9]", "s32[3]", "s32[]", "s32[]", out="s32[9]")
    given = [np.arange(9) + 10, np.arange(3), *map(np.int32, starts)]
    check(text, given, only_bounds=[2, 3])


def test_work_beyond_the_budget_is_a_bound_that_says_so() -> None:
    long = 20_001  # instructions, each of which one map reaches from the first array
    chain = "\n".join(f"x{k + 1} = s32[3] negate(x{k})" for k in range(long))
    text = f"""HloModule m
    f {{ p = (s32[3], s32[3], s32[3]) parameter(0)
      x0 = s32[3] get-tuple-element(p), index=0
      b = s32[3] get-tuple-element(p), index=1
      c = s32[3] get-tuple-element(p), index=2
      {chain}
      s = s32[3] add(x{long}, b)
      ROOT t = (s32[3], s32[3]) tuple(s, c) }}
    ENTRY e {{ p = (s32[3], s32[3], s32[3]) parameter(0)
      ROOT r = (s32[3], s32[3]) call(p), to_apply=f }}"""
    first, second = ix.input_to_output(ix.hlo.parse(text).entry.root)
    assert [(m.leaf, m.exactness) for m in first] == [(0, "exact"), (1, "over-approximate")]
    assert "too large" in first[1].reason
    assert [(m.leaf, m.exactness) for m in second] == [(2, "exact")]
