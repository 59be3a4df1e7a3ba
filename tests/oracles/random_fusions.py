"""Random fusions: graphs of elementwise and index ops, reductions and updates, over random shapes and types."""

import numpy as np

FLOATS = ("f32", "f64", "bf16", "f16")
INTEGERS = ("s32", "u8", "s8", "s64", "u32")
SIGNED = ("s32", "s8", "s64", *FLOATS)
MAX_ELEMENTS = 4000


class Fusion:
    """The text of a computation as it grows; `values` are (name, element type, sizes)."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.lines: list[str] = []
        self.values: list[tuple[str, str, tuple[int, ...]]] = []
        self.parameters = 0
        self.reducers: dict[str, str] = {}

    def add(self, kind: str, sizes: tuple[int, ...], text: str) -> tuple[str, str, tuple[int, ...]]:
        name = f"v{len(self.lines)}"
        self.lines.append(f"  {name} = {shape(kind, sizes)} {text}")
        self.values.append((name, kind, sizes))
        return self.values[-1]

    def parameter(self, kind: str, sizes: tuple[int, ...]) -> tuple[str, str, tuple[int, ...]]:
        self.parameters += 1
        return self.add(kind, sizes, f"parameter({self.parameters - 1})")

    def any(self) -> tuple[str, str, tuple[int, ...]]:
        weights = np.arange(1, len(self.values) + 1, dtype=float)
        return self.values[int(self.rng.choice(len(self.values), p=weights / weights.sum()))]

    def like(self, kind: str, sizes: tuple[int, ...]) -> str:
        result = [v for v in self.values if v[1:] == (kind, sizes)]
        if result and self.rng.random() < 0.8:
            return result[int(self.rng.integers(len(result)))][0]
        return self.parameter(kind, sizes)[0]

    def chance(self, *choices: str) -> str:
        return choices[int(self.rng.integers(len(choices)))]

    # ------------------------------------------------------------ ops

    def unary(self) -> None:
        name, kind, sizes = self.any()
        if kind == "pred":
            self.add(kind, sizes, f"not({name})")
        elif kind in FLOATS:
            self.add(kind, sizes, f"{self.chance('negate', 'abs', 'tanh', 'floor')}({name})")
        elif kind in SIGNED:
            self.add(kind, sizes, f"{self.chance('negate', 'abs', 'not')}({name})")
        else:
            self.add(kind, sizes, f"not({name})")

    def binary(self) -> None:
        name, kind, sizes = self.any()
        other = self.like(kind, sizes)
        ops = ("and", "or", "xor") if kind == "pred" else ("add", "subtract", "maximum", "minimum")
        ops = (*ops, "multiply", "xor") if kind in INTEGERS else ops
        self.add(kind, sizes, f"{self.chance(*ops)}({name}, {other})")

    def choose(self) -> None:
        name, kind, sizes = self.any()
        if kind == "pred":
            return
        direction = self.chance("LT", "GE", "EQ", "NE")
        test = self.add("pred", sizes, f"compare({name}, {self.like(kind, sizes)}), direction={direction}")[0]
        self.add(kind, sizes, f"select({test}, {name}, {self.like(kind, sizes)})")

    def convert(self) -> None:
        name, kind, sizes = self.any()
        if kind in FLOATS:
            self.add(self.chance(*FLOATS), sizes, f"convert({name})")
        else:
            self.add(self.chance(*INTEGERS, "f32", "f64"), sizes, f"convert({name})")

    def transpose(self) -> None:
        name, kind, sizes = self.any()
        order = [int(d) for d in self.rng.permutation(len(sizes))]
        self.add(kind, tuple(sizes[d] for d in order), f"transpose({name}), dimensions={braces(order)}")

    def reshape(self) -> None:
        name, kind, sizes = self.any()
        factors = [f for s in sizes for f in primes(s)]
        new: list[int] = [1] * int(self.rng.integers(1, 5))
        for factor in factors:
            new[int(self.rng.integers(len(new)))] *= factor
        self.add(kind, tuple(new), f"{self.chance('reshape', 'bitcast')}({name})")

    def broadcast(self) -> None:
        name, kind, sizes = self.any()
        extra = int(self.rng.integers(2, 6))
        if int(np.prod(sizes)) * extra > MAX_ELEMENTS or len(sizes) > 4:
            return
        at = int(self.rng.integers(len(sizes) + 1))
        kept = [d if d < at else d + 1 for d in range(len(sizes))]
        self.add(kind, (*sizes[:at], extra, *sizes[at:]), f"broadcast({name}), dimensions={braces(kept)}")

    def slice(self) -> None:
        name, kind, sizes = self.any()
        parts, new = [], []
        for size in sizes:
            start = int(self.rng.integers(0, size))
            limit, stride = int(self.rng.integers(start + 1, size + 1)), int(self.rng.integers(1, 3))
            parts.append(f"[{start}:{limit}:{stride}]")
            new.append(-(-(limit - start) // stride))
        self.add(kind, tuple(new), f"slice({name}), slice={{{', '.join(parts)}}}")

    def reverse(self) -> None:
        name, kind, sizes = self.any()
        dims = [d for d in range(len(sizes)) if self.rng.random() < 0.5]
        self.add(kind, sizes, f"reverse({name}), dimensions={braces(dims)}")

    def concatenate(self) -> None:
        name, kind, sizes = self.any()
        if not sizes or 2 * int(np.prod(sizes)) > MAX_ELEMENTS:
            return
        d = int(self.rng.integers(len(sizes)))
        other = self.like(kind, sizes)
        new = tuple(2 * s if k == d else s for k, s in enumerate(sizes))
        self.add(kind, new, f"concatenate({name}, {other}), dimensions={{{d}}}")

    def pad(self) -> None:
        name, kind, sizes = self.any()
        value = self.like(kind, ())
        rules = [
            (int(self.rng.integers(-1, 3)), int(self.rng.integers(0, 3)), int(self.rng.integers(0, 2))) for _ in sizes
        ]
        new = [s + low + high + max(s - 1, 0) * inner for s, (low, high, inner) in zip(sizes, rules, strict=True)]
        if not sizes or min(new) < 1 or int(np.prod(new)) > MAX_ELEMENTS:
            return
        padding = "x".join("_".join(map(str, r)) for r in rules)
        self.add(kind, tuple(new), f"pad({name}, {value}), padding={padding}")

    def reduce(self) -> None:
        name, kind, sizes = self.any()
        if not sizes:
            return
        op = self.chance("and", "or") if kind == "pred" else self.chance("maximum", "minimum", "add")
        if kind in ("bf16", "f16") and op == "add":
            op = "maximum"
        key = f"{op}_{kind}"
        self.reducers[key] = (
            f"{key} {{\n  a = {kind}[] parameter(0)\n  b = {kind}[] parameter(1)\n  ROOT c = {kind}[] {op}(a, b)\n}}\n"
        )
        dims = sorted({int(d) for d in self.rng.integers(0, len(sizes), 2)})
        start = self.like(kind, ())
        kept = tuple(s for d, s in enumerate(sizes) if d not in dims)
        self.add(kind, kept, f"reduce({name}, {start}), dimensions={braces(dims)}, to_apply={key}")

    def dynamic_slice(self) -> None:
        name, kind, sizes = self.any()
        if not sizes:
            return
        new = tuple(int(self.rng.integers(1, s + 1)) for s in sizes)
        starts = ", ".join(self.like("s32", ()) for _ in sizes)
        self.add(kind, new, f"dynamic-slice({name}, {starts}), dynamic_slice_sizes={braces(new)}")

    def dynamic_update_slice(self) -> None:
        name, kind, sizes = self.any()
        if not sizes:
            return
        update = self.like(kind, tuple(int(self.rng.integers(1, s + 1)) for s in sizes))
        starts = ", ".join(self.like("s32", ()) for _ in sizes)
        self.add(kind, sizes, f"dynamic-update-slice({name}, {update}, {starts})")

    def iota(self) -> None:
        _, kind, sizes = self.any()
        if sizes and kind in ("s32", "f32", "s64", "u8"):
            self.add(kind, sizes, f"iota(), iota_dimension={int(self.rng.integers(len(sizes)))}")

    def text(self, outputs: int) -> str:
        """The module: the last values are the outputs."""
        names = self.values[-outputs:]
        if outputs > 1:
            kinds = ", ".join(shape(k, s) for _, k, s in names)
            self.lines.append(f"  ROOT root = ({kinds}) tuple({', '.join(n for n, _, _ in names)})")
        else:
            self.lines[int(names[0][0][1:])] = self.lines[int(names[0][0][1:])].replace("  v", "  ROOT v", 1)
        return "\n".join([*self.reducers.values(), "ENTRY fused {", *self.lines, "}"])


RARE = ("reduce", "dynamic_update_slice", "pad", "concatenate")
OPS = (
    *("unary", "binary", "binary", "choose", "convert", "transpose", "reshape", "broadcast", "slice", "reverse"),
    *("dynamic_slice", "iota", *RARE),
)


def shape(kind: str, sizes: tuple[int, ...]) -> str:
    return f"{kind}[{','.join(map(str, sizes))}]"


def braces(numbers) -> str:
    return "{" + ",".join(map(str, numbers)) + "}"


def primes(number: int) -> list[int]:
    result, factor = [], 2
    while number > 1:
        while number % factor == 0:
            result.append(factor)
            number //= factor
        factor += 1
    return result


def random_fusion(seed: int) -> str:
    """A fusion of 1 to 30 ops."""
    rng = np.random.default_rng(seed)
    fusion = Fusion(rng)
    rank = int(rng.integers(1, 4))
    kind = ("pred", *FLOATS, *INTEGERS)[int(rng.integers(10))]
    fusion.parameter(kind, tuple(int(rng.choice([1, 2, 3, 5, 8, 16, 33])) for _ in range(rank)))
    count, loops = int(rng.integers(1, 31)), 0
    for _ in range(count):
        op = OPS[int(rng.integers(len(OPS)))]
        loops += op == "reduce"
        if op != "reduce" or loops <= 2:  # deeper nests of loops take the kernel and the reference long
            getattr(fusion, op)()
    return fusion.text(min(int(rng.integers(1, 4)), len(fusion.values)))


class HeroFusion(Fusion):
    """Grows one path: each op reads the last value; what it reads besides is a parameter of the same shape."""

    def any(self) -> tuple[str, str, tuple[int, ...]]:
        return self.last

    @property
    def last(self) -> tuple[str, str, tuple[int, ...]]:
        return self.values[-1]

    def like(self, kind: str, sizes: tuple[int, ...]) -> str:
        name, last = self.last[0], self.last
        if last[1:] == (kind, sizes) and self.rng.random() < 0.5:
            return name
        other = self.parameter(kind, sizes)[0]
        self.values.append(last)
        return other

    def steps(self, count: int, *ops: str) -> None:
        for _ in range(count):
            getattr(self, self.chance(*ops))()


def random_hero_fusion(seed: int) -> str:
    """Elementwise ops, a hero (transpose, reduction or concatenate) of a size worth it, and an epilogue."""
    rng = np.random.default_rng(seed)
    fusion = HeroFusion(rng)
    kind = (*FLOATS, *INTEGERS)[int(rng.integers(9))]
    sizes = [int(rng.choice([1, 3, 16, 33, 40])) for _ in range(int(rng.integers(2, 4)))]
    while np.prod(sizes) > MAX_ELEMENTS * 4:
        sizes[int(rng.integers(len(sizes)))] = 2
    fusion.parameter(kind, tuple(sizes))
    elementwise = ("unary", "binary", "choose")
    fusion.steps(int(rng.integers(0, 4)), *elementwise)
    side = fusion.last
    fusion.steps(1, "transpose", "reduce", "reduce", "concatenate")
    fusion.steps(int(rng.integers(0, 4)), *elementwise, "reshape")
    if rng.random() < 0.4 and side is not fusion.last:
        fusion.values.append(side)
        return fusion.text(2)
    return fusion.text(1)
