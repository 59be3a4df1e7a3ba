"""Answers kept with a module: each found once, by the function and all its arguments, and freed with the module."""

import gc
import weakref

import indexing as ix
from indexing.hlo import Computation, Instruction
from indexing.hlo.module_cache import cached_by_signature, cached_on_module

TEXT = "ENTRY f { p = f32[8] parameter(0) ROOT n = f32[8] negate(p) }"


class Answer:
    """Something that can be watched."""


def test_each_question_is_asked_once() -> None:
    asked: list[tuple[object, ...]] = []

    @cached_on_module
    def counted(computation: Computation, a: int, b: int = 0) -> int | None:
        asked.append((computation, a, b))
        return a + b or None

    @cached_on_module
    def other(computation: Computation, a: int) -> str:
        return "other"

    one, two = ix.hlo.parse(TEXT).entry, ix.hlo.parse(TEXT).entry
    for _ in range(2):
        assert (counted(one, 1), counted(one, 2), counted(one, 1, b=5), counted(two, 1)) == (1, 2, 6, 1)
        assert counted(one, 0) is None and other(one, 1) == "other"
    assert asked == [(one, 1, 0), (one, 2, 0), (one, 1, 5), (two, 1, 0), (one, 0, 0)]


def test_equal_instructions_have_one_answer() -> None:
    asked: list[str] = []

    @cached_by_signature
    def noted(instruction: Instruction, more: int) -> int:
        asked.append(instruction.name)
        return more

    text = "ENTRY f { p = f32[8] parameter(0) n = f32[8] negate(p) m = f32[8] negate(p) ROOT a = f32[8] abs(n) }"
    i = ix.hlo.parse(text).entry.instructions
    assert [noted(i[name], 1) for name in "nma"] == [1, 1, 1] and noted(i["m"], 2) == 2
    assert asked == ["n", "a", "m"]


def test_answers_leave_with_their_module() -> None:
    @cached_on_module
    def answer(computation: Computation) -> Answer:
        return Answer()

    computation = ix.hlo.parse(TEXT).entry
    watched = weakref.ref(answer(computation))
    gc.collect()
    assert watched() is not None
    del computation
    gc.collect()
    assert watched() is None
