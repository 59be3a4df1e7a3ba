"""A share of the fuzzing in every test run: random maps judged at each point of their domain, and by isl."""

import random
from collections import Counter

import pytest

import indexing as ix
import maps
import presburger
from exact_maps import evaluate, random_map, read

SEED = 20261


@pytest.mark.parametrize("batch", range(4))
def test_simplified_maps_mean_the_same(batch: int) -> None:
    refused, failures = maps.run_batch(SEED, batch * 250, 250)
    assert failures == []
    assert refused < 25


@pytest.mark.parametrize("batch", range(4))
def test_isl_agrees_where_domains_are_large(batch: int) -> None:
    decided = 0
    for number in range(batch * 60, batch * 60 + 60):
        source = random_map(random.Random(f"{SEED}/{number}"), presburger.LARGE)
        if all(map(presburger.is_quasi_affine, [*source.results, *(e for e, _ in source.constraints)])):
            try:
                assert presburger.check(source) is None, str(source)
            except presburger.isl.Error:
                continue
            decided += 1
    assert decided > 20


def test_text_round_trips_and_evaluation_agrees() -> None:
    for number in range(500):
        source = random_map(random.Random(f"{SEED}/text/{number}"), maps.SMALL)
        m = ix.IndexingMap.parse(str(source))
        assert ix.IndexingMap.parse(str(m)) == m
        if m.is_known_empty:
            assert not any(map(source.contains, source.box()))
            continue
        again = read(str(m))
        for point in list(source.box())[:5]:
            values = [point[n] for n in source.names]
            dims = len(source.groups[0])
            want = [evaluate(e, point) for e in source.results]
            try:
                assert list(m.evaluate(values[:dims], values[dims:])) == want
            except ix.Overflow:
                continue
            assert list(again.at(point)) == want


def test_composition_is_application_twice() -> None:
    checked = 0
    for number in range(400):
        generator = random.Random(f"{SEED}/compose/{number}")
        first, second = (random_map(generator, maps.SMALL) for _ in range(2))
        if len(first.results) != len(second.groups[0]) or first.groups[2] or second.groups[1] or second.groups[2]:
            continue
        try:
            composed = ix.compose(ix.IndexingMap.parse(str(first)), ix.IndexingMap.parse(str(second))).simplify()
        except ix.Overflow:
            continue
        actual = None if composed.is_known_empty else read(str(composed))
        for point in first.box():
            middle = dict(zip(second.groups[0], first.at(point), strict=True))
            inside = first.contains(point) and second.contains(middle)
            if actual is None:
                assert not inside
                continue
            renamed = dict(zip(actual.names, point.values(), strict=True))
            assert actual.contains(renamed) == inside
            if inside:
                checked += 1
                assert actual.at(renamed) == second.at(middle)
    assert checked > 200


def test_a_batch_composes_as_one_by_one() -> None:
    compared = 0
    for number in range(1500):
        generator = random.Random(f"{SEED}/pairs/{number}")
        sources = [random_map(generator, maps.SMALL) for _ in range(2)]
        if len(sources[0].results) != len(sources[1].groups[0]):
            continue
        try:
            pair = tuple(ix.IndexingMap.parse(str(m)) for m in sources)
            alone = ix.compose(*pair).simplify()
        except ix.Overflow:
            continue
        compared += 1
        assert str(ix.compose_all([pair])[0]) == str(alone), " ;; ".join(map(str, sources))
    assert compared > 300


@pytest.mark.parametrize("batch", range(4))
def test_isl_agrees_about_emptiness_and_bounds(batch: int) -> None:
    total: Counter[str] = Counter()
    for number in range(batch * 75, batch * 75 + 75):
        source = presburger.random_domain(random.Random(f"{SEED}/domains/{number}"))
        if all(map(presburger.is_quasi_affine, [*source.results, *(e for e, _ in source.constraints)])):
            try:
                total += presburger.compare_domain(source)
            except presburger.isl.Error:
                continue
    assert total["contradictions"] == 0
    assert total["emptiness decided"] == total["domains"] > 40
    assert total["best bounds"] >= 0.99 * total["bounds"] > 50
