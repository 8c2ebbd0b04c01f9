"""Files of other tools as rows, packed and encoded in any way, and workbooks: what their own format says comes out
under our names."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook

from slant.collector.errors import UsageError
from slant.collector.importing.files.kinds import Row
from slant.collector.importing.files.table_file import TableFiles
from slant.collector.importing.proposals.proposal import propose_study


def cells(path: Path) -> list[Any]:
    with TableFiles([path]) as files:
        return [row.cells if isinstance(row, Row) else row.text for file in files for row in file.rows()]


def test_a_workbook_gives_its_values(tmp_path: Path) -> None:
    book = Workbook()
    for row in (["item", "answer"], ["rose", 3.0], ["aster", "NA"]):
        book.active.append(row)
    book.save(tmp_path / "rows.xlsx")
    assert cells(tmp_path / "rows.xlsx") == [{"item": "rose", "answer": "3"}, {"item": "aster", "answer": "NA"}]


def test_packed_files_and_arrays_are_unpacked(tmp_path: Path) -> None:
    (tmp_path / "rows.json.gz").write_bytes(gzip.compress(b'[{"item": "rose"}, 7]'))
    assert cells(tmp_path / "rows.json.gz") == [{"item": "rose"}, "is no JSON object"]
    (tmp_path / "bomb.csv.gz").write_bytes(gzip.compress(b"0" * 40_000_000))
    with pytest.raises(UsageError, match="fill the disk"):
        cells(tmp_path / "bomb.csv.gz")


def test_logs_of_tools_come_under_our_names(tmp_path: Path) -> None:
    foo = {"vars": {"item": "rose"}, "provider": {"id": "openai:chat:gpt-5"}, "response": {"output": "Calm"}}
    (tmp_path / "foo.json").write_text(json.dumps({"results": {"version": 3, "results": [foo]}}))
    [row] = cells(tmp_path / "foo.json")
    assert (row["item"], row["model"], row["answer"]) == ("rose", "openai/gpt-5", "Calm")
    (tmp_path / "js.json").write_text('[{"trial_type": "x", "trial_index": 1, "response": 0, "choices": ["a", "b"]}]')
    assert cells(tmp_path / "js.json")[0]["answer"] == "a"
    (tmp_path / "batch.jsonl").write_text('{"custom_id": "a", "result": {"type": "expired"}}\n')
    assert cells(tmp_path / "batch.jsonl") == ["is a request that failed (expired)"]


def test_a_damaged_sample_leaves_the_others(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as log:
        log.writestr("header.json", '{"eval": {"model": "openai/gpt-5"}}')
        log.writestr("samples/1.json", "{")
        log.writestr(
            "samples/2.json", '{"id": "x", "epoch": 2, "output": {"choices": [{"message": {"content": "A"}}]}}'
        )
    damaged, whole = cells(tmp_path / "log.eval")
    assert damaged.startswith("is no JSON")
    assert (whole["answer"], whole["repetition"], whole["model"]) == ("A", 2, "openai/gpt-5")


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "rows.sav").write_bytes(b"$FL2@(#) SPSS")
    with pytest.raises(UsageError, match="it is a file of SPSS"):
        cells(tmp_path / "rows.sav")


def test_a_folder_of_folders_is_answered_with_the_names_of_those_that_hold_files(tmp_path: Path) -> None:
    for model in ("o3-mini", "DeepSeek-R1"):
        (tmp_path / "data" / model).mkdir(parents=True)
        (tmp_path / "data" / model / "rows.csv").write_text("a,b\n", encoding="utf-8")
    with pytest.raises(UsageError) as refused:
        cells(tmp_path / "data")
    assert "Its folders have files: DeepSeek-R1, o3-mini. Name one of them" in str(refused.value)


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
    return cells(path)


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


HEADER = ("model", "name", "rating")
RATED = [("gpt-4o", name, rating) for name in ("Emily", "Greg", "Zoë") for rating in (3, 5)]


def _saved(path: Path, *sheets: tuple[str, list[Any]]) -> Workbook:
    book = Workbook()
    book.remove(book.active)
    for title, rows in sheets:
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return book


def _read(path: Path) -> tuple[list[tuple[str | None, ...]], list[str]]:
    with TableFiles([path]) as files:
        columns = files[0].columns
        rows = [tuple(row.cells.get(name) for name in columns) for row in files[0].rows() if isinstance(row, Row)]
        return [tuple(columns), *rows], files[0].remarks


def test_rows_of_titles_above_the_table_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "titled.xlsx"
    _saved(path, ("Data", [("Ratings, spring 2026",), (), HEADER, *RATED]))
    rows, remarks = _read(path)
    assert rows[:2] == [HEADER, ("gpt-4o", "Emily", "3")]
    assert remarks == [f"{path}: 2 rows above the names of the columns left out"]


def test_names_of_groups_of_columns_name_none(tmp_path: Path) -> None:
    path = tmp_path / "grouped.xlsx"
    book = _saved(path, ("Data", [("Shown", None, "Answered"), ("name", "job", "rating"), ("Emily", "nurse", 4)]))
    book["Data"].merge_cells("A1:B1")
    book.save(path)
    assert _read(path)[0] == [("name", "job", "rating"), ("Emily", "nurse", "4")]


def test_a_merged_cell_holds_for_all_its_rows(tmp_path: Path) -> None:
    path = tmp_path / "merged.xlsx"
    book = _saved(path, ("Data", [HEADER, ("gpt-4o", "Emily", 3), (None, None, 5), (None, "Greg", 4)]))
    book["Data"].merge_cells("A2:A4")
    book["Data"].merge_cells("B2:B3")
    book.save(path)
    rows, remarks = _read(path)
    assert rows[1:] == [("gpt-4o", "Emily", "3"), ("gpt-4o", "Emily", "5"), ("gpt-4o", "Greg", "4")]
    assert remarks == [f"{path}: 3 merged cells filled with the value of the first"]


def test_sheets_of_the_same_columns_are_read_together(tmp_path: Path) -> None:
    path = tmp_path / "by_model.xlsx"
    ratings = [HEADER[1:], *(row[1:] for row in RATED)]
    _saved(path, ("Notes", [("by our lab",)]), ("gpt-4o", ratings), ("claude-3-5-sonnet", ratings))
    rows, _ = _read(path)
    assert (len(rows), rows[0], rows[-1]) == (13, ("name", "rating", "sheet"), ("Zoë", "5", "claude-3-5-sonnet"))
    proposed = propose_study([path])
    assert "model: sheet" in proposed.taken
    assert f"{path}: 2 of 3 sheets have the same columns" in proposed.remarks[0]


def test_lines_of_separators_alone_are_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("model,name,rating,,\ngpt-4o,Emily,3,,\n,,,,\n,,,,\n")
    assert len(_read(path)[0]) == 2
