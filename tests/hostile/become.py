"""What a file or a folder that a stranger hands over may be made to be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Hostile:
    """`become` is handed the path of a true one, and makes another thing of it; `sentence` is a piece of what is said
    then, or None where it is read all the same."""

    name: str
    become: Callable[[Path], object]
    sentence: str | None


def of_bytes(data: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(data)


def instead(make: Callable[[Path], object]) -> Callable[[Path], object]:
    def become(path: Path) -> None:
        path.unlink()
        make(path)

    return become


def link_to(target: str) -> Callable[[Path], object]:
    return instead(lambda path: path.symlink_to(target))
