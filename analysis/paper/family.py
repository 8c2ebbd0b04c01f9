"""What all families of numbers share: the key of a number, and how rows of them are made.

A printed number is a row of KEY and `printed`: text exactly as in print, after "> " or "< " where the print states a
bound. A recomputed one is a row of GRAIN, KEY, `recomputed` (not rounded) and `missing`: what of the data that the
printed number is made of is not here, in words; null where all of it is. Where `recomputed` is null, it is a sentence
that says why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from slant.analysis.fitting.fits import Asked
from slant.analysis.paper.results import Results
from slant.collector.studies.catalogue import Study

GRAIN = ["source", "study_version", "variant"]
PRINT = "print"
"""The source of what is checked without raw data: by other printed numbers, by the study's design."""
WITHOUT_DATA = "checked without raw data"
"""Its `basis`."""
KEY = ("table", "model", "test", "refusals_removed", "condition", "quantity")
SCHEMA: dict[str, Any] = {
    "table": pl.String, "model": pl.String, "test": pl.String, "refusals_removed": pl.Boolean,
    "condition": pl.String, "quantity": pl.String, "printed": pl.String,
}  # fmt: skip
VALUE = [*GRAIN, *KEY, "recomputed", "missing"]
ALL_TESTS = "total"  # what Table S11 calls all tests together
Row = tuple[str, str | None, str | None, bool | None, str | None, str, str]
"""KEY and `printed`."""
Needs = tuple[Sequence[str], Sequence[Asked]]


@dataclass(frozen=True)
class Family:
    """One family of numbers: its rows in print (none where the study ships none), and the same recomputed.

    `needs`: the tables and the fits that `recomputed` starts from, so that those of all families are made together.
    `is_table_of_models`: its tables hold the same numbers for each model, so that a model that the paper doesn't have
    can stand in them. `is_of_print`: its numbers are checked without raw data; of what it has in print, only those that
    it recomputes are shown, beside those of the other families. `without_data`: what is said of its printed numbers
    where there are no answers of models that they could be compared with.
    """

    name: str
    printed: Callable[[Study], Iterable[Row]]
    recomputed: Callable[[Results], pl.DataFrame]
    needs: Callable[[Results], Needs] = lambda _: ([], [])
    is_table_of_models: bool = False
    is_of_print: bool = False
    without_data: str = ""


def split_families(families: Iterable[Family]) -> tuple[tuple[Family, ...], tuple[Family, ...]]:
    """Those that are computed from answers, and those that the print alone decides."""
    both = tuple(families)
    return tuple(one for one in both if not one.is_of_print), tuple(one for one in both if one.is_of_print)


def read_printed(study: Study, name: str) -> Iterator[dict[str, str | None]]:
    """The rows of one file of printed numbers; none where the study does not ship it."""
    if study.published is not None and (study.published / name).is_file():
        yield from read_texts(study.published / name).to_dicts()


def read_texts(path: Path) -> pl.DataFrame:
    return pl.read_csv(path, infer_schema=False)  # numbers stay text: "0.10" and "0.1" are printed differently


def long(frame: pl.DataFrame, quantities: list[str]) -> pl.DataFrame:
    """Wide results as recomputed rows, one a quantity; `table` and all of KEY that matters are columns of `frame`."""
    absent = [name for name in (*KEY[:-1], "missing") if name not in frame.columns]
    types = {**SCHEMA, "missing": pl.String}
    frame = frame.with_columns(pl.lit(None, types[name]).alias(name) for name in absent)
    index = [*GRAIN, *KEY[:-1], "missing"]
    long = frame.unpivot(quantities, index=index, variable_name="quantity", value_name="recomputed")
    return long.drop_nulls("recomputed").select(VALUE).with_columns(pl.col("recomputed").cast(pl.Float64))


def absent_in_words(cells: Iterable[tuple[str, str]], n_tests: int) -> str | None:
    """These models and tests, as "qwen3-8b; claude-3.7-sonnet in race_greenwald": a model alone where all of its
    `n_tests` are absent. None where there are no cells.
    """
    tests: dict[str, list[str]] = {}
    for model, test in cells:
        tests.setdefault(model, []).append(test)
    words = [model if len(its) == n_tests else f"{model} in {', '.join(its)}" for model, its in tests.items()]
    return "; ".join(words) or None


def beside_shortfalls(rows: pl.DataFrame, partial: pl.DataFrame) -> pl.DataFrame:
    """Recomputed rows with what their cells lack in `missing`: their own cell, or each of their model's where a number
    is of all tests. `partial` is that of Results.
    """
    of_model = partial.group_by(*GRAIN, "model", maintain_order=True).agg(pl.col("shortfall").str.join("; "))
    joined = rows.join(partial, on=[*GRAIN, "model", "test"], how="left", maintain_order="left").join(
        of_model, on=[*GRAIN, "model"], how="left", maintain_order="left", suffix="_of_model"
    )
    is_of_all = pl.col("test").is_null() | (pl.col("test") == ALL_TESTS)
    its = pl.when(is_of_all).then(pl.col("shortfall_of_model")).otherwise(pl.col("shortfall"))
    both = pl.concat_str("missing", its, separator="; ", ignore_nulls=True)
    return joined.with_columns(missing=pl.when(both.str.len_chars() > 0).then(both)).select(rows.columns)


def no_numbers() -> pl.DataFrame:
    texts = {**dict.fromkeys(GRAIN, pl.String), **SCHEMA, "missing": pl.String}
    return pl.DataFrame(schema={name: texts.get(name, pl.Float64) for name in VALUE})
