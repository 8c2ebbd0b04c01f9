"""How a printed and a recomputed number stand to each other: one of STATUSES, and why."""

from __future__ import annotations

import polars as pl

from analysis.printed import NO_REFUSALS, half_unit

NOT_PRINTED = "not printed"
STATUSES = ("agrees", "slip", "disagrees", "no data", "not checkable", "simulated")
_TINY = 1e-9


def judged(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows with `printed`, `recomputed`, `missing`, `slip`, `reason` (why no data can check it) and `how` (it is
    computed), each or null: with `agrees`, `status` and `note` instead of the last three.
    """
    cells = rows.select("recomputed", "printed", "missing").iter_rows()
    rows = rows.with_columns(pl.Series("agrees", [_agrees(*cell) for cell in cells], dtype=pl.Boolean))
    is_simulated = pl.col("source") == "simulated"
    is_printed, is_judged = pl.col("printed").is_not_null(), pl.col("agrees").is_not_null()
    status = (
        pl.when(~is_printed).then(pl.lit(NOT_PRINTED))
        .when(~is_judged & (pl.col("recomputed").is_not_null() | pl.col("reason").is_not_null()))
        .then(pl.lit("not checkable"))
        .when(~is_judged).then(pl.lit("no data"))
        .when(is_simulated).then(pl.lit("simulated"))
        .when(pl.col("agrees")).then(pl.lit("agrees"))
        .when(pl.col("slip").is_not_null()).then(pl.lit("slip"))
        .otherwise(pl.lit("disagrees"))
    )  # fmt: skip
    lacks = pl.format("It is made of more than is here. Not here: {}.", pl.col("missing"))
    why_not = pl.when(is_printed & ~is_judged).then(pl.coalesce(lacks, pl.col("reason")))
    note = pl.concat_str(why_not, pl.when(is_printed).then(pl.col("how")), separator=" ", ignore_nulls=True)
    slip = pl.when(~is_simulated & is_printed & is_judged).then(pl.col("slip"))
    filled = pl.when(note.str.len_chars() > 0).then(note)
    return rows.with_columns(slip=slip, status=status, note=filled).drop("missing", "reason", "how")


def _agrees(value: float | None, printed: str | None, missing: str | None) -> bool | None:
    """None where it can't be told: nothing recomputed, nothing printed, or a number of only a part of its data.

    A part can still contradict a bound: the least of four models is above no bound that the least of three is below.
    """
    if value is None or printed is None:
        return None
    if printed == NO_REFUSALS:
        return value == 0
    sign, _, number = printed.rpartition(" ")
    if not sign:
        return None if missing else abs(value - float(number)) <= half_unit(number) + _TINY
    # A least estimate is printed rounded, so that "b > 20.74" holds for 20.735; "p < .001" is exact.
    keeps = value >= float(number) - half_unit(number) - _TINY if sign == ">" else value < float(number)
    return None if missing and keeps else keeps
