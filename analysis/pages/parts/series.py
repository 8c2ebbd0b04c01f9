"""Show in a report what has moved over occasions, and what a model and its successor of the same name differ in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from slant.analysis.pages.parts.records import CaptionedTable, Group, SectionData
from slant.analysis.plots.registry import FigureRows
from slant.analysis.questions.occasions import IS_LATEST, moved_sentence
from slant.analysis.questions.successor import summary_sentence
from slant.analysis.rows.cells import GRAIN

WATCHED, SUCCESSORS = "watched", "successors"
"""Name the rows of `analyze watch` and `analyze successor` among a report's tables."""
_FUNCTIONS = {WATCHED: "plot_watch", SUCCESSORS: "plot_successor"}


def occasions_and_successors(section: SectionData) -> Group | None:
    """Show the last look at each series, and each difference of two models; nothing without either."""
    watched, compared = section.own(WATCHED), section.own(SUCCESSORS)
    said, tables = [], []
    if watched.height:
        last = watched.filter(IS_LATEST)
        said.append(moved_sentence(last))
        caption = "Shifts since the first occasion, at the last look"
        tables.append(CaptionedTable.of(caption, last, _WATCHED, is_open=True))
    for (old, new), rows in compared.group_by("old_model", "new_model", maintain_order=True) if compared.height else ():
        said.append(f"{new} as successor of {old}: {summary_sentence(rows)}")
        tables.append(CaptionedTable.of(f"{new} as successor of {old}, on the same prompts", rows, _COMPARED))
    return Group("series", "occasions and successors", tuple(said), tuple(tables)) if tables else None


def series_figures(tables: Mapping[str, pl.DataFrame]) -> Iterator[FigureRows]:
    """Yield a figure of each for each source, version and variant."""
    for name, function in _FUNCTIONS.items():
        for values, rows in tables[name].group_by(GRAIN, maintain_order=True) if name in tables else ():
            yield FigureRows(dict(zip(GRAIN, map(str, values), strict=True)), name, rows, function=function)


_WATCHED = """
model | test | measure:words | term | occasion | first = first_value:3s | now = value:3s | shift:3s
95 %, valid at every look = {conf_low:3s} to {conf_high:3s} | since occasion = since | alarm = is_alarm:yes
"""
_COMPARED = """
test | measure:words | term | old:3s | new:3s | difference:3s | 95 % = {conf_low:3s} to {conf_high:3s} | bound
verdict (Holm) = verdict_holm
"""
