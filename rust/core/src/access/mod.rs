//! What the warps of a kernel touch: which addresses, in how many transactions, with how much memory traffic.

pub(crate) mod block_sizes;
pub(crate) mod memory_traffic;
pub(crate) mod period;
pub(crate) mod prediction;
pub(crate) mod transactions;
pub(crate) mod warps;
