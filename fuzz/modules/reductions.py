"""Generators of reductions: over dimensions, over windows, into windows, and running ones."""

from __future__ import annotations

from dataclasses import dataclass

from modules.program import EXACT, Array, Builder, Computation, Instruction, Value, braces, random_sizes
from modules.reducers import Reducer, of_one_precision, operations, reducer
from modules.values import DISTINCT, SMALL, SUMMED, Data

SIGNS = Data("range", -1, 1)  # products of them stay exact


def _reducer(b: Builder, most: int) -> tuple[list[str], Reducer]:
    kinds = of_one_precision(b, [b.pick(*SUMMED) for _ in range(1 if b.chance(0.7) else b.rng.randint(2, most))])
    if len(kinds) == 2 and b.chance(0.4):
        kinds = [b.pick("f32", "bf16"), "s32"]
    if len(kinds) == 1 and b.chance(0.1):
        kinds = ["pred"]
    return kinds, reducer(b, kinds)


def _initial(b: Builder, kind: str, neutral: str) -> Value:
    return b.emit("constant", Array(kind), (), literal=neutral, tolerance=EXACT, returned=False)


def _finish(
    b: Builder, opcode: str, arrays: list[Value], sizes: tuple[int, ...], f: Reducer, attributes: str
) -> object:
    initial = [_initial(b, a.kind, n) for a, n in zip(arrays, f.neutral, strict=True)]
    attributes += f", to_apply={f.computation.name}"
    shapes = tuple(Array(a.kind, sizes) for a in arrays)
    shape = shapes[0] if len(shapes) == 1 else shapes
    results = b.emit(opcode, shape, [*arrays, *initial], attributes, called=[f.computation], tolerance=EXACT)
    return results if len(shapes) == 1 else b.split(results, [EXACT] * len(shapes))


def reduce(b: Builder) -> object:
    kinds, f = _reducer(b, 3)
    first = b.array(kinds[:1], None, f.data)
    sizes = first.sizes
    arrays = [first, *(b.array([k], sizes, f.data) for k in kinds[1:])]
    dimensions = b.rng.sample(range(len(sizes)), b.rng.randint(0 if b.chance(0.1) else min(1, len(sizes)), len(sizes)))
    kept = tuple(n for d, n in enumerate(sizes) if d not in dimensions)
    return _finish(b, "reduce", arrays, kept, f, f"dimensions={braces(dimensions)}")


@dataclass(frozen=True)
class Window:
    """A window along one dimension."""

    size: int
    stride: int
    low: int
    high: int
    base: int  # dilation of the array
    dilation: int  # of the window

    def output(self, n: int) -> int:
        padded = (0 if n == 0 else (n - 1) * self.base + 1) + self.low + self.high
        span = (self.size - 1) * self.dilation + 1
        return 0 if padded < span else (padded - span) // self.stride + 1


def window(b: Builder, n: int, *, size: int | None = None, padded: tuple[int, ...] = (0, 0, 0, 1, 2, -1)) -> Window:
    """A random window over a dimension of n elements; mostly one that fits."""
    for _ in range(20):
        w = Window(
            size or b.rng.randint(1, 4),
            b.rng.choice((1, 1, 2, 3)),
            b.rng.choice(padded),
            b.rng.choice(padded),
            b.rng.choice((1, 1, 1, 2, 3)),
            b.rng.choice((1, 1, 1, 2)),
        )
        extent = (0 if n == 0 else (n - 1) * w.base + 1) + w.low + w.high
        if extent >= 0 and (w.output(n) > 0 or b.chance(0.05)):
            return w
    return Window(1 if size is None else size, 1, 0, (size or 1) - 1, 1, 1)


def window_text(windows: list[Window], reversals: list[int] | None = None) -> str:
    if not windows:
        return "window={}"

    def joined(values: list[int]) -> str:
        return "x".join(map(str, values))

    parts = [f"size={joined([w.size for w in windows])}"]
    if any(w.stride > 1 for w in windows):
        parts.append(f"stride={joined([w.stride for w in windows])}")
    if any(w.low or w.high for w in windows):
        parts.append("pad=" + "x".join(f"{w.low}_{w.high}" for w in windows))
    if any(w.base > 1 for w in windows):
        parts.append(f"lhs_dilate={joined([w.base for w in windows])}")
    if any(w.dilation > 1 for w in windows):
        parts.append(f"rhs_dilate={joined([w.dilation for w in windows])}")
    if reversals and any(reversals):
        parts.append(f"rhs_reversal={joined(reversals)}")
    return f"window={{{' '.join(parts)}}}"


def reduce_window(b: Builder) -> object:
    kinds, f = _reducer(b, 2)
    sizes = random_sizes(b.rng, 1, 3, 100)
    arrays = [b.array([k], sizes, f.data) for k in kinds]
    windows = [window(b, n) for n in sizes]
    results = tuple(w.output(n) for w, n in zip(windows, sizes, strict=True))
    return _finish(b, "reduce-window", arrays, results, f, window_text(windows))


def select_and_scatter(b: Builder) -> Value:
    """Windows without dilation; distinct values, so that the element that is selected doesn't depend on the order."""
    sizes = random_sizes(b.rng, 1, 3, 100)
    kind = b.pick("f32", "s32", "f64", "s64")
    windows = []
    for n in sizes:
        w = window(b, n, padded=(0, 0, 1))
        w = Window(w.size, w.stride, min(w.low, w.size - 1), min(w.high, w.size - 1), 1, 1)
        windows.append(w if w.output(n) else Window(1, 1, 0, 0, 1, 1))
    results = tuple(w.output(n) for w, n in zip(windows, sizes, strict=True))
    name = b.names.new("choice")
    pair = [Instruction(f"{name}.p{k}", Array(kind), "parameter", literal=str(k)) for k in range(2)]
    root = Instruction(
        f"{name}.r", Array("pred"), "compare", (f"{name}.p0", f"{name}.p1"), f"direction={b.pick('GE', 'LE')}"
    )
    choice = Computation(name, (*pair, root))
    f = reducer(b, [kind])
    while f.computation.instructions[-1].opcode != "add":
        f = reducer(b, [kind])
    x, source = b.parameter(Array(kind, sizes), DISTINCT), b.parameter(Array(kind, results), SMALL)
    attributes = f"{window_text(windows)}, select={name}, scatter={f.computation.name}"
    operands = [x, source, _initial(b, kind, f.neutral[0])]
    return b.emit("select-and-scatter", x.shape, operands, attributes, called=[choice, f.computation], tolerance=EXACT)


def scan(b: Builder) -> object:
    """Running sums, products or extremes along a dimension."""
    kind = b.pick("f32", "s32", "s64", "f64", "bf16")
    sizes = random_sizes(b.rng, 1, 3)
    axis = b.rng.randrange(len(sizes))
    rest = (*sizes[:axis], *sizes[axis + 1 :])
    opcode = b.pick(*operations(kind))
    name = b.names.new("step")
    slice_ = Array(kind, rest)
    body = (
        Instruction(f"{name}.p0", slice_, "parameter", literal="0"),
        Instruction(f"{name}.p1", slice_, "parameter", literal="1"),
        Instruction(f"{name}.s", slice_, opcode, (f"{name}.p0", f"{name}.p1")),
        Instruction(f"{name}.r", (slice_, slice_), "tuple", (f"{name}.s", f"{name}.s")),
    )
    step = Computation(name, body)
    data = SMALL if opcode != "multiply" else SIGNS
    x, initial = b.parameter(Array(kind, sizes), data), b.parameter(slice_, data)
    attributes = f"dimensions={{{axis}}}, num_carries=1, to_apply={name}"
    if b.chance(0.3):
        attributes = attributes.replace("num_carries", "is_reverse=true, num_carries")
    results = b.emit("scan", (x.shape, slice_), [x, initial], attributes, called=[step], tolerance=EXACT)
    return b.split(results, [EXACT, EXACT])


GENERATORS = {
    "reduce": (reduce,),
    "reduce-window": (reduce_window,),
    "select-and-scatter": (select_and_scatter,),
    "scan": (scan,),
}
