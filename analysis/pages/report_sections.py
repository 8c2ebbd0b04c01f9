"""What a report says of one source, version and variant of a study: figures, the paper's tables, topics, estimates."""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from slant.analysis.fitting.fits import FitResult
from slant.analysis.pages.parts.printed_tables import COMPARED
from slant.analysis.pages.parts.records import Material
from slant.analysis.pages.parts.registry import groups
from slant.analysis.pages.report_tables import place_of_table, plain, side_by_side, token_measures
from slant.analysis.paper.compare import summary
from slant.analysis.paper.numbers import PRINT
from slant.analysis.plots.drawing import Figure, draw
from slant.analysis.plots.registry import FigureRows, is_of
from slant.analysis.rows.cells import GRAIN
from slant.analysis.rows.descriptive_tables import table_info
from slant.collector.designs import design_named
from slant.collector.studies.catalogue import BASE, Study

TITLES = {PRINT: "The print, checked without raw data"}


@dataclass
class Found:
    """All that the sections are cut from; what could not be had (without R, say) is empty."""

    study: Study
    tables: Mapping[str, pl.DataFrame]
    labels: Mapping[str, str]
    compared: pl.DataFrame | None = None
    fits: dict[str, FitResult] = field(default_factory=dict)
    figures: Iterable[FigureRows] = ()


def sections(found: Found) -> list[dict[str, Any]]:
    """One for each source, version and variant: the study as it stands first. Where a design compares variants, they
    are one section.
    """
    grains = found.tables["outcome_counts"].select(GRAIN).unique(maintain_order=True)
    ordered = grains.sort("source", "study_version", pl.col("variant") != BASE, "variant", maintain_order=True)
    if _compares_variants(found):
        ordered = ordered.drop("variant").unique(maintain_order=True)
        ordered = pl.concat([ordered, _of_print(found).select(ordered.columns)])
    figures = list(found.figures)
    drawn = list(zip(figures, draw([(one.function, one.rows) for one in figures]), strict=True))
    return [_section(found, grain, drawn) for grain in ordered.to_dicts()]


def _section(found: Found, grain: dict[str, str], drawn: list[tuple[FigureRows, Figure | str]]) -> dict[str, Any]:
    rows = None if found.compared is None or _compares_variants(found) else found.compared.filter(is_of(grain))
    measures = token_measures(found.tables["token_sources"].filter(is_of(grain)), found.labels)
    printed = None if rows is None else rows.drop_nulls("printed")
    return {
        "variant": "",
        **grain,
        "figures": [_embedded(figure) for one, figure in drawn if one.grain == grain],
        "summary": _summary(printed) if printed is not None and printed.height else None,
        "tables": [] if rows is None else list(side_by_side(rows, found.labels, measures)),
        "slips": [] if rows is None else rows.filter(pl.col("status") == "slip").to_dicts(),
        "estimates": [] if rows is not None else _estimates(found.fits, grain),
        "groups": groups(Material(found.study, _with_compared(found), found.labels, grain)),
        "title": TITLES.get(grain["source"], f"{grain['source'].capitalize()} data"),
    }


def _compares_variants(found: Found) -> bool:
    return design_named(found.study.design).compares_variants


def _of_print(found: Found) -> pl.DataFrame:
    """The grain of what the print alone decides; none where nothing was compared."""
    compared = pl.DataFrame(schema=dict.fromkeys(GRAIN, pl.String)) if found.compared is None else found.compared
    return compared.filter(pl.col("source") == PRINT).select("source", "study_version").unique()


def _with_compared(found: Found) -> Mapping[str, pl.DataFrame]:
    """The tables, and with them, where variants are compared, the print: a group of tables shows it then."""
    return found.tables if found.compared is None else {**found.tables, COMPARED: found.compared}


def _summary(printed: pl.DataFrame) -> dict[str, Any]:
    """One row a table in the paper's order; a status that no number has is left out."""
    counts = summary(printed).drop(GRAIN)
    order = pl.col("table").map_elements(place_of_table, return_dtype=pl.Int64)
    used = [name for name in counts.columns if name == "table" or counts[name].sum() > 0]
    return plain(counts.sort(order, maintain_order=True).select(used))


def more_tables(found: Found, names: Sequence[str]) -> list[tuple[str, dict[str, Any]]]:
    """Tables that stand for themselves. What is the same in all data is told elsewhere, and left out here."""
    first = found.tables["outcome_counts"]
    constant = {"study", *(name for name in GRAIN if first[name].n_unique() == 1)}
    infos = table_info()
    shown = []
    for name in (name for name in infos if name in names and name in found.tables):
        table = found.tables[name]
        kept = [one for one in table.columns if one not in constant and table[one].null_count() < table.height]
        if table.height:
            shown.append((infos[name].title, plain(table.select(kept))))
    return shown


def _estimates(fits: Mapping[str, FitResult], grain: dict[str, str]) -> list[tuple[str, dict[str, Any]]]:
    """For a study without printed tables: what its own fits found."""
    found = []
    for name, result in fits.items():
        own = result.table.filter(is_of(grain)).drop(*GRAIN, "study", "fit", "measure")
        used = [column for column in own.columns if own[column].null_count() < own.height]
        if own.height:
            found.append((f"{name}: estimates with 95 % intervals", plain(own.select(used))))
    return found


def _embedded(figure: Figure | str) -> dict[str, Any]:
    """An image in the page itself, with its size, so that nothing moves while it opens."""
    if isinstance(figure, str):
        return {"problem": figure}
    uri = "data:image/png;base64," + base64.b64encode(figure.image).decode()
    width, height = struct.unpack(">II", figure.image[16:24])
    return {"problem": "", "uri": uri, "alt_text": figure.alt_text, "width": width, "height": height}
