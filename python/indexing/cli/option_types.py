"""Types and groups of options that several commands have."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from indexing.errors import IndexingError

if TYPE_CHECKING:
    from indexing.analysis.device import Device

__all__ = ["add_device", "add_file", "nonnegative_integer", "nonnegative_number", "port", "sizes"]

MAX_PORT = 65535


def add_file(sub: argparse.ArgumentParser) -> None:
    """Add the program that a command reads."""
    about = "HLO text or a protocol buffer, StableHLO, a jax.export, a folder of XLA's dumps; - reads standard input"
    sub.add_argument("file", metavar="FILE", help=about)


def add_device(sub: argparse.ArgumentParser) -> None:
    """Add the option for the device whose memory moves the data."""
    from indexing.analysis.device import DEVICES  # imports numpy, which other commands do not need

    about = f"whose memory: {', '.join(DEVICES)} (default: H100)"
    sub.add_argument("--device", type=_memory_device, default="H100", help=about)


def _memory_device(name: str) -> Device:
    from indexing.analysis.device import device_named

    try:
        return device_named(name)
    except IndexingError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def nonnegative_integer(text: str) -> int:
    """A nonnegative integer."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no integer from 0")
    return int(text)


def port(text: str) -> int:
    """The number of a port."""
    number = nonnegative_integer(text)
    if number > MAX_PORT:
        raise argparse.ArgumentTypeError(f"there is no port {number}: the last is {MAX_PORT}")
    return number


def sizes(text: str) -> tuple[int, ...]:
    """Nonnegative integers, separated by commas."""
    return tuple(nonnegative_integer(part) for part in text.split(","))


def nonnegative_number(text: str) -> float:
    """A nonnegative number."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not number >= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 0")
    return number
