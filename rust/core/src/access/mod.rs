//! Accesses of a kernel's warps: their addresses, transactions and memory traffic.

pub(crate) mod lanes;
pub(crate) mod memory_traffic;
pub(crate) mod period;
pub(crate) mod prediction;
pub(crate) mod transactions;
