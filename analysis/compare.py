"""The printed numbers of the paper beside those recomputed from the database.

A number agrees where |recomputed - printed| is at most half a unit of the last printed digit. What the authors' own
data contradict is a known slip of print (collector/studies/rmiat/slips.csv); the code is never bent to meet one.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from analysis.fits import Progress
from analysis.printed import KEY, NO_REFUSALS, half_unit, known_slips, printed_numbers
from analysis.recomputed import GRAIN, VALUE, recomputed
from collector.errors import DatabaseError
from collector.study import BASE, Study, load_study

NOT_PRINTED = "not printed"
STATUSES = ("agrees", "slip", "disagrees", "no data", "simulated")


def compare(
    db: str | Path,
    study: str | Study = "rmiat",
    source: str | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> pl.DataFrame:
    """One row per printed number of Tables S3 to S10, for each source and version of the study in the database.

    Columns: source, study_version, variant, table, model, test, refusals_removed (null where the table has no such
    choice), condition, quantity, printed (text, as in print), recomputed (not rounded), agrees (null without data),
    slip (the reason, where it is a known one), status: agrees, slip, disagrees, "no data", or "simulated" (numbers of
    simulated rows, which only resemble the print). Fits that are missing or out of date are made first.

    In S3, "(-)" stands for a cell without refusals: its row has the quantity `refusals`, and agrees with 0.
    """
    its = load_study(study) if isinstance(study, str) else study
    printed = printed_numbers(its)
    found = recomputed(db, its, workers, progress).filter(pl.col("variant") == BASE)
    groups = found.select(GRAIN).unique(maintain_order=True)
    if source is not None:
        groups = groups.filter(pl.col("source") == source)
    if groups.is_empty():
        raise DatabaseError(f'"{db}" holds no rows of "{its.name}" as it stands{f" from {source}" if source else ""}.')
    return _beside(groups.join(printed, how="cross"), found, its)


def whole_comparison(
    db: str | Path, study: Study, workers: int | None = None, progress: Progress | None = None
) -> pl.DataFrame:
    """Every recomputed number, of each model and variant in the database, with the print beside it where there is any.

    The columns of `compare`. Numbers that the paper doesn't print (another model, another variant) have a null in
    `printed` and the status "not printed". Of the printed ones only those of models that have rows are here.
    """
    found = recomputed(db, study, workers, progress)
    models = found.filter(pl.col("variant") == BASE).select(*GRAIN, "model").unique(maintain_order=True)
    printed = models.join(printed_numbers(study), on="model", how="inner", maintain_order="left_right")
    # The print has a count of refusals in S3 only where there are none.
    is_extra = (pl.col("table") == "S3") & (pl.col("quantity") == "refusals")
    on = [*GRAIN, *KEY]
    more = found.filter(~is_extra).join(printed, on=on, how="anti", nulls_equal=True, maintain_order="left")
    unprinted = more.select(*on, printed=pl.lit(None, pl.String))
    return _beside(pl.concat([printed.select(*on, "printed"), unprinted]), found, study)


def _beside(printed: pl.DataFrame, found: pl.DataFrame, study: Study) -> pl.DataFrame:
    """Each of these printed numbers with the one found, the known slip, and how they stand."""
    slips = known_slips(study)
    beside = printed.join(found, on=[*GRAIN, *KEY], how="left", nulls_equal=True, maintain_order="left")
    listed = beside.join(
        slips.select(*KEY, pl.col("reason").alias("slip")), on=KEY, how="left", nulls_equal=True, maintain_order="left"
    )
    return _judged(listed)


def summary(compared: pl.DataFrame) -> pl.DataFrame:
    """One row per source, study version, variant and table: how many numbers have each status."""
    counts = [(pl.col("status") == status).sum().alias(status.replace(" ", "_")) for status in STATUSES]
    keys = [*GRAIN, "table"]
    numbers = pl.len().alias("numbers")
    with_data = pl.col("agrees").is_not_null().sum().alias("with_data")
    return compared.group_by(keys, maintain_order=True).agg(numbers, with_data, *counts)


def _judged(rows: pl.DataFrame) -> pl.DataFrame:
    agrees = [
        None if value is None or text is None else value == 0 if text == NO_REFUSALS else _is_near(value, text)
        for value, text in rows.select("recomputed", "printed").iter_rows()
    ]
    rows = rows.with_columns(pl.Series("agrees", agrees, dtype=pl.Boolean))
    has_slip = pl.col("slip").is_not_null()
    is_simulated = pl.col("source") == "simulated"
    status = (
        pl.when(pl.col("printed").is_null()).then(pl.lit(NOT_PRINTED))
        .when(pl.col("agrees").is_null()).then(pl.lit("no data"))
        .when(is_simulated).then(pl.lit("simulated"))
        .when(pl.col("agrees")).then(pl.lit("agrees"))
        .when(has_slip).then(pl.lit("slip"))
        .otherwise(pl.lit("disagrees"))
    )  # fmt: skip
    slip = pl.when(is_simulated | pl.col("printed").is_null()).then(None).otherwise(pl.col("slip")).alias("slip")
    return rows.with_columns(slip, status.alias("status")).select(*VALUE[:-1], "printed", "recomputed", "agrees",
                                                                  "slip", "status")  # fmt: skip


def _is_near(value: float, printed: str) -> bool:
    return abs(value - float(printed)) <= half_unit(printed) + 1e-9
