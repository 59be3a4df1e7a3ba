"""Many maps at once: in order, equal texts as one map, in threads."""

import pickle
import threading
from collections.abc import Callable, Sequence

import pytest

import indexing as ix


def many_results(result: str, count: int) -> str:
    """So many results that a few hundred texts are work for several threads."""
    return ", ".join(f"{result} + d0 * {k}" for k in range(count))


@pytest.mark.parametrize("threads", [1, 2, 3, None])
def test_batches_keep_order(threads: int | None) -> None:
    results = many_results("(d0 + 5) floordiv {divisor}", 50)
    texts = [f"(d0) -> ({results.format(divisor=k + 1)}), domain: d0 in [0, {k}]" for k in range(300)]
    maps = ix.parse_all(texts, threads=threads)
    assert [str(m) for m in maps] == [str(ix.IndexingMap.parse(t)) for t in texts]
    assert ix.simplify_all(maps, threads=threads) == [m.simplify() for m in maps]
    identities = [ix.IndexingMap.identity([k + 1]) for k in range(300)]
    assert ix.compose_all(list(zip(identities, maps, strict=True)), threads=threads) == [m.simplify() for m in maps]
    texts[270] = texts[260] = "(d0 -> (d0)"
    with pytest.raises(ix.ParseError, match="item 260: expected a dimension"):
        ix.parse_all(texts, threads=threads)
    with pytest.raises(ix.InvalidMap, match="item 1: "):
        ix.compose_all([(identities[0], maps[0]), (maps[0], ix.IndexingMap.identity([1, 1]))], threads=threads)
    assert ix.parse_all([]) == []


@pytest.mark.parametrize("count", [0, 1, 7, 63, 64, 65, 700])
def test_batches_of_any_size(count: int) -> None:
    texts = [f"(d0) -> ({many_results(f'd0 mod {k + 2}', 20)}), domain: d0 in [0, 99]" for k in range(count)]
    maps = ix.parse_all(texts, threads=4)
    assert [str(m) for m in maps] == [str(ix.IndexingMap.parse(t)) for t in texts]
    assert ix.simplify_all(maps, threads=4) == [m.simplify() for m in maps]


@pytest.mark.parametrize("threads", [1, 2])
def test_equal_texts_of_a_batch_are_one_map(threads: int) -> None:
    texts = [f"(d0) -> ({many_results(f'd0 mod {k % 100 + 2}', 150)}), domain: d0 in [0, 9]" for k in range(300)]
    maps = ix.parse_all(texts, threads=threads)
    assert [str(m) for m in maps] == [str(ix.IndexingMap.parse(t)) for t in texts]
    assert all(maps[k] is maps[k % 100] for k in range(300))
    texts[160] = texts[7] = "(d0) -> (d1), domain: d0 in [0, 9]"
    with pytest.raises(ix.ParseError, match="item 7: ") as error:
        ix.parse_all(texts, threads=threads)
    assert (error.value.line, error.value.column) == (1, 10)


@pytest.mark.parametrize("threads", [1, 2])
def test_equal_items_of_a_batch_are_worked_on_once(threads: int) -> None:
    texts = [f"(d0) -> ({many_results(f'd0 mod {k % 7 + 2}', 50)}), domain: d0 in [0, 9]" for k in range(500)]
    maps = [ix.IndexingMap.parse(t) for t in texts]
    simplified = ix.simplify_all(iter(maps), threads=threads)
    assert simplified == [m.simplify() for m in maps] and simplified.different_count == 7
    assert all(simplified[k] is simplified[k % 7] for k in range(500))
    pairs = ((ix.IndexingMap.identity([10]), m) for m in maps)
    assert ix.compose_all(pairs, threads=threads) == simplified
    assert ix.count_all((m for m in maps), threads=threads) == [10] * 500
    assert ix.simplify_all(simplified[3:5]) == simplified[3:5]


def test_a_single_text_is_no_batch() -> None:
    with pytest.raises(TypeError, match="expected an iterable of texts, not a str"):
        ix.parse_all("(d0) -> (d0), domain: d0 in [0, 9]")


def test_maps_are_a_sequence() -> None:
    texts = [f"(d0) -> (d0 mod {k}), domain: d0 in [0, 9]" for k in (2, 3, 2, 4)]
    maps = ix.parse_all(texts)
    own = [ix.IndexingMap.parse(t) for t in texts]
    assert isinstance(maps, Sequence) and list(maps) == own == maps and maps != own[:3] and maps != [*own[:3], 3]
    assert len(maps) == 4 and maps.different_count == 3 and repr(maps) == "<Maps of 4 maps>"
    assert maps[0] is maps[2] and maps[-1] == own[3] and maps[::-2] == own[::-2] and list(reversed(maps)) == own[::-1]
    assert own[1] in maps and maps[1:] == ix.parse_all(texts[1:]) and hash(maps[1:]) == hash(ix.parse_all(texts[1:]))
    assert pickle.loads(pickle.dumps(maps)) == maps
    with pytest.raises(IndexError, match="there are 4 maps, not one at 4"):
        maps[4]
    with pytest.raises(TypeError, match="numbered by an int"):
        maps["0"]  # type: ignore[call-overload]


def test_batches_count_points_beyond_int64() -> None:
    wide = ix.IndexingMap.parse("(d0, d1) -> (d0), domain: d0 in [0, 9999999999999], d1 in [0, 9999999999999]")
    triangle = ix.IndexingMap.parse("(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9], d0 + d1 in [0, 9]")
    assert ix.count_all([wide, triangle, ix.IndexingMap.known_empty()]) == [10**26, 55, 0]
    sizes = [[2**32, 2**32], [2**32 - 1, 2**32 + 1], [2**63 - 1, 2], [2**63 - 1] * 3]
    assert ix.count_all(map(ix.IndexingMap.identity, sizes)) == [2**64, 2**64 - 1, 2**64 - 2, (2**63 - 1) ** 3]
    with pytest.raises(ix.InvalidMap, match="item 1: "):
        ix.count_all([wide, ix.IndexingMap.undefined()])


@pytest.mark.parametrize("call", [ix.parse_all, ix.simplify_all, ix.compose_all, ix.count_all])
def test_the_position_of_an_item_of_another_type_is_stated(call: Callable[[object], object]) -> None:
    good = {ix.parse_all: "() -> ()", ix.compose_all: (ix.IndexingMap.identity([2]),) * 2}
    item = good.get(call, ix.IndexingMap.identity([2]))
    with pytest.raises(TypeError, match="item 2: expected"):
        call(iter([item, item, 3]))


def test_the_position_of_a_text_that_has_no_characters_is_stated() -> None:
    with pytest.raises(ix.ParseError, match="line 1, column 3: item 1: .* surrogate"):
        ix.parse_all(["() -> ()", "()\ud800 -> ()"])


def test_progress_is_told_and_an_error_in_it_is_raised() -> None:
    maps = [ix.IndexingMap.identity([k + 1]) for k in range(80_000)]
    told: list[tuple[int, int]] = []
    ix.simplify_all(maps + maps, progress=lambda done, total: told.append((done, total)))
    assert [total for _, total in told] == [80_000] * len(told) and len(told) > 1
    assert [done for done, _ in told] == sorted({done for done, _ in told}) and told[-1][0] == 80_000

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ix.simplify_all(maps, progress=stop)


def test_threads_work_side_by_side() -> None:
    failures: list[str] = []

    def work(k: int) -> None:
        for j in range(200):
            m = ix.IndexingMap.parse(f"(d0) -> ((d0 + {j}) floordiv {k + 2}), domain: d0 in [0, {j + k}]").simplify()
            if m.evaluate([j])[0] != (2 * j) // (k + 2):
                failures.append(str(m))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert failures == []
