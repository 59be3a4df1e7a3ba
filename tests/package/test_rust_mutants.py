"""The mutants of the core that are said to change no answer: each has a place in its file, and a reason."""

import re

import mutants_rust as mutants


def test_survivors_name_functions_of_the_core_and_have_reasons() -> None:
    source = mutants.ROOT / mutants.SOURCE
    files = {str(f.relative_to(source)) for place in mutants.PLACES for f in source.glob(place)}
    for name, reason in mutants.known_survivors().items():
        file, function, _ = name.split(": ", 2)
        assert file in files, name
        assert re.search(rf"fn {function.rpartition('::')[2]}\b", (source / file).read_text()), name
        assert len(reason.split()) > 3, name


def test_equal_changes_of_a_function_are_numbered() -> None:
    row = "{}\trust/core/src/interval.rs\t{}\tplus\ta + b -> a - b"
    actual = list(mutants.named([row.format(1, 7), row.format(2, 9)]))
    assert [m.name for m in actual] == ["interval.rs: plus: a + b -> a - b", "interval.rs: plus: a + b -> a - b (2)"]
    assert [m.place for m in actual] == ["rust/core/src/interval.rs:7", "rust/core/src/interval.rs:9"]
