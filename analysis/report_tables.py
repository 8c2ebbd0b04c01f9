"""Shapes results for the report: a table for each printed one, each number recomputed above the printed one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from analysis.printed import NO_REFUSALS

TITLES = {
    "S3": "Cohen's d of tokens, incompatible minus compatible",
    "S4": "Refusals",
    "S5": "Tokens by condition, refusals removed",
    "S6": "Mixed models, o3-mini",
    "S7": "Mixed models, DeepSeek-R1",
    "S8": "Mixed models, Claude 3.7 Sonnet",
    "S9": "Mixed models, gpt-oss-20b",
    "S10": "Mixed models, Qwen3-8B",
}
_MARKS = {"agrees": "=", "slip": "slip", "disagrees": "≠", "no data": "", "simulated": ""}
_HEADS = {
    "d": "d", "ci_low": "95 % from", "ci_high": "to", "refusals": "refusals", "mean": "mean", "sd": "SD",
    "intercept_estimate": "intercept", "intercept_std_error": "SE", "condition_estimate": "condition",
    "condition_std_error": "SE", "condition_stars": "stars", "var_prompt": "prompt variance",
    "var_residual": "residual variance", "n": "n", "loglik": "log likelihood",
}  # fmt: skip


@dataclass(frozen=True)
class Shown:
    """One number in the report: recomputed (as many digits as in print), printed, and how they stand."""

    recomputed: str
    printed: str
    status: str
    mark: str
    slip: str


@dataclass(frozen=True)
class ReportTable:
    name: str
    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[tuple[str, ...], tuple[Shown | None, ...]], ...]
    keys: tuple[str, ...]


def side_by_side(compared: pl.DataFrame, labels: Mapping[str, str]) -> Iterator[ReportTable]:
    """Each printed table as rows by test and model. `labels` gives the names to show for ids of models and tests."""
    for (name,), part in compared.group_by("table", maintain_order=True):
        quantities = [q for q in _HEADS if q in set(part["quantity"])]
        keys = ["test", "model", *_more_keys(str(name))]
        rows = []
        for values, cells in part.group_by(keys, maintain_order=True):
            found = {row["quantity"]: _shown(row) for row in cells.to_dicts()}
            texts = tuple(_text(key, value, labels) for key, value in zip(keys, values, strict=True))
            rows.append((texts, tuple(found.get(quantity) for quantity in quantities)))
        heads = tuple(_HEADS[quantity] for quantity in quantities)
        shown_keys = tuple("rows" if key == "refusals_removed" else key for key in keys)
        yield ReportTable(str(name), TITLES.get(str(name), ""), heads, tuple(rows), shown_keys)


def _more_keys(table: str) -> list[str]:
    return {"S3": ["refusals_removed"], "S5": ["condition"]}.get(table, [])


def _text(key: str, value: Any, labels: Mapping[str, str]) -> str:
    if key == "refusals_removed":
        return "without refusals" if value else "all"
    return labels.get(str(value), str(value))


def _shown(row: dict[str, Any]) -> Shown:
    digits = len(row["printed"].partition(".")[2]) if row["printed"] != NO_REFUSALS else 0
    value = row["recomputed"]
    recomputed = "no data" if value is None else f"{value:,.{digits}f}"
    if row["quantity"] == "condition_stars" and value is not None:
        return Shown("*" * int(value) or "–", "*" * int(row["printed"]) or "–", *_standing(row))
    return Shown(recomputed, row["printed"], *_standing(row))


def _standing(row: dict[str, Any]) -> tuple[str, str, str]:
    return row["status"].replace(" ", "-"), _MARKS[row["status"]], row["slip"] or ""


def plain(frame: pl.DataFrame) -> dict[str, Any]:
    """Any frame as heads and rows of text, numbers to six digits."""
    return {"heads": frame.columns, "rows": [[_plain(value) for value in row] for row in frame.iter_rows()]}


def _plain(value: object) -> str:
    if value is None:
        return ""
    return f"{value:,.6g}" if isinstance(value, float) else str(value)
