"""Links, pipes and devices with the names of files that slant reads, writes, empties or deletes.

Each row: what carries the name, in a journal or a lake that somebody handed over. `place` is below that folder.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

RUN = "20991231T000000Z-drinks-aaaaaa.jsonl"


@dataclass(frozen=True)
class Trap:
    """`lay(place, home)` puts it there; `home` is a folder of the user's, in which nothing may change."""

    place: str
    lay: Callable[[Path, Path], None]
    name: str


def _file(place: Path, home: Path) -> None:
    place.symlink_to(home / "thesis.txt")


def _folder(place: Path, home: Path) -> None:
    place.symlink_to(home)


def _pipe(place: Path, home: Path) -> None:
    os.mkfifo(place)


def _endless(place: Path, home: Path) -> None:
    place.symlink_to("/dev/zero")


def _second_name(place: Path, home: Path) -> None:
    os.link(home / "thesis.txt", place)


_KINDS = {
    "link to a file": _file, "link to a folder": _folder, "pipe": _pipe, "link to a device": _endless,
    "second name of a file": _second_name,
}  # fmt: skip


def _traps(*places: str, kinds: tuple[str, ...] = tuple(_KINDS)) -> list[Trap]:
    return [Trap(place, _KINDS[kind], f"{place}: {kind}") for place in places for kind in kinds]


JOURNAL = [
    *_traps("collector.lock", "batches", kinds=("link to a file", "link to a folder", "pipe")),
    *_traps("collector.lock", "reserve", kinds=("link to a device", "second name of a file")),
    *_traps(RUN, f"{RUN}.zst", kinds=("link to a file", "pipe", "link to a device")),
    Trap("", _folder, "the folder itself: link to a folder"),
]
LAKE = [
    *_traps("lake.lock", "lake.sql", "checksums.md5", kinds=("link to a file", "pipe")),
    *_traps("tables", "attempts", kinds=("link to a folder",)),
    *_traps("attempts/study=x", "tables/20260101T000000.000000Z-ab", kinds=("link to a folder",)),
]


def laid(trap: Trap, folder: Path, home: Path) -> None:
    place = folder / trap.place if trap.place else folder
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    place.unlink(missing_ok=True)
    trap.lay(place, home)


def a_home(folder: Path) -> Path:
    home = folder / "home"
    (home / ".ssh").mkdir(parents=True)
    for name in (".ssh/id", ".bashrc", "thesis.txt", ".x.part", ".a.1.merging", "slant-x.txt", RUN):
        (home / name).write_text(f"{name} of the user's\n" * 3)
    return home


def what_lies_in(home: Path) -> dict[str, str]:
    return {str(path.relative_to(home)): path.read_text() for path in sorted(home.rglob("*")) if path.is_file()}
