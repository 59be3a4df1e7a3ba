"""The tests of a file ask for the maps of the opcodes that have no sample with a value and are left to that file."""

from collections.abc import Callable, Iterator

import pytest

import indexing as ix
from opcode_samples import ELSEWHERE


@pytest.fixture(autouse=True, scope="module")
def _opcodes_left_to_the_file(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fails behind the last test of a file if an opcode was not asked for, unless only some of the tests run."""
    expected = ELSEWHERE.get(request.path.name, frozenset())
    asked: set[str] = set()

    def noting(function: Callable[..., object]) -> Callable[..., object]:
        def ask(subject: object, *arguments: object, **named: object) -> object:
            asked.add(getattr(subject, "opcode", ""))
            return function(subject, *arguments, **named)

        return ask

    with pytest.MonkeyPatch.context() as patch:
        for name in ("output_to_input", "input_to_output"):
            patch.setattr(ix, name, noting(getattr(ix, name)))
        yield
    chosen = request.config.getoption("keyword") or any("::" in a for a in request.config.args)
    if not chosen and not request.session.testsfailed:
        assert sorted(expected - asked) == [], f"{request.path.name} has no case of these opcodes"
