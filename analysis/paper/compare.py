"""The printed numbers of the paper beside those recomputed from the database.

A number agrees where |recomputed - printed| is at most half a unit of the last printed digit (or what the study's file
tolerances.csv says instead, with its reason), and where it keeps within a printed bound. What the authors' own data
contradict is a known slip of print (the study's slips.csv); the code is never bent to meet one.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import polars as pl

from slant.analysis.fitting.fits import Progress
from slant.analysis.paper import families_of
from slant.analysis.paper.family import PRINT, WITHOUT_DATA, Family, no_numbers, split_families
from slant.analysis.paper.judged import STATUSES, judged
from slant.analysis.paper.own_print import is_own, own_tolerances
from slant.analysis.paper.printed import KEY, how_computed, known_slips, not_checkable, printed_numbers, tolerances
from slant.analysis.paper.recomputed import GRAIN, recomputed
from slant.analysis.paper.reconstruction import reconstructed
from slant.analysis.rows.studies import study_in
from slant.collector.errors import DatabaseError, UnknownNameError
from slant.collector.keep.database import reading
from slant.collector.keep.stored_designs import designs_in
from slant.collector.studies.catalogue import Study


def compare(
    db: str | Path,
    study: str | Study | None = None,
    source: str | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
    tables: Collection[str] | None = None,
    families: tuple[Family, ...] | None = None,
) -> pl.DataFrame:
    """One row per printed number of the paper, for each source and version of the study in the database: its tables,
    the numbers in its text (table "text"), its earlier version ("v1 S3" …).

    Columns: source ("print": checked without raw data, see below), study_version, variant, table, model, test,
    refusals_removed (null where the table has no such choice), condition, quantity, printed (text, as in print),
    recomputed (not rounded), tolerance (how far from the print is near enough), agrees (null without data), slip (the
    reason, where it is a known one), status, basis (where the answers are reconstructed from the print: is this number
    a reproduction, or only a reconstruction?), note (why a number is not checkable, or how it is computed). Of games,
    `test` is the variant and `condition` the answer format.
    Fits that are missing or out of date are made first; a kept topic model is only taken where it is of today's texts
    and the study's settings. `tables` leaves only some ("S6", "text", "v1 S3" …), and makes only the fits that their
    families of numbers need; `families` names these themselves.

    Status: agrees, slip, disagrees; "no data" where nothing of its model and test is here; "not checkable" where
    what is here can't decide (a total of ten tests of which nine are here; what no file holds); "simulated" (numbers
    of simulated rows, which only resemble the print).

    In S3, "(-)" stands for a cell without refusals: its row has the quantity `refusals`, and agrees with 0.

    What can be checked of a paper without raw data (by its other numbers, by the study's design) has rows of its own,
    of the source "print". Where the database has no rows of such a study, every other number is there, too, without
    data.
    """
    its = study_in(db, study, lambda one: one.published is not None, "has printed numbers to compare with")
    every = printed_numbers(its)
    families = families_of(its) if families is None else families
    if tables is not None:
        _check_tables(tables, every)
        families = tuple(family for family in families if {row[0] for row in family.printed(its)} & set(tables))
    of_data, of_print = split_families(families)
    found = _as_it_stands(db, its, workers, progress, of_data, is_needed=not of_print)
    checked = recomputed(db, its, workers, progress, of_print)
    groups = found.select(GRAIN).unique(maintain_order=True)
    groups = groups if source is None else groups.filter(pl.col("source") == source)
    if groups.is_empty() and source != PRINT and (source is not None or not of_print):
        raise DatabaseError(f'"{db}" holds no rows of "{its.name}" as it stands{f" from {source}" if source else ""}.')
    printed = printed_numbers(its, of_data)
    rows = [groups.join(printed, how="cross")]
    if source in (None, PRINT):
        in_print = printed_numbers(its, of_print)
        known = in_print.join(checked, on=KEY, how="inner", nulls_equal=True, maintain_order="left")
        known = known.select(rows[0].columns)
        rows += [known] if source == PRINT or groups.height else [_unchecked(checked, printed), known]
    both = pl.concat(rows)
    both = both if tables is None else both.filter(pl.col("table").is_in(list(tables)))
    return _with_basis(_beside(both, pl.concat([found, checked]), its), db, its)


def _as_it_stands(
    db: str | Path, study: Study, workers: int | None, progress: Progress | None, families: tuple[Family, ...],
    is_needed: bool,
) -> pl.DataFrame:  # fmt: skip
    """What is recomputed of the study without the changes of a variant. DatabaseError where rows are needed, and the
    database has none."""
    with reading(db) as connection:
        is_here = study.name in designs_in(connection)
    if not is_here and not is_needed:
        return no_numbers()
    return recomputed(db, study, workers, progress, families).filter(pl.col("variant") == study.variants[0])


def _unchecked(checked: pl.DataFrame, printed: pl.DataFrame) -> pl.DataFrame:
    """All other printed numbers, where no answers are here."""
    rest = printed.join(checked, on=KEY, how="anti", nulls_equal=True, maintain_order="left")
    return checked.select(GRAIN).unique().join(rest, how="cross")


def _check_tables(asked: Collection[str], printed: pl.DataFrame) -> None:
    known = printed["table"].unique(maintain_order=True).to_list()
    for name in asked:
        if name not in known:
            raise UnknownNameError("table of the paper", name, known)


def whole_comparison(
    db: str | Path,
    study: Study,
    workers: int | None = None,
    progress: Progress | None = None,
    families: tuple[Family, ...] | None = None,
) -> pl.DataFrame:
    """Every recomputed number of each model and variant in the database, in the tables that hold the same numbers for
    each model (S3 to S12), with the print beside it where there is any.

    The columns of `compare`. Numbers that the paper doesn't print (another model, another variant) have a null in
    `printed` and the status "not printed". Of the printed ones only those of models that have rows are here.
    """
    if families is None:
        families = tuple(family for family in families_of(study) if family.is_table_of_models)
    found = recomputed(db, study, workers, progress, families)
    models = found.filter(pl.col("variant") == study.variants[0]).select(*GRAIN, "model").unique(maintain_order=True)
    numbers = printed_numbers(study, families)
    printed = models.join(numbers, on="model", how="inner", maintain_order="left_right")
    # The print has a count of refusals in S3 only where there are none.
    is_extra = (pl.col("table") == "S3") & (pl.col("quantity") == "refusals")
    on = [*GRAIN, *KEY]
    more = found.filter(~is_extra).join(printed, on=on, how="anti", nulls_equal=True, maintain_order="left")
    unprinted = more.select(*on, printed=pl.lit(None, pl.String))
    return _with_basis(_beside(pl.concat([printed.select(*on, "printed"), unprinted]), found, study), db, study)


def _beside(printed: pl.DataFrame, found: pl.DataFrame, study: Study) -> pl.DataFrame:
    """Each of these printed numbers with the one found, what is known about it, and how they stand."""
    rows = printed.join(found, on=[*GRAIN, *KEY], how="left", nulls_equal=True, maintain_order="left")
    known = [
        known_slips(study).select(*KEY, slip="reason"), not_checkable(study).select(*KEY, "reason"), how_computed(study)
    ]  # fmt: skip
    for about in known:
        rows = rows.join(about, on=KEY, how="left", nulls_equal=True, maintain_order="left")
    is_print = pl.col("source") == PRINT
    # what the print alone contradicts is no slip where another sample of answers differs from it
    may_slip = is_print if any(family.is_of_print for family in families_of(study)) else pl.lit(True)
    rows = rows.with_columns(slip=pl.when(may_slip).then("slip"), is_print=is_print)
    if is_own(study):
        near = own_tolerances(study)
        rows = rows.join(near, on=KEY, how="left", nulls_equal=True, maintain_order="left")
        rows = rows.with_columns(basis=pl.lit(None, pl.String), why=pl.lit(None, pl.String))
    else:
        near = tolerances(study).with_columns(is_print=(pl.col("basis") == WITHOUT_DATA).fill_null(False))
        rows = rows.join(near, on=["table", "quantity", "is_print"], how="left", maintain_order="left")
    columns = [*GRAIN, *KEY, "printed", "recomputed", "tolerance", "agrees", "slip", "status", "basis", "note"]
    return _without_data(judged(rows).select(columns), study)


def _without_data(rows: pl.DataFrame, study: Study) -> pl.DataFrame:
    """What has no answers of models beside it says so first in its note."""
    said = {row[0]: family.without_data for family in families_of(study) for row in family.printed(study)
            if family.without_data}  # fmt: skip
    if not said:
        return rows
    words = pl.col("table").replace_strict(said, default=None, return_dtype=pl.String)
    is_without = (pl.col("status") == "no data") | (pl.col("source") == "simulated") & (pl.col("printed").is_not_null())
    return rows.with_columns(
        note=pl.when(is_without).then(pl.concat_str(words, "note", separator=" ", ignore_nulls=True)).otherwise("note")
    )


def _with_basis(rows: pl.DataFrame, db: str | Path, study: Study) -> pl.DataFrame:
    """What numbers of real answers stand on needs no word; what no model answered does."""
    made_up = reconstructed(db, study).with_columns(is_made_up=True)
    known = rows.join(made_up, on=GRAIN, how="left", maintain_order="left")
    is_here = pl.col("recomputed").is_not_null()
    return known.with_columns(
        basis=pl.when((pl.col("source") == PRINT) & is_here)
        .then(pl.lit(WITHOUT_DATA))
        .when(pl.col("is_made_up") & is_here)
        .then("basis")
    ).select(rows.columns)


def summary(compared: pl.DataFrame) -> pl.DataFrame:
    """One row per source, study version, variant and table: how many numbers have each status."""
    counts = [(pl.col("status") == status).sum().alias(status.replace(" ", "_")) for status in STATUSES]
    keys = [*GRAIN, "table"]
    numbers = pl.len().alias("numbers")
    with_data = pl.col("agrees").is_not_null().sum().alias("with_data")
    return compared.group_by(keys, maintain_order=True).agg(numbers, with_data, *counts)
