"""Write the HTML report: one self-contained page with what was recomputed, the print next to it, figures, topics, and
their sources. Whatever a model, a file or a user wrote is escaped, and the page may load nothing from anywhere.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
from markupsafe import Markup, escape

from slant.analysis.calls.call import answered
from slant.analysis.calls.executors import Workers
from slant.analysis.calls.results import results
from slant.analysis.fitting.engines import ENGINES
from slant.analysis.fitting.fits import FitResult, Progress, fit
from slant.analysis.fitting.frames import fits_to_show, stale_fit_warnings, tables_of_fits
from slant.analysis.fitting.result_versions import other_version_sentences, versions_of_results
from slant.analysis.pages import report_comparison
from slant.analysis.pages.check_page import PAGE_NAME, summary_of_checks
from slant.analysis.pages.parts.over_words import CROSSED_ROWS, POOLED_ROWS, SAME_WORDS
from slant.analysis.pages.parts.people import ALIKE
from slant.analysis.pages.parts.series import SUCCESSORS, WATCHED, series_figures
from slant.analysis.pages.provenance import describe_methods, described_runs, without_folders
from slant.analysis.pages.report_comparison import claim_texts, comparison_rows, is_quick
from slant.analysis.pages.report_formats import check_place, write_report
from slant.analysis.pages.report_sections import ReportData, more_tables, sections
from slant.analysis.pages.report_tables import table_label, text_table
from slant.analysis.plots.drawing import require_packages
from slant.analysis.plots.registry import figure_kinds, figure_rows
from slant.analysis.questions.alike import PARTS, alike, can_compare
from slant.analysis.questions.checks.check_calls import has_checks
from slant.analysis.questions.checks.check_table import checks_of_study
from slant.analysis.questions.checks.registration import finding, registered_study
from slant.analysis.questions.checks.sentences import Finding
from slant.analysis.questions.checks.study_checks import ALPHA, quick_checks, same_words_rows
from slant.analysis.questions.checks.trials import has_mixed_fit, mixed_fit, read_trials, refusals_call, with_signs
from slant.analysis.questions.checks.word_findings import crossed_rows
from slant.analysis.questions.meta import pooling
from slant.analysis.questions.occasions import occasion_warnings, occasions_of, retest_calls, watch
from slant.analysis.questions.successor import can_pair, successor, successors_in
from slant.analysis.questions.topics.topic_models import stale_model_warnings
from slant.analysis.rows.cells import GRAIN
from slant.analysis.rows.result_warnings import Doubt, grouped_doubts, mixture_warnings
from slant.analysis.rows.study_choice import study_in
from slant.analysis.rows.views import read_view, table_info, tables
from slant.collector.arguments import checked_arguments
from slant.collector.errors import DatabaseError, RError
from slant.collector.keep.database import opens_once, reading
from slant.collector.keep.frames import frame_of
from slant.collector.model_checks.findings import table_notes
from slant.collector.progress.status import lost_answer_notes
from slant.collector.provenance.methods import MadeFit, estimand_paragraph, is_citation
from slant.collector.records import Registration
from slant.collector.sources import facts_of, sources_that
from slant.collector.studies.catalogue import Study, fits_of
from slant.collector.study.crossed_fits import CROSSED
from slant.collector.system.shipped_files import page_style
from slant.collector.templates import template_environment

_MORE_TABLES = (
    "refusals_by_condition", "iat_mentions", "outcome_counts", "token_sources", "model_checks", "served_models",
    "served_model_changes", "mixed_cells", "mixed_batches", "costs",
)  # fmt: skip


@checked_arguments()
@opens_once
def report(
    db: str | Path,
    study: str | Study | None = None,
    out: str | Path = "report.html",
    workers: Workers = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
    registration: str | Path | Registration | None = None,
) -> Path:
    """Write the report on `study` (a name, or its TOML file) to `out`, which is replaced as a whole; return its path.
    By the ending of its name it is a page (.html), a Word document (.docx, by pandoc), a .pdf (by Chromium) or a Quarto
    document (.qmd).

    Fits and figures are made as needed; topics are shown if `analyze --fit stm` has kept some. If R is missing, what
    needs it is left out, and the report says so on top. A study without printed tables gets its fits' estimates.
    `workers` and `executor` are as for `fit()`, `registration` as for `check()`.

    Raise DatabaseError without trials, UsageError if `out` can't be written.
    """
    out = Path(out)
    check_place(out)
    study = study_in(db, study)
    retest_problems = _keep_retests(db, study, executor or workers)
    infos = [info for info in table_info().values() if info.is_about(study.design.name)]
    study_tables = tables(db, study=study.name, names=[info.name for info in infos])
    with reading(db) as connection:
        named = [read_view(connection, f"{name}s").select(name, "label") for name in ("model", "test")]
        runs = frame_of(connection.table("runs")).filter(pl.col("study") == study.name).sort("started_at", "run_id")
    labels = dict(row for rows in named for row in rows.iter_rows())
    warnings = [*table_notes(db, study.name), *mixture_warnings(db, study.name), *_data_warnings(study_tables)]
    bayes_fits = fits_to_show(db, study)
    data = ReportData(
        study, tables_of_fits(study_tables, bayes_fits), {**labels, **claim_texts(study)}, workers=executor or workers
    )
    computing_warnings = [*_compute(data, db, study, progress), *other_version_sentences(db, study.name)]
    doubts = grouped_doubts([bayes_fits, *(result.diagnostics for result in data.fits.values())])
    warnings = [
        *lost_answer_notes(Path(db), study.name),
        *retest_problems,
        *computing_warnings,
        *stale_model_warnings(db, study),
        *stale_fit_warnings(bayes_fits, study),
        *warnings,
        *(doubt.sentence for doubt in doubts if not doubt.is_note),
    ]
    methods_texts = describe_methods(db, runs["run_id"].to_list())
    mentions = study_tables.get("iat_mentions", pl.DataFrame())
    has_mentions = bool(mentions.height and mentions["n_mentions"].sum())
    page = _page(
        study=study.name,
        **_checks(data, db, out),
        title=study.title,
        citation=study.source,
        sources=[
            (source, facts_of(source).description)
            for source in study_tables["outcome_counts"]["source"].unique(maintain_order=True)
        ],
        warnings=warnings,
        notes=[doubt.sentence for doubt in doubts if doubt.is_note],
        cells_in_doubt=_cells_of([doubt for doubt in doubts if not doubt.is_note]),
        sections=sections(data),
        registered=_registered(db, study, registration, study_tables["outcome_counts"]),
        more=more_tables(data, tuple(name for name in _MORE_TABLES if name != "iat_mentions" or has_mentions)),
        methods=methods_texts,
        analysis=estimand_paragraph(study, made_fits(data.fits)),
        references=_unique(
            [
                study.source if is_citation(study.source) else None,
                *(reference for group in methods_texts for reference in group.references),
            ]
        ),
        runs=text_table(described_runs(runs)),
        versions=versions_of_results(*data.fits.values()) if data.fits else {},
    )
    return write_report(out, page)


def _keep_retests(db: str | Path, study: Study, workers: Workers) -> list[str]:
    """Compute what trials that were asked again say, if it is not kept; return warnings for the top."""
    if not (calls := retest_calls(db, study.name)):
        return []
    try:
        results(db, calls, workers=workers)
    except RError as error:
        return [str(error), *occasion_warnings(occasions_of(db, study.name))]
    return occasion_warnings(occasions_of(db, study.name))


def _compute(data: ReportData, db: str | Path, study: Study, progress: Progress | None) -> list[str]:
    """Put into `data` what fits and figures give; return the warnings for the top of the page."""
    has_print = study.published is not None
    fit_names = [
        name
        for name, definition in fits_of(study).items()
        if ENGINES[definition.engine].is_in_report and is_quick(definition)
    ]
    problems: list[str] = []
    without_rows: list[str] = []
    try:
        data.comparison = comparison_rows(db, study, data.workers, progress) if has_print else None
    except RError as error:
        problems.append(str(error))
        data.comparison = report_comparison.comparison_without_r(db, study)
    for name in fit_names:
        try:
            data.fits[name] = fit(db, study, name, workers=data.workers, progress=progress)
        except RError as error:
            problems.append(str(error))
        except DatabaseError:  # all its rows may be left out, as answers of another model are
            without_rows.append(f"Not fitted: {name}, because it has no rows left.")
    if data.comparison is not None and CROSSED in data.fits:
        data.comparison = report_comparison.with_words(data.comparison, data.fits[CROSSED].tables[CROSSED]["effects"])
    if CROSSED in data.fits:
        problems += _add_over_words(data, db, study)
    problems += _add_people(data, db, study)
    problems += _add_series(data, db, study)
    try:
        require_packages(("ggplot2",), data.workers)
        figure_names = [name for name, kind in figure_kinds(study).items() if kind.is_of_data]
        own = figure_rows(db, study, figure_names, workers=data.workers, progress=progress)
        data.figures = [*own, *series_figures(data.tables)]
    except RError as error:
        problems.append(str(error))
    left_out = [f"Omitted, because R failed: {without_folders(problem)}" for problem in _unique(problems)]
    return [*left_out, *without_rows, *_no_data(data.comparison)]


def _cells_of(doubts: Sequence[Doubt]) -> dict[str, Any] | None:
    """Return the cells of all doubts as one table, without columns in which they are all alike; None if
    there are none."""
    if not doubts:
        return None
    cells = pl.concat([doubt.cells for doubt in doubts])
    told = [name for name in cells.columns if name in ("model", "test", "what") or cells[name].n_unique() > 1]
    return text_table(cells.select(name for name in told if cells[name].null_count() < cells.height))


def _add_people(data: ReportData, db: str | Path, study: Study) -> list[str]:
    """Put models next to people among the tables, if answers of both are here; return why R could not compare them."""
    sources = set(data.tables["outcome_counts"]["source"])
    if not (can_compare(study) and "human" in sources and sources & set(sources_that("is_of_models"))):
        return []
    try:
        found = alike(db, study, workers=data.workers)
    except RError as error:
        return [str(error)]
    made = {ALIKE.format(part=part): getattr(found, part) for part in ("summary", *PARTS)}
    data.tables = {**data.tables, **made}
    return []


def _add_series(data: ReportData, db: str | Path, study: Study) -> list[str]:
    """Put what has moved over occasions, and what models of one name differ in, among the tables; return why R could
    not say so."""
    counts = data.tables["outcome_counts"]
    made: dict[str, list[pl.DataFrame]] = {WATCHED: [], SUCCESSORS: []}
    try:
        if can_pair(study) and not occasions_of(db, study.name).is_empty():
            made[WATCHED] = [watch(db, study, workers=data.workers).table]
        for source, old, new in successors_in(data.tables["served_models"]) if can_pair(study) else ():
            with contextlib.suppress(DatabaseError):  # no prompt that both answered
                table = successor(old, new, db, study, source, workers=data.workers).table
                versions = counts.select(GRAIN).unique(maintain_order=True)
                made[SUCCESSORS].append(table.join(versions, on=["source", "variant"], maintain_order="left"))
    except RError as error:
        return [str(error)]
    data.tables = {**data.tables, **{name: pl.concat(parts) for name, parts in made.items() if parts}}
    return []


def _add_over_words(data: ReportData, db: str | Path, study: Study) -> Iterator[str]:
    """Add the rows of the checks of that name to the tables; yield why R could not make them, if so."""
    rows = crossed_rows(data.fits[CROSSED])
    data.tables = {**data.tables, CROSSED_ROWS: with_signs(rows, None)}
    try:
        if has_mixed_fit(study):
            call = refusals_call(read_trials(db, study, None, None), mixed_fit(study))
            rows = with_signs(rows, answered(call, data.workers))
            data.tables = {**data.tables, CROSSED_ROWS: rows}
        if (pooled := pooling(rows, ALPHA)) is not None:
            data.tables = {**data.tables, POOLED_ROWS: answered(pooled, data.workers)}
        if has_mixed_fit(study) and (words := same_words_rows(db, study, None, data.workers)) is not None:
            data.tables = {**data.tables, SAME_WORDS: words}
    except (RError, DatabaseError) as error:  # DatabaseError: only people answered
        yield str(error)


def _registered(
    db: str | Path, study: Study, registration: str | Path | Registration | None, counts: pl.DataFrame
) -> list[tuple[str, Finding]]:
    """Return the finding about the registration for each source, version and variant; nothing without a
    registration."""
    known = registered_study(db, study.name, registration)
    if known is None:
        return []
    grains = counts.select(GRAIN).unique(maintain_order=True).sort(GRAIN).to_dicts()
    titles = [f"{g['source'].capitalize()} data, variant {g['variant']}, version {g['study_version']}" for g in grains]
    return [(title, finding(known, grain)) for title, grain in zip(titles, grains, strict=True)]


def _checks(data: ReportData, db: str | Path, out: Path) -> dict[str, Any]:
    """Return the summary of checks, if any, their names and the command for their page; nothing if none is to be
    made."""
    if not has_checks(data.study):
        return {"checks": None, "check_names": "", "check_command": ""}
    try:
        checks = summary_of_checks(quick_checks(db, data.study, data.fits, data.workers), out)
    except (RError, DatabaseError):  # the reason is on top, with that of fits and figures
        checks = None
    names = ", ".join(known.check.replace("_", " ") for known in checks_of_study(data.study))
    command = without_folders(f"analyze check --study {data.study.as_typed} --out {PAGE_NAME}")
    return {"checks": checks, "check_names": names, "check_command": command}


def _page(**content: Any) -> str:
    """Return the complete page. Its script is the only one that may run: the page names it by its hash."""
    filters = {"breakable": _breakable, "table_label": table_label}
    environment = template_environment("slant.analysis.pages", is_html=True, filters=filters)
    loader = environment.loader
    assert loader is not None
    script, style = (loader.get_source(environment, name)[0] for name in ("report.js", "report.css"))
    script_hash = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    made_at = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    style = page_style() + style
    page_parts = {"script": Markup(script), "style": Markup(style), "script_hash": script_hash, "made_at": made_at}
    return environment.get_template("report.html.j2").render(**content, **page_parts)


def _unique(texts: Iterable[str | None]) -> list[str]:
    return list(dict.fromkeys(text for text in texts if text))


def _breakable(text: str) -> Markup:
    """Escape text in which a line may end after an underscore: tables of many columns have to fit on paper."""
    return Markup("_<wbr>").join(escape(part) for part in text.split("_"))


def _no_data(rows: pl.DataFrame | None) -> Iterator[str]:
    if rows is None:
        return
    is_missing = pl.col("table").str.starts_with("S") & (pl.col("status") == "no data")
    empty = rows.filter(is_missing).drop_nulls(["model", "test"])
    for (source, model), part in empty.group_by("source", "model", maintain_order=True):
        tests = part["test"].unique(maintain_order=True).to_list()
        yield f"No data ({source}): {model} in {', '.join(tests)}."


def _data_warnings(study_tables: Mapping[str, pl.DataFrame]) -> Iterator[str]:
    duplicates = study_tables["duplicate_finals"]
    if n_twice := duplicates.filter(pl.col("n_counted") > 1).height:
        yield f"Trials with two final answers, which both count: {n_twice} (table duplicate_finals)."
    if n_once := duplicates.filter(pl.col("n_counted") == 1).height:
        yield f"Trials that two collectors answered; the first answer counts: {n_once} (duplicate_finals)."
    for row in study_tables["served_models"].filter(pl.col("served_model_differs")).to_dicts():
        reason = "excluded from all tables" if row["n_left_out"] else "included, because no snapshot was requested"
        yield (
            f"Served model differs: {row['requested_model']} was asked, {row['served_model']} answered "
            f"{row['n_trials']} trials ({reason})."
        )


def made_fits(results: Mapping[str, FitResult]) -> dict[str, MadeFit]:
    """Return the fits that have estimates, by name."""
    made = {}
    for name, result in results.items():
        df = result.table["df"].cast(pl.Float64).drop_nulls()
        span = (float(df.min()), float(df.max())) if df.len() else None  # type: ignore[arg-type]
        if result.table.height:
            made[name] = MadeFit(result.engine, result.diagnostics["optimiser"].drop_nulls().unique().to_list(), span)
    return made
