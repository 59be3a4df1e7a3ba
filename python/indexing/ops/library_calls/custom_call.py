"""custom-call: a table translates library calls to HLO; calls of other targets are unknown.

An entry has the targets, the opcode that they stand for, and the function that reads the call's attributes and builds
the HLO. Maps, their inverses and the reference are those of that computation. LAPACK's factorizations, which no HLO states,
are entries of a table of their own (`lapack.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from indexing.errors import UnsupportedOp
from indexing.hlo import BuiltInstruction, Computation, Instruction
from indexing.hlo.module_cache import cached_by_signature
from indexing.ops.expansion import Expansion, is_workspace
from indexing.ops.library_calls import convolutions, lapack, onednn, products, solvers, sorted_runs
from indexing.ops.library_calls.configs import UNREADABLE, Config, backend_config
from indexing.ops.op import ComputationMaps, Interpreter, Op, RunsComputations, ThroughComputations
from indexing.ops.operand_indexing import Indexing, unknown
from indexing.ops.operation_count import CountInside, OperationCount
from indexing.ops.values import HloValue, only_array


@dataclass(frozen=True, slots=True)
class LibraryCall:
    """An entry of the table: `write` builds the HLO and returns the first results; further results are workspaces."""

    targets: tuple[str, ...]
    opcode: str
    write: Callable[[Expansion, Config], Sequence[BuiltInstruction]]


def _same(body: Expansion, config: Config) -> list[BuiltInstruction]:
    """The operand itself: the call is only an annotation."""
    return [body.operand(0)]


_LAPACK = "sdcz"
LIBRARY_CALLS = (
    LibraryCall(("__cublas$gemm", "__cublas$lt$matmul"), "dot", products.gemm),
    LibraryCall(("__cublas$lt$matmul$f8",), "dot", products.scaled_gemm),
    LibraryCall(("__onednn$matmul",), "dot", onednn.matmul),
    LibraryCall(("__cudnn$convForward",), "convolution", convolutions.forward),
    LibraryCall(("__cudnn$convBiasActivationForward",), "convolution", convolutions.bias_activation),
    LibraryCall(("__cudnn$convBackwardInput",), "convolution", convolutions.backward_input),
    LibraryCall(("__cudnn$convBackwardFilter",), "convolution", convolutions.backward_filter),
    LibraryCall(("__onednn$convolution",), "convolution", onednn.conv),
    LibraryCall(("__onednn$softmax",), "exponential", onednn.softmax),
    LibraryCall(("__onednn$layernorm",), "rsqrt", onednn.layer_norm),
    LibraryCall(("__cublas$triangularSolve",), "triangular-solve", solvers.triangular_solve),
    LibraryCall(tuple(f"lapack_{t}trsm_ffi" for t in _LAPACK), "triangular-solve", solvers.lapack_solve),
    LibraryCall(
        (
            "__cusolver$cholesky",
            "cusolver_potrf_ffi",
            "hipsolver_potrf_ffi",
            *(f"lapack_{t}potrf_ffi" for t in _LAPACK),
        ),
        "cholesky",
        solvers.cholesky,
    ),
    LibraryCall(("TopK", "__gpu$TopK"), "topk", solvers.top_k),
    LibraryCall((sorted_runs.SORT_RUNS,), "sort", sorted_runs.write_sorted_runs),
    LibraryCall(
        (
            "Sharding",
            "SPMDFullToShardShape",
            "SPMDShardToFullShape",
            "annotate_device_placement",
            "LayoutConstraint",
            "MoveToHost",
            "MoveToDevice",
            "AssumeGatherIndicesInBound",
            "xla.sdy.FuncResultSharding",
        ),
        "copy",
        _same,
    ),
)
_BY_TARGET = {target: line for line in LIBRARY_CALLS for target in line.targets}
_LAPACK_BY_TARGET = {target: line for line in lapack.LAPACK_CALLS for target in line.targets}


def custom_call_target(i: Instruction) -> str:
    """The target's name, without its quotes."""
    return i.text("custom_call_target", "")


@cached_by_signature
def stands_for(i: Instruction) -> Computation | lapack.LapackCall | str:
    """The computation that a call stands for, its operands as parameters; a routine of LAPACK; or why it is unknown."""
    target = custom_call_target(i)
    line, routine = _BY_TARGET.get(target), _LAPACK_BY_TARGET.get(target)
    try:
        if routine is not None:
            lapack.check(routine, i, backend_config(i))
            return routine
        if line is None:
            return f"what custom-call {target!r} computes is known to its library only"
        body = Expansion(i)
        return body.finish(line.write(body, backend_config(i)))
    except UNREADABLE as error:
        name = routine.routine if line is None and routine is not None else line.opcode if line is not None else target
        return f"custom-call {target!r} can't be read as {name}: {(str(error).splitlines() or [''])[0]}"


def lapack_routine(i: Instruction) -> str | None:
    """The name, without the letter of the type, of LAPACK's routine that an instruction calls; None if it calls none."""
    meaning = stands_for(i) if i.opcode == "custom-call" else None
    return meaning.routine if isinstance(meaning, lapack.LapackCall) else None


def _from_output(i: Instruction, output: int, maps: ComputationMaps) -> Indexing:
    meaning = stands_for(i)
    if isinstance(meaning, str):
        return [[unknown(f"{meaning}: it may read anything")] for _ in i.operands]
    if isinstance(meaning, lapack.LapackCall):
        sizes, count = i.shape.leaves[output].dimensions, lapack.batch_rank(i)
        return [[lapack.whole_matrices(sizes, o.shape.dimensions, count)] for o in i.operands]
    return maps.output_to_input(meaning, output, i.operands)


def _from_input(i: Instruction, operand: int, maps: ComputationMaps) -> Indexing:
    meaning = stands_for(i)
    if isinstance(meaning, str):
        return [[unknown(f"{meaning}: it may use its operands for anything")] for _ in i.shape.leaves]
    if isinstance(meaning, lapack.LapackCall):
        sizes, count = i.operands[operand].shape.dimensions, lapack.batch_rank(i)
        return [[lapack.whole_matrices(sizes, leaf.dimensions, count)] for leaf in i.shape.leaves]
    return maps.input_to_output(meaning, operand, i.operands)


def _reference(i: Instruction, operands: Sequence[HloValue], interpreter: Interpreter) -> HloValue:
    meaning = stands_for(i)
    if isinstance(meaning, str):
        raise UnsupportedOp(_refusal(i) or "")
    if isinstance(meaning, lapack.LapackCall):
        results = lapack.values(meaning, i, backend_config(i), [only_array(o) for o in operands])
        return results if i.shape.is_tuple else results[0]
    return interpreter.run(meaning, operands)


def _refusal(i: Instruction) -> str | None:
    meaning = stands_for(i)
    if not isinstance(meaning, str):
        return None
    advice = "replace it by HLO, or end the program there and pass what it gives as a parameter to another one"
    return f"{i.name}: {meaning}; {advice}"


def _expansion(i: Instruction) -> Computation | None:
    meaning = stands_for(i)
    if not isinstance(meaning, lapack.LapackCall):
        return None if isinstance(meaning, str) else meaning
    body = Expansion(i)
    results = meaning.expand(body)
    return None if results is None else body.finish(results)


def _workspaces(i: Instruction) -> int:
    """The results behind those of the HLO that the call stands for, which are zeros there."""
    expansion = _expansion(i)
    results = () if expansion is None or not i.shape.is_tuple else expansion.root.operands
    return sum(1 for _ in takewhile(is_workspace, reversed(results)))


def _operations(i: Instruction, inside: CountInside) -> OperationCount:
    """Those of the HLO that the call stands for; unknown for other targets."""
    expansion = _expansion(i)
    return OperationCount(unknown=1) if expansion is None else inside(expansion)


OPS: tuple[Op, ...] = (
    Op(
        "custom-call",
        "the formula of the HLO that the library call stands for; of annotations out[i] = in[i]",
        ThroughComputations(_from_output),
        RunsComputations(_reference),
        ThroughComputations(_from_input),
        refusal=_refusal,
        exactness="as exact as that HLO; a bound for factorizations; unknown for other targets",
        expansion=_expansion,
        workspaces=_workspaces,
        operations=_operations,
    ),
)
