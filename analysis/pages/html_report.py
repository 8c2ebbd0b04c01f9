"""The HTML report: one self-contained page with what was recomputed, the print beside it, figures, topics, and where
all of it comes from. Whatever a model, a file or a user wrote is escaped, and the page may load nothing from anywhere.
"""

from __future__ import annotations

import base64
import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from slant.analysis.fitting.bayes_fits import only_shown, shown_fits, stale_fits
from slant.analysis.fitting.fits import Progress, fit
from slant.analysis.pages.provenance import methods, other_versions, runs_told, versions_of, without_folders
from slant.analysis.pages.report_comparison import claim_texts, compared, compared_without_r, is_quick
from slant.analysis.pages.report_sections import Found, more_tables, sections
from slant.analysis.pages.report_tables import named_table, plain
from slant.analysis.plots.drawing import require
from slant.analysis.plots.registry import figure_kinds, figure_rows
from slant.analysis.questions.checks.design_checks import has_checks
from slant.analysis.questions.checks.study_checks import checks_of
from slant.analysis.questions.topics.topic_models import stale_models
from slant.analysis.rows.descriptive_tables import table_info, tables
from slant.analysis.rows.result_warnings import doubtful_fits, mixtures
from slant.analysis.rows.study_choice import study_in
from slant.analysis.rows.views import read_view, view_names
from slant.collector.checks.notes import table_notes
from slant.collector.errors import RError, UsageError
from slant.collector.keep.database import opens_once, reading
from slant.collector.keep.frames import frame_of
from slant.collector.studies.catalogue import Study

SOURCES = {
    "simulated": "No model was asked. These numbers show that the machinery works, and nothing about models.",
    "imported": "Answers that others collected and published.",
    "collected": "Answers of the models, asked by slant.",
}
_ENGINES = ("lme4", "effect_size")  # fits that a report makes where they are missing; others take minutes
_MORE_TABLES = (
    "refusals_by_condition", "iat_mentions", "outcome_counts", "token_sources", "model_checks", "served_models",
    "served_model_changes", "mixed_cells", "mixed_batches", "costs",
)  # fmt: skip


@opens_once
def report(
    db: str | Path,
    study: str | Study | None = None,
    out: str | Path = "report.html",
    workers: int | None = None,
    progress: Progress | None = None,
) -> Path:
    """Write the report on `study` (a name, or its TOML file) to `out`, which is replaced as a whole; returns its path.

    Fits and figures are made as needed; topics are shown where `analyze --fit stm` has kept some. Where R is missing,
    what needs it is left out, and the report says so on top. A study without printed tables gets its fits' estimates.
    Raises DatabaseError without trials, UsageError where `out` can't be written.
    """
    out = Path(out)
    _check_place(out)
    its = study_in(db, study)
    known = view_names(db)  # a database of an older slant lacks the newest ones, and can be reported on all the same
    infos = [one for one in table_info().values() if one.is_about(its.design) and one.name in known]
    counted = tables(db, study=its.name, names=[one.name for one in infos])
    with reading(db) as connection:
        labels = _labels(read_view(connection, "models"), read_view(connection, "tests"))
        runs = frame_of(connection.table("runs")).filter(pl.col("study") == its.name).sort("started_at", "run_id")
    warnings = [*table_notes(db, its.name), *mixtures(db, its.name), *_data_warnings(counted)]
    shown = shown_fits(db, its)
    found = Found(its, only_shown(counted, shown), {**labels, **claim_texts(its)})
    computed = [*_compute(found, db, its, workers, progress), *other_versions(db, its.name)]
    doubts = [f"Doubtful fit: {said}" for said in doubtful_fits(shown)]
    warnings = [*doubts, *computed, *stale_models(db, its), *stale_fits(shown, its), *warnings]
    told = methods(db, runs["run_id"].to_list())
    page = _page(
        study=its.name,
        check_hint=_check_hint(found),
        title=its.title,
        citation=its.source,
        sources=[(s, SOURCES.get(s, s)) for s in counted["outcome_counts"]["source"].unique(maintain_order=True)],
        warnings=warnings,
        sections=sections(found),
        more=more_tables(found, _MORE_TABLES),
        methods=told,
        references=_unique([its.source, *(one for group in told for one in group.references)]),
        runs=plain(runs_told(runs)),
        versions=versions_of(*found.fits.values()) if found.fits else {},
    )
    return _write(out, page)


def _compute(found: Found, db: str | Path, study: Study, workers: int | None, progress: Progress | None) -> list[str]:
    """Puts into `found` what fits and figures give; returns what is to be said of them on top of the page."""
    has_print = study.published is not None
    named = [name for name, one in study.fits.items() if one.engine in _ENGINES and is_quick(one)]
    problems: list[str] = []
    try:
        found.compared = compared(db, study, workers, progress) if has_print else None
    except RError as error:
        problems.append(str(error))
        found.compared = compared_without_r(db, study)
    for name in named:
        try:
            found.fits[name] = fit(db, study, name, workers=workers, progress=progress)
        except RError as error:
            problems.append(str(error))
    try:
        require(("ggplot2",))
        of_data = [name for name, kind in figure_kinds(study).items() if kind.is_of_data]
        found.figures = list(figure_rows(db, study, of_data, workers=workers, progress=progress))
    except RError as error:
        problems.append(str(error))
    left_out = [f"Left out, because R could not do it: {without_folders(one)}" for one in _unique(problems)]
    doubts = [f"Doubtful fit: {said}" for one in found.fits.values() for said in doubtful_fits(one.diagnostics)]
    return [*left_out, *doubts, *_no_data(found.compared)]


def _check_hint(found: Found) -> str | None:
    """What `analyze check` tells beside this report; None where it has nothing to check."""
    if not has_checks(found.study):
        return None
    return ", ".join(name.replace("_", " ") for name in checks_of(found.study))


def _page(**content: Any) -> str:
    """The whole page. Its script is the only one that may run: the page names it by its hash."""
    environment = Environment(
        loader=PackageLoader("slant.analysis.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["breakable"] = _breakable
    environment.filters["named_table"] = named_table
    loader = environment.loader
    assert loader is not None
    script, style = (loader.get_source(environment, name)[0] for name in ("report.js", "report.css"))
    script_hash = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    made_at = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    own = {"script": Markup(script), "style": Markup(style), "script_hash": script_hash, "made_at": made_at}
    return environment.get_template("report.html.j2").render(**content, **own)


def _unique(texts: Iterable[str | None]) -> list[str]:
    return list(dict.fromkeys(text for text in texts if text))


def _breakable(text: str) -> Markup:
    """Text, escaped, in which a line may end after an underscore: tables of many columns have to fit on paper."""
    return Markup("_<wbr>").join(escape(part) for part in text.split("_"))


def _labels(models: pl.DataFrame, tests: pl.DataFrame) -> dict[str, str]:
    return {**dict(models.select("model", "label").iter_rows()), **dict(tests.select("test", "label").iter_rows())}


def _no_data(rows: pl.DataFrame | None) -> Iterator[str]:
    if rows is None:
        return
    of_models = pl.col("table").str.starts_with("S") & (pl.col("status") == "no data")
    empty = rows.filter(of_models).drop_nulls(["model", "test"])
    for (source, model), part in empty.group_by("source", "model", maintain_order=True):
        tests = part["test"].unique(maintain_order=True).to_list()
        yield f"No data ({source}): {model} in {', '.join(tests)}."


def _data_warnings(counted: Mapping[str, pl.DataFrame]) -> Iterator[str]:
    if counted["duplicate_finals"].height:
        yield f"Trials that were ended twice and count twice: {counted['duplicate_finals'].height} (duplicate_finals)."
    for row in counted["served_models"].filter(pl.col("served_model_differs")).to_dicts():
        what = "left out of all tables" if row["n_left_out"] else "kept, because no snapshot was asked for"
        yield (
            f"Served model differs: {row['requested_model']} was asked, {row['served_model']} answered "
            f"{row['n_trials']} trials ({what})."
        )


def _check_place(out: Path) -> None:
    """Before the work, which may take a while."""
    if not (out.parent.is_dir() and os.access(out.parent, os.W_OK)):
        raise _unwritable(out, "its folder is not there, or can't be written to")


def _write(out: Path, page: str) -> Path:
    """Into a file beside it first, so that nobody ever sees half a report."""
    try:
        handle, name = tempfile.mkstemp(dir=out.parent, prefix=".report-", suffix=".html")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(page)
        Path(name).chmod(0o644)
        Path(name).replace(out)
    except OSError as error:
        raise _unwritable(out, error.strerror) from None
    return out.resolve()


def _unwritable(out: Path, why: str | None) -> UsageError:
    return UsageError(f'Can\'t write the report to "{out}": {why}.', "Name another: --out FILE")
