"""A differential fuzzer: random HLO modules, held against jaxlib's CPU client."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests" / "oracles"))  # what tests judge by as well
