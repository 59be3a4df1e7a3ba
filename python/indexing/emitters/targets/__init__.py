"""Targets: the languages of kernel sources, one object each. Nothing outside of this package asks which one it is."""

from __future__ import annotations

from indexing.emitters.targets.c import C
from indexing.emitters.targets.c_family import arguments, shared_bytes, write
from indexing.emitters.targets.cuda import CUDA
from indexing.emitters.targets.opencl import OPENCL
from indexing.emitters.targets.target import Target

__all__ = ["TARGETS", "Target", "arguments", "shared_bytes", "write"]

TARGETS: dict[str, Target] = {target.name: target for target in (CUDA, C, OPENCL)}
