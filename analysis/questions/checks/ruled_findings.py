"""Findings that need no function: the table of checks has their rule, and templates of their sentences.

In braces are columns of the rows, and how their values are shown: {skewness:spread}, {d:number}, {p:number 3}, {p:p},
{rate:percent 0}, {n:,}. In `sentence` and `details` a column is all of its values, and {caution:cell} is how many cells
have the condition `caution` ("3 of 39 cells", or another noun); {reference} and {other} are the labels of the two
conditions, {alpha} and {bound} as they were given. In `each` a column is that row's, model, test and condition are its
labels, {cell} is both of the first, {in_condition} all three.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from string import Formatter
from typing import Any, NamedTuple

import polars as pl

from slant.analysis.questions.checks.check_table import Rule
from slant.analysis.questions.checks.sentences import Context, Verdict, count_of, number, p_text, percent, spread

_SAID: dict[str, Callable[..., str]] = {"number": number, "p": p_text, "percent": percent, "spread": spread}


class _Count(NamedTuple):
    """Say how many of how many have what the rule is about."""

    n: int
    total: int


class _Sentences(Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        how, *digits = format_spec.split(" ")
        if isinstance(value, _Count):
            return count_of(*value, format_spec)
        if how in _SAID:
            return _SAID[how](value, *map(int, digits))
        return str(super().format_field(value, format_spec))


def ruled_finding(rule: Rule, rows: pl.DataFrame, context: Context) -> Verdict:
    """Return what the rows of a check come to by its rule."""
    counted = rows.unique(rule.one_of, keep="first", maintain_order=True) if rule.one_of else rows
    flagged = counted.filter(pl.sql_expr(rule.caution))
    given = {
        "caution": _Count(flagged.height, counted.height),
        "reference": context.reference,
        "other": context.other,
        "alpha": context.alpha,
        "bound": context.bound,
    }
    values = {**{name: rows[name] for name in rows.columns}, **given}
    details = [_said(text, values) for text in rule.details]
    if rule.each:
        details += [_said(rule.each, _labelled(row, context)) for row in flagged.to_dicts()]
    if rule.advice and flagged.height:
        details.append(rule.advice)
    if rule.found_nothing and not flagged.height:
        seen = rows.filter(pl.sql_expr(f"{rule.worst} IS NOT NULL"))
        worst = seen.sort(pl.sql_expr(rule.worst), descending=True, maintain_order=True).head(1)
        details += [_said(rule.found_nothing, _labelled(row, context)) for row in worst.to_dicts()]
    return Verdict("caution" if flagged.height else "not found", _said(rule.sentence, values), tuple(details))


def _said(text: str, values: Mapping[str, Any]) -> str:
    return _Sentences().vformat(text, (), values)


def _labelled(row: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """Return a row with labels for ids; of rows without tests or conditions, what there is."""
    labels: dict[str, Any] = {"model": context.model(row)}
    if "test" in row:
        labels |= {"test": context.test(str(row["test"])), "cell": context.cell(row)}
    if {"test", "condition"} <= set(row):
        labels |= {"condition": context.condition(row["condition"]), "in_condition": context.in_condition(row)}
    return {**row, **labels}
