"""What two compilers make of one program: which kernels became which, whatever their names are."""

import json

import pytest

import indexing as ix
from indexing.cli import main
from indexing.reports.comparison import Comparison


def metadata(name: str, line: int) -> str:
    return f', metadata={{op_name="jit(f)/{name}" source_file="m.py" source_line={line}}}'


def fusion(name: str, *operations: tuple[str, str, int], size: int = 4096) -> str:
    """A computation that applies operations one after the other, each with its name and line in the source."""
    lines = [f"v0 = f32[{size}] parameter(0)"]
    for k, (opcode, called, line) in enumerate(operations, 1):
        root = "ROOT " if k == len(operations) else ""
        lines.append(f"{root}v{k} = f32[{size}] {opcode}(v{k - 1}){metadata(called, line) if line else ''}")
    return f"{name} {{\n  " + "\n  ".join(lines) + "\n}\n"


def program(*kernels: tuple[str, str]) -> ix.hlo.Module:
    """Fusions, each with its computation, that pass an array on."""
    parts = [text.replace(f"{name} {{", f"in_{name} {{", 1) for name, text in kernels]
    calls = [
        f"  {'ROOT ' if k == len(kernels) - 1 else ''}{name} = f32[4096] fusion({kernels[k - 1][0] if k else 'x'}), "
        f"kind=kLoop, calls=in_{name}"
        for k, (name, _) in enumerate(kernels)
    ]
    return ix.hlo.parse("".join(parts) + "ENTRY e {\n  x = f32[4096] parameter(0)\n" + "\n".join(calls) + "\n}")


EXP, SIN, NEG, TANH = ("exponential", "exp", 3), ("sine", "sin", 4), ("negate", "neg", 5), ("tanh", "tanh", 6)


def kernels(*of: tuple) -> ix.hlo.Module:
    return program(*((name, fusion(name, *operations)) for name, *operations in of))


def names(actual: Comparison) -> list[tuple[list[str], list[str]]]:
    return [([f.name for f in r.before], [f.name for f in r.after]) for r in actual.replaced]


def test_fusions_that_were_merged_are_told_with_what_they_became() -> None:
    before = kernels(("a", EXP), ("b", SIN), ("c", NEG))
    comparison = ix.compare(before, kernels(("z", EXP, SIN), ("y", NEG)))
    assert names(comparison) == [(["a", "b"], ["z"])]
    assert [(a.name, b.name) for a, b in comparison.same] == [("c", "y")] and comparison.changed == ()
    text = str(comparison)
    array = 4096 * 4
    assert "2 kernels, 65.5 kB in " in text and "-> 1, 32.8 kB in " in text and "m.py:3" in text
    less = f"-{2 * array / 1000:.3g} kB"
    assert f"us; memory moves {less}, loads and stores {less}, of which +0 B are wasted; 1 kernel is the same" in text
    assert "lost, and nothing like it after: 0" in text and "made, and nothing like it before: 0" in text


def test_a_fusion_that_was_split_and_one_cut_elsewhere() -> None:
    comparison = ix.compare(kernels(("a", EXP, SIN)), kernels(("y", EXP), ("z", SIN)))
    assert names(comparison) == [(["a"], ["y", "z"])]
    comparison = ix.compare(kernels(("a", EXP, SIN, NEG), ("b", TANH)), kernels(("y", EXP), ("z", SIN, NEG, TANH)))
    assert names(comparison) == [(["a", "b"], ["y", "z"])]


def test_a_kernel_that_became_one_other_is_changed() -> None:
    comparison = ix.compare(kernels(("a", EXP, SIN)), kernels(("z", EXP, SIN, ("negate", "sin", 4))))
    assert [(a.name, b.name) for a, b in comparison.changed] == [("a", "z")]
    assert (comparison.replaced, comparison.lost, comparison.made) == ((), (), ())


def test_equal_layers_are_paired_in_their_order() -> None:
    """The operations of all layers stand on the same lines: what tells them apart is where they are."""
    before = kernels(*((f"a{k}", EXP, SIN) for k in range(6)))
    after = kernels(*((f"{'yz'[j]}{k}", (EXP, SIN)[j]) for k in range(6) for j in (0, 1)))
    assert sorted(names(ix.compare(before, after))) == [([f"a{k}"], [f"y{k}", f"z{k}"]) for k in range(6)]


def test_what_has_nothing_like_it_is_lost_and_made() -> None:
    comparison = ix.compare(kernels(("a", EXP), ("b", SIN)), kernels(("y", EXP), ("z", TANH)))
    assert ([f.name for f in comparison.lost], [f.name for f in comparison.made]) == (["b"], ["z"])
    assert comparison.replaced == () and "nothing like it after: 1" in str(comparison)


def test_programs_without_metadata_are_matched_by_operations_and_shapes() -> None:
    bare = [(opcode, "", 0) for opcode in ("exponential", "sine", "negate")]
    comparison = ix.compare(kernels(("a", bare[0], bare[1]), ("b", bare[2])), kernels(("y", *bare)))
    assert names(comparison) == [(["a", "b"], ["y"])]


def test_versions_that_name_functions_and_scopes_otherwise() -> None:
    """One says `jit(f)/jit(main)/exp`, the other `jit(f)/exp`."""
    before = kernels(("a", EXP), ("b", SIN))
    older = ix.hlo.parse(str(before).replace("jit(f)/", "jit(f)/jit(main)/"))
    assert names(ix.compare(older, kernels(("z", EXP, SIN)))) == [(["a", "b"], ["z"])]


def test_the_command_gives_the_same_as_json(tmp_path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [tmp_path / "before.hlo", tmp_path / "after.hlo"]
    for file, module in zip(files, (kernels(("a", EXP), ("b", SIN)), kernels(("z", EXP, SIN))), strict=True):
        file.write_text(str(module))
    assert main(["compare", *map(str, files), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["replaced"] == [{"before": ["a", "b"], "after": ["z"]}]
    assert (data["lost"], data["made"], data["changed"]) == (["a", "b"], ["z"], [])


def test_equal_kernels_that_were_lost_stand_together_and_the_longest_first() -> None:
    """Two equal kernels of one operation, and one that takes longer than either, but less than both."""
    before = kernels(("a", EXP), ("b", EXP), ("c", SIN, TANH, EXP), ("d", NEG))
    text = str(ix.compare(before, kernels(("z", ("sign", "sign", 9)))))
    lost = text[text.index("lost, ") : text.index("made, ")].splitlines()[1:]
    assert [line.split("  f32")[0].strip() for line in lost[:1]] == ["a and 1 like it (b)"] and len(lost) == 3


def test_what_changed_by_its_operation() -> None:
    head = "HloModule m, is_scheduled=true\n"
    of = head + 'ENTRY e {{ p = f32[8,8] parameter(0) ROOT r = f32[8,8]{} {}(p), metadata={{op_name="jit(f)/act"}} }}'
    before, after = (ix.hlo.parse(of.format("", op)) for op in ("tanh", "sine"))
    ((a, b),) = ix.compare(before, after).changed
    assert (a.opcode, b.opcode) == ("tanh", "sine")
    lines = str(ix.compare(before, after)).splitlines()
    assert lines[4] == "changed: 1" and lines[6].startswith("    now r  f32[8,8] sine")


def test_equal_kernels_are_paired_one_by_one() -> None:
    text = "HloModule m, is_scheduled=true\nENTRY e { p = f32[8] parameter(0) a = f32[8] negate(p) ROOT b = f32[8] negate(a) }"
    once = "HloModule m, is_scheduled=true\nENTRY e { p = f32[8] parameter(0) ROOT a = f32[8] negate(p) }"
    comparison = ix.compare(ix.hlo.parse(text), ix.hlo.parse(once))
    assert (len(comparison.same), len(comparison.lost), len(comparison.made)) == (1, 1, 0)
    text = "ENTRY e {{ p = s32[2] parameter(0) c = s32[2] constant({{1, {}}}) ROOT a = s32[2] add(p, c) }}"
    constants = [text.format(k) for k in (2, 3)]
    assert len(ix.compare(*map(ix.hlo.parse, constants)).same) == 1
