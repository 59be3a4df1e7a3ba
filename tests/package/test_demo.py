"""The demo runs from start to end, writes its page, and says that the result is right."""

import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def test_the_demo(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    command = [sys.executable, str(EXAMPLES / "demo.py"), str(EXAMPLES / "rotary.hlo"), str(page)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert page.read_text().startswith("<!DOCTYPE html>") and str(page) in done.stdout
    for said in ("of it lost", "limit", "__global__", "checks proved", "First call", "the reference"):
        assert said in done.stdout
    assert "DIFFERS" not in done.stdout
