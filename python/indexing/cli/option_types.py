"""Types and groups of options that several commands have."""

from __future__ import annotations

import argparse

from indexing.device.detect import devices, find_device
from indexing.device.record import Device
from indexing.errors import IndexingError

MAX_PORT = 65535


def add_file(sub: argparse.ArgumentParser) -> None:
    """Add the program that a command reads."""
    about = "HLO text or a protocol buffer, StableHLO, a jax.export, a folder of XLA's dumps; - reads standard input"
    sub.add_argument("file", metavar="FILE", help=about)


def add_device(sub: argparse.ArgumentParser) -> None:
    """Add the option for the device that a program is analyzed for."""
    about = (
        f"{', '.join(d.name for d in devices())}, or a part of it, as h100 (default: this machine's GPU, else an H100)"
    )
    sub.add_argument("--device", metavar="NAME", type=named_device, help=about)


def named_device(name: str) -> Device:
    """The device of that name."""
    try:
        return find_device(name)
    except IndexingError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def nonnegative_integer(text: str) -> int:
    """A nonnegative integer."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected an integer from 0, found {text!r}")
    return int(text)


def positive_integer(text: str) -> int:
    """An integer from 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected an integer from 1, found {text!r}")
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
        raise argparse.ArgumentTypeError(f"expected a number from 0, found {text!r}")
    return number
