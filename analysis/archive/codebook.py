"""Describe each column of the data: in a codebook, and in psych-DS form (schema.org's terms).

There is one source: sql/columns.csv for columns, the heads of the views' files for what a row is.
"""

from __future__ import annotations

import csv
import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from slant.collector.keep.view_heads import TableInfo, read_view_heads
from slant.collector.system.shipped_files import sql_dir

_KINDS = {"String": "text", "Boolean": "true or false", "Datetime": "time", "Date": "date"}


@dataclass(frozen=True)
class DataFile:
    """Hold a file of data, by its names in the archive, and the view that it contains."""

    view: str
    csv: str
    parquet: str
    n_rows: int


@functools.cache
def column_meanings() -> dict[str, dict[str, str]]:
    """Return the unit, meaning, values and source of each column name."""
    with (sql_dir() / "columns.csv").open(encoding="utf-8", newline="") as file:
        return {row.pop("column"): row for row in csv.DictReader(file)}


def codebook_rows(files: Sequence[DataFile], folder: Path) -> pl.DataFrame:
    """Return a row for each column of each file: file, column, type, unit, meaning, values, source, n_missing."""
    heads, rows = read_view_heads(), []
    for file in files:
        scan = pl.scan_parquet(folder / file.parquet, glob=False)
        schema = scan.collect_schema()
        missing = scan.null_count().collect().row(0, named=True)
        for name, kind in schema.items():
            known = column_meanings().get(name) or _of_head(heads.get(file.view))
            rows.append(
                {"file": file.csv, "column": name, "type": type_in_words(kind), **known, "n_missing": missing[name]}
            )
    return pl.DataFrame(rows, infer_schema_length=None)


def _of_head(head: TableInfo | None) -> dict[str, str]:
    """Return the codebook entry of a column of another package's design, from its view's head."""
    note = f"See the view {head.name}: {head.note}" if head else ""
    return {"unit": "", "meaning": note, "values": "", "source": ""}


def type_in_words(kind: pl.DataType) -> str:
    if kind.is_integer():
        return "whole number"
    return "number" if kind.is_numeric() else _KINDS.get(str(kind).partition("(")[0], "text")


def dataset_description(name: str, description: str, book: pl.DataFrame, **more: Any) -> str:
    """Return the file of that name in psych-DS: JSON-LD with a variable for each column."""
    variables = [
        {
            "@type": "PropertyValue",
            "name": row["column"],
            "description": row["meaning"],
            **({"unitText": row["unit"]} if row["unit"] else {}),
            **({"value": row["values"]} if row["values"] else {}),
        }
        for row in book.unique("column", keep="first", maintain_order=True).to_dicts()
    ]
    whole = {
        "@context": "http://schema.org/",
        "@type": "Dataset",
        "name": name,
        "description": description,
        **more,
        "variableMeasured": variables,
    }
    return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"
