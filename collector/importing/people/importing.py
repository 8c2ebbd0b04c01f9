"""Brings answers of people into the database (`collect import --layout people`)."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from slant.collector.designs.people import PeopleUnits
from slant.collector.designs.study import Study
from slant.collector.errors import UsageError
from slant.collector.importing.decimal_marks import mark_of_answers
from slant.collector.importing.files.kinds import Row, content_hash, counted
from slant.collector.importing.files.table_file import TableFile, TableFiles
from slant.collector.importing.people.columns import (
    FileColumns,
    LeftOut,
    PeopleColumns,
    Persons,
    check_attributes,
    people_columns,
)
from slant.collector.importing.people.reader import PeopleReader
from slant.collector.importing.people.whole_files import WholeAnswers, lines_of, whole_answers
from slant.collector.importing.renamed import names
from slant.collector.importing.row_contents import record_of
from slant.collector.importing.writer import ImportReport, ImportWriter
from slant.collector.keep.database import fetched
from slant.collector.keep.journal import journal_folder
from slant.collector.keep.journal_loader import load_journals
from slant.collector.provenance.run_history import listed_model, new_run
from slant.collector.records import Run
from slant.collector.studies.stored_texts import study_line
from slant.collector.system.shipped_files import sql_query
from slant.collector.terminal import count_text

PEOPLE_LAYOUT = "people"
_LAST = "SELECT coalesce(max(participant), 0) FROM attempts WHERE study = ?"
_PEOPLE_AT_ONCE = 10_000
_SHOWN_VALUES = 12
_ANSWERS_AT_ONCE = 50_000


def import_people(
    db: Path,
    study: Study,
    paths: Iterable[str | Path],
    *,
    columns: Sequence[str],
    person: Sequence[str],
    values: Sequence[str],
    consent: str | None,
    origin: str | None,
    decimal: str | None = None,
    on_rows: Callable[[int], None] | None,
    command: str,
) -> ImportReport:
    """Import files of people's answers; see `import_trials`.

    UsageError, and nothing written, without consent and origin, for a column that tells people apart, or for files that
    are there already.
    """
    _check_said(consent, origin)
    report = ImportReport(only_labels=False)
    mapped = columns or study.import_names.columns
    opened = TableFiles(paths)
    with opened as files:
        units = _units(study, mapped, files)
        of_rows = study.design.imports.row_columns(study.data)
        # those that the study names ([people]) and files have, beyond those that were typed
        typed = {part.partition("=")[0].strip() for text in (*person, *columns) for part in text.split(",")}
        there = {name for file in files for name in file.columns}
        of_people = [*person, *(n for n in study.person_columns if n not in typed and n in there)]
        wanted = people_columns(
            mapped, of_people, values, units.columns if units else (*of_rows, *(["template"] if of_rows else []))
        )
        hashes = [content_hash(path) for path in opened.sources]
        first, again = _stored(db, study.name, hashes)
        if again:
            n_again = count_text(sum(hash_ in again for hash_ in hashes), "file")
            report.warnings.append(
                f"{n_again} imported before (run {', '.join(dict.fromkeys(again.values()))}), left out"
            )
        # a packed file with several is as its own
        sources = hashes if len(files) == len(hashes) else ["\n".join(hashes)] * len(files)
        fresh = [wanted.of_file(file) for file, at in zip(files, sources, strict=True) if at not in again]
        _check_people(fresh, wanted)
        run = _run(study, opened.sources, hashes, wanted, consent, origin, command)
        persons, left_out = Persons(first, wanted.person, study.person_columns), LeftOut()
        mark = mark_of_answers(study, [(file.file, file.called) for file in fresh], decimal, report.warnings)
        reader = PeopleReader(study, run, persons, units, mark, decimal)
        with PeopleWriter(db, run, report, [study_line(study, run.started_at)], persons) as writer:
            for file in fresh:
                whole = whole_answers(file, reader, persons)
                if whole is not None:
                    left_out.columns |= dict.fromkeys(file.left)
                    left_out.previews += whole.n_previews
                    reader.n_missing += whole.n_missing
                    reader.n_other += whole.n_other
                    writer.take_all(whole, reader.next_sequence(whole.rows.height), on_rows)
                    continue
                for attempt in reader.attempts(file, counted(file.rows(left_out), on_rows)):
                    writer.take(record_of(attempt))
    report.problems += reader.problems
    report.rows_without_answer = reader.n_missing
    report.left_out = tuple(left_out.columns)
    report.people = len(persons)
    report.has_names = any(file.fields.get("participant") in map(file.fields.get, wanted.person) for file in fresh)
    report.warnings += [*_unmapped(fresh), *_notes(reader, left_out)]
    report.sort([study.people.model], [test.test for test in study.tests])
    return report


class PeopleWriter(ImportWriter):
    """Write attempts of people, each new, and at its end their attributes."""

    def __init__(self, db: Path, run: Run, report: ImportReport, texts: Any, persons: Persons) -> None:
        super().__init__(db, run, report, texts)
        self._persons = persons

    def _stored(self) -> dict[str, Any]:
        return {}

    def take_all(self, answers: WholeAnswers, first: int, on_rows: Callable[[int], None] | None) -> None:
        """Write the answers of a whole file: a line of the journal for some thousands of them."""
        self._write()
        for line in lines_of(answers, first, _ANSWERS_AT_ONCE):
            self._begun().note(line)
            if on_rows:
                on_rows(len(line["rows"]["sequence"]))
        for number, n in answers.rows["shared_no"].value_counts().iter_rows():
            self._report.count(record_of(answers.shared[number]), n)

    def _end(self) -> None:
        """Write the attributes of each person."""
        if self._journal is None:
            return
        listed = iter(self._persons.attributes.items())
        while some := list(islice(listed, _PEOPLE_AT_ONCE)):
            self._journal.note({"kind": "participants", "rows": some})


def _check_said(consent: str | None, origin: str | None) -> None:
    if not (consent or "").strip():
        raise UsageError(
            "Answers of people need the participants' consent.",
            'Quote it from your ethics board or their form: --consent "informed consent; data may be shared"',
        )
    if not (origin or "").strip():
        raise UsageError(
            "Answers of people need their origin.",
            'Name it, so that a reader can find them: --origin "osf.io/abcde, students, May 2025"',
        )


def _units(study: Study, columns: Sequence[str], files: Sequence[TableFile]) -> PeopleUnits | None:
    """Return the design's own placement of rows, if the rows have the columns for it."""
    units = study.design.imports.imported_people(study, study.people)
    if units is None or not units.needed:
        return units
    known = {*names(columns).columns, *(name for file in files for name in file.columns)}
    return units if known & set(units.needed) else None


def _stored(db: Path, study: str, hashes: Sequence[str]) -> tuple[int, dict[str, str]]:
    """Return the first number that is free for a person, and the run of each of these files that is there already."""
    if not db.exists() and not journal_folder(db).exists():
        return 1, {}
    load_journals(db)
    if not db.exists():
        return 1, {}
    last = fetched(db, _LAST, [study])[0][0]
    known = imported_files(db, study, "human")
    known |= {"\n".join(hashes): known[hashes[0]]} if len(hashes) > 1 and all(h in known for h in hashes) else {}
    return int(last) + 1, {hash_: known[hash_] for hash_ in [*hashes, "\n".join(hashes)] if hash_ in known}


def imported_files(db: Path, study: str, source: str) -> dict[str, str]:
    """Return the runs of the files that a database holds, by the hash of their content."""
    runs = fetched(db, sql_query("imported_runs"), [study, source])
    return {file["blake2b"]: run for run, said in runs for file in json.loads(said or "{}").get("files", ())}


def _check_people(files: Sequence[FileColumns], wanted: PeopleColumns) -> None:
    """Check people's attributes before anything is written: one pass over all rows, if there are any."""
    if not wanted.person:
        return
    persons = Persons(1, wanted.person)
    for file in files:
        for row in file.rows(LeftOut()):
            if isinstance(row, Row):
                try:
                    persons.number(row)
                except ValueError:  # reported when the row is read
                    continue
    check_attributes(wanted.person, persons.attributes.values())


def _run(
    study: Study,
    files: Sequence[Path],
    hashes: Sequence[str],
    wanted: PeopleColumns,
    consent: str | None,
    origin: str | None,
    command: str,
) -> Run:
    """Return the run. Files are known by their content alone: their names may be those of people."""
    listed = [{"bytes": file.stat().st_size, "blake2b": known} for file, known in zip(files, hashes, strict=True)]
    return new_run(
        study,
        [listed_model(study, study.people) | {"planned": 0}],
        {"layout": PEOPLE_LAYOUT, "files": listed, "person": list(wanted.person)},
        source="human",
        command=_nameless(command, files),
        consent=consent,
        origin=origin,
    )


def _nameless(command: str, files: Sequence[Path]) -> str:
    """Return a command without the names of the files, and of folders that they are in."""
    names = {str(file) for file in files} | {file.name for file in files} | {str(file.parent) for file in files} - {"."}
    try:
        words = shlex.split(command)
    except ValueError:
        return "collect import"
    hidden = ["FILE" if word in names or Path(word).name in names else word for word in words]
    return shlex.join(hidden) if "FILE" in hidden else command


def _unmapped(files: Sequence[FileColumns]) -> list[str]:
    """Name the values of columns with `--map-value` that it says nothing of."""
    said: dict[str, dict[str, None]] = {}
    for column, value in (each for file in files for each in file.unmapped):
        said.setdefault(column, {})[value] = None
    return [
        f"{column} has values without a --map-value: {', '.join(list(values)[:_SHOWN_VALUES])}"
        f"{' …' if len(values) > _SHOWN_VALUES else ''}"
        for column, values in said.items()
    ]


def _notes(reader: PeopleReader, left_out: LeftOut) -> list[str]:
    notes = []
    if reader.n_missing:
        notes.append(f"{count_text(reader.n_missing, 'answer')} missing (an empty cell or NA), and not imported")
    if reader.n_other:
        rows = count_text(reader.n_other, "row")
        notes.append(f"{rows} of no trial of the study (consent, the person, training, a pause), not imported")
    if left_out.previews:
        notes.append(f"{count_text(left_out.previews, 'preview or test')} of the survey, not imported")
    return notes + reader.notes()
