"""A connection to a Ray cluster, local or remote, whose nodes run tasks."""

from __future__ import annotations

import importlib
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from indexing.errors import UnsupportedOp
from indexing.extras import missing_extra

MAX_CONNECT = 20.0  # seconds until a cluster answers


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """The module `ray`, connected to the cluster at `address`. Raises UnsupportedOp if Ray or the cluster is missing."""
    try:
        ray: Any = importlib.import_module("ray")
    except ImportError as missing:
        raise UnsupportedOp(missing_extra("a Ray cluster", "ray", missing)) from None
    _reach(address)
    try:
        ray.init(address=address, log_to_driver=False, logging_level="ERROR")
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise UnsupportedOp(f"there is no Ray cluster at {address}: {error}") from None
    try:
        yield ray
    finally:
        ray.shutdown()


def _reach(address: str) -> None:
    """Raise UnsupportedOp if nothing listens at a host and port: Ray would retry for many minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=MAX_CONNECT).close()
    except (OSError, OverflowError, UnicodeError) as error:
        raise UnsupportedOp(f"there is no Ray cluster at {address}: {error}") from None
