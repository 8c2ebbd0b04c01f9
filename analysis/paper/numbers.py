"""The numbers that papers print, had again from the database.

Of each design they come from the views in sql/views/3_paper, whose heads say which quantities a view gives and which
fits it is of; what SQL can't say (the matching of topics, claims about several models, the print's own arithmetic) is a
source in Python with the same columns. A printed number and a recomputed one meet by model, test, condition and
quantity; the place of the print has no part in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from slant.analysis.fitting.fits import FitRequest, Progress
from slant.analysis.paper.published import published_numbers
from slant.analysis.paper.results import GRAIN, Results
from slant.analysis.rows.descriptive_tables import TableInfo
from slant.collector.studies.catalogue import Fit, Study

PRINT = "print"
"""The source of what is checked without raw data: by other printed numbers, by the study's design."""
ALL_TESTS = "total"
"""What a number of all tests together has for a test."""
CELL = ("model", "test", "refusals_removed", "condition", "quantity")
VALUE = [*GRAIN, *CELL, "recomputed", "missing"]
SCHEMA: dict[str, Any] = {
    **dict.fromkeys(VALUE, pl.String), "refusals_removed": pl.Boolean, "recomputed": pl.Float64,
}  # fmt: skip
MATCH = ["model", "test", "condition", "quantity", "is_usual"]
"""What a printed and a recomputed number have in common: refusals are removed where the print says nothing of them."""
_FIT = re.compile(r"(\w+)(?: of (\w+))?(?: \((refusals kept)(, where printed)?\))?")


@dataclass(frozen=True)
class Numbers:
    """One source of numbers: the quantities that it gives, and rows of VALUE.

    `missing` says what of the data that a number is made of is not here; where `recomputed` is null, it is a sentence
    that says why. `tables` and `fits`: what the rows start from, so that those of all sources are made together.
    `is_table_of_models`: the same numbers for each model, so that a model that the paper doesn't have can stand in its
    tables. `is_of_print`: checked without raw data; these rows have a column `table`, too.
    """

    name: str
    gives: tuple[str, ...]
    recomputed: Callable[[Results], pl.DataFrame]
    tables: tuple[str, ...] = ()
    fits: Callable[[Results], list[FitRequest]] = lambda _: []
    is_table_of_models: bool = False
    is_of_print: bool = False


def recomputed(
    db: str | Path,
    study: Study,
    workers: int | None = None,
    progress: Progress | None = None,
    sources: Iterable[Numbers] = (),
) -> pl.DataFrame:
    """VALUE, `source_of` (the name of its source) and, of the print, `table`: all numbers of these sources, of each
    model and variant in the database. Fits that are missing or out of date are made first.
    """
    results, sources = Results(db, study, workers, progress), list(sources)
    results.will_need(
        dict.fromkeys(name for source in sources for name in source.tables),
        [asked for source in sources for asked in source.fits(results)],
    )
    rows = [_typed(source.recomputed(results)).with_columns(numbers=pl.lit(source.name)) for source in sources]
    empty = pl.DataFrame(schema={**SCHEMA, "table": pl.String, "numbers": pl.String})
    return pl.concat([empty, *rows]).with_columns(is_usual())


def is_usual() -> pl.Expr:
    return pl.col("refusals_removed").fill_null(value=True).alias("is_usual")


def _typed(rows: pl.DataFrame) -> pl.DataFrame:
    rows = rows if "table" in rows.columns else rows.with_columns(table=pl.lit(None, pl.String))
    return rows.select(pl.col(name).cast(kind) for name, kind in {**SCHEMA, "table": pl.String}.items())


def of_view(results: Results, info: TableInfo) -> pl.DataFrame:
    """The rows of a view, of today's fits, in the order of the study; with what their cells lack in `missing`."""
    rows = results.view(info.name)
    if info.lacks == "cell":
        return beside_shortfalls(_in_order(_with_absent_tests(rows, results), results, info), results.partial_cells)
    return _beside_absent(rows, results) if info.lacks == "study" else rows


def fits_of_view(results: Results, info: TableInfo, views: Mapping[str, TableInfo]) -> list[FitRequest]:
    wanted = []
    for text in info.fits:
        match = _FIT.fullmatch(text)
        assert match is not None, f"{info.name}: {text}"
        engine, outcome, is_kept, is_where_printed = match.groups()
        for fit in _fits(results.study, engine, outcome, of_cells=info.lacks == "cell"):
            only = None
            if is_where_printed:
                gives = {name for view in views.values() if text in view.fits for name in view.gives}
                only = _printed_cells(results, gives)
                if only is None:
                    continue
            wanted.append(FitRequest(fit.name, not is_kept, only))
    return wanted


def _fits(study: Study, engine: str, outcome: str | None, of_cells: bool) -> list[Fit]:
    """The study's first fit of this engine by model and test; or of this outcome, of all cells together."""
    by = {"model", "test"} if of_cells else set()
    fits = [fit for fit in study.fits.values() if fit.engine == engine and set(fit.by) == by]
    return [fit for fit in fits if outcome is None or (fit.formula or "").startswith(f"{outcome} ")][:1]


def _printed_cells(results: Results, quantities: Collection[str]) -> dict[str, list[str]] | None:
    """The models and tests of which such numbers are printed with the refusals kept, as far as they are here."""
    printed = published_numbers(results.study).filter(
        ~pl.col("refusals_removed"), pl.col("test").is_not_null(), pl.col("quantity").is_in(list(quantities))
    )
    cells = results.table("refusal_counts").join(printed, on=["model", "test"], how="semi")
    return {name: sorted(set(cells[name])) for name in ("model", "test")} if cells.height else None


def _in_order(rows: pl.DataFrame, results: Results, info: TableInfo) -> pl.DataFrame:
    study = results.study
    orders = {"quantity": info.gives, "model": [m.model for m in study.models], "test": [t.test for t in study.tests]}
    places = [
        pl.col(name).replace_strict({word: place for place, word in enumerate(words)}, default=len(words))
        for name, words in orders.items()
    ]
    return rows.sort(*GRAIN, *places, maintain_order=True)


def absent_in_words(cells: Iterable[tuple[str, str]], n_tests: int) -> str | None:
    """These models and tests, as "qwen3-8b; claude-3.7-sonnet in race_greenwald": a model alone where all of its
    `n_tests` are absent. None where there are no cells.
    """
    tests: dict[str, list[str]] = {}
    for model, test in cells:
        tests.setdefault(model, []).append(test)
    words = [model if len(names) == n_tests else f"{model} in {', '.join(names)}" for model, names in tests.items()]
    return "; ".join(words) or None


def _with_absent_tests(rows: pl.DataFrame, results: Results) -> pl.DataFrame:
    """Of numbers of all tests together: which tests are not here."""
    tests = [test.test for test in results.study.tests]
    cell = [*GRAIN, "model", "condition"]
    here = rows.group_by(cell).agg(pl.col("test").alias("tests")).iter_rows()
    words = [
        (*key, absent_in_words([(key[-2], test) for test in tests if test not in names], len(tests)))
        for *key, names in here
    ]
    absent = pl.DataFrame(words, schema=dict.fromkeys([*cell, "absent"], pl.String), orient="row")
    joined = rows.join(absent, on=cell, how="left", nulls_equal=True, maintain_order="left")
    return joined.with_columns(missing=pl.when(pl.col("test") == ALL_TESTS).then("absent").otherwise("missing"))


def beside_shortfalls(rows: pl.DataFrame, partial_cells: pl.DataFrame) -> pl.DataFrame:
    """Rows with what their cells lack in `missing`: their own cell, or each of their model's where a number is of all
    tests.
    """
    of_model = partial_cells.group_by(*GRAIN, "model", maintain_order=True).agg(pl.col("shortfall").str.join("; "))
    joined = rows.join(partial_cells, on=[*GRAIN, "model", "test"], how="left", maintain_order="left").join(
        of_model, on=[*GRAIN, "model"], how="left", maintain_order="left", suffix="_of_model"
    )
    is_of_all = pl.col("test").is_null() | (pl.col("test") == ALL_TESTS)
    shortfall = pl.when(is_of_all).then(pl.col("shortfall_of_model")).otherwise(pl.col("shortfall"))
    both = pl.concat_str("missing", shortfall, separator="; ", ignore_nulls=True)
    return joined.with_columns(missing=pl.when(both.str.len_chars() > 0).then(both))


def _beside_absent(rows: pl.DataFrame, results: Results) -> pl.DataFrame:
    """Rows, each of a fit of all the answers, with what of these is not here in `missing`."""
    study = results.study
    wanted = {(model.model, test.test) for model in study.models if model.asked_by_default for test in study.tests}
    partial_cells = results.partial_cells.group_by(GRAIN).agg(pl.col("shortfall").str.join("; "))
    shortfalls = {tuple(row[:-1]): row[-1] for row in partial_cells.select(*GRAIN, "shortfall").iter_rows()}
    words = []
    for grain, cells in results.asked_cells.group_by(GRAIN, maintain_order=True):
        absent = sorted(wanted - set(cells.select("model", "test").iter_rows()))
        lacks = [absent_in_words(absent, len(study.tests)), shortfalls.get(grain)]
        words.append((*grain, "; ".join(filter(None, lacks)) or None))
    lacks_of = pl.DataFrame(words, schema=dict.fromkeys([*GRAIN, "lacks"], pl.String), orient="row")
    joined = rows.join(lacks_of, on=GRAIN, how="left", maintain_order="left")
    return joined.with_columns(missing=pl.coalesce("missing", "lacks"))


def frame_of_numbers(rows: Iterator[tuple[Any, ...]] | list[tuple[Any, ...]]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=SCHEMA, orient="row")
