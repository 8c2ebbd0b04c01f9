"""The HTML report: one self-contained page with what was recomputed, the print beside it, two figures, and where all
of it comes from. Whatever a model, a file or a user wrote is escaped, and the page may load nothing from anywhere.
"""

from __future__ import annotations

import base64
import json
import os
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
from jinja2 import Environment, PackageLoader, StrictUndefined

from analysis.compare import compare, summary
from analysis.figures import Figure, draw
from analysis.fits import FitResult, Progress, fit
from analysis.open import read_view
from analysis.report_tables import plain, side_by_side
from analysis.tables import tables
from collector.checked import table_notes
from collector.errors import RError, UsageError
from collector.store import reading
from collector.study import BASE, load_study

GRAIN = ["source", "study_version", "variant"]
SOURCES = {
    "simulated": "No model was asked. These numbers show that the machinery works, and nothing about models.",
    "imported": "Answers that others collected and published.",
    "collected": "Answers of the models, asked by slant.",
}
_MORE_TABLES = ("refusals_by_condition", "iat_mentions", "outcome_counts", "token_sources", "served_models")


def report(
    db: str | Path, out: str | Path, study: str = "rmiat", workers: int | None = None, progress: Progress | None = None
) -> Path:
    """Write the report on `study` to `out` (an .html file, replaced as a whole) and return its path.

    Fits and figures are made as needed. Where R is missing they are left out, and the report says so on top.
    Raises DatabaseError without trials, UsageError where `out` can't be written.
    """
    its = load_study(study)
    counted = tables(db, ["refusal_counts", "duplicate_finals", *_MORE_TABLES], study=its.name)
    with reading(db) as connection:
        names = _labels(read_view(connection, "models"), read_view(connection, "tests"))
        runs = connection.table("runs").pl().filter(pl.col("study") == its.name).drop("settings")
    warnings = [*table_notes(db, its.name), *_data_warnings(counted)]
    try:
        compared = compare(db, its, workers=workers, progress=progress)
        fitted = fit("lme4", db, its, workers=workers, progress=progress)
        sizes = fit("effect_size", db, its, workers=workers, progress=progress)
        warnings = [*_fit_warnings(fitted), *_no_data(compared), *warnings]
        sections = [_section(rows, names, db, sizes) for _, rows in compared.group_by(GRAIN, maintain_order=True)]
        versions = _versions(fitted)
    except RError as error:
        warnings.insert(0, f"Fits and figures are left out. {error}")
        sections, versions = [], {}
    page = _template().render(
        title=its.title,
        citation=its.source,
        made_at=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        sources=[(s, SOURCES.get(s, s)) for s in counted["refusal_counts"]["source"].unique(maintain_order=True)],
        warnings=warnings,
        sections=sections,
        more=[(name, plain(counted[name])) for name in _MORE_TABLES if counted[name].height],
        runs=plain(runs.drop("study").sort("started_at")),
        versions=versions,
    )
    return _write(Path(out), page)


def _template() -> Any:
    environment = Environment(
        loader=PackageLoader("analysis"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    return environment.get_template("report.html.j2")


def _section(rows: pl.DataFrame, names: dict[str, str], db: str | Path, sizes: FitResult) -> dict[str, Any]:
    grain = {name: rows[name][0] for name in GRAIN}
    return {
        **grain,
        "summary": plain(summary(rows).drop(GRAIN)),
        "tables": list(side_by_side(rows, names)),
        "slips": rows.filter(pl.col("status") == "slip").to_dicts(),
        "figures": [_embedded(figure) for figure in _figures(db, grain, sizes)],
    }


def _figures(db: str | Path, grain: dict[str, str], sizes: FitResult) -> list[Figure | str]:
    is_this = pl.all_horizontal(pl.col(name) == value for name, value in grain.items())
    columns = ["model", "model_label", "model_no", "test", "test_label", "test_no"]
    with reading(db) as connection:
        view = connection.view("rmiat_trials").select(*(GRAIN + columns), "condition", "tokens", "is_refusal").pl()
    trials = view.filter(is_this)
    named = trials.select(columns).unique(["model", "test"], maintain_order=True)
    effects = sizes.table.filter(is_this).join(named, on=["model", "test"], how="inner", maintain_order="left")
    return draw([("plot_effect_sizes", effects), ("plot_tokens", trials)])


def _embedded(figure: Figure | str) -> dict[str, str]:
    if isinstance(figure, str):
        return {"problem": figure, "uri": "", "alt_text": ""}
    uri = "data:image/png;base64," + base64.b64encode(figure.image).decode()
    return {"problem": "", "uri": uri, "alt_text": figure.alt_text}


def _labels(models: pl.DataFrame, tests: pl.DataFrame) -> dict[str, str]:
    return {**dict(models.select("model", "label").iter_rows()), **dict(tests.select("test", "label").iter_rows())}


def _fit_warnings(fitted: FitResult) -> Iterator[str]:
    for row in fitted.diagnostics.filter(pl.col("status") != "ok").to_dicts():
        cell = f"{row['model']}, {row['test']} ({row['source']})"
        yield f"Doubtful fit: {cell} is {row['status']}. {' '.join((row['messages'] or '').split())}"


def _no_data(compared: pl.DataFrame) -> Iterator[str]:
    empty = compared.filter(pl.col("status") == "no data").group_by("source", "model", maintain_order=True)
    for (source, model), rows in empty:
        tests = rows["test"].unique(maintain_order=True).to_list()
        yield f"No data ({source}): {model} in {', '.join(tests)}."


def _data_warnings(counted: dict[str, pl.DataFrame]) -> Iterator[str]:
    if counted["duplicate_finals"].height:
        yield f"{counted['duplicate_finals'].height} trials were ended twice and count twice (table duplicate_finals)."
    for row in counted["served_models"].filter(pl.col("served_model_differs")).to_dicts():
        what = "left out of all tables" if row["n_left_out"] else "kept, because no snapshot was asked for"
        yield (
            f"Served model differs: {row['requested_model']} was asked, {row['served_model']} answered "
            f"{row['n_trials']} trials ({what})."
        )
    variants = counted["refusal_counts"].filter(pl.col("variant") != BASE)["variant"].unique().to_list()
    if variants:
        yield f"Only the study as it stands is shown; the database holds other variants, too: {', '.join(variants)}."


def _versions(fitted: FitResult) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in fitted.diagnostics["versions"].drop_nulls().unique():
        found.update(json.loads(text))
    found.pop("definition", None)
    return found


def _write(out: Path, page: str) -> Path:
    """Into a file beside it first, so that nobody ever sees half a report."""
    try:
        handle, name = tempfile.mkstemp(dir=out.parent, prefix=".report-", suffix=".html")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(page)
        Path(name).chmod(0o644)
        Path(name).replace(out)
    except OSError as error:
        raise UsageError(f'Can\'t write the report to "{out}": {error.strerror}.', "Name another: --out FILE") from None
    return out.resolve()
