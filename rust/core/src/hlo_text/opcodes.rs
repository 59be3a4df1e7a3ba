//! The opcodes of HLO and how many operands each takes. An opcode that is not here is kept as it is.

/// Any number of operands.
const MANY: u32 = u32::MAX;

/// One opcode: its name, the least and the greatest number of operands.
#[derive(Clone, Copy, Debug)]
pub struct OpcodeRow {
    /// As text writes it.
    pub name: &'static str,
    /// Fewest operands.
    pub least: u32,
    /// Most operands.
    pub most: u32,
}

const fn op(name: &'static str, least: u32, most: u32) -> OpcodeRow {
    OpcodeRow { name, least, most }
}

/// Elementwise opcodes of one operand.
pub static UNARY: &[&str] = &[
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atanh",
    "cbrt",
    "ceil",
    "convert",
    "cos",
    "cosh",
    "count-leading-zeros",
    "erf",
    "exponential",
    "exponential-minus-one",
    "floor",
    "imag",
    "is-finite",
    "log",
    "log-plus-one",
    "logistic",
    "negate",
    "not",
    "popcnt",
    "real",
    "reduce-precision",
    "round-nearest-afz",
    "round-nearest-even",
    "rsqrt",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "stochastic-convert",
    "tan",
    "tanh",
];

/// Elementwise opcodes of two operands.
pub static BINARY: &[&str] = &[
    "add",
    "and",
    "atan2",
    "compare",
    "complex",
    "divide",
    "maximum",
    "minimum",
    "multiply",
    "or",
    "power",
    "remainder",
    "shift-left",
    "shift-right-arithmetic",
    "shift-right-logical",
    "subtract",
    "xor",
];

/// Opcodes that are not in [`UNARY`] or [`BINARY`].
pub static OTHERS: &[OpcodeRow] = &[
    op("add-dependency", 2, 2),
    op("after-all", 0, MANY),
    op("all-gather", 0, MANY),
    op("all-gather-done", 1, 1),
    op("all-gather-start", 0, MANY),
    op("all-reduce", 0, MANY),
    op("all-reduce-done", 1, 1),
    op("all-reduce-start", 0, MANY),
    op("all-to-all", 0, MANY),
    op("async-done", 1, 1),
    op("async-start", 0, MANY),
    op("async-update", 1, 1),
    op("batch-norm-grad", 5, 5),
    op("batch-norm-inference", 5, 5),
    op("batch-norm-training", 3, 3),
    op("bitcast", 1, 1),
    op("bitcast-convert", 1, 1),
    op("broadcast", 1, 1),
    op("call", 0, MANY),
    op("cholesky", 1, 1),
    op("clamp", 3, 3),
    op("collective-broadcast", 0, MANY),
    op("collective-permute", 1, MANY),
    op("collective-permute-done", 1, 1),
    op("collective-permute-start", 1, MANY),
    op("concatenate", 1, MANY),
    op("conditional", 2, MANY),
    op("constant", 0, 0),
    op("convolution", 2, 2),
    op("copy", 1, 1),
    op("copy-done", 1, 1),
    op("copy-start", 1, 1),
    op("custom-call", 0, MANY),
    op("domain", 1, 1),
    op("dot", 2, 2),
    op("dynamic-reshape", 1, MANY),
    op("dynamic-slice", 1, MANY),
    op("dynamic-update-slice", 2, MANY),
    op("fft", 1, 1),
    op("fusion", 0, MANY),
    op("gather", 2, 2),
    op("get-dimension-size", 1, 1),
    op("get-tuple-element", 1, 1),
    op("infeed", 1, 1),
    op("iota", 0, 0),
    op("map", 0, MANY),
    op("opt-barrier", 1, 1),
    op("outfeed", 2, 2),
    op("pad", 2, 2),
    op("parameter", 0, 0),
    op("partition-id", 0, 0),
    op("ragged-all-to-all", 6, 6),
    op("ragged-dot", 3, 3),
    op("recv", 1, 1),
    op("recv-done", 1, 1),
    op("reduce", 2, MANY),
    op("reduce-scatter", 0, MANY),
    op("reduce-window", 2, MANY),
    op("replica-id", 0, 0),
    op("reshape", 1, 1),
    op("reverse", 1, 1),
    op("rng", 0, MANY),
    op("rng-bit-generator", 1, 1),
    op("rng-get-and-update-state", 0, 0),
    op("scaled-dot", 2, MANY),
    op("scan", 0, MANY),
    op("scatter", 3, MANY),
    op("select", 3, 3),
    op("select-and-scatter", 3, 3),
    op("send", 2, 2),
    op("send-done", 1, 1),
    op("set-dimension-size", 2, 2),
    op("slice", 1, 1),
    op("sort", 1, MANY),
    op("topk", 1, 1),
    op("transpose", 1, 1),
    op("triangular-solve", 2, 2),
    op("tuple", 0, MANY),
    op("while", 1, 1),
];

/// Every known opcode: [`UNARY`], [`BINARY`], [`OTHERS`], in this order.
pub fn opcodes() -> impl Iterator<Item = OpcodeRow> {
    let unary = UNARY.iter().map(|name| op(name, 1, if *name == "stochastic-convert" { 2 } else { 1 }));
    let binary = BINARY.iter().map(|name| op(name, 2, 2));
    unary.chain(binary).chain(OTHERS.iter().copied())
}
