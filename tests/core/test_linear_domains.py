"""Maps whose constraints are linear equalities and inequalities in few variables: simplified, point by point the same."""

import numpy as np
import pytest

import indexing as ix

NAMES = ["d0", "d1", "s0", "rt0"]


def linear(rng, most=3):
    terms = [
        f"{int(rng.choice([-2, -1, -1, 1, 1, 2, 3]))} * {v}"
        for v in rng.permutation(NAMES)[: rng.integers(1, most + 1)]
    ]
    return " + ".join(terms) + f" + {int(rng.integers(-2, 3))}"


def random_map(seed):
    rng = np.random.default_rng(seed)
    boxes = [f"{v} in [{(low := int(rng.integers(-1, 2)))}, {low + int(rng.integers(0, 4))}]" for v in NAMES]
    constraints = []
    for _ in range(rng.integers(1, 5)):
        e, low = linear(rng), int(rng.integers(-3, 3))
        if rng.random() < 0.2:
            e = f"({e}) mod {int(rng.integers(2, 4))}"
            low = 0
        constraints.append(f"{e} in [{low}, {low + int(rng.choice([0, 0, 0, 1, 3]))}]")
    results = [linear(rng), f"({linear(rng)}) floordiv {int(rng.integers(2, 4))}"]
    return f"(d0, d1)[s0]{{rt0}} -> ({', '.join(results)}), domain: {', '.join([*boxes, *constraints])}"


def table(m, box):
    """The map's results at the points of a box that lie in its domain."""
    if m.is_known_empty:
        return {}
    keep = np.ones(box[0].size, bool)
    for values, variable in zip(box, [*m.dims, *m.ranges, *m.runtimes], strict=True):
        keep &= (values >= variable.interval.lower) & (values <= variable.interval.upper)
    for e, interval in m.constraints:
        at = np.broadcast_to(e.evaluate(box), keep.shape)
        keep &= (at >= interval.lower) & (at <= interval.upper)
    results = [np.broadcast_to(e.evaluate(box), keep.shape)[keep] for e in m.results]
    points = np.stack([v[keep] for v in box], axis=1)
    return {tuple(p): tuple(int(r[k]) for r in results) for k, p in enumerate(points.tolist())}


@pytest.mark.parametrize("seed", range(150))
def test_simplified_means_the_same_on_a_linear_domain(seed):
    text = random_map(seed)
    m = ix.IndexingMap.parse(text)
    box = [g.reshape(-1) for g in np.meshgrid(*[np.arange(-2, 6)] * len(NAMES), indexing="ij")]
    simple = m.simplify()
    assert table(simple, box) == table(m, box), (text, str(simple))


def test_an_equality_does_not_use_itself_up():
    m = ix.IndexingMap.parse(
        "(d0){rt0, rt1, rt2} -> (0), domain: d0 in [0, 2], rt0 in [0, 4], rt1 in [0, 4], rt2 in [0, 2], "
        "d0 - rt1 + rt2 in [0, 0], rt1 - rt0 in [0, 0]"
    )
    assert m.equivalent(m.simplify())
    assert m.count() == m.simplify().count() == 9
