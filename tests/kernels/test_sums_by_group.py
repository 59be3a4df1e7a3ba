"""Convolutions with few results for each of many groups: sums in one kernel, with the results of the definition."""

import itertools
from typing import Any, TypeAlias

import numpy as np
import pytest

import indexing as ix
from indexing.ops.gradients_by_group import summed_by_group
from kernels import compiled

Case: TypeAlias = tuple[Any, ...]
#: Sizes of the result, of the window, strides, dilations, low and high padding; labels; groups, and whether they are of features.
CASES = [
    ((3, 3), (24, 24), (1, 1), (1, 1), (1, 1), "f01b_i01o->01bf", 6, False),
    ((3, 2), (24, 24), (1, 2), (2, 1), (1, 0), "fb01_io01->01bf", 5, False),
    ((5,), (300,), (1,), (2,), (2,), "0bf_0oi->fb0", 4, True),
    ((2, 2), (24, 25), (1, 1), (1, 1), (-1, -1), "b01f_01io->bf01", 7, True),
    ((1, 1), (23, 24), (1, 1), (1, 1), (0, 0), "f01b_i01o->01bf", 3, False),
]


def roles(labels: str, sizes: dict[str, int]) -> tuple[int, ...]:
    return tuple(sizes[role] for role in labels)


def program(case: Case, kind: str = "f32", features: int = 2, more: str = "") -> str:
    out, window, strides, dilations, pads, labels, groups, of_features = case
    left, rest = labels.split("_")
    right, result = rest.split("->")
    size: dict[str, int] = {}
    for k, (o, w, s, d, p) in enumerate(zip(out, window, strides, dilations, pads, strict=True)):
        size[f"in{k}"] = (w - 1) * d + 1 + (o - 1) * s - 2 * p
    spatial = [str(k) for k in range(len(out))]
    lhs = {"b": 1, "f": groups * features} if of_features else {"b": groups, "f": features}
    shapes = (
        roles(left, lhs | {k: size[f"in{k}"] for k in spatial}),
        roles(right, {"i": features, "o": groups} | dict(zip(spatial, window, strict=True))),
        roles(result, {"b": 1, "f": groups} | dict(zip(spatial, out, strict=True))),
    )
    x, d, r = (",".join(map(str, s)) for s in shapes)
    by_x = ["x".join(map(str, v)) for v in (window, strides, dilations)]
    pad = "x".join(f"{p}_{p}" for p in pads)
    count = f"{'feature' if of_features else 'batch'}_group_count={groups}"
    return f"""ENTRY e {{ x = {kind}[{x}] parameter(0)  d = {kind}[{d}] parameter(1)
      ROOT r = {kind}[{r}] convolution(x, d), dim_labels={labels}, {count},
        window={{size={by_x[0]} stride={by_x[1]} pad={pad} rhs_dilate={by_x[2]}{more}}} }}"""


def defined(case: Case, x: np.ndarray, d: np.ndarray) -> np.ndarray:
    """The sums of products, one by one."""
    out, window, strides, dilations, pads, labels, groups, of_features = case
    left, rest = labels.split("_")
    right, result = rest.split("->")
    shape = [groups if c == "f" else 1 if c == "b" else out[int(c)] for c in result]
    total = np.zeros(shape)
    features = d.shape[right.index("i")]
    for g, place, i in itertools.product(range(groups), np.ndindex(*out), range(features)):
        for w in np.ndindex(*window):
            at = [p * s + e * n - q for p, s, e, n, q in zip(place, strides, w, dilations, pads, strict=True)]
            if all(0 <= a < x.shape[left.index(str(k))] for k, a in enumerate(at)):
                of = {"b": 0, "f": g * features + i} if of_features else {"b": g, "f": i}
                a = x[tuple(of[c] if c in of else at[int(c)] for c in left)]
                b = d[tuple({"i": i, "o": g}[c] if c in "io" else w[int(c)] for c in right)]
                total[tuple({"b": 0, "f": g}[c] if c in "bf" else place[int(c)] for c in result)] += float(a) * float(b)
    return total


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[5])
def test_results_are_those_of_the_definition(case: Case) -> None:
    module = ix.hlo.parse(program(case))
    assert summed_by_group(module.entry.root) is not None
    chance = np.random.default_rng(3)
    x, d = (chance.integers(-3, 4, p.shape.dimensions).astype(np.float32) for p in module.entry.parameters)
    np.testing.assert_array_equal(np.asarray(compiled(module)(x, d)), defined(case, x, d))


def test_one_kernel_adds_all_sums_on_many_cores() -> None:
    text = program(((3, 3), (56, 56), (1, 1), (1, 1), (1, 1), "f01b_i01o->01bf", 144, False), features=32)
    kernels = ix.analyze(ix.hlo.parse(text), "h100").sorted_by("time").fusions
    assert len(kernels) == 3, "the padded input, the sums, and these in one array"
    plan = ix.predict(kernels[0].instruction, {}, "h100")
    assert plan.emitter == "reduction" and plan.blocks[0] >= 132
    kernel = ix.emit(kernels[0].instruction, device="h100")
    proofs = kernel.verify()
    assert proofs.refuted == proofs.open == (), str(proofs)
    assert (
        sum(a.kind == "load" and (a.argument.kind, a.argument.number) == ("input", 1) for a in kernel.global_accesses)
        == 1
    )


def test_narrow_floats_are_added_in_f32() -> None:
    text = program(CASES[0], "bf16")
    sums = summed_by_group(ix.hlo.parse(text).entry.root)
    assert sums is not None
    assert {i.shape.element_type for i in sums.listed if i.opcode == "reduce"} == {"f32"}


@pytest.mark.parametrize(
    ("case", "more"),
    [
        (((3, 3), (4, 4), (1, 1), (1, 1), (1, 1), "f01b_i01o->01bf", 6, False), ""),  # short sums
        (((6, 6), (24, 24), (1, 1), (1, 1), (1, 1), "f01b_i01o->01bf", 6, False), ""),  # many places
        (CASES[0], " rhs_reversal=1x1"),
        (((3, 3), (24, 24), (1, 1), (1, 1), (1, 1), "f01b_i01o->01bf", 1, False), ""),
    ],
)
def test_other_convolutions_stay_as_they_are(case: Case, more: str) -> None:
    text = program(case, more=more)
    assert summed_by_group(ix.hlo.parse(text).entry.root) is None
