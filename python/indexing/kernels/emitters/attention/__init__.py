"""The attention emitter: softmax(queries times keys) times values as one kernel, with online rows.

A block has some rows of one product of the batch, with the heads of a group that share keys and values. In steps along the
keys, it computes a tile of logits from tiles of queries and keys in shared memory, with the operands' producers and everything
between the products (scale, mask, bias) fused; turns them into weights relative to the largest logit so far; and adds weights
times values to sums in registers, rescaled where the largest logit rose. What follows the second product is fused into the
stores. Neither scores nor weights are ever in global memory.

All keys are added, masked ones too, so that NaN and infinite values propagate as in the program.
"""

from indexing.kernels.emitter import Emitter
from indexing.kernels.emitters.attention.build import build_attention
from indexing.kernels.emitters.attention.group import group_attention
from indexing.kernels.emitters.attention.match import NAME, match_attention
from indexing.kernels.emitters.attention.plan import attention_knobs, plan_attention

EMITTER = Emitter(
    NAME, match_attention, plan_attention, attention_knobs, build_attention, group=group_attention, joins_products=True
)
