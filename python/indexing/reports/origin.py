"""The makers of kernels in XLA's programs: those of other compilers and libraries differ from this package's; and the
arguments whose memory a program may write.
"""

from __future__ import annotations

from indexing.hlo import Instruction

_FUSION_KINDS = {"__triton": "Triton", "__cudnn": "cuDNN", "__cublas": "cuBLAS"}
_CALLS = {
    "__cublas": "cuBLAS",
    "__cudnn": "cuDNN",
    "cusolver": "cuSOLVER",
    "__cusolver": "cuSOLVER",
    "__onednn": "oneDNN",
    "__triton": "Triton",
}
_MADE_BY_XLA = (
    "__cublas",
    "__cudnn",
    "__cusolver",
    "__onednn",
)  # other calls, of frameworks, are in programs from the start


def is_made_by_xla(i: Instruction) -> bool:
    """Whether XLA puts such an instruction into the programs that it optimizes: a fusion, or a call of a library."""
    return i.is_fusion or i.text("custom_call_target", "").startswith(_MADE_BY_XLA)


def kernel_of_xla(i: Instruction) -> str:
    """A sentence about a kernel that is not XLA's own, such as one by Triton; empty for all others."""
    if i.is_fusion:
        config = i.attributes.get("backend_config", "")
        maker = next((name for kind, name in _FUSION_KINDS.items() if f'"{kind}' in config), "")
        return (
            f"XLA computes this by a kernel of {maker}; what stands here is about this package's kernel"
            if maker
            else ""
        )
    target = i.text("custom_call_target", "")
    maker = next((name for start, name in _CALLS.items() if target.startswith(start)), "")
    return f"XLA calls {maker} for this" if maker else ""


def is_donated(argument: Instruction) -> bool:
    """Whether the program may write into the memory of an argument."""
    return f"({argument.parameter_number}," in argument.module.attributes.get("input_output_alias", "")
