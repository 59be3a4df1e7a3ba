"""The numpy reference of HLO: whole programs, computations, single instructions."""

from indexing.reference.evaluation import evaluate as evaluate
from indexing.reference.evaluation import evaluate_replicas as evaluate_replicas
from indexing.reference.interpreter import apply as apply
from indexing.reference.interpreter import evaluate_instruction as evaluate_instruction
from indexing.reference.interpreter import run_computation as run_computation
