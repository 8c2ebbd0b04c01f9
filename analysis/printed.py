"""The paper's printed numbers, one row a number, and the known slips among them.

Rows: table, model, test, refusals_removed, condition, quantity, printed. `printed` is text, exactly as in print.
Tables S3 to S10 of Lee & Lai (2025); the files are in the study's folder `published/`, the slips beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from collector.errors import StudyError
from collector.study import Study

KEY = ("table", "model", "test", "refusals_removed", "condition", "quantity")
SCHEMA: dict[str, Any] = {
    "table": pl.String, "model": pl.String, "test": pl.String, "refusals_removed": pl.Boolean,
    "condition": pl.String, "quantity": pl.String, "printed": pl.String,
}  # fmt: skip
NO_REFUSALS = "(-)"  # printed in S3 where a cell has no refusals that could be kept
MIXED_MODEL_TABLES = {
    "o3-mini": "S6", "deepseek-r1": "S7", "claude-3.7-sonnet": "S8", "gpt-oss-20b": "S9", "qwen3-8b": "S10",
}  # fmt: skip
_Row = tuple[str, str, str, bool | None, str | None, str, str]


def printed_numbers(study: Study) -> pl.DataFrame:
    """Every printed number of Tables S3 to S10, in the paper's order. StudyError where a study ships none."""
    if study.published is None:
        raise StudyError(
            f'There is nothing to compare "{study.name}" with: the study names no folder of printed numbers.',
            'It would be the key published = "FOLDER" in its TOML file.',
        )
    readers = {
        "s3_effect_sizes.csv": _effect_sizes,
        "s4_refusals.csv": _refusals,
        "s5_descriptives.csv": _descriptives,
        "s6_s10_mixed_models.csv": _mixed_models,
    }
    rows: list[_Row] = []
    for name, reader in readers.items():
        frame = _read(study.published / name)
        rows += [row for record in frame.to_dicts() for row in reader(record)]
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    return frame.sort(pl.col("table").str.slice(1).cast(pl.Int64), maintain_order=True)


def known_slips(study: Study) -> pl.DataFrame:
    """The printed numbers that the authors' data contradict: the same columns, and `reason`."""
    schema = {**SCHEMA, "reason": pl.String}
    path = study.path.parent / study.name / "slips.csv"
    if not path.is_file():
        return pl.DataFrame(schema=schema)
    flag = pl.col("refusals_removed").replace_strict({"true": True, "false": False}, default=None)
    return _read(path).with_columns(flag.cast(pl.Boolean)).cast(schema).select(*schema)  # type: ignore[arg-type]


def half_unit(printed: str) -> float:
    """Half a unit of the last printed digit: 0.005 for "1.04"."""
    return float(0.5 * 10.0 ** -len(printed.partition(".")[2]))


def _read(path: Path) -> pl.DataFrame:
    return pl.read_csv(path, infer_schema=False)  # numbers stay text: "0.10" and "0.1" are printed differently


def _effect_sizes(row: dict[str, str | None]) -> Iterator[_Row]:
    cell = ("S3", str(row["model"]), str(row["test"]), row["refusals_removed"] == "true", None)
    if row["d"] is None:
        yield (*cell, "refusals", NO_REFUSALS)
        return
    for quantity in ("d", "ci_low", "ci_high"):
        yield (*cell, quantity, str(row[quantity]))


def _refusals(row: dict[str, str | None]) -> Iterator[_Row]:
    yield ("S4", str(row["model"]), str(row["test"]), None, None, "refusals", str(row["refusals"]))


def _descriptives(row: dict[str, str | None]) -> Iterator[_Row]:
    for quantity in ("mean", "sd"):
        yield ("S5", str(row["model"]), str(row["test"]), True, row["condition"], quantity, str(row[quantity]))


def _mixed_models(row: dict[str, str | None]) -> Iterator[_Row]:
    model, term = str(row["model"]), str(row["term"])
    cell = (MIXED_MODEL_TABLES[model], model, str(row["test"]), True, None)
    if term not in ("intercept", "condition"):
        yield (*cell, term, str(row["estimate"]))
        return
    yield (*cell, f"{term}_estimate", str(row["estimate"]))
    yield (*cell, f"{term}_std_error", str(row["std_error"]))
    if term == "condition":  # the paper sets no stars on intercepts
        yield (*cell, "condition_stars", str(len(row["stars"] or "")))
