"""Names of the package that are loaded when they are first asked for.

`import indexing` loads maps alone: what works on programs needs numpy, which takes longer to load than a thousand maps
to simplify, and starts threads.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType


class Package(ModuleType):
    """A package some of whose names come from elsewhere: `_homes` gives the module each is imported from."""

    _homes: dict[str, str]

    def __getattr__(self, name: str) -> object:
        """What `from home import name` gives, kept for the next time."""
        home = self._homes.get(name)
        if home is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}", name=name, obj=self)
        if home == self.__name__:
            value: object = import_module(f"{home}.{name}")
        else:
            value = getattr(__import__(home, fromlist=[name]), name)
        self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value: object) -> None:
        """Set, but keep `emit` and `partition` functions when the import system binds the modules of these names."""
        if not isinstance(value, ModuleType) or self._homes.get(name, self.__name__) == self.__name__:
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        """All names, loaded or not."""
        return sorted({*self.__dict__, *self._homes})


def load_later(package: str, names: dict[str, str]) -> None:
    """Let names of a package that is being imported be loaded when asked for; `names` lists those of each module."""
    module = sys.modules[package]
    homes = {name: home for home, found in names.items() for name in found.split()}
    public = {name for name in vars(module) if not name.startswith("_") and name != "TYPE_CHECKING"}
    vars(module).update(_homes=homes, __all__=sorted(public | set(homes)))
    module.__class__ = Package
