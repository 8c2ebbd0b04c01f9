"""Import a large package when something of it is first needed."""

from __future__ import annotations

import sys
import threading
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

_REPLACING = threading.Lock()


class _LateModule(ModuleType):
    """Take the place of a package until one of its attributes is read. importlib.util.LazyLoader imports the package
    as soon as a second `import` statement reads `__spec__`."""

    def __getattr__(self, name: str) -> Any:
        with _REPLACING:
            if sys.modules.get(self.__name__) is self:
                del sys.modules[self.__name__]
        module = import_module(self.__name__)
        vars(self).update(vars(module))
        return getattr(module, name)


def import_late(package: str) -> None:
    """Have a package imported when it is first used. Call this for processes of slant's own only: others may look for
    it among the imported modules."""
    if package not in sys.modules and (spec := find_spec(package)) is not None:
        sys.modules[package] = module = _LateModule(package)
        module.__spec__ = spec
