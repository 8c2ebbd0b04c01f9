"""Brings answers that somebody else collected into the database: what can be read is kept, the rest is reported.

Imported rows go the way of collected ones: into a journal of their own run first, then into DuckDB. A row that is
already there with the same content is counted and left; with another content it is reported, never replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from slant.collector.arguments import checked_arguments
from slant.collector.designs.design import Imports
from slant.collector.errors import UsageError
from slant.collector.importing.decimal_marks import different, mark_of_answers
from slant.collector.importing.files.kinds import content_hash, counted
from slant.collector.importing.files.table_file import TableFile, TableFiles
from slant.collector.importing.layouts import Problem, Row, layout_named
from slant.collector.importing.layouts.cells import PlannedCells
from slant.collector.importing.layouts.values import CellError, MissingAnswerError, OtherRowError, is_empty, word
from slant.collector.importing.people.importing import PEOPLE_LAYOUT, import_people, imported_files
from slant.collector.importing.renamed import Names, counted_from_zero, names
from slant.collector.importing.rows import RowReader, model_named
from slant.collector.importing.writer import ImportReport, ImportWriter
from slant.collector.provenance.run_history import listed_model, new_run
from slant.collector.records import Run
from slant.collector.studies.catalogue import Study, StudyModel, load_study, with_variant
from slant.collector.studies.stored_texts import study_line
from slant.collector.system.child_processes import garbage_collected_rarely

__all__ = ["ImportReport", "import_trials"]

_NUMBERED = ("wording", "repetition")


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
    decimal: str | None = None,
    person: Sequence[str] = (),
    map_values: Sequence[str] = (),
    consent: str | None = None,
    origin: str | None = None,
) -> ImportReport:
    """Import files, or the files of folders, as trials of `study` into the database `db` (made where it is missing).

    `model` is the model of all rows (a tidy file may have a column `model` instead). `on_rows` hears from time to
    time how many rows have been read. Rows that can't be read are in the report, with file and line. `columns` are the
    file's names for ours, as in `["answer=response", "tokens=n_tok"]` (all that they may say is at the top of
    collector/importing/renamed.py; without any, those of the study's own [import]), `map_models` its names
    for models, as in `["x-1=local/x"]`. `decimal` is the mark before decimals, "." or ","; needed where a file has
    semicolons between its columns and numbers with marks.

    With `layout="people"` the answers are those of people: only columns that are named come in. `person` are columns of
    each person (`["age_group=AGE"]`), `map_values` the study's words for values (`["condition:1=compatible"]`),
    `consent` is what people agreed to and `origin` where the files are from; both are needed.

    UsageError, and nothing written, where a file is not of this layout; JournalError if a collector is at work.
    """
    loaded = load_study(study, variant, db) if isinstance(study, str) else with_variant(study, variant)
    paths = list(paths)
    if layout == "tidy" and model is None and not columns and (sheet := _sheet(loaded, paths)):
        typed = {"consent": consent, "origin": origin} if sheet["layout"] == PEOPLE_LAYOUT else {}
        given = sheet | {name: value for name, value in typed.items() if value is not None}
        return import_trials(db, loaded, paths, variant=loaded.variant, on_rows=on_rows, command=command, **given)
    if layout == PEOPLE_LAYOUT:
        if model is not None or map_models:
            raise UsageError("People are not a model: remove the model.")
        names((), (), decimal)  # a mark that is none is reported
        told: dict[str, Any] = {
            "columns": columns,
            "person": person,
            "values": map_values,
            "consent": consent,
            "origin": origin,
            "decimal": decimal,
        }
        return import_people(Path(db), loaded, paths, on_rows=on_rows, command=command, **told)
    if person or map_values or consent is not None or origin is not None:
        raise UsageError(f'Columns and consent of people need the layout "{PEOPLE_LAYOUT}".')
    layout_read = layout_named(layout)
    model_of_all = None if model is None else model_named(loaded, model)
    report = ImportReport(only_labels=loaded.refusal_rule != "outcome")
    opened = TableFiles(paths)
    with opened as files:
        called = _names(loaded, files, columns, map_models, decimal)
        for file in files:
            columns_there = called.columns_of(file)
            report.warnings += layout_read.check(loaded, Path(file.name), columns_there, model_of_all is not None)
            report.warnings += file.remarks
        needed = [*(["model"] if model_of_all is None else []), *(_NUMBERED if layout_read.skips_missing else ())]
        read = [(file, called) for file in files]
        found = different(read, needed)
        named = {called.model(name) for name in found.pop("model", ())}
        models = _models_named(loaded, named) if model_of_all is None else [model_of_all]
        numbers = {name: {text for text in texts if not is_empty(text)} for name, texts in found.items()}
        if any(numbers.values()):
            called = _counted_from_one(loaded, called, numbers, report)
        run = _run(loaded, models, layout, opened.sources, command)
        mark = mark_of_answers(loaded, read, decimal, report.warnings) if layout_read.skips_missing else None
        reader = RowReader(loaded, layout_read, run, model_of_all, called, mark)
        texts = [study_line(loaded, run.started_at)]
        with garbage_collected_rarely(), ImportWriter(Path(db), run, report, texts) as writer:
            for file in files:
                answers = layout_read.grouped(loaded, counted(called.rows(file), on_rows))
                _import_file(file.name, answers, reader, writer, report)
    report.sort([each.model for each in models], [test.test for test in loaded.tests])
    return report


def imported_before(db: Path, study: str, paths: Iterable[str | Path]) -> list[str]:
    """Return a sentence for each of these files that was imported before: large ones take a while to be read again."""
    known = imported_files(db, study, "imported") if db.exists() else {}
    runs = [(file, known.get(content_hash(file))) for file in map(Path, paths) if known and file.is_file()]
    return [
        f"{file.name} was imported before (run {run}): it is read again, and only what is new is added."
        for file, run in runs
        if run is not None
    ]


def _sheet(study: Study, paths: Sequence[str | Path]) -> dict[str, Any]:
    """Return the mapping that a sheet of the study's design implies, if all files are such sheets of one kind."""
    if type(study.design.imports).sheet is Imports.sheet:  # the design has none, and files are read once
        return {}
    with TableFiles(paths) as files:
        kinds = []
        for file in files:
            rows = (row for row in file.rows() if isinstance(row, Row)) if "coder" in file.columns else ()
            coders = dict.fromkeys(word(row.cells.get("coder")) for row in rows)
            kinds.append(study.design.imports.sheet(study, file.columns, [name for name in coders if name]))
    return kinds[0] if kinds and all(kind == kinds[0] for kind in kinds) else {}


def _names(
    study: Study, files: Sequence[TableFile], columns: Sequence[str], models: Sequence[str], decimal: str | None
) -> Names:
    """Return the names that are typed, and those of the study for files ([import]); the latter only if files don't have
    slant's own names, as an export has them."""
    typed = names(columns, models, decimal)
    own = names(study.import_names.columns, study.import_names.models)
    has_ours = [bool({"answer", "study"} <= set(file.columns)) for file in files] if own.columns or own.long else []
    if columns or any(has_ours):
        own = replace(own, columns={}, constants={}, long=())
    if lacking := [ours for ours in own.constants if any(ours in file.columns for file in files)]:
        own = replace(own, constants={ours: said for ours, said in own.constants.items() if ours not in lacking})
    return replace(
        typed,
        columns={**own.columns, **typed.columns},
        constants={**own.constants, **typed.constants},
        long=own.long + typed.long,
        models={**own.models, **typed.models},
    )


def _counted_from_one(study: Study, called: Names, numbers: Mapping[str, set[str]], report: ImportReport) -> Names:
    """Count from 1 what the files count from 0, and report it."""
    model = study.models[0] if study.models else StudyModel("", "", "", "", study.frame)
    found = counted_from_zero(numbers, PlannedCells(study, model).wordings)
    for name in sorted(found):
        report.warnings.append(
            f"{name} is counted from 0 in the file and from 1 here: 0 was taken as 1, and so on (to say it yourself, "
            f"--map {name}={name}+1)"
        )
    return replace(called, from_zero=found)


def _import_file(
    file: str, rows: Iterable[Row | Problem], reader: RowReader, writer: ImportWriter, report: ImportReport
) -> None:
    for row in rows:
        try:
            if isinstance(row, Problem):
                report.problems.append(row)
            elif (alike := reader.shared(row)) is not None:
                writer.add_shared(row, *alike)
            else:
                writer.add(row, reader.record(row))
        except MissingAnswerError:
            reader.notes.missing += 1
            report.rows_without_answer += 1
        except OtherRowError:
            reader.notes.other += 1
        except CellError as error:
            report.problems.append(Problem(row.file, row.line, str(error), getattr(error, "model", None)))
    report.warnings += reader.end_of_file(file)


def _models_named(study: Study, named: Iterable[str]) -> list[StudyModel]:
    """Return the models that the rows name, in the order of the study; a row with an unknown one is reported later."""
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
    file_records = [{"file": file.name, "bytes": file.stat().st_size, "blake2b": content_hash(file)} for file in files]
    return new_run(
        study,
        [listed_model(study, each) | {"planned": planned} for each in models],
        {"layout": layout, "files": file_records},
        source="imported",
        command=command,
    )
