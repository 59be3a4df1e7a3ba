"""Walks over graphs: who is reached, in which order, on random graphs and on a path that recursion could not follow."""

from random import Random

import pytest

from indexing.walks import post_order, reached

LONG = 20_000


def random_edges(seed: int, *, has_cycles: bool) -> dict[int, list[int]]:
    """Some edges from each of a few nodes, to itself and to any, or to later ones alone; also twice to the same."""
    random = Random(seed)
    count = random.randint(1, 12)
    ends = {k: range(0 if has_cycles else k + 1, count) for k in range(count)}
    return {k: random.choices(ends[k], k=random.randint(0, 3)) if ends[k] else [] for k in range(count)}


def distances(edges: dict[int, list[int]], starts: list[int]) -> dict[int, int]:
    """The least number of edges to each node, by relaxing all edges as often as there are nodes."""
    far = len(edges)
    known = {k: 0 if k in starts else far for k in edges}
    for _ in edges:
        for k, ends in edges.items():
            known |= {end: min(known[end], known[k] + 1) for end in ends}
    return {k: n for k, n in known.items() if n < far}


@pytest.mark.parametrize("seed", range(40))
def test_all_that_is_reached_comes_once_and_the_nearest_first(seed: int) -> None:
    edges = random_edges(seed, has_cycles=True)
    starts = Random(-seed).choices(list(edges), k=2)
    order = list(reached(starts, edges.__getitem__))
    expected = distances(edges, starts)
    assert sorted(order) == sorted(expected)
    assert [expected[k] for k in order] == sorted(expected.values())


@pytest.mark.parametrize("seed", range(40))
def test_what_is_needed_comes_first(seed: int) -> None:
    edges = random_edges(seed, has_cycles=False)
    starts = Random(-seed).choices(list(edges), k=2)
    order = post_order(starts, edges.__getitem__)
    assert sorted(order) == sorted(distances(edges, starts))
    assert all(order.index(end) < order.index(k) for k in order for end in edges[k])


def test_needs_are_followed_in_their_order() -> None:
    needs = {"d": "bc", "b": "a", "c": "ab", "a": ""}
    assert "".join(post_order("d", needs.__getitem__)) == "abcd"


def test_each_node_is_asked_once() -> None:
    asked: list[str] = []
    needs = {"d": "bc", "b": "a", "c": "ab", "a": ""}
    for walk in (reached, post_order):
        asked.clear()
        list(walk("dabcd", lambda node: asked.append(node) or needs[node]))  # type: ignore[func-returns-value]
        assert sorted(asked) == list("abcd")


def test_a_long_path_is_no_recursion() -> None:
    path = {k: [k + 1] for k in range(LONG)} | {LONG: []}
    assert list(reached([0], path.__getitem__)) == list(range(LONG + 1))
    assert post_order([0], path.__getitem__) == list(range(LONG, -1, -1))


def test_what_is_not_asked_for_is_not_walked() -> None:
    endless = reached([0], lambda k: [k + 1])
    assert [next(endless) for _ in range(3)] == [0, 1, 2]
