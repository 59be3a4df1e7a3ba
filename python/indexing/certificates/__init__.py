"""Certificates of simplification, and a checker of them that shares nothing with the simplifier.

The checker has its own reader (`reader.py`), its own arithmetic (`forms.py`), and derives what it needs from the steps alone
(`entailment.py`, `laws.py`, `checker.py`). `solver.py` asks an SMT solver instead.
"""

from indexing.certificates.certificate import Certificate, recorded
from indexing.certificates.step import Step

__all__ = ["Certificate", "Step", "recorded"]
