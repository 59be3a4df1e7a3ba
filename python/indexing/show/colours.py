"""The colours of pictures on a light ground, and what each of them is on a dark one."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["ABSENT", "BACK", "DARK", "EMPTY", "INK", "LINE", "MUTED", "dark_rules", "in_dark", "with_scheme"]

INK, MUTED, LINE, BACK = "#222222", "#666666", "#999999", "#ffffff"
EMPTY, ABSENT = "#e4e4e4", "#f5f5f5"  # cells that nothing uses, and those that are not there
GIVEN, COUNTED, FUSED, LOOPING, OTHER = "#d9e8fb", "#eeeeee", "#fde9c9", "#f9d5d5", "#fdfdfd"  # instructions

#: Colours that are not here are the same on both.
DARK: Final = {
    INK: "#dcdcdc",
    MUTED: "#a0a3a9",
    LINE: "#7d828a",
    BACK: "#17191d",
    EMPTY: "#4a4e57",
    ABSENT: "#24272d",
    GIVEN: "#1f3a5a",
    COUNTED: "#383c44",
    FUSED: "#4d3b17",
    LOOPING: "#5a2b2b",
    OTHER: "#202329",
}


def dark_rules(scope: str) -> str:
    """Rules of CSS by which the scope, and what is in it, has its colours for a dark ground."""
    rules = (
        f':is({scope}, {scope} *)[{of}="{light}"] {{ {of}: {dark}; }}'
        for light, dark in DARK.items()
        for of in ("fill", "stroke")
    )
    return " ".join(rules)


def in_dark(svg: str) -> str:
    """The picture with the colours for a dark ground."""
    return re.sub(r'(?<==")#[0-9a-f]{6}(?=")', lambda colour: DARK.get(colour[0], colour[0]), svg)


def with_scheme(svg: str) -> str:
    """The picture with a ground, both in the colours of the reader's scheme: as a file, or in a notebook."""
    scope = "svg[data-scheme]"
    dark = f"{scope} {{ background: {DARK[BACK]}; }} {dark_rules(scope)}"
    style = f"<style>{scope} {{ background: {BACK}; }} @media (prefers-color-scheme: dark) {{ {dark} }}</style>"
    head, rest = svg.split(">", 1)
    return f'{head} data-scheme="both">{style}{rest}'
