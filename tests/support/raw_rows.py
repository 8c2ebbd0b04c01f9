"""Raw answers made here, in the authors' layout and in our own, for the tests of import and export."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from slant.collector import import_trials
from slant.collector.importing.files.kinds import kind_of
from slant.collector.importing.files.table_file import TableFile
from slant.collector.importing.imports import ImportReport
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of

WORDING_2 = (
    'Classify the word below based on the given instructions.\n    Word: "{word}" \n    Which category fits best? '
    "Pick one: [{category_1}, {category_2}]. Only respond with the selected category."
)


def raw(**changed: Any) -> dict[str, Any]:
    """A row as the authors' file `flowers_insects.csv` of a model with readable reasoning has it."""
    row = {
        "word": "aster", "group": "Flowers", "attribute": "Pleasant", "thought": "Asters are flowers.\nSo: pleasant.",
        "tokens": "120", "condition": "Stereotype-Consistent", "prompt": WORDING_2,
    }  # fmt: skip
    return row | changed


def tidy(**changed: Any) -> dict[str, Any]:
    """A row with our own column names."""
    row = {
        "model": "deepseek-r1", "test": "flowers_insects", "condition": "compatible", "item": "aster", "wording": 2,
        "answer": "Pleasant", "tokens": 120, "reasoning_text": "Asters are flowers.\nSo: pleasant.",
    }  # fmt: skip
    return row | changed


def table(path: Path) -> TableFile:
    """An unpacked file as an import sees it."""
    return TableFile(str(path), path, kind_of(path))


def write_csv(path: Path, rows: Iterable[Mapping[str, Any]], **options: Any) -> Path:
    rows = list(rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding=options.pop("encoding", "utf-8")) as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator=options.pop("lineterminator", "\n"), **options)
        writer.writeheader()
        writer.writerows(rows)
    return path


def lee_lai(folder: Path, *rows: Mapping[str, Any], model: str = "deepseek-r1", **options: Any) -> ImportReport:
    """Import rows in the authors' layout into `folder/t.duckdb`, by way of a file (`name`)."""
    file = write_csv(folder / options.pop("name", "flowers_insects.csv"), rows, **options)
    return import_trials(folder / "t.duckdb", "rmiat", [file], model=model, layout="lee-lai")


def trials(
    folder: Path, columns: str = "*", view: str = "trials", order: str = "test, item, wording, condition, repetition"
) -> list[dict[str, Any]]:
    with reading(folder / "t.duckdb") as connection:
        query = f"SELECT {columns} FROM {view} ORDER BY {order}"  # noqa: S608
        frame: pl.DataFrame = frame_of(connection.sql(query))
    return frame.to_dicts()
