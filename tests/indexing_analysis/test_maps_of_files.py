"""Maps of programs in files, found by several processes."""

import gzip
import os
import pickle
import signal
from pathlib import Path

import pytest

import indexing as ix
from indexing.processes import by_processes

SLICE = """HloModule m{0}
ENTRY e {{ p = f32[{0},8] parameter(0)
  k = s32[] parameter(1)
  zero = s32[] constant(0)
  ROOT s = f32[1,8] dynamic-slice(p, k, zero), dynamic_slice_sizes={{1,8}} }}
"""
BROKEN = "HloModule b\nENTRY e { ROOT p = f32[4] negate(q) }"


def texts(maps: ix.ProgramMaps) -> tuple[str, dict]:
    about = {
        pair: [(m.exactness, m.reason, m.runtime_values and str(m.runtime_values)) for m in maps[pair]] for pair in maps
    }
    return str(maps), about


@pytest.mark.parametrize("direction", ["output_to_input", "input_to_output"])
def test_files_have_the_maps_that_their_programs_have(tmp_path: Path, direction: str) -> None:
    files = [tmp_path / f"{k}.hlo" for k in range(4, 9)]
    for k, file in enumerate(files, 4):
        file.write_bytes(gzip.compress(SLICE.format(k).encode()) if k % 2 else SLICE.format(k).encode())
    actual = {row.path: row for row in ix.maps(files, direction=direction, workers=2)}
    assert set(actual) == set(map(str, files))
    for file in files:
        row = actual[str(file)]
        assert row.error is None
        alone = ix.maps(ix.hlo.load(file), direction=direction)
        assert texts(row.maps) == texts(alone)
        assert len(row.maps.instructions) == 4 and row.maps.part.is_entry


def test_what_can_not_be_read_is_a_row_with_its_error(tmp_path: Path) -> None:
    good, broken, gone = (tmp_path / name for name in ("good.hlo", "broken.hlo", "gone.hlo"))
    good.write_text(SLICE.format(4))
    broken.write_text(BROKEN)
    actual = {Path(row.path).name: row for row in ix.maps([good, str(broken), gone], workers=2)}
    assert actual["good.hlo"].maps is not None
    assert actual["broken.hlo"].maps is None and actual["gone.hlo"].maps is None
    assert actual["broken.hlo"].error.startswith(f"ParseError: {broken}")
    assert actual["gone.hlo"].error.startswith("FileNotFoundError")


def deadly(number: int) -> str:
    """As a process does that is killed for its memory, or that meets a fault."""
    if number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    if number == 3:
        raise ZeroDivisionError("a fault")
    return f"{number}: none"


def test_a_process_that_dies_takes_one_item_with_it() -> None:
    actual = sorted(by_processes(range(9), 2, deadly, lambda number, error: f"{number}: {error}"))
    assert actual[2].startswith("2: the process that worked on it died, twice")
    assert actual[3] == "3: ZeroDivisionError: a fault"
    assert actual[:2] + actual[4:] == [f"{n}: none" for n in range(9) if n not in (2, 3)]


def test_maps_are_pickled_with_what_was_found() -> None:
    maps = ix.maps(ix.hlo.parse(SLICE.format(5)))
    maps.find()
    len(maps.instructions)
    again = pickle.loads(pickle.dumps(maps))
    assert again._indexings.keys() == maps._indexings.keys() == {0}
    assert texts(again) == texts(maps)
    (value,) = again["result", "p"][0].runtime_values
    assert value.instruction is again.part.instructions["k"]  # of the module that came with it


def test_workers_are_for_files() -> None:
    module = ix.hlo.parse(SLICE.format(5))
    with pytest.raises(TypeError, match="workers are for a list of files; got a Module"):
        ix.maps(module, workers=2)
    with pytest.raises(TypeError, match="workers are for a list of files; got a str"):
        ix.maps("a.hlo", workers=2)
    with pytest.raises(TypeError, match="got one with a Module"):
        ix.maps([module], workers=2)
    with pytest.raises(TypeError, match="files take no arguments"):
        ix.maps(["a.hlo"], 3, workers=2)
    with pytest.raises(ix.IndexingError, match="workers is at least 1; got 0"):
        ix.maps(["a.hlo"], workers=0)
