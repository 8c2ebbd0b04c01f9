"""Set where slant's child processes look for Python modules: never in the current folder.

There an analysis.py, a polars.py or a random.py of a project would be run in place of the intended one.

Look for garbage rarely: imports leave none, what an exchange leaves in cycles is small, and looking takes time."""

from __future__ import annotations

import gc
import os
import sys
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

_THRESHOLDS = (100_000, 50, 50)


def collect_garbage_rarely() -> None:
    """Set this for a process of slant's own: starting a command takes a fourteenth less processor time so."""
    gc.set_threshold(*_THRESHOLDS)


@contextmanager
def garbage_left() -> Iterator[None]:
    """Look for no garbage in the block, which imports."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def garbage_collected_rarely() -> Iterator[None]:
    """Leave existing objects alone (a study, polars, DuckDB): they need not be scanned every few hundred answers, which
    saves a seventh of a run's CPU time. What an exchange leaves is freed a little later.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def safe_path(*functions: Callable[..., Any]) -> list[str]:
    """Return Python's current search path, without the current folder and that of the running script.

    The folders from which slant and the modules of `functions` were imported stay.
    """
    script = getattr(sys.modules["__main__"], "__file__", None)
    unsafe = {Path.cwd(), *([Path(script).resolve().parent] if script else [])}
    modules = ["slant", *(getattr(function, "func", function).__module__.split(".")[0] for function in functions)]
    needed = {_folder_of(sys.modules[name]) for name in modules if name in sys.modules}
    return [place for place in sys.path if (folder := Path(place).resolve()) not in unsafe or folder in needed]


def _folder_of(module: ModuleType) -> Path | None:
    """Return the folder on the search path in which a module or package was found; None for a module without a file."""
    for folder in getattr(module, "__path__", ()):
        return Path(folder).resolve().parent
    file = getattr(module, "__file__", None)
    return Path(file).resolve().parent if file else None


def child_environment() -> dict[str, str]:
    """Return the variables to add to the environment of a Python process, so that it finds what this one finds, and
    nothing else."""
    return {"PYTHONPATH": os.pathsep.join(safe_path()), "PYTHONSAFEPATH": "1"}


@contextmanager
def with_safe_path(*functions: Callable[..., Any]) -> Iterator[None]:
    """Give processes that multiprocessing starts inside the block this process' search path as `safe_path()` has it."""
    before = sys.path
    sys.path = safe_path(*functions)
    try:
        yield
    finally:
        sys.path = before


SEARCH_PATH = "LD_LIBRARY_PATH"
_RESTARTED = "SLANT_LIBPYTHON"
_MAPS = Path("/proc/self/maps")


def ensure_own_libpython() -> None:
    """Replace this process by one with the right library, or return if it has it. Linux only; at most once."""
    searched = os.environ.get(SEARCH_PATH, "")
    if not searched or _RESTARTED in os.environ or not _MAPS.exists():
        return
    library = sysconfig.get_config_var("INSTSONAME") or ""
    own = Path(sysconfig.get_config_var("LIBDIR") or "", library)
    used = next((line.split(maxsplit=5)[5] for line in _MAPS.read_text().splitlines() if line.endswith(library)), None)
    if not library.startswith("libpython") or used is None or not own.exists() or own.samefile(used):
        return
    folders = [folder for folder in searched.split(os.pathsep) if not Path(folder, library).exists()]
    environment = {**os.environ, SEARCH_PATH: os.pathsep.join(folders), _RESTARTED: str(own)}
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environment)
