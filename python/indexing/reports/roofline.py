"""The roofline of a kernel: the operations a second that its intensity, and the units that compute it, allow at most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from indexing.device.record import Device
from indexing.hlo import Instruction
from indexing.model.instruction_time import product_of
from indexing.model.work_time import scalar_rate
from indexing.ops.registry import traits_of


def attainable_flops(i: Instruction, device: Device, intensity: float) -> float:
    """The operations a second of an instruction's kernel, of so many for each byte, if memory or arithmetic were all."""
    return min(peak_of(i, device)[1], intensity * device.memory.bandwidth)


def peak_of(i: Instruction, device: Device) -> tuple[str, float]:
    """The units that compute an instruction, with the element type, and their operations a second."""
    computed = _computed(i)
    products = [p for p in map(product_of, computed) if p is not None]
    if products and products[0].element_type in device.rates.matrix:
        kind = products[0].element_type
        return f"matrix units, {kind}", device.matrix_flops(kind)
    kind = products[0].element_type if products else _usual_type(computed)
    return f"scalar units, {kind}", scalar_rate(device, kind)


def _computed(i: Instruction) -> Sequence[Instruction]:
    """The instructions of a fusion, or those that a call of a library stands for."""
    if i.is_fusion:
        return i.called[0].listed
    expansion = traits_of(i).expansion
    meaning = expansion(i) if expansion is not None else None
    return (i,) if meaning is None else meaning.listed


def _usual_type(computed: Sequence[Instruction]) -> str:
    """The type of most elements that are computed."""
    elements: Counter[str] = Counter()
    for i in computed:
        if i.shape.is_array and not i.is_parameter and not traits_of(i).has_no_compute:
            elements[i.shape.element_type] += max(i.shape.element_count, 1)
    return max(elements, key=lambda kind: elements[kind], default="f32")
