"""Folders for what is made on the way to a file, beside it. What a killed process leaves, the next one removes."""

from __future__ import annotations

import glob
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from slant.collector.system.operating_system import try_lock

_ENDING = ".scratch"


@contextmanager
def scratch_beside(out: Path) -> Iterator[Path]:
    """A new folder beside `out`, for as long as this lasts. Whoever works in one has it locked: what nobody holds is
    nobody's. Where a file system can't lock folders, what was left stays."""
    start = f".{out.name}."
    for left in out.parent.glob(f"{glob.escape(start)}*{_ENDING}"):
        with suppress(OSError), _locked(left) as is_left:  # a link of that name; gone just now
            if is_left:
                shutil.rmtree(left)
    with tempfile.TemporaryDirectory(prefix=start, suffix=_ENDING, dir=out.parent) as name, _locked(Path(name)):
        yield Path(name)


@contextmanager
def _locked(folder: Path) -> Iterator[bool]:
    """Whether nobody else has the folder; nobody else gets it meanwhile."""
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        is_ours = False
        with suppress(OSError):
            is_ours = try_lock(held)
        yield is_ours
    finally:
        os.close(held)
