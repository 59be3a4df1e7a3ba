"""Reasons why the loops of a CPU's kernel fetch more of an array than they must, and remedies, as sentences.

What is fetched beyond that has three parts: bytes of lines that leave the cache before they are used, lines that are fetched
again, and one line more for each run of adjacent lines (see `model/loop_accesses.py`). The greatest part gives the sentence.
"""

from __future__ import annotations

from indexing.hlo.layout import major_to_minor, strides_of
from indexing.kernels.ir.types import storage_bytes
from indexing.model.loop_accesses import Fetches
from indexing.reports.lines import bytes_text
from indexing.reports.reasons import AccessedArray, only_moves, own_kernel, reordered_by, times_text, turned_layout

__all__ = ["reasons_of_loops"]


def reasons_of_loops(array: AccessedArray, fetches: Fetches, line: int) -> tuple[str, str]:
    """The reason why lines of so many bytes move more than the array's bytes that must, and a remedy."""
    if array.ideal_bytes < line:
        return f"its {array.ideal_bytes} B are less than a cache line ({line} B), which moves whole", ""
    unused, again = fetches.lines * line - fetches.used, fetches.used - array.ideal_bytes
    more = fetches.runs * line
    if unused >= line and unused + more >= again:
        return _scattered(array, fetches, line)
    if again >= more:
        return _fetched_again(array, fetches.used / array.ideal_bytes)
    length = bytes_text(fetches.used / fetches.runs)
    return f"loops {array.verb} runs of {length}, and the processor fetches a line ({line} B) more for each", ""


def _scattered(array: AccessedArray, fetches: Fetches, line: int) -> tuple[str, str]:
    used = f"of a cache line's {line} B, {fetches.used / fetches.lines:.3g} are used while it is cached"
    if not fetches.step:
        decided = f"which elements loops {array.verb} depends on values that are known at run time only"
        return f"{decided}; {used}", f"indices in ascending order, or rows of at least a cache line ({line} B)"
    if fetches.step == _element_bytes(array):
        wider = f"rows of a multiple of {line // fetches.step} elements, by padding"
        return f"loops {array.verb} runs of less than a cache line, apart from each other; {used}", wider
    apart = f"the inner loop {array.verb}s elements {fetches.step} B apart"
    along, minor = _dimension(array, fetches.step), major_to_minor(array.shape)[-1:]
    if along is None or along in minor:
        wider = f"a layout of `{array.name}` in which what loops {array.verb} one after another lies side by side"
        return f"{apart}{reordered_by(array)}; {used}", wider
    where = f" (along dimension {along} of {array.shape}, memory goes along dimension {minor[0]}){reordered_by(array)}"
    remedies = turned_layout(array, [along]), own_kernel(array)
    return f"{apart}{where}; {used}", ", or ".join(filter(None, remedies))


def _element_bytes(array: AccessedArray) -> int:
    return storage_bytes(array.shape.element_type)


def _dimension(array: AccessedArray, step: int) -> int | None:
    """The dimension along which elements are so many bytes apart: the outermost whose neighbours are no further."""
    strides = strides_of(array.shape)
    apart = {d: s for d, s in enumerate(strides) if array.shape.dimensions[d] > 1 and s * _element_bytes(array) <= step}
    return max(apart, key=apart.__getitem__, default=None)


def _fetched_again(array: AccessedArray, times: float) -> tuple[str, str]:
    why = f"loops {array.verb} each element {times_text(times)}, and other lines take the place of its line in between"
    if array.operand is not None and only_moves(array.instruction):
        return why, f"a fusion of `{array.called}` with what reads it, which then reads `{array.name}`"
    return why, ""
