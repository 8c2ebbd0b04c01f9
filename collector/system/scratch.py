"""Make folders for what is made on the way to a file or a folder, next to it. What a killed process leaves, the next
one removes."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from slant.collector.system import files
from slant.collector.system.operating_system import try_lock

_ENDING = ".slant-scratch"


@contextmanager
def scratch_near(out: Path) -> Iterator[Path]:
    """Make a folder next to `out` for this block. The process that works in one has it locked: one without a lock
    is abandoned. If a file system can't lock folders, what was left stays."""
    files.remove_left_parts(out.parent)
    with _folder_in(out.parent, f".{out.name}.", f".*{_ENDING}") as folder:
        yield folder


@contextmanager
def temporary_folder(kind: str) -> Iterator[Path]:
    """Make a folder among the system's temporary files for this block, named after its kind."""
    with _folder_in(Path(tempfile.gettempdir()), f"slant-{kind}-", f"slant-*{_ENDING}") as folder:
        yield folder


@contextmanager
def _folder_in(parent: Path, start: str, pattern: str) -> Iterator[Path]:
    for left in parent.glob(pattern):
        with suppress(OSError), _locked(left) as is_left:  # a link of that name; gone just now; another user's
            if is_left:
                shutil.rmtree(left)
    with tempfile.TemporaryDirectory(prefix=start, suffix=_ENDING, dir=parent) as name, _locked(Path(name)):
        yield Path(name)


@contextmanager
def whole_folder(out: Path) -> Iterator[Path]:
    """Make a folder to write into, which is named `out` once this has ended without an error: complete, or not at all.
    OSError if something is there by then."""
    out = out.absolute()
    with scratch_near(out) as place:
        (made := place / "whole").mkdir()
        yield made
        if not out.exists():
            files.moved(made, out)
            return
        if any(out.iterdir()):
            raise FileExistsError(errno.EEXIST, "another one was made there meanwhile", str(out))
        for file in sorted(made.iterdir()):  # an empty folder of the user's, which may be a shell's current one
            files.moved(file, out / file.name)


@contextmanager
def whole_file(out: Path) -> Iterator[tuple[BinaryIO, Path]]:
    """Open a file to write into, which is named `out` once this has ended without an error, and a temporary folder. A
    pipe, a terminal or a device that the user named is written into directly."""
    if files.is_stream(out):
        with files.opened_stream(out) as stream, temporary_folder("export") as folder:
            yield stream, folder
        return
    with scratch_near(out) as place:
        with files.opened(place / "whole", "wb") as file:
            yield file, place
        files.moved(place / "whole", out)


def write_whole_file(out: Path, data: bytes) -> None:
    """Write a file that gets its name once it is complete, or write into a pipe or device that the user named."""
    if files.is_stream(out):
        with files.opened_stream(out) as stream:
            stream.write(data)
    else:
        files.replace_on_disk(out, data)


@contextmanager
def _locked(folder: Path) -> Iterator[bool]:
    """Return whether no other process has the folder; none gets it meanwhile."""
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        is_ours = False
        with suppress(OSError):
            is_ours = try_lock(held)
        yield is_ours
    finally:
        os.close(held)
