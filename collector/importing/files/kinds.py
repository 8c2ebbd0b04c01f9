"""Recognise a file by its first bytes: the kinds that can be read, and names for those that can't.

Rows of files, and what can't be read of them; what all kinds of files share."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slant.collector.errors import UsageError

RowCells = Mapping[str, Any]
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Problem:
    """Hold one row that was not imported, and why; `model` is one that is not known, where it is that."""

    file: str
    line: int
    text: str
    model: str | None = None

    def __str__(self) -> str:
        return f"{self.file}, line {self.line:,}: {self.text}"


@dataclass(slots=True)  # made for each row: freezing its fields would take four times as long as setting them
class Row:
    """Hold one record as the file has it: column name (trimmed, lower case) → value; text everywhere in a CSV."""

    file: str
    line: int
    cells: RowCells


def counted(rows: Iterable[Row | Problem], on_rows: Callable[[int], None] | None) -> Iterator[Row | Problem]:
    """Yield the rows, and say from time to time how many have come."""
    for number, row in enumerate(rows, start=1):
        yield row
        if on_rows and number % 500 == 0:
            on_rows(500)


def tidy_name(name: object) -> str:
    """Return the name of a column, trimmed and in lower case."""
    return str(name).removeprefix("\ufeff").strip().lower()


def unlike(file: str, names: list[str]) -> list[str]:
    """Return the names of columns; UsageError if two are the same."""
    seen: set[str] = set()
    for name in names:
        if name and name in seen:
            rule = f'Each column must have a name of its own, but two are "{name}".'
            raise UsageError(f"Can't import {file}.", rule)
        seen.add(name)
    return names


def fault_in(values: Iterable[Any]) -> str | None:
    """Return the reason why a record's text can't be stored. Bytes that are not UTF-8 have come in as lone
    surrogates."""
    for value in values:
        if not isinstance(value, str):
            continue
        if not value.isascii() and (bad := _SURROGATE.search(value)):
            code = ord(bad.group())
            fault = f"a byte that is not UTF-8 (0x{code & 0xFF:02X})" if code >= 0xDC80 else "half of a character"
            end = " ".join(value[: bad.start()].split())[-20:]
            return f'holds {fault} after "{end}"' if bad.start() else f"holds {fault}"
        if "\0" in value:
            return "holds a NUL byte"
    return None


PACKED = ("gz", "zst", "bz2", "xz", "zip", "utf-16", "arrow", "arrow-stream")
READ = ("csv", "json", "jsonl", "parquet", "workbook", *PACKED)
ENDINGS = (
    ".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet", ".xlsx", ".xlsm", ".xlsb", ".xls", ".ods", ".gz", ".zst",
    ".bz2", ".xz", ".zip", ".eval", ".arrow", ".feather",
)  # fmt: skip
"""The endings of files that are taken from a folder."""
_LOOKED_AT = 4_096
_STARTS = (
    (b"PAR1", "parquet"),
    (b"ARROW1", "arrow"),
    (b"\xff\xff\xff\xff", "arrow-stream"),
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
    (b"\x1f\x8b", "gz"),
    (b"\x28\xb5\x2f\xfd", "zst"),
    (b"BZh", "bz2"),
    (b"\xfd7zXZ", "xz"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "workbook"),
)
_AS_CSV = "Save it as CSV (UTF-8) or Parquet."
_IN_R = "In R: write.csv({}, 'rows.csv', row.names = FALSE)"
_AS_TABLE = "In Python: write it with to_parquet() or to_csv()."
_OTHERS = (
    (b"$FL2", "a file of SPSS", _IN_R.format("haven::read_sav('FILE')")),
    (b"$FL3", "a file of SPSS", _IN_R.format("haven::read_sav('FILE')")),
    (b"<stata_dta>", "a file of Stata", _IN_R.format("haven::read_dta('FILE')")),
    (b"RDX", "data of R (.RData)", "In R: load() it, then write.csv()"),
    (b"RDA", "data of R (.RData)", "In R: load() it, then write.csv()"),
    (b"X\n\x00", "data of R (.rds)", _IN_R.format("readRDS('FILE')")),
    (b"A\n", "data of R (.rds)", _IN_R.format("readRDS('FILE')")),
    (b"SQLite format 3\x00", "an SQLite database", "Write the table that you want as CSV."),
    (b"ORC", "an ORC file", "Save it as Parquet."),
    (b"Obj\x01", "an Avro file", "Save it as Parquet."),
    (b"FEA1", "a Feather file", "In Python: pandas.read_feather('FILE').to_parquet('rows.parquet')"),
    *((bytes((128, version)), "a pickle of Python, which could run code", _AS_TABLE) for version in range(2, 6)),
    (b"\x93NUMPY", "an array of NumPy", _AS_TABLE),
    (b"MATLAB", "a file of MATLAB", "In MATLAB: writetable(T, 'rows.csv')"),
    (b"HEADER RECORD*******LIB", "a transport file of SAS", _IN_R.format("haven::read_xpt('FILE')")),
    (b"ASCII SPSS PORT FILE", "a portable file of SPSS", _IN_R.format("haven::read_por('FILE')")),
    (b"%PDF", "a PDF", _AS_CSV),
    (b"{\\rtf", "a text document (RTF)", _AS_CSV),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", "Unpack it first."),
    (b"Rar!", "a RAR archive", "Unpack it first."),
    (b"\x89PNG", "a picture", _AS_CSV),
    (b"\xff\xd8\xff", "a picture", _AS_CSV),
    (b"\x89HDF", "an HDF5 file", "Save its table as CSV or Parquet."),
    (b"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xc2\xea\x81\x60", "a file of SAS", _AS_CSV),
)


def content_hash(path: Path) -> str:
    """Return the hexadecimal hash of a file's content."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def kind_of(path: Path, name: str = "") -> str:
    """Return the kind, one of READ. Raise UsageError, which names it, for a file of another kind, and for one that is
    empty. `name`: what people call the file, if it is a part of a packed one."""
    name = name or str(path)
    with path.open("rb") as stream:
        start = stream.read(_LOOKED_AT)
    if not start.strip():
        raise UsageError(f"Can't import {name}: it is empty.", "Its first line must name the columns.")
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    for magic, kind in _STARTS:
        if start.startswith(magic):
            return kind
    for magic, what, hint in _OTHERS:
        if start.startswith(magic):
            raise UsageError(f"Can't import {name}: it is {what}.", hint)
    if start[257:262] == b"ustar":
        raise UsageError(f"Can't import {name}: it is a tar archive.", "Unpack it first: tar xf FILE")
    if start[8:12] == b"DUCK":
        raise UsageError(f"Can't import {name}: it is a DuckDB database.", "Of slant: collect merge. Else: COPY … TO.")
    if path.suffix.lower() == ".dta" and start[:1] in b"\x69\x71\x72\x73":
        raise UsageError(f"Can't import {name}: it is a Stata file.", _IN_R.format("haven::read_dta('FILE')"))
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text[:14].lower().startswith((b"<!doctype html", b"<html")):
        raise UsageError(f"Can't import {name}: it is a web page.", "Does the download need a log-in?")
    if text.startswith(b"<?xml"):
        raise UsageError(f"Can't import {name}: it is XML.", _AS_CSV)
    if text.startswith(b"version https://git-lfs"):
        raise UsageError(f"Can't import {name}: only its pointer of Git LFS is here.", "Fetch it: git lfs pull")
    ending = path.suffix.lower()
    if ending in (".jsonl", ".ndjson", ".json") or text[:1] in (b"{", b"["):
        # a line a record if the first line is one by itself: seen when it is read
        return "json" if ending == ".json" or text[:1] == b"[" else "jsonl"
    if (meant := {".parquet": "a Parquet file", ".xlsx": "an Excel workbook"}.get(ending)) is not None:
        raise UsageError(f"Can't import {name}.", f"It must be {meant}, but is text.")
    return "csv"
