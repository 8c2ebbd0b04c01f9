"""Compare the printed numbers of the paper with those recomputed from the database.

A number agrees if |recomputed - printed| is at most half a unit of the last printed digit (or what the study's file
published.csv says instead), and if it keeps within a printed bound. What the authors' own data contradict is a known
slip of print (published_notes.csv); the code is never bent to meet one.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from concurrent.futures import Executor
from pathlib import Path

import polars as pl

from slant.analysis.calls.executors import Workers
from slant.analysis.fitting.fits import Progress
from slant.analysis.paper import published
from slant.analysis.paper.numbers import MATCH, PRINT, Numbers, is_usual, recomputed
from slant.analysis.paper.published import GRAIN, KEY, NO_REFUSALS, WITHOUT_DATA, notes, quantity_name
from slant.analysis.paper.reconstruction import reconstructed
from slant.analysis.paper.sources import check_quantities, sources_of
from slant.analysis.rows.study_choice import study_in
from slant.collector.arguments import checked_arguments
from slant.collector.errors import DatabaseError, check_known
from slant.collector.keep.database import opens_once, reading
from slant.collector.keep.stored_attempts import designs_in
from slant.collector.studies.catalogue import Study

OTHER = "mixed models"
"""Name the table of a number that the paper prints in one table per model, for a model without such a table."""
_COLUMNS = [*GRAIN, *KEY, "printed", "recomputed", "tolerance", "agrees", "slip", "status", "basis", "note"]


@checked_arguments(more={"source": (PRINT,)})  # printed numbers that need no data
@opens_once
def compare(
    db: str | Path,
    study: str | Study | None = None,
    source: str | None = None,
    workers: Workers = None,
    progress: Progress | None = None,
    tables: Collection[str] | None = None,
    sources: tuple[Numbers, ...] | None = None,
    executor: Executor | None = None,
) -> pl.DataFrame:
    """Return a row per printed number of the paper, for each source and version of the study in the database: its
    tables, the numbers in its text (table "text"), its earlier version ("v1 S3" …).

    Columns: source ("print": checked without raw data, see below), study_version, variant, table, model, test,
    refusals_removed (null if the table has no such choice), condition, quantity, printed (text, as in print),
    recomputed (not rounded), tolerance (how far from the print is near enough), agrees (null without data), slip (the
    reason, if it is a known one), status, basis (if the answers are reconstructed from the print: is this number a
    reproduction, or only a reconstruction?), note (why a number is not checkable, or how it is computed). For games,
    `test` is the variant and `condition` the answer format. Fits that are missing or out of date are made first; a kept
    topic model is only used if it is of the current texts and the study's settings. `tables` keeps only some ("S6",
    "text", "v1 S3" …), and makes only the fits that their numbers need; `sources` names the sources of numbers
    themselves. `workers` and `executor` are as for `fit()`.

    Status: agrees, slip, disagrees; "no data" if nothing of its model and test is here; "not checkable" if the data
    here can't decide (a total of ten tests of which nine are here; what no file holds); "simulated" (numbers of
    simulated rows, which only resemble the print).

    In S3, "(-)" is a cell without refusals: its row has the quantity `refusals`, and agrees with 0.

    What can be checked of a paper without raw data (by its other numbers, by the study's design) has separate rows, of
    the source "print". If the database has no rows of such a study, every other number is listed, too, without data.
    """
    study = study_in(db, study, lambda each: each.published is not None, "has printed numbers to compare with")
    printed = _printed(study, tables)
    quantities = set(printed.select(quantity_name()).to_series())
    every = sources_of(study) if sources is None else sources
    sources = tuple(each for each in every if quantities & set(each.gives) or each.is_of_print)
    of_answers = tuple(each for each in sources if not each.is_of_print)
    of_print = tuple(each for each in sources if each.is_of_print)
    numbers = _as_it_stands(db, study, executor or workers, progress, of_answers, is_needed=not of_print)
    checked = recomputed(db, study, executor or workers, progress, of_print)
    groups = numbers.select(GRAIN).unique(maintain_order=True)
    if not sources:  # the print is one that no answers can decide
        groups = pl.DataFrame({name: [PRINT if name == "source" else None] for name in GRAIN}, groups.schema)
    groups = groups if source is None else groups.filter(pl.col("source") == source)
    if groups.is_empty() and source != PRINT and (source is not None or not of_print):
        raise DatabaseError(
            f'"{db}" holds no rows of "{study.name}" as its file has it{f" from {source}" if source else ""}.'
        )
    given = {name for each in of_answers for name in each.gives}
    left_out = {name for each in sources_of(study) if not each.is_of_print for name in each.gives} - given
    own = printed.filter(~published.is_of_print(study), ~quantity_name().is_in(list(left_out)))
    rows = [_beside(groups.join(own, how="cross"), numbers)]
    if source in (None, PRINT):
        known = printed.join(checked.drop("is_usual"), on=KEY, how="inner", nulls_equal=True, maintain_order="left")
        rest = own.join(checked, on=KEY, how="anti", nulls_equal=True, maintain_order="left")
        if groups.is_empty() and source is None:  # without answers all other printed numbers are shown, too
            rows.append(_beside(checked.select(GRAIN).unique().join(rest, how="cross"), numbers))
        rows.append(known.select(rows[0].columns))
    return _judged(pl.concat(rows), db, study)


def _printed(study: Study, tables: Collection[str] | None) -> pl.DataFrame:
    """Return KEY, printed, tolerance: the numbers of these tables; UnknownNameError for an unknown one."""
    check_quantities(study)
    printed = published.published_numbers(study).drop("source")
    known = printed["table"].unique(maintain_order=True).to_list()
    for name in tables or ():
        check_known("table of the paper", name, known)
    return printed if tables is None else printed.filter(pl.col("table").is_in(list(tables)))


def _as_it_stands(
    db: str | Path,
    study: Study,
    workers: Workers,
    progress: Progress | None,
    sources: tuple[Numbers, ...],
    is_needed: bool,
) -> pl.DataFrame:
    """Return the recomputed numbers of the study without the changes of a variant; DatabaseError if rows are needed,
    and the database has none."""
    with reading(db) as connection:
        is_here = study.name in designs_in(connection)
    if not is_here and not is_needed:
        sources = ()
    return recomputed(db, study, workers, progress, sources).filter(pl.col("variant") == study.variants[0])


@opens_once
def whole_comparison(
    db: str | Path,
    study: Study,
    workers: Workers = None,
    progress: Progress | None = None,
    sources: tuple[Numbers, ...] | None = None,
) -> pl.DataFrame:
    """Return the recomputed numbers of each model and variant, with the print next to it if there is any. It is about
    the tables that hold the same numbers for each model (S3 to S12).

    The columns are those of `compare`. Numbers that the paper doesn't print (another model, another variant) have a
    null in `printed` and the status "not printed". Printed ones are here only for models that have rows.
    """
    if sources is None:
        sources = tuple(each for each in sources_of(study) if each.is_table_of_models)
    numbers = recomputed(db, study, workers, progress, sources)
    given = [name for each in sources for name in each.gives]
    is_of_cell = pl.col("test").is_not_null() & pl.col("quantity").is_in(given)
    print_of_tables = published.published_numbers(study).filter(published.is_main_table(), is_of_cell).drop("source")
    models = numbers.filter(pl.col("variant") == study.variants[0]).select(*GRAIN, "model").unique(maintain_order=True)
    printed = models.join(print_of_tables, on="model", how="inner", maintain_order="left_right")
    places = (
        print_of_tables.filter(pl.col("printed") != NO_REFUSALS)
        .with_columns(is_usual())
        .group_by("quantity", "is_usual", is_of_both=pl.col("condition").is_null())
        .agg(place=pl.when(pl.col("table").n_unique() == 1).then(pl.col("table").first()).otherwise(pl.lit(OTHER)))
    )
    named = numbers.with_columns(is_of_both=pl.col("condition").is_null()).join(
        places, on=["quantity", "is_usual", "is_of_both"], how="inner", maintain_order="left"
    )
    more = named.join(
        printed.with_columns(is_usual()), on=[*GRAIN, *MATCH], how="anti", nulls_equal=True, maintain_order="left"
    )
    absent = {"printed": pl.String, "tolerance": pl.Float64}
    unprinted = more.with_columns(pl.lit(None, kind).alias(name) for name, kind in absent.items()).select(
        *GRAIN, pl.col("place").alias("table"), *KEY[1:], *absent, "recomputed", "missing"
    )
    return _judged(pl.concat([_beside(printed, numbers).select(unprinted.columns), unprinted]), db, study)


def _beside(printed: pl.DataFrame, numbers: pl.DataFrame) -> pl.DataFrame:
    """Return printed numbers with `recomputed` and `missing`."""
    values = numbers.select(*GRAIN, *MATCH, "recomputed", "missing")
    rows = printed.with_columns(is_usual())
    joined = rows.join(values, on=[*GRAIN, *MATCH], how="left", nulls_equal=True, maintain_order="left")
    return joined.select(*GRAIN, *KEY, "printed", "tolerance", "recomputed", "missing")


def _judged(rows: pl.DataFrame, db: str | Path, study: Study) -> pl.DataFrame:
    """Add what is known about each number, and how the printed and the recomputed one compare."""
    known = {"slip": notes(study, "slip"), "reason": published.not_checkable(study), "how": notes(study, "computed")}
    for name, about in known.items():
        about = about.select(*KEY, pl.col("note").alias(name))
        rows = rows.join(about, on=KEY, how="left", nulls_equal=True, maintain_order="left")
    rows = rows.with_columns(is_print=pl.col("source") == PRINT)
    if notes(study, "of the print").height:
        # what the print alone contradicts is no slip if another sample of answers differs from it
        rows = rows.with_columns(slip=pl.when("is_print").then("slip"))
    near = notes(study, "tolerance").rename({"tolerance": "tolerance_of_print", "note": "why"})
    near = near.with_columns(is_print=(pl.col("basis") == WITHOUT_DATA).fill_null(value=False))
    key = ["table", "quantity", "is_print"]
    rows = rows.join(near.select(*key, "basis", "tolerance_of_print", "why"), on=key, how="left", maintain_order="left")
    tolerance = pl.when("is_print").then("tolerance_of_print").otherwise("tolerance")
    judged = with_verdicts(rows.with_columns(tolerance=tolerance))
    return _with_basis(_without_data(judged.select(_COLUMNS), study), db, study)


def _without_data(rows: pl.DataFrame, study: Study) -> pl.DataFrame:
    """Say first in the note of a number that no answers of models are there to compare it with."""
    words = notes(study, "no data")["note"]
    if words.is_empty():
        return rows
    is_without = (pl.col("status") == "no data") | (pl.col("source") == "simulated") & (pl.col("printed").is_not_null())
    both = pl.concat_str(pl.lit(words[0]), "note", separator=" ", ignore_nulls=True)
    return rows.with_columns(note=pl.when(is_without).then(both).otherwise("note"))


def _with_basis(rows: pl.DataFrame, db: str | Path, study: Study) -> pl.DataFrame:
    """Say in a note which numbers rest on answers that no model gave; real ones need no note."""
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
    """Return rows by source, study version, variant, table: how many numbers have each status."""
    counts = [(pl.col("status") == status).sum().alias(status.replace(" ", "_")) for status in STATUSES]
    keys = [*GRAIN, "table"]
    numbers = pl.len().alias("numbers")
    with_data = pl.col("agrees").is_not_null().sum().alias("with_data")
    return compared.group_by(keys, maintain_order=True).agg(numbers, with_data, *counts)


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
    """Return the tolerance around the printed number; null if no number is printed. A "<" is exact."""
    sign, _, number = (printed or "").rpartition(" ")
    if sign not in _SIGNS or sign == "<" or not (_NUMBER.fullmatch(number) or _RANGE.fullmatch(number)):
        return None
    if given is not None:
        return given
    return published.half_unit(ends[1] if (ends := _RANGE.fullmatch(number)) else number)


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
    # the error of binary numbers is added to half a unit: almost nothing for a number that is printed as 1.996e-17
    rounding = min(_TINY, (tolerance or _TINY) * 1e-6) if "e" in number.lower() else _TINY
    near = (tolerance or 0) + rounding
    if sign not in ("<", ">"):
        return _is_near(value, number if sign in _SIGNS else printed, near)
    # A minimum is printed rounded, so that "b > 20.74" holds for 20.735; "p < .001" is exact.
    keeps = value >= float(number) - near if sign == ">" else value < float(number)
    return None if missing and keeps else keeps


def _is_near(value: float, number: str, near: float) -> bool:
    """Compare with a number ("1.04", or "near 0"), or a range ("1-2"). For a printed text, 1 means ours is the same."""
    if ends := _RANGE.fullmatch(number):
        return float(ends[1]) - near <= value <= float(ends[2]) + near
    return abs(value - float(number)) <= near if _NUMBER.fullmatch(number) else value == 1
