"""Generators of instructions that call a computation: fusion, call, map, conditional, while; and of tuples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from modules import elementwise
from modules.program import EXACT, Array, Builder, Computation, Instruction, Shape, Tolerance, Value, random_sizes
from modules.reducers import of_one_precision
from modules.values import ANY, FLOATS, INTEGERS, USUAL, Data

Step = Callable[[Builder], object]


@dataclass(frozen=True)
class Body:
    """Instructions of a computation: what it takes, and what it returns."""

    builder: Builder
    parameters: list[Instruction]
    roots: list[Value]

    def arguments(self, b: Builder) -> list[Value]:
        """Values of the caller for the parameters."""
        values = []
        for p in self.parameters:
            data = self.builder.data[p.name]
            plain = isinstance(p.shape, Array) and p.shape.layout is None
            values.append(b.array([p.shape.kind], p.shape.sizes, data) if plain else b.fresh(p.shape, data))
        return values

    @property
    def tolerances(self) -> list[Tolerance]:
        return [r.tolerance for r in self.roots]

    def on_tuple(self, extra: Sequence[Shape] = ()) -> tuple[Builder, tuple[Shape, ...], Value]:
        """The same instructions over one tuple; behind the parameters, it has elements of the shapes in `extra`."""
        shape = (*(p.shape for p in self.parameters), *extra)
        b = self.builder.nested()
        whole = b.fresh(shape)
        for k, p in enumerate(self.parameters):
            element = Instruction(p.name, p.shape, "get-tuple-element", (whole.name,), f"index={k}")
            b.instructions.append(element)
        b.instructions += [i for i in self.builder.instructions if i.opcode != "parameter"]
        return b, shape, whole


def body(b: Builder, steps: Sequence[Step]) -> Body:
    """A computation of one to three random instructions."""
    inner = b.nested()
    for step in b.rng.choices(steps, k=b.rng.randint(1, 3)):
        step(inner)
    parameters = [i for i in inner.instructions if i.opcode == "parameter"]
    roots = inner.results or [inner.parameter(Array("f32", (2,)))]
    roots = b.rng.sample(roots, min(len(roots), b.rng.randint(1, 3)))
    return Body(inner, [i for i in inner.instructions if i.opcode == "parameter"] or parameters, roots)


def called(b: Builder, opcode: str, steps: Sequence[Step]) -> object:
    """A fusion or a call, of one result or of several."""
    return call(b, opcode, body(b, steps))


def call(b: Builder, opcode: str, inner: Body) -> object:
    """The fusion or call of a body."""
    single = len(inner.roots) == 1 and b.chance(0.8)
    function = inner.builder.computation(inner.roots[0] if single else inner.roots)
    shape: Shape = inner.roots[0].shape if single else tuple(r.shape for r in inner.roots)
    attributes = f"kind=kLoop, calls={function.name}" if opcode == "fusion" else f"to_apply={function.name}"
    arguments = inner.arguments(b)
    tolerance = inner.roots[0].tolerance if single else EXACT
    for a in arguments:
        tolerance |= a.tolerance
    result = b.emit(opcode, shape, arguments, attributes, called=[function], tolerance=tolerance)
    return result if single else b.split(result, inner.tolerances)


def map_(b: Builder) -> Value:
    """A computation of scalars for each element."""
    count = b.rng.randint(1, 3)
    inner = b.nested(ranks=(0, 0))
    kinds = of_one_precision(b, [b.pick(*FLOATS, *INTEGERS[:6]) for _ in range(count)])
    parameters = [inner.parameter(Array(k)) for k in kinds]
    makers = [g for opcode, gs in elementwise.GENERATORS.items() if opcode not in ("bitcast-convert",) for g in gs]
    for _ in range(b.rng.randint(1, 4)):
        b.rng.choice(makers)(inner)
    inner.instructions, constants = _without_new_parameters(inner, [p.name for p in parameters])
    root = inner.results[-1]
    function = inner.computation(root)
    sizes = random_sizes(b.rng, 0, 3)
    arguments = [b.array([k], sizes) for k in kinds]
    attributes = f"dimensions={{{','.join(map(str, range(len(sizes))))}}}, to_apply={function.name}"
    del constants
    shape = Array(root.kind, sizes)
    return b.emit("map", shape, arguments, attributes, called=[function], tolerance=root.tolerance)


def _without_new_parameters(inner: Builder, kept: Sequence[str]) -> tuple[list[Instruction], list[str]]:
    """What the body needs beside its parameters becomes constants."""
    rest, constants = [], []
    for i in inner.instructions:
        if i.opcode == "parameter" and i.name not in kept:
            assert isinstance(i.shape, Array)
            literal = "true" if i.shape.kind == "pred" else "(1, 1)" if i.shape.kind[0] == "c" else "1"
            i = Instruction(i.name, i.shape, "constant", literal=literal)
            constants.append(i.name)
        rest.append(i)
    return rest, constants


def _passing(b: Builder, shapes: Sequence[Shape]) -> tuple[Computation, Shape]:
    """A branch that returns what it is given: a tuple, its arrays reversed where they have a dimension."""
    inner = b.nested()
    whole = inner.fresh(tuple(shapes))
    parts = []
    for k, shape in enumerate(shapes):
        part = inner.emit("get-tuple-element", shape, [whole], f"index={k}")
        if isinstance(shape, Array) and shape.sizes and b.chance(0.5):
            part = inner.emit("reverse", shape, [part], "dimensions={0}")
        parts.append(part)
    return inner.computation(parts, "branch"), tuple(shapes)


def conditional(b: Builder, steps: Sequence[Step]) -> object:
    """A random branch beside one or two that pass their operand on; chosen by a pred, or by any s32."""
    inner = body(b, steps)
    shapes = [r.shape for r in inner.roots]
    computing, shape, _ = inner.on_tuple()
    branches = [(computing.computation(inner.roots, "branch"), shape)]
    operands = [b.emit("tuple", shape, inner.arguments(b))]
    by_number = b.chance(0.5)
    for _ in range(b.rng.randint(0, 2) if by_number else 1):
        branches.append(_passing(b, shapes))
        arguments = [b.array([s.kind], s.sizes) for s in shapes if isinstance(s, Array)]
        operands.append(b.emit("tuple", tuple(shapes), arguments))
    order = b.rng.sample(range(len(branches)), len(branches))
    names = [branches[k][0].name for k in order]
    if by_number:
        chooser = b.array(["s32"], (), Data("range", -1, len(branches)))
        attributes = f"branch_computations={{{', '.join(names)}}}"
    else:
        chooser = b.array(["pred"], ())
        attributes = f"true_computation={names[0]}, false_computation={names[1]}"
    computations = [branches[k][0] for k in order]
    operands = [chooser, *(operands[k] for k in order)]
    results = b.emit("conditional", tuple(shapes), operands, attributes, called=computations, tolerance=EXACT)
    return b.split(results, inner.tolerances)


def while_(b: Builder, steps: Sequence[Step]) -> object:
    """A loop of none to three rounds; some of what a round computes may be what the next one starts from."""
    inner = body(b, steps)
    extra = [r.shape for r in inner.roots]
    looping, shape, whole = inner.on_tuple([*extra, Array("s32")])
    count = len(inner.parameters)
    counter = looping.emit("get-tuple-element", Array("s32"), [whole], f"index={len(shape) - 1}")
    one = looping.emit("constant", Array("s32"), (), literal="1")
    after = looping.emit("add", Array("s32"), [counter, one])
    state = [Value(p.name, p.shape) for p in inner.parameters]
    for root in inner.roots:
        for k, p in enumerate(inner.parameters):
            if (
                p.shape == root.shape
                and root.tolerance == EXACT
                and inner.builder.data[p.name] == ANY
                and b.chance(0.3)
            ):
                state[k] = root
    step = looping.computation([*state, *inner.roots, after], "body")
    condition = _counts_to(b, shape, b.rng.randint(0, 3))
    initial = [b.array([s.kind], s.sizes) for s in extra if isinstance(s, Array)]
    zero = b.emit("constant", Array("s32"), (), literal="0", tolerance=EXACT)
    start = b.emit("tuple", shape, [*inner.arguments(b), *initial, zero])
    attributes = f"condition={condition.name}, body={step.name}"
    results = b.emit("while", shape, [start], attributes, called=[condition, step], tolerance=EXACT)
    return b.split(results, [EXACT] * count + inner.tolerances + [EXACT])


def _counts_to(b: Builder, shape: tuple[Shape, ...], limit: int) -> Computation:
    inner = b.nested()
    whole = inner.fresh(shape)
    counter = inner.emit("get-tuple-element", Array("s32"), [whole], f"index={len(shape) - 1}")
    last = inner.emit("constant", Array("s32"), (), literal=str(limit))
    return inner.computation(inner.emit("compare", Array("pred"), [counter, last], "direction=LT"), "condition")


def tuples(b: Builder) -> object:
    """Arrays into a tuple, perhaps a tuple of tuples, and out again."""
    arrays = [b.array(USUAL, moved=True) for _ in range(b.rng.randint(1, 3))]
    whole = b.emit("tuple", tuple(a.shape for a in arrays), arrays)
    if b.chance(0.4):
        other = b.array(USUAL, moved=True)
        whole = b.emit("tuple", (other.shape, whole.shape), [other, whole])
    return b.split(whole)


def generators(steps: Sequence[Step]) -> dict[str, tuple[Step, ...]]:
    """Those that call a computation; `steps` add the instructions it is made of."""
    return {
        "fusion": (lambda b: called(b, "fusion", steps),),
        "call": (lambda b: called(b, "call", steps),),
        "map": (map_,),
        "conditional": (lambda b: conditional(b, steps),),
        "while": (lambda b: while_(b, steps),),
        "tuple": (tuples,),
        "get-tuple-element": (tuples,),
    }
