"""What a wheel must hold: every file of the package, and one compiled core; `make smoke` runs this."""

import sys
import zipfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "python"
COMPILED = (".pyc", ".so", ".pyd")


def sources() -> set[str]:
    """The files of the package, as a wheel names them."""
    actual = (f for f in FOLDER.rglob("*") if f.is_file() and f.suffix not in COMPILED)
    return {f.relative_to(FOLDER).as_posix() for f in actual}


def differences(wheel: Path) -> list[str]:
    """What the wheel lacks, and what it has besides."""
    with zipfile.ZipFile(wheel) as opened:
        packed = {name for name in opened.namelist() if ".dist-info/" not in name}
    cores = {name for name in packed if name.startswith("indexing/_core.") and name.endswith((".so", ".pyd"))}
    lacks = [f"{wheel} lacks {name}" for name in sorted(sources() - packed)]
    besides = [f"{wheel} has {name}, which the package has not" for name in sorted(packed - sources() - cores)]
    return [*lacks, *besides, *([] if len(cores) == 1 else [f"{wheel} has {len(cores)} compiled cores, not one"])]


if __name__ == "__main__":
    sys.exit("\n".join(line for wheel in sys.argv[1:] for line in differences(Path(wheel))) or 0)
