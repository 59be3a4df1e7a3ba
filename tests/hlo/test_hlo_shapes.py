"""Shapes against opcodes: what the operands and attributes of an instruction give is what the text must say."""

import re

import pytest

import indexing as ix

# operands, instruction's result, opcode, attributes; what is wrong (empty: nothing)
CASES = [
    ("f32[2,3]", "f32[2,3] abs(p0)", ""),
    ("f32[2,3]", "f32[3,2] abs(p0)", r"the operands give f32\[2,3\], the text says f32\[3,2\]"),
    ("f32[2,3]", "s32[2,3] negate(p0)", "the operands give"),
    ("f32[2]", "f32[2] abs(p0, p0)", "abs takes 1 operand, found 2"),
    ("f32[2]", "bf16[2] negate(p0)", "the operands give"),
    ("c64[2]", "f32[2] abs(p0)", ""),
    ("c128[2]", "f64[2] imag(p0)", ""),
    ("f32[2]", "pred[2] is-finite(p0)", ""),
    ("f32[2]", "s8[2] convert(p0)", ""),
    ("f32[2]", "s8[3] convert(p0)", "the operands give"),
    ("f32[2] s32[2]", "f32[2] add(p0, p1)", "operands 0 and 1 do not fit"),
    ("f32[2] f32[]", "f32[2] add(p0, p1)", "operands 0 and 1 do not fit"),
    ("token[]", "f32[2] abs(p0)", "operand 0 must be an array"),
    ("f32[2] f32[2]", "pred[2] compare(p0, p1), direction=LT", ""),
    ("f32[2] f32[2]", "pred[2] compare(p0, p1)", "attribute direction is missing"),
    ("f32[2] f32[2]", "pred[2] compare(p0, p1), direction=XX", "direction must be"),
    ("f64[2] f64[2]", "c128[2] complex(p0, p1)", ""),
    ("s8[2] s8[2]", "c64[2] complex(p0, p1)", "must be f32 or f64"),
    ("f32[] f32[4] f32[4]", "f32[4] clamp(p0, p1, p2)", ""),
    ("f32[3] f32[4] f32[4]", "f32[4] clamp(p0, p1, p2)", "operands 1 and 0"),
    ("pred[] f32[4] f32[4]", "f32[4] select(p0, p1, p2)", ""),
    ("pred[4] f32[4] f32[4]", "f32[4] select(p0, p1, p2)", ""),
    ("pred[3] f32[4] f32[4]", "f32[4] select(p0, p1, p2)", "do not fit"),
    ("s32[4] f32[4] f32[4]", "f32[4] select(p0, p1, p2)", "must be pred"),
    ("s8[2,4]", "s32[2] bitcast-convert(p0)", ""),
    ("s32[2]", "s8[2,4] bitcast-convert(p0)", ""),
    ("s32[2]", "f32[2] bitcast-convert(p0)", ""),
    ("s32[2]", "s8[2,3] bitcast-convert(p0)", "the operands give"),
    ("s8[2,3]", "s32[2] bitcast-convert(p0)", "must be 4"),
    ("f32[3]", "f32[2,3] broadcast(p0), dimensions={1}", ""),
    ("f32[]", "f32[2,3] broadcast(p0)", ""),
    ("f32[3]", "f32[2,3] broadcast(p0), dimensions={0}", "operand dimension 0 has size 3, dimension 0 of the result 2"),
    ("f32[3]", "f32[2,3] broadcast(p0), dimensions={2}", "outside of rank 2"),
    ("f32[3]", "f32[2,3] broadcast(p0)", "attribute dimensions is missing"),
    ("f32[3,3]", "f32[3,3] broadcast(p0), dimensions={1,1}", "twice"),
    ("f32[2,3,4]", "f32[4,2,3] transpose(p0), dimensions={2,0,1}", ""),
    ("f32[2,3,4]", "f32[2,3,4] transpose(p0), dimensions={2,0,1}", "the operands give"),
    ("f32[2,3]", "f32[2,3] transpose(p0), dimensions={0}", "permutation"),
    ("f32[2,3]", "f32[6] reshape(p0)", ""),
    ("f32[2,3]", "f32[7] reshape(p0)", r"has 6 elements, f32\[7\] has 7"),
    ("f32[2,3]", "s32[6] reshape(p0)", "the operands give"),
    ("f32[2,3]{1,0}", "f32[3,2]{0,1} bitcast(p0)", ""),
    ("f32[2,3]", "s32[6] bitcast(p0)", ""),
    ("f32[2,3]", "f32[5] bitcast(p0)", "elements"),
    ("f32[10,4]", "f32[3,4] slice(p0), slice={[1:9:3], [0:4]}", ""),
    ("f32[10]", "f32[3] slice(p0), slice={[1:12:4]}", "is no slice of dimension 0 of size 10"),
    ("f32[10]", "f32[3] slice(p0), slice={[5:4]}", "is no slice"),
    ("f32[10]", "f32[3] slice(p0), slice={[0:4:0]}", "is no slice"),
    ("f32[10,4]", "f32[3] slice(p0), slice={[0:3]}", "1 slice for 2 dimensions"),
    ("f32[2,3] f32[2,5]", "f32[2,8] concatenate(p0, p1), dimensions={1}", ""),
    ("f32[2,3] f32[2,5]", "f32[4,3] concatenate(p0, p1), dimensions={0}", "operands 0 and 1 do not fit"),
    ("f32[2,3]", "f32[2,3] concatenate(p0), dimensions={0,1}", "one dimension"),
    ("f32[5] f32[]", "f32[12] pad(p0, p1), padding=1_2_1", ""),
    ("f32[5] f32[]", "f32[3] pad(p0, p1), padding=-1_-1", ""),
    ("f32[5] f32[]", "f32[0] pad(p0, p1), padding=-3_-3", "negative size"),
    ("f32[5] f32[]", "f32[1] pad(p0, p1), padding=0_0_-1", "negative"),
    ("f32[5] f32[1]", "f32[5] pad(p0, p1), padding=0_0", "operand 1 must be a scalar"),
    ("f32[5] f32[]", "f32[5] pad(p0, p1), padding=9223372036854775807_1", "64 bits"),
    ("", "s32[3,4] iota(), iota_dimension=1", ""),
    ("", "s32[3,4] iota(), iota_dimension=2", "outside of rank 2"),
    ("", "s32[3,4] iota()", "attribute iota_dimension is missing"),
    ("", "pred[3] iota(), iota_dimension=0", "array of numbers"),
    ("f32[3,4]", "f32[3,4] reverse(p0), dimensions={0,1}", ""),
    ("f32[3,4]", "f32[3,4] reverse(p0), dimensions={2}", "outside of rank 2"),
    ("f32[8,9] s32[] s32[]", "f32[2,3] dynamic-slice(p0, p1, p2), dynamic_slice_sizes={2,3}", ""),
    ("f32[8,9] s32[2]", "f32[2,3] dynamic-slice(p0, p1), dynamic_slice_sizes={2,3}", ""),
    ("f32[8,9] s32[]", "f32[2,3] dynamic-slice(p0, p1), dynamic_slice_sizes={2,3}", "one start for each of 2"),
    ("f32[8] f32[]", "f32[2] dynamic-slice(p0, p1), dynamic_slice_sizes={2}", "starts must be integers"),
    ("f32[8] s32[]", "f32[9] dynamic-slice(p0, p1), dynamic_slice_sizes={9}", "does not fit"),
    ("f32[8] f32[3] s32[]", "f32[8] dynamic-update-slice(p0, p1, p2)", ""),
    ("f32[8] f32[9] s32[]", "f32[8] dynamic-update-slice(p0, p1, p2)", "does not fit"),
    ("f32[2,3,4] f32[2,4,5]", "f32[2,3,5] dot(p0, p1), lhs_batch_dims={0}, rhs_batch_dims={0}, "
     "lhs_contracting_dims={2}, rhs_contracting_dims={1}", ""),
    ("bf16[3] bf16[3]", "f32[] dot(p0, p1), lhs_contracting_dims={0}, rhs_contracting_dims={0}", ""),
    ("f32[3] f32[5]", "f32[3,5] dot(p0, p1)", ""),
    ("f32[3] f32[4]", "f32[] dot(p0, p1), lhs_contracting_dims={0}, rhs_contracting_dims={0}", "do not pair"),
    ("f32[3] f32[3]", "f32[] dot(p0, p1), lhs_contracting_dims={0}", "do not pair"),
    ("f32[3] f32[3]", "f32[] dot(p0, p1), lhs_contracting_dims={0}, rhs_contracting_dims={0}, lhs_batch_dims={0}, "
     "rhs_batch_dims={0}", "both a batch and a contracting"),
    ("f32[2,3] f32[]", "f32[3] reduce(p0, p1), dimensions={0}, to_apply=add", ""),
    ("f32[2,3] f32[]", "f32[2] reduce(p0, p1), dimensions={0}, to_apply=add", "the operands give"),
    ("f32[2,3] f32[]", "f32[] reduce(p0, p1), to_apply=add", "attribute dimensions is missing"),
    ("f32[2,3] f32[] f32[]", "f32[] reduce(p0, p1, p2), dimensions={0}, to_apply=add", "as many initial values"),
    ("f32[9] f32[]", "f32[4] reduce-window(p0, p1), window={size=3 stride=2}, to_apply=add", ""),
    ("f32[9] f32[]", "f32[9] reduce-window(p0, p1), window={size=3 pad=1_1}, to_apply=add", ""),
    ("f32[9] f32[]", "f32[13] reduce-window(p0, p1), window={size=3 lhs_dilate=2 rhs_dilate=2}, to_apply=add", ""),
    ("f32[9] f32[]", "f32[9] reduce-window(p0, p1), window={size=3}, to_apply=add", "the operands give"),
    ("f32[9,2] f32[]", "f32[9] reduce-window(p0, p1), window={size=3}, to_apply=add", "a window of 1 dimension for 2"),
    ("f32[1,8,8,6] f32[3,3,3,10]", "f32[1,6,6,10] convolution(p0, p1), window={size=3x3}, dim_labels=b01f_01io->b01f, "
     "feature_group_count=2", ""),
    ("f32[1,8,8,6] f32[3,3,3,10]", "f32[1,6,6,10] convolution(p0, p1), window={size=3x3}, dim_labels=b01f_01io->b01f",
     "do not divide"),
    ("f32[1,8,8,6] f32[3,3,6,10]", "f32[1,6,6,10] convolution(p0, p1), window={size=3x2}, dim_labels=b01f_01io->b01f",
     "the window has size 2, the kernel 3"),
    ("f32[1,8,6] f32[3,6,10]", "f32[1,6,10] convolution(p0, p1), window={size=3}, dim_labels=b01f_01io->b01f",
     "must name the 3 dimensions"),
    ("f32[33,76,70] s32[18,2]", "f32[18,7,8,4] gather(p0, p1), offset_dims={1,2,3}, collapsed_slice_dims={}, "
     "start_index_map={0,1}, index_vector_dim=1, slice_sizes={7,8,4}", ""),
    ("f32[33,76] s32[18]", "f32[18,5] gather(p0, p1), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
     "index_vector_dim=1, slice_sizes={1,5}", ""),
    ("f32[33,76] s32[18]", "f32[18,5] gather(p0, p1), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
     "index_vector_dim=1, slice_sizes={2,5}", "slice size 1"),
    ("f32[33,76] s32[18,2]", "f32[18,5] gather(p0, p1), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
     "index_vector_dim=1, slice_sizes={1,5}", "an index has 2 numbers, the dimension map 1"),
    ("f32[33,76] s32[18]", "f32[18,5] gather(p0, p1), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, "
     "index_vector_dim=1, slice_sizes={1,5}", "offset_dims must name the 1 dimension of"),
    ("f32[9,4] s32[5,1] f32[5,4]", "f32[9,4] scatter(p0, p1, p2), update_window_dims={1}, inserted_window_dims={0}, "
     "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add", ""),
    ("f32[9,4] s32[5,1] f32[6,4]", "f32[9,4] scatter(p0, p1, p2), update_window_dims={1}, inserted_window_dims={0}, "
     "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add", "do not fit indices"),
    ("f32[9] s32[9]", "(f32[9], s32[9]) sort(p0, p1), dimensions={0}, to_apply=less", ""),
    ("f32[9] s32[8]", "(f32[9], s32[8]) sort(p0, p1), dimensions={0}, to_apply=less", "different sizes"),
    ("f32[9]", "f32[9] sort(p0), dimensions={0}, to_apply=add", "root must be"),
    ("f32[2] s32[]", "(f32[2], s32[]) tuple(p0, p1)", ""),
    ("f32[2] s32[]", "(f32[2], s32[2]) tuple(p0, p1)", "the operands give"),
    ("(f32[2], s32[])", "s32[] get-tuple-element(p0), index=1", ""),
    ("(f32[2], s32[])", "s32[] get-tuple-element(p0), index=2", "index 2 of a tuple of 2"),
    ("(f32[2], s32[])", "s32[] get-tuple-element(p0)", "attribute index is missing"),
    ("f32[2]", "s32[] get-tuple-element(p0), index=0", "must be a tuple"),
    ("f32[<=4]", "s32[] get-dimension-size(p0), dimensions={0}", ""),
    ("f32[4] s32[]", "f32[<=4] set-dimension-size(p0, p1), dimensions={0}", ""),
    ("f32[?,2]", "f32[?,2] abs(p0)", ""),
    ("f32[?,2]", "f32[7,2] abs(p0)", ""),
    ("f32[4]", "f32[4]{0} copy(p0)", ""),
    ("", "u32[] partition-id()", ""),
    ("", "token[] after-all()", ""),
    ("", "s32[] after-all()", r"the operands give token\[\]"),
    ("f32[3,3] f32[3,2]", "f32[3,2] triangular-solve(p0, p1), left_side=true, lower=true, transpose_a=ADJOINT", ""),
    ("f32[3,3] f32[3,2]", "f32[3,3] triangular-solve(p0, p1), left_side=true, lower=true, transpose_a=TRANSPOSE",
     "the operands give"),
    ("f32[3,3] f32[3,2]", "f32[3,2] triangular-solve(p0, p1), left_side=true, lower=true", "transpose_a is missing"),
    ("f32[3,3] f32[2,3]", "f32[2,3] triangular-solve(p0, p1), left_side=true, transpose_a=ADJOINT", "do not fit"),
    ("f32[4,5] f32[5] f32[5]", "(f32[4,5], f32[5], f32[5]) batch-norm-training(p0, p1, p2), epsilon=0.1, feature_index=1",
     ""),
    ("s32[] f32[2] f32[2]", "f32[2] conditional(p0, p1, p2), branch_computations={one, one}", ""),
    ("s32[] f32[2]", "f32[2] conditional(p0, p1), branch_computations={one, one}", "the branches need 3 operands"),
    ("pred[] f32[2] f32[2]", "f32[2] conditional(p0, p1, p2), true_computation=one, false_computation=one", ""),
    ("f32[] f32[2] f32[2]", "f32[2] conditional(p0, p1, p2), branch_computations={one, one}", "must be s32"),
    ("f32[4]", "f32[4] not(p0)", "must be pred or signed integers or unsigned integers"),
    ("f32[4] f32[4]", "f32[4] and(p0, p1)", "operand 0 must be pred or"),
    ("s32[4] s32[4]", "s32[4] mulhi(p0, p1)", ""),
    ("f32[4] f32[4]", "f32[4] mulhi(p0, p1)", "must be signed integers or unsigned integers"),
    ("f32[4]", "f32[4] popcnt(p0)", "must be signed integers or unsigned integers"),
    ("f32[4] f32[4]", "f32[4] shift-left(p0, p1)", "must be signed integers or unsigned integers"),
    ("s32[4]", "s32[4] floor(p0)", "must be floating point"),
    ("c64[4]", "c64[4] cbrt(p0)", "must be floating point"),
    ("pred[4]", "pred[4] exponential(p0)", "must be floating point or complex"),
    ("u8[4]", "u8[4] abs(p0)", "must be signed integers or floating point or complex"),
    ("pred[4] pred[4]", "pred[4] divide(p0, p1)", "operand 0 must be signed integers or"),
    ("f32[4]", "f64[4] floor(p0)", "the operands give"),
    ("bf16[4]", "f32[2,2] reshape(p0)", "the operands give"),
    ("bf16[4]", "f32[4,2] broadcast(p0), dimensions={0}", "the operands give"),
    ("f32[4]", "(f64[4]) tuple(p0)", "the operands give"),
    ("f32[30,20]", "f32[20,30] cosine(p0)", "the operands give"),
    ("f32[2] f32[2]", "f32[2] sine(p0, p1)", "sine takes 1 operand, found 2"),
    ("s16[3] pred[2] s32[]", "s16[3] dynamic-update-slice(p0, p1, p2)", "elements of s16, the update of pred"),
    ("f32[8] f32[1]", "f32[2] dynamic-slice(p0, p1), dynamic_slice_sizes={2}", "starts must be integers"),
    ("f32[5] s32[]", "f32[5] pad(p0, p1), padding=0_0", "the padding value is s32"),
    ("f32[3] s32[]", "f32[] reduce(p0, p1), dimensions={0}, to_apply=add", "its initial value is s32"),
    ("f32[3] f32[]", "f32[] reduce(p0, p1), dimensions={0}", "attribute to_apply is missing"),
    ("s32[3] s32[]", "s32[] reduce(p0, p1), dimensions={0}, to_apply=add", r"must take \(s32\[\], s32\[\]\)"),
    ("f32[3] f32[]", "f32[] reduce(p0, p1), dimensions={0}, to_apply=ge", r"must give f32\[\], its root is pred"),
    ("f32[3] f32[]", "f32[] reduce(p0, p1), dimensions={0}, to_apply={}", "to_apply must name one computation"),
    ("u8[3] u8[3]", "f32[3] map(p0, p1), dimensions={0}, to_apply=add", r"must take \(u8\[\], u8\[\]\)"),
    ("f32[3]", "f32[3] sort(p0), dimensions={0}, to_apply=ge, is_stable=LT", "is_stable must be true or false"),
    ("f32[3]", "f32[3] reduce-precision(p0), exponent_bits=5", "mantissa_bits is missing"),
    ("f32[3]", "f32[3] reduce-precision(p0), exponent_bits=0, mantissa_bits=1", "exponent_bits must be 1 or more"),
    ("c64[1,1,4] f64[1,1,2]", "f64[1,1,3] convolution(p0, p1), window={size=2}, dim_labels=bf0_io0->bf0",
     "neither of c64 and f64"),
    ("f32[1,4,4] f32[2,3,2]", "f32[1,3,3] convolution(p0, p1), window={size=2}, dim_labels=bf0_io0->bf0, "
     "feature_group_count=2", "do not divide"),
    ("s8[1,1,4] u8[1,1,2]", "s32[1,1,3] convolution(p0, p1), window={size=2}, dim_labels=bf0_io0->bf0", "neither of s8"),
    ("s32[1,1,4] f32[1,1,2]", "f32[1,1,3] convolution(p0, p1), window={size=2}, dim_labels=bf0_io0->bf0", "neither of"),
    ("s32[1,1,4] f64[1,1,2]", "f32[1,1,3] convolution(p0, p1), window={size=2}, dim_labels=bf0_io0->bf0", ""),
    ("f32[1,1,4] c64[1,1,2]", "c64[1,1,3] convolution(p0, p1), window={size=2}, dim_labels=bf0_io0->bf0", ""),
    ("f32[3] s32[1] f32[5]", "f32[3] scatter(p0, p1, p2), update_window_dims={0}, inserted_window_dims={}, "
     "scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=add", "larger than the operand"),
    ("f32[3] f32[1] f32[2]", "f32[3] scatter(p0, p1, p2), update_window_dims={0}, inserted_window_dims={}, "
     "scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=add", "indices must be integers, found f32"),
    ("f32[3] s32[1] s32[2]", "f32[3] scatter(p0, p1, p2), update_window_dims={0}, inserted_window_dims={}, "
     "scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=add", "its updates of s32"),
    ("f32[2,5,2] s32[2,1]", "f32[2,5] gather(p0, p1), offset_dims={1}, collapsed_slice_dims={}, start_index_map={1}, "
     "operand_batching_dims={0,2}, start_indices_batching_dims={0,0}, index_vector_dim=1, slice_sizes={1,5,1}",
     "dimension 0, twice"),
    ("f32[2,5] s32[3,1]", "f32[3,5] gather(p0, p1), offset_dims={1}, collapsed_slice_dims={}, start_index_map={1}, "
     "operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=1, slice_sizes={1,5}", "do not pair"),
    ("f32[4,5,6] s32[3,1]", "f32[5,3,6] gather(p0, p1), offset_dims={2,0}, collapsed_slice_dims={0}, start_index_map={0}, "
     "index_vector_dim=1, slice_sizes={1,5,6}", "offset_dims must ascend"),
    ("f32[4] f32[2] f32[]", "f32[4] select-and-scatter(p0, p1, p2), window={size=2 stride=2}, select=ge, scatter=add", ""),
    ("f32[4] f32[2] f32[3]", "f32[4] select-and-scatter(p0, p1, p2), window={size=2 stride=2}, select=ge, scatter=add",
     "operand 2 must be a scalar"),
    ("f32[4] f32[3] f32[]", "f32[4] select-and-scatter(p0, p1, p2), window={size=2 stride=2}, select=ge, scatter=add",
     r"a source of \[2\]"),
    ("f32[4]", "f32[4] all-reduce(p0), replica_groups={}", "attribute to_apply is missing"),
    ("f32[4]", "f32[4] all-reduce(p0), replica_groups={{0,2}}, to_apply=add", "0, 1, ... once each, found 2"),
    ("f32[4]", "f32[9] all-gather(p0), replica_groups={{0,1}}, dimensions={0}",
     r"all-gather: f32\[9\] must be f32\[4\], but with dimension 0 2 times as large, as a group has 2 members"),
    ("f32[4]", "f32[9] all-gather(p0), replica_groups={{0}}, dimensions={0}",
     r"f32\[9\] must be f32\[4\], but with dimension 0 a multiple of it"),
    ("f32[4]", "f32[3] reduce-scatter(p0), replica_groups={{0,1}}, dimensions={0}, to_apply=add",
     r"f32\[4\] must be f32\[3\], but with dimension 0 2 times as large"),
    ("f32[5]", "f32[5] all-to-all(p0), replica_groups={{0,1}}, dimensions={0}", "does not divide by 2"),
    ("f32[4]", "f32[4] all-to-all(p0), dimensions={0}", "replica_groups must name the groups"),
    ("f32[4]", "f32[4] all-to-all(p0), replica_groups={}, dimensions={0}", "replica_groups must name the groups"),
    ("f32[4]", "f32[4] collective-permute(p0), source_target_pairs={{0,1},{0,2}}", "stands twice"),
    ("f32[4]", "f32[3] collective-permute(p0), source_target_pairs={{0,1}}", "the operands give"),
    ("f32[4] f32[8] s32[] s32[]", "f32[8] collective-permute(p0, p1, p2, p3), source_target_pairs={{0,1},{0,2}}, "
     "slice_sizes={{2},{2}}", ""),
    ("f32[4] f32[8] s32[] s32[]", "f32[4] collective-permute(p0, p1, p2, p3), source_target_pairs={{0,1}}, "
     "slice_sizes={{2}}", "the operands give"),
    ("f32[4] f32[8]", "f32[8] collective-permute(p0, p1), source_target_pairs={{0,1}}, slice_sizes={{2}}",
     "slice_sizes need four operands"),
    ("f32[4] f32[8] s32[] s32[]", "(f32[4], f32[8], u32[], u32[]) collective-permute-start(p0, p1, p2, p3), "
     "source_target_pairs={{0,1}}, slice_sizes={{2}}", "it needs one user, collective-permute-done"),
    ("f32[4] f32[8] s32[] s32[]", "(f32[8], f32[8], u32[], u32[]) collective-permute-start(p0, p1, p2, p3), "
     "source_target_pairs={{0,1}}, slice_sizes={{2}}", r"the shape must begin with \(f32\[4\], f32\[8\]\)"),
    ("f32[2,3]", "f32[2,3] cholesky(p0)", "square matrices"),
    ("f32[8]", "c64[5] fft(p0), fft_type=RFFT, fft_length={8}", ""),
    ("f32[8]", "c64[8] fft(p0), fft_type=RFFT, fft_length={8}", "the operands give"),
    ("f32[8]", "c64[8] fft(p0), fft_type=FFT, fft_length={8}", "do not fit"),
    ("c64[5]", "f32[8] fft(p0), fft_type=IRFFT, fft_length={8}", ""),
    ("s8[4,5] s8[5] s8[5]", "(s8[4,5], s8[5], s8[5]) batch-norm-training(p0, p1, p2), epsilon=0.1, feature_index=1",
     "must be floating point"),
    ("f32[4,5] f32[4] f32[5]", "(f32[4,5], f32[5], f32[5]) batch-norm-training(p0, p1, p2), epsilon=0.1, feature_index=1",
     "operand 1 must have sizes"),
    ("f32[8]", "(f32[3], f32[3]) topk(p0), k=3", "the operands give"),
    ("f32[8]", "(f32[9], s32[9]) topk(p0), k=9", "more than a row"),
    ("f32[] f32[]", "f64[2] rng(p0, p1), distribution=rng_uniform", "the operands give"),
    ("s32[] s32[]", "s32[2] rng(p0, p1), distribution=rng_normal", r"rng_normal draws floating point, not s32\[\]"),
    ("s32[] s32[]", "s32[2] rng(p0, p1), distribution=rng_uniform", ""),
    ("c64[] c64[]", "c64[2] rng(p0, p1), distribution=rng_uniform", r"found c64\[\]"),
    ("f32[2] f32[2]", "pred[2] compare(p0, p1), direction=LT, type=TOTALORDER", ""),
    ("f32[2] f32[2]", "pred[2] compare(p0, p1), direction=LT, type=UNSIGNED", "must be FLOAT or TOTALORDER, found UNSIGNED"),
    ("c64[2] c64[2]", "pred[2] compare(p0, p1), direction=EQ, type=TOTALORDER", "must be FLOAT, found TOTALORDER"),
    ("s32[2] s32[2]", "pred[2] compare(p0, p1), direction=LT, type=TOTALORDER", "must be SIGNED"),
    ("u32[2] u32[2]", "pred[2] compare(p0, p1), direction=LT, type=SIGNED", "must be UNSIGNED"),
    ("pred[2] pred[2]", "pred[2] compare(p0, p1), direction=LT, type=UNSIGNED", ""),
    ("pred[] token[] token[]", "token[] select(p0, p1, p2)", "operand 1 must be an array"),
    ("u64[2]", "(u64[3], u32[4]) rng-bit-generator(p0), algorithm=rng_default", "the operands give"),
    ("u64[3]", "(u64[3], u32[4]) rng-bit-generator(p0), algorithm=rng_philox", ""),
    ("u64[3]", "u32[4] rng-bit-generator(p0), algorithm=rng_philox", ""),
    ("u64[3]", "(u32[4]) rng-bit-generator(p0), algorithm=rng_philox", r"bits are no \(u32\[4\]\)"),
    ("u64[3]", "(u64[3], u32[4]) rng-bit-generator(p0), algorithm=rng_three_fry", r"u64\[n\] with n in \[2\]"),
    ("u64[4]", "(u64[4], u32[4]) rng-bit-generator(p0), algorithm=rng_default", r"u64\[n\] with n in \[2, 3\]"),
    ("u64[]", "(u64[], u32[4]) rng-bit-generator(p0), algorithm=rng_default", r"the state must be u64\[n\]"),
    ("u32[2]", "(u32[2], u32[4]) rng-bit-generator(p0), algorithm=rng_philox", r"the state must be u64\[n\]"),
    ("u64[2]", "(u64[2], pred[4]) rng-bit-generator(p0), algorithm=rng_philox", r"bits are no pred\[4\]"),
    ("u64[2]", "(u64[2], c64[4]) rng-bit-generator(p0), algorithm=rng_philox", r"bits are no c64\[4\]"),
    ("f32[2,3]", "s8[2,12] bitcast(p0)", ""),
    ("f32[2,3]", "s8[2,3] bitcast(p0)", "takes 24 bytes, the result 6"),
    ("pred[4]", "s4[8] bitcast(p0)", ""),
    ("f8e4m3fn[4,64] f8e4m3fn[64,6] f8e8m0fnu[2,2] bf16[]", "f32[4,6] scaled-dot(p0, p1, p2, p3), "
     "lhs_contracting_dims={1}, rhs_contracting_dims={0}", ""),
    ("f8e4m3fn[4,64] f8e4m3fn[64,6] f8e8m0fnu[4,3] bf16[]", "f32[4,6] scaled-dot(p0, p1, p2, p3), "
     "lhs_contracting_dims={1}, rhs_contracting_dims={0}", r"f8e8m0fnu\[4,3\] does not divide f8e4m3fn\[4,64\]"),
    ("f8e4m3fn[4,64] f8e4m3fn[64,6] f8e8m0fnu[] f8e8m0fnu[128,6]", "f32[4,6] scaled-dot(p0, p1, p2, p3), "
     "lhs_contracting_dims={1}, rhs_contracting_dims={0}", r"f8e8m0fnu\[128,6\] does not divide"),
    ("f8e4m3fn[4,64] f8e4m3fn[64,6] f8e8m0fnu[2] f8e8m0fnu[]", "f32[4,6] scaled-dot(p0, p1, p2, p3), "
     "lhs_contracting_dims={1}, rhs_contracting_dims={0}", r"f8e8m0fnu\[2\] does not divide"),
    ("f32[4]", "f32[8] all-gather(p0), channel_id=1, use_global_device_ids=true, replica_groups={{0,1}}, dimensions={0}", ""),
    ("f32[4]", "f32[8] all-gather(p0), channel_id=0, use_global_device_ids=true, replica_groups={{0,1}}, dimensions={0}",
     "needs a channel_id of 1 or more"),
    ("f32[4]", "f32[4] all-reduce(p0), channel_id=-1, use_global_device_ids=true, replica_groups={{0,1}}, to_apply=add",
     "needs a channel_id of 1 or more"),
    ("f32[4]", "f32[8] all-gather(p0), channel_id=1, use_global_device_ids=true, dimensions={0}", "needs replica_groups"),
    ("f32[4]", "f32[8] all-gather(p0), replica_groups={{0,1},{2,3,4}}, dimensions={0}", "equally large, .* of 2 and 3"),
    ("f32[4]", "f32[2] reduce-scatter(p0), replica_groups={{0,1},{2}}, dimensions={0}, to_apply=add", "equally large"),
    ("f32[4] f32[4]", "(f32[4], f32[4]) all-to-all(p0, p1), replica_groups={{0,1},{2}}", "equally large"),
    ("f32[4]", "f32[4] all-to-all(p0), replica_groups={{0,1},{2}}, dimensions={0}", "equally large"),
    ("f32[4] f32[4] s32[2] s32[2] s32[2] s32[2]", "f32[4] ragged-all-to-all(p0, p1, p2, p3, p4, p5), "
     "replica_groups={{0,1},{2}}", "equally large"),
    ("f32[4]", "f32[4] all-reduce(p0), replica_groups={{0,1},{2}}, to_apply=add", ""),
    ("f32[4]", "f32[4] all-reduce(p0), replica_groups={{0},{}}, to_apply=add", "has an empty group"),
    ("f32[4]", "f32[4] collective-broadcast(p0), replica_groups={{0,1},{}}", "has an empty group"),
    ("f32[4]", "f32[4] collective-broadcast(p0), replica_groups={{0,1},{2,3,4}}", ""),
    ("f32[4]", "f32[4] collective-reduce(p0), channel_id=1, replica_groups={{0,1}}, to_apply=add", ""),
    ("f32[4]", "f32[5] collective-reduce(p0), to_apply=add", "the operands give"),
    ("f32[4]", "f32[4] collective-reduce(p0), to_apply=one", "must take 2 scalars"),
    ("f32[5,3] f32[3]", "(f32[4,3], f32[3]) scan(p0, p1), dimensions={0}, num_carries=1, to_apply=step", "of the 5 steps"),
    ("f32[2] f32[2]", "s8[2] stochastic-convert(p0, p1)", "as many unsigned bits"),
    ("f32[2] token[]", "token[] outfeed(p0, p1), outfeed_shape=f32[3]", ""),
    ("f32[2]", 'f32[] custom-call(p0), custom_call_target="x", operand_layout_constraints={f32[2]{0}}', ""),
    ("f32[2]", 'f32[] custom-call(p0), custom_call_target="x", operand_layout_constraints={f32[3]{0}}', "does not fit"),
    ("f32[5,3] f32[3]", "(f32[5,3], f32[3]) scan(p0, p1), dimensions={0}, num_carries=1, to_apply=step", ""),
    ("f32[5,4] f32[3]", "(f32[5,3], f32[3]) scan(p0, p1), dimensions={0}, num_carries=1, to_apply=step", "take and give a step"),
    ("f32[5,3] f32[3]", "(f32[5,4], f32[3]) scan(p0, p1), dimensions={0}, num_carries=1, to_apply=step", "take and give a step"),
    ("f32[6,4] f32[2,4,3] s32[2]", "f32[6,3] ragged-dot(p0, p1, p2), lhs_contracting_dims={1}, rhs_contracting_dims={1}, "
     "lhs_ragged_dims={0}, rhs_group_dims={0}", ""),
    ("f32[6,4] f32[2,4,3] s32[3]", "f32[6,3] ragged-dot(p0, p1, p2), lhs_contracting_dims={1}, rhs_contracting_dims={1}, "
     "lhs_ragged_dims={0}, rhs_group_dims={0}", "do not fit the groups"),
    ("f32[6,4] f32[2,4,3] s32[6,2]", "f32[6,3] ragged-dot(p0, p1, p2), lhs_contracting_dims={1}, rhs_contracting_dims={1}, "
     "lhs_ragged_dims={0}, rhs_group_dims={0}", r"one row, or rows for \[\], found \[6\]"),
    ("f32[5,6,4] f32[2,4,3] s32[5,2]", "f32[5,6,3] ragged-dot(p0, p1, p2), lhs_contracting_dims={2}, rhs_contracting_dims={1}, "
     "lhs_ragged_dims={1}, rhs_group_dims={0}", ""),
    ("f32[7,6,4] f32[7,6,3] s32[4,2]", "f32[2,4,3] ragged-dot(p0, p1, p2), lhs_contracting_dims={0,1}, "
     "rhs_contracting_dims={0,1}, lhs_ragged_dims={1}", r"rows for \[7\], found \[4\]"),
    ("f32[7,6,4] f32[7,6,4,3] s32[7,2]", "f32[7,6,3] ragged-dot(p0, p1, p2), lhs_batch_dims={0,1}, rhs_batch_dims={0,1}, "
     "lhs_contracting_dims={2}, rhs_contracting_dims={2}, lhs_ragged_dims={1}", ""),
    ("s32[] f32[2]", "f32[2] conditional(p0, p1)", "needs branch_computations"),
    ("f32[2] f32[2]", "f32[2] add-dependency(p0, p1)", "expected a token"),
]  # fmt: skip

CALLED = """
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
less {
  a = f32[] parameter(0) b = f32[] parameter(1) c = s32[] parameter(2) d = s32[] parameter(3)
  ROOT e = pred[] compare(a, b), direction=LT
}
one { ROOT a = f32[2] parameter(0) }
ge { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=GE }
step {
  a = f32[3] parameter(0) b = f32[3] parameter(1) c = f32[3] add(a, b) ROOT d = (f32[3], f32[3]) tuple(c, c)
}
"""


def shapes(text: str) -> list[str]:
    return [text] if text.startswith("(") else text.split()


@pytest.mark.parametrize(("operands", "instruction", "wrong"), CASES, ids=range(len(CASES)))
def test_shapes(operands: str, instruction: str, wrong: str) -> None:
    parameters = [f"p{i} = {shape} parameter({i})" for i, shape in enumerate(shapes(operands))]
    text = CALLED + "ENTRY e {\n" + "\n".join(parameters) + f"\nROOT r = {instruction}\n}}"
    if not wrong:
        assert ix.hlo.parse(text).entry.root.name == "r"
        return
    with pytest.raises(ix.ParseError, match=wrong) as caught:
        ix.hlo.parse(text)
    assert text.split("\n")[caught.value.line - 1].startswith("ROOT r = ")


@pytest.mark.parametrize(("operands", "instruction"), [c[:2] for c in CASES if not c[2]])
def test_a_shape_that_the_text_leaves_out(operands: str, instruction: str) -> None:
    """It is the one that the text could say; where the operands do not tell it, the error says so."""
    _, call = re.fullmatch(r"(\(.*?\)|\S+) ([a-z].*)", instruction).groups()
    parameters = [f"p{i} = {shape} parameter({i})" for i, shape in enumerate(shapes(operands))]
    start = CALLED + "ENTRY e {\n" + "\n".join(parameters)
    try:
        actual = ix.hlo.parse(f"{start}\nROOT r = {call}\n}}").entry.root.shape
    except ix.ParseError as error:
        assert "expected the shape in front of the opcode" in str(error)
        return
    written = ix.hlo.parse(f"{start}\nROOT r = {instruction}\n}}").entry.root.shape
    assert [e.dimensions for e in actual.elements] == [e.dimensions for e in written.elements]
    assert "?" in operands or actual.dimensions == written.dimensions
