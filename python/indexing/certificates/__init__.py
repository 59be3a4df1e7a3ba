"""Certificates of answers about maps, and a check of them that shares nothing with the simplifier.

`checker/` has a reader and integer arithmetic of its own, and derives each step from those that it names; `solver.py` asks an
SMT solver instead.
"""

from indexing.certificates.answers import of_composition, of_emptiness, of_equivalence, of_instance, recorded
from indexing.certificates.certificate import Certificate, Verdict
from indexing.certificates.step import Step

__all__ = [
    "Certificate",
    "Step",
    "Verdict",
    "of_composition",
    "of_emptiness",
    "of_equivalence",
    "of_instance",
    "recorded",
]
