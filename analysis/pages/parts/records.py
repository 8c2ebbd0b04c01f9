"""Define a group of tables in a report, and what it is made from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from slant.analysis.pages.report_tables import text_table
from slant.analysis.rows.cells import GRAIN
from slant.analysis.rows.descriptive_tables import table_info
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
        return CaptionedTable(title, text_table(visible))

    def captioned_tables(self, *names: str) -> tuple[CaptionedTable, ...]:
        """Return the tables that have rows, each as `captioned`."""
        return tuple(table for name in names if (table := self.captioned(name)))


GroupFunction = Callable[[SectionData], Group | None]
