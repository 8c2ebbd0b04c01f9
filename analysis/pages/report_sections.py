"""Show one source, version and variant of a study in a report: figures, the paper's tables, topics, estimates.

Where no quick fit of the study compares its levels, kept results answer its question in one to three sentences.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from slant.analysis.calls.executors import Workers
from slant.analysis.fitting.engines import ENGINES
from slant.analysis.fitting.fits import FitResult, term_tests
from slant.analysis.pages import report_tables
from slant.analysis.pages.answers import THRESHOLD, reference_levels, report_answers
from slant.analysis.pages.comparison_words import Cell, sentences
from slant.analysis.pages.parts.games import INDEX_NAMES
from slant.analysis.pages.parts.records import COMPARED, SectionData
from slant.analysis.pages.parts.registry import groups
from slant.analysis.pages.report_tables import filled_columns, fit_table, term_words, text_table
from slant.analysis.paper.comparison import summary
from slant.analysis.paper.numbers import PRINT
from slant.analysis.plots.drawing import PAGE_DPI, Figure, draw, embedded
from slant.analysis.plots.registry import FigureRows
from slant.analysis.rows.cells import GRAIN
from slant.analysis.rows.views import table_info
from slant.collector.sources import PEOPLE, sources_that
from slant.collector.studies.catalogue import BASE, Study, fits_of
from slant.collector.study.crossed_fits import CROSSED
from slant.collector.terminal import count_text

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
    # Sections of models come first: their figures show people, too.
    is_of_people = ~pl.col("source").is_in(sources_that("is_of_models"))
    ordered = grains.sort(
        is_of_people, "source", "study_version", pl.col("variant") != BASE, "variant", maintain_order=True
    )
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
    measures = report_tables.token_measures(data.tables["token_sources"].filter(**grain), data.labels)
    printed = None if rows is None else rows.drop_nulls("printed")
    # a group of tables of a variant shows the print
    tables = data.tables if data.comparison is None else {**data.tables, COMPARED: data.comparison}
    of_grain = SectionData(data.study, tables, data.labels, grain)
    return {
        "variant": "",
        **grain,
        "answers": _answers(data, of_grain),
        "figures": [embedded(figure) for figure_rows, figure in drawn_figures if figure_rows.grain == grain],
        "summary": _summary(printed) if printed is not None and printed.height else None,
        "tables": [] if rows is None else list(report_tables.side_by_side(rows, data.labels, measures)),
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


def _summary(printed: pl.DataFrame) -> dict[str, Any]:
    """Return a row per table in the paper's order, without the statuses that no number has."""
    counts = summary(printed).drop(GRAIN)
    order = pl.col("table").map_elements(report_tables.place_of_table, return_dtype=pl.Int64)
    used = [name for name in counts.columns if name == "table" or counts[name].sum() > 0]
    return text_table(counts.sort(order, maintain_order=True).select(used))


def more_tables(data: ReportData, names: Sequence[str]) -> list[tuple[str, dict[str, Any]]]:
    """Show independent tables. What is the same in all data is shown elsewhere, and left out here."""
    first = data.tables["outcome_counts"]
    constant = {"study", *(name for name in GRAIN if first[name].n_unique() == 1)}
    infos = table_info()
    captioned = []
    for name in (name for name in infos if name in names and name in data.tables):
        if (table := data.tables[name]).height:
            title = infos[name].title(is_printed=bool(data.study.published))
            captioned.append((title, text_table(filled_columns(table.drop(constant, strict=False)))))
    return captioned


def _estimates(data: ReportData, grain: dict[str, str]) -> list[tuple[str, dict[str, Any]]]:
    """Show what a study's own fits found, if it has no printed tables."""
    captioned, fits = [], data.fits
    levels = data.study.design.analyses.factor_levels(data.study)
    own = {name: result for name, result in fits.items() if result.engine != CROSSED}
    engines = {name: fit.engine for name, fit in fits_of(data.study).items()}
    for name, result in own.items():
        estimates = _over_words(result.table, fits).filter(**grain).drop(*GRAIN, "study", "fit", "measure")
        if engines[name] in _OWN_TABLES:
            captioned += _own_table(name, engines[name], result, grain)
        elif estimates.height:
            own_levels = {**levels, **(data.study.fits[name].levels if name in data.study.fits else {})}
            has_formula = "formula" in ENGINES[engines[name]].needs
            words = {term: term_words(term, own_levels) for term in estimates["term"].unique() if has_formula}
            worded = filled_columns(estimates).with_columns(pl.col("term").replace(words))
            if (by_model := report_tables.table_by_model(worded)) is not None:
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
    return [(f"{name.replace('_', ' ')}: {caption}", fit_table(filled_columns(rows)))] if rows.height else []


def _tests_of_terms(name: str, result: FitResult, grain: dict[str, str]) -> list[tuple[str, dict[str, Any]]]:
    """Show for regressions without random effects whether the outcome differs between any groups, before any two."""
    captioned = []
    for tests in term_tests(result):
        rows = tests.filter(**grain).drop(*GRAIN, "study", "fit", "measure", "null_log_lik", strict=False)
        if rows.height:
            caption = f"{name}: tests of the entire model (all) and of its terms"
            captioned.append((caption, fit_table(filled_columns(rows))))
    return captioned


def _over_words(table: pl.DataFrame, fits: Mapping[str, FitResult]) -> pl.DataFrame:
    """Show for condition effects whether they hold for other words and wordings, and smallest detectable effects."""
    if CROSSED not in fits:
        return table
    cell = [*GRAIN, "study", "model", "test", "refusals_removed", "term"]
    effects = fits[CROSSED].tables[CROSSED]["effects"].select(*cell, "std_error_ratio", "mde", "mde_d", "verdict")
    return table.join(effects, on=cell, how="left", nulls_equal=True, maintain_order="left")


_NUMBERS = ("estimate", "conf_low", "conf_high", "p")


def kept_answers(section: SectionData) -> list[str]:
    """Return the comparisons in stored tables of longer commands; nothing if none has run."""
    for cells in (_game_differences, _games_beside_chance, _contrasts, _first_terms):
        if found := list(cells(section)):
            return sentences(found)
    return []


def counted_answers(section: SectionData) -> list[str]:
    """Return observed differences, without a test and so without a conclusion."""
    for said in (_mean_indices, _observed_differences, _corrected_codes, _answer_counts):
        if sentence := said(section):
            return [sentence]
    return []


def _cells(rows: pl.DataFrame, unit: str, factor: float = 1, at: str = "") -> Iterator[Cell]:
    """Make a cell of each row, which has `model`, `test`, `what` and _NUMBERS; without p its interval decides."""
    for row in rows.with_columns(pl.col("estimate", "conf_low", "conf_high") * factor).to_dicts():
        numbers = {name: row[name] for name in _NUMBERS}
        yield Cell(row["model"], row["test"], row["what"], unit, [numbers], has_p=row["p"] is not None, at=at)


def _last_fit(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.filter(call_id=rows["call_id"][-1]) if rows.height else rows


def _game_differences(section: SectionData) -> Iterator[Cell]:
    rows = section.own("game_comparisons")
    if rows.is_empty():
        return
    index = rows["index"][0]
    numbers = {"estimate": "difference", "conf_low": "boot_low", "conf_high": "boot_high", "p": "p_adjusted"}
    model = pl.coalesce(pl.col("model").replace(dict(section.labels)), pl.lit("all models"))
    what = pl.format("{} than {}", "condition", "reference")
    compared = rows.filter(pl.col("index") == index, pl.col("between") == rows["between"][0])
    yield from _cells(compared.select(model=model, test=None, what=what, **numbers), _index_name(index))


def _games_beside_chance(section: SectionData) -> Iterator[Cell]:
    rows = section.own("game_index_intervals")
    if "random_level" not in rows.columns or (rows := rows.drop_nulls("random_level")).is_empty():
        return
    index = rows["index"][0]
    above = pl.col("estimate", "conf_low", "conf_high") - pl.col("random_level")
    model = pl.col("model").replace(dict(section.labels))
    compared = rows.filter(pl.col("index") == index).with_columns(above)
    compared = compared.select(model, test="variant", what=pl.lit("than chance alone"), **_intervals())
    yield from _cells(compared, _index_name(index))


def _intervals() -> dict[str, pl.Expr]:
    return {name: pl.col(name) for name in _NUMBERS[:3]} | {"p": pl.lit(None, pl.Float64)}


def _index_name(index: str) -> str:
    return INDEX_NAMES.get(index, index.replace("_", " "))


def _contrasts(section: SectionData) -> Iterator[Cell]:
    rows, observed = section.own("condition_contrasts"), section.own("observed_delta_p")
    if rows.is_empty() or observed.is_empty():
        return
    sides = f"{observed['reference'][0]} than {observed['condition'][0]}"
    numbers = {"estimate": "delta_p", "conf_low": "delta_p_conf_low", "conf_high": "delta_p_conf_high"}
    compared = (
        _last_fit(rows)
        .filter(kind=rows["kind"][0])
        .select(model="model_label", test="test_label", what=pl.lit(sides), p=pl.lit(None, pl.Float64), **numbers)
    )
    yield from _cells(compared, "percentage points", 100)


def _first_terms(section: SectionData) -> Iterator[Cell]:
    rows = section.own("bayes_estimates")
    if rows.is_empty():
        return
    name = next((name for name in section.study.fits if name in set(rows["fit"])), rows["fit"][0])
    rows = _last_fit(rows.filter(fit=name))
    rows = rows.filter(~pl.col("term").str.contains(rf"(?i)^(b_)?intercept|^sd_|^cor_|^sigma$|^lprior|{THRESHOLD}"))
    if rows.is_empty():
        return
    definition = fits_of(section.study)[name]
    levels = {**section.study.design.analyses.factor_levels(section.study), **definition.levels}
    term, *_ = terms = [name.removeprefix("b_") for name in rows["term"].unique(maintain_order=True)]
    is_of_odds = definition.settings.get("family", "bernoulli") in ("bernoulli", "binomial", "cumulative")
    first = rows.unique(("model", "test"), keep="first", maintain_order=True)
    compared = first.select("model", "test", what=pl.lit(term_words(term, levels)), **_intervals())
    at = reference_levels(terms, [term], levels, str(definition.formula))
    yield from _cells(compared, "log odds" if is_of_odds else "units of the link", at=at)


def _mean_indices(section: SectionData) -> str | None:
    rows = section.own("allocation_indices")
    if rows.is_empty() or (means := rows["si"].drop_nulls()).is_empty():
        return None
    low, high = (report_tables.rounded(float(value)) for value in (means.min(), means.max()))  # type: ignore[arg-type]
    size = low if low == high else f"{low} to {high}"
    return (
        f"SI, how strictly groups are kept to classes of jobs, is {size} bits on average in "
        f"{count_text(means.len(), 'cell')}; to compare it with chance: analyze indices "
        f"--study {section.study.as_typed}."
    )


def _observed_differences(section: SectionData) -> str | None:
    rows = section.own("observed_delta_p")
    rows = rows.drop_nulls("delta_p") if rows.height else rows
    if rows.is_empty():
        return None
    ends = [100 * float(value) for value in (rows["delta_p"].min(), rows["delta_p"].max())]  # type: ignore[arg-type]
    low, high = (report_tables.rounded(end, max(1, *map(abs, ends))) for end in ends)
    sides = f"{rows['reference'][0]} than in the {rows['condition'][0]}"
    return (
        f"Answers are {low if low == high else f'{low} to {high}'} percentage points more often consistent in the "
        f"{sides} condition, as observed in {count_text(rows.height, 'cell')}; intervals: analyze --fit brms "
        f"--study {section.study.as_typed}."
    )


def _corrected_codes(section: SectionData) -> str | None:
    rows = section.own("corrected_estimates")
    effects = rows.filter(~pl.col("term").str.contains("intercept"), fit="dsl") if rows.height else rows
    if effects.is_empty():
        return None
    excludes_0 = (pl.col("conf_low") > 0) | (pl.col("conf_high") < 0)
    n = dict(effects.group_by("method").agg(excludes_0.sum()).iter_rows())
    differences = count_text(effects.filter(method="corrected").height, "difference")
    found = f"{n['corrected']} {'has' if n['corrected'] == 1 else 'have'} an interval that excludes 0"
    return (
        f"Of {differences} between levels, corrected for the coder's errors, {found} "
        f"(with codes taken as truth: {n['coder']})."
    )


def _answer_counts(section: SectionData) -> str | None:
    rows = section.own("outcome_counts")
    if rows.is_empty():
        return None
    n, n_models = int(rows["n_trials"].sum()), rows.filter(pl.col("model") != PEOPLE)["model"].n_unique()
    if n_models == 0:
        return f"{count_text(n, 'answer')} of people."
    fit = next(iter(fits_of(section.study)), None)
    first = f"analyze --fit {fit} --study {section.study.as_typed}" if fit else "analyze tables"
    return f"{count_text(n, 'answer')} of {count_text(n_models, 'model')}; nothing is compared yet: {first}."
