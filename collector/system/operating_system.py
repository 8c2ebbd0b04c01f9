"""Make up for what an operating system lacks. No other module checks which one it runs on.

                        Linux                    macOS                         Windows
onto the disk           fdatasync                fcntl F_FULLFSYNC (its fsync  slant does not run there; in WSL
                                                 leaves data in the drive)     it does, as on Linux
room for a full disk    posix_fallocate          written out
locks                   flock                    flock
R's workers             forked, R has started    spawned, each starts R
cores                   those of this process    those of the machine
R's locale              C.UTF-8                  en_US.UTF-8, sorted as C
R's caches              ~/.cache                 ~/Library/Caches/org.R-project.R

What is missing on one system may be missing on another (a file system, a container, a Python): the functions here try,
and fall back to the next way.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from typing import IO, Any

from slant.collector.errors import UsageError

try:
    import fcntl as _fcntl
except ImportError:  # Windows
    _fcntl = None  # type: ignore[assignment]

_MIN_MEMORY = 1_500_000_000  # of addresses, most of which are never used
_CAN_NOT = {errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOTTY, errno.ENOSYS}
"""List what a file system answers if it can't do what it was asked."""


def check_supported() -> None:
    """Raise UsageError if slant can't run at all."""
    if _fcntl is None or os.name != "posix":
        raise UsageError(
            "slant does not run on Windows itself, only in its Linux: type `wsl --install`, then install slant there."
        )
    import resource

    allowed, _ = resource.getrlimit(resource.RLIMIT_AS)
    if 0 <= allowed < _MIN_MEMORY:  # libraries that get less end the process without a word
        raise UsageError(
            f"A limit allows {allowed // 1_000_000:,} MB of memory, and slant needs {_MIN_MEMORY // 1_000_000:,}.",
            "To lift it in this shell: ulimit -v unlimited",
        )


def onto_disk(file: int) -> None:
    """Ensure that what was written to this open file survives a power cut."""
    if (whole := getattr(_fcntl, "F_FULLFSYNC", None)) is not None:
        try:
            _fcntl.fcntl(file, whole)
        except OSError as error:
            if error.errno not in _CAN_NOT:  # for example on a network drive
                raise
        else:
            return
    sync = getattr(os, "fdatasync", os.fsync)
    sync(file)


def sync_folder(folder: str | os.PathLike[str]) -> None:
    """Ensure that what was made, renamed and removed in the folder survives a power cut."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        onto_disk(handle)
    finally:
        os.close(handle)


def flush_onto_disk(file: IO[bytes]) -> None:
    """Flush a buffered file onto the disk."""
    file.flush()
    onto_disk(file.fileno())


def keep_room(file: int, n_bytes: int) -> None:
    """Reserve disk space for a new open file; OSError if the disk is full."""
    try:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file, 0, n_bytes)
            return
    except OSError as error:
        if error.errno not in _CAN_NOT:
            raise
    filling = memoryview(os.urandom(n_bytes))  # zeros may take no room
    while filling:
        filling = filling[os.write(file, filling) :]


def try_lock(file: int) -> bool:
    """Lock an open file until it is closed; False if another process holds it. OSError if locking is impossible."""
    try:
        _fcntl.flock(file, _fcntl.LOCK_EX | _fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.EAGAIN, errno.EACCES):
            raise
        return False
    return True


def unlock(file: int) -> None:
    """Release the lock of an open file, also the lock that children of this process have inherited."""
    _fcntl.flock(file, _fcntl.LOCK_UN)


def is_locked(path: str | os.PathLike[str]) -> bool:
    """Return whether a process locks this file; False if there is no file."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)  # no process holds a lock of a link or a pipe
    except OSError:
        return False
    try:
        return not try_lock(file)
    finally:
        os.close(file)


def put_in_place(made: str | os.PathLike[str], path: str | os.PathLike[str]) -> bool:
    """Give a complete file its name; False if that name is taken by now. The file may keep its old name, too."""
    try:
        os.link(made, path)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _CAN_NOT | {errno.EPERM}:
            raise
        if os.path.lexists(path):  # a stick or a share without hard links: two processes could do this at once
            return False
        os.rename(made, path)
    return True


def is_alive(pid: str) -> bool:
    """Return whether a process of this number runs; False if it is not a number."""
    try:
        os.kill(int(pid), 0)
    except (ValueError, OverflowError, ProcessLookupError):
        return False
    except OSError:
        return True  # another user's
    return True


def can_fork_r() -> bool:
    """Return whether processes may be forked from one in which R has started. macOS ends such processes."""
    import multiprocessing  # commands that do not need it should begin at once

    return sys.platform == "linux" and "forkserver" in multiprocessing.get_all_start_methods()


def r_locale() -> dict[str, str]:
    """Return environment variables for UTF-8 in an order independent of country: macOS has no C.UTF-8."""
    if sys.platform == "darwin":
        return {"LC_ALL": "", "LC_CTYPE": "en_US.UTF-8", "LC_COLLATE": "C"}
    return {"LC_ALL": "C.UTF-8"}


def user_caches() -> str:
    """Return the folder below a home folder in which R stores what can be recomputed."""
    return "Library/Caches/org.R-project.R" if sys.platform == "darwin" else ".cache"


def forbid_core_dumps() -> None:
    """Keep a crash from leaving an image of memory, with keys in it. This goes for this process and those that it
    starts."""
    import resource

    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def machine_name() -> str:
    return os.uname().nodename


def has_desktop() -> bool:
    """Return whether a browser could open a window: otherwise a text browser would take over the terminal."""
    return sys.platform == "darwin" or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def core_count() -> int:
    """Return the cores that this process may use, which in a container can be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def peak_memory_mb() -> float:
    """Return the most memory that this process has had, in MB of 10^6 bytes."""
    import resource

    peak: Any = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak) / 1e6 if sys.platform == "darwin" else float(peak) * 1024 / 1e6
