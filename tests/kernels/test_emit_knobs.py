"""Random sizes, types, layouts and knobs of the emitters of heroes: right results, each element written and read once."""

from math import gcd, prod

import hypothesis
import hypothesis.strategies as st
import pytest

import indexing as ix
from indexing.device.table import portable_device
from indexing.kernels.emitters.reduction.match import match_reduction
from indexing.kernels.emitters.reduction.plan import plan_reduction, reduction_knobs
from indexing.kernels.emitters.transpose.match import match_transpose
from indexing.kernels.vectors import WIDTHS
from kernels import as_fusion, assert_written_once, check, device_of_tests, visits

SETTINGS = hypothesis.settings(max_examples=25, deadline=None, suppress_health_check=list(hypothesis.HealthCheck))
KINDS = ("f32", "bf16", "s8", "f64", "u16", "pred")
SIZES = st.sampled_from([1, 2, 3, 4, 5, 7, 8, 12, 16, 24, 33, 40, 64, 100])


def shape(kind: str, sizes: list[int], layout: list[int] | None = None) -> str:
    order = "" if layout is None else "{" + ",".join(map(str, layout)) + "}"
    return f"{kind}[{','.join(map(str, sizes))}]{order}"


@SETTINGS
@hypothesis.given(st.data())
def test_reductions(data: st.DataObject) -> None:
    sizes = data.draw(st.lists(SIZES, min_size=1, max_size=4).filter(lambda s: prod(s) <= 20000))
    dims = sorted(data.draw(st.sets(st.integers(0, len(sizes) - 1), min_size=1)))
    hypothesis.assume(prod(sizes[d] for d in dims) >= 4)
    layout = data.draw(st.permutations(range(len(sizes))))
    kind = data.draw(st.sampled_from(KINDS))
    op = "or" if kind == "pred" else data.draw(st.sampled_from(["maximum", "minimum"]))
    kept = [s for d, s in enumerate(sizes) if d not in dims]
    text = f"""red {{
      a = {kind}[] parameter(0)
      b = {kind}[] parameter(1)
      ROOT c = {kind}[] {op}(a, b)
    }}
    ENTRY fused {{
      p = {shape(kind, sizes, layout)} parameter(0)
      q = {shape(kind, sizes, layout)} {"not" if kind == "pred" else "negate"}(p)
      z = {kind}[] parameter(1)
      r = {shape(kind, kept)} reduce(q, z), dimensions={{{",".join(map(str, dims))}}}, to_apply=red
      ROOT t = ({shape(kind, kept)}, {shape(kind, sizes, layout)}) tuple(r, q)
    }}"""
    text = text.replace("negate", "not") if kind == "u16" else text
    computation = ix.hlo.parse(text).entry
    match = match_reduction(computation)
    assert match is not None
    fast = plan_reduction(match, portable_device("cuda")).dimensions.fast
    knobs = {"vector_width": data.draw(st.sampled_from([w for w in WIDTHS if fast % w == 0]))}
    most = data.draw(st.integers(0, 6))
    device = portable_device(device_of_tests().dialect)
    space = reduction_knobs(match, plan_reduction(match, device), device)
    knobs["threads"] = max(n for n in space.legal("threads", knobs) if n <= 1 << most)
    split_k = data.draw(st.integers(1, 12))
    knobs["split_k"] = split_k if split_k in space.legal("split_k", knobs) else 1
    kernel = check(text, "reduction", **knobs)
    assert_written_once(kernel, list(computation.root.shape.leaves))
    assert (visits(kernel.thread_to_input(0), tuple(sizes)) == 1).all()


@SETTINGS
@hypothesis.given(st.data())
def test_transposes(data: st.DataObject) -> None:
    sizes = data.draw(st.lists(SIZES, min_size=2, max_size=4).filter(lambda s: prod(s) <= 20000))
    order = data.draw(st.permutations(range(len(sizes))))
    kind = data.draw(st.sampled_from(KINDS))
    target = [sizes[d] for d in order]
    layout = data.draw(st.permutations(range(len(sizes))))
    text = f"""fused {{
      p = {shape(kind, sizes, layout)} parameter(0)
      n = {shape(kind, sizes, layout)} {"not" if kind == "pred" or kind[0] == "u" else "abs"}(p)
      t = {shape(kind, target)} transpose(n), dimensions={{{",".join(map(str, order))}}}
      ROOT r = ({shape(kind, target)}, {shape(kind, sizes, layout)}) tuple(t, n)
    }}"""
    computation = ix.hlo.parse(text).entry
    knobs = {}
    if match_transpose(computation) is not None:
        knobs = {"tile": data.draw(st.sampled_from([32, 64])), "block_size": data.draw(st.sampled_from([64, 256]))}
        try:
            for dialect in ("cuda", "opencl", "c"):
                ix.emit(as_fusion(text), dialect=dialect, **knobs)
        except ix.IndexingError:  # a tile that does not fit
            knobs = {}
    kernel = check(text, **knobs)
    assert_written_once(kernel, list(computation.root.shape.leaves))


@SETTINGS
@hypothesis.given(st.data())
def test_concatenates_and_updates(data: st.DataObject) -> None:
    sizes = data.draw(st.lists(SIZES, min_size=1, max_size=3).filter(lambda s: prod(s) <= 5000))
    layout = data.draw(st.permutations(range(len(sizes))))
    kind = data.draw(st.sampled_from(KINDS))
    d = data.draw(st.integers(0, len(sizes) - 1))
    parts = data.draw(st.lists(SIZES, min_size=2, max_size=4))
    shapes = [[part if k == d else s for k, s in enumerate(sizes)] for part in parts]
    whole = [sum(parts) if k == d else s for k, s in enumerate(sizes)]
    lines = [f"p{k} = {shape(kind, s, layout)} parameter({k})" for k, s in enumerate(shapes)]
    names = ", ".join(f"p{k}" for k in range(len(parts)))
    lines.append(f"ROOT c = {shape(kind, whole, layout)} concatenate({names}), dimensions={{{d}}}")
    common = gcd(*(s[layout[0]] for s in shapes))
    width = data.draw(st.sampled_from([w for w in WIDTHS if common % w == 0]))
    text = "\n".join(["fused {", *lines, "}"])
    kernel = check(text, "concatenate", vector_width=width)
    assert_written_once(kernel, [ix.hlo.parse(text).entry.root.shape])

    lines = [f"x = {shape(kind, whole, layout)} parameter(0)", f"u = {shape(kind, shapes[0], layout)} parameter(1)"]
    lines += [f"i{k} = s32[] parameter({k + 2})" for k in range(len(sizes))]
    starts = ", ".join(f"i{k}" for k in range(len(sizes)))
    lines.append(f"ROOT r = {shape(kind, whole, layout)} dynamic-update-slice(x, u, {starts})")
    width = data.draw(st.sampled_from([w for w in WIDTHS if shapes[0][layout[0]] % w == 0]))
    check("\n".join(["fused {", *lines, "}"]), "dynamic-update-slice", vector_width=width)


def test_a_knob_that_the_emitter_has_not_is_refused_by_name() -> None:
    fusion = ix.hlo.parse("ENTRY e { p = f32[64,64] parameter(0) ROOT t = f32[64,64] transpose(p), dimensions={1,0} }")
    with pytest.raises(ix.IndexingError, match="the transpose emitter has no knob 'tiel'; it has tile, block_size"):
        ix.emit(fusion, tiel=16)


def test_the_kernel_of_the_default_plan_is_built_once() -> None:
    """However the plan is named; another plan, and another device, have kernels of their own."""
    computation = ix.hlo.parse(
        "ENTRY e { p = f32[64,64] parameter(0) ROOT t = f32[64,64] transpose(p), dimensions={1,0} }"
    ).entry
    kernel = ix.emit(computation, device="h100")
    default = ix.knobs(computation, device="h100").default
    assert ix.emit(computation, device="h100", **default) is kernel
    name = next(n for n, value in default.items() if value > 1)
    assert ix.emit(computation, device="h100", **{**default, name: default[name] // 2}) is not kernel
    assert ix.emit(computation, device="t4").device.name != kernel.device.name


def test_indices_under_two_conditions_keep_their_bounds() -> None:
    """An index that the inner condition needs is recomputed inside of the outer one, where its bounds hold."""
    text = """red {
      a = s8[] parameter(0)
      b = s8[] parameter(1)
      ROOT c = s8[] minimum(a, b)
    }
    ENTRY fused {
      p = s8[24,16,33]{1,2,0} parameter(0)
      z = s8[] parameter(1)
      ROOT r = s8[16] reduce(p, z), dimensions={0,2}, to_apply=red
    }"""
    proofs = ix.emit(ix.hlo.parse(text).entry, "c", vector_width=4, threads=8, split_k=7).verify()
    assert proofs.refuted == proofs.open == (), str(proofs)
