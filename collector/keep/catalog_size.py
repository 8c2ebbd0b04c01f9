"""Refuse a file of very many tables before DuckDB opens it, for DuckDB first reads the whole catalog: with 10^6 tables
that takes some 20 s and 7 GB.

Their number is at the start of the catalog. Another process reads the bytes: a process that opens and closes a file
which it also has open in DuckDB silently loses its lock.
"""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

from slant.collector.errors import DatabaseError

MAX_ENTRIES = 10_000  # slant makes some 150 tables and views, and packages of others a few for each design
_MIN_BYTES = 200 * MAX_ENTRIES  # a file that is smaller can't hold as many
_SECTOR = 4096  # three headers of this length come before the first block
_PARTS = 64  # of a block that holds a part of the catalog


def check_catalog_size(path: Path) -> None:
    """Raise DatabaseError if the file holds more tables and views than any that slant made."""
    if not path.is_file() or path.stat().st_size < _MIN_BYTES:
        return
    number = catalog_entries(path)
    if number is not None and number > MAX_ENTRIES:
        raise DatabaseError(
            f'"{path}" holds {number:,} tables and views, so it is not a database of slant\'s.',
            "It was left as it is. Name another file: --db FILE",
        )


def catalog_entries(path: Path) -> int | None:
    """Return the number of tables, views and the like in a DuckDB file; None if it is not written in a known
    format.
    """
    head = _sectors(path, 0, 3)
    if len(head) < 3 * _SECTOR or head[8:12] != b"DUCK":
        return None
    # the newer of the database's two headers holds: its number, where the catalog begins, …, size of a block
    _, pointer, _, _, block_bytes = max(struct.unpack_from("<5Q", head, number * _SECTOR + 8) for number in (1, 2))
    block, part = pointer & (1 << 56) - 1, pointer >> 56
    part_bytes = (block_bytes - 8) // _PARTS // 8 * 8
    at = 3 * _SECTOR + block * block_bytes + 8 + part * part_bytes + 8
    if at > path.stat().st_size:
        return None
    start = _sectors(path, at // _SECTOR, 2)[at % _SECTOR :][:12]
    return _number(start[2:]) if start.startswith(b"d\0") else None  # the field 100: a list, its length first


def _number(data: bytes) -> int:
    """Read seven bits per byte, the lowest first, up to the first byte without its highest bit."""
    number = 0
    for place, byte in enumerate(data):
        number |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            break
    return number


def _sectors(path: Path, first: int, count: int) -> bytes:
    words = ["dd", f"if={path.absolute()}", f"bs={_SECTOR}", f"skip={first}", f"count={count}"]
    try:
        return subprocess.run(words, capture_output=True, check=False).stdout
    except OSError:  # the system lacks it
        return b""
