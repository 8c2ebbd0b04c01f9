"""Files in further compressions, encodings and forms of JSON, and records of further tools, are read or named."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import tarfile
from pathlib import Path
from typing import Any

import pytest

from slant.collector.errors import UsageError
from slant.collector.importing.files.kinds import Row
from slant.collector.importing.files.table_file import TableFiles

CSV = "condition,answer\na,Quick\nb,Slow\n"
TABS = CSV.replace(",", "\t")
RECORDS = [{"condition": "a", "answer": "Quick"}, {"condition": "b", "answer": "Slow"}]
COLUMNS = {name: {"0": RECORDS[0][name], "1": RECORDS[1][name]} for name in RECORDS[0]}
ENDED = {"message": {"content": "Quick"}, "finish_reason": "stop"}
CHAT = {"object": "chat.completion", "model": "m", "choices": [ENDED]}
GEMINI = {"candidates": [{"content": {"parts": [{"text": "Quick"}]}, "finishReason": "STOP"}], "modelVersion": "m"}
CLAUDE = {"type": "message", "model": "m", "content": [{"type": "text", "text": "Quick"}], "stop_reason": "end_turn"}
CONVERSE = {"output": {"message": {"content": [{"text": "Quick"}]}}, "stopReason": "end_turn"}


def read(path: Path, content: bytes | str) -> list[Any]:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with TableFiles([path]) as files:
        return [row.cells if isinstance(row, Row) else row.text for file in files for row in file.rows()]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv.bz2", bz2.compress(CSV.encode())), ("a.csv.xz", lzma.compress(CSV.encode())),
        ("a.csv", CSV.encode("utf-16")), ("a.txt", b"\xfe\xff" + TABS.encode("utf-16-be")),
        ("a.csv", CSV.replace(",", "|")), ("a.csv", "sep=;\n" + CSV.replace(",", ";")),
        ("a.json", json.dumps(dict(enumerate(RECORDS)))), ("a.json", json.dumps({"t1": RECORDS[0], "t2": RECORDS[1]})),
        ("a.json", json.dumps({"data": {"rows": RECORDS}})), ("a.json", json.dumps(RECORDS).encode("utf-16")),
        ("a.json", json.dumps(COLUMNS)),
    ],
)  # fmt: skip
def test_the_same_rows_come_out_of_each_form(name: str, content: bytes | str, tmp_path: Path) -> None:
    assert read(tmp_path / name, content) == RECORDS


@pytest.mark.parametrize(
    "record",
    [
        CHAT, CLAUDE, {**GEMINI, "usageMetadata": {}}, {"key": "k", "response": GEMINI},
        {"recordId": "1", "modelOutput": CLAUDE}, {"recordId": "1", "modelOutput": CONVERSE},
        {"custom_id": "1", "response": {"body": CHAT}}, {"doc_id": 3, "doc": {"word": "tea"}, "resps": [["Quick"]]},
    ],
)  # fmt: skip
def test_a_record_of_another_tool_has_its_answer(record: dict[str, Any], tmp_path: Path) -> None:
    (cells,) = read(tmp_path / "a.jsonl", json.dumps(record))
    assert cells["answer"] == "Quick"


@pytest.mark.parametrize(
    "record",
    [
        {"key": "k", "error": {"code": 3, "message": "bad"}}, {"recordId": "1", "error": {"errorMessage": "bad"}},
        {"request": {}, "response": {}, "status": "bad"},
    ],
)  # fmt: skip
def test_a_request_that_failed_is_no_answer(record: dict[str, Any], tmp_path: Path) -> None:
    assert read(tmp_path / "a.jsonl", json.dumps(record)) == ["is a request that failed (bad)"]


def packed_tar() -> bytes:
    with tarfile.open(fileobj=(made := io.BytesIO()), mode="w:gz") as archive:
        archive.addfile(tarfile.TarInfo("a.csv"))
    return made.getvalue()


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (packed_tar(), "a tar archive"), (gzip.compress(b"X\n\x00\x00"), "data of R"), (b"FEA1", "a Feather file"),
        (b"\x80\x03}q", "a pickle"), (b"MATLAB 5.0", "of MATLAB"), (CSV.replace("\n", "\r").encode(), "old Mac"),
    ],
    ids=["tar", "R", "Feather", "pickle", "MATLAB", "Mac"],  # packed bytes have a time in them
)  # fmt: skip
def test_a_file_that_cannot_be_read_is_named(content: bytes, what: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as raised:
        read(tmp_path / "rows.bin", content)
    assert what in str(raised.value)
    assert str(tmp_path / "rows.bin") in str(raised.value)
