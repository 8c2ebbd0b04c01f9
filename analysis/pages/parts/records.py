"""Define a group of tables in a report, and what it is made from."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from slant.analysis.pages.report_tables import text_table
from slant.analysis.paper.numbers import PRINT
from slant.analysis.rows.cells import GRAIN
from slant.analysis.rows.views import table_info
from slant.collector.studies.catalogue import Study

_HIDDEN = {
    *GRAIN, "study", "call_id", "search_id", "model_label", "model_no", "test_label", "test_no", "versions",
    "data_hash", "seconds",
}  # fmt: skip


@dataclass(frozen=True)
class CaptionedTable:
    """Hold one table under its caption; folded, unless `is_open`."""

    caption: str
    table: dict[str, Any]
    is_open: bool = False

    @classmethod
    def of(cls, caption: str, rows: pl.DataFrame, columns: str = "", *, is_open: bool = False) -> CaptionedTable:
        """Return the table of these rows; `columns` as `declared_columns` takes them (empty: all as they are)."""
        return cls(caption, text_table(declared_columns(rows, columns) if columns else rows), is_open)


@dataclass(frozen=True)
class MissingResult:
    """Hold what does not exist yet, and what to type for it."""

    name: str
    command: str


@dataclass(frozen=True)
class Group:
    """Hold a group: `anchor` is unique within a section; `texts` are paragraphs, `quotes` are shown word for word."""

    anchor: str
    title: str
    texts: tuple[str, ...] = ()
    tables: tuple[CaptionedTable, ...] = ()
    to_make: tuple[MissingResult, ...] = ()
    quotes: tuple[str, ...] = ()


@dataclass(frozen=True)
class SectionData:
    """Hold what the groups of one source, version and variant are made from (of all variants, if `grain` has none).
    `tables` hold all grains; `labels` give the names to show for ids.
    """

    study: Study
    tables: Mapping[str, pl.DataFrame]
    labels: Mapping[str, str]
    grain: Mapping[str, str]

    def own(self, name: str) -> pl.DataFrame:
        """Return the rows of this grain in a table; an empty frame if there is no such table."""
        return self.tables[name].filter(**self.grain) if name in self.tables else pl.DataFrame()

    def captioned(self, name: str) -> CaptionedTable | None:
        """Return a table without empty or repeated parts; None if it has no rows."""
        rows = self.own(name)
        if rows.is_empty():
            return None
        several = [column for column in ("fit", "call_id") if column in rows.columns and rows[column].n_unique() > 1]
        empty = [column for column in rows.columns if rows[column].null_count() == rows.height]
        side_by_side = {"variant"} - set(self.grain)  # if variants are compared, the column distinguishes them
        hidden = ({*_HIDDEN, "fit"} - set(several) - side_by_side) | set(empty)
        visible = rows.drop(column for column in rows.columns if column in hidden)
        title = table_info()[name].title(is_printed=bool(self.study.published))
        return CaptionedTable.of(title, visible)

    def captioned_tables(self, *names: str) -> tuple[CaptionedTable, ...]:
        """Return the tables that have rows, each as `captioned`."""
        return tuple(table for name in names if (table := self.captioned(name)))


GroupFunction = Callable[[SectionData], Group | None]


def declared_columns(rows: pl.DataFrame, columns: str) -> pl.DataFrame:
    """Return columns as readers see them, each declared as "head = column:form" with "|" or a new line between them.

    Without a head a column keeps its name; "{low:.1} to {high:.1}" is a text of several. Forms: .2 rounds, .2f writes
    always as many decimals (nothing for null), 3s rounds to significant digits, %1 makes a percentage, `words` has
    spaces for underscores, `yes` says yes or no (nothing for null), `not` is the opposite.
    """
    return rows.select(_declared(column.strip()) for column in re.split(r"[|\n]", columns) if column.strip())


def _declared(text: str) -> pl.Expr:
    head, _, source = text.partition(" = ")
    first, *others = re.split(r"\{(.*?)\}", source or head)
    if not others:
        return _formed(first).alias(head if source else first.partition(":")[0])
    template = "".join([first, *(f"{{}}{literal}" for literal in others[1::2])])
    return pl.format(template, *map(_formed, others[::2])).alias(head)


def _formed(text: str) -> pl.Expr:
    name, _, form = text.partition(":")
    column, digits = pl.col(name), int(re.sub(r"\D", "", form) or 0)
    if form in _FORMS:
        return _FORMS[form](column)
    if form.endswith("f"):
        return column.map_elements(lambda value: f"{value:,.{digits}f}", return_dtype=pl.String).fill_null("")
    if form.endswith("s"):
        return column.round_sig_figs(digits)
    return (100 * column if form.startswith("%") else column).round(digits)


_FORMS: dict[str, Callable[[pl.Expr], pl.Expr]] = {
    "": lambda column: column,
    "words": lambda column: column.str.replace_all("_", " "),
    "yes": lambda column: column.replace_strict({True: "yes", False: "no"}, default="", return_dtype=pl.String),
    "not": lambda column: ~column,
}


_HERE = pl.col("recomputed").alias("here")
COMPARED = "compared"
"""Name the rows of `analyze compare` in a material."""
_OF_PRINT = (
    "These need no answers: numbers of the paper are compared with its other numbers, and the design "
    "that it states with the study as it runs here."
)
_OF_ANSWERS = (
    "Every printed number is listed by: analyze compare --study {study}. A number without answers of "
    "its model can't be compared: no raw data, not comparable."
)


def print_comparison(section: SectionData) -> Group | None:
    rows = section.own(COMPARED)
    if rows.is_empty() or not section.study.design.analyses.compares_variants:
        return None
    recomputed = rows.filter(pl.col("recomputed").is_not_null())
    counts = rows.with_columns(n=pl.lit(1)).pivot(
        "status", index="table", values="n", aggregate_function="sum", maintain_order=True
    )
    tables = [CaptionedTable.of("Printed numbers by status", counts.fill_null(0), is_open=True)]
    if recomputed.height:
        here = recomputed.select(*_key(section), "printed", _HERE, "status", pl.col("note").fill_null(""))
        tables.append(CaptionedTable.of("Printed numbers that have a counterpart", here))
    slips = rows.filter(pl.col("status") == "slip")
    if slips.height:
        why = slips.select(*_key(section), "printed", _HERE, pl.col("slip").alias("why"))
        tables.append(CaptionedTable.of(f"Known slips of print ({slips.height})", why, is_open=True))
    text = _OF_PRINT if section.grain["source"] == PRINT else _OF_ANSWERS.format(study=section.study.name)
    return Group("print", "next to the print", (text,), tuple(tables))


def _key(section: SectionData) -> list[pl.Expr]:
    """Show `variant` and `format of answers` for `test` and `condition` of games. Most models of a paper were not
    asked."""
    labels = {**{model.model: model.label for model in section.study.models}, **section.labels}
    return [
        pl.col("table"),
        pl.col("model").replace(labels).fill_null(""),
        pl.col("test").alias("variant").fill_null(""),
        pl.col("condition").alias("format").fill_null(""),
        pl.col("quantity").str.replace_all("_", " "),
    ]
