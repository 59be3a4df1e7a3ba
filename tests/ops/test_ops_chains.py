"""Random chains of ops in a fusion: composed maps, both ways, against the effect of changing single elements.

All values are positive and every op is linear in the data, so that each element that is read shows.
"""

from __future__ import annotations

import numpy as np
import pytest

from reached import check

ADD = "add {\n  a = f64[] parameter(0)\n  b = f64[] parameter(1)\n  ROOT s = f64[] add(a, b)\n}\n"
MAX_NUMBER = 60  # elements of any array on the way


def dims(values):
    return "[" + ",".join(map(str, values)) + "]"


def braces(values):
    return "{" + ",".join(map(str, values)) + "}"


class Chain:
    """A fused computation under construction."""

    def __init__(self, rng):
        self.rng = rng
        self.lines, self.parameters, self.values = [], [], []
        self.last, self.shape = None, ()

    def name(self):
        return f"x{len(self.lines)}"

    def parameter(self, shape, values, kind="f64"):
        name = f"p{len(self.parameters)}"
        self.parameters.append(f"{kind}{dims(shape)}")
        self.lines.append(f"{name} = {kind}{dims(shape)} parameter({len(self.values)})")
        self.values.append(values)
        return name

    def data(self, shape):
        return self.parameter(shape, self.rng.uniform(1, 2, shape))

    def put(self, shape, text, kind="f64"):
        name = self.name()
        self.lines.append(f"{name} = {kind}{dims(shape)} {text}")
        if kind == "f64":
            self.last, self.shape = name, tuple(int(n) for n in shape)
        return name

    def index(self, shape=()):
        """An integer array: a parameter, a constant, an iota, or a sum of two of these."""
        choice = self.rng.integers(4)
        low, high = -2, 6
        if choice == 0 and not shape:
            return self.put((), f"constant({self.rng.integers(low, high)})", "s32")
        if choice == 1 and shape:
            return self.put(shape, f"iota(), iota_dimension={self.rng.integers(len(shape))}", "s32")
        drawn = self.rng.integers(low, high, shape).astype(np.int32)
        first = self.parameter(shape, drawn, "s32")
        if choice == 2:
            other = self.parameter(shape, self.rng.integers(0, 2, shape).astype(np.int32), "s32")
            return self.put(shape, f"add({first}, {other})", "s32")
        return first


def transpose(c):
    order = c.rng.permutation(len(c.shape))
    c.put([c.shape[k] for k in order], f"transpose({c.last}), dimensions={braces(order)}")


def reshape(c):
    count = int(np.prod(c.shape))
    divisors = [n for n in range(1, count + 1) if count % n == 0]
    first = int(c.rng.choice(divisors))
    c.put([first, count // first], f"reshape({c.last})")


def slice_(c):
    bounds = []
    for n in c.shape:
        start = int(c.rng.integers(0, n))
        bounds.append((start, int(c.rng.integers(start + 1, n + 1)), int(c.rng.integers(1, 3))))
    text = ",".join(f"[{a}:{b}:{s}]" for a, b, s in bounds)
    c.put([-(-(b - a) // s) for a, b, s in bounds], f"slice({c.last}), slice={{{text}}}")


def pad(c):
    last, shape = c.last, c.shape
    padding = [(int(c.rng.integers(-1, 2)), int(c.rng.integers(0, 2)), int(c.rng.integers(0, 2))) for _ in shape]
    padded = [a + b + n + (n - 1) * i for n, (a, b, i) in zip(shape, padding, strict=True)]
    if not shape or min(padded) < 1:
        return
    value = c.put((), "constant(2)")  # not 0, which would hide what it is multiplied with
    c.put(padded, f"pad({last}, {value}), padding={'x'.join('_'.join(map(str, p)) for p in padding)}")


def reverse(c):
    turned = [k for k in range(len(c.shape)) if c.rng.random() < 0.5]
    c.put(c.shape, f"reverse({c.last}), dimensions={braces(turned)}")


def broadcast(c):
    size, at = int(c.rng.integers(1, 4)), int(c.rng.integers(0, len(c.shape) + 1))
    shape = [*c.shape[:at], size, *c.shape[at:]]
    c.put(shape, f"broadcast({c.last}), dimensions={braces(k for k in range(len(shape)) if k != at)}")


def reduce(c):
    if not c.shape:
        return
    k = int(c.rng.integers(len(c.shape)))
    last, shape = c.last, c.shape
    zero = c.put((), "constant(0)")
    c.put([n for d, n in enumerate(shape) if d != k], f"reduce({last}, {zero}), dimensions={{{k}}}, to_apply=add")


def reduce_window(c):
    if not c.shape:
        return
    last, shape = c.last, c.shape
    sizes = [int(c.rng.integers(1, min(n, 3) + 1)) for n in shape]
    strides = [int(c.rng.integers(1, 3)) for _ in shape]
    zero = c.put((), "constant(0)")
    out = [(n - s) // t + 1 for n, s, t in zip(shape, sizes, strides, strict=True)]
    window = f"size={'x'.join(map(str, sizes))} stride={'x'.join(map(str, strides))}"
    c.put(out, f"reduce-window({last}, {zero}), window={{{window}}}, to_apply=add")


def dot(c):
    if not c.shape:
        return
    k, last, shape = int(c.rng.integers(len(c.shape))), c.last, c.shape
    other = c.data((shape[k], 2))
    kept = [n for d, n in enumerate(shape) if d != k]
    c.put([*kept, 2], f"dot({last}, {other}), lhs_contracting_dims={{{k}}}, rhs_contracting_dims={{0}}")


def dynamic_slice(c):
    last, sizes = c.last, [int(c.rng.integers(1, n + 1)) for n in c.shape]
    starts = [c.index() for _ in c.shape]
    c.put(sizes, f"dynamic-slice({', '.join([last, *starts])}), dynamic_slice_sizes={braces(sizes)}")


def dynamic_update_slice(c):
    last, shape = c.last, c.shape
    update = c.data([int(c.rng.integers(1, n + 1)) for n in shape])
    starts = [c.index() for _ in shape]
    c.put(shape, f"dynamic-update-slice({', '.join([last, update, *starts])})")


def updated(c):
    """The chain so far as the update."""
    last, shape = c.last, c.shape
    whole = [n + int(c.rng.integers(0, 3)) for n in shape]
    operand = c.data(whole)
    starts = [c.index() for _ in shape]
    c.put(whole, f"dynamic-update-slice({', '.join([operand, last, *starts])})")


def gather(c):
    if not c.shape:
        return
    last, shape, k = c.last, c.shape, int(c.rng.integers(len(c.shape)))
    indices = c.index((3,))
    sizes = [1 if d == k else n for d, n in enumerate(shape)]
    offset = list(range(1, len(shape)))
    c.put(
        [3, *(n for d, n in enumerate(shape) if d != k)],
        f"gather({last}, {indices}), offset_dims={braces(offset)}, collapsed_slice_dims={{{k}}}, "
        f"start_index_map={{{k}}}, index_vector_dim=1, slice_sizes={braces(sizes)}",
    )


def scatter(c):
    if not c.shape:
        return
    last, shape, k = c.last, c.shape, int(c.rng.integers(len(c.shape)))
    indices, update = c.index((2,)), c.data([2, *(n for d, n in enumerate(shape) if d != k)])
    c.put(
        shape,
        f"scatter({last}, {indices}, {update}), update_window_dims={braces(range(1, len(shape)))}, "
        f"inserted_window_dims={{{k}}}, scatter_dims_to_operand_dims={{{k}}}, index_vector_dim=1, to_apply=add",
    )


def concatenate(c):
    if not c.shape:
        return
    last, shape, k = c.last, c.shape, int(c.rng.integers(len(c.shape)))
    other = c.data([int(c.rng.integers(1, 3)) if d == k else n for d, n in enumerate(shape)])
    size = int(c.values[-1].shape[k])
    c.put([n + size if d == k else n for d, n in enumerate(shape)], f"concatenate({last}, {other}), dimensions={{{k}}}")


def twice(c):
    """A diamond: the value and a reversed copy of it."""
    last, shape = c.last, c.shape
    turned = c.put(shape, f"reverse({last}), dimensions={braces(range(len(shape)))}")
    c.put(shape, f"add({last}, {turned})")


STEPS = [transpose, reshape, slice_, pad, reverse, broadcast, reduce, reduce_window, dot, dynamic_slice, updated]
STEPS += [dynamic_update_slice, gather, scatter, concatenate, twice]


def random_fusion(seed):
    rng = np.random.default_rng(seed)
    c = Chain(rng)
    shape = tuple(int(n) for n in rng.integers(1, 5, rng.integers(1, 4)))
    c.last, c.shape = c.data(shape), shape
    for _ in range(rng.integers(2, 6)):
        if np.prod(c.shape) <= MAX_NUMBER:
            STEPS[rng.integers(len(STEPS))](c)
    root = c.last
    lines = [("ROOT " if line.startswith(f"{root} = ") else "") + line for line in c.lines]
    body = "f {\n  " + "\n  ".join(lines) + "\n}\n"
    how = ["fusion({}), kind=kLoop, calls=", "call({}), to_apply="][seed % 2]
    called = "f"
    if seed % 3 == 0:  # one computation more on the way
        body += around("g", c, f"fusion({{}}), kind=kLoop, calls={called}")
        called = "g"
    return f"HloModule m\n{ADD}\n{body}\nENTRY {around('e', c, how + called)}", c.values


def around(name, c, text):
    """A computation of the same parameters that calls another with all of them."""
    operands = [f"{name}{k} = {p} parameter({k})" for k, p in enumerate(c.parameters)]
    names = ", ".join(f"{name}{k}" for k in range(len(operands)))
    root = f"ROOT {name}r = f64{dims(c.shape)} {text.format(names)}"
    return f"{name} {{\n  " + "\n  ".join([*operands, root]) + "\n}\n"


@pytest.mark.parametrize("seed", range(60))
def test_maps_through_a_fusion_name_what_is_read(seed):
    text, values = random_fusion(seed)
    check(text, values, operands=[k for k, value in enumerate(values) if value.dtype.kind == "f"])
