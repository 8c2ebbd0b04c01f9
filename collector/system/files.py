"""Open files next to a database, in a journal, a lake, an archive, an export: the only way to do so.

Files there may have been handed over by a stranger: a link among them would make slant read, empty or delete a file of
the user's, and reading a pipe or a device might never end. So slant opens regular files only, follows no link when it
reads or writes them, and writes into no file that has a second name. The exception is what a user names as a database:
a link to it is followed once (`real_file`), so that a database has one journal, whatever its name.

A refusal is an OSError with a reason in words, which callers put into their sentence like any other.
"""

from __future__ import annotations

import contextlib
import csv
import errno
import io
import os
import re
import shutil
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from slant.collector.system.operating_system import flush_onto_disk, is_alive, onto_disk, sync_folder

_SAFE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_READER_S = 5.0  # how long a pipe's reader has to open it
_PART = ".slant-part"
_KINDS = {
    stat.S_IFLNK: "a link, and links are not followed here", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device", stat.S_IFBLK: "a device", stat.S_IFDIR: "a folder",
}  # fmt: skip


class IrregularFileError(OSError):
    """Report something that has the name of a file but is not one, or is a link to one."""

    def __init__(self, path: str | os.PathLike[str], what: str) -> None:
        super().__init__(errno.EINVAL, f"it is {what}", os.fspath(path))


def real_file(path: str | os.PathLike[str]) -> Path:
    """Return the file that a name refers to: for a link its target, else the name unchanged."""
    path = Path(path)
    return Path(os.path.realpath(path)) if path.is_symlink() else path  # Path.resolve() fails for links in a circle


def irregularity(path: str | os.PathLike[str]) -> str | None:
    """Return a description of `path` in words, if it is not a regular file ("a link…"); None for a file, and if there
    is nothing."""
    try:
        return _in_words(os.lstat(path).st_mode)
    except OSError:
        return None


def opened_descriptor(path: str | os.PathLike[str], flags: int, mode: int = 0o644) -> int:
    """Open as os.open() does, but a regular file only. If it may be written it must have only one name: a second one
    may belong to a file elsewhere."""
    try:
        file = os.open(path, (flags & ~os.O_TRUNC) | _SAFE, mode)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK, errno.ENXIO) and (what := irregularity(path)):
            raise IrregularFileError(path, what) from None
        raise
    try:
        about = os.fstat(file)
        if what := _in_words(about.st_mode):
            raise IrregularFileError(path, what)
        if flags & (os.O_WRONLY | os.O_RDWR) and about.st_nlink > 1:
            raise IrregularFileError(path, "a file with a second name elsewhere (a hard link)")
        if flags & os.O_TRUNC:
            os.ftruncate(file, 0)
    except BaseException:
        os.close(file)
        raise
    return file


def opened(path: str | os.PathLike[str], mode: str = "rb") -> BinaryIO:
    """Open as open() does, in binary: "rb", "rb+", "ab", "xb", or "wb", which makes a new file in place of the old
    one."""
    if mode == "wb":
        remove(path)
        mode = "xb"
    flags = {
        "rb": os.O_RDONLY,
        "rb+": os.O_RDWR,
        "ab": os.O_WRONLY | os.O_CREAT | os.O_APPEND,
        "xb": os.O_WRONLY | os.O_CREAT | os.O_EXCL,
    }[mode]
    return cast(BinaryIO, os.fdopen(opened_descriptor(path, flags), mode.replace("x", "w")))


def contents(path: str | os.PathLike[str], max_bytes: int | None = 100_000_000) -> bytes:
    """Return the bytes of a regular file. Raise IrregularFileError for anything else, or if it is larger than
    `max_bytes`."""
    with opened(path) as file:
        if max_bytes is not None and os.fstat(file.fileno()).st_size > max_bytes:
            raise IrregularFileError(path, f"larger than {max_bytes / 1_000_000:g} MB")
        return file.read()


def contents_of_named(path: str | os.PathLike[str], max_bytes: int = 100_000_000) -> bytes:
    """Return the contents of a file that the user named, which may be a link to one."""
    return contents(real_file(path), max_bytes)


def write_file(path: str | os.PathLike[str], content: bytes | str) -> None:
    """Write a new file, a text as UTF-8, in place of the old one: the target of a link stays as it is."""
    with opened(path, "wb") as file:
        file.write(content.encode("utf-8") if isinstance(content, str) else content)


def moved(made: str | os.PathLike[str], path: str | os.PathLike[str]) -> None:
    """Give a complete file or folder its name, in place of a file or a link of that name. Its contents are on the disk
    before it has the name, and the name before this returns: a power cut leaves the old one or the new one. Raise
    IrregularFileError if a pipe or a device has the name: slant would not put that there."""
    what = irregularity(path)
    if what and not os.path.islink(path) and not os.path.isdir(path):
        raise IrregularFileError(path, what)
    _tree_onto_disk(made)
    os.replace(made, path)
    sync_folder(Path(path).parent)


def also_named(file: Path, path: Path) -> None:
    """Give a file a second name, in place of what has it: a hard link, or a copy where the disk has no links."""
    made = part_of(path)
    made.unlink(missing_ok=True)
    try:
        os.link(file, made)
    except OSError:
        shutil.copyfile(file, made)
    moved(made, path)


def _tree_onto_disk(path: str | os.PathLike[str]) -> None:
    """Ensure that a file survives a power cut, or a folder and all in it."""
    if os.path.isdir(path) and not os.path.islink(path):
        for entry in os.scandir(path):
            _tree_onto_disk(entry.path)
        sync_folder(path)
    elif irregularity(path) is None:
        with opened(path) as file:
            onto_disk(file.fileno())


def remove(path: str | os.PathLike[str]) -> None:
    """Remove a file, or a link but not its target, if it exists."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def remove_folder(path: Path) -> None:
    """Remove a folder, but no link to one. Targets of links in it stay."""
    check_folder(path)
    shutil.rmtree(path)


def check_folder(path: str | os.PathLike[str]) -> None:
    """Raise IrregularFileError if something other than a folder has that name: files in it would be written elsewhere.
    A missing folder is fine."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(mode):
        raise IrregularFileError(path, _in_words(mode) or "a file")


def made_folder(path: Path) -> Path:
    """Make a folder (and those above it) unless it exists, and return it. Once this returns, they survive a power cut:
    what is on the disk in a folder is lost if the folder's own name is not."""
    check_folder(path)
    for folder in reversed([folder for folder in (path, *path.parents) if not folder.exists()]):
        folder.mkdir(exist_ok=True)
        sync_folder(folder.parent)
    return path


def regular_files(folder: Path, *patterns: str) -> list[Path]:
    """Return the regular files of a folder that match; none if it is not a folder, or is a link to one."""
    with contextlib.suppress(IrregularFileError):
        check_folder(folder)
        return [path for pattern in patterns for path in folder.glob(pattern) if _is_regular(path)]
    return []


def irregular_files(folder: Path, *patterns: str) -> list[tuple[Path, str]]:
    """Return the files with such a name in a folder that are not regular, each with a description."""
    named = sorted(path for pattern in patterns for path in folder.glob(pattern))
    return [(path, what) for path in named if (what := irregularity(path))]


def check_tree(folder: Path) -> None:
    """Raise IrregularFileError for the first link, pipe, socket or device in a folder or in one below it."""
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            check_tree(Path(entry.path))
        elif not entry.is_file(follow_symlinks=False):
            raise IrregularFileError(entry.path, f"{irregularity(entry.path)} ({entry.name})")


def copied(source: Path, target: Path) -> None:
    """Copy a regular file to a new one. Once this returns, the copy survives a power cut."""
    with opened(source) as one, opened(target, "wb") as other:
        shutil.copyfileobj(one, other)
        flush_onto_disk(other)


def replace_on_disk(path: Path, data: bytes) -> None:
    """Write a file that gets its name once it is complete; of several processes that do, the last one's stays. Once
    this returns, it survives a power cut."""
    remove_left_parts(path.parent)
    part = part_of(path)
    try:
        write_file(part, data)
        moved(part, path)
    finally:
        remove(part)


def part_of(path: Path) -> Path:
    """Return the name that this process gives to a file while it makes it."""
    return path.with_name(f".{path.name}.{os.getpid()}{_PART}")


def remove_left_parts(folder: Path) -> None:
    """Remove files that processes were making in a folder when they were killed."""
    for left in regular_files(folder, f".*.*{_PART}"):
        pid = left.name.removesuffix(_PART).rpartition(".")[2]
        if pid.isdecimal() and not is_alive(pid):
            remove(left)


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Return whether a name that the user gave is that of a pipe, a terminal, a device, or something this process has
    open (/dev/stdout): it is written into, and nothing replaces it."""
    try:
        about = os.stat(path)
    except OSError:
        return False
    parent = Path(path).parent.as_posix()  # /dev/shm holds files like any other folder
    is_open_here = Path(path).is_symlink() and (parent in ("/dev", "/dev/fd") or parent.startswith("/proc/"))
    return not stat.S_ISDIR(about.st_mode) and (is_open_here or not stat.S_ISREG(about.st_mode))


@contextmanager
def opened_stream(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Write into what `is_stream`; OSError if no process reads from a pipe."""
    until = time.monotonic() + _READER_S
    while True:
        try:
            file = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_APPEND)
            break
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            if time.monotonic() > until:
                raise OSError(errno.ENXIO, "it is a pipe, and nobody reads from it", os.fspath(path)) from None
        time.sleep(0.05)
    os.set_blocking(file, True)
    with os.fdopen(file, "wb") as stream:
        yield stream


def _in_words(mode: int) -> str | None:
    return None if stat.S_ISREG(mode) else _KINDS.get(stat.S_IFMT(mode), "no regular file")


def _is_regular(path: Path) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


_ALONE = re.compile(r"\r(?!\n)")


def csv_text(header: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Return a CSV. Python does not quote a lone carriage return, which ends a row for readers: it is a line feed."""
    text = io.StringIO(newline="")
    cells = ([_ALONE.sub("\n", cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    csv.writer(text, lineterminator="\n").writerows([tuple(header), *cells])
    return text.getvalue()
