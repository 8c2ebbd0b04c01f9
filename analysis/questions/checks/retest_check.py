"""The finding about what was asked again on a later occasion (`collect --again`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from slant.analysis.questions.checks.sentences import Finding, number, percent
from slant.collector.terminal import count_text

RETEST = "retest"
_QUESTION = "Is it the same on another day?"
_COLUMNS = (
    "occasion", "measure", "n_answers", "share_equal", "kappa", "n", "icc", "icc_low", "icc_high", "icc_residual",
    "shift", "shift_low", "shift_high", "p_value",
)  # fmt: skip


def retest_finding(rows: pl.DataFrame, labels: Mapping[str, str], alpha: float) -> Finding:
    """Say of one source, study version and variant whether the mean of each model and occasion has moved."""
    together = rows.filter(pl.col("test").is_null()).to_dicts()
    moved = [row for row in together if row["p_value"] is not None and row["p_value"] < alpha]
    occasions = rows["occasion"].n_unique()
    verdict = f"The same trials were asked on {count_text(occasions, 'later occasion')}: " + (
        f"the mean moved in {', '.join(_name(row, labels) for row in moved)}."
        if moved
        else f"no mean moved by more than chance (p below {alpha:g}) on any of them."
    )
    details = tuple(_sentence(row, labels) for row in together)
    return Finding(RETEST, _QUESTION, "caution" if moved else "not found", verdict, details, _COLUMNS)


def _name(row: Mapping[str, Any], labels: Mapping[str, str]) -> str:
    return f"{labels.get(row['model'], row['model'])} (occasion {row['occasion']}, {_measure(row)})"


def _measure(row: Mapping[str, Any]) -> str:
    return str(row["measure"]).replace("_", " ")


def _sentence(row: Mapping[str, Any], labels: Mapping[str, str]) -> str:
    agreed = f"{percent(row['share_equal'])} of {count_text(row['n_answers'], 'answer')} equal"
    if row["kappa"] is not None:
        agreed += f" (kappa {number(row['kappa'])})"
    if row["icc"] is None:
        return f"{_name(row, labels)}: {agreed}."
    interval = "" if row["shift_low"] is None else f" ({number(row['shift_low'])} to {number(row['shift_high'])})"
    residual = (
        ""
        if row["icc_residual"] is None
        else f", of trials within a test and condition {number(row['icc_residual'])} "
        f"({number(row['icc_residual_low'])} to {number(row['icc_residual_high'])})"
    )
    return (
        f"{_name(row, labels)}: {agreed}; intraclass correlation of all trials {number(row['icc'])} "
        f"({number(row['icc_low'])} to {number(row['icc_high'])}){residual}; "
        f"shift {number(row['shift'])}{interval}, p = {number(row['p_value'], 3)}."
    )
