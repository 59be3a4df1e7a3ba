"""Targets: the languages of kernel sources, one object each. Nothing outside of this package asks which one it is."""

from __future__ import annotations

from indexing.kernels.targets.c import C
from indexing.kernels.targets.c_family import arguments, shared_bytes, write
from indexing.kernels.targets.cuda import CUDA
from indexing.kernels.targets.opencl import OPENCL
from indexing.kernels.targets.target import Target

__all__ = ["TARGETS", "Target", "arguments", "shared_bytes", "write"]

TARGETS: dict[str, Target] = {target.name: target for target in (CUDA, C, OPENCL)}
