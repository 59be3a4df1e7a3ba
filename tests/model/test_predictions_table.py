"""Predictions as text: the best plans first, with units."""

import indexing as ix

NEGATE = "ENTRY f { p = f32[4096,256] parameter(0) ROOT n = f32[4096,256] negate(p) }"


def test_the_best_plans_are_a_table_with_units() -> None:
    prediction = ix.predict(ix.hlo.parse(NEGATE).entry, device="h100")
    head, *rows = prediction.cells()
    assert head[-6:] == ["time (us)", "limit", "moved (bytes)", "sectors", "bank conflicts", "occupancy (%)"]
    assert head[:-6] == list(prediction.plans) and len(rows) == 10
    times = [float(row[-6]) for row in rows]
    assert times == sorted(times) and times[0] == float(f"{prediction.time.min() * 1e6:.4g}")
    assert [[int(cell) for cell in row[:-6]] for row in rows] == [list(p.values()) for p in prediction.best(10)]
    assert rows[0][-4] == f"{2 * 4096 * 256 * 4:,}", "bytes, written out"
    lines = str(prediction).splitlines()
    assert lines[0].split("  ")[-1].strip() == "occupancy (%)"
    assert lines[-1] == f"the best 10 of {len(prediction)} plans on {prediction.device}"


def test_a_few_plans_are_all_shown() -> None:
    prediction = ix.predict(ix.hlo.parse(NEGATE).entry, {"block_size": [128, 256]}, device="h100")
    assert len(str(prediction).splitlines()) == 3 and repr(prediction).startswith(
        "<predictions for 2 plans of a loop kernel"
    )
