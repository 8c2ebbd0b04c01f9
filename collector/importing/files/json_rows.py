"""Reads JSON: a record a line, an array of records, or what wraps one.

Where an object is a log of a tool that is known (collector/importing/files/tool_logs.py) its samples are the rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from slant.collector.errors import UsageError
from slant.collector.importing.files.kinds import Problem, Row, fault_in, tidy_name
from slant.collector.importing.files.tool_logs import FailedAnswerError, cells_of, samples_of

_WHOLE = 64_000_000
"""Bytes up to which a file is read at once; a longer array record by record."""
_WRAPPERS = ("data", "rows", "trials", "records", "results", "items", "responses", "samples")

_SHARED = ("model", "model_name", "model_id", "llm", "engine")
"""What an object says of all its records."""
_TOLD = {"answer", "response", "condition", "model", "item", "prompt"}


def line_rows(name: str, path: Path) -> Iterator[Row | Problem]:
    """Yield a file of a record a line; a line may also be an array of records (as JATOS keeps those of jsPsych)."""
    with path.open("rb") as stream:
        if stream.readline().removeprefix(b"\xef\xbb\xbf").strip() in (b"{", b"["):
            yield from document_rows(name, path)  # the first line is no record by itself, whatever the file's name
            return
        stream.seek(0)
        for line, raw in enumerate(stream, start=1):
            text = raw.decode("utf-8", "surrogateescape").removeprefix("\ufeff").strip()
            if not text:
                continue
            try:
                record = json.loads(text)
            except (ValueError, RecursionError) as error:
                yield Problem(name, line, f"is no JSON ({error})")
                continue
            for each in record if isinstance(record, list) else [record]:
                yield _row(name, line, each)


def document_rows(name: str, path: Path) -> Iterator[Row | Problem]:
    """Yield a file that is one JSON document. UsageError if it has no records."""
    with path.open("rb") as stream:
        is_array = stream.read(64).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[")
    if is_array and path.stat().st_size > _WHOLE:
        yield from _streamed(name, path)
        return
    try:
        document = json.loads(path.read_bytes().decode("utf-8-sig", "surrogateescape"))
    except (ValueError, RecursionError) as error:
        if str(error).startswith("Extra data"):
            yield from line_rows(name, path)
            return
        raise UsageError(f"Can't import {name}: it is no JSON.", str(error)) from error
    yield from rows_of_document(name, document)


def rows_of_document(name: str, document: Any) -> Iterator[Row | Problem]:
    for number, record in enumerate(_records(name, document), start=1):
        yield _row(name, number, record)


def _records(name: str, document: Any) -> Iterable[Any]:
    if isinstance(document, list):
        return [record for part in document for record in part] if _is_of(list, document) else document
    if not isinstance(document, dict):
        kinds: dict[type, str] = {str: "a text", int: "a number", float: "a number", bool: "true or false"}
        raise UsageError(f"Can't import {name}: its JSON is {kinds.get(type(document), 'null')}, not records.")
    if (samples := samples_of(document)) is not None:
        return samples
    if isinstance(document.get("columns"), list) and _is_of(list, document.get("data")):
        return [dict(zip(document["columns"], values, strict=False)) for values in document["data"]]
    if len(document) > 1 and all(_is_of(dict, value) for value in document.values()):
        return [{"key": key, **record} for key, records in document.items() for record in records]
    shared = {key: document[key] for key in _SHARED if isinstance(document.get(key), str)}
    lists = {key: value for key, value in document.items() if isinstance(value, list) and value and _is_of(dict, value)}
    chosen = next((key for key in _WRAPPERS if key in lists), next(iter(lists)) if len(lists) == 1 else None)
    if chosen is not None:
        return [{**shared, **record} for record in lists[chosen]] if shared else lists[chosen]
    columns = list(document.values())
    if len(columns) == 1 and isinstance(columns[0], dict) and next(iter(document)) in _WRAPPERS:
        return _records(name, columns[0])
    if columns and _is_of(list, columns) and len({len(column) for column in columns}) == 1:
        return [dict(zip(document, values, strict=True)) for values in zip(*columns, strict=True)]
    if columns and _is_of(dict, columns) and (all(key.isdigit() for key in document) or _TOLD & set(columns[0])):
        return columns  # an object of records by their number or ID, and not of columns
    if len(columns) > 1 and _is_of(dict, columns) and len({tuple(column) for column in columns}) == 1:
        return [{key: column[row] for key, column in document.items()} for row in columns[0]]
    if "condition" in document or "answer" in document:
        return [document]
    keys = ", ".join(map(str, list(document)[:8]))
    raise UsageError(
        f"Can't import {name}: its JSON is one object, and no list of records in it.",
        f"It has: {keys}. An array of records, or a record a line, can be read.",
    )


def _row(name: str, line: int, record: Any) -> Row | Problem:
    if not isinstance(record, dict):
        return Problem(name, line, "is no JSON object")
    try:
        cells: Mapping[str, Any] = cells_of(record)
    except FailedAnswerError as error:
        return Problem(name, line, str(error))
    except (AttributeError, KeyError, TypeError, IndexError, ValueError):
        cells = record
    if fault := fault_in(cells.values()):
        return Problem(name, line, fault)
    return Row(name, line, {tidy_name(key): value for key, value in cells.items()})


def _streamed(name: str, path: Path) -> Iterator[Row | Problem]:
    import ijson  # only long arrays need it

    number = 0
    with path.open("rb") as stream:
        try:
            for number, record in enumerate(ijson.items(stream, "item", use_float=True), start=1):
                yield _row(name, number, record)
        except ijson.JSONError as error:
            why = str(error).strip().splitlines()[0]
            yield Problem(name, number + 1, f"is no JSON, and nothing after it was read ({why})")


def _is_of(kind: type, values: Any) -> bool:
    return isinstance(values, list) and bool(values) and all(isinstance(value, kind) for value in values)
