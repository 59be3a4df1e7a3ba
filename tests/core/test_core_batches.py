"""Many maps at once: in order, equal texts as one map, in threads."""

import threading

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
