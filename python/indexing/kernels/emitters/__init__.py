"""The emitters, one for each kind of hero; `EMITTERS` lists them."""

from typing import Any

from indexing.kernels.emitter import Emitter
from indexing.kernels.emitters import (
    attention,
    attention_tile,
    concatenate,
    dot,
    loop,
    merge,
    panels,
    reduction,
    rows,
    scatter,
    simt,
    sort,
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
    sort.EMITTER,
    merge.EMITTER,
    rows.EMITTER,
    reduction.EMITTER,
    concatenate.EMITTER,
    tile.EMITTER,
    panels.EMITTER,
    simt.EMITTER,
    dot.EMITTER,
    loop.EMITTER,
)
