"""`tune`: the fastest plan of a kernel by measurement. Results are stored, and looked up by later calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from indexing.arguments import integer, of_type, one_of, optional, takes
from indexing.device.detect import chosen_device, detected_device
from indexing.device.record import Device, DeviceLike
from indexing.device.table import CPU
from indexing.errors import IndexingError
from indexing.hlo import Computation, Instruction, Module
from indexing.hlo.program_like import or_function, part_of_program
from indexing.lazy import np
from indexing.runtime.identity import HOST_DIALECT, device_identity, processor_identity
from indexing.runtime.plan_store import Store
from indexing.tuning.conditions import Conditions
from indexing.tuning.search import SAMPLERS, Sampler
from indexing.tuning.stored_searches import Request, store_kernels, stored_answers
from indexing.tuning.trials import Tuning, TuningTarget

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indexing.hlo import Program
    from indexing.hlo.program_like import Part
    from indexing.tuning.fusion_search import Progress

__all__ = ["Tuning", "tune"]


@overload
def tune(
    fusion: Part,
    budget: int = ...,
    seed: int = ...,
    device: DeviceLike = ...,
    sampler: Sampler = ...,
    store: str | Path | None = ...,
    ray: str | None = ...,
    progress: Progress | None = ...,
    seconds: float | None = ...,
    warm: bool = ...,
    inputs: Sequence[NDArray[Any]] | None = ...,
) -> Tuning: ...
@overload
def tune(
    fusion: Module | str,
    budget: int = ...,
    seed: int = ...,
    device: DeviceLike = ...,
    sampler: Sampler = ...,
    store: str | Path | None = ...,
    ray: str | None = ...,
    progress: Progress | None = ...,
    seconds: float | None = ...,
    warm: bool = ...,
) -> list[Tuning]: ...
@overload
def tune(
    function: Callable[..., object],
    /,
    *arguments: object,
    budget: int = ...,
    seed: int = ...,
    device: DeviceLike = ...,
    sampler: Sampler = ...,
    store: str | Path | None = ...,
    ray: str | None = ...,
    progress: Progress | None = ...,
    seconds: float | None = ...,
    warm: bool = ...,
) -> list[Tuning]: ...
@or_function
@takes(
    budget=integer,
    seed=integer,
    device=optional(of_type(Device, str)),
    sampler=one_of(*SAMPLERS),
    store=optional(of_type(str, Path)),
    ray=optional(of_type(str)),
    seconds=optional(of_type(int, float)),
    warm=of_type(bool),
)
def tune(
    fusion: Program,
    budget: int = 32,
    seed: int = 0,
    device: DeviceLike = None,
    sampler: Sampler = "predicted",
    store: str | Path | None = None,
    ray: str | None = None,
    progress: Progress | None = None,
    seconds: float | None = None,
    warm: bool = False,
    inputs: Sequence[NDArray[Any]] | None = None,
) -> Tuning | list[Tuning]:
    """The fastest of `budget` plans of a fusion's kernel, measured on this machine. For a module, or a JAX
    function and its arguments, the fastest plan of each kernel that `compile` makes of it and that has more than one plan.

    `device` is "cpu", or the name of a GPU; None means a GPU if there is one. The default plan is tried first, then those that
    the sampler proposes, for at most `seconds` of each kernel; plans that cannot be launched or are predicted to be hopeless
    are never compiled. Each kernel's results are compared with the reference before it is timed. In the end the fastest plans
    are compared with the default one in turns: `best` is another plan only if it is faster for certain (`gain`).

    Arguments are made by `seed`, or are the `inputs` of a single fusion; they are not in the caches when a kernel starts,
    unless `warm`. Results are kept in the store (by default in the user's data folder): an interrupted search continues from
    it, and `compile(..., tuned=True)` uses its plans. With `ray`, the nodes of the cluster at that address measure ("local"
    starts one); they have devices of one kind, and the store remains here. `progress` is called with the number of plans that
    are done, and the number of all.

    Raises IndexingError for a store that cannot be used, for inputs that don't fit, or if the device is not available,
    UnsupportedOp without the cluster.
    """
    if budget < 1:
        raise IndexingError(f"budget is a number of plans, at least 1; got {budget}")
    if seconds is not None and not seconds >= 0:
        raise IndexingError(f"seconds is a time, at least 0; got {seconds}")
    program, is_fusion = part_of_program(fusion, "tune: fusion"), isinstance(fusion, Instruction | Computation)
    if hasattr(inputs, "dtype"):
        raise TypeError("tune: inputs is an array; expected a list of arrays, one for each parameter")
    if inputs is not None and not is_fusion:
        raise IndexingError("inputs are those of one kernel: give a fusion or a computation, not a program")
    chosen, known = device_here() if device is None else chosen_device(device), Store(store)
    conditions = Conditions(seed, warm, None if inputs is None else tuple(map(np.asarray, inputs)))
    target, request = TuningTarget(program, is_fusion, chosen), Request(sampler, budget, seconds, chosen, conditions)
    tunings = _stored(known, target, request) if ray is None else None
    if tunings is None:
        tunings = _searched(known, target, request, ray, progress)
    return tunings[0] if is_fusion else tunings


def _stored(store: Store, target: TuningTarget, request: Request) -> list[Tuning] | None:
    return stored_answers(store, target, _identity(target.device.dialect), request) if store.path.exists() else None


def _identity(dialect: str) -> str:
    """The identity of the device that runs kernels of a dialect. Raises as `device_of_dialect`."""
    if dialect == HOST_DIALECT:
        return processor_identity()  # which no device has to be opened for
    from indexing.executable.devices import device_of_dialect

    return device_identity(device_of_dialect(dialect))


def _searched(
    store: Store, target: TuningTarget, request: Request, ray: str | None, progress: Progress | None
) -> list[Tuning]:
    from indexing.tuning.fusion_search import searches
    from indexing.tuning.search import check_sampler

    check_sampler(request.sampler)
    tunings = searches(store, target, request, ray, progress)
    if ray is None:
        store_kernels(store, target, _identity(target.device.dialect), tunings)
    return tunings


def device_here() -> Device:
    """The device of this machine that is measured: the first GPU if there is one, else the processor."""
    return detected_device() or replace(CPU, origin="detected")
