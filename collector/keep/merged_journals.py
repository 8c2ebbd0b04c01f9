"""Bring one journal into a folder of journals: copied, or, if one of its name is there, what that lacks.

A journal only grows, so of two copies the longer one begins with the shorter one. Where they differ one of them is
damaged, which the checksums of lines tell: what is sound in one and lacking in the other is appended, so that neither
order of merging loses an answer, and no loaded line moves.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Literal

from slant.collector.errors import JournalError
from slant.collector.keep.journal_files import (
    PACKED,
    UNREADABLE,
    journal_name,
    journal_paths,
    journal_size,
    opened_journal,
    whole_lines,
)
from slant.collector.keep.journal_loader import CHUNK_BYTES
from slant.collector.keep.line_sums import checked_lines
from slant.collector.system import files
from slant.collector.system.operating_system import flush_onto_disk, sync_folder
from slant.collector.terminal import count_text

_BLOCK = 1_000_000
Brought = Literal["copied", "there", "damaged"]


def bring_journal(path: Path, folder: Path, problems: list[str]) -> Brought:
    """Bring the sound lines of a journal into the folder, without a half-written last one. Raise JournalError if the
    folder has another journal of its name."""
    name = journal_name(path)
    there = next((p for p in journal_paths(folder) if journal_name(p) == name), None)
    if there is None:
        return _copied(path, folder, problems)[0]
    size, size_there = _size(path), _size(there)
    if not _differ(path, there, min(size, size_there)):
        if size <= size_there:
            return "there"
        brought, target = _copied(path, folder, problems)
        if there != target:
            files.remove(there)
            sync_folder(folder)
        return brought
    return _completed(path, there, folder, problems)


def _completed(path: Path, there: Path, folder: Path, problems: list[str]) -> Brought:
    """Append the sound lines that a journal lacks because it, or its copy, is damaged."""
    here = {_digest(line) for line, is_sound in _lines(there) if is_sound}
    lacking, n_sound, n_bad = [], 0, 0
    for line, is_sound in _lines(path):
        n_bad += not is_sound
        n_sound += is_sound
        if is_sound and _digest(line) not in here:
            lacking.append(line)
    n_bad_here = sum(not is_sound for _, is_sound in _lines(there))
    has_nothing_in_common = n_sound > 0 and len(here) > 0 and len(lacking) == n_sound
    if (not n_bad and not n_bad_here) or has_nothing_in_common:
        raise JournalError(f"{path} was left out: {journal_name(path)} is here already, with other lines in it.")
    if lacking:
        name = journal_name(there)
        part = files.part_of(folder / name)
        with files.opened(part, "wb") as file:
            with suppress(JournalError):
                for _, data in whole_lines(there, 0, CHUNK_BYTES):
                    file.write(data)
            file.writelines(line + b"\n" for line in lacking)
            flush_onto_disk(file)
        files.moved(part, folder / name)
        if there != folder / name:
            files.remove(there)
            sync_folder(folder)
    if n_bad:
        problems.append(_damage(path, n_bad))
        return "damaged"
    return "copied" if lacking else "there"


def _copied(path: Path, folder: Path, problems: list[str]) -> tuple[Brought, Path]:
    """Copy a journal, and return where it is now; if it can't be unpacked to its end, what precedes the damage."""
    n_bad, target = 0, folder / journal_name(path)
    part = files.part_of(target)
    try:
        with files.opened(part, "wb") as file:
            try:
                for _, data in whole_lines(path, 0, CHUNK_BYTES):
                    n_bad += len(checked_lines(data.split(b"\n")[:-1])[1])
                    file.write(data)
                is_whole = True
            except JournalError as error:
                problems.append(error.what)
                is_whole = False
            flush_onto_disk(file)
        if is_whole and path.name.endswith(PACKED):
            files.copied(path, part)  # its bytes, instead of compressing it again
            target = folder / path.name
        files.moved(part, target)
    finally:
        files.remove(part)
    if n_bad:
        problems.append(_damage(path, n_bad))
    return "copied" if is_whole and not n_bad else "damaged", target


def _damage(path: Path, n_bad: int) -> str:
    lines = count_text(n_bad, "line")
    return f"{path} has {lines} that can't be read; the others are merged. Merge an undamaged copy, and it brings them."


def _lines(path: Path) -> Iterator[tuple[bytes, bool]]:
    """Yield the lines of a journal, and whether each is what was written; one that can't be unpacked ends with an empty
    line that is not."""
    try:
        for _, data in whole_lines(path, 0, CHUNK_BYTES):
            lines = data.split(b"\n")[:-1]
            bad = checked_lines(lines)[1]
            yield from ((line, index not in bad) for index, line in enumerate(lines))
    except JournalError:
        yield b"", False


def _size(path: Path) -> int:
    """Return the bytes of a journal's text; 0 if its head is damaged."""
    with suppress(JournalError):
        return journal_size(path)
    return 0


def _digest(line: bytes) -> bytes:
    return blake2b(line, digest_size=12).digest()


def _differ(one: Path, other: Path, n_bytes: int) -> bool:
    """Return whether two journals differ in their first bytes, or one of them can't be read so far."""
    if n_bytes == 0:
        return os.stat(one).st_size > 0 and os.stat(other).st_size > 0
    with opened_journal(one) as first, opened_journal(other) as second:
        while n_bytes > 0:
            try:
                block = first.read(min(n_bytes, _BLOCK))
                read = b""
                while len(read) < len(block) and (more := second.read(len(block) - len(read))):
                    read += more
            except UNREADABLE:
                return True
            if not block or read != block:
                return True
            n_bytes -= len(block)
    return False
