"""The content of a computation, a key in which no names occur."""

from __future__ import annotations

import hashlib

from indexing.graph.extraction import build_kernel_module
from indexing.graph.flattening import flatten
from indexing.graph.nodes import needed_nodes, tree_refs
from indexing.hlo import Computation


def content_key(computation: Computation) -> str:
    """A hash that is equal for computations that compute the same results by the same instructions in the same layouts.

    Names, annotations, the order of parameters, instructions that no result needs, and calls do not change it: a computation,
    a fusion of it and the copy that planning makes have one key. It is stable across processes.
    """
    graph = flatten(computation)
    needed, outputs = needed_nodes(graph), tuple(tree_refs(graph.result))
    members = [node for node in graph.nodes if node in needed and not node.instruction.is_parameter]
    content = build_kernel_module(members, outputs, graph).module.content if members else computation.shape
    return hashlib.sha256(repr(content).encode()).hexdigest()
