"""The independent check of certificates: it has a reader and arithmetic of its own, and uses nothing of the core."""

from indexing.certificates.checker.questions import check

__all__ = ["check"]
