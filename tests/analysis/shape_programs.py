"""Random chains of ops that move elements: shapes small enough to list every tile."""

import random
from math import prod


class Chain:
    """A fusion that grows op by op."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        dims = [self.random.randint(1, 6) for _ in range(self.random.randint(1, 3))]
        while prod(dims) > 60:
            dims.pop()
        self.dims, self.name, self.parameters = dims, "p", 1
        self.lines = [f"p = {shape(dims)} parameter(0)", "z = f32[] constant(0)"]
        ops = [self.reshape, self.reshape, self.transpose, self.slice, self.reverse, self.pad, self.concatenate]
        ops += [self.broadcast, self.reduce, self.window]
        for k in range(self.random.randint(1, 4)):
            op = self.random.choice(ops)
            if self.dims or op in (self.reshape, self.broadcast):
                new, text = op()
                self.dims, self.name = new, f"v{k}"
                self.lines.append(f"v{k} = {shape(new)} {text}")

    @property
    def text(self) -> str:
        inputs = [line for line in self.lines if "parameter(" in line]
        names = ", ".join(line.split()[0] for line in inputs)
        body = "\n".join(self.lines).replace(f"{self.name} = ", f"ROOT {self.name} = ")
        add = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b) }"
        entry = "\n".join([*inputs, f"ROOT f1 = {shape(self.dims)} fusion({names}), kind=kLoop, calls=f"])
        return f"{add}\nf {{\n{body}\n}}\nENTRY e {{\n{entry}\n}}"

    def reshape(self) -> tuple[list[int], str]:
        left, new = prod(self.dims), []
        while left > 1 and len(new) < 3:
            factor = self.random.choice([x for x in range(1, left + 1) if left % x == 0])
            new.append(factor)
            left //= factor
        new.append(left)
        self.random.shuffle(new)
        return new, f"reshape({self.name})"

    def transpose(self) -> tuple[list[int], str]:
        order = self.random.sample(range(len(self.dims)), len(self.dims))
        return [self.dims[d] for d in order], f"transpose({self.name}), dimensions={{{listed(order)}}}"

    def slice(self) -> tuple[list[int], str]:
        parts, new = [], []
        for d in self.dims:
            low = self.random.randrange(d)
            high, step = self.random.randint(low + 1, d), self.random.choice([1, 1, 2, 3])
            parts.append(f"[{low}:{high}:{step}]")
            new.append(-(-(high - low) // step))
        return new, f"slice({self.name}), slice={{{', '.join(parts)}}}"

    def reverse(self) -> tuple[list[int], str]:
        turned = self.random.sample(range(len(self.dims)), self.random.randint(1, len(self.dims)))
        return self.dims, f"reverse({self.name}), dimensions={{{listed(sorted(turned))}}}"

    def pad(self) -> tuple[list[int], str]:
        parts = [
            (self.random.randint(0, 2), self.random.randint(0, 2), self.random.choice([0, 0, 1])) for _ in self.dims
        ]
        new = [low + high + d + (d - 1) * inner for d, (low, high, inner) in zip(self.dims, parts, strict=True)]
        return new, f"pad({self.name}, z), padding={'x'.join('_'.join(map(str, p)) for p in parts)}"

    def concatenate(self) -> tuple[list[int], str]:
        d, other, name = self.random.randrange(len(self.dims)), list(self.dims), f"q{self.parameters}"
        other[d] = self.random.randint(1, 4)
        self.lines.append(f"{name} = {shape(other)} parameter({self.parameters})")
        self.parameters += 1
        new = [*self.dims[:d], self.dims[d] + other[d], *self.dims[d + 1 :]]
        pair = self.random.sample([self.name, name], 2)
        return new, f"concatenate({', '.join(pair)}), dimensions={{{d}}}"

    def broadcast(self) -> tuple[list[int], str]:
        at = self.random.randint(0, len(self.dims))
        new = [*self.dims[:at], self.random.randint(1, 4), *self.dims[at:]]
        kept = [d for d in range(len(new)) if d != at]
        return new, f"broadcast({self.name}), dimensions={{{listed(kept)}}}"

    def reduce(self) -> tuple[list[int], str]:
        d = self.random.randrange(len(self.dims))
        return [*self.dims[:d], *self.dims[d + 1 :]], f"reduce({self.name}, z), dimensions={{{d}}}, to_apply=add"

    def window(self) -> tuple[list[int], str]:
        sizes = [self.random.randint(1, min(3, d)) for d in self.dims]
        steps = [self.random.randint(1, 3) for _ in self.dims]
        new = [(d - s) // step + 1 for d, s, step in zip(self.dims, sizes, steps, strict=True)]
        window = f"{{size={'x'.join(map(str, sizes))} stride={'x'.join(map(str, steps))}}}"
        return new, f"reduce-window({self.name}, z), window={window}, to_apply=add"


def shape(dims: list[int]) -> str:
    return f"f32[{listed(dims)}]"


def listed(numbers: list[int]) -> str:
    return ",".join(map(str, numbers))
