"""Load the public names of a package when they are asked for: help must not wait for DuckDB, aiohttp or R."""

from __future__ import annotations

import ast
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from slant.collector.system.child_processes import garbage_left
from slant.collector.system.operating_system import check_supported


def on_demand(package: str, file: str) -> tuple[list[str], Callable[[str], Any]]:
    """Return the public names of a package, those that its file imports under TYPE_CHECKING, and its `__getattr__`."""
    tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    for_types = next(node.body for node in tree.body if isinstance(node, ast.If))
    imports = [node for node in for_types if isinstance(node, ast.ImportFrom)]
    module_of = {alias.name: str(node.module) for node in imports for alias in node.names}

    def load(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        check_supported()
        with garbage_left():
            return getattr(import_module(module_of[name]), name)

    return sorted(module_of), load
