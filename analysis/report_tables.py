"""Shapes results for the report: the paper's tables for all models there are, each number recomputed above the printed
one where there is one; and what the tokens in them are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from analysis.printed import NO_REFUSALS

TITLES = {
    "S3": "Cohen's d of tokens, incompatible minus compatible",
    "S4": "Refusals by test and model",
    "S5": "Tokens by condition, refusals removed",
}
MEASURES = {
    "usage": "reasoning tokens (usage)",
    "output": "all output tokens",
    "template": "tokens up to the end of the reasoning (template)",
    "retokenized": "reasoning text, tokenized again",
}
_MARKS = {"agrees": "=", "slip": "slip", "disagrees": "≠"}
_DIGITS = {"refusals": 0, "n": 0}  # of numbers that the paper doesn't print
_OF_TOKENS = ("S3", "S5")
_HEADS = {
    "d": "d", "ci_low": "95 % from", "ci_high": "to", "refusals": "refusals", "mean": "mean", "sd": "SD",
    "intercept_estimate": "intercept", "intercept_std_error": "SE", "condition_estimate": "condition",
    "condition_std_error": "SE", "condition_stars": "stars", "var_prompt": "prompt variance",
    "var_residual": "residual variance", "n": "n", "loglik": "log likelihood",
}  # fmt: skip


@dataclass(frozen=True)
class Shown:
    """One number in the report: recomputed (as many digits as in print, or two), printed, and how they stand."""

    recomputed: str
    printed: str
    status: str
    mark: str
    slip: str


@dataclass(frozen=True)
class ReportTable:
    """`caption` says which table of the paper it is, and of what; `note` what the tokens in it are."""

    caption: str
    note: str
    is_compared: bool
    heads: tuple[str, ...]
    rows: tuple[tuple[tuple[str, ...], tuple[Shown | None, ...]], ...]
    keys: tuple[str, ...]


def side_by_side(
    compared: pl.DataFrame, labels: Mapping[str, str], measures: Mapping[str, str]
) -> Iterator[ReportTable]:
    """Each table of the paper as rows by test and model, one a model for mixed models. In the order of the paper, then
    of `labels`, which gives the names to show for ids of models and tests. `measures`: see token_measures().
    """
    is_mixed = ~pl.col("table").is_in(list(TITLES))
    places = {name: place for place, name in enumerate(labels)}
    ordered = compared.with_columns(
        its=pl.when(is_mixed).then(pl.col("model")),
        table_no=pl.col("table").str.extract(r"^S(\d+)$").cast(pl.Int64),
        model_place=pl.col("model").replace_strict(places, default=None, return_dtype=pl.Int64),
        test_place=pl.col("test").replace_strict(places, default=None, return_dtype=pl.Int64),
    ).sort("table_no", "its", "test_place", "test", "model_place", "model", nulls_last=True, maintain_order=True)
    for (table, model), part in ordered.group_by("table", "its", maintain_order=True):
        name = str(table)
        quantities = [q for q in _HEADS if q in set(part["quantity"])]
        keys = ["test", "model", *_more_keys(name)]
        rows = []
        for values, cells in part.group_by(keys, maintain_order=True):
            found = {row["quantity"]: _shown(row) for row in cells.to_dicts()}
            texts = tuple(_text(key, value, labels) for key, value in zip(keys, values, strict=True))
            rows.append((texts, tuple(found.get(quantity) for quantity in quantities)))
        heads = tuple(_HEADS[quantity] for quantity in quantities)
        shown_keys = tuple("rows" if key == "refusals_removed" else key for key in keys)
        title = TITLES.get(name) or f"Mixed models, {labels.get(str(model), str(model))}"
        caption = f"Table {name}. {title}" if name.startswith("S") else title
        models = [measures[one] for one in part["model"].unique(maintain_order=True) if one in measures]
        note = f"Tokens are, for {'; '.join(models)}." if models and (name in _OF_TOKENS or model) else ""
        is_compared = part["printed"].is_not_null().any()
        yield ReportTable(caption, note, is_compared, heads, tuple(rows), shown_keys)


def token_measures(token_sources: pl.DataFrame, labels: Mapping[str, str]) -> dict[str, str]:
    """What `tokens` is in each model, as "o3-mini: reasoning tokens (usage)", by the model's id, from that table."""
    found: dict[str, str] = {}
    known = token_sources.drop_nulls("token_source")
    for (model,), rows in known.group_by("model", maintain_order=True):
        kinds = [MEASURES.get(source, source) for source in rows["token_source"].unique(maintain_order=True)]
        found[str(model)] = f"{labels.get(str(model), str(model))}: {' and '.join(kinds)}"
    return found


def _more_keys(table: str) -> list[str]:
    return {"S3": ["refusals_removed"], "S5": ["condition"]}.get(table, [])


def _text(key: str, value: Any, labels: Mapping[str, str]) -> str:
    if key == "refusals_removed":
        return "without refusals" if value else "all"
    return labels.get(str(value), str(value))


def _shown(row: dict[str, Any]) -> Shown:
    value, printed = row["recomputed"], row["printed"]
    recomputed = "no data" if value is None else f"{value:,.{_digits(row)}f}"
    if row["quantity"] == "condition_stars" and value is not None:
        return Shown(_stars(value), "" if printed is None else _stars(printed), *_standing(row))
    return Shown(recomputed, printed or "", *_standing(row))


def _digits(row: dict[str, Any]) -> int:
    if row["printed"] is None or row["printed"] == NO_REFUSALS:
        return _DIGITS.get(row["quantity"], 2)
    return len(row["printed"].partition(".")[2])


def _stars(number: float | str) -> str:
    return "*" * int(number) or "–"


def _standing(row: dict[str, Any]) -> tuple[str, str, str]:
    return row["status"].replace(" ", "-"), _MARKS.get(row["status"], ""), row["slip"] or ""


def plain(frame: pl.DataFrame) -> dict[str, Any]:
    """Any frame as heads and rows of text, numbers to six digits."""
    return {"heads": frame.columns, "rows": [[_plain(value) for value in row] for row in frame.iter_rows()]}


def _plain(value: object) -> str:
    if value is None:
        return ""
    return f"{value:,.6g}" if isinstance(value, float) else str(value)
