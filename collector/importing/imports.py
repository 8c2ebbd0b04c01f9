"""Brings answers that somebody else collected into the database: what can be read is kept, the rest is reported.

Imported rows go the way of collected ones: into a journal of their own run first, then into DuckDB. A row that is
already there with the same content is counted and left; with another content it is reported, never replaced.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from slant.collector.arguments import checked_arguments
from slant.collector.designs import design_named
from slant.collector.errors import UsageError
from slant.collector.importing.layouts import Problem, Row, layout_named
from slant.collector.importing.layouts.values import CellError, word
from slant.collector.importing.renamed import Names, names
from slant.collector.importing.rows import RowReader, model_named
from slant.collector.importing.writer import ImportReport, ImportWriter
from slant.collector.provenance.run_record import listed_model, new_run
from slant.collector.records import Run
from slant.collector.studies.catalogue import Study, StudyModel, load_study, with_variant
from slant.collector.studies.stored_texts import study_line

__all__ = ["ImportReport", "import_trials"]

_ENDINGS = (".csv", ".jsonl", ".ndjson", ".parquet", ".tsv")


@checked_arguments()
def import_trials(
    db: str | Path,
    study: str | Study,
    paths: Iterable[str | Path],
    model: str | None = None,
    layout: str = "tidy",
    variant: str = "base",
    on_rows: Callable[[int], None] | None = None,
    command: str = "import_trials",
    columns: Sequence[str] = (),
    map_models: Sequence[str] = (),
) -> ImportReport:
    """Import files, or the files of folders, as trials of `study` into the database `db` (made where it is missing).

    `model` is the model of all rows (a tidy file may have a column `model` instead). `on_rows` is told from time to
    time how many rows have been read. Rows that can't be read are in the report, with file and line. `columns` are the
    file's names for ours, as in `["answer=response", "tokens=n_tok"]`, `map_models` its names for models, as in
    `["x-1=local/x"]`.

    UsageError, and nothing written, where a file is not of this layout; JournalError where a collector is at work.
    """
    loaded = load_study(study, variant, db) if isinstance(study, str) else with_variant(study, variant)
    layout_read, files = layout_named(layout), list(_files(paths))
    if design_named(loaded.design).has_turns(loaded) and not layout_read.has_turns:
        raise UsageError(
            f'Can\'t import trials of "{loaded.name}": it is played as games, and a row lacks the rounds before it.',
            "For the indices of games that others have played, in R: game_indices() on a data frame of their rounds.",
        )
    called = names(columns, map_models)
    model_of_all = None if model is None else model_named(loaded, model)
    report = ImportReport(only_labels=design_named(loaded.design).analyses_tokens)
    for file in files:
        report.warnings += layout_read.check(loaded, file, called.columns_of(file), model_of_all is not None)
    models = _models_named(loaded, files, called) if model_of_all is None else [model_of_all]
    run = _run(loaded, models, layout, files, command)
    reader = RowReader(loaded, layout_read, run, model_of_all, called)
    with ImportWriter(Path(db), run, report, [study_line(loaded, run.started_at)]) as writer:
        for file in files:
            answers = layout_read.grouped(loaded, _counted(called.rows(file), on_rows))
            _import_file(file, answers, reader, writer, report)
    report.sort([each.model for each in models], [test.test for test in loaded.tests])
    return report


def _counted(rows: Iterable[Row | Problem], on_rows: Callable[[int], None] | None) -> Iterator[Row | Problem]:
    for number, row in enumerate(rows, start=1):
        yield row
        if on_rows and number % 500 == 0:
            on_rows(500)


def _import_file(
    file: Path, rows: Iterable[Row | Problem], reader: RowReader, writer: ImportWriter, report: ImportReport
) -> None:
    for row in rows:
        try:
            if isinstance(row, Problem):
                report.problems.append(row)
            else:
                writer.add(row, reader.attempt(row))
        except CellError as error:
            report.problems.append(Problem(row.file, row.line, str(error), getattr(error, "model", None)))
    report.warnings += reader.end_of_file(str(file))


def _files(paths: Iterable[str | Path]) -> Iterator[Path]:
    """The files, once each; of a folder those directly in it that can be read."""
    seen: set[Path] = set()
    for path in map(Path, paths):
        files = [path]
        if path.is_dir():
            files = sorted(file for file in path.iterdir() if file.suffix.lower() in _ENDINGS and file.is_file())
            if not files:
                known = f"Known endings: {', '.join(_ENDINGS)}"
                raise UsageError(f"There is nothing to import directly in the folder {path}.", known)
        elif not path.is_file():
            raise UsageError(f"There is no file {path}.")
        for file in files:
            if file.resolve() not in seen:
                seen.add(file.resolve())
                yield file


def _models_named(study: Study, files: Iterable[Path], called: Names) -> list[StudyModel]:
    """The models that the rows name, in the order of the study; a row with an unknown one is reported later."""
    its_rows = (row for file in files for row in called.rows(file) if isinstance(row, Row))
    named = {called.model(word(row.cells.get("model"))) for row in its_rows}
    models: dict[str, StudyModel] = {}
    for name in sorted(named):
        try:
            known_model = model_named(study, name)
        except UsageError:
            continue
        models[known_model.model] = known_model
    order = [model.model for model in study.models]
    return sorted(
        models.values(),
        key=lambda known_model: order.index(known_model.model) if known_model.model in order else len(order),
    )


def _run(study: Study, models: Sequence[StudyModel], layout: str, files: Sequence[Path], command: str) -> Run:
    planned = sum(test.planned for test in study.tests)
    file_records = [{"file": file.name, "bytes": file.stat().st_size, "blake2b": _hash(file)} for file in files]
    return new_run(
        study,
        [listed_model(study, each) | {"planned": planned} for each in models],
        {"layout": layout, "files": file_records},
        source="imported",
        command=command,
    )


def _hash(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
