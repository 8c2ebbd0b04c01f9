"""Files that are packed (.gz, .zst, .bz2, .xz, .zip) or in UTF-16, made plain for the time of an import.

Arrow files (Feather 2) and streams are made Parquet; their own messages say how large they are unpacked.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import struct
import sys
import zipfile as plain_zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import polars as pl

if TYPE_CHECKING or sys.version_info < (3, 14):
    from backports.zstd import ZstdError, ZstdFile, zipfile
else:
    import zipfile

    from compression.zstd import ZstdError, ZstdFile

from slant.collector.errors import UsageError
from slant.collector.importing.files.kinds import ENDINGS
from slant.collector.terminal import count_text

MOST_BYTES = 2_000_000_000
MOST_RATIO = 100
_RATIO_FROM = 16_000_000
"""Bytes; a smaller file may well be packed more tightly, and does no harm."""
_SUFFIXES = (".gz", ".zst", ".bz2", ".xz")
_OPENED: dict[str, Any] = {"gz": gzip.open, "zst": ZstdFile, "bz2": bz2.open, "xz": lzma.open}
_MOST_MEMBERS = 200_000
_CHUNK = 1 << 20
_MAGIC = b"ARROW1"
_DICTIONARY, _RECORDS = 2, 3
_NOT_PACKED = -1
_MOST_METADATA = 50_000_000
_DAMAGE = (
    zipfile.BadZipFile, plain_zipfile.BadZipFile, zlib.error, ZstdError, lzma.LZMAError, EOFError, OSError,
    struct.error, NotImplementedError, RuntimeError,
)  # fmt: skip


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


def unpacked(path: Path, kind: str, folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the name and the place of each file in a packed one. UsageError if it is damaged, or too large
    unpacked.
    """
    if kind == "zip":
        yield from _unpacked_zip(path, folder)
        return
    if kind == "utf-16":
        yield str(path), _as_utf_8(path, folder / f"1-{path.name}")
        return
    if kind.startswith("arrow"):
        yield str(path), as_parquet(path, kind, folder / f"1-{path.name}.parquet", MOST_BYTES)
        return
    name = path.name.removesuffix(path.suffix) if path.suffix.lower() in _SUFFIXES else f"{path.name}.csv"
    place = folder / f"1-{Path(name).name}"
    with _OPENED[kind](path, "rb") as stream:
        _copy(stream, place, str(path), path.stat().st_size)
    yield f"{path}", place


def _as_utf_8(path: Path, place: Path) -> Path:
    """Return a copy of a text in UTF-16, as Excel's "Unicode text" is."""
    try:
        with path.open(encoding="utf-16", newline="") as source, place.open("w", encoding="utf-8", newline="") as copy:
            while chunk := source.read(_CHUNK):
                copy.write(chunk)
    except UnicodeError as error:
        raise UsageError(f"Can't import {path}: its text in UTF-16 is damaged.", str(error)) from error
    return place


def members(path: Path) -> list[str]:
    """Return the names of files in a zip. UsageError if its list can't be read."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = [info.filename for info in archive.infolist() if not info.is_dir()]
    except _DAMAGE as error:
        raise UsageError(f"Can't import {path}: it is a damaged zip file.", f"{_reason(error)}") from error
    if len(names) > _MOST_MEMBERS:
        raise UsageError(f"Can't import {path}: it holds {len(names):,} files.", f"{_MOST_MEMBERS:,} at most.")
    return names


def check_sizes(path: Path) -> None:
    """Raise UsageError if the members of a zip file say themselves that they are too large."""
    with zipfile.ZipFile(path) as archive:
        _check(sum(info.file_size for info in archive.infolist()), path.stat().st_size, str(path))


def read_members(path: Path, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes | str]]:
    """Yield the names and contents of members of a zip file, in the order of their names; for a damaged one,
    why it is.
    """
    with zipfile.ZipFile(path) as archive:
        for name in sorted(filter(wanted, archive.namelist())):
            try:
                yield name, archive.read(name)
            except _DAMAGE as error:
                yield name, _reason(error)


def _unpacked_zip(path: Path, folder: Path) -> Iterator[tuple[str, Path]]:
    taken = [
        name
        for name in members(path)
        if Path(name).suffix.lower() in ENDINGS and not Path(name).name.startswith(".") and "__MACOSX" not in name
    ]
    if not taken:
        known = f"It holds {count_text(len(members(path)), 'file')}; known endings: {', '.join(ENDINGS)}"
        raise UsageError(f"There is nothing to import in {path}.", known)
    check_sizes(path)
    n_bytes = 0
    with zipfile.ZipFile(path) as archive:
        for number, name in enumerate(taken, start=1):
            place = folder / f"{number}-{Path(name).name}"
            try:
                stream = archive.open(name)
            except _DAMAGE as error:
                raise UsageError(f"Can't import {path}/{name}: damaged.", _reason(error)) from error
            with stream:
                n_bytes += _copy(stream, place, f"{path}/{name}", path.stat().st_size, n_bytes)
            yield f"{path}/{name}", place


def _copy(stream: _Readable, place: Path, what: str, n_packed: int, n_before: int = 0) -> int:
    n_bytes = 0
    with place.open("wb") as file:
        while True:
            try:
                chunk = stream.read(_CHUNK)
            except _DAMAGE as error:
                raise UsageError(f"Can't import {what}: damaged.", _reason(error)) from error
            if not chunk:
                return n_bytes
            n_bytes += len(chunk)
            _check(n_before + n_bytes, n_packed, what)
            file.write(chunk)


def _check(n_bytes: int, n_packed: int, what: str) -> None:
    if n_bytes > MOST_BYTES:
        raise UsageError(f"Can't import {what}: unpacked it has more than 2 GB.", "Unpack it, and import it in parts.")
    if n_bytes > _RATIO_FROM and n_bytes > MOST_RATIO * n_packed:
        rule = f"It may be {MOST_RATIO} times as large unpacked as it is packed, and is more."
        raise UsageError(f"Can't import {what}: it could be made to fill the disk.", rule)


def _reason(error: BaseException) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__


class _Table:
    """Read a table of a flatbuffer, in which Arrow writes its messages: fields by their numbers in the schema."""

    def __init__(self, data: bytes, place: int) -> None:
        self._data, self._place = data, place
        self._fields = place - _number("<i", data, place)
        self._n_bytes = _number("<H", data, self._fields)

    @classmethod
    def root(cls, data: bytes) -> _Table:
        return cls(data, _number("<I", data, 0))

    def number(self, field: int, form: str) -> int:
        """Return a number; 0 if the table lacks it."""
        place = self._at(field)
        return _number(form, self._data, place) if place else 0

    def table(self, field: int) -> _Table | None:
        place = self._at(field)
        return _Table(self._data, place + _number("<I", self._data, place)) if place else None

    def structs(self, field: int, form: str) -> Iterator[tuple[int, ...]]:
        """Yield the records of a list."""
        if not (place := self._at(field)):
            return
        start = place + _number("<I", self._data, place)
        for number in range(_number("<I", self._data, start)):
            yield struct.unpack_from(form, self._data, start + 4 + number * struct.calcsize(form))

    def _at(self, field: int) -> int:
        entry = 4 + 2 * field
        offset = _number("<H", self._data, self._fields + entry) if entry < self._n_bytes else 0
        return self._place + offset if offset else 0


def _number(form: str, data: bytes, place: int) -> int:
    if place < 0:
        raise ValueError("a place before the beginning")
    return int(struct.unpack_from(form, data, place)[0])


def unpacked_size(data: bytes) -> int:
    """Return the unpacked size in bytes of the columns of an Arrow file or stream, according to its messages.

    ValueError, IndexError or struct.error if they can't be read.
    """
    places = _blocks(data) if data.startswith(_MAGIC) else _messages(data, 0)
    return sum(_size_of_message(data, place) for place in places)


def _blocks(data: bytes) -> list[int]:
    """Return the place of each batch that a file's footer names; it may name one of them many times."""
    n_footer = _number("<i", data, len(data) - len(_MAGIC) - 4)
    end = len(data) - len(_MAGIC) - 4
    if not 0 < n_footer <= min(end, _MOST_METADATA):
        raise ValueError("no footer")
    footer = _Table.root(data[end - n_footer : end])
    return [block[0] for field in (2, 3) for block in footer.structs(field, "<qixxxxq")]


def _messages(data: bytes, place: int) -> Iterator[int]:
    while place + 8 <= len(data):
        message, body = _message(data, place)
        if message is None:
            return
        yield place
        place = body + message.number(3, "<q")


def _message(data: bytes, place: int) -> tuple[_Table | None, int]:
    """Return a message, None at the end, and where its body begins."""
    start = place + 8 if data[place : place + 4] == b"\xff\xff\xff\xff" else place + 4
    n_bytes = _number("<i", data, start - 4)
    if n_bytes <= 0:
        return None, start
    if n_bytes > _MOST_METADATA:
        raise ValueError("a message of too many bytes")
    return _Table.root(data[start : start + n_bytes]), start + n_bytes


def _size_of_message(data: bytes, place: int) -> int:
    message, body = _message(data, place)
    kind = message.number(1, "<B") if message else 0
    header = message.table(2) if message and kind in (_DICTIONARY, _RECORDS) else None
    batch = header.table(1) if header and kind == _DICTIONARY else header
    if batch is None:
        return 0
    n_values = sum(length for length, _ in batch.structs(1, "<qq"))  # a column of nulls has no bytes at all
    is_packed = batch.table(3) is not None
    n_bytes = 0
    for offset, length in batch.structs(2, "<qq"):
        unpacked = _number("<q", data, body + offset) if is_packed and length else _NOT_PACKED
        n_bytes += length if unpacked == _NOT_PACKED else unpacked
    return max(n_bytes, n_values)


def as_parquet(path: Path, kind: str, place: Path, most_bytes: int) -> Path:
    """Return a copy of an Arrow file or stream as Parquet. UsageError if it is damaged, or larger than `most_bytes`
    unpacked, which is looked at first: 200 kB may unpack to gigabytes."""
    read = pl.read_ipc if kind == "arrow" else pl.read_ipc_stream
    try:
        with path.open("rb") as stream:
            if path.stat().st_size > most_bytes or unpacked_size(stream.read()) > most_bytes:
                raise UsageError(f"Can't import {path}: unpacked it has more than 2 GB.", "Save it as Parquet.")
            stream.seek(0)
            read(stream).write_parquet(place)
    except (
        pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError, IndexError, struct.error,
    ) as error:  # fmt: skip
        raise UsageError(f"Can't import {path}: the Arrow file is damaged.", _reason(error)) from error
    return place
