"""Nothing that the core exports ends in a panic: each function and method is called with values that nobody would pass."""

import inspect
import itertools
import random
from contextlib import suppress

import pytest

import indexing as ix
from indexing import _core
from indexing.ops.registry import REGISTRY

TEXT = """f { a = f32[2] parameter(0) ROOT n = f32[2] negate(a) }
ENTRY e { p = f32[2] parameter(0) t = (f32[2], f32[2]) tuple(p, p) g = f32[2] get-tuple-element(t), index=1
  c = f32[2] call(g), to_apply=f s = f32[1] slice(c), slice={[0:1]} k = s32[] constant(7) ROOT r = f32[1] copy(s) }"""
MAP = "(d0, d1)[s0]{rt0} -> (d0 + s0, rt0 floordiv 2), domain: d0 in [0, 3], d1 in [0, 4], s0 in [0, 2], rt0 in [0, 9], d0 + d1 in [0, 5]"
CALLS = 60  # each function is called so often


class Formulas:
    """Makes no objects for the maps of a propagation."""

    def __getattr__(self, name: str) -> object:
        return lambda *arguments: None


def subjects() -> dict[str, object]:
    """A value of each class."""
    module, map_ = _core.parse_hlo(TEXT), _core.IndexingMap.parse(MAP)
    parametric = map_.with_parameters(d0=(0, 3))
    made = [module, map_, map_.dims[0], map_.dims[0].interval, map_.results[0], map_.points(), parametric]
    structures = {name: "alias" for name, op in REGISTRY.items() if op.kind == "alias"}
    made += [_core.Propagation(module, structures, Formulas())]
    made += [*map_.explain(), *_core.rules(), map_.equivalent(map_), _core.SymbolicMap.parse("(d0) -> (d0 * 2)")]
    return {type(value).__name__: value for value in made if value is not None}


def odd_values(subject: dict[str, object]) -> list[object]:
    plain = [None, True, -1, 0, 1, 2, 7, 2**31, 2**32 - 1, 2**63 - 1, -(2**63), 2**64, 10**30, 0.5, float("nan")]
    texts = ["", "x", "d0", "\0", "\ud800", "é" * 9, "{" * 50, TEXT, MAP, "f32[2]", "alias"]
    nested = [
        [],
        [0],
        [-1],
        [2**63],
        [[]],
        [None],
        ["x"],
        (),
        (0, 0),
        (2**32 - 1, 0),
        (0, 2**32 - 1),
        {},
        {"x": "alias"},
        b"",
    ]
    rows = [[(0, [])], [(9, [(0, 0)])], [("m", 9, [])], [[(1, 1)]], range(3), slice(0, 1), Formulas(), object()]
    return [*plain, *texts, *nested, *rows, *subject.values(), list(subject.values())]


def likely_values(subject: dict[str, object]) -> list[object]:
    """What methods with several arguments take: numbers of rows, arrays and sets, few of which there are."""
    pairs = [(a, b) for a in (0, 1, 5, 2**32 - 1) for b in (0, 1, 2**32 - 1)]
    lists = [[], [0], [2**32 - 1], [(0, [])], [(1, [(0, 0)])], [(2**32 - 1, [])], [(1, [(0, 9)])], [(1, [(9, 0)])]]
    return [
        Formulas(),
        True,
        False,
        0,
        1,
        2,
        9,
        2**32 - 1,
        *pairs,
        *lists,
        subject["IndexingMap"],
        subject["HloModule"],
    ]


def arguments_of(function: object) -> int:
    try:
        parameters = inspect.signature(function).parameters.values()  # type: ignore[arg-type]
    except (ValueError, TypeError):
        return 1
    return sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.name != "self" for p in parameters)


def exported() -> dict[str, tuple[object, str]]:
    """Every function, and every method of every class: of what, and its name."""
    result: dict[str, tuple[object, str]] = {}
    for name, value in vars(_core).items():
        if isinstance(value, type):
            members = [
                m for m in dir(value) if m not in dir(object) or m in ("__eq__", "__hash__", "__repr__", "__init__")
            ]
            result |= {f"{name}.{member}": (value, member) for member in members}
            result[name] = (_core, name)
        elif callable(value):
            result[name] = (_core, name)
    return result


@pytest.mark.parametrize("name", sorted(exported()))
def test_no_panic_leaves_the_core(name: str) -> None:
    owner, member = exported()[name]
    rng = random.Random(name)
    subject = subjects()
    if isinstance(owner, type):
        owner = subject.get(owner.__name__, owner)
    odd, likely = odd_values(subject), likely_values(subject)
    count = arguments_of(getattr(owner, member, None))
    drawn = ([rng.choice(rng.choice([odd, likely, likely])) for _ in range(count)] for _ in range(CALLS * count**2))
    each = itertools.product(odd, repeat=count) if count <= 1 else drawn
    for given in each:
        try:
            attribute = getattr(owner, member)
            if callable(attribute):
                attribute(*given)
        except BaseException as error:
            assert isinstance(error, Exception), f"{name}{tuple(given)}: {error!r}"


def test_numbers_beyond_the_tables_are_refused_and_the_rest_goes_on() -> None:
    propagation, far = subjects()["Propagation"], 2**32 - 1
    calls = {
        "identity": [(far, 0), (0, far), (99, 0)],
        "union": [(far, 0), (0, far)],
        "maps": [(far, 0)],
        "formula": [(False, (far, 0), 1), (True, (0, far), 1), (False, (1, far), 1), (False, (2, far), 1)],
        "find_formulas": [(False, 0, far), (True, far, 1)],
        "propagate": [(far, [], []), (0, [(far, [])], []), (0, [(0, [(0, far)])], []), (0, [], [far])],
        "propagate_to": [(far, 0, 0), (0, 0, far), (0, far, 0)],
    }
    for name, given in calls.items():
        for arguments in given:
            with suppress(ix.IndexingError, IndexError, _core.Unstated, TypeError):
                getattr(propagation, name)(*arguments)
    assert propagation.identity(0, 0) >= 0
