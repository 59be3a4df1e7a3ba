"""Imports at first use of what takes long to load: names of this package, numpy, and processes.

`import indexing` loads maps alone. What works on programs imports numpy from here: it takes longer to load than a
thousand maps to simplify, and starts threads, but only values of arrays need it.

A process that forks while another thread imports a module can never import that module, for Python's lock of it has no owner
any more. So `os.fork` waits for the imports of other threads that begin here.
"""

import os
import sys
import time
from _thread import get_ident  # as `threading` has it, which takes long to load

__all__ = ["load_later", "ml_dtypes", "multiprocessing", "np"]
TYPE_CHECKING = False  # typing takes as long to load as all maps need; importlib, types and __future__ as the half
if TYPE_CHECKING:
    from types import ModuleType
else:
    ModuleType = type(sys)


MAX_FORK_WAIT = 30.0  # seconds; an import may itself wait for what the forking thread holds
_importing: dict[int, int] = {}  # by thread, how many imports it is inside of


class _Import:
    """Marks that this thread imports."""

    def __enter__(self) -> None:
        me = get_ident()
        _importing[me] = _importing.get(me, 0) + 1

    def __exit__(self, *error: object) -> None:
        me = get_ident()
        _importing[me] -= 1
        if not _importing[me]:
            del _importing[me]


def _before_fork() -> None:
    end = time.monotonic() + MAX_FORK_WAIT
    while any(thread != get_ident() for thread in list(_importing)) and time.monotonic() < end:
        time.sleep(0.001)


def _after_fork_in_child() -> None:
    for thread in list(_importing):
        if thread != get_ident():
            del _importing[thread]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_after_fork_in_child)


def imported(name: str) -> ModuleType:
    """The module of this name, wherever its package is."""
    with _Import():
        __import__(name)
    return sys.modules[name]


class Package(ModuleType):
    """A package some of whose names come from elsewhere: `_homes` gives the module each is imported from."""

    _homes: dict[str, str]
    __all__: list[str]

    def __getattr__(self, name: str) -> object:
        """The value of `from home import name`, kept for the next time."""
        home = self._homes.get(name)
        if home is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}", name=name, obj=self)
        if home == self.__name__:
            value: object = imported(f"{home}.{name}")
        else:
            with _Import():
                value = getattr(__import__(home, fromlist=[name]), name)  # which may be a module
        self.__dict__[name] = value
        return value

    def __dir__(self) -> list[str]:
        """The public names, loaded or not, and those that every module has."""
        return sorted({*self.__all__, *(name for name in self.__dict__ if name.startswith("__"))})


class Library:
    """A library that is loaded when one of its names is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> object:
        """The value of a name that was not used before, kept for the next time."""
        value: object = getattr(imported(self._name), name)
        setattr(self, name, value)
        return value


if TYPE_CHECKING:
    import multiprocessing

    import ml_dtypes
    import numpy as np
else:
    ml_dtypes, np = Library("ml_dtypes"), Library("numpy")
    multiprocessing = Library("multiprocessing")


def load_later(package: str, names: dict[str, str]) -> None:
    """Let a package, which is being imported, load names when they are asked for: `names` of each module, between spaces."""
    module = sys.modules[package]
    homes = {name: home for home, of_home in names.items() for name in of_home.split()}
    public = sorted(name for name in homes if not name.startswith("_"))
    vars(module).update(_homes=homes, __all__=public)
    module.__class__ = Package
