"""Recompute the numbers that papers print from the database.

For each design they come from the views in sql/views/3_paper, whose heads say which quantities a view gives and from
which fits; what SQL can't say (the matching of topics) is a source in Python with the same columns. A printed number
and a recomputed one are matched by model, test, condition and quantity; the place in print does not matter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from slant.analysis.calls.executors import Workers
from slant.analysis.fitting.fits import FitRequest, Progress
from slant.analysis.paper.published import GRAIN, StudyViews, published_numbers
from slant.collector.keep.view_heads import TableInfo
from slant.collector.studies.catalogue import Fit, Study

PRINT = "print"
"""Name the source of what is checked without raw data: by other printed numbers, by the study's design."""
ALL_TESTS = "total"
"""Use this as the test of a number for all tests together."""
CELL = ("model", "test", "refusals_removed", "condition", "quantity")
VALUE = [*GRAIN, *CELL, "recomputed", "missing"]
SCHEMA: dict[str, Any] = {
    **dict.fromkeys(VALUE, pl.String), "refusals_removed": pl.Boolean, "recomputed": pl.Float64,
}  # fmt: skip
MATCH = ["model", "test", "condition", "quantity", "is_usual"]
"""List what a printed and a recomputed number have in common: refusals are removed if the print says nothing."""
_FIT = re.compile(r"(every )?(\w+)(?: of (\w+))?(?: by (cell|model))?(?: \((refusals kept)(, where printed)?\))?")
_BY = {"cell": {"model", "test"}, "model": {"model"}, None: set[str]()}


@dataclass(frozen=True)
class Numbers:
    """Hold one source of numbers: the quantities that it gives, and rows of VALUE.

    `missing` says which of the data of a number are not here; if `recomputed` is null, it is a sentence that says why.
    `fits`: what the rows start from, so that those of all sources are made together. `is_table_of_models`: the same
    numbers for each model, so that a model that the paper doesn't have can be in its tables. `is_of_print`: checked
    without raw data; these rows also have a column `table`.
    """

    name: str
    gives: tuple[str, ...]
    recomputed: Callable[[StudyViews], pl.DataFrame]
    fits: Callable[[StudyViews], list[FitRequest]] = lambda _: []
    is_table_of_models: bool = False
    is_of_print: bool = False


def recomputed(
    db: str | Path,
    study: Study,
    workers: Workers = None,
    progress: Progress | None = None,
    sources: Iterable[Numbers] = (),
) -> pl.DataFrame:
    """Return VALUE, `is_usual` and, for the print, `table`: all numbers of these sources, for each model and variant in
    the database. Fits that are missing or out of date are made first.
    """
    views, sources = StudyViews(db, study, workers, progress), list(sources)
    requests = {source.name: source.fits(views) for source in sources}
    numbers = _by_source(views, [source for source in sources if not requests[source.name]])
    if any(requests.values()):  # only now: meanwhile R has loaded its packages
        views.make_fits([request for of_source in requests.values() for request in of_source])
        numbers |= _by_source(views, [source for source in sources if requests[source.name]])
    frames = [pl.DataFrame(schema={**SCHEMA, "table": pl.String}), *(numbers[source.name] for source in sources)]
    return pl.concat(frames).with_columns(is_usual())


def _by_source(views: StudyViews, sources: Collection[Numbers]) -> dict[str, pl.DataFrame]:
    with nullcontext() if all(source.is_of_print for source in sources) else views.opened():
        return {source.name: _typed(source.recomputed(views)) for source in sources}


def is_usual() -> pl.Expr:
    return pl.col("refusals_removed").fill_null(value=True).alias("is_usual")


def _typed(rows: pl.DataFrame) -> pl.DataFrame:
    rows = rows if "table" in rows.columns else rows.with_columns(table=pl.lit(None, pl.String))
    return rows.select(pl.col(name).cast(kind) for name, kind in {**SCHEMA, "table": pl.String}.items())


def numbers_of_view(views: StudyViews, info: TableInfo) -> pl.DataFrame:
    """Return the rows of a view, in the order of the study if they are of cells; with what they lack in `missing`."""
    rows = views.view(info.name)
    if info.lacks == "game":
        return _in_order(rows, views.study, info)
    if info.lacks == "cell":
        of_test = pl.when(pl.col("test") != ALL_TESTS).then("test")
        joined = _joined(rows.with_columns(of_test=of_test), views, ["model", "of_test"])
        return _in_order(joined.with_columns(missing=_sentence("missing", "shortfall")), views.study, info)
    if info.lacks == "study":
        whole = rows.with_columns(pl.lit(None, pl.String).alias(name) for name in ("of_model", "of_test"))
        lacks = pl.coalesce("missing", _sentence("absent", "shortfall"))
        return _joined(whole, views, ["of_model", "of_test"]).with_columns(missing=lacks)
    return rows


def _joined(rows: pl.DataFrame, views: StudyViews, key: list[str]) -> pl.DataFrame:
    lacks = views.shortfalls.rename({"test": "of_test", "model": key[0]})
    return rows.join(lacks, on=[*GRAIN, *key], how="left", nulls_equal=True, maintain_order="left")


def _sentence(*parts: str) -> pl.Expr:
    words = pl.concat_str(*parts, separator="; ", ignore_nulls=True)
    return pl.when(words.str.len_chars() > 0).then(words)


def _in_order(rows: pl.DataFrame, study: Study, info: TableInfo) -> pl.DataFrame:
    orders = {"quantity": info.gives, "model": [m.model for m in study.models], "test": [t.test for t in study.tests]}
    places = [
        pl.col(name).replace_strict({word: place for place, word in enumerate(words)}, default=len(words))
        for name, words in orders.items()
    ]
    return rows.sort(*GRAIN, *places, maintain_order=True)


def fits_of_view(views: StudyViews, info: TableInfo, infos: Mapping[str, TableInfo]) -> list[FitRequest]:
    """Return the study's fits that the head of a view names, "ENGINE of OUTCOME by cell (refusals kept, where
    printed)": the first of the study's, or "every ENGINE …".
    """
    wanted = []
    for text in info.fits:
        match = _FIT.fullmatch(text)
        assert match is not None, f"{info.name}: {text}"
        every, engine, outcome, by, is_kept, is_where_printed = match.groups()
        fits = _fits(views.study, engine, outcome, _BY[by])
        for fit in fits if every else fits[:1]:
            gives = {name for each in infos.values() if text in each.fits for name in each.gives}
            only = _printed_cells(views, gives) if is_where_printed else None
            if only is not None or not is_where_printed:
                wanted.append(FitRequest(fit.name, not is_kept, only))
    return wanted


def _fits(study: Study, engine: str, outcome: str | None, by: set[str]) -> list[Fit]:
    """Return the study's fits of this engine, outcome and these groups."""
    fits = [fit for fit in study.fits.values() if fit.engine == engine and set(fit.by) == by]
    return [fit for fit in fits if outcome is None or (fit.formula or "").startswith(f"{outcome} ")]


def _printed_cells(views: StudyViews, quantities: Collection[str]) -> dict[str, list[str]] | None:
    """Return the models and tests here for which such numbers are printed with the refusals kept."""
    printed = published_numbers(views.study).filter(
        ~pl.col("refusals_removed"), pl.col("test").is_not_null(), pl.col("quantity").is_in(list(quantities))
    )
    cells = views.view("asked_cells").join(printed, on=["model", "test"], how="semi")
    return {name: sorted(set(cells[name])) for name in ("model", "test")} if cells.height else None
