"""The emitters, one for each kind of hero; `EMITTERS` lists them."""

from typing import Any

from indexing.kernels.emitter import Emitter
from indexing.kernels.emitters import (
    attention,
    attention_tile,
    concatenate,
    dot,
    loop,
    panels,
    reduction,
    rows,
    scatter,
    simt,
    tile,
    transpose,
    update_slice,
)

#: The first that matches a fusion emits its kernel.
EMITTERS: tuple[Emitter[Any, Any], ...] = (
    scatter.EMITTER,
    update_slice.EMITTER,
    attention_tile.EMITTER,
    attention.EMITTER,
    transpose.EMITTER,
    rows.EMITTER,
    reduction.EMITTER,
    concatenate.EMITTER,
    tile.EMITTER,
    panels.EMITTER,
    simt.EMITTER,
    dot.EMITTER,
    loop.EMITTER,
)
