"""Arrow files (Feather 2) and streams, made Parquet for the time of an import; their own messages say how large."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from slant.collector.errors import UsageError

_MAGIC = b"ARROW1"
_DICTIONARY, _RECORDS = 2, 3
_NOT_PACKED = -1
_MOST_METADATA = 50_000_000


class _Table:
    """Read a table of a flatbuffer, in which Arrow writes its messages: fields by their numbers in the schema."""

    def __init__(self, data: bytes, place: int) -> None:
        self._data, self._place = data, place
        self._fields = place - _int32(data, place)
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


def _int32(data: bytes, place: int) -> int:
    return _number("<i", data, place)


def unpacked_size(data: bytes) -> int:
    """Return how many bytes the columns of an Arrow file or stream take unpacked, by what its messages say.

    ValueError, IndexError or struct.error if they can't be read.
    """
    places = _blocks(data) if data.startswith(_MAGIC) else _messages(data, 0)
    return sum(_size_of_message(data, place) for place in places)


def _blocks(data: bytes) -> list[int]:
    """Return the place of each batch that a file's footer names; it may name one of them many times."""
    n_footer = _int32(data, len(data) - len(_MAGIC) - 4)
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
    n_bytes = _int32(data, start - 4)
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
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UsageError(f"Can't import {path}: the Arrow file is damaged.", reason) from error
    return place
