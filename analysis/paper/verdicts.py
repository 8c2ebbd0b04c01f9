"""Judge how a printed and a recomputed number compare: one of STATUSES, and why."""

from __future__ import annotations

import re

import polars as pl

from slant.analysis.paper.published import NO_REFUSALS, half_unit

NOT_PRINTED = "not printed"
STATUSES = ("agrees", "slip", "disagrees", "no data", "not checkable", "simulated")
_TINY = 1e-9
_RANGE = re.compile(r"(\d*\.?\d+)-(\d*\.?\d+)")
_NUMBER = re.compile(r"-?\d*\.?\d+(?:[eE][-+]?\d+)?")
_SIGNS = ("", ">", "<", "near")
"""List what may precede a printed number: "near 0". Anything else makes it a text."""
_EXTREMES = {">": "min_b", "<": "max_p"}
"""Name, by the sign of its printed bound, the quantity that is the minimum or maximum of all models."""


def with_verdicts(rows: pl.DataFrame) -> pl.DataFrame:
    """Take rows with `quantity`, `printed`, `recomputed`, `missing` (see numbers.py), `slip`, `reason` (why no data can
    check it), `how` (it is computed), and `tolerance` with its reason `why`, each or null; return them with `agrees`,
    `status` and `note` instead of `missing` and the reasons. `tolerance` becomes half a unit of the last printed digit
    if it is null and a number is printed.
    """
    absent = {"tolerance": pl.Float64, "why": pl.String}
    rows = rows.with_columns(
        pl.lit(None, kind).alias(name) for name, kind in absent.items() if name not in rows.columns
    )
    printed = rows.select("printed", "tolerance").iter_rows()
    rows = rows.with_columns(pl.Series("tolerance", [_tolerance(*number) for number in printed], dtype=pl.Float64))
    cells = rows.select("recomputed", "printed", "missing", "quantity", "tolerance").iter_rows()
    rows = rows.with_columns(pl.Series("agrees", [_agrees(*cell) for cell in cells], dtype=pl.Boolean))
    is_simulated = pl.col("source") == "simulated"
    is_printed, is_judged = pl.col("printed").is_not_null(), pl.col("agrees").is_not_null()
    status = (
        pl.when(~is_printed)
        .then(pl.lit(NOT_PRINTED))
        .when(~is_judged & ~pl.all_horizontal(pl.col("recomputed", "reason", "missing").is_null()))
        .then(pl.lit("not checkable"))
        .when(~is_judged)
        .then(pl.lit("no data"))
        .when(is_simulated)
        .then(pl.lit("simulated"))
        .when(pl.col("agrees"))
        .then(pl.lit("agrees"))
        .when(pl.col("slip").is_not_null())
        .then(pl.lit("slip"))
        .otherwise(pl.lit("disagrees"))
    )
    of_more = pl.format("Only part of its data is here. Missing: {}.", pl.col("missing"))
    lacks = pl.when(pl.col("recomputed").is_null()).then(pl.col("missing")).otherwise(of_more)
    why_not = pl.when(is_printed & ~is_judged).then(pl.coalesce(lacks, pl.col("reason")))
    more = [pl.when(is_printed).then(pl.col("how")), pl.when(is_printed & is_judged).then(pl.col("why"))]
    note = pl.concat_str(why_not, *more, separator=" ", ignore_nulls=True)
    slip = pl.when(~is_simulated & is_printed & is_judged).then(pl.col("slip"))
    filled = pl.when(note.str.len_chars() > 0).then(note)
    return rows.with_columns(slip=slip, status=status, note=filled).drop("missing", "reason", "how", "why")


def _tolerance(printed: str | None, given: float | None) -> float | None:
    """Return how far from the print is near enough; null if no number is printed. A "<" is exact."""
    sign, _, number = (printed or "").rpartition(" ")
    if sign not in _SIGNS or sign == "<" or not (_NUMBER.fullmatch(number) or _RANGE.fullmatch(number)):
        return None
    if given is not None:
        return given
    return half_unit(ends[1] if (ends := _RANGE.fullmatch(number)) else number)


def _agrees(
    value: float | None, printed: str | None, missing: str | None, quantity: str, tolerance: float | None
) -> bool | None:
    """Return whether they agree; None without a number recomputed or printed, or if a part of its data is missing.

    A part can still contradict a bound of all models: the minimum of four models can't exceed a bound that the minimum
    of three is below. This holds for no other quantity: a topic model of fewer texts is a different one.
    """
    if value is None or printed is None:
        return None
    sign, _, number = printed.rpartition(" ")
    if missing and _EXTREMES.get(sign) != quantity.rpartition(" ")[2]:
        return None
    if printed == NO_REFUSALS:
        return value == 0
    near = (tolerance or 0) + _rounding(number, tolerance)
    if sign not in ("<", ">"):
        return _is_near(value, number if sign in _SIGNS else printed, near)
    # A minimum is printed rounded, so that "b > 20.74" holds for 20.735; "p < .001" is exact.
    keeps = value >= float(number) - near if sign == ">" else value < float(number)
    return None if missing and keeps else keeps


def _rounding(number: str, tolerance: float | None) -> float:
    """Return how far binary numbers may be off besides half a unit: almost nothing for a number that is printed as
    1.996e-17.
    """
    return min(_TINY, (tolerance or _TINY) * 1e-6) if "e" in number.lower() else _TINY


def _is_near(value: float, number: str, near: float) -> bool:
    """Compare with a number ("1.04", or "near 0"), or a range ("1-2"). For a printed text, 1 means ours is the same."""
    if ends := _RANGE.fullmatch(number):
        return float(ends[1]) - near <= value <= float(ends[2]) + near
    return abs(value - float(number)) <= near if _NUMBER.fullmatch(number) else value == 1
