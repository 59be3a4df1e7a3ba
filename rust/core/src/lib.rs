//! Symbolic indexing maps: expressions, their simplification over a domain, maps, counting, HLO text.
//!
//! Pure Rust: no Python, no I/O, no global state.
