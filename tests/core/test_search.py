"""`simplify(effort="search")`: right at every point, never dearer, repeatable, certified; cheaper where two steps are needed."""

import random

import pytest
from hypothesis import given, settings

import indexing as ix
from exact_maps import Style, random_map, read
from random_maps import Parts, parts
from test_rules import same_values


def cost(m: ix.IndexingMap) -> int:
    """The operators and factors of the results' texts: 1 for an addition or a factor, 4 for each other operator."""
    if m.is_known_empty:
        return 0
    text = str(m).partition(" -> ")[2].partition(", domain")[0]
    words = text.replace("(", " ( ").replace(")", " ) ").replace(",", " , ").split()
    cheap = sum(word in ("+", "-", "*") for word in words)
    return cheap + 4 * sum(word in ("floordiv", "ceildiv", "mod", "min", "max") for word in words)


GAPS = {
    "(m, k) -> (m * 6 + k * 3 + (m floordiv 4) * 24 + (k floordiv 2) * 18 - (k floordiv 4) * 47), "
    "domain: m in [0, 15], k in [0, 11]": 20,
    "(x, y, z) -> (x + y + (x + y + z) floordiv 3), domain: x in [-9, 9], y in [-9, 9], z in [-9, 9]": 8,
    "(x, y) -> (min(y * 4 - x, x) floordiv 12), domain: x in [0, 3], y in [0, 7]": 8,
    "(i, j) -> (i * 16 + j * 8 + (i floordiv 4) * 64 + (j floordiv 2) * 48), domain: i in [0, 15], j in [0, 3]": 14,
}


@pytest.mark.parametrize("text", GAPS)
def test_forms_that_take_two_steps_are_found(text: str) -> None:
    m = ix.IndexingMap.parse(text)
    simplified = m.simplify(effort="search")
    assert cost(simplified) <= GAPS[text] and cost(simplified) < cost(m.simplify())
    same_values(read(text), str(simplified))


@settings(max_examples=25, deadline=None)
@given(parts())
def test_the_search_keeps_every_value_and_is_never_dearer(p: Parts) -> None:
    m = p.map()
    simplified = m.simplify(effort="search")
    assert simplified.equivalent(m)
    assert simplified == m.simplify(effort="search")
    certified, certificate = m.simplify(effort="search", certificate=True)
    assert certified == simplified
    assert certificate.check()


@pytest.mark.parametrize("seed", range(12))
def test_the_search_is_right_on_random_maps(seed: int) -> None:
    source = random_map(random.Random(f"search/{seed}"), Style())
    m = ix.IndexingMap.parse(str(source))
    same_values(source, str(m.simplify(effort="search")))


def test_efforts_are_named() -> None:
    m = ix.IndexingMap.parse(next(iter(GAPS)))
    assert m.simplify(effort="default") == m.simplify()
    assert ix.simplify_all([m, m], effort="search") == [m.simplify(effort="search")] * 2
    assert {step.rule for step in m.explain(effort="search")} >= {"form-quotient-contracted"}
    with pytest.raises(ix.IndexingError, match="effort is 'default' or 'search', not"):
        m.simplify(effort="most")  # type: ignore[call-overload]
