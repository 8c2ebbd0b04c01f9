"""Files of other tools as rows: what their own format says comes out under our names."""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from slant.collector.errors import UsageError
from slant.collector.importing.files.kinds import Row
from slant.collector.importing.files.table_file import TableFiles


def cells(path: Path) -> list[Any]:
    with TableFiles([path]) as files:
        return [row.cells if isinstance(row, Row) else row.text for file in files for row in file.rows()]


def test_a_workbook_gives_its_values(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
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
