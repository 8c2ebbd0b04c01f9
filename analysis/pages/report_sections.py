"""Show one source, version and variant of a study in a report: figures, the paper's tables, topics, estimates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from slant.analysis.calls.executors import Workers
from slant.analysis.fitting.engines import ENGINES
from slant.analysis.fitting.fits import FitResult, term_tests
from slant.analysis.pages.answers import report_answers
from slant.analysis.pages.answers_without_fits import counted_answers, kept_answers
from slant.analysis.pages.parts.printed_tables import COMPARED
from slant.analysis.pages.parts.records import SectionData
from slant.analysis.pages.parts.registry import groups
from slant.analysis.pages.report_tables import (
    fit_table,
    place_of_table,
    side_by_side,
    table_by_model,
    term_words,
    text_table,
    token_measures,
)
from slant.analysis.paper.comparison import summary
from slant.analysis.paper.numbers import PRINT
from slant.analysis.plots.drawing import PAGE_DPI, Figure, draw, embedded
from slant.analysis.plots.registry import FigureRows
from slant.analysis.rows.cells import GRAIN
from slant.analysis.rows.descriptive_tables import table_info
from slant.collector.studies.catalogue import BASE, Study, fits_of
from slant.collector.study.crossed_fits import CROSSED

TITLES = {PRINT: "The print, checked without raw data"}


@dataclass
class ReportData:
    """Hold all that the sections are cut from; what could not be made (without R, for example) is empty."""

    study: Study
    tables: Mapping[str, pl.DataFrame]
    labels: Mapping[str, str]
    comparison: pl.DataFrame | None = None
    fits: dict[str, FitResult] = field(default_factory=dict)
    figures: Iterable[FigureRows] = ()
    workers: Workers = None


def sections(data: ReportData) -> list[dict[str, Any]]:
    """Return a section for each source, version and variant: the unchanged study first. If a design compares variants,
    they share a section."""
    grains = data.tables["outcome_counts"].select(GRAIN).unique(maintain_order=True)
    ordered = grains.sort("source", "study_version", pl.col("variant") != BASE, "variant", maintain_order=True)
    if _compares_variants(data):
        ordered = ordered.drop("variant").unique(maintain_order=True)
        ordered = pl.concat([ordered, _print_grain(data).select(ordered.columns)])
    figures = list(data.figures)
    images = draw([(figure.function, figure.rows) for figure in figures], data.workers, dpi=PAGE_DPI)
    drawn_figures = list(zip(figures, images, strict=True))
    return [_section(data, grain, drawn_figures) for grain in ordered.to_dicts()]


def _section(
    data: ReportData, grain: dict[str, str], drawn_figures: list[tuple[FigureRows, Figure | str]]
) -> dict[str, Any]:
    rows = None if data.comparison is None or _compares_variants(data) else data.comparison.filter(**grain)
    measures = token_measures(data.tables["token_sources"].filter(**grain), data.labels)
    printed = None if rows is None else rows.drop_nulls("printed")
    of_grain = SectionData(data.study, _with_comparison(data), data.labels, grain)
    return {
        "variant": "",
        **grain,
        "answers": _answers(data, of_grain),
        "figures": [embedded(figure) for figure_rows, figure in drawn_figures if figure_rows.grain == grain],
        "summary": _summary(printed) if printed is not None and printed.height else None,
        "tables": [] if rows is None else list(side_by_side(rows, data.labels, measures)),
        "slips": [] if rows is None else rows.filter(pl.col("status") == "slip").to_dicts(),
        "estimates": [] if rows is not None else _estimates(data, grain),
        "groups": groups(of_grain),
        "title": TITLES.get(grain["source"], f"{grain['source'].capitalize()} data"),
    }


def _answers(data: ReportData, section: SectionData) -> list[str]:
    """Answer by the study's first fit: one that the report made, or one that takes minutes and was kept; if there is
    none of either, say what was counted."""
    fitted = report_answers(data.study, data.fits, section.grain)
    kept = kept_answers(section)
    is_slow = next(iter(data.study.fits), None) not in data.fits
    return (kept or fitted if is_slow else fitted or kept) or counted_answers(section)


def _compares_variants(data: ReportData) -> bool:
    return data.study.design.analyses.compares_variants


def _print_grain(data: ReportData) -> pl.DataFrame:
    """Return the grain of what only the print decides; none if nothing was compared."""
    comparison = pl.DataFrame(schema=dict.fromkeys(GRAIN, pl.String)) if data.comparison is None else data.comparison
    return comparison.filter(pl.col("source") == PRINT).select("source", "study_version").unique()


def _with_comparison(data: ReportData) -> Mapping[str, pl.DataFrame]:
    """Return the tables, with the print for variants: a group of tables shows it then."""
    return data.tables if data.comparison is None else {**data.tables, COMPARED: data.comparison}


def _summary(printed: pl.DataFrame) -> dict[str, Any]:
    """Return a row per table in the paper's order, without the statuses that no number has."""
    counts = summary(printed).drop(GRAIN)
    order = pl.col("table").map_elements(place_of_table, return_dtype=pl.Int64)
    used = [name for name in counts.columns if name == "table" or counts[name].sum() > 0]
    return text_table(counts.sort(order, maintain_order=True).select(used))


def more_tables(data: ReportData, names: Sequence[str]) -> list[tuple[str, dict[str, Any]]]:
    """Show independent tables. What is the same in all data is shown elsewhere, and left out here."""
    first = data.tables["outcome_counts"]
    constant = {"study", *(name for name in GRAIN if first[name].n_unique() == 1)}
    infos = table_info()
    captioned = []
    for name in (name for name in infos if name in names and name in data.tables):
        table = data.tables[name]
        columns = [
            column for column in table.columns if column not in constant and table[column].null_count() < table.height
        ]
        if table.height:
            title = infos[name].title(is_printed=bool(data.study.published))
            captioned.append((title, text_table(table.select(columns))))
    return captioned


def _estimates(data: ReportData, grain: dict[str, str]) -> list[tuple[str, dict[str, Any]]]:
    """Show what a study's own fits found, if it has no printed tables."""
    captioned, fits = [], data.fits
    levels = data.study.design.analyses.factor_levels(data.study)
    own = {name: result for name, result in fits.items() if result.engine != CROSSED}
    engines = {name: fit.engine for name, fit in fits_of(data.study).items()}
    for name, result in own.items():
        estimates = _over_words(result.table, fits).filter(**grain).drop(*GRAIN, "study", "fit", "measure")
        used = [column for column in estimates.columns if estimates[column].null_count() < estimates.height]
        if engines[name] in _OWN_TABLES:
            captioned += _own_table(name, engines[name], result, grain)
        elif estimates.height:
            own_levels = {**levels, **(data.study.fits[name].levels if name in data.study.fits else {})}
            has_formula = "formula" in ENGINES[engines[name]].needs
            words = {term: term_words(term, own_levels) for term in estimates["term"].unique() if has_formula}
            worded = estimates.select(used).with_columns(pl.col("term").replace(words))
            if (by_model := table_by_model(worded)) is not None:
                captioned.append((f"{name}: estimates by model, above their 95 % intervals", by_model))
            captioned.append((f"{name}: estimates with 95 % intervals", fit_table(worded)))
        captioned += _tests_of_terms(name, result, grain)
    return captioned


_OWN_TABLES = {
    "impact_ratio": (
        "ratios",
        "rates divided by the reference level's; flagged only if the entire interval lies below four fifths (.8)",
    ),
    "reliability": ("scales", "how consistent the items of each scale are, over respondents"),
}
"""Engines whose own table says more than their estimates."""


def _own_table(name: str, engine: str, result: FitResult, grain: dict[str, str]) -> list[tuple[str, dict[str, Any]]]:
    table, caption = _OWN_TABLES[engine]
    rows = result.tables[engine][table].filter(**grain)
    rows = rows.drop(*GRAIN, "study", "fit", "measure", "refusals_removed", "term", strict=False)
    used = [column for column in rows.columns if rows[column].null_count() < rows.height]
    return [(f"{name.replace('_', ' ')}: {caption}", fit_table(rows.select(used)))] if rows.height else []


def _tests_of_terms(name: str, result: FitResult, grain: dict[str, str]) -> list[tuple[str, dict[str, Any]]]:
    """Show for regressions without random effects whether the outcome differs between any groups, before any two."""
    captioned = []
    for tests in term_tests(result):
        rows = tests.filter(**grain).drop(*GRAIN, "study", "fit", "measure", "null_log_lik", strict=False)
        used = [column for column in rows.columns if rows[column].null_count() < rows.height]
        if rows.height:
            captioned.append(
                (f"{name}: tests of the entire model (all) and of its terms", fit_table(rows.select(used)))
            )
    return captioned


def _over_words(table: pl.DataFrame, fits: Mapping[str, FitResult]) -> pl.DataFrame:
    """Show for condition effects whether they hold for other words and wordings, and smallest detectable effects."""
    if CROSSED not in fits:
        return table
    cell = [*GRAIN, "study", "model", "test", "refusals_removed", "term"]
    effects = fits[CROSSED].tables[CROSSED]["effects"].select(*cell, "std_error_ratio", "mde", "mde_d", "verdict")
    return table.join(effects, on=cell, how="left", nulls_equal=True, maintain_order="left")
