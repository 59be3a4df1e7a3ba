"""The loop emitter: each thread computes some elements of each output, in memory order. It takes every fusion."""

from indexing.kernels.emitter import Emitter
from indexing.kernels.emitters.loop.elements import (
    NAME,
    build_loop,
    loop_knobs,
    match_elements,
    plan_loop,
    work_of_loop,
)
from indexing.kernels.emitters.loop.group import group_loop

EMITTER = Emitter(
    NAME, match_elements, plan_loop, loop_knobs, build_loop, by_elements=True, work=work_of_loop, group=group_loop
)
