"""Installing what an extra of this package needs, from wherever the package itself was installed.

A wheel's file, a checkout and an index are told apart by nothing that stays true: the file may be gone, no index may have
the package. What the extra lists is on every index, so its packages are named, for the interpreter that runs.
"""

from __future__ import annotations

import re
import shlex
import sys

DISTRIBUTION = "indexing"


def install_command(extra: str) -> str:
    """The command that installs the packages of an extra, such as `cpu`, as the end of "install ..."."""
    needed = _requirements(extra)
    if not needed:
        return f"the packages that pyproject.toml lists for {extra}"
    return "it with: " + shlex.join([sys.executable or "python", "-m", "pip", "install", *needed])


def missing_extra(what: str, extra: str, failure: ImportError) -> str:
    """The message where something needs an extra, and an import says that it isn't there."""
    return f"{what} needs the {extra} extra ({failure}); install {install_command(extra)}"


def _requirements(extra: str) -> list[str]:
    """The requirements that the installed distribution lists for the extra; none where the package runs from its sources."""
    from importlib import metadata  # loads what reads mail: as long as all of `indexing.hlo` else

    try:
        listed = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return []
    split = (line.partition(";") for line in listed)
    of_extra = re.compile(rf"""extra\s*==\s*(["']){re.escape(extra)}\1""")
    return [requirement.strip() for requirement, _, marker in split if of_extra.search(marker)]
