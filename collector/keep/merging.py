"""Merge databases of several collectors: their journals are copied, then loaded like any other.

Merging twice is like merging once: a journal is named after its run, and copied under that name completely or not at
all. The same command resumes a killed merge. Who collected what is recorded before the first journal is copied, for if
two collectors held the same conversation one of them counts (keep/journal_loader.py), and a game is never a mix of
both.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from slant.collector.arguments import checked_arguments
from slant.collector.errors import DatabaseError, JournalError, UsageError, as_typed
from slant.collector.keep import journal, journal_files
from slant.collector.keep.anonymous import public_path
from slant.collector.keep.batch_jobs import JobFolder
from slant.collector.keep.database import fetched, writing
from slant.collector.keep.database_errors import check_place
from slant.collector.keep.journal_lines import parse
from slant.collector.keep.journal_loader import CHUNK_BYTES, Loader, loaded_offsets, set_repeated_aside, waiting_bytes
from slant.collector.system import files
from slant.collector.system.operating_system import flush_onto_disk, sync_folder
from slant.collector.system.shipped_files import sql_query
from slant.collector.terminal import count_text

_BLOCK = 1_000_000
Brought = Literal["copied", "there", "damaged"]
MERGE = "merge-"
OnStep = Callable[[str, int, int], None]
"""Receive what is done (copying, loading), how many bytes are done, and how many there are."""


@dataclass(frozen=True)
class MergeReport:
    """Report what was merged. Dicts of `sources`: source, study, study_version, variant, seed, runs, attempts, trials
    (final answers), repeated (those of them that don't count, for another collector had ended the trial first).

    `copied` journals are new here, had grown, or had lines that are damaged here; of a damaged journal its sound lines
    are brought, and it counts as neither copied nor there. `problems` say what could not be merged, `notes` what to
    know."""

    db: Path
    sources: tuple[dict[str, Any], ...]
    copied: int
    already_there: int
    attempts_loaded: int
    repeated: int
    problems: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass
class _Source:
    path: Path
    folder: Path
    name: str
    runs: set[str] = field(default_factory=set)


@checked_arguments()
def merge(
    db: str | Path, sources: Sequence[str | Path], on_step: OnStep = lambda what, done, of_all: None
) -> MergeReport:
    """Bring into `db` what the databases `sources` hold (or folders of journals, also without their .duckdb).

    Trials, failed tries, model checks, second counts and pilots are all copied; what `analyze` computed is computed
    again. Studies, versions and seeds are distinguished as always. Raise UsageError or DatabaseError if a source is not
    one, JournalError while a process collects into `db`; what is damaged is a problem in the report, and the rest is
    merged.

    >>> merge("all.duckdb", ["shard1.duckdb", "shard2.duckdb"])  # doctest: +SKIP
    """
    db = Path(db)
    check_place(db)
    opened = [_source(Path(path), db) for path in sources]
    if not opened:
        raise UsageError("There is nothing to merge.", "Name the databases: collect merge --db all.duckdb A.duckdb …")
    problems = [sentence for source in opened for sentence in journal_files.left_out_files(source.folder)]
    notes = [note for source in opened for note in _notes(source)]
    lock = journal.FolderLock(journal.journal_folder(db))
    try:
        problems += journal.mend_tails(journal.journal_folder(db))
        copied, already_there = _bring(db, opened, problems, on_step)
        report = Loader(db, _counted(db, on_step)).load()
        with writing(db) as connection:
            repeated = set_repeated_aside(connection)
        journal_files.compress_finished(journal.journal_folder(db))
    finally:
        lock.release()
    rows = tuple(row for source in opened for row in _rows(db, source))
    notes += [
        f"{run} was set aside on one machine and taken back on another: it is set aside. If that is wrong: "
        f'collect set-aside {run} --undo --reason "…" --db {as_typed(db)}'
        for (run,) in fetched(db, sql_query("undecided_set_asides"))
    ]
    return MergeReport(
        db, rows, copied, already_there, report.rows, repeated, (*problems, *report.problems), (*notes, *report.notes)
    )


def _source(path: Path, db: Path) -> _Source:
    folder = path if path.is_dir() else journal.journal_folder(path)
    if not folder.is_dir():
        what = "has no journal next to it" if path.exists() else "is not there"
        raise DatabaseError(
            f'Can\'t merge "{path}": it {what}.',
            f"The answers are in the folder {folder.name} next to a database; it must come along.",
        )
    if folder.resolve() == journal.journal_folder(db).resolve():
        raise UsageError(
            f'"{path}" is the database that all is merged into.', "Name another with --db, or leave it out."
        )
    paths = journal_files.journal_paths(folder)
    if not paths:
        raise DatabaseError(f'Can\'t merge "{path}": there is no journal in the folder {folder}.')
    of_db = folder.with_name(folder.name.removesuffix(".journal"))
    return _Source(of_db, folder, public_path(of_db, db), {journal_files.journal_run(path) for path in paths})


def _notes(source: _Source) -> Iterator[str]:
    if journal.has_collector(source.path):
        yield f"{source.name} is being collected into: what it has by now is merged. When it has ended, merge again."
    if jobs := JobFolder(source.path).open_jobs():
        yield f"{source.name} waits for {len(jobs):,} batch jobs: fetch them there, then merge again."
    with suppress(DatabaseError):  # without its .duckdb, or held by another process: only the journals count
        loaded = loaded_offsets(source.path, 0.0)
        if lost := [name for name in loaded if name.removesuffix(journal_files.PLAIN) not in source.runs]:
            yield f"{source.name} has lost {len(lost):,} of its journals ({lost[0]}): what they held is not merged."


def _bring(db: Path, sources: list[_Source], problems: list[str], on_step: OnStep) -> tuple[int, int]:
    """Copy what is new; return how many journals were copied, and how many existed already."""
    folder = journal.journal_folder(db)
    files.remove_left_parts(folder)
    paths = [path for source in sources for path in journal_files.journal_paths(source.folder)]
    _write_lineages(db, sources)
    of_all, done, n_of = sum(path.stat().st_size for path in paths), 0, Counter[Brought]()
    for path in paths:
        size = path.stat().st_size
        try:
            n_of[bring_journal(path, folder, problems)] += 1
        except JournalError as error:
            problems.append(error.what)
        except OSError as error:
            raise JournalError(f'Can\'t copy "{path}" to "{folder}": {error.strerror or error}.') from error
        done += size
        on_step("copying", done, of_all)
    return n_of["copied"], n_of["there"]


def _write_lineages(db: Path, sources: list[_Source]) -> None:
    """Record in a journal whose the runs are, unless that was recorded before."""
    folder = journal.journal_folder(db)
    known = {record["lineage"] for record in _merge_lines(folder)}
    own = _Source(
        db, folder, db.name, {journal_files.journal_run(path) for path in journal_files.journal_paths(folder)}
    )
    lines = {line["lineage"]: line for source in (own, *sources) for line in _lineages(source)}
    if new := [line for lineage, line in lines.items() if lineage not in known]:
        name = f"{journal.journal_for('merge')}{journal_files.PLAIN}"
        journal.write_whole(folder, name, b"".join(map(journal.encode, new)))


def _lineages(source: _Source) -> Iterator[Mapping[str, Any]]:
    """Yield the runs of each collector in a source. What it asked itself after a merge continues all of
    them.
    """
    runs = {run for run in source.runs if not run.startswith(MERGE)}
    merged = [(record["source"], set(record["runs"])) for record in _merge_lines(source.folder)]
    own = runs.difference(*(of_one for _, of_one in merged))
    for name, of_one in merged or [(source.name, set())]:
        members = sorted(own | of_one)
        if members:
            lineage = hashlib.blake2b("\n".join(members).encode(), digest_size=8).hexdigest()
            yield {"kind": "merge", "lineage": lineage, "source": name, "merged_at": journal.utc_now(), "runs": members}


def _merge_lines(folder: Path) -> list[dict[str, Any]]:
    """Return the records of earlier merges. Lines that are none are left to the loader, which names them."""
    lines = []
    for path in journal_files.journal_paths(folder):
        if path.name.startswith(MERGE):
            with suppress(JournalError):
                for _, data in journal_files.whole_lines(path, 0, CHUNK_BYTES):
                    lines += [record for record in parse(data).special if record["kind"] == "merge"]
    return lines


def _counted(db: Path, on_step: OnStep) -> Callable[[int], None]:
    """Report how much of the journals is loaded, chunk by chunk."""
    done, of_all = 0, waiting_bytes(db)

    def on_bytes(n_bytes: int) -> None:
        nonlocal done
        done += n_bytes
        on_step("loading", done, of_all)

    return on_bytes


def _rows(db: Path, source: _Source) -> list[dict[str, Any]]:
    columns = ("study", "study_version", "variant", "seed", "runs", "attempts", "trials", "repeated")
    rows = fetched(db, sql_query("merged_answers"), {"runs": sorted(source.runs)})
    return [{"source": source.name} | dict(zip(columns, row, strict=True)) for row in rows]


def bring_journal(path: Path, folder: Path, problems: list[str]) -> Brought:
    """Bring the sound lines of a journal into the folder, without a half-written last one: copied, or, if one of its
    name is there, what that lacks. Raise JournalError if the folder has another journal of its name.

    A journal only grows, so of two copies the longer one begins with the shorter one. Where they differ one of them is
    damaged, which the checksums of lines tell: what is sound in one and lacking in the other is appended, so that
    neither order of merging loses an answer, and no loaded line moves.
    """
    name = journal_files.journal_name(path)
    there = next((p for p in journal_files.journal_paths(folder) if journal_files.journal_name(p) == name), None)
    if there is None:
        return _copied(path, folder, problems)[0]
    size, size_there = _size(path), _size(there)
    if not _differ(path, there, min(size, size_there)):
        if size <= size_there:
            return "there"
        brought, target = _copied(path, folder, problems)
        if there != target:
            files.remove(there)
            sync_folder(folder)
        return brought
    return _completed(path, there, folder, problems)


def _completed(path: Path, there: Path, folder: Path, problems: list[str]) -> Brought:
    """Append the sound lines that a journal lacks because it, or its copy, is damaged."""
    here = {_digest(line) for line, is_sound in _lines(there) if is_sound}
    lacking, n_sound, n_bad = [], 0, 0
    for line, is_sound in _lines(path):
        n_bad += not is_sound
        n_sound += is_sound
        if is_sound and _digest(line) not in here:
            lacking.append(line)
    n_bad_here = sum(not is_sound for _, is_sound in _lines(there))
    has_nothing_in_common = n_sound > 0 and len(here) > 0 and len(lacking) == n_sound
    if (not n_bad and not n_bad_here) or has_nothing_in_common:
        raise JournalError(
            f"{path} was left out: {journal_files.journal_name(path)} is here already, with other lines in it."
        )
    if lacking:
        name = journal_files.journal_name(there)
        part = files.part_of(folder / name)
        with files.opened(part, "wb") as file:
            with suppress(JournalError):
                for _, data in journal_files.whole_lines(there, 0, CHUNK_BYTES):
                    file.write(data)
            file.writelines(line + b"\n" for line in lacking)
            flush_onto_disk(file)
        files.moved(part, folder / name)
        if there != folder / name:
            files.remove(there)
            sync_folder(folder)
    if n_bad:
        problems.append(_damage(path, n_bad))
        return "damaged"
    return "copied" if lacking else "there"


def _copied(path: Path, folder: Path, problems: list[str]) -> tuple[Brought, Path]:
    """Copy a journal, and return where it is now; if it can't be unpacked to its end, what precedes the damage."""
    n_bad, target = 0, folder / journal_files.journal_name(path)
    part = files.part_of(target)
    try:
        with files.opened(part, "wb") as file:
            try:
                for _, data in journal_files.whole_lines(path, 0, CHUNK_BYTES):
                    n_bad += len(journal_files.checked_lines(data.split(b"\n")[:-1])[1])
                    file.write(data)
                is_whole = True
            except JournalError as error:
                problems.append(error.what)
                is_whole = False
            flush_onto_disk(file)
        if is_whole and path.name.endswith(journal_files.PACKED):
            files.copied(path, part)  # its bytes, instead of compressing it again
            target = folder / path.name
        files.moved(part, target)
    finally:
        files.remove(part)
    if n_bad:
        problems.append(_damage(path, n_bad))
    return "copied" if is_whole and not n_bad else "damaged", target


def _damage(path: Path, n_bad: int) -> str:
    lines = count_text(n_bad, "line")
    return f"{path} has {lines} that can't be read; the others are merged. Merge an undamaged copy, and it brings them."


def _lines(path: Path) -> Iterator[tuple[bytes, bool]]:
    """Yield the lines of a journal, and whether each is what was written; one that can't be unpacked ends with an empty
    line that is not."""
    try:
        for _, data in journal_files.whole_lines(path, 0, CHUNK_BYTES):
            lines = data.split(b"\n")[:-1]
            bad = journal_files.checked_lines(lines)[1]
            yield from ((line, index not in bad) for index, line in enumerate(lines))
    except JournalError:
        yield b"", False


def _size(path: Path) -> int:
    """Return the bytes of a journal's text; 0 if its head is damaged."""
    with suppress(JournalError):
        return journal_files.journal_size(path)
    return 0


def _digest(line: bytes) -> bytes:
    return hashlib.blake2b(line, digest_size=12).digest()


def _differ(one: Path, other: Path, n_bytes: int) -> bool:
    """Return whether two journals differ in their first bytes, or one of them can't be read so far."""
    if n_bytes == 0:
        return os.stat(one).st_size > 0 and os.stat(other).st_size > 0
    with journal_files.opened_journal(one) as first, journal_files.opened_journal(other) as second:
        while n_bytes > 0:
            try:
                block = first.read(min(n_bytes, _BLOCK))
                read = b""
                while len(read) < len(block) and (more := second.read(len(block) - len(read))):
                    read += more
            except journal_files.UNREADABLE:
                return True
            if not block or read != block:
                return True
            n_bytes -= len(block)
    return False
