"""The HTML report: one self-contained page with what was recomputed, the print beside it, two figures, and where all
of it comes from. Whatever a model, a file or a user wrote is escaped, and the page may load nothing from anywhere.
"""

from __future__ import annotations

import base64
import json
import os
import re
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
from jinja2 import Environment, PackageLoader, StrictUndefined

from analysis.compare import summary, whole_comparison
from analysis.doubts import doubtful_fits, mixtures
from analysis.figures import Figure, draw
from analysis.fits import FitResult, Progress, fit
from analysis.open import read_view
from analysis.recomputed import GRAIN
from analysis.report_tables import plain, side_by_side, token_measures
from analysis.tables import tables
from collector.checks.checked import table_notes
from collector.errors import RError, UsageError
from collector.store import reading
from collector.study import BASE, load_study

SOURCES = {
    "simulated": "No model was asked. These numbers show that the machinery works, and nothing about models.",
    "imported": "Answers that others collected and published.",
    "collected": "Answers of the models, asked by slant.",
}
_SHOWN_BY = ("source", "study_version", pl.col("variant") != BASE, "variant")  # the study as it stands first
_QUOTED_FOLDERS = re.compile(r"""(?<=["'])/(?:[^"'/\n]+/)+([^"'/\n]+)/?(?=["'])""")
_FOLDERS = re.compile(r"(?<![\w.:/~-])/(?:[^\s/\"']+/)+")
_MORE_TABLES = (
    "refusals_by_condition", "iat_mentions", "outcome_counts", "token_sources", "served_models", "mixed_cells",
)  # fmt: skip


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
    warnings = [*table_notes(db, its.name), *mixtures(db, its.name), *_data_warnings(counted)]
    try:
        compared = whole_comparison(db, its, workers=workers, progress=progress)
        fitted = fit("lme4", db, its, workers=workers, progress=progress)
        sizes = fit("effect_size", db, its, workers=workers, progress=progress)
        doubts = [f"Doubtful fit: {said}" for one in (fitted, sizes) for said in doubtful_fits(one.diagnostics)]
        warnings = [*doubts, *_no_data(compared), *warnings]
        sections = [
            _section(rows, names, db, sizes, counted["token_sources"])
            for _, rows in compared.sort(*_SHOWN_BY, maintain_order=True).group_by(GRAIN, maintain_order=True)
        ]
        versions = _versions(fitted)
    except RError as error:
        warnings.insert(0, f"Fits and figures are left out. {without_folders(str(error))}")
        sections, versions = [], {}
    page = _template().render(
        title=its.title,
        citation=its.source,
        made_at=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        sources=[(s, SOURCES.get(s, s)) for s in counted["refusal_counts"]["source"].unique(maintain_order=True)],
        warnings=warnings,
        sections=sections,
        more=[(name, plain(counted[name])) for name in _MORE_TABLES if counted[name].height],
        runs=plain(_told(runs).sort("started_at")),
        versions=versions,
    )
    return _write(Path(out), page)


def _template() -> Any:
    environment = Environment(
        loader=PackageLoader("analysis"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    return environment.get_template("report.html.j2")


def _section(
    rows: pl.DataFrame, names: dict[str, str], db: str | Path, sizes: FitResult, token_sources: pl.DataFrame
) -> dict[str, Any]:
    grain = {name: rows[name][0] for name in GRAIN}
    measures = token_measures(token_sources.filter(_is(grain)), names)
    printed = rows.drop_nulls("printed")
    return {
        **grain,
        "summary": plain(summary(printed).drop(GRAIN)) if printed.height else None,
        "tables": list(side_by_side(rows, names, measures)),
        "slips": rows.filter(pl.col("status") == "slip").to_dicts(),
        "figures": [_embedded(figure) for figure in _figures(db, grain, sizes)],
    }


def _figures(db: str | Path, grain: dict[str, str], sizes: FitResult) -> list[Figure | str]:
    columns = ["model", "model_label", "model_no", "test", "test_label", "test_no"]
    more = ["condition", "tokens", "token_source", "is_refusal"]
    with reading(db) as connection:
        trials = connection.view("rmiat_trials").select(*(GRAIN + columns + more)).pl().filter(_is(grain))
    named = trials.select(columns).unique(["model", "test"], maintain_order=True)
    measured = sizes.diagnostics.filter(_is(grain)).select("model", "test", "token_source")
    effects = sizes.table.filter(_is(grain))
    for more_columns in (named, measured):
        effects = effects.join(more_columns, on=["model", "test"], how="inner", maintain_order="left")
    return draw([("plot_effect_sizes", effects), ("plot_tokens", trials)])


def _is(grain: dict[str, str]) -> pl.Expr:
    return pl.all_horizontal(pl.col(name) == value for name, value in grain.items())


def _told(runs: pl.DataFrame) -> pl.DataFrame:
    """What a reader elsewhere may know of the runs: not the machine, and of files and folders only the last name."""
    command = pl.col("command").map_elements(without_folders, return_dtype=pl.String)
    return runs.drop("study", "machine").with_columns(command)


def without_folders(text: str) -> str:
    """Absolute paths cut to their last name. A folder's name may hold blanks, so what is quoted is one path."""
    return _FOLDERS.sub("", _QUOTED_FOLDERS.sub(r"\1", text))


def _embedded(figure: Figure | str) -> dict[str, str]:
    if isinstance(figure, str):
        return {"problem": figure, "uri": "", "alt_text": ""}
    uri = "data:image/png;base64," + base64.b64encode(figure.image).decode()
    return {"problem": "", "uri": uri, "alt_text": figure.alt_text}


def _labels(models: pl.DataFrame, tests: pl.DataFrame) -> dict[str, str]:
    return {**dict(models.select("model", "label").iter_rows()), **dict(tests.select("test", "label").iter_rows())}


def _no_data(compared: pl.DataFrame) -> Iterator[str]:
    empty = compared.filter(pl.col("status") == "no data").group_by("source", "model", maintain_order=True)
    for (source, model), rows in empty:
        tests = rows["test"].unique(maintain_order=True).to_list()
        yield f"No data ({source}): {model} in {', '.join(tests)}."


def _data_warnings(counted: dict[str, pl.DataFrame]) -> Iterator[str]:
    if counted["duplicate_finals"].height:
        yield f"Trials that were ended twice and count twice: {counted['duplicate_finals'].height} (duplicate_finals)."
    for row in counted["served_models"].filter(pl.col("served_model_differs")).to_dicts():
        what = "left out of all tables" if row["n_left_out"] else "kept, because no snapshot was asked for"
        yield (
            f"Served model differs: {row['requested_model']} was asked, {row['served_model']} answered "
            f"{row['n_trials']} trials ({what})."
        )


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
