"""Printed numbers of a study of one's own: one CSV that its file names, `published = "published.csv"`.

Columns: place (where it is printed: "Table 1"), model, test, condition, quantity, printed, tolerance (empty: half a
unit of the last printed digit). What is left empty of model, test and condition is not asked for. Of a forced choice,
`test` is the domain and `condition` the block; of a game, the variant and the format of answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from slant.analysis.fitting.fits import Asked
from slant.analysis.paper.family import GRAIN, KEY, SCHEMA, VALUE, Family, Needs, Row, no_numbers, read_texts
from slant.analysis.paper.results import Results
from slant.collector.errors import StudyError, UnknownNameError
from slant.collector.studies.catalogue import Study

COLUMNS = ("place", "model", "test", "condition", "quantity", "printed", "tolerance")
_AS_THEY_ARE = {name: name for name in ("estimate", "std_error", "df", "statistic")}
_FITTED = {
    "lme4": {**_AS_THEY_ARE, "p": "p_value"},
    "effect_size": {"d": "estimate", "ci_low": "conf_low", "ci_high": "conf_high"},
}
_REFUSED = {"refusals": "n_refusals", "refusal_rate": "refusal_rate", "n_trials": "n_trials"}
_BLOCK = {"test": "domain", "condition": "block"}
_INDICES = ("si", "bgd", "gasi", "mutual_information_bits")
# By design: a table, how it calls test and condition, and its quantities by our name.
_TABLES: Mapping[str, tuple[tuple[str, Mapping[str, str], Mapping[str, str]], ...]] = {
    "association": (
        ("tokens_by_condition", {}, {"mean_tokens": "mean_tokens", "sd_tokens": "sd_tokens", "n": "n"}),
        ("refusals_by_condition", {}, _REFUSED),
        ("refusal_counts", {"condition": ""}, _REFUSED),
    ),
    "forced_choice": (
        ("compliance_by_block", _BLOCK, {name: name for name in ("valid_percent", "n_valid", "n_trials")}),
        ("consistency_by_block", _BLOCK, {"consistent_rate": "consistent_rate", "n_consistent": "n_consistent"}),
        ("observed_delta_p", {**_BLOCK, "condition": ""}, {"delta_p": "delta_p"}),
    ),
    "allocation": (
        ("allocation_indices", {"test": "variant", "condition": "answer_format"}, {one: one for one in _INDICES}),
        ("allocation_indices", {"test": "variant", "condition": ""}, {one: one for one in _INDICES}),
    ),
}  # fmt: skip


def is_own(study: Study) -> bool:
    """Whether the study's printed numbers are one file, rather than a folder of a paper's tables."""
    return study.published is not None and study.published.suffix.lower() == ".csv"


def rows_of(study: Study) -> list[dict[str, str | None]]:
    """The file, checked. StudyError for a column that is missing, UnknownNameError for a quantity that there is not."""
    assert study.published is not None
    if not study.published.is_file():
        raise StudyError(f'The study "{study.name}" names {study.published.name}, but there is no such file.')
    frame = read_texts(study.published)
    if missing := [name for name in COLUMNS if name not in frame.columns]:
        raise StudyError(
            f'{study.published.name} has no column "{missing[0]}".', f"Its columns must be: {', '.join(COLUMNS)}."
        )
    known = quantities(study)
    for row in frame.to_dicts():
        if row["quantity"] not in known:
            raise UnknownNameError(f"quantity (in {study.published.name})", str(row["quantity"]), known)
        for name in ("printed", "tolerance"):
            _number(row[name], name, study)
    return frame.select(COLUMNS).to_dicts()


def own_tolerances(study: Study) -> pl.DataFrame:
    """KEY and `tolerance` of the printed numbers that the file gives one."""
    rows = [
        (row["place"] or "print", row["model"], row["test"], None, row["condition"], row["quantity"],
         float(row["tolerance"] or 0) if row["tolerance"] else None)
        for row in rows_of(study)
    ]  # fmt: skip
    schema = {**{name: SCHEMA[name] for name in KEY}, "tolerance": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row").unique(KEY, keep="first", maintain_order=True)


def quantities(study: Study) -> list[str]:
    """What can be compared in the study's design, and with its fits."""
    of_tables = [name for _, _, its in _TABLES.get(study.design, ()) for name in its]
    of_fits = [name for engine, its in _FITTED.items() if _fit_named(study, engine) for name in its]
    return list(dict.fromkeys((*of_tables, *of_fits)))


def _number(text: str | None, name: str, study: Study) -> None:
    try:
        float(text or ("0" if name == "tolerance" else ""))
    except ValueError:
        raise StudyError(f'"{text or ""}" in the column "{name}" of {study.published} is no number.') from None


def _printed(study: Study) -> Iterator[Row]:
    for row in rows_of(study):
        key = (row["place"] or "print", row["model"], row["test"], None, row["condition"])
        yield *key, str(row["quantity"]), str(row["printed"])


def _needs(results: Results) -> Needs:
    wanted = {row["quantity"] for row in rows_of(results.study)}
    named = [table for table, _, its in _TABLES.get(results.study.design, ()) if wanted & its.keys()]
    fits = [
        fit for engine, its in _FITTED.items() if wanted & its.keys() and (fit := _fit_named(results.study, engine))
    ]
    return list(dict.fromkeys(named)), [Asked(fit) for fit in fits]


def _fit_named(study: Study, engine: str) -> str | None:
    """The study's first fit of this engine that has a cell for each model and test."""
    fits = study.fits.values()
    return next((fit.name for fit in fits if fit.engine == engine and set(fit.by) == {"model", "test"}), None)


def _recomputed(results: Results) -> pl.DataFrame:
    """Every quantity of the study's tables and fits, once for each place that prints it."""
    found = [*_of_tables(results), *_of_fits(results)]
    every = pl.concat(found) if found else no_numbers().drop("table", "refusals_removed")
    places = pl.DataFrame(
        [(row["place"] or "print", row["quantity"]) for row in rows_of(results.study)],
        schema={"table": pl.String, "quantity": pl.String}, orient="row",
    ).unique(maintain_order=True)  # fmt: skip
    rows = every.join(places, on="quantity", how="inner", maintain_order="left")
    return pl.concat([no_numbers(), rows.with_columns(refusals_removed=pl.lit(None, pl.Boolean)).select(VALUE)])


def _of_tables(results: Results) -> Iterator[pl.DataFrame]:
    for table, names, its in _TABLES.get(results.study.design, ()):
        yield _long(results.table(table), names, its)


def _of_fits(results: Results) -> Iterator[pl.DataFrame]:
    for engine, its in _FITTED.items():
        if name := _fit_named(results.study, engine):
            rows = results.fitted(name).table.filter(pl.col("term") != "intercept")
            yield _long(rows, {"condition": ""}, its)


def _long(rows: pl.DataFrame, names: Mapping[str, str], its: Mapping[str, str]) -> pl.DataFrame:
    """One row a quantity; what the table calls otherwise, by our names. A condition "" is none."""
    here: dict[str, Any] = {
        name: pl.col(names.get(name, name)) for name in ("test", "condition") if names.get(name) != ""
    }
    empty = {name: pl.lit(None, pl.String) for name in ("test", "condition") if name not in here}
    there = {quantity: column for quantity, column in its.items() if column in rows.columns}
    wide = rows.select(*GRAIN, "model", **here, **empty, missing=pl.lit(None, pl.String),
                       **{quantity: pl.col(column).cast(pl.Float64) for quantity, column in there.items()})  # fmt: skip
    index = [*GRAIN, "model", "test", "condition", "missing"]
    long = wide.unpivot(list(there), index=index, variable_name="quantity", value_name="recomputed")
    return long.drop_nulls("recomputed").select(
        *GRAIN, "model", "test", "condition", "quantity", "recomputed", "missing"
    )


OWN_PRINT = Family("own_print", _printed, _recomputed, _needs)
