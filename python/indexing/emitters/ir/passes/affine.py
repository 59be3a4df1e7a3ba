"""Index expressions that neighbouring threads step through evenly, written out over thread ids and counters of loops.

`i floordiv 256` with i = bl_x * 128 + th_x is `bl_x floordiv 2`: the same for all threads. Where the expression that results
is affine in th_x, a compiler sees loads of neighbouring elements, or one load for all; elsewhere the names stay.
"""

from __future__ import annotations

from dataclasses import replace

from indexing._core import SymbolicExpr, variable
from indexing.emitters.ir import nodes as ir
from indexing.emitters.ir.traversal import rewrite_values

THREAD = 0


def make_indices_affine(kernel: ir.Kernel) -> ir.Kernel:
    """The kernel with such index expressions in its entry."""
    given = {
        s.variable: s.value
        for s in ir.statements(kernel.body)
        if isinstance(s, ir.LetIndex) and isinstance(s.value, SymbolicExpr)
    }
    if not given or kernel.block[0] == 1:
        return kernel
    return replace(kernel, body=rewrite_values(kernel.body, lambda value: value, _Affine(kernel, given).expression))


class _Affine:
    def __init__(self, kernel: ir.Kernel, given: dict[int, SymbolicExpr]) -> None:
        self.given = given
        self.intervals = [v.interval for v in kernel.variables]
        self.found: dict[SymbolicExpr, SymbolicExpr] = {}
        self.whole: dict[int, SymbolicExpr] = {}

    def expression(self, expression: SymbolicExpr) -> SymbolicExpr:
        """The expression written out, where that is affine in the thread; else itself."""
        if not any(v in self.given for v in expression.used_variables()):
            return expression
        if expression not in self.found:
            out = self._written_out(expression).simplify(self.intervals)
            self.found[expression] = out if _is_affine(out) else expression
        return self.found[expression]

    def _written_out(self, expression: SymbolicExpr) -> SymbolicExpr:
        used = expression.used_variables()
        return expression.replace_variables([self._variable(v) for v in range(max(used, default=-1) + 1)])

    def _variable(self, number: int) -> SymbolicExpr:
        if number not in self.given:
            return variable(number)
        if number not in self.whole:
            self.whole[number] = variable(number)  # until it is known
            self.whole[number] = self._written_out(self.given[number]).simplify(self.intervals)
        return self.whole[number]


def _is_affine(expression: SymbolicExpr) -> bool:
    used = expression.used_variables()
    if THREAD not in used:
        return True
    here = [variable(v) for v in range(max(used) + 1)]
    here[THREAD] = variable(THREAD) + 1
    step = expression.replace_variables(here) - expression
    return step.constant_value is not None
