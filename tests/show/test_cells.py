"""Pictures of accesses, banks and tiles as data, against enumeration from the definitions; and their forms."""

import itertools
import re
from xml.etree import ElementTree

import numpy as np
import pytest

import indexing as ix
from indexing.analysis.memory.banks import BankAccess
from indexing.analysis.memory.transactions import count_banks
from indexing.device.detect import find_device
from indexing.show.banks import bank_picture, words_of_warp
from indexing.show.cells import Cell, Panels, positions_of
from indexing.show.colours import ABSENT, BACK, DARK, EMPTY, INK, dark_rules, in_dark, with_scheme
from indexing.show.fusion_pictures import access_pictures, bank_pictures, stacked
from indexing.show.svg_renderer import cells_svg
from indexing.show.tile_path import Part, covered, follow_tile, tile_picture
from indexing.show.warp import access_picture, touched_elements
from memory_simulator import simulate_banks, warp_lanes

H100 = find_device("h100")
SVG = "{http://www.w3.org/2000/svg}"
TRANSPOSE = "ENTRY e { p = f32[64,64] parameter(0) ROOT t = f32[64,64] transpose(p), dimensions={1,0} }"
BROADCAST = "ENTRY e { p = f32[4] parameter(0) ROOT b = f32[4,8] broadcast(p), dimensions={0} }"


def root(text: str) -> ix.hlo.Instruction:
    return ix.hlo.parse(text).entry.root


def by_key(picture: Panels) -> dict[str, Cell]:
    cells = [cell for panel in picture.panels for cell in panel.cells]
    result = {cell.key: cell for cell in cells}
    assert len(result) == len(cells), "each key is there once"
    return result


# ---- what a warp touches


def test_threads_and_elements_name_each_other() -> None:
    """Thread k reads element (k, 0), which is element 64 k in memory, and writes (0, k)."""
    read, write = access_pictures(root(TRANSPOSE))
    cells = by_key(read)
    for k in range(32):
        assert cells[f"t{k}"].partners == (f"e{64 * k}",) and cells[f"e{64 * k}"].partners == (f"t{k}",)
        assert cells[f"t{k}"].title == f"thread {k}: elements [{k}, 0]"
        assert cells[f"e{64 * k}"].title == f"element [{k}, 0], byte {256 * k}: thread {k}"
    assert read.panels[1].rows == tuple(f"byte {256 * k}" for k in range(32))
    assert read.note == "32 sectors; 128 of their 1024 bytes are asked for"
    assert write.panels[1].rows == tuple(f"byte {32 * k}" for k in range(4))


def test_an_element_that_many_threads_ask_for_names_all_and_what_nobody_asks_for_is_one_cell() -> None:
    cells = by_key(access_pictures(root(BROADCAST))[0])
    assert cells["e3"].partners == tuple(f"t{k}" for k in range(24, 32))
    assert [k for k in range(32) if "e3" in cells[f"t{k}"].partners] == list(range(24, 32))
    nobody = cells["e4"]
    assert nobody.columns == 4 and nobody.partners == ()
    assert nobody.title == "beyond the array, byte 16: moved, asked for by nobody"


@pytest.mark.parametrize(
    "text",
    [TRANSPOSE, BROADCAST, TRANSPOSE.replace("f32", "bf16").replace("64,64", "40,3", 1).replace("64,64", "3,40")],
)
def test_the_cells_of_any_access_are_what_its_map_says(text: str) -> None:
    """Against the map at each lane of the first warp, and the memory order by numpy."""
    part = root(text)
    accesses = ix.coalescing(part)
    assert len(accesses.accesses) == 2
    for access in accesses.accesses:
        shape = part.operands[0].shape if access.operand == 0 else part.shape
        positions = np.arange(np.prod(shape.dimensions)).reshape(shape.dimensions)
        size = access.map.dims[0].upper + 1
        expected: dict[str, set[str]] = {}
        for lane, dims in enumerate(next(warp_lanes(access.map, (size, 1, 1)))):
            for values in itertools.product(*(range(v.lower, v.upper + 1) for v in access.map.ranges)):
                if access.map.contains(list(dims), list(values)):
                    index = tuple(access.map.evaluate(list(dims), list(values)))
                    expected.setdefault(f"t{lane}", set()).add(f"e{positions[index]}")
        cells = by_key(access_picture(access, shape))
        assert {k: set(c.partners) for k, c in cells.items() if k[0] == "t"} == expected
        by_element = {k: set(c.partners) for k, c in cells.items() if k[0] == "e" and c.partners}
        assert by_element == {e: {t for t, of in expected.items() if e in of} for e in set().union(*expected.values())}


def test_a_block_smaller_than_a_warp_and_narrow_elements() -> None:
    part = root("ENTRY e { p = bf16[5] parameter(0) ROOT n = bf16[5] negate(p) }")
    read = ix.coalescing(part).reads[0]
    assert [(t.thread, t.index, t.position) for t in touched_elements(read, part.shape)] == [
        (k, (k,), k) for k in range(5)
    ]


def test_a_tile_is_touched_as_a_whole() -> None:
    read, _ = access_pictures(root(TRANSPOSE), launch=ix.Tiles((8, 16)))
    cells = by_key(read)
    assert {k for k, c in cells.items() if k[0] == "e" and c.partners} == {
        f"e{64 * r + c}" for r in range(16) for c in range(8)
    }
    assert read.note == "16 sectors; 512 of their 512 bytes are asked for"


# ---- banks


def bank_access(stride: int, cell_bytes: int, threads: int = 32) -> BankAccess:
    text = (
        f"(th_x, th_y, th_z, bl_x, bl_y, bl_z) -> (th_x * {stride}), domain: th_x in [0, {threads - 1}], "
        "th_y in [0, 0], th_z in [0, 0], bl_x in [0, 0], bl_y in [0, 0], bl_z in [0, 0]"
    )
    m = ix.IndexingMap.parse(text)
    counted = count_banks(m, (threads, 1, 1), cell_bytes * 8, H100)
    assert counted is not None
    return BankAccess("load", "tile", m, cell_bytes, counted[0])


@pytest.mark.parametrize("cell_bytes", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("stride", [0, 1, 2, 3, 8, 32, 33])
def test_passes_and_conflicts_are_those_of_the_simulator(stride: int, cell_bytes: int) -> None:
    access = bank_access(stride, cell_bytes)
    words = words_of_warp(access, H100)
    _, _, passes, least = simulate_banks(access.map, (32, 1, 1), cell_bytes)
    assert len({w.turn for w in words}) == passes
    assert len({w.turn for w in words if w.conflicts}) == passes - least
    assert all(w.bank == w.word % 32 for w in words)
    assert len({(w.bank, w.turn) for w in words}) == len(words), "a bank serves one word in a pass"
    wanted = {
        (lane, b // 4)
        for lane in range(32)
        for b in range(lane * stride * cell_bytes, (lane * stride + 1) * cell_bytes)
    }
    assert {(lane, w.word) for w in words for lane in w.lanes} == wanted


def test_the_worst_instruction_of_a_loop_is_shown() -> None:
    text = (
        "(th_x, th_y, th_z, bl_x, bl_y, bl_z)[k] -> (th_x * (k + 1)), domain: th_x in [0, 31], th_y in [0, 0], "
        "th_z in [0, 0], bl_x in [0, 0], bl_y in [0, 0], bl_z in [0, 0], k in [0, 3]"
    )
    access = BankAccess("load", "tile", ix.IndexingMap.parse(text), 4, bank_access(1, 4).total)
    assert max(w.turn for w in words_of_warp(access, H100)) + 1 == 4


def test_the_picture_of_banks() -> None:
    picture = bank_picture(bank_access(8, 4), H100)
    cells = by_key(picture)
    assert picture.note == "8 passes over 32 banks for 32 words; 28 words wait for their bank"
    assert cells["w40p1"].title == "bank 8, word 40: lane 5, pass 2 of 8, a conflict"
    assert cells["t5"].partners == ("w40p1",) and cells["w40p1"].partners == ("t5",)
    assert (cells["w40p1"].row, cells["w40p1"].column) == (1, 8)
    colours = {c.row == 0: c.colour for k, c in cells.items() if k[0] == "w"}
    assert colours[True] != colours[False], "conflicts have a colour of their own"
    assert [p.note for p in bank_pictures(ix.hlo.parse(TRANSPOSE).entry)] == [
        "1 pass over 32 banks for 32 words; no conflicts"
    ] * 2


# ---- tiles

SOFTMAX = """
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
f {
  p = f32[8,12] parameter(0)
  z = f32[] constant(0)
  e = f32[8,12] exponential(p)
  s = f32[8] reduce(e, z), dimensions={1}, to_apply=add
  b = f32[8,12] broadcast(s), dimensions={0}
  d = f32[8,12] divide(e, b)
  ROOT r = f32[12,8] transpose(d), dimensions={1,0}
}
ENTRY e { p = f32[8,12] parameter(0) ROOT r = f32[12,8] fusion(p), kind=kInput, calls=f }"""
MOVES = """
f { p = f32[4,6] parameter(0)
    q = f32[24] reshape(p)
    v = f32[24] reverse(q), dimensions={0}
    ROOT s = f32[8] slice(v), slice={[0:24:3]} }
ENTRY e { p = f32[4,6] parameter(0) ROOT r = f32[8] fusion(p), kind=kLoop, calls=f }"""
PADDED = """
f { p = f32[5,4] parameter(0)
    z = f32[] constant(0)
    d = f32[9,6] pad(p, z), padding=2_2x1_1
    ROOT n = f32[9,6] negate(d) }
ENTRY e { p = f32[5,4] parameter(0) ROOT r = f32[9,6] fusion(p), kind=kLoop, calls=f }"""
SCALAR = "ENTRY e { p = f32[] parameter(0) ROOT b = f32[3] broadcast(p), dimensions={} }"


def needed(part: ix.hlo.Instruction, tile: set[tuple[int, ...]]) -> dict[str, set[tuple[int, ...]]]:
    """By enumeration: the elements of each array that some element of the output's tile needs, operand by operand."""
    computation = part.called[0] if part.is_fusion else part.computation
    result = {computation.root.name: tile}
    for i in reversed(computation.instructions.values()):
        if i.is_parameter or i.is_constant or i.name not in result:
            continue
        for operand, indexings in zip(i.operands, ix.output_to_input(i), strict=True):
            for index in result[i.name]:
                for m in (x.map for x in indexings):
                    spans = [range(v.lower, v.upper + 1) for v in m.ranges]
                    result.setdefault(operand.name, set()).update(
                        tuple(m.evaluate(list(index), list(values)))
                        for values in itertools.product(*spans)
                        if m.contains(list(index), list(values))
                    )
    return result


def elements(part: Part) -> set[tuple[int, ...]]:
    return set(itertools.product(*part.indices))


@pytest.mark.parametrize(
    ("text", "sizes", "numbers"),
    [
        (SOFTMAX, (4, 2), (2, 3)),
        (SOFTMAX, (5, 8), (2, 0)),  # the last tile has 2 rows
        (SOFTMAX, (12, 8), (0, 0)),
        (MOVES, (2,), (1,)),
        (MOVES, (8,), (0,)),
        (PADDED, (3, 6), (0, 0)),
        (PADDED, (3, 2), (2, 2)),
        (PADDED, (2, 6), (0, 0)),  # nothing but padding
        (SCALAR, (2,), (1,)),
    ],
)
def test_a_tile_covers_what_its_elements_need(text: str, sizes: tuple[int, ...], numbers: tuple[int, ...]) -> None:
    part = root(text)
    extents = part.shape.dimensions
    spans = [range(n * s, min((n + 1) * s, e)) for n, s, e in zip(numbers, sizes, extents, strict=True)]
    expected = needed(part, set(itertools.product(*spans)))
    actual: dict[str, set[tuple[int, ...]]] = {}
    exact: dict[str, bool] = {}
    for p in follow_tile(part, sizes, numbers).parts:
        actual.setdefault(p.array[0].name, set()).update(elements(p))
        exact[p.array[0].name] = exact.get(p.array[0].name, True) and p.exact
    assert actual.keys() == {k for k in expected if k != "z"}
    for name, of in actual.items():
        assert of == expected[name] if exact[name] else of >= expected[name], name
        picture = tile_picture(part, sizes, numbers)
        shown = {
            (c.row, c.column + k)
            for p in picture.panels
            if p.title.startswith(f"{name}: ")
            for c in p.cells
            for k in range(c.columns)
        }
        flat = {(0, *index)[-2:] for index in of} if name != "p" or text is not SCALAR else {(0, 0)}
        assert shown == flat, "small arrays have a cell for each element"


def test_a_result_that_is_a_constant_is_an_array() -> None:
    (panel,) = tile_picture(root("ENTRY e { ROOT c = f32[] constant(1) }")).panels
    assert panel.title.startswith("c: f32[]")


def test_sizes_that_are_no_tiles_are_refused_with_some_that_are() -> None:
    text = "ENTRY e { p = f32[8,6] parameter(0) ROOT r = f32[48] reshape(p) }"
    with pytest.raises(ix.IndexingError, match=r"sizes \[4\] are no tiles of all that is computed; \[1\] are"):
        tile_picture(root(text), (4,))
    with pytest.raises(ix.IndexingError, match=r"48 \(parallel\); got \[3, 4\]"):
        tile_picture(root(text), (3, 4))
    with pytest.raises(ix.IndexingError, match="there is no tile"):
        tile_picture(root(text), (6,), (8,))
    assert follow_tile(root(text)).sizes == (2,), "of 32, 16, 8 and 4 elements none is a part of rows of 6"


def test_arrows_go_from_operands_to_users() -> None:
    picture = tile_picture(root(SOFTMAX), (4, 2))
    names = [p.title.split(":")[0] for p in picture.panels]
    assert {(names[a], names[b]) for a, b in picture.arrows} == {
        ("p", "e"), ("e", "s"), ("e", "d"), ("s", "b"), ("b", "d"), ("d", "r"),
    }  # fmt: skip
    assert all(picture.panels[a].level < picture.panels[b].level for a, b in picture.arrows)


@pytest.mark.parametrize("sizes", [(), (3,), (3, 4), (2, 3, 4)])
def test_elements_before_a_position_are_counted(sizes: tuple[int, ...]) -> None:
    spans = [range(1, n, 2) for n in sizes]
    places = list(itertools.product(*map(range, sizes)))
    inside = [all(x in s for x, s in zip(place, spans, strict=True)) for place in places]
    for stop in range(len(places) + 1):
        assert covered(spans, sizes, stop) == sum(inside[:stop])


# ---- forms


def test_all_forms_draw_the_same_cells() -> None:
    for picture in (
        access_pictures(root(BROADCAST))[0],
        bank_picture(bank_access(8, 4), H100),
        tile_picture(root(SOFTMAX)),
    ):
        cells = by_key(picture)
        drawn = {e.get("data-key"): e for e in ElementTree.fromstring(picture.svg()).iter(SVG + "rect")}
        assert {k for k in drawn if k} == set(cells)
        for key, cell in cells.items():
            assert drawn[key].find(SVG + "title").text == cell.title and drawn[key].get("fill") == cell.colour
            assert (drawn[key].get("data-with") or "").split() == list(cell.partners)
        patches = {p.get_gid(): p for p in picture.figure().axes[0].patches if p.get_gid()}
        assert set(patches) == set(cells)
        for key, patch in patches.items():
            x, y, width = (float(drawn[key].get(k)) for k in ("x", "y", "width"))
            assert (patch.get_x(), patch.get_y(), patch.get_width()) == (x, y, width)
        assert picture.png().startswith(b"\x89PNG")
        assert picture._repr_html_() == picture.svg()


def test_panels_and_cells_do_not_overlap() -> None:
    for picture in (stacked(access_pictures(root(TRANSPOSE)), "both"), tile_picture(root(SOFTMAX))):
        places = positions_of(picture)
        for k, a in enumerate(places.panels):
            assert a.left >= 0 and a.left + a.width <= places.across and a.top + a.height <= places.down
            for b in places.panels[:k]:
                apart = a.left >= b.left + b.width or b.left >= a.left + a.width
                assert apart or a.top >= b.top + b.height or b.top >= a.top + a.height
        for panel in picture.panels:
            squares = [(c.row, c.column + k) for c in panel.cells for k in range(c.columns)]
            assert len(set(squares)) == len(squares)
            assert all(r < len(panel.rows) and c < len(panel.columns) for r, c in squares)


def test_names_of_programs_are_no_markup() -> None:
    picture = tile_picture(root(TRANSPOSE))
    hostile = Panels("<script>", "]]>&", picture.panels)
    drawn = ElementTree.fromstring(cells_svg(hostile))
    assert next(e.text for e in drawn.iter(SVG + "text")) == "<script>" and not list(drawn.iter(SVG + "script"))


# ---- maps


@pytest.mark.parametrize(
    "text",
    [
        "(d0, d1) -> (d1 floordiv 2, d0 * 2 + d1 mod 2), domain: d0 in [0, 5], d1 in [0, 7]",
        "(d0)[s0] -> (d0 * 2 + s0 - 3), domain: d0 in [0, 6], s0 in [0, 2], d0 + s0 in [1, 7]",
        "() -> (), domain: ",
        "(d0) -> (), domain: d0 in [2, 4]",
    ],
)
def test_points_and_elements_of_a_map_name_each_other(text: str) -> None:
    m = ix.IndexingMap.parse(text)
    spans = [range(v.lower, v.upper + 1) for v in (*m.dims, *m.ranges)]
    pairs = set()
    for point in itertools.product(*spans):
        dims, symbols = list(point[: m.num_dims]), list(point[m.num_dims :])
        if m.contains(dims, symbols):
            pairs.add((tuple(dims), tuple(m.evaluate(dims, symbols))))
    picture = ix.show.map_picture(m)
    cells = by_key(picture)
    drawn = {(k, other) for k, cell in cells.items() if k[0] == "d" for other in cell.partners}
    name = "_".join
    assert drawn == {("d" + name(map(str, d)), "r" + name(map(str, r))) for d, r in pairs}
    assert {(b, a) for a, b in drawn} == {(k, o) for k, c in cells.items() if k[0] == "r" for o in c.partners}
    numbers = {tuple(map(int, k[1:].split("_"))) if k[1:] else (): c.text for k, c in cells.items() if k[0] == "d"}
    assert list(numbers.values()) == [str(k) for k in range(len(numbers))], "points are counted in order"
    assert "not all" not in picture.note and picture.note.startswith(f"{len(numbers)} point")


def test_what_is_left_out_of_a_large_map_is_told() -> None:
    picture = ix.show.map_picture(ix.IndexingMap.parse("(d0) -> (d0 * 7), domain: d0 in [0, 99999]"))
    assert picture.note.endswith("; not all are drawn") and all(len(p.cells) <= 48 for p in picture.panels)


# ---- scales and colours


def test_a_tile_has_the_same_scale_in_all_arrays_and_numbers_on_its_axes() -> None:
    text = "ENTRY e { p = f32[512,256] parameter(0) ROOT t = f32[256,512] transpose(p), dimensions={1,0} }"
    picture = tile_picture(root(text), (64, 32))
    assert "a cell is 64 rows by 32 columns" in picture.note
    of, to = ({p.title.split(":")[0]: p for p in picture.panels}[name] for name in ("p", "t"))
    assert (len(of.rows), len(of.columns), len(to.rows), len(to.columns)) == (8, 8, 4, 16)
    assert of.rows == tuple(str(64 * k) for k in range(8)) and to.columns[:5] == ("0", "", "", "", "128")
    assert [(c.row, c.column, c.columns) for c in to.cells] == [(0, 0, 1)]
    assert [(c.row, c.column, c.columns) for c in of.cells] == [(0, 0, 2)], "half of a row of cells"


def test_in_the_dark_nothing_is_white_and_texts_differ_from_the_ground() -> None:
    picture = cells_svg(tile_picture(root(TRANSPOSE)))
    light, dark = (set(re.findall(r'(?:fill|stroke)="(#[0-9a-f]{6})"', text)) for text in (picture, in_dark(picture)))
    assert light & set(DARK) and not dark & set(DARK), "each has its counterpart"
    brightness = {c: sum(int(c[k : k + 2], 16) for k in (1, 3, 5)) / 765 for c in {*DARK, *DARK.values()}}
    assert all(brightness[DARK[c]] < 0.35 for c in (BACK, EMPTY, ABSENT)) and brightness[DARK[INK]] > 0.8
    rules = dark_rules(".drawn")
    drawn = ":is(.drawn, .drawn *)"  # a picture that states the colour of its texts, too
    assert all(f'{drawn}[fill="{of}"] {{ fill: {to}; }}' in rules for of, to in DARK.items())
    assert ElementTree.fromstring(with_scheme(picture)).get("data-scheme") == "both"
