"""The numpy reference of HLO: whole programs, computations, single instructions."""

from indexing.reference.evaluation import evaluate, evaluate_replicas
from indexing.reference.interpreter import apply, evaluate_instruction, run_computation

__all__ = [
    "apply",
    "evaluate",
    "evaluate_instruction",
    "evaluate_replicas",
    "run_computation",
]
