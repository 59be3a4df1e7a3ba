"""Remedies of a report: each is right about the program, and saves what the changed program is predicted to take less."""

import pytest

import indexing as ix
from indexing.reports.lines import seconds_text

TURNED = """HloModule turned, is_scheduled=true
f { a = f32[4096,4096]{0,1} parameter(0)
  b = f32[4096,4096]{1,0} parameter(1)
  ROOT s = f32[4096,4096]{1,0} add(a, b) }
ENTRY e { x = f32[4096,4096]{1,0} parameter(0)
  y = f32[4096,4096]{0,1} parameter(1), metadata={op_name="batch['y']"}
  ROOT r = f32[4096,4096]{1,0} fusion(y, x), kind=kLoop, calls=f }
"""
LOOP = """HloModule loop, is_scheduled=true
wide { a = bf16[4096,4096] parameter(0) ROOT c = f32[4096,4096] convert(a) }
step { w = f32[4096,4096] parameter(0) x = f32[4096,4096] parameter(1) ROOT s = f32[4096,4096] add(w, x) }
next { i = s32[] parameter(0) o = s32[] constant(1) ROOT s = s32[] add(i, o) }
condition { p = (s32[], bf16[4096,4096], f32[4096,4096]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(12)
  ROOT l = pred[] compare(i, n), direction=LT }
body { p = (s32[], bf16[4096,4096], f32[4096,4096]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  w = bf16[4096,4096] get-tuple-element(p), index=1
  x = f32[4096,4096] get-tuple-element(p), index=2
  c = f32[4096,4096] fusion(w), kind=kLoop, calls=wide, metadata={op_name="to_f32"}
  y = f32[4096,4096] fusion(c, x), kind=kLoop, calls=step
  j = s32[] fusion(i), kind=kLoop, calls=next
  ROOT t = (s32[], bf16[4096,4096], f32[4096,4096]) tuple(j, w, y) }
ENTRY e { z = s32[] constant(0)
  w = bf16[4096,4096] parameter(0)
  x = f32[4096,4096] parameter(1)
  t = (s32[], bf16[4096,4096], f32[4096,4096]) tuple(z, w, x)
  r = (s32[], bf16[4096,4096], f32[4096,4096]) while(t), condition=condition, body=body,
    backend_config={"known_trip_count":{"n":"12"}}
  ROOT o = f32[4096,4096] get-tuple-element(r), index=2 }
"""


def remedies(text: str) -> dict[str, tuple[str, ...]]:
    return {f.name: f.remedies for f in ix.analyze(ix.hlo.parse(text), "h100").fusions}


def the_remedy(text: str, kernel: str, start: str) -> str:
    """The only remedy of a kernel that begins so."""
    (remedy,) = [told for told in remedies(text)[kernel] if told.startswith(start)]
    return remedy


def seconds(text: str) -> float:
    return ix.analyze(ix.hlo.parse(text), "h100").seconds


def test_a_layout_of_an_argument_saves_what_the_program_with_it_takes_less() -> None:
    start = (
        "keep argument 1, `batch['y']`, in another layout: x = jax.device_put(x, Format(Layout((0, 1)), x.sharding))"
    )
    remedy = the_remedy(TURNED, "r", start)
    saved = seconds(TURNED) - seconds(TURNED.replace("{0,1}", "{1,0}"))
    assert remedy.endswith(f"which saves {seconds_text(saved)}") and saved > 0


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "ROOT r = f32[4096,4096]{1,0} fusion(y, x)",
            "n = f32[4096,4096]{0,1} negate(y)\n ROOT r = f32[4096,4096]{1,0} fusion(n, x)",
        ),
        ("  ROOT r =", "  n = f32[4096,4096]{0,1} negate(y)\n  ROOT r ="),
        ("4096", "64"),
    ],
    ids=["no argument", "read elsewhere too", "nothing is lost"],
)
def test_no_layout_is_proposed_where_it_saves_nothing_or_costs_elsewhere(old: str, new: str) -> None:
    assert not any("layout" in text for actual in remedies(TURNED.replace(old, new)).values() for text in actual)


def test_what_iterations_do_not_change_is_hoisted() -> None:
    """The weight is the same in each iteration, so that eleven of twelve conversions are saved."""
    remedy = remedies(LOOP)
    assert not any("hoist" in told for name in "yj" for told in remedy[name])
    (text,) = remedy["c"]
    assert text.startswith("hoist `to_f32` out of the loop `r`: it computes the same in each of 12 iterations; ")
    hoisted = LOOP.replace("bf16[4096,4096]", "f32[4096,4096]").replace("calls=wide", "calls=step")
    hoisted = hoisted.replace(
        "  c = f32[4096,4096] fusion(w), kind=kLoop, calls=step", "  c = f32[4096,4096] bitcast(w)"
    )
    hoisted = hoisted.replace("wide { a = f32", "wide { a = bf16").replace(
        "w = f32[4096,4096] parameter(0)\n  x",
        "v = bf16[4096,4096] parameter(0)\n  w = f32[4096,4096] fusion(v), kind=kLoop, calls=wide\n  x",
    )
    assert text.endswith(f"which saves {seconds_text(seconds(LOOP) - seconds(hoisted))}")


def test_a_part_of_a_kernel_that_no_iteration_changes_is_hoisted() -> None:
    """A power of what the loop passes on: computed before it, eleven of twelve are saved."""
    power = 'c = f32[4096,4096] power(b, k), metadata={op_name="curve"}'
    parameters = "a = f32[4096,4096] parameter(0) b = f32[4096,4096] parameter(1) k = f32[4096,4096] parameter(2)"
    now = f"f {{ {parameters}\n {power}\n ROOT s = f32[4096,4096] multiply(c, a) }}"
    text = repeated(now, "r = f32[4096,4096] fusion(x, y, v), kind=kLoop, calls=f")
    remedy = the_remedy(text, "r", "hoist `curve` out of the loop `w`: it computes the same in each of 12 iterations; ")
    read = (
        "f { a = f32[4096,4096] parameter(0) c = f32[4096,4096] parameter(1) ROOT s = f32[4096,4096] multiply(c, a) }"
    )
    after = repeated(read, "r = f32[4096,4096] fusion(x, y), kind=kLoop, calls=f")
    once = "HloModule once, is_scheduled=true\n" + now.replace(power, "").replace("multiply(c, a)", "power(b, k)")
    once += """ENTRY e { x = f32[1024,1024] parameter(0) y = f32[1024,1024] parameter(1) v = f32[1024,1024] parameter(2)
      ROOT r = f32[1024,1024] fusion(x, y, v), kind=kLoop, calls=f }"""
    alone = ix.analyze(ix.hlo.parse(once.replace("4096", "1024")), "h100").fusions[0].seconds
    saved = seconds(text) - seconds(after) - alone
    assert float(remedy.split("saves ")[1].split(" us")[0]) * 1e-6 == pytest.approx(saved, rel=0.1)
    for changed in ("(x, x, v)", "(x, y, x)"):
        assert not any("hoist" in told for told in remedies(text.replace("(x, y, v)", changed))["r"])
    cheap = text.replace("power(b, k)", "add(b, k)")
    assert not any("hoist" in told for told in remedies(cheap)["r"])


def test_a_long_chain_of_kernels_that_no_iteration_changes_is_hoisted() -> None:
    """Longer than Python's calls nest."""
    chain = "".join(f"  h{k + 1} = f32[8] fusion(h{k}), kind=kLoop, calls=half\n" for k in range(1200))
    body = f"  h0 = f32[8] get-tuple-element(p), index=3\n{chain}  ROOT t ="
    text = LOOP.replace("f32[4096,4096])", "f32[4096,4096], f32[8])").replace("  ROOT t =", body)
    text = text.replace("tuple(j, w, y)", "tuple(j, w, y, h0)").replace("tuple(z, w, x)", "tuple(z, w, x, v)")
    text = text.replace(
        "ENTRY e {", "half { a = f32[8] parameter(0) ROOT h = f32[8] negate(a) }\nENTRY e { v = f32[8] parameter(2)"
    )
    assert any("hoist" in told for told in remedies(text)["h1200"])
    assert not any("hoist" in told for told in remedies(text.replace("(j, w, y, h0)", "(j, w, y, h1)"))["h1200"])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("tuple(j, w, y)", "tuple(j, v, y)"),
        ('"n":"12"', '"n":"1"'),
    ],
    ids=["it changes", "one iteration"],
)
def test_what_changes_or_runs_once_is_not_hoisted(old: str, new: str) -> None:
    text = LOOP.replace("  ROOT t =", "  v = bf16[4096,4096] negate(w)\n  ROOT t =").replace(old, new)
    assert not any("hoist" in told for told in remedies(text)["c"])


def test_a_kernel_of_its_own_for_a_transpose_saves_what_the_two_kernels_take_less() -> None:
    """Two loops over a transposed array read columns; a kernel that transposes tiles, and one that adds rows, take less."""
    parts = """p = f32[8192,1024] parameter(0)
      t = f32[1024,8192] transpose(p), dimensions={1,0}, metadata={op_name="turn"}
      r = f32[1024,8192] reverse(t), dimensions={1}
      ROOT a = f32[1024,8192] add(t, r) }
    """
    before, after = parts.split("r = f32", 1)
    split = f"f {{ {before.replace('t = ', 'ROOT t = ')} }} g {{ t = f32[1024,8192] parameter(0) r = f32{after}"
    entry = """ENTRY e { x = f32[8192,1024] parameter(0)
      n = f32[8192,1024] negate(x)
      #ROOT r = f32[1024,8192] fusion(@), kind=kLoop, calls=@@ }"""
    one = f"HloModule m, is_scheduled=true\nf {{ {parts}" + entry.replace("#", "").replace("@@", "f").replace("@", "n")
    made = "t = f32[1024,8192] fusion(n), kind=kLoop, calls=f\n"
    two = "HloModule m, is_scheduled=true\n" + split + entry.replace("#", made).replace("@@", "g").replace("@", "t")
    start = "compute `turn` in a kernel of its own: y = jax.lax.optimization_barrier(y) around it, "
    remedy = the_remedy(one, "r", start)
    assert remedy.endswith(f"which saves {seconds_text(seconds(one) - seconds(two))}")


def test_a_layout_is_one_of_the_argument_where_a_planned_kernel_reads_it_at_another_place() -> None:
    """The root reads `y` first; the kernel, which negates too, reads `x` first."""
    text = """HloModule planned
      ENTRY e { x = f32[4096,4096]{1,0} parameter(0)
        y = f32[4096,4096]{0,1} parameter(1)
        n = f32[4096,4096]{1,0} negate(x)
        ROOT r = f32[4096,4096]{1,0} add(y, n) }"""
    remedy = the_remedy(text, "r", "keep argument 1, `y`, in another layout")
    saved = seconds(text) - seconds(text.replace("{0,1}", "{1,0}"))
    assert remedy.endswith(f"which saves {seconds_text(saved)}") and saved > 0


ADDED = """HloModule added, is_scheduled=true
f { a = f32[4096,4096] parameter(0)
  b = f32[4096] parameter(1)
  k = f32[4096,4096] parameter(2)
  c = f32[4096,4096] broadcast(b), dimensions={1}
  s = f32[4096,4096] add(a, c)
  ROOT t = f32[4096,4096] add(s, k) }
ENTRY e { x = f32[4096,4096] parameter(0), metadata={op_name="params['w']" source_file="model.py" source_line=7}
  b = f32[4096] parameter(1)
  y = f32[4096,4096] parameter(2)
  ROOT r = f32[4096,4096] fusion(x, b, y), kind=kLoop, calls=f }
"""


def test_a_narrower_argument_saves_what_the_program_with_it_takes_less_and_says_that_results_change() -> None:
    (remedy,) = remedies(ADDED)["r"]  # the bias moves next to nothing
    which = "argument 0, `params['w']` (model.py:7), and argument 2, `y`"
    assert remedy.startswith(f"pass {which}, as bf16: x.astype(jnp.bfloat16); the results change")
    narrow = ADDED.replace("x = f32", "x = bf16").replace("y = f32", "y = bf16")
    for name in "ak":
        narrow = narrow.replace(f"  {name} = f32", f"  {name}w = bf16").replace(
            f"f {{ {name} = f32", f"f {{ {name}w = bf16"
        )
    wide = (f"{name} = f32[4096,4096] convert({name}w)" for name in "ak")
    narrow = narrow.replace("  c = f32", "  " + " ".join(wide) + " c = f32")
    saved = seconds(ADDED) - seconds(narrow)
    assert remedy.endswith(f"which saves {seconds_text(saved)}") and saved > 0


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("scheduled=true", "scheduled=true, input_output_alias={ {}: (0, {}, may-alias), {1}: (2, {}, may-alias) }"),
        ("f32[", "bf16["),
        ("x, b, y)", "n, b, n)"),
        ("fusion(x, b, y), kind=kLoop, calls=f", "copy(x)"),
        ("  ROOT r", "  w = f32[65536,16384] parameter(3)\n o = f32[65536,16384] negate(w)\n  ROOT r"),
    ],
    ids=[
        "the result stands in its memory",
        "narrow already",
        "no argument",
        "a copy",
        "a small share of the program's time",
    ],
)
def test_no_narrower_argument_is_proposed_where_there_is_none(old: str, new: str) -> None:
    text = ADDED.replace("  ROOT r", "  n = f32[4096,4096] negate(x)\n  ROOT r").replace(old, new)
    assert not any("astype" in told for told in remedies(text)["r"])


def test_narrower_factors_save_what_tensor_cores_take_less() -> None:
    text = """HloModule product
      ENTRY e { x = f32[4096,1024] parameter(0)
        y = f32[1024,4096] parameter(1)
        ROOT r = f32[4096,4096] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0},
          metadata={op_name="jit(f)/dot_general" source_file="model.py" source_line=9} }"""
    (remedy,) = remedies(text)["r"]
    assert remedy.startswith("multiply `jit(f)/dot_general` (model.py:9) in bf16: ") and "the results change" in remedy
    saved = seconds(text) - seconds(text.replace("f32[4096,1024]", "bf16[4096,1024]").replace("f32[1024", "bf16[1024"))
    assert remedy.endswith(f"which saves {seconds_text(saved)}") and saved > 0


def test_a_factor_that_is_also_added_stays_as_wide() -> None:
    text = """HloModule product, is_scheduled=true
      f { x = f32[1024,1024] parameter(0)
        y = f32[1024,1024] parameter(1)
        d = f32[1024,1024] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
        ROOT a = f32[1024,1024] add(d, x) }
      ENTRY e { x = f32[1024,1024] parameter(0)
        y = f32[1024,1024] parameter(1)
        ROOT r = f32[1024,1024] fusion(x, y), kind=kLoop, calls=f }"""
    assert not any("multiply" in told for told in remedies(text)["r"])


APART = """HloModule apart, is_scheduled=true
f { a = f32[4096,4096] parameter(0)
  b = f32[4096,4096] parameter(1)
  c = f32[4096,4096] parameter(2)
  t = f32[4096,4096] multiply(a, c)
  ROOT s = f32[4096,4096] add(t, b) }
g { a = f32[4096,4096] parameter(0)
  b = f32[4096,4096] parameter(1)
  ROOT m = f32[4096,4096] multiply(a, b) }
ENTRY e { x = f32[4096,4096] parameter(0)
  y = f32[4096,4096] parameter(1)
  v = f32[4096,4096] parameter(2)
  z = f32[4096,4096] fusion(y, x, v), kind=kLoop, calls=f, metadata={op_name="sum" source_file="model.py" source_line=3}
  ROOT r = f32[4096,4096] fusion(x, z), kind=kLoop, calls=g }
"""


def test_one_kernel_for_two_saves_what_it_takes_less_than_both() -> None:
    remedy = the_remedy(APART, "r", "compute `sum` (model.py:3) in the same kernel")
    body = """f { a = f32[4096,4096] parameter(0)
      b = f32[4096,4096] parameter(1)
      c = f32[4096,4096] parameter(2)
      t = f32[4096,4096] multiply(a, c)
      s = f32[4096,4096] add(t, b)
      ROOT m = f32[4096,4096] multiply(b, s) }
    """
    entry = APART[APART.index("ENTRY") :].replace("  z =", "  ROOT r =").split("  ROOT r = f32[4096,4096] fusion(x")[0]
    one = f"HloModule one, is_scheduled=true\n{body}{entry} }}"
    saved = seconds(APART) - seconds(one)
    assert remedy.endswith(f"which saves {seconds_text(saved)}") and saved > 0


def repeated(computations: str, kernels: str) -> str:
    """Kernels in a loop of 12 turns, whose arrays of 4 MB stay in a cache."""
    array = "f32[1024,1024]"
    state = f"(s32[], {array}, {array}, {array})"
    named = "\n".join(f"{n} = {array} get-tuple-element(p), index={k}" for k, n in enumerate("xyv", 1))
    return f"""HloModule loop, is_scheduled=true
      {computations.replace("f32[4096,4096]", array)}
      next {{ i = s32[] parameter(0) o = s32[] constant(1) ROOT s = s32[] add(i, o) }}
      condition {{ p = {state} parameter(0)
        i = s32[] get-tuple-element(p), index=0
        n = s32[] constant(12)
        ROOT l = pred[] compare(i, n), direction=LT }}
      body {{ p = {state} parameter(0)
        i = s32[] get-tuple-element(p), index=0
        {named}
        {kernels.replace("f32[4096,4096]", array)}
        j = s32[] fusion(i), kind=kLoop, calls=next
        ROOT t = {state} tuple(j, r, y, v) }}
      ENTRY e {{ z = s32[] constant(0)
        x = {array} parameter(0)
        y = {array} parameter(1)
        v = {array} parameter(2)
        t = {state} tuple(z, x, y, v)
        w = {state} while(t), condition=condition, body=body, backend_config={{"known_trip_count":{{"n":"12"}}}}
        ROOT o = {array} get-tuple-element(w), index=1 }}"""


def test_in_a_loop_one_kernel_for_two_saves_what_its_runs_take_less() -> None:
    """All but the first run find arrays in a cache, before and after."""
    two = APART[APART.index("f {") : APART.index("ENTRY")]
    kernels = APART[APART.index("  z =") :].replace("ROOT r", "r").rstrip(" }\n")
    apart = repeated(two, kernels)
    one = two[: two.index("  ROOT s")] + "  s = f32[4096,4096] add(t, b)\n  ROOT m = f32[4096,4096] multiply(b, s) }"
    together = repeated(one, kernels[: kernels.index("  r =")].replace("z =", "r ="))
    assert the_remedy(apart, "r", "compute `sum`").endswith(f"saves {seconds_text(seconds(apart) - seconds(together))}")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("fusion(x, z)", "fusion(z, z)"),
        ("  ROOT r =", "  k = f32[4096,4096] negate(z)\n  ROOT r ="),
        ("z = f32[4096,4096] fusion(y, x, v), kind=kLoop, calls=f", "z = f32[4096,4096] copy(y)"),
    ],
    ids=["read twice", "read elsewhere too", "a copy"],
)
def test_kernels_stay_apart_where_the_result_is_needed_or_donation_saves_as_much(old: str, new: str) -> None:
    assert not any("in the same kernel" in told for told in remedies(APART.replace(old, new))["r"])


def test_products_stay_apart_that_no_kernel_computes_together() -> None:
    product = "dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}"
    text = APART.replace("multiply(a, b)", product).replace(
        "fusion(y, x, v), kind=kLoop, calls=f", "fusion(y, v), kind=kLoop, calls=g"
    )
    assert not any("in the same kernel" in told for told in remedies(text)["r"])


def test_equal_kernels_are_worth_a_remedy_together_which_is_said_once() -> None:
    """Of 30 equal layers none takes a twentieth of the time."""
    dot = "dot(x{0}, w{0}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}"
    layers = [f"x{k + 1} = f32[1024,1024] {dot.format(k)}" for k in range(30)]
    weights = [f"w{k} = f32[1024,1024] parameter({k + 1})" for k in range(30)]
    body = "\n".join(["x0 = f32[1024,1024] parameter(0)", *weights, *layers])
    report = ix.analyze(ix.hlo.parse(f"ENTRY e {{ {body} }}"), "h100")
    products = [f for f in report.fusions if f.name.startswith("x")]
    assert len(products) == 30 and all(f.share < 0.05 for f in products)
    (told,) = [f.remedies for f in products if f.remedies]
    (line,) = [line for line in str(report).splitlines() if "mend: multiply" in line]
    assert line.strip() == f"mend: {told[0]}, and as much for each of {len(products) - 1} others like it"
