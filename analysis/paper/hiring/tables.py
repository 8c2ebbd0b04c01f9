"""Tables 1 to 3 (SI, BGD and GASI of cells: a model in one format of answers) and the same in the text."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from slant.analysis.paper.family import VALUE, Needs, Row, long, no_numbers
from slant.analysis.paper.hiring import names, published
from slant.analysis.paper.hiring.cells import CELL, INDICES, NEEDS, cells, named
from slant.analysis.paper.results import Results
from slant.collector.studies.catalogue import Study

TABLES = {
    "Table 1": ("main", ("gasi",)),
    "Table 2": ("prior_associations", ("si",)),
    "Table 3": ("real_groups", INDICES),
}
"""By the paper's table: the variant that it is about, and its indices."""
_INTERVALS = "game_index_intervals"
_ENDS = ("conf_low", "conf_high")
_NO_INTERVAL = "No interval is kept here for the games as they are now. It is made by: analyze indices --study {}"


def printed(study: Study) -> Iterator[Row]:
    return (row for row in published.printed(study) if row[0] in TABLES)


def needs(_: Results) -> Needs:
    return NEEDS, []


def recomputed(results: Results) -> pl.DataFrame:
    """Of every model and participant, in whatever format of answers."""
    found = cells(results).rename({"shortfall": "missing"})
    parts = [
        long(found.filter(test=variant).with_columns(table=pl.lit(table)), list(indices))
        for table, (variant, indices) in TABLES.items()
    ]
    return pl.concat(parts)


def printed_text(study: Study) -> Iterator[Row]:
    """Those of the text that are of one cell; others are in text.py."""
    several = {names.FRONTIER, names.NON_REASONING, *names.SEVERAL}
    return (row for row in published.printed(study) if row[0] == published.TEXT and row[1] not in several and _is(row))


def needs_text(_: Results) -> Needs:
    return [*NEEDS, _INTERVALS], []


def text(results: Results) -> pl.DataFrame:
    """SI, BGD, GASI of each cell, and the ends of their t intervals where `analyze indices` has made them. People and
    random choices have no format of answers in print; participants that are no models have one here."""
    found = cells(results).rename({"shortfall": "missing"}).with_columns(table=pl.lit(published.TEXT))
    whole = pl.concat([long(found, list(INDICES)), *_intervals(found, results)])
    is_model = ~pl.col("model").is_in([one.model for one in results.study.models if one.provider == "simulated"])
    usual = whole.filter(is_model | (pl.col("condition") == results.study.frame))
    return usual.with_columns(condition=pl.when(is_model).then("condition"))


def _is(row: Row) -> bool:
    return row[-2].removesuffix("_conf_low").removesuffix("_conf_high") in INDICES


def _intervals(found: pl.DataFrame, results: Results) -> Iterator[pl.DataFrame]:
    """Where a cell has an index, but no interval of today's games, a row without a number that says what makes one."""
    kept = named(results.table(_INTERVALS).filter("is_current").drop("answer_format"), results)
    of_cells = found.select(*CELL, "table", "missing", *INDICES).unpivot(
        list(INDICES), index=[*CELL, "table", "missing"], variable_name="index", value_name="value"
    )
    both = of_cells.drop_nulls("value").join(
        kept.select(*CELL, "index", *_ENDS), on=[*CELL, "index"], how="left", maintain_order="left"
    )
    none = _NO_INTERVAL.format(results.study.name)
    for end in _ENDS:
        rows = both.select(
            *CELL, "table", refusals_removed=pl.lit(None, pl.Boolean), quantity=pl.format("{}_" + end, "index"),
            recomputed=pl.col(end).cast(pl.Float64),
            missing=pl.when(pl.col(end).is_null()).then(pl.lit(none)).otherwise("missing"),
        )  # fmt: skip
        yield pl.concat([no_numbers(), rows.select(VALUE)])
