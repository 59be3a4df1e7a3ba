"""What a wheel must hold: every file of the package that is tracked, and the compiled core; `make smoke` runs this."""

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def tracked() -> set[str]:
    """The files of the package, as a wheel names them."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT / "python", check=True, capture_output=True, text=True)
    return {name for name in listed.stdout.split("\0") if name and (ROOT / "python" / name).exists()}


def differences(wheel: Path) -> list[str]:
    """What the wheel lacks, and what it has besides."""
    with zipfile.ZipFile(wheel) as opened:
        packed = {name for name in opened.namelist() if ".dist-info/" not in name}
    cores = {name for name in packed if name.startswith("indexing/_core.") and name.endswith((".so", ".pyd"))}
    lacks = [f"{wheel} lacks {name}" for name in sorted(tracked() - packed)]
    besides = [f"{wheel} has {name}, which is not tracked" for name in sorted(packed - tracked() - cores)]
    return [*lacks, *besides, *([] if len(cores) == 1 else [f"{wheel} has {len(cores)} compiled cores, not one"])]


if __name__ == "__main__":
    sys.exit("\n".join(line for wheel in sys.argv[1:] for line in differences(Path(wheel))) or 0)
