//! The opcodes of HLO: how many operands each takes, what is known of its result, how it calls computations, what ends it.
//! An opcode that is not here is kept as it is.

use super::called::{
    combines_arrays, combines_inputs, combines_scalars, combines_sources, compares_elements, compares_pairs,
    equals, equals_branch, equals_fused, holds, maps_elements, starts, steps, Callee,
};
use super::element::Class;
use super::error::Result;
use super::infer::communication::{
    all_gather, all_gather_start, all_reduce, all_to_all, copy_start, first, infeed, of_one_replica, ordered,
    outfeed, permute, permute_start, ragged_all_to_all, recv, recv_done, reduce_scatter, second, send,
};
use super::infer::contraction::{
    convolution, dot, ragged_dot, reduce, reduce_window, scaled_dot, scan, select_and_scatter, sort,
};
use super::infer::elementwise::{
    binary, bitcast_convert, clamp, compare, complex, convert, map, part, predicate, select,
    stochastic_convert, unary,
};
use super::infer::gather::{gather, scatter};
use super::infer::movement::{
    bitcast, broadcast, concatenate, dimension_size, dynamic_reshape, dynamic_slice, dynamic_update_slice,
    iota, pad, reshape, reverse, set_dimension_size, slice, transpose,
};
use super::infer::numeric::{
    batch_norm_grad, batch_norm_inference, batch_norm_training, cholesky, fft, reduce_precision, rng,
    rng_bits, rng_state, topk, triangular_solve,
};
use super::infer::tuples::{conditional, get_tuple_element, identifier, token, tuple};
use super::infer::{shape_of_first, unknown_shape, InferredShape, Rule, ShapeContext, COMPUTATION_KEYS};
use super::tables::is_annotation;

/// A check of a computation that is called: its parameters and its root against the caller.
pub(super) type CallRule = fn(&Callee) -> Result<()>;

/// One opcode: its name, numbers of operands, required attributes, and the rules of its shape, calls and users.
#[derive(Clone, Copy)]
pub struct OpcodeRow {
    /// The name in text.
    pub name: &'static str,
    /// The least number of operands.
    pub min_operands: u32,
    /// The greatest number of operands.
    pub max_operands: u32,
    /// Attributes that it must have.
    pub needs: &'static [&'static str],
    /// Attributes that it may have besides.
    may: &'static [&'static str],
    /// Element types of the first operand; empty: any.
    types: &'static [Class],
    rule: Rule,
    /// The rules of the computations that attributes name.
    calls: &'static [(&'static str, CallRule)],
    /// The opcodes that the one user of an asynchronous start may have; empty for other opcodes.
    pub(super) ends: &'static [&'static str],
    /// Whether the root of the computation that it calls tells its shape, or its element type.
    pub(super) gives_root: bool,
    /// Whether the user's `channel_id` is its own.
    pub(super) on_channel: bool,
}

const fn op(name: &'static str, min_operands: u32, max_operands: u32, rule: Rule) -> OpcodeRow {
    let (needs, may, types, calls, ends) = (&[], &[], &[], &[], &[]);
    let (gives_root, on_channel) = (false, false);
    OpcodeRow {
        name,
        min_operands,
        max_operands,
        needs,
        may,
        types,
        rule,
        calls,
        ends,
        gives_root,
        on_channel,
    }
}

impl OpcodeRow {
    const fn of(self, types: &'static [Class]) -> Self {
        OpcodeRow { types, ..self }
    }

    const fn needs(self, needs: &'static [&'static str]) -> Self {
        OpcodeRow { needs, ..self }
    }

    const fn may(self, may: &'static [&'static str]) -> Self {
        OpcodeRow { may, ..self }
    }

    const fn calls(self, calls: &'static [(&'static str, CallRule)]) -> Self {
        OpcodeRow { calls, ..self }
    }

    const fn ended_by(self, ends: &'static [&'static str]) -> Self {
        OpcodeRow { ends, ..self }
    }

    const fn gives_root(self) -> Self {
        OpcodeRow { gives_root: true, ..self }
    }

    const fn on_channel(self) -> Self {
        OpcodeRow { on_channel: true, ..self }
    }

    /// The attributes that must name computations.
    pub(super) fn called(&self) -> impl Iterator<Item = &'static str> {
        self.needs.iter().copied().filter(|key| COMPUTATION_KEYS.contains(key))
    }

    /// The rule of the computation that an attribute names.
    pub(super) fn call_rule(&self, key: &str) -> Option<CallRule> {
        self.calls.iter().find(|(own, _)| *own == key).map(|(_, rule)| *rule)
    }

    fn takes(&self, key: &str) -> bool {
        self.needs.contains(&key) || self.may.contains(&key)
    }

    /// Whether an attribute belongs to other opcodes only; one that no opcode has may be new, or a tool's own.
    fn is_foreign(&self, key: &str) -> bool {
        !is_annotation(self.name, key) && !self.takes(key) && OPCODES.iter().any(|row| row.takes(key))
    }

    /// The shape of an instruction, whose operands, element types and attributes are checked.
    pub(super) fn infer(&self, context: &ShapeContext) -> Result<InferredShape> {
        context.has(self.needs)?;
        context.has_none(|key| self.is_foreign(key))?;
        context.begins_with(self.types)?;
        context.flags()?;
        let inferred = (self.rule)(context)?;
        context.has_sizes(&inferred)?;
        Ok(inferred)
    }
}

/// Any number of operands.
const MANY: u32 = u32::MAX;

const FLOAT: &[Class] = &[Class::Float];
const ANALYTIC: &[Class] = &[Class::Float, Class::Complex];
const INTEGER: &[Class] = &[Class::Signed, Class::Unsigned];
const LOGICAL: &[Class] = &[Class::Boolean, Class::Signed, Class::Unsigned];
const WITH_SIGN: &[Class] = &[Class::Signed, Class::Float, Class::Complex];
const NUMBER: &[Class] = &[Class::Signed, Class::Unsigned, Class::Float, Class::Complex];

const REAL: &[Class] = &[Class::Boolean, Class::Signed, Class::Unsigned, Class::Float];

const GATHERED: &[&str] = words![replica_groups channel_id constrain_layout use_global_device_ids];
const REDUCED: &[&str] = words![replica_groups channel_id constrain_layout use_global_device_ids mode];
const PERMUTED: &[&str] = words![source_target_pairs channel_id slice_sizes];
const ROUNDED: &[&str] = words![result_accuracy];
const SENT: &[&str] = words![channel_id is_host_transfer];
const MULTIPLIED: &[&str] = words![
    operand_precision algorithm lhs_batch_dims rhs_batch_dims lhs_contracting_dims rhs_contracting_dims
];

/// Every known opcode.
pub static OPCODES: &[OpcodeRow] = &[
    op("abs", 1, 1, part).of(WITH_SIGN),
    op("acos", 1, 1, unary).may(ROUNDED).of(ANALYTIC),
    op("acosh", 1, 1, unary).may(ROUNDED).of(ANALYTIC),
    op("add", 2, 2, binary),
    op("add-dependency", 2, 2, ordered),
    op("after-all", 0, MANY, token),
    op("all-gather", 1, MANY, all_gather).may(GATHERED).needs(words![dimensions]),
    op("all-gather-done", 1, 1, second),
    op("all-gather-start", 1, MANY, all_gather_start)
        .may(GATHERED)
        .needs(words![dimensions])
        .ended_by(&["all-gather-done"]),
    op("all-reduce", 1, MANY, all_reduce)
        .may(REDUCED)
        .needs(words![to_apply])
        .calls(&[("to_apply", combines_scalars)]),
    op("all-reduce-done", 1, 1, shape_of_first),
    op("all-reduce-start", 1, MANY, all_reduce)
        .may(REDUCED)
        .needs(words![to_apply])
        .calls(&[("to_apply", combines_scalars)])
        .ended_by(&["all-reduce-done"]),
    op("all-to-all", 1, MANY, all_to_all).may(words![dimensions replica_groups channel_id constrain_layout]),
    op("and", 2, 2, binary).of(LOGICAL),
    op("asin", 1, 1, unary).may(ROUNDED).of(ANALYTIC),
    op("asinh", 1, 1, unary).may(ROUNDED).of(ANALYTIC),
    op("async-done", 1, 1, second).may(words![calls async_execution_thread]),
    op("async-start", 0, MANY, unknown_shape)
        .may(words![async_execution_thread output_to_operand_aliasing])
        .needs(words![calls])
        .calls(&[("calls", starts)])
        .ended_by(&["async-update", "async-done"]),
    op("async-update", 1, 1, shape_of_first)
        .may(words![calls async_execution_thread])
        .ended_by(&["async-update", "async-done"]),
    op("atan2", 2, 2, binary).of(ANALYTIC),
    op("atanh", 1, 1, unary).may(ROUNDED).of(ANALYTIC),
    op("batch-norm-grad", 5, 5, batch_norm_grad).of(FLOAT).needs(words![epsilon feature_index]),
    op("batch-norm-inference", 5, 5, batch_norm_inference).of(FLOAT).needs(words![epsilon feature_index]),
    op("batch-norm-training", 3, 3, batch_norm_training).of(FLOAT).needs(words![epsilon feature_index]),
    op("bitcast", 1, 1, bitcast),
    op("bitcast-convert", 1, 1, bitcast_convert),
    op("broadcast", 1, 1, broadcast).may(words![dimensions]),
    op("call", 0, MANY, unknown_shape)
        .may(words![is_composite])
        .needs(words![to_apply])
        .calls(&[("to_apply", equals)])
        .gives_root(),
    op("cbrt", 1, 1, unary).may(ROUNDED).of(FLOAT),
    op("ceil", 1, 1, unary).of(FLOAT),
    op("cholesky", 1, 1, cholesky).may(words![lower]).of(ANALYTIC),
    op("clamp", 3, 3, clamp),
    op("collective-broadcast", 1, MANY, of_one_replica).may(words![replica_groups channel_id]),
    op("collective-permute", 1, MANY, permute).may(PERMUTED),
    op("collective-permute-done", 1, 1, second),
    op("collective-permute-start", 1, MANY, permute_start)
        .may(PERMUTED)
        .ended_by(&["collective-permute-done"]),
    op("collective-reduce", 1, MANY, of_one_replica)
        .may(GATHERED)
        .needs(words![to_apply])
        .calls(&[("to_apply", combines_scalars)]),
    op("compare", 2, 2, compare).may(words![type]).needs(words![direction]),
    op("complex", 2, 2, complex),
    op("concatenate", 1, MANY, concatenate).needs(words![dimensions]),
    op("conditional", 2, MANY, conditional)
        .may(words![branch_computations true_computation false_computation])
        .calls(&[
            ("branch_computations", equals_branch),
            ("true_computation", equals_branch),
            ("false_computation", equals_branch),
        ])
        .gives_root(),
    op("constant", 0, 0, unknown_shape),
    op("convert", 1, 1, convert),
    op("convolution", 2, 2, convolution)
        .may(words![window feature_group_count batch_group_count operand_precision])
        .needs(words![dim_labels]),
    op("copy", 1, 1, shape_of_first),
    op("copy-done", 1, 1, first),
    op("copy-start", 1, 1, copy_start).may(words![cross_program_prefetch_index]).ended_by(&["copy-done"]),
    op("cosh", 1, 1, unary).may(ROUNDED).of(ANALYTIC),
    op("cosine", 1, 1, unary).may(ROUNDED).of(ANALYTIC),
    op("count-leading-zeros", 1, 1, unary).of(INTEGER),
    op("custom-call", 0, MANY, unknown_shape)
        .may(words![
            to_apply called_computations window dim_labels feature_group_count batch_group_count
            operand_precision output_to_operand_aliasing custom_call_has_side_effect
            operand_layout_constraints literal schedule
        ])
        .needs(words![custom_call_target]),
    op("divide", 2, 2, binary).of(NUMBER),
    op("domain", 1, 1, shape_of_first).may(words![entry exit]).needs(words![domain]),
    op("dot", 2, 2, dot).may(MULTIPLIED),
    op("dynamic-reshape", 1, MANY, dynamic_reshape),
    op("dynamic-slice", 1, MANY, dynamic_slice).needs(words![dynamic_slice_sizes]),
    op("dynamic-update-slice", 2, MANY, dynamic_update_slice),
    op("erf", 1, 1, unary).may(ROUNDED).of(FLOAT),
    op("exponential", 1, 1, unary).may(ROUNDED).of(ANALYTIC),
    op("exponential-minus-one", 1, 1, unary).may(ROUNDED).of(ANALYTIC),
    op("fft", 1, 1, fft).needs(words![fft_type fft_length]),
    op("floor", 1, 1, unary).of(FLOAT),
    op("fusion", 0, MANY, unknown_shape)
        .may(words![kind output_to_operand_aliasing])
        .needs(words![calls])
        .calls(&[("calls", equals_fused)])
        .gives_root(),
    op("gather", 2, 2, gather)
        .may(words![operand_batching_dims start_indices_batching_dims indices_are_sorted])
        .needs(words![offset_dims collapsed_slice_dims start_index_map index_vector_dim slice_sizes]),
    op("get-dimension-size", 1, 1, dimension_size).needs(words![dimensions]),
    op("get-tuple-element", 1, 1, get_tuple_element).needs(words![index]),
    op("imag", 1, 1, part).of(ANALYTIC),
    op("infeed", 1, 1, infeed).may(words![infeed_config]),
    op("iota", 0, 0, iota).needs(words![iota_dimension]),
    op("is-finite", 1, 1, predicate).of(FLOAT),
    op("log", 1, 1, unary).may(ROUNDED).of(ANALYTIC),
    op("log-plus-one", 1, 1, unary).may(ROUNDED).of(ANALYTIC),
    op("logistic", 1, 1, unary).may(ROUNDED).of(ANALYTIC),
    op("map", 0, MANY, map)
        .may(words![dimensions])
        .needs(words![to_apply])
        .calls(&[("to_apply", maps_elements)])
        .gives_root(),
    op("maximum", 2, 2, binary),
    op("minimum", 2, 2, binary),
    op("mulhi", 2, 2, binary).of(INTEGER),
    op("multiply", 2, 2, binary),
    op("negate", 1, 1, unary).of(NUMBER),
    op("not", 1, 1, unary).of(LOGICAL),
    op("opt-barrier", 1, 1, shape_of_first),
    op("or", 2, 2, binary).of(LOGICAL),
    op("outfeed", 2, 2, outfeed).may(words![outfeed_config outfeed_shape]),
    op("pad", 2, 2, pad).may(words![padding]),
    op("parameter", 0, 0, unknown_shape),
    op("partition-id", 0, 0, identifier),
    op("popcnt", 1, 1, unary).of(INTEGER),
    op("power", 2, 2, binary).of(NUMBER),
    op("ragged-all-to-all", 6, 6, ragged_all_to_all).may(words![dimensions replica_groups channel_id]),
    op("ragged-dot", 3, 3, ragged_dot).may(words![
        operand_precision lhs_batch_dims rhs_batch_dims lhs_contracting_dims rhs_contracting_dims
        lhs_ragged_dims rhs_group_dims
    ]),
    op("real", 1, 1, part).of(ANALYTIC),
    op("recv", 1, 1, recv).may(SENT).ended_by(&["recv-done"]).on_channel(),
    op("recv-done", 1, 1, recv_done).may(SENT),
    op("reduce", 2, MANY, reduce).needs(words![dimensions to_apply]).calls(&[("to_apply", combines_inputs)]),
    op("reduce-precision", 1, 1, reduce_precision).of(FLOAT).needs(words![exponent_bits mantissa_bits]),
    op("reduce-scatter", 1, MANY, reduce_scatter)
        .may(REDUCED)
        .needs(words![dimensions to_apply])
        .calls(&[("to_apply", combines_scalars)]),
    op("reduce-window", 2, MANY, reduce_window)
        .may(words![window])
        .needs(words![to_apply])
        .calls(&[("to_apply", combines_inputs)]),
    op("remainder", 2, 2, binary).of(NUMBER),
    op("replica-id", 0, 0, identifier),
    op("reshape", 1, 1, reshape),
    op("reverse", 1, 1, reverse).needs(words![dimensions]),
    op("rng", 2, 2, rng).of(REAL).needs(words![distribution]),
    op("rng-bit-generator", 1, 1, rng_bits).needs(words![algorithm]),
    op("rng-get-and-update-state", 0, 0, rng_state).needs(words![delta]),
    op("round-nearest-afz", 1, 1, unary).of(FLOAT),
    op("round-nearest-even", 1, 1, unary).of(FLOAT),
    op("rsqrt", 1, 1, unary).may(ROUNDED).of(ANALYTIC),
    op("scaled-dot", 4, 4, scaled_dot).may(MULTIPLIED),
    op("scan", 0, MANY, scan)
        .may(words![is_reverse num_carries is_associative])
        .needs(words![dimensions to_apply])
        .calls(&[("to_apply", steps)]),
    op("scatter", 3, MANY, scatter)
        .may(words![indices_are_sorted input_batching_dims scatter_indices_batching_dims unique_indices])
        .needs(words![
            update_window_dims inserted_window_dims scatter_dims_to_operand_dims index_vector_dim to_apply
        ])
        .calls(&[("to_apply", combines_arrays)]),
    op("select", 3, 3, select),
    op("select-and-scatter", 3, 3, select_and_scatter)
        .may(words![window])
        .needs(words![select scatter])
        .calls(&[("select", compares_elements), ("scatter", combines_sources)]),
    op("send", 2, 2, send).may(SENT).ended_by(&["send-done"]).on_channel(),
    op("send-done", 1, 1, token).may(SENT),
    op("set-dimension-size", 2, 2, set_dimension_size).needs(words![dimensions]),
    op("shift-left", 2, 2, binary).of(INTEGER),
    op("shift-right-arithmetic", 2, 2, binary).of(INTEGER),
    op("shift-right-logical", 2, 2, binary).of(INTEGER),
    op("sign", 1, 1, unary).of(WITH_SIGN),
    op("sine", 1, 1, unary).may(ROUNDED).of(ANALYTIC),
    op("sinh", 1, 1, unary).may(ROUNDED).of(ANALYTIC),
    op("slice", 1, 1, slice).needs(words![slice]),
    op("sort", 1, MANY, sort)
        .may(words![is_stable])
        .needs(words![dimensions to_apply])
        .calls(&[("to_apply", compares_pairs)]),
    op("sqrt", 1, 1, unary).may(ROUNDED).of(ANALYTIC),
    op("stochastic-convert", 2, 2, stochastic_convert),
    op("subtract", 2, 2, binary).of(NUMBER),
    op("tan", 1, 1, unary).may(ROUNDED).of(ANALYTIC),
    op("tanh", 1, 1, unary).may(ROUNDED).of(ANALYTIC),
    op("topk", 1, 1, topk).may(words![largest]).needs(words![k]),
    op("transpose", 1, 1, transpose).needs(words![dimensions]),
    op("triangular-solve", 2, 2, triangular_solve)
        .may(words![lower left_side unit_diagonal])
        .of(ANALYTIC)
        .needs(words![transpose_a]),
    op("tuple", 0, MANY, tuple),
    op("while", 1, 1, shape_of_first)
        .needs(words![condition body])
        .calls(&[("body", equals), ("condition", holds)]),
    op("xor", 2, 2, binary).of(LOGICAL),
];
