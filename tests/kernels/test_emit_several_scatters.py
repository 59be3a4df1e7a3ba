"""Several scatters in one kernel: of different arrays, or one after another in one array."""

import pytest

from kernels import check

FOLDS = {"add": "add(a, b)", "second": "copy(b)", "maximum": "maximum(a, b)"}
POINTS = "update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1"
GATHER = """gather({}, i), offset_dims={{}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1,
    slice_sizes={{1}}"""


def fold(name: str, op: str, kind: str) -> str:
    return f"{name} {{ a = {kind}[] parameter(0) b = {kind}[] parameter(1) ROOT r = {kind}[] {FOLDS[op]} }}\n"


def siblings(kinds: tuple[str, ...], op: str = "add", flags: str = "", count: int = 40) -> str:
    """A scatter of each type, by the same indices, into arrays of different sizes."""
    folds = "".join(fold(f"fold{k}", op, kind) for k, kind in enumerate(kinds))
    shapes = [f"{kind}[{8 + 4 * k}]" for k, kind in enumerate(kinds)]
    body = "".join(
        f"""x{k} = {shape} parameter({2 * k + 1})
  w{k} = {kind}[{count}] parameter({2 * k + 2})
  n{k} = {kind}[{count}] negate(w{k})
  y{k} = {shape} scatter(x{k}, i, n{k}), {POINTS}, to_apply=fold{k}{flags}
  """
        for k, (kind, shape) in enumerate(zip(kinds, shapes, strict=True))
    )
    results = ", ".join(f"y{k}" for k in range(len(kinds)))
    return f"""{folds}ENTRY e {{
  i = s32[{count},1] parameter(0)
  {body}ROOT t = ({", ".join(shapes)}) tuple({results}) }}"""


def number(value: int, kind: str) -> str:
    return f"({value}, 1)" if kind == "c128" else str(value)


def chain(length: int, op: str, kind: str = "f32", count: int = 1) -> str:
    """Scatters one after another, of which every second updates the elements that the one before has updated."""
    body = "".join(
        f"""c{k} = {kind}[] constant({number(k + 1, kind)})
  v{k} = {kind}[{count}] broadcast(c{k}), dimensions={{}}
  w{k} = {kind}[{count}] multiply(w, v{k})
  d{k} = s32[] constant({k // 2})
  e{k} = s32[{count},1] broadcast(d{k}), dimensions={{}}
  i{k} = s32[{count},1] add(i, e{k})
  {"ROOT " if k == length - 1 else ""}x{k + 1} = {kind}[12] scatter(x{k}, i{k}, w{k}), {POINTS}, to_apply=fold
"""
        for k in range(length)
    )
    return f"""{fold("fold", op, kind)}ENTRY e {{
  x0 = {kind}[12] parameter(0)
  w = {kind}[{count}] parameter(1)
  i = s32[{count},1] parameter(2)
  {body}}}"""


@pytest.mark.parametrize("kinds", [("f32", "f32"), ("f32", "s32", "bf16"), ("c128", "c128")])
@pytest.mark.parametrize("op", ["add", "second"])
def test_different_arrays(kinds: tuple[str, ...], op: str) -> None:
    kernel = check(siblings(kinds, op, count=1 if op == "second" else 40), "scatter", tolerance=5e-2)
    assert [o.alias_of for o in kernel.outputs] == [2 * k + 1 for k in range(len(kinds))]


@pytest.mark.parametrize("flags", [", unique_indices=true", ", indices_are_sorted=true"])
def test_promises(flags: str) -> None:
    check(siblings(("f32", "f32"), flags=flags, count=1), "scatter")


@pytest.mark.parametrize("length", [2, 5])
@pytest.mark.parametrize("op", ["add", "second", "maximum"])
@pytest.mark.parametrize("kind", ["f32", "s32", "u8"])
def test_one_after_another(length: int, op: str, kind: str) -> None:
    kernel = check(chain(length, op, kind), "scatter")
    assert kernel.outputs[0].alias_of == 0 and kernel.grid == (1, 1, 1)


def test_one_after_another_by_the_thread_that_makes_all_updates() -> None:
    check(chain(3, "add", "c128", count=7), "scatter")


PAIR = siblings(("f32", "f32"))
UNSAFE = {
    "threads meet in one element": chain(2, "add", count=4),
    "they differ in form": siblings(("f32", "c128")),
    "one reads the result of another": PAIR.replace("negate(w1)", GATHER.format("y0")),
    "one reads the array that another updates": PAIR.replace("negate(w1)", GATHER.format("x0")),
    "a result between": chain(2, "add").replace("ROOT x2", "x2")[:-1] + "ROOT t = (f32[12], f32[12]) tuple(x1, x2) }",
}


@pytest.mark.parametrize("text", UNSAFE.values(), ids=UNSAFE.keys())
def test_what_is_not_safe_is_a_loop(text: str) -> None:
    check(text, "loop")
