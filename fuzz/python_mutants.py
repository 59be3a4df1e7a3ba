"""Mutants of the formulas of ops, of the generic inverse and of the partitioner: one small fault each, which a test must find.

    python fuzz/python_mutants.py --count 40 --seed 7 [--list] [MODULE ...]

Prints the seed. A fault is put into a copy of the package; the tests of the module run on it, then those of all maps.
Ends with 1 where fewer than 95 in 100 mutants are found. Mutants that mean the same as the program stand in EQUIVALENT,
each with the reason.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import indexing

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path(indexing.__file__).parent  # with its built core
ENOUGH = 0.95
SECONDS = 300  # far above what the tests take on a busy machine: what runs longer does not end
#: Modules, and the tests that find their faults soonest.
MODULES = {
    "ops/operand_indexing.py": "tests/ops/test_ops_shape.py",
    "ops/assemble.py": "tests/ops/test_ops_shape.py",
    "ops/shape.py": "tests/ops/test_ops_shape.py",
    "ops/dynamic.py": "tests/ops/test_ops_indexed.py",
    "ops/slice_starts.py": "tests/ops/test_ops_indexed.py",
    "ops/gather.py": "tests/ops/test_ops_indexed.py",
    "ops/indexed_slices.py": "tests/ops/test_ops_indexed.py",
    "ops/scatter.py": "tests/ops/test_ops_indexed.py",
    "ops/window.py": "tests/ops/test_ops_window.py",
    "ops/window_index.py": "tests/ops/test_ops_contraction.py",
    "ops/dependence.py": "tests/ops/test_ops_ordered.py",
    "ops/reduce.py": "tests/ops/test_ops_window.py",
    "ops/dot.py": "tests/ops/test_ops_contraction.py",
    "ops/convolution.py": "tests/ops/test_ops_contraction.py",
    "ops/sort.py": "tests/ops/test_ops_ordered.py",
    "ops/scan.py": "tests/ops/test_ops_ordered.py",
    "ops/linalg.py": "tests/ops/test_ops_algebra.py",
    "ops/tuples.py": "tests/ops/test_ops_control.py",
    "ops/control.py": "tests/ops/test_ops_control.py",
    "ops/collective.py": "tests/ops/test_ops_collective.py",
    "ops/replica_groups.py": "tests/ops/test_ops_collective.py",
    "indexing_analysis/generic_inverse.py": "tests/indexing_analysis/test_generic_inverse.py",
    "indexing_analysis/access.py": "tests/partitioner",
    "partitioner.py": "tests/partitioner",
}
ALL_MAPS = ("tests/ops", "tests/indexing_analysis", "tests/partitioner")
#: What a formula gives: functions with such a result are mutated, and outside of ops/ all.
RESULTS = ("Indexing", "IndexingMap", "SymbolicExpr", "Constraint", "Starts", "Start", "_Gather", "_Scatter", "bool")
#: Mutants that no test can find, by name, with the reason.
EQUIVALENT = {
    "ops/window_index.py: never_pads: dim.pad_low <= 0 -> dim.pad_low < 0": "the reference pads by nothing, in vain",
    "ops/linalg.py: _at_least: n - 1 -> n + 1": "two indices of a dimension are n - 1 apart at most",
    "ops/scan.py: _order: s.length - 1 -> s.length + 1": "two steps are length - 1 apart at most",
    "ops/convolution.py: _from_lhs: c.batch_groups > 1 -> c.batch_groups >= 1": "a single group is that of all batches",
}

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


@dataclass(frozen=True)
class Mutant:
    """`node` of the module (by its place in a walk) is replaced; `change` says in which function and how, for people."""

    module: str
    node: int
    kind: str
    line: int
    change: str

    @property
    def name(self) -> str:
        return f"{self.module}: {self.change}"

    def __str__(self) -> str:
        return f"{self.module}:{self.line}: {self.change}"


def mutants(module: str) -> Iterator[Mutant]:
    """Every mutant of a module; equal changes of a function are numbered."""
    tree = ast.parse((PACKAGE / module).read_text(encoding="utf-8"))
    function = {id(n): f.name for f in functions(module, tree) for s in f.body for n in ast.walk(s)}
    types = {id(n) for annotation in annotations(tree) for n in ast.walk(annotation)}
    equal = Counter[str]()
    for number, node in enumerate(ast.walk(tree)):
        if id(node) not in function or id(node) in types:
            continue
        for kind in faults(node):
            changed = mutated(copy.deepcopy(node), kind)
            change = f"{function[id(node)]}: {ast.unparse(node)} -> {ast.unparse(changed)}"
            equal[change] += 1
            count = f" ({equal[change]})" if equal[change] > 1 else ""
            yield Mutant(module, number, kind, node.lineno, change + count)


def annotations(tree: ast.Module) -> Iterator[ast.AST]:
    """The types that the code states, which nothing evaluates."""
    for node in ast.walk(tree):
        yield from (t for t in (getattr(node, "annotation", None), getattr(node, "returns", None)) if t is not None)


def functions(module: str, tree: ast.Module) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            result = ast.unparse(node.returns) if node.returns else ""
            if not module.startswith("ops/") or any(word in result for word in RESULTS):
                if not node.name.startswith("__"):
                    yield node


def faults(node: ast.AST) -> Iterator[str]:
    """The names of the faults that a node can have."""
    if isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in SWAPS and not is_text(node):
        yield "operator"
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in SWAPS:
        yield "operator"
    if isinstance(node, ast.Constant) and type(node.value) is int:
        yield "number"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
        yield "unary"
    if isinstance(node, ast.IfExp):
        yield "branches"
    if isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Load) and len(node.elts) > 1:
        yield "last"


def is_text(node: ast.AST) -> bool:
    return any(isinstance(n, ast.JoinedStr) or isinstance(getattr(n, "value", None), str) for n in ast.walk(node))


def mutated(node: ast.AST, kind: str) -> ast.AST:
    """The node with its fault; where a part stays alone, that part."""
    if kind == "operator" and isinstance(node, ast.BinOp | ast.BoolOp):
        node.op = SWAPS[type(node.op)]()  # type: ignore[assignment]
    elif kind == "operator" and isinstance(node, ast.Compare):
        node.ops = [SWAPS[type(node.ops[0])]()]  # type: ignore[list-item]
    elif kind == "number" and isinstance(node, ast.Constant):
        node.value = int(node.value) + 1  # type: ignore[arg-type]
    elif kind == "unary" and isinstance(node, ast.UnaryOp):
        return node.operand
    elif kind == "branches" and isinstance(node, ast.IfExp):
        node.body, node.orelse = node.orelse, node.body
    elif kind == "last" and isinstance(node, ast.Tuple):
        node.elts = node.elts[:-1]
    return node


class Replacement(ast.NodeTransformer):
    """Puts a fault into the node that is reached."""

    def __init__(self, target: ast.AST, kind: str) -> None:
        self.target, self.kind = target, kind

    def visit(self, node: ast.AST) -> ast.AST:
        return mutated(node, self.kind) if node is self.target else self.generic_visit(node)


def source_of(mutant: Mutant) -> str:
    tree = ast.parse((PACKAGE / mutant.module).read_text(encoding="utf-8"))
    target = next(n for k, n in enumerate(ast.walk(tree)) if k == mutant.node)
    return ast.unparse(ast.fix_missing_locations(Replacement(target, mutant.kind).visit(tree)))


def is_found(mutant: Mutant) -> bool:
    """Whether a test fails, or runs without end, on a copy of the package with the fault."""
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "indexing"
        shutil.copytree(PACKAGE, package)
        (package / mutant.module).write_text(source_of(mutant), encoding="utf-8")
        return any(fails(folder, tests) for tests in ([MODULES[mutant.module]], ALL_MAPS))


def fails(folder: str, tests: list[str] | tuple[str, ...]) -> bool:
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--no-header", *tests]
    environment = {**os.environ, "PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        print(f"  no end within {SECONDS} s: {' '.join(tests)}", flush=True)
        return True
    return done.returncode != 0


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("modules", nargs="*", default=list(MODULES), metavar="MODULE")
    options.add_argument("--count", type=int, default=40)
    options.add_argument("--seed", type=int, default=None)
    options.add_argument("--list", action="store_true", help="print the mutants, and run nothing")
    chosen = options.parse_args()
    seed = secrets.randbits(32) if chosen.seed is None else chosen.seed
    every = [m for module in chosen.modules for m in mutants(module)]
    every = [m for m in every if m.name not in EQUIVALENT]
    sample = random.Random(seed).sample(every, min(chosen.count, len(every)))
    print(f"seed {seed}: {len(sample)} of {len(every)} mutants of {len(chosen.modules)} modules", flush=True)
    if chosen.list:
        print(*sample, sep="\n")
        return 0
    survivors = []
    for mutant in sample:
        if not is_found(mutant):
            survivors.append(mutant)
            print(f"survives: {mutant}", flush=True)
    share = 1 - len(survivors) / max(len(sample), 1)
    print(f"{len(sample) - len(survivors)} of {len(sample)} mutants are found: {share:.0%}")
    return 0 if share >= ENOUGH else 1


if __name__ == "__main__":
    raise SystemExit(main())
