"""A search of Kernel Tuner for the plans of a fusion: the arguments of its function `tune_kernel`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import TYPE_CHECKING, Any

from indexing.kernels import emit_fused, knobs_of
from indexing.lazy import np
from indexing.model.prediction import predict
from indexing.tuning.measurement import TOLERANCES, arguments_and_results, in_memory

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indexing.device.record import Device
    from indexing.hlo import Computation
    from indexing.kernels.kernel import Argument, Kernel

BLOCK = "block_size_x"  # Kernel Tuner's name for the threads of a block
#: Kernel Tuner compiles C by g++, as C++.
C_OPTIONS = ("-O3", "-march=native", "-w", "-fpermissive", "-Drestrict=__restrict__", "-D_Bool=bool")
#: A plan's knobs, and the threads of a block.
Values = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Language:
    """A language of Kernel Tuner: its name there, the compiler's options, and whether the source times the kernel itself."""

    name: str
    options: tuple[str, ...] = ()
    times_itself: bool = False


LANGUAGES = {"cuda": Language("CUDA"), "c": Language("C", C_OPTIONS, times_itself=True)}


def tune_kernel_arguments(computation: Computation, device: Device) -> dict[str, object]:
    """The arguments of `kernel_tuner.tune_kernel(**...)`."""
    space = knobs_of(computation, device)

    @cache
    def emitted(*plan: int) -> Kernel:
        return emit_fused(computation, device, **dict(zip(space.names, plan, strict=True)))

    def kernel(values: Values) -> Kernel:
        return emitted(*(int(values[n]) for n in space.names))

    default, language = kernel(space.default), LANGUAGES[device.dialect]
    passed = tuple(map(str, _passed(default)))
    grid = predict(computation, device=device)
    legal = {tuple(grid.plan(k).values()) for k in range(len(grid))}

    def is_legal(values: Values) -> bool:
        if tuple(int(values[n]) for n in space.names) not in legal:
            return False
        chosen = kernel(values)
        return chosen.block[0] == values[BLOCK] and tuple(map(str, _passed(chosen))) == passed

    choices = {n: sorted(set(column.tolist())) for n, column in grid.plans.items()}
    return {
        "kernel_name": _timed_name(default) if language.times_itself else default.name,
        "kernel_source": lambda values: _timed(kernel(values)) if language.times_itself else kernel(values).source,
        "problem_size": lambda values: kernel(values).launch_grid,
        "tune_params": {**choices, BLOCK: sorted(set(grid.threads.astype(int).tolist()))},
        "restrictions": is_legal,
        "lang": language.name,
        **{f"grid_div_{dimension}": [] for dimension in "xyz"},
        "defines": {},  # names of knobs are no macros in these sources
        **({"compiler_options": list(language.options)} if language.options else {}),
        **_data(computation, default),
    }


def _passed(kernel: Kernel) -> list[Argument]:
    return [a for a in kernel.arguments if a.alias_of is None]


def _data(computation: Computation, kernel: Kernel) -> dict[str, object]:
    """Arrays for the kernel's parameters, and the expected contents of those that are results."""
    given, wanted = arguments_and_results(computation, seed=0)
    arrays: list[NDArray[Any]] = []
    answers: list[NDArray[Any] | None] = []
    for number, a in enumerate(kernel.arguments):
        if a.alias_of is not None:
            continue
        result = next((o for o in kernel.arguments if o.kind == "output" and (o is a or o.alias_of == number)), None)
        answer = None if result is None else in_memory(wanted[result.number], result).reshape(-1)
        arrays.append(_as_supported_type(_initial(a, given)))
        answers.append(None if answer is None or _as_supported_type(answer) is not answer else answer)
    largest = max((float(np.abs(a).max(initial=0.0)) for a in answers if a is not None), default=0.0)
    return {"arguments": arrays, "answer": answers, "atol": TOLERANCES["f32"] * largest}


def _initial(argument: Argument, given: Sequence[NDArray[Any]]) -> NDArray[Any]:
    if argument.kind == "input":
        return in_memory(given[argument.number], argument).reshape(-1)
    return argument.zeros().reshape(-1)


def _as_supported_type(array: NDArray[Any]) -> NDArray[Any]:
    """The same bytes as numbers of a type that Kernel Tuner supports."""
    if array.dtype in (np.float32, np.float64) or array.dtype.kind in "iu":
        return array
    return array.view(f"u{min(array.dtype.itemsize, 8)}")


def _timed_name(kernel: Kernel) -> str:
    return f"{kernel.name}_timed"


def _timed(kernel: Kernel) -> str:
    """The source with a function that takes the buffers, runs all blocks in turn, and returns the milliseconds."""
    names = [f"a{k}" for k in range(len(_passed(kernel)))]
    return f"""#include <time.h>
{kernel.source}
float {_timed_name(kernel)}({", ".join(f"void *{n}" for n in names)}) {{
  void *const buffers[] = {{{", ".join(names)}}};
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  {kernel.name}(buffers, 0, {prod(kernel.launch_grid)});
  clock_gettime(CLOCK_MONOTONIC, &end);
  return (end.tv_sec - begin.tv_sec) * 1e3f + (end.tv_nsec - begin.tv_nsec) * 1e-6f;
}}
"""
