"""The numpy reference of HLO: whole programs, computations, single instructions."""

from indexing.ops.interpret import apply as apply
from indexing.ops.interpret import evaluate_instruction as evaluate_instruction
from indexing.ops.interpret import run_computation as run_computation
from indexing.reference.evaluation import evaluate as evaluate
from indexing.reference.evaluation import evaluate_replicas as evaluate_replicas
