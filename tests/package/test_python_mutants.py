"""The faults that are put into formulas: some are found."""

import ast

import pytest

import python_mutants as mutants

KNOWN = (
    "size - 1 -> size + 1",
    "len(inverse.dims) + len(inverse.ranges) -> len(inverse.dims) - len(inverse.ranges)",
    "v not in named -> v in named",
)


@pytest.mark.parametrize("module", mutants.MODULES)
def test_every_mutant_is_another_program(module: str) -> None:
    actual = list(mutants.mutants(module))
    assert actual
    source = ast.unparse(ast.parse((mutants.PACKAGE / module).read_text()))
    for mutant in actual[:: max(len(actual) // 8, 1)]:
        changed = mutants.source_of(mutant)
        assert changed != source
        compile(changed, module, "exec")


@pytest.mark.parametrize("change", KNOWN)
def test_faults_of_the_inverse_are_found(change: str) -> None:
    actual = mutants.mutants("indexing_analysis/generic_inverse.py")
    (mutant,) = [m for m in actual if m.change.endswith(f": {change}")]
    assert mutants.is_found(mutant)


def test_equivalent_mutants_exist() -> None:
    names = {m.name for module in mutants.MODULES for m in mutants.mutants(module)}
    assert set(mutants.EQUIVALENT) <= names


def test_a_program_without_a_fault_passes() -> None:
    assert not mutants.fails(str(mutants.PACKAGE.parent), ["tests/indexing_analysis/test_generic_inverse.py"])
