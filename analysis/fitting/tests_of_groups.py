"""Test whether an outcome differs between any of several groups, in words, for regressions without random effects.

A coefficient only compares one group with the first, and which one is first is a choice; these tests are of all.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from slant.analysis.fitting.fits import FitResult
from slant.collector.screen_tables import shown_p

_ENGINES = ("lm", "logistic", "clm", "clogit")


def term_tests(result: FitResult) -> Iterator[pl.DataFrame]:
    """Yield the rows of each engine that has such tests; F tests and likelihood ratio tests have other columns."""
    for engine in _ENGINES:
        if not (rows := result.tables[engine]["tests"]).is_empty():
            yield rows


def term_test_sentences(result: FitResult) -> list[str]:
    """Return a sentence for each test of several groups at once: "m, hired: condition: F(2, 117) = 3.2, p = .044"."""
    return [sentence for rows in term_tests(result) for sentence in _sentences(rows)]


def _sentences(rows: pl.DataFrame) -> Iterator[str]:
    for row in rows.filter(pl.col("df") > 1).to_dicts():
        cell = ", ".join(row[name] for name in ("model", "test") if row[name] is not None)
        named = "the whole model, against one without groups" if row["term"] == "all" else row["term"]
        p = shown_p(row["p_value"])
        shown = p if p.startswith("<") else f"= {p}"
        yield f"{cell or row['fit']}: {named}: {_statistic(row)}, p {shown}."


def _statistic(row: dict[str, float]) -> str:
    if "f_value" in row:
        return f"F({row['df']:g}, {row['df_residual']:g}) = {row['f_value']:.2f}"
    return f"chi squared({row['df']:g}) = {row['chi_squared']:.2f}"
