"""Imports at first use of what takes long to load: names of this package, numpy, and processes.

`import indexing` loads maps alone. What works on programs imports numpy from here: it takes longer to load than a
thousand maps to simplify, and starts threads, but only values of arrays need it.
"""

import sys

__all__ = ["load_later", "ml_dtypes", "multiprocessing", "np"]
TYPE_CHECKING = False  # typing takes as long to load as all maps need; importlib, types and __future__ as the half
if TYPE_CHECKING:
    from types import ModuleType
else:
    ModuleType = type(sys)


def imported(name: str) -> ModuleType:
    """The module of this name, wherever its package is."""
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


def load_later(package: str) -> None:
    """Let the names that the stub of a package imports be loaded when they are asked for; the package is being imported."""
    module = sys.modules[package]
    with open(f"{module.__file__}i", encoding="utf-8") as stub:
        words = [line.split() for line in stub if line.startswith("from ")]
    homes = {name: home for _, home, *_, name in words}
    public = sorted(name for name in homes if not name.startswith("_"))
    vars(module).update(_homes=homes, __all__=public)
    module.__class__ = Package
