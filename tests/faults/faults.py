"""What may happen to a process, as data: what is done to it or around it, when, and to which processes.

A new fault is one row of FAULTS. `around` prepares the folder and gives words to put before the command and variables
of its environment; `strike` is done at the moment; `after` undoes what must be undone before the same command is typed
again, and gives the folder in which that is done.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.measures import in_process
from tests.conftest import ROOT
from tests.faults import preloaded
from tests.faults.processes import PROCESSES

Started = subprocess.Popen[str]
ANY, WRITING, BEFORE = "at any time", "while it writes", "before it begins"
IS_ROOT = os.geteuid() == 0


@dataclass
class Surroundings:
    """`prefix` stands before the command; `folder` is where it works now."""

    folder: Path
    prefix: list[str] = field(default_factory=list)
    environment: dict[str, str | None] = field(default_factory=dict)


Around = Callable[[Surroundings, random.Random, int], AbstractContextManager[None]]
Strike = Callable[[Started, Path, random.Random, list[str]], None]


@contextmanager
def _as_it_is(here: Surroundings, draw: random.Random, growth: int) -> Iterator[None]:
    yield


def _nothing(process: Started, folder: Path, draw: random.Random, words: list[str]) -> None:
    pass


@dataclass(frozen=True)
class Fault:
    """`ends`: the process may end in any way (it was killed); else in order, or with a sentence. `damages`: what
    was kept is damaged, and made again from the journal. `lacks`: why it can't be tried here."""

    name: str
    strike: Strike = _nothing
    around: Around = _as_it_is
    moments: Sequence[str] = (ANY, WRITING)
    processes: Sequence[str] = tuple(process.name for process in PROCESSES)
    ends: bool = False
    damages: bool = False
    lacks: str = ""
    weight: int = 1


def sends(number: signal.Signals) -> Strike:
    def strike(process: Started, folder: Path, draw: random.Random, words: list[str]) -> None:
        process.send_signal(number)

    return strike


def stops_and_goes_on(process: Started, folder: Path, draw: random.Random, words: list[str]) -> None:
    process.send_signal(signal.SIGSTOP)
    time.sleep(draw.uniform(0.05, 0.5))
    process.send_signal(signal.SIGCONT)


def another(process: Started, folder: Path, draw: random.Random, words: list[str]) -> None:
    """The same command a second time, next to the first."""
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    assert "Traceback" not in done.stderr, done.stderr


def a_reader(process: Started, folder: Path, draw: random.Random, words: list[str]) -> None:
    """Somebody reads the database for a while: as soon as it is there and free."""
    if (folder / "a.duckdb").exists():
        reader = in_process("reader", folder / "a.duckdb", f"{draw.uniform(0.2, 2):.2f}")
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(reader, cwd=ROOT, capture_output=True, check=False, timeout=10)


# ---- damage


def _of_database(change: Callable[[Path, random.Random], None]) -> Strike:
    def strike(process: Started, folder: Path, draw: random.Random, words: list[str]) -> None:
        if (folder / "a.duckdb").exists():
            change(folder / "a.duckdb", draw)

    return strike


def _of_journal(change: Callable[[Path, random.Random], None]) -> Strike:
    def strike(process: Started, folder: Path, draw: random.Random, words: list[str]) -> None:
        for path in sorted((folder / "a.duckdb.journal").glob("*.jsonl"))[:1]:
            change(path, draw)

    return strike


def _deleted(path: Path, draw: random.Random) -> None:
    path.unlink()


def _truncated(path: Path, draw: random.Random) -> None:
    os.truncate(path, draw.randrange(path.stat().st_size))


def _garbled(path: Path, draw: random.Random) -> None:
    with path.open("rb+") as file:
        file.seek(draw.randrange(path.stat().st_size))
        file.write(draw.randbytes(draw.randint(1, 20_000)))


def _garbled_in_the_middle(path: Path, draw: random.Random) -> None:
    with path.open("rb+") as file:
        file.seek(draw.randrange(path.stat().st_size // 4, path.stat().st_size // 2))
        file.write(draw.randbytes(draw.randint(1, 300)))


def _doubled(path: Path, draw: random.Random) -> None:
    """Some of its lines stand in it twice, or in a second file, as a copy by hand or a tool that syncs leaves them."""
    lines = path.read_bytes().splitlines(keepends=True)
    again = draw.sample(lines[1:], draw.randint(1, len(lines) - 1))
    if draw.random() < 0.5:
        path.write_bytes(b"".join([*lines, *again]))
    else:
        path.with_name(f"copy of {path.name}").write_bytes(b"".join([lines[0], *again]))


def _flipped(path: Path, draw: random.Random) -> None:
    """Some bits are others, and the database that would know better is gone."""
    data = bytearray(path.read_bytes())
    for _ in range(draw.randint(1, 20)):
        data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    path.write_bytes(data)
    path.parent.with_name("a.duckdb").unlink(missing_ok=True)


def _swapped(path: Path, draw: random.Random) -> None:
    """Another database of slant's, empty, stands in its place."""
    from slant.collector.keep.database import writing

    other = path.with_name("other.duckdb")
    with writing(other):
        pass
    other.replace(path)


# ---- surroundings


def through_shell(script: str) -> Around:
    @contextmanager
    def around(here: Surroundings, draw: random.Random, growth: int) -> Iterator[None]:
        here.prefix += ["sh", "-c", script, "sh"]
        yield

    return around


def limited(option: str) -> Around:
    return through_shell(f'ulimit {option} && exec "$@"')


def redirected(closed: str) -> Around:
    return through_shell(f'exec "$@" {closed}')


def within(**variables: str | None) -> Around:
    @contextmanager
    def around(here: Surroundings, draw: random.Random, growth: int) -> Iterator[None]:
        here.environment |= variables
        yield

    return around


def _mounted(*words: object) -> None:
    subprocess.run(["mount", *map(str, words)], check=True, capture_output=True)


@contextmanager
def _small(folder: Path, n_bytes: int) -> Iterator[None]:
    folder.mkdir(exist_ok=True)
    _mounted("-t", "tmpfs", "-o", f"size={max(n_bytes, 4096)}", "tmpfs", folder)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def _used(folder: Path) -> int:
    return sum(-(-path.stat().st_size // 4096) * 4096 + 4096 for path in folder.rglob("*"))


@contextmanager
def _moved(here: Surroundings, small: Path, n_bytes: int) -> Iterator[None]:
    """What is in a folder lies on a small disk meanwhile; then it is taken to one with room."""
    aside = small.with_name(f"{small.name}.aside")
    if small.exists():
        small.rename(aside)
    with _small(small, n_bytes):
        if aside.exists():
            shutil.copytree(aside, small, dirs_exist_ok=True)
        try:
            yield
        finally:
            shutil.rmtree(aside, ignore_errors=True)
            shutil.copytree(small, aside)
    small.rmdir()
    aside.rename(small)


@contextmanager
def full_disk(here: Surroundings, draw: random.Random, growth: int) -> Iterator[None]:
    with _moved(here, here.folder, _used(here.folder) + int(draw.uniform(0, 1.05) * growth)):
        yield


@contextmanager
def full_journal(here: Surroundings, draw: random.Random, growth: int) -> Iterator[None]:
    journal = here.folder / "a.duckdb.journal"
    room = _used(journal) if journal.exists() else 0
    with _moved(here, journal, room + int(draw.uniform(0, 1.05) * growth)):
        yield


@contextmanager
def full_database(here: Surroundings, draw: random.Random, growth: int) -> Iterator[None]:
    """The disk of the database is full; its journal lies on another one."""
    journal, apart = here.folder / "a.duckdb.journal", here.folder.with_name(f"{here.folder.name}.journal")
    journal.mkdir(exist_ok=True)
    shutil.copytree(journal, apart)
    with _moved(here, here.folder, _used(here.folder) + int(draw.uniform(0, 1.05) * growth)):
        _mounted("--bind", apart, journal)
        try:
            yield
        finally:
            subprocess.run(["umount", "-l", str(journal)], check=True)
            shutil.rmtree(journal, ignore_errors=True)
    shutil.copytree(apart, journal, dirs_exist_ok=True)
    shutil.rmtree(apart)


@contextmanager
def full_tmpdir(here: Surroundings, draw: random.Random, growth: int) -> Iterator[None]:
    small = here.folder.with_name(f"{here.folder.name}.tmp")
    with _small(small, draw.choice((4096, 200_000))):
        here.environment["TMPDIR"] = str(small)
        yield
    small.rmdir()


@contextmanager
def read_only(here: Surroundings, draw: random.Random, growth: int) -> Iterator[None]:
    if IS_ROOT:
        _mounted("--bind", here.folder, here.folder)
        _mounted("-o", "remount,ro,bind", here.folder)
    else:
        here.folder.chmod(0o500)
    try:
        yield
    finally:
        if IS_ROOT:
            subprocess.run(["umount", "-l", str(here.folder)], check=True)
        here.folder.chmod(0o700)


def _can_mount() -> str:
    if IS_ROOT and shutil.which("mount"):
        return ""
    return "a small disk can't be mounted here (needs root)"


_ASKING = ("journal", "load", "merge", "import")  # what can make its database again from its journal
_MOUNTS = _can_mount()
_WRITERS = tuple(process.name for process in PROCESSES if process.name != "renewal")

_NOT_INSIDE = preloaded.lacks()
_ALWAYS = (BEFORE, ANY, WRITING)


def _around(name: str, around: Around, **more: Any) -> Fault:
    return Fault(name, around=around, moments=(BEFORE,), **more)


def _inside(name: str, strike: Strike, **more: Any) -> Fault:
    return Fault(name, strike, preloaded.preloaded, lacks=_NOT_INSIDE, **more)


def _damage(name: str, strike: Strike, **more: Any) -> Fault:
    return Fault(name, strike, **{"moments": _ALWAYS, "processes": _ASKING, "damages": True, **more})


_BETWEEN_RUNS: Any = {"moments": (BEFORE,), "processes": ("journal",)}

FAULTS = (
    Fault("kill -9", sends(signal.SIGKILL), ends=True, weight=8),
    Fault("SIGTERM", sends(signal.SIGTERM), ends=True, weight=3),
    Fault("SIGHUP (the terminal is closed)", sends(signal.SIGHUP), ends=True, weight=3),
    Fault("Ctrl-C", sends(signal.SIGINT), ends=True, weight=2),
    Fault("SIGSTOP, then SIGCONT", stops_and_goes_on, weight=2),
    Fault("a second one next to it", another, moments=(ANY,)),
    Fault("a reader that holds the database", a_reader),
    _around("the disk is full", full_disk, lacks=_MOUNTS, weight=3),
    _around("the journal's disk is full", full_journal, processes=_ASKING, lacks=_MOUNTS, weight=2),
    _around("the database's disk is full", full_database, processes=_ASKING, lacks=_MOUNTS, weight=2),
    _around("TMPDIR is full", full_tmpdir, lacks=_MOUNTS),
    _around("a folder that can't be written", read_only, processes=_WRITERS, lacks=_MOUNTS),
    _around("ulimit -n 40", limited("-n 40")),
    _around("ulimit -v 1 GB", limited("-v 1000000")),
    _around("the clock is a year behind", preloaded.a_year_behind, lacks=_NOT_INSIDE),
    _inside("the clock jumps", preloaded.clock_jumps),
    _inside("the disk gives errors as it is written (EIO)", preloaded.cannot_write, weight=2),
    _inside("the disk gives errors as it is read (EIO)", preloaded.cannot_read),
    _around("HOME is not set", within(HOME=None)),
    _around("Turkish", within(LANG="tr_TR.UTF-8", LC_ALL="tr_TR.UTF-8")),
    _around("stdin is closed", redirected("<&-")),
    _around("stdout is closed", redirected(">&-")),
    _damage("the database is deleted", _of_database(_deleted)),
    _damage("the database is cut off", _of_database(_truncated), weight=2),
    _damage("the database is garbled", _of_database(_garbled), weight=2),
    _damage("another database stands in its place", _of_database(_swapped)),
    _damage("the journal is cut off", _of_journal(_truncated), **_BETWEEN_RUNS),
    _damage("the journal is garbled in the middle", _of_journal(_garbled_in_the_middle), **_BETWEEN_RUNS),
    _damage("lines of the journal stand twice", _of_journal(_doubled), **_BETWEEN_RUNS),
    _damage("bits of the journal are flipped, and the database is gone", _of_journal(_flipped), **_BETWEEN_RUNS),
    _damage("the journal is deleted, and the database has it", _of_journal(_deleted), **_BETWEEN_RUNS),
)
