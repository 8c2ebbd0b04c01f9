"""What is in the database already, and the journal that what is new goes into: the writing half of an
import, and its report.

What is odd about the rows of a file: gathered row by row, and said once at its end."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from slant.collector.errors import DatabaseBusyError, DatabaseError, JournalError, as_typed
from slant.collector.importing.layouts import Problem, Row
from slant.collector.importing.row_contents import OWN, SharedAnswer
from slant.collector.keep.database import let_go, reading
from slant.collector.keep.journal import Journal, journal_folder, pack_journals
from slant.collector.keep.journal_files import journal_name, journal_paths, journal_size
from slant.collector.keep.journal_loader import CHUNK_BYTES, Loader, LoadReport, load_journals
from slant.collector.records import Run
from slant.collector.terminal import count_text, first_of

_SHOWN_WORDS = 20


@dataclass
class FileNotes:
    """Hold what was odd about the rows of one file, reported once at its end instead of once a row."""

    unknown_words: dict[str, dict[str, None]] = field(default_factory=dict)
    without_tokens: int = 0
    without_source: int = 0
    rows: int = 0
    labels: int = 0
    seen: Counter[int] = field(default_factory=Counter)
    rows_seen: set[int] = field(default_factory=set)
    repeats: int = 0
    copies: int = 0
    missing: int = 0
    other: int = 0
    tells_sameness: bool = False
    first_answers: dict[int, int] = field(default_factory=dict)
    varied: set[int] = field(default_factory=set)

    def note_answer(self, cell: int, measured: tuple[str, ...]) -> None:
        """Note whether a question that is asked again is answered as it was the first time, in all that is measured."""
        answer = hash(measured)
        if self.first_answers.setdefault(cell, answer) != answer:
            self.varied.add(cell)

    def warnings(self, file: str) -> list[str]:
        repeated = [cell for cell, number in self.seen.items() if number > 1] if self.tells_sameness else []
        same = sum(cell not in self.varied for cell in repeated)
        listed = "; ".join(
            f"in {test} {first_of(list(words), _SHOWN_WORDS)}" for test, words in self.unknown_words.items()
        )
        copy = "is an exact copy" if self.copies == 1 else "are exact copies"
        have = "has" if same == 1 else "have"
        noted = (
            (len(self.unknown_words), f"words that the study doesn't have were taken: {listed}"),
            (self.without_tokens, f"{_rows(self.without_tokens, 'has')} no token count; it stays unknown, not 0"),
            (self.without_source, _rows(self.without_source, "doesn't")
             + " say what the tokens count (column token_source)"),
            (self.repeats, f"{_rows(self.repeats, 'asks')} what an earlier row asked: taken as further repetitions (a "
             "column repetition would number them)"),
            (self.copies, f"{_rows(self.copies, 'asks')} what an earlier row asked and {copy} of it, cell by cell, "
             "long text or count and all: taken as further repetitions; look whether they were written twice by "
             "mistake"),
            (same, f"of {count_text(len(repeated), 'question')} that stand there more than once, {same:,} {have} the "
             "same answer each time: so it is at temperature 0, and often on short scales; it is a finding, and such "
             "repetitions tell no more than one answer"),
            (self.missing, f"{_rows(self.missing, 'has')} no answer (an empty cell or NA): missing, which is no "
             "refusal, and not taken"),
            (self.other, f"{_rows(self.other, 'names')} no trial and no answer (instructions and the like), and not "
             "taken"),
            (self.rows >= 20 and not self.labels, "not one answer is one of the two labels as this model sees them; is "
             "--model right?"),
        )  # fmt: skip
        return [f"{file}: {sentence}" for n, sentence in noted if n]


_OF_MANY = {"has": "have", "doesn't": "don't", "asks": "ask", "names": "name"}


def _rows(number: int, verb: str) -> str:
    return f"{count_text(number, 'row')} {verb if number == 1 else _OF_MANY[verb]}"


@dataclass
class ImportReport:
    """Hold what an import did. `run_id` is None if nothing was new. Counts by (model, test) cover what was imported;
    `rows_without_answer` are missing, and were not taken; `refusals` by the paper's rule: the answer is not exactly one
    of the two options. In a study that analyses no tokens (`only_labels` False) they are the answers without a valid
    choice. `has_names`: those of people are stored (of coders)."""

    only_labels: bool = True
    run_id: str | None = None
    rows_imported: int = 0
    rows_already_there: int = 0
    rows_without_answer: int = 0
    problems: list[Problem] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    rows_by_test: Counter[tuple[str, str]] = field(default_factory=Counter)
    refusals_by_test: Counter[tuple[str, str]] = field(default_factory=Counter)
    left_out: tuple[str, ...] = ()
    people: int = 0
    has_names: bool = False

    def count(self, record: Mapping[str, Any], n: int = 1) -> None:
        self.rows_imported += n
        cell = (record["model"], record["test"])
        self.rows_by_test[cell] += n
        is_label = record.get("answer") in (record.get("option_a"), record.get("option_b"))
        self.refusals_by_test[cell] += n * (not (is_label if self.only_labels else record["outcome"] == "answered"))

    def sort(self, models: Sequence[str], tests: Sequence[str]) -> None:
        """Put the counts into the order of the study."""
        cells = sorted(self.rows_by_test, key=lambda cell: (models.index(cell[0]), tests.index(cell[1])))
        self.rows_by_test = Counter({cell: self.rows_by_test[cell] for cell in cells})


Content = tuple[int, int | None, int | None, str | None]
_BATCH, _SHARED_BATCH = 2_000, 20_000
_TRIAL_ID, _TOKENS = OWN.index("trial_id"), OWN.index("tokens")
_REASONING_TOKENS, _OUTPUT_TOKENS = OWN.index("reasoning_tokens"), OWN.index("output_tokens")
_UNREADABLE = "A line of a journal can't be read:"
_DIFFERS = (
    "is already there with another answer, token count or reasoning, and was not replaced. To keep both: number them "
    'in a column "repetition", or import this one into another database (--db)'
)
_STORED = "SELECT trial_id, answer, tokens, reasoning_tokens, output_tokens, md5(reasoning_text) FROM attempts"
_WHERE = "WHERE is_final AND source = 'imported' AND study = ?"


class ImportWriter:
    """Hold what is in the database already, and the journal that what is new goes into."""

    def __init__(self, db: Path, run: Run, report: ImportReport, texts: Iterable[Mapping[str, Any]] = ()) -> None:
        self._db, self._run, self._report, self._texts = db, run, report, texts
        self._journal: Journal | None = None
        self._batch: list[Mapping[str, Any]] = []
        self._shared: list[tuple[SharedAnswer, tuple[Any, ...]]] = []
        self._beside = ThreadPoolExecutor(1, "import")
        self._loader, self._loading = Loader(db), Future[LoadReport]()
        self._loading.set_result(LoadReport())
        self._begun_bytes = 0  # of the journal, whose loading has begun
        self._before = self._journals()
        self._known = self._stored()

    def __enter__(self) -> Self:
        let_go(self._db)  # nothing is read while files are, for minutes: others may write
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self._write()
                self._end()
        finally:
            if self._journal is not None:
                self._journal.close("finished" if kind is None else "stopped")
            self._beside.shutdown()
        if self._journal is not None:
            with ThreadPoolExecutor(1, "pack") as packer:  # what has been opened goes on to be read
                packing = packer.submit(pack_journals, self._db)
                self._load()
                packing.result()

    def add(self, row: Row, record: Mapping[str, Any]) -> None:
        """Take an attempt that is new, as its line in the journal has it; count or report one that is there."""
        counts = (record["reasoning_tokens"], record["output_tokens"])
        text = record["reasoning_text"]  # hashed as DuckDB's md5() does, so that stored texts need not be fetched
        text_md5 = text and hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
        content = _content(record["answer"], record["tokens"], *counts, text_md5)
        if self._is_new(row, record["trial_id"], content):
            self.take(record)

    def add_shared(self, row: Row, shared: SharedAnswer, own: tuple[Any, ...]) -> None:
        """Take an attempt of which all but `own` (by the names of OWN) is shared, as `add` takes one by itself."""
        answer = shared.record.get("answer")
        content = _content(answer, own[_TOKENS], own[_REASONING_TOKENS], own[_OUTPUT_TOKENS], None)
        if not self._is_new(row, own[_TRIAL_ID], content):
            return
        self._shared.append((shared, own))
        if len(self._shared) >= _SHARED_BATCH:
            self._write()
            self._load_meanwhile()

    def _is_new(self, row: Row, trial_id: str, content: Content) -> bool:
        stored = self._known.setdefault(trial_id, content)
        if stored is content:
            return True
        # the same answer: a count or a text that only one of two files has is no contradiction
        more = zip(stored[1:], content[1:], strict=True)
        same = stored[0] == content[0] and all(a is None or b is None or a == b for a, b in more)
        self._report.rows_already_there += same
        if not same:
            self._report.problems.append(Problem(row.file, row.line, _DIFFERS))
        return False

    def take(self, record: Mapping[str, Any]) -> None:
        """Take an attempt that is known to be new."""
        self._batch.append(record)
        if len(self._batch) >= _BATCH:
            self._write()
            self._load_meanwhile()

    def _end(self) -> None:
        """Write what follows all attempts: nothing, unless a writer knows more."""

    def _write(self) -> None:
        if self._batch:
            self._begun().append_many(self._batch)
            for record in self._batch:
                self._report.count(record)
            self._batch.clear()
        if self._shared:
            places: dict[int, int] = {}
            numbers = [places.setdefault(id(shared), len(places)) for shared, _ in self._shared]
            records = list({id(shared): shared.record for shared, _ in self._shared}.values())
            rows = {name: list(values) for name, *values in zip(OWN, *(own for _, own in self._shared), strict=True)}
            known = {name: values for name, values in rows.items() if any(value is not None for value in values)}
            self._begun().append_many([{"kind": "answers", "shared": records, "rows": {"shared_no": numbers} | known}])
            for number, n in Counter(numbers).items():
                self._report.count(records[number], n)
            self._shared.clear()

    def _load_meanwhile(self) -> None:
        """Load what is on disk during reading: most of it is work for another processor. If that can't be
        done now, because somebody reads the database, it is done at the end."""
        if self._journal is None or not self._loading.done():
            return
        if (size := self._journal.durable_bytes) - self._begun_bytes >= CHUNK_BYTES:
            self._note_loaded()
            self._begun_bytes = size
            self._loading = self._beside.submit(self._loader.load, 0.2, {self._journal.path.name: size})

    def _note_loaded(self) -> None:
        with suppress(DatabaseError):
            self._report.warnings += [f"{_UNREADABLE} {problem}" for problem in self._loading.result().problems]

    def _begun(self) -> Journal:
        if self._journal is None:
            self._journal = Journal(self._db, self._run, self._texts)
            # until now the journals were not ours to lock
            sizes = self._journals()
            sizes.pop(f"{self._run.run_id}.jsonl")
            if any(size > self._before.get(name, 0) for name, size in sizes.items()):
                raise JournalError(
                    f'Another collector has written to "{self._db}" since this import began.',
                    "Nothing was imported. Run the same command again.",
                )
            self._report.run_id = self._run.run_id
        return self._journal

    def _journals(self) -> dict[str, int]:
        paths = journal_paths(journal_folder(self._db))
        return {journal_name(path): journal_size(path) for path in paths}

    def _stored(self) -> dict[str, Content]:
        """Return the contents that imports have stored before, by trial id; also those that an interrupted one left
        only in its journal."""
        if not self._db.exists() and not journal_folder(self._db).exists():
            return {}
        load_journals(self._db)
        if not self._db.exists():
            return {}
        with reading(self._db) as connection:
            rows = connection.execute(f"{_STORED} {_WHERE}", [self._run.study])
            known: dict[str, Content] = {}
            while some := rows.fetchmany(10_000):
                known.update((trial_id, _content(*content)) for trial_id, *content in some)
        return known

    def _load(self) -> None:
        self._note_loaded()
        try:
            loaded = load_journals(self._db)
        except DatabaseBusyError as error:
            hint = f"When the database is free: collect load --db {as_typed(self._db)}"
            self._report.warnings.append(f"{error} The rows are safe in the journal. {hint}")
        else:
            self._report.warnings += [f"{_UNREADABLE} {problem}" for problem in loaded.problems]


def _content(
    answer: str | None, tokens: int | None, reasoning: int | None, output: int | None, text_md5: str | None
) -> Content:
    """Return a hash of the answer and its tokens, and the fields that another file may not contradict. A CSV can't tell
    '' from unknown, so neither do we here."""
    return hash((answer or "", tokens)), reasoning, output, text_md5 or None
