"""Which tests reach a file, the nearest first: by what Python imports and what it, R and SQL name.

python tools/reach.py FILE …
"""

from __future__ import annotations

import ast
import re
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_WORD = re.compile(r"[A-Za-z_.][\w.]*")
_DEFINED_IN_R = re.compile(r"^([\w.]+) <- function", re.M)
_FOLDERS = ("analysis", "bench", "collector", "tests", "tools")
# What everything begins with says nothing about what a test is about.
_SAYS_NOTHING = {"tests/conftest.py", "tests/support/__init__.py"}


@cache
def _text(file: Path) -> str:
    return file.read_text("utf-8", errors="replace")


class Reach:
    """The files of a checkout, and which of them each needs."""

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root
        python = [file for folder in _FOLDERS for file in root.glob(f"{folder}/**/*.py")]
        self._r = [*root.glob("R/*.R"), *root.glob("tests/testthat/*.R")]
        self._sql = [*root.glob("sql/views/*/*.sql"), *root.glob("sql/queries/*.sql")]
        self._modules = {self._module(file): file for file in [*python, root / "python" / "slant" / "__init__.py"]}
        # a view's file may begin with a number, which is no part of its name
        self._named = {re.sub(r"^\d+_", "", file.stem): file for file in self._sql}
        self._defined = {name: file for file in self._r for name in _DEFINED_IN_R.findall(_text(file))}
        self._users: dict[Path, set[Path]] = {}
        for file in [*self._modules.values(), *self._r, *self._sql]:
            for needed in set(self._needs(file)) - {file}:
                self._users.setdefault(needed, set()).add(file)

    def tests_of(self, changed: Iterable[str]) -> dict[str, int]:
        """Each file of tests that reaches a changed one, and over how many files it does so; the nearest first.

        A file that no test is known to reach (the design of a study, a page) is reached by all that name it.
        """
        found: dict[str, int] = {}
        for name in changed:
            for test, steps in self._tests_of(self.root / name):
                found[test] = min(steps, found.get(test, steps))
        return dict(sorted(found.items(), key=lambda item: (item[1], item[0])))

    def _tests_of(self, start: Path) -> Iterator[tuple[str, int]]:
        if start.is_relative_to(self.root / "tests" / "sql") or start.is_relative_to(self.root / "sql" / "views"):
            walkers = ("test_views", "test_paper_views", "test_view_heads")
            yield from ((f"tests/analysis/{name}.py", 1) for name in walkers)
        steps = {start: 0}
        if start not in self._users:
            steps |= {file: 1 for file in self._tests() if start.name in _text(file)}
        queue = deque(steps)
        while queue:
            file = queue.popleft()
            for user in self._users.get(file, ()):
                if user not in steps and user.relative_to(self.root).as_posix() not in _SAYS_NOTHING:
                    steps[user] = steps[file] + 1
                    queue.append(user)
        for file, far in steps.items():
            if is_test(file) and file.exists():
                yield file.relative_to(self.root).as_posix(), far

    def _tests(self) -> list[Path]:
        return [file for file in [*self._modules.values(), *self._r] if is_test(file)]

    def _module(self, file: Path) -> str:
        parts = file.relative_to(self.root).with_suffix("").parts
        if parts[0] in {"analysis", "collector"}:
            parts = ("slant", *parts)
        parts = parts[1:] if parts[0] in {"python", "tools"} else parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def _needs(self, file: Path) -> Iterator[Path]:
        if file.suffix == ".py":
            yield from self._needs_of_python(file)
        elif file.suffix == ".R":
            yield from (self._defined[word] for word in set(_WORD.findall(_text(file))) & self._defined.keys())
        else:
            yield from (self._named[word] for word in set(_WORD.findall(_text(file))) & self._named.keys())

    def _needs_of_python(self, file: Path) -> Iterator[Path]:
        """Modules imported anywhere in it, or named by a string, as lazy commands are; R functions and views that
        its strings name."""
        is_lazy = file.name == "__init__.py"  # it only says where each name is
        for node in ast.walk(ast.parse(_text(file))):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not is_lazy:
                names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and not is_lazy:
                yield from self._public.get((node.value.id, node.attr), ())
                continue
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                for word in set(_WORD.findall(node.value)):
                    yield from (where[word] for where in (self._defined, self._named, self._modules) if word in where)
                continue
            else:
                continue
            yield from (self._modules[name] for name in names if name in self._modules)

    @property
    def _public(self) -> dict[tuple[str, str], list[Path]]:
        """Where `slant.fit`, `analysis.fit` is: their modules name it for type checkers."""
        if not hasattr(self, "_homes"):
            self._homes: dict[tuple[str, str], list[Path]] = {}
            for half in ("analysis", "collector"):
                for node in ast.walk(ast.parse(_text(self.root / half / "__init__.py"))):
                    if isinstance(node, ast.ImportFrom) and node.module in self._modules:
                        for alias in node.names:
                            for owner in ("slant", half):
                                self._homes[owner, alias.name] = [self._modules[node.module]]
        return self._homes


def is_test(file: Path) -> bool:
    return file.name.startswith("test_") or (file.parent.name == "testthat" and file.name.startswith("test-"))


if __name__ == "__main__":
    for test, far in Reach().tests_of(sys.argv[1:]).items():
        print(f"{far}\t{test}")
