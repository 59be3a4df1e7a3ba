"""The conditions under which plans are measured."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from indexing.errors import IndexingError
from indexing.lazy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Conditions:
    """`inputs` of the user, else some made by `seed`; with `warm`, they may be in the caches before a call."""

    seed: int = 0
    warm: bool = False
    inputs: tuple[NDArray[Any], ...] | None = field(default=None, compare=False)
    content: str = field(init=False)

    def __post_init__(self) -> None:
        """Compute the hash of the inputs, by which conditions are compared. Raises IndexingError for a negative seed."""
        if self.seed < 0:
            raise IndexingError(f"seed is 0 or more; got {self.seed}")
        object.__setattr__(self, "content", "" if self.inputs is None else _hash_of(self.inputs))

    @property
    def key(self) -> str:
        """The text in the store; empty for conditions without options."""
        return ", ".join(filter(None, ("warm" if self.warm else "", f"inputs {self.content}" if self.content else "")))


def _hash_of(arrays: tuple[NDArray[Any], ...]) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.dtype} {array.shape} ".encode() + np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
