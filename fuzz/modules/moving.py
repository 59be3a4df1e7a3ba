"""Generators of ops that move data: shapes, slices, pads, concatenations, and slices at indices of the data."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import ml_dtypes

from modules.program import (
    EXACT,
    Array,
    Builder,
    Computation,
    Instruction,
    Value,
    braces,
    common_data,
    product,
    random_sizes,
)
from modules.values import ALL, COMPLEX, DISTINCT, INDICES, USUAL, Data, dtype

Generator = Callable[[Builder], object]


def broadcast(b: Builder) -> Value:
    x = b.array(USUAL, ranks=(0, 3), moved=True)
    extra = b.rng.randint(0, 2)
    rank = len(x.sizes) + extra
    dimensions = sorted(b.rng.sample(range(rank), len(x.sizes)))
    if b.chance(0.2):
        b.rng.shuffle(dimensions)
    sizes = [b.rng.randint(1, 4) for _ in range(rank)]
    for d, size in zip(dimensions, x.sizes, strict=True):
        sizes[d] = size
    return b.emit("broadcast", Array(x.kind, tuple(sizes)), [x], f"dimensions={braces(dimensions)}")


def reshape(b: Builder) -> Value:
    x = b.array(USUAL, moved=True)
    return b.emit("reshape", Array(x.kind, _other_sizes(b, x.sizes)), [x])


def _other_sizes(b: Builder, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Sizes with as many elements: factors of the count, joined at random, and some dimensions of 1."""
    left, sizes_so_far = product(sizes), []
    if left == 0:
        return (*random_sizes(b.rng, 0, 2), 0)
    factors = [p for p in (2, 3, 5, 7) for _ in range(_multiplicity(left, p))]
    b.rng.shuffle(factors)
    for factor in factors:
        if sizes_so_far and b.chance(0.5):
            sizes_so_far[-1] *= factor
        else:
            sizes_so_far.append(factor)
    for _ in range(b.rng.randint(0, 2)):
        sizes_so_far.insert(b.rng.randint(0, len(sizes_so_far)), 1)
    return tuple(sizes_so_far) if product(sizes_so_far) == left else (left,)


def _multiplicity(n: int, prime: int) -> int:
    count = 0
    while n % prime == 0:
        n, count = n // prime, count + 1
    return count


def transpose(b: Builder) -> Value:
    x = b.array(USUAL, moved=True)
    order = b.rng.sample(range(len(x.sizes)), len(x.sizes))
    return b.emit("transpose", Array(x.kind, tuple(x.sizes[d] for d in order)), [x], f"dimensions={braces(order)}")


def reverse(b: Builder) -> Value:
    x = b.array(USUAL, moved=True)
    dimensions = b.rng.sample(range(len(x.sizes)), b.rng.randint(0, len(x.sizes)))
    return b.emit("reverse", x.shape, [x], f"dimensions={braces(dimensions)}")


def unchanged(b: Builder, opcode: str) -> Value:
    x = b.array(USUAL, moved=True)
    return b.emit(opcode, x.shape, [x])


def bitcast(b: Builder) -> Value:
    """A copy into a layout, a bitcast to other dimensions in another layout, and a copy out of that."""
    x = b.array(USUAL, moved=True)
    sizes = _other_sizes(b, x.sizes)
    source, target = (b.rng.sample(range(len(s)), len(s)) for s in (x.sizes, sizes))
    laid = b.emit("copy", Array(x.kind, x.sizes, tuple(source) or None), [x], returned=False)
    shape, name = Array(x.kind, sizes, tuple(target) or None), b.names.new("v")
    lines = _moved(name, x, source, shape)
    cast = b.emit("bitcast", shape, [laid], name=name, oracle=lines, returned=False)
    return b.emit("copy", Array(x.kind, sizes), [cast])


def _moved(name: str, x: Value, source: Sequence[int], to: Array) -> tuple[str, ...]:
    """Lines that move elements as the bitcast does: by their positions in memory."""
    slow, out = list(reversed(source)), list(reversed(to.layout or ()))
    back = [out.index(d) for d in range(len(to.sizes))]
    physical = Array(x.kind, tuple(x.sizes[d] for d in slow))
    reshaped = Array(x.kind, tuple(to.sizes[d] for d in out))
    return (
        f"{name}.a = {physical} transpose({x.name}), dimensions={braces(slow)}",
        f"{name}.b = {reshaped} reshape({name}.a)",
        f"{name} = {to} transpose({name}.b), dimensions={braces(back)}",
    )


def slice_(b: Builder) -> Value:
    x = b.array(USUAL, moved=True)
    parts, sizes = [], []
    for size in x.sizes:
        start = b.rng.randint(0, size)
        limit = b.rng.randint(start, size) if b.chance(0.5) else size
        step = b.rng.choice((1, 1, 2, 3))
        parts.append(f"[{start}:{limit}:{step}]" if step > 1 or b.chance(0.2) else f"[{start}:{limit}]")
        sizes.append(-(-(limit - start) // step))
    return b.emit("slice", Array(x.kind, tuple(sizes)), [x], f"slice={{{', '.join(parts)}}}")


def concatenate(b: Builder) -> Value:
    x = b.array(USUAL, ranks=(1, 4), moved=True)
    axis = b.rng.randrange(len(x.sizes))
    operands = [x]
    for _ in range(b.rng.randint(0, 3)):
        size = x.sizes[axis] if b.chance(0.4) else b.rng.randint(0, 4)
        operands.append(b.array([x.kind], (*x.sizes[:axis], size, *x.sizes[axis + 1 :]), moved=True))
    b.rng.shuffle(operands)
    total = sum(o.sizes[axis] for o in operands)
    shape = Array(x.kind, (*x.sizes[:axis], total, *x.sizes[axis + 1 :]))
    return b.emit("concatenate", shape, operands, f"dimensions={{{axis}}}")


def pad(b: Builder) -> Value:
    x = b.array(USUAL, ranks=(1, 4), moved=True)
    parts, sizes = [], []
    for size in x.sizes:
        inner = b.rng.choice((0, 0, 0, 1, 2))
        wide = size + inner * max(size - 1, 0)
        low = b.rng.choice((0, 0, 1, 2, -1, -2))
        high = b.rng.choice((0, 0, 1, 3, -1))
        while wide + low + high < 0:
            low, high = max(low, 0), max(high, 0)
        parts.append(f"{low}_{high}" + (f"_{inner}" if inner else ""))
        sizes.append(wide + low + high)
    value = b.array([x.kind], (), moved=True)
    return b.emit("pad", Array(x.kind, tuple(sizes)), [x, value], f"padding={'x'.join(parts)}")


def iota(b: Builder) -> Value:
    sizes = random_sizes(b.rng, 1, 4)
    kind = b.pick(*(k for k in USUAL if k != "pred" and k not in COMPLEX))  # XLA dies of real(iota) of complex
    axis = b.rng.randrange(len(sizes))
    return b.emit("iota", Array(kind, sizes), (), f"iota_dimension={axis}", tolerance=EXACT)


def constant(b: Builder) -> Value:
    kind, sizes = b.pick(*(k for k in ALL if k[0] != "c" and k[:2] not in ("f8", "f4"))), random_sizes(b.rng, 0, 3, 20)
    return b.emit("constant", Array(kind, sizes), (), literal=_literal(b, kind, sizes), tolerance=EXACT)


def _literal(b: Builder, kind: str, sizes: tuple[int, ...]) -> str:
    if not sizes:
        return _element(b, kind)
    return "{" + ", ".join(_literal(b, kind, sizes[1:]) for _ in range(sizes[0])) + "}"


def _element(b: Builder, kind: str) -> str:
    if kind == "pred":
        return b.pick("true", "false")
    if kind[0] in "su":
        return b.pick("1", "2", "3") if kind[0] == "u" else b.pick("1", "-1", "-2")  # no 0: see deviations.AVOIDED
    return b.pick("0", "-0.0", "1.5", "-2", "inf", "-inf", "nan", "1e-3", "0.1", "7.25")


def start_indices(b: Builder, sizes: Sequence[int]) -> list[Value]:
    """Scalars to start a slice at: within the array, before it, behind it; or any number of their type, which holds the sizes:
    XLA's CPU takes the last start that is within the array modulo the type.
    """
    kind = b.pick(*(k for k in INDICES if ml_dtypes.iinfo(dtype(k)).max >= max(sizes, default=0)))
    starts = []
    for size in sizes:
        least = 0 if kind[0] == "u" else -3
        data = Data() if b.chance(0.1) else Data("range", least, size + 2)
        starts.append(b.array([kind], (), data))
    return starts


def dynamic_slice(b: Builder) -> Value:
    x = b.array(USUAL, moved=True)
    sizes = tuple(b.rng.randint(0 if b.chance(0.05) else min(1, n), n) for n in x.sizes)
    starts = start_indices(b, x.sizes)
    return b.emit(
        *("dynamic-slice", Array(x.kind, sizes), [x, *starts], f"dynamic_slice_sizes={braces(sizes)}"),
        tolerance=x.tolerance,
        data=common_data([x]),
    )


def dynamic_update_slice(b: Builder) -> Value:
    x = b.array(USUAL, moved=True)
    sizes = tuple(b.rng.randint(min(1, n), n) for n in x.sizes)
    update = b.array([x.kind], sizes, moved=True)
    return b.emit(
        *("dynamic-update-slice", x.shape, [x, update, *start_indices(b, x.sizes)]),
        tolerance=x.tolerance | update.tolerance,
        data=common_data([x, update]),
    )


def sort(b: Builder) -> object:
    """Sort one array or several by the first, the first two, or a total order; stable where the order shows."""
    sizes = random_sizes(b.rng, 1, 3)
    axis = b.rng.randrange(len(sizes))
    kind = b.pick("f32", "s32", "bf16", "u8", "s64", "f64", "pred", "f16", "u32")
    total = kind in ("f32", "f64", "f16", "bf16")
    keys = [b.array([kind], sizes)]
    carried = [b.array(list(USUAL), sizes, moved=True) for _ in range(b.rng.randint(0, 2))]
    operands = [*keys, *carried]
    stable = len(operands) > 1 or b.chance(0.5)
    comparator = _comparator(b, [o.kind for o in operands], b.pick("LT", "GT"), total)
    attributes = f"dimensions={{{axis}}}, is_stable={str(stable).lower()}, to_apply={comparator.name}"
    if len(operands) == 1:
        return b.emit("sort", keys[0].shape, operands, attributes, called=[comparator])
    results = b.emit("sort", tuple(o.shape for o in operands), operands, attributes, called=[comparator])
    return b.split(results, [o.tolerance for o in operands])


def _comparator(b: Builder, kinds: Sequence[str], direction: str, total: bool) -> Computation:
    name = b.names.new("order")
    body = [
        Instruction(f"{name}.{k}", Array(kinds[k // 2]), "parameter", literal=str(k)) for k in range(2 * len(kinds))
    ]
    attributes = f"direction={direction}" + (", type=TOTALORDER" if total else "")
    root = Instruction(f"{name}.r", Array("pred"), "compare", (f"{name}.0", f"{name}.1"), attributes)
    return Computation(name, (*body, root))


def get_dimension_size(b: Builder) -> Value:
    x = b.array(USUAL, ranks=(1, 4), moved=True)
    axis = b.rng.randrange(len(x.sizes))
    return b.emit("get-dimension-size", Array("s32"), [x], f"dimensions={{{axis}}}", tolerance=EXACT)


def add_dependency(b: Builder) -> Value:
    x = b.array(USUAL, moved=True)
    token = b.emit("after-all", Array("token"), (), returned=False)
    return b.emit("add-dependency", x.shape, [x, token], tolerance=x.tolerance)


def topk(b: Builder) -> object:
    x = b.parameter(Array(b.pick("f32", "f32", "bf16", "s32"), random_sizes(b.rng, 1, 2)), DISTINCT)
    k = b.rng.randint(0, x.sizes[-1])
    sizes = (*x.sizes[:-1], k)
    shape = (Array(x.kind, sizes), Array("s32", sizes))
    return b.split(b.emit("topk", shape, [x], f"k={k}, largest={b.pick('true', 'false')}", tolerance=EXACT))


GENERATORS: dict[str, tuple[Generator, ...]] = {
    "broadcast": (broadcast,),
    "reshape": (reshape,),
    "transpose": (transpose,),
    "reverse": (reverse,),
    "copy": (lambda b: unchanged(b, "copy"),),
    "opt-barrier": (lambda b: unchanged(b, "opt-barrier"),),
    "bitcast": (bitcast,),
    "slice": (slice_,),
    "concatenate": (concatenate,),
    "pad": (pad,),
    "iota": (iota,),
    "constant": (constant,),
    "dynamic-slice": (dynamic_slice,),
    "dynamic-update-slice": (dynamic_update_slice,),
    "sort": (sort,),
    "topk": (topk,),
    "get-dimension-size": (get_dimension_size,),
    "add-dependency": (add_dependency,),
    "after-all": (add_dependency,),
}
