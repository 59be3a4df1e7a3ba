"""The attention-tile emitter: attention by the matrix instructions of a GPU.

As the attention emitter, with factors of 16 bits. A warp has 16 rows, whose scores, weights and sums stay in its registers. In
steps along the keys, the block copies a tile of keys and one of values to shared memory; a warp multiplies its queries by the
keys, turns the scores into weights relative to the largest logit of the row so far, and adds weights times values to the sums.
Four neighbouring lanes have the elements of a row, and combine its maximum and its total by shuffles (Dao, FlashAttention-2,
2023).

Weights are rounded to the type of the values for the second product, as the program rounds them, but before they are divided by
their total.
"""

from indexing.kernels.emitter import Emitter
from indexing.kernels.emitters.attention_tile.build import build_attention_tile
from indexing.kernels.emitters.attention_tile.match import NAME, match_attention_tile, runs_on
from indexing.kernels.emitters.attention_tile.plan import attention_tile_knobs, plan_attention_tile

EMITTER = Emitter(NAME, match_attention_tile, plan_attention_tile, attention_tile_knobs, build_attention_tile, runs_on)
