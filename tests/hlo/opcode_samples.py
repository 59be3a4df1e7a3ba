"""One small program for each opcode of HLO, valid as it stands."""

from __future__ import annotations

__all__ = ["COMPUTATIONS", "ELSEWHERE", "SAMPLES", "program"]

#: Opcodes whose sample has no value, or none for values drawn at random, by the file of `tests/ops` with programs of theirs.
ELSEWHERE = {
    "test_ops_collective.py": frozenset(
        """all-gather all-gather-done all-gather-start all-reduce all-reduce-done all-reduce-start all-to-all
        collective-broadcast collective-permute collective-permute-done collective-permute-start ragged-all-to-all
        reduce-scatter""".split()
    ),
    "test_ops_control.py": frozenset(
        """add-dependency after-all async-start async-update copy-start custom-call get-tuple-element infeed outfeed recv
        recv-done rng-get-and-update-state send send-done while""".split()
    ),
    "test_ops_algebra.py": frozenset(["rng"]),
    "test_ops_shape.py": frozenset(["dynamic-reshape", "set-dimension-size"]),
}

COMPUTATIONS = """
%add {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %s = f32[] add(%x, %y)
}
%less {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %l = pred[] compare(%x, %y), direction=LT
}
%negated {
  %x = f32[2,3] parameter(0)
  ROOT %n = f32[2,3] negate(%x)
}
%going_on {
  %x = f32[2,3] parameter(0)
  ROOT %t = pred[] constant(true)
}
%step {
  %c = f32[3] parameter(0)
  %x = f32[3] parameter(1)
  %s = f32[3] add(%c, %x)
  ROOT %t = (f32[3], f32[3]) tuple(%s, %s)
}
"""

_FLOATS = """acos acosh asin asinh atanh cbrt ceil cosine cosh erf exponential exponential-minus-one floor log
log-plus-one logistic round-nearest-afz round-nearest-even rsqrt sine sinh sqrt tan tanh negate abs sign real imag
copy opt-barrier"""
_INTEGERS = "not popcnt count-leading-zeros"
_PAIRS = "add atan2 divide maximum minimum multiply power remainder subtract"
_INTEGER_PAIRS = "and or xor mulhi shift-left shift-right-arithmetic shift-right-logical"

_GATHER = "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,5}"
_SCATTER = "update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1"
_GROUPS = "channel_id=1, replica_groups={{0,1}}"
_NORM = "epsilon=0.001, feature_index=1"

#: Opcode: shapes of the parameters p0, p1, ...; the instruction.
SAMPLES: dict[str, tuple[str, str]] = {
    **{name: ("f32[2,3]", f"f32[2,3] {name}(p0)") for name in _FLOATS.split()},
    **{name: ("u32[2,3]", f"u32[2,3] {name}(p0)") for name in _INTEGERS.split()},
    **{name: ("f32[2,3] f32[2,3]", f"f32[2,3] {name}(p0, p1)") for name in _PAIRS.split()},
    **{name: ("s32[2,3] s32[2,3]", f"s32[2,3] {name}(p0, p1)") for name in _INTEGER_PAIRS.split()},
    "add-dependency": ("f32[2,3] token[]", "f32[2,3] add-dependency(p0, p1)"),
    "after-all": ("token[] token[]", "token[] after-all(p0, p1)"),
    "all-gather": ("f32[2,3]", f"f32[2,6] all-gather(p0), {_GROUPS}, dimensions={{1}}, use_global_device_ids=true"),
    "all-gather-done": (
        "f32[2,3]",
        f"f32[4,3] all-gather-done(s)\n  s = (f32[2,3], f32[4,3]) all-gather-start(p0), {_GROUPS}, dimensions={{0}}",
    ),
    "all-reduce": ("f32[2,3]", f"f32[2,3] all-reduce(p0), {_GROUPS}, to_apply=add"),
    "all-reduce-done": (
        "f32[2,3]",
        f"f32[2,3] all-reduce-done(s)\n  s = f32[2,3] all-reduce-start(p0), {_GROUPS}, to_apply=add",
    ),
    "all-to-all": ("f32[4,3]", f"f32[4,3] all-to-all(p0), {_GROUPS}, dimensions={{0}}"),
    "async-done": (
        "f32[2,3]",
        "f32[2,3] async-done(u)\n  s = ((f32[2,3]), f32[2,3], u32[]) async-start(p0), calls=negated\n"
        "  u = ((f32[2,3]), f32[2,3], u32[]) async-update(s)",
    ),
    "batch-norm-grad": (
        "f32[2,3] f32[3] f32[3] f32[3] f32[2,3]",
        f"(f32[2,3], f32[3], f32[3]) batch-norm-grad(p0, p1, p2, p3, p4), {_NORM}",
    ),
    "batch-norm-inference": (
        "f32[2,3] f32[3] f32[3] f32[3] f32[3]",
        f"f32[2,3] batch-norm-inference(p0, p1, p2, p3, p4), {_NORM}",
    ),
    "batch-norm-training": (
        "f32[2,3] f32[3] f32[3]",
        f"(f32[2,3], f32[3], f32[3]) batch-norm-training(p0, p1, p2), {_NORM}",
    ),
    "bitcast": ("f32[2,3]", "f32[6] bitcast(p0)"),
    "bitcast-convert": ("f32[2,3]", "u8[2,3,4] bitcast-convert(p0)"),
    "broadcast": ("f32[3]", "f32[2,3] broadcast(p0), dimensions={1}"),
    "call": ("f32[2,3]", "f32[2,3] call(p0), to_apply=negated"),
    "cholesky": ("f32[5,3,3]", "f32[5,3,3] cholesky(p0), lower=true"),
    "clamp": ("f32[] f32[2,3] f32[]", "f32[2,3] clamp(p0, p1, p2)"),
    "collective-broadcast": ("f32[2,3]", f"f32[2,3] collective-broadcast(p0), {_GROUPS}"),
    "collective-permute": (
        "f32[2,3]",
        "f32[2,3] collective-permute(p0), channel_id=1, source_target_pairs={{0,1},{1,0}}",
    ),
    "collective-permute-done": (
        "f32[2,3]",
        "f32[2,3] collective-permute-done(s)\n"
        "  s = (f32[2,3], f32[2,3]) collective-permute-start(p0), channel_id=1, source_target_pairs={{0,1},{1,0}}",
    ),
    "compare": ("f32[2,3] f32[2,3]", "pred[2,3] compare(p0, p1), direction=LT"),
    "complex": ("f32[2,3] f32[2,3]", "c64[2,3] complex(p0, p1)"),
    "concatenate": ("f32[2,3] f32[2,4]", "f32[2,7] concatenate(p0, p1), dimensions={1}"),
    "conditional": (
        "s32[] f32[2,3]",
        "f32[2,3] conditional(p0, p1, p1), branch_computations={negated, negated}",
    ),
    "constant": ("f32[]", "f32[2] constant({1, 2})"),
    "convert": ("f32[2,3]", "s8[2,3] convert(p0)"),
    "convolution": (
        "f32[2,8,6,4] f32[3,2,4,5]",
        "f32[2,3,5,5] convolution(p0, p1), window={size=3x2 stride=3x1 pad=0_1x0_0}, dim_labels=b01f_01io->b01f",
    ),
    "copy-done": ("f32[2,3]", "f32[2,3] copy-done(s)\n  s = (f32[2,3], f32[2,3], u32[]) copy-start(p0)"),
    "custom-call": ("f32[2,3]", 'f32[2,3] custom-call(p0), custom_call_target="unheard_of"'),
    "domain": ("f32[2,3]", 'f32[2,3] domain(p0), domain={kind="sharding", entry={replicated}, exit={replicated}}'),
    "dot": (
        "f32[5,2,3] f32[5,3,4]",
        "f32[5,2,4] dot(p0, p1), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, "
        "rhs_contracting_dims={1}",
    ),
    "dynamic-reshape": ("f32[2,3] s32[]", "f32[<=6] dynamic-reshape(p0, p1)"),
    "dynamic-slice": ("f32[8,9] s32[] s32[]", "f32[2,3] dynamic-slice(p0, p1, p2), dynamic_slice_sizes={2,3}"),
    "dynamic-update-slice": ("f32[8,9] f32[2,3] s32[] s32[]", "f32[8,9] dynamic-update-slice(p0, p1, p2, p3)"),
    "fft": ("c64[2,8]", "c64[2,8] fft(p0), fft_type=FFT, fft_length={8}"),
    "fusion": ("f32[2,3]", "f32[2,3] fusion(p0), kind=kLoop, calls=negated"),
    "gather": ("f32[4,5] s32[3,1]", f"f32[3,5] gather(p0, p1), {_GATHER}"),
    "get-dimension-size": ("f32[2,3]", "s32[] get-dimension-size(p0), dimensions={1}"),
    "get-tuple-element": ("(f32[2],s32[3])", "s32[3] get-tuple-element(p0), index=1"),
    "infeed": ("token[]", "((f32[2], s32[3]), token[]) infeed(p0)"),
    "iota": ("f32[]", "s32[3,4] iota(), iota_dimension=1"),
    "is-finite": ("f32[2,3]", "pred[2,3] is-finite(p0)"),
    "map": ("f32[2,3] f32[2,3]", "f32[2,3] map(p0, p1), dimensions={0,1}, to_apply=add"),
    "outfeed": ("f32[2] token[]", "token[] outfeed(p0, p1), outfeed_shape=f32[2]"),
    "pad": ("f32[5,2] f32[]", "f32[12,3] pad(p0, p1), padding=1_2_1x-1_2"),
    "parameter": ("f32[]", "f32[2] parameter(1)"),
    "partition-id": ("f32[]", "u32[] partition-id()"),
    "ragged-all-to-all": (
        "f32[8,3] f32[8,3] s32[2] s32[2] s32[2] s32[2]",
        "f32[8,3] ragged-all-to-all(p0, p1, p2, p3, p4, p5), replica_groups={{0,1}}",
    ),
    "ragged-dot": (
        "f32[6,4] f32[2,4,3] s32[2]",
        "f32[6,3] ragged-dot(p0, p1, p2), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, "
        "rhs_group_dims={0}",
    ),
    "recv-done": (
        "token[]",
        "(f32[2], token[]) recv-done(s), channel_id=2\n  s = (f32[2], u32[], token[]) recv(p0), channel_id=2",
    ),
    "reduce": ("f32[2,3] f32[]", "f32[2] reduce(p0, p1), dimensions={1}, to_apply=add"),
    "reduce-precision": ("f32[2,3]", "f32[2,3] reduce-precision(p0), exponent_bits=5, mantissa_bits=10"),
    "reduce-scatter": ("f32[4,3]", f"f32[2,3] reduce-scatter(p0), {_GROUPS}, dimensions={{0}}, to_apply=add"),
    "reduce-window": ("f32[8,3] f32[]", "f32[3,3] reduce-window(p0, p1), window={size=3x1 stride=2x1}, to_apply=add"),
    "replica-id": ("f32[]", "u32[] replica-id()"),
    "reshape": ("f32[2,3]", "f32[3,2] reshape(p0)"),
    "reverse": ("f32[2,3]", "f32[2,3] reverse(p0), dimensions={1}"),
    "rng": ("f32[] f32[]", "f32[2,3] rng(p0, p1), distribution=rng_uniform"),
    "rng-bit-generator": ("u64[2]", "(u64[2], u32[4]) rng-bit-generator(p0), algorithm=rng_three_fry"),
    "rng-get-and-update-state": ("f32[]", "u64[2] rng-get-and-update-state(), delta=4"),
    "scaled-dot": (
        "f32[4,8] f32[8,6] f32[4,1] f32[1,6]",
        "f32[4,6] scaled-dot(p0, p1, p2, p3), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    ),
    "scan": (
        "f32[5,3] f32[3]",
        "(f32[5,3], f32[3]) scan(p0, p1), dimensions={0}, num_carries=1, is_reverse=false, to_apply=step",
    ),
    "scatter": ("f32[4,5] s32[3,1] f32[3,5]", f"f32[4,5] scatter(p0, p1, p2), {_SCATTER}, to_apply=add"),
    "select": ("pred[2,3] f32[2,3] f32[2,3]", "f32[2,3] select(p0, p1, p2)"),
    "select-and-scatter": (
        "f32[6,3] f32[3,3] f32[]",
        "f32[6,3] select-and-scatter(p0, p1, p2), window={size=2x1 stride=2x1}, select=less, scatter=add",
    ),
    "send-done": (
        "f32[2] token[]",
        "token[] send-done(s), channel_id=1\n  s = (f32[2], u32[], token[]) send(p0, p1), channel_id=1",
    ),
    "set-dimension-size": ("f32[2,3] s32[]", "f32[2,<=3] set-dimension-size(p0, p1), dimensions={1}"),
    "slice": ("f32[10,4]", "f32[3,4] slice(p0), slice={[1:9:3], [0:4]}"),
    "sort": ("f32[2,8]", "f32[2,8] sort(p0), dimensions={1}, is_stable=true, to_apply=less"),
    "stochastic-convert": ("f32[2,3] u32[2,3]", "s8[2,3] stochastic-convert(p0, p1)"),
    "topk": ("f32[2,8]", "(f32[2,3], s32[2,3]) topk(p0), k=3, largest=true"),
    "transpose": ("f32[2,3,4]", "f32[4,2,3] transpose(p0), dimensions={2,0,1}"),
    "triangular-solve": (
        "f32[3,3] f32[3,2]",
        "f32[3,2] triangular-solve(p0, p1), left_side=true, lower=true, transpose_a=NO_TRANSPOSE",
    ),
    "tuple": ("f32[2] s32[3]", "(f32[2], s32[3]) tuple(p0, p1)"),
    "while": ("f32[2,3]", "f32[2,3] while(p0), condition=going_on, body=negated"),
}

#: What starts, and goes on, stands in the program of what ends it.
SAMPLES |= {
    opcode: SAMPLES[end]
    for end, opcodes in {
        "all-gather-done": "all-gather-start",
        "all-reduce-done": "all-reduce-start",
        "async-done": "async-start async-update",
        "collective-permute-done": "collective-permute-start",
        "copy-done": "copy-start",
        "recv-done": "recv",
        "send-done": "send",
    }.items()
    for opcode in opcodes.split()
}


def program(opcode: str) -> str:
    """The program of an opcode. What its instruction needs in front of it stands on the lines behind it."""
    shapes, instruction = SAMPLES[opcode]
    line, *before = instruction.split("\n")
    parameters = [f"p{k} = {shape} parameter({k})" for k, shape in enumerate(shapes.split())]
    lines = [*parameters, *(b.strip() for b in before), f"ROOT r = {line}"]
    header = "HloModule sample, replica_count=2\n"
    return header + COMPUTATIONS + "ENTRY %e {\n" + "".join(f"  {text}\n" for text in lines) + "}\n"
