"""Where compiled kernels are kept on disk."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from platformdirs import user_cache_path


def directory(kind: str) -> Path:
    """The folder for compiled kernels of one `kind`, made if need be.

    It lies under `INDEXING_CACHE_DIR`, else where the system keeps a user's caches; where that can't be written, under a
    folder of the user's own in the system's temporary directory.
    """
    for root in (
        _configured(),
        Path(tempfile.gettempdir()) / f"indexing-{os.getuid() if hasattr(os, 'getuid') else 0}",
    ):
        folder = root / kind
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError:
            continue
        if os.access(folder, os.W_OK) and _is_own(folder):
            return folder
    raise OSError(
        f"no folder to keep compiled kernels in can be written; set INDEXING_CACHE_DIR to one that can ({kind})"
    )


def _configured() -> Path:
    chosen = os.environ.get("INDEXING_CACHE_DIR")
    if chosen:
        return Path(chosen)
    return user_cache_path("indexing", appauthor=False)


def _is_own(folder: Path) -> bool:
    """Whether nobody else can have put something there; what lies there is loaded and run."""
    return not hasattr(os, "getuid") or folder.stat().st_uid == os.getuid()
