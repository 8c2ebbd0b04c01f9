"""Faults done to a process from inside it, by failing_disk.c: a disk that gives errors (EIO), a clock that jumps.

A FUSE file system or a block device would do the first to any process, and needs a kernel that has it; this needs a C
compiler and Linux.
"""

from __future__ import annotations

import atexit
import functools
import random
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

WRITES, SYNCS, READS = 1, 2, 4
HOUR, DAY = 3600, 86_400
JUMPS_S = (-400 * DAY, -HOUR, HOUR, 40 * DAY, 400 * DAY)


def lacks() -> str:
    """Why this can't be done here; empty where it can."""
    if not sys.platform.startswith("linux"):
        return "it needs Linux"
    return "" if shutil.which("cc") else "no C compiler is here"


@functools.cache
def _library() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="slant-faults-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    made, source = folder / "failing_disk.so", Path(__file__).with_suffix("").with_name("failing_disk.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", str(made), str(source)], check=True, capture_output=True)
    return made


def _told(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.told")


def _tell(folder: Path, fails: int, seconds: int) -> None:
    with _told(folder).open("rb+") as file:  # the same file: the process has it mapped
        file.write(struct.pack("qq", fails, seconds))


@contextmanager
def preloaded(here: Any, draw: random.Random, growth: int) -> Iterator[None]:
    """The process has the library in it, which does nothing until it is told."""
    _told(here.folder).write_bytes(struct.pack("qq", 0, 0))
    place = {"SLANT_FAULT_FILE": str(_told(here.folder)), "SLANT_FAULT_PLACE": str(here.folder)}
    here.environment |= {"LD_PRELOAD": str(_library()), **place}
    yield
    _told(here.folder).unlink()


@contextmanager
def a_year_behind(here: Any, draw: random.Random, growth: int) -> Iterator[None]:
    with preloaded(here, draw, growth):
        _tell(here.folder, 0, -365 * DAY)
        yield


def cannot_write(process: Any, folder: Path, draw: random.Random, words: list[str]) -> None:
    """From now on each write, or each sync alone, of a file below the folder is an error."""
    _tell(folder, draw.choice((WRITES | SYNCS, SYNCS)), 0)


def cannot_read(process: Any, folder: Path, draw: random.Random, words: list[str]) -> None:
    _tell(folder, READS, 0)


def clock_jumps(process: Any, folder: Path, draw: random.Random, words: list[str]) -> None:
    _tell(folder, 0, draw.choice(JUMPS_S))
