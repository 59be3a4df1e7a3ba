"""Elements that several stores write: whether any is written twice is what a list of all of them says."""

from collections import Counter

import numpy as np
import pytest

import indexing as ix
from indexing.kernels.verify.cover import normalized
from indexing.kernels.verify.once import are_apart

BATCH_NORM = """add {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }}
ENTRY normalized {{
  x = f32[{0}] parameter(0)
  z = f32[] constant(0)
  s = f32[{1}] reduce(x, z), dimensions={{0,2,3}}, to_apply=add
  m = f32[{0}] broadcast(s), dimensions={{1}}
  ROOT r = f32[{0}] subtract(x, m)
}}"""

ROTATED = """fused {
  x = bf16[1,8192,8,128] parameter(0)
  a = bf16[1,8192,8,127] slice(x), slice={[0:1], [0:8192], [0:8], [0:127]}
  b = bf16[1,8192,8,127] slice(x), slice={[0:1], [0:8192], [0:8], [1:128]}
  s = bf16[1,8192,8,127] add(a, b)
  l = bf16[1,8192,8,1] slice(x), slice={[0:1], [0:8192], [0:8], [127:128]}
  ROOT r = bf16[1,8192,8,128] concatenate(s, l), dimensions={3}
}"""

DILATED = """fused {
  x = f32[96,576,7,7] parameter(0)
  w = f32[576,1,3,3] parameter(1)
  ROOT c = f32[96,576,14,14] convolution(x, w), window={size=3x3 pad=1_2x1_2 lhs_dilate=2x2}, dim_labels=bf01_oi01->bf01, feature_group_count=576
}"""


def written(maps: list[ix.IndexingMap]) -> Counter[tuple[int, ...]]:
    return Counter(m.evaluate(*point) for m in maps for point in m.points())


def accesses(m: ix.IndexingMap) -> set[tuple[int, ...]]:
    """The elements with the threads that access them."""
    return {(*dims, *m.evaluate(dims, symbols)) for dims, symbols in m.points()}


def check(maps: list[ix.IndexingMap]) -> bool:
    present = [m for m in maps if not m.is_known_empty]
    assert are_apart(present) == (max(written(present).values(), default=1) == 1), [str(m) for m in maps]
    return are_apart(present)


def parsed(results: str, domain: str, ranges: str = "") -> ix.IndexingMap:
    return ix.IndexingMap.parse(f"(t, b){ranges} -> ({results}), domain: {domain}").simplify()


def test_elements_of_a_loop_and_its_last_iteration() -> None:
    rng = np.random.default_rng(0)
    proved = 0
    for _ in range(300):
        threads, steps, row = (int(n) for n in rng.integers((2, 2, 2), (9, 6, 12)))
        rest, blocks = int(rng.integers(1, threads + 1)), int(rng.integers(1, 5))
        apart = row * (blocks - 1 + int(rng.integers(2))) + int(rng.integers(-1, 2))  # images, of as many rows
        place = f"(t + s * {threads}) + b * {row} + ((t + s * {threads}) floordiv {row}) * {apart}"
        main = parsed(place, f"t in [0, {threads - 1}], b in [0, {blocks - 1}], s in [0, {steps - 1}]", "[s]")
        last = parsed(place.replace("s *", f"{steps} *"), f"t in [0, {rest - 1}], b in [0, {blocks - 1}]")
        for maps in ([main], [main, last], [last, main]):
            proved += check(maps)
    assert proved > 100


def test_elements_of_another_loop() -> None:
    main = parsed("t + s * 8 + b * 7 + ((t + s * 8) floordiv 7) * 14", "t in [0, 7], b in [0, 2], s in [0, 3]", "[s]")
    for shift in range(9):
        other = parsed(f"t + {shift} + b * 7 + ((t + {shift}) floordiv 7) * 14", "t in [0, 3], b in [0, 2]")
        assert not check([main, other])
    beyond = parsed("t + 32 + b * 7 + ((t + 32) floordiv 7) * 14", "t in [0, 3], b in [0, 2]")
    assert check([main, beyond])
    assert check([main, parsed("t + 32 + b * 7 + ((t + 32) floordiv 7) * 14", "t in [0, 8], b in [0, 2]")])


def test_elements_of_iterations_that_are_written_out() -> None:
    rng = np.random.default_rng(1)
    proved = 0
    for _ in range(200):
        count, stride, group = (int(n) for n in rng.integers((2, 1, 1), (6, 30, 60)))
        domain = "t in [0, 3], b in [0, 4], t + b * 4 in [0, 17]"
        starts = [stride * int(k) for k in rng.permutation(count)]
        if rng.integers(4) == 0:
            starts[0] += 1
        maps = [parsed(f"t + b * 4 + {group} * (b floordiv 8) + {start}", domain) for start in starts]
        proved += check(maps)
    assert proved > 10


@pytest.mark.parametrize("sizes", [(96, 144, 14, 14), (96, 576, 7, 7), (96, 96, 28, 28)])
@pytest.mark.parametrize("knobs", [{}, {"threads": 256, "vector_width": 1}])
def test_channels_of_images_are_written_once(sizes: tuple[int, ...], knobs: dict[str, int]) -> None:
    text = BATCH_NORM.format(",".join(map(str, sizes)), sizes[1])
    proofs = ix.emit(ix.hlo.parse(text).entry, **knobs).verify()
    assert (proofs.open, proofs.refuted) == ((), ())


def test_counters_that_others_determine_or_no_result_needs() -> None:
    rng = np.random.default_rng(1)
    shorter = 0
    for _ in range(200):
        threads, row, last = (int(n) for n in rng.integers((2, 3, 0), (12, 9, 4)))
        first, sign = int(rng.integers(-3, 10)), int(rng.choice((-1, 1)))
        e = f"t * {int(rng.integers(1, 4))} + s * {row * sign}"
        result = str(rng.choice(("s", "s * 2 + t", "t", "5")))
        domain = f"t in [0, {threads}], s in [0, 3], {e} in [{first}, {first + last}]"
        m = ix.IndexingMap.parse(f"(t)[s] -> ({result}), domain: {domain}")
        actual = normalized(m.simplify())
        shorter += not actual.is_known_empty and actual.num_ranges == 0
        assert (set() if actual.is_known_empty else accesses(actual)) == accesses(m), str(m)
    assert shorter > 75


@pytest.mark.parametrize("dialect", ["c", "cuda", "opencl"])
@pytest.mark.parametrize("text", [ROTATED, DILATED], ids=["rotated", "dilated"])
def test_threads_whose_rows_cross_blocks(text: str, dialect: str) -> None:
    proofs = ix.emit(ix.hlo.parse(text).entry, dialect).verify()
    assert proofs.refuted == ()
    assert proofs.open == ()
