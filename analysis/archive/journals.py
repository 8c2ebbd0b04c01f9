"""Put one study's journals into an archive: line by line as they were written, except for what may not be in it, which
is then reported.

Remove texts that may not be shared from journals and results: their hashes stay, and what tables count in them."""

from __future__ import annotations

import getpass
import hashlib
import json
import os
import re
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import polars as pl

from slant.collector.ask.redaction import spellings
from slant.collector.errors import DatabaseError, SlantError
from slant.collector.keep import journal_files
from slant.collector.keep.anonymous import stand_in, without_texts_of_people
from slant.collector.keep.database import reading
from slant.collector.keep.journal import has_collector, journal_folder
from slant.collector.keep.journal_files import journal_name, journal_run, with_sum
from slant.collector.keep.journal_loader import CHUNK_BYTES
from slant.collector.providers import all_providers
from slant.collector.system.files import opened
from slant.collector.system.json_text import encoded

REASONING = "reasoning"
PEOPLE = "people"
"""Texts that people wrote: left out unless they are asked for."""
KINDS = (REASONING,)
"""List what `--without` takes."""
_OF_REASONING = re.compile(r"reason|think|thought|signature|encrypted|summary", re.IGNORECASE)
_WITH_MESSAGES = ("messages", "input", "contents", "prompt")


def without_reasoning(record: dict[str, Any]) -> dict[str, Any]:
    """Return a line of a journal without the texts of reasoning: the field itself, the raw response, which has it in
    each provider's own form, and what later requests of a conversation gave back of it. Answers stay.
    """
    changed = dict(record)
    if record.get("kind") == "answers":
        rows = dict(record["rows"])
        if responses := rows.get("response"):
            rows["response"] = [text and _left_out(text) for text in responses]
        return changed | {"shared": [without_reasoning(shared) for shared in record["shared"]], "rows": rows}
    if record.get("kind") == "readings":
        return changed | {"rows": [without_reasoning(row) for row in record["rows"]]}
    if text := record.get("reasoning_text"):
        changed["reasoning_text"] = stand_in(text)
    if isinstance(record.get("response"), str):
        changed["response"] = _left_out(record["response"])
    if isinstance(record.get("request"), str):
        changed["request"] = _request(record["request"])
    if record.get("kind") == "check" and isinstance(record.get("answers"), str):
        changed["answers"] = _left_out(record["answers"])
    return changed


def _left_out(text: str) -> str:
    return json.dumps({"left_out": stand_in(text)})


def _request(text: str) -> str:
    try:
        body = json.loads(text)
    except ValueError:
        return text
    if not isinstance(body, dict):
        return text
    shared = {name: _shared(value) if name in _WITH_MESSAGES else value for name, value in body.items()}
    return text if shared == body else json.dumps(shared, ensure_ascii=False)


def _shared(part: Any) -> Any:
    """Return messages without what gives reasoning back, whatever a provider calls it."""
    if isinstance(part, list):
        return [_shared(value) for value in part]
    if not isinstance(part, Mapping):
        return part
    if _OF_REASONING.search(str(part.get("type", ""))) or part.get("thought") is True:
        return {"type": part.get("type"), "left_out": stand_in(json.dumps(part, sort_keys=True))}
    return {
        name: stand_in(value if isinstance(value, str) else json.dumps(value, sort_keys=True))
        if _OF_REASONING.search(name) and value not in (None, "", [], {})
        else _shared(value)
        for name, value in part.items()
    }


def texts_left_out(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table of results without the texts that it quotes."""
    names = [name for name in ("text", "reasoning_text") if frame.schema.get(name) == pl.String]
    return frame.with_columns(pl.col(name).map_elements(stand_in, return_dtype=pl.String) for name in names)


_RUNS = "SELECT run_id FROM runs WHERE study = ? ORDER BY ALL"
_MODELS = (
    "SELECT DISTINCT provider || '/' || requested_model FROM run_models WHERE run_id IN "
    "(SELECT run_id FROM runs WHERE study = ?)"
)
OnBytes = Callable[[int, int], None]


@dataclass(frozen=True)
class SealedJournal:
    """Hold one journal in the archive. `sha256` is that of its text as the collector wrote it; `n_changed` lines of it
    were changed, for the reasons `why`."""

    name: str
    sha256: str
    n_lines: int
    n_changed: int
    why: tuple[str, ...]


def journals_of(db: Path, study: str) -> list[Path]:
    """Return the journals that hold what is known about a study: its runs, and later notes on them.

    Raise DatabaseError if one of its runs has no journal any more, or a collector is at work.
    """
    if has_collector(db):
        raise DatabaseError(f'Can\'t seal "{study}" while "{db}" is being collected into.', "Wait until it has ended.")
    with reading(db) as connection:
        runs = {run for (run,) in connection.execute(_RUNS, [study]).fetchall()}
        models = {model for (model,) in connection.execute(_MODELS, [study]).fetchall()}
    paths = journal_files.journal_paths(journal_folder(db))
    if lost := sorted(runs - {journal_run(path) for path in paths}):
        raise DatabaseError(
            f'Can\'t seal "{study}": the journal of the run {lost[0]} is not in "{journal_folder(db).name}".',
            "An archive is made of the journals next to a database. Bring that folder here, too.",
        )
    return [path for path in paths if journal_run(path) in runs or _is_noted_of(path, study, runs, models)]


def _is_noted_of(path: Path, study: str, runs: set[str], models: set[str]) -> bool:
    """Return whether a journal that is not a run's (a merge, a model check, second counts) is about these runs."""
    first = next(_lines(path), b"{}")
    if not first.startswith(b'{"kind":') or first.startswith(b'{"kind":"run"'):
        return False
    return any(_tells_of(json.loads(line), study, runs, models) for line in _lines(path))


def _tells_of(record: dict[str, Any], study: str, runs: set[str], models: set[str]) -> bool:
    kind = record.get("kind")
    if kind == "merge":
        return not runs.isdisjoint(record.get("runs", ()))
    if kind == "recounts":
        return any(_run_of(attempt_id) in runs for attempt_id, _ in record.get("rows", ()))
    if kind == "readings":
        return any(_run_of(row["attempt_id"]) in runs for row in record.get("rows", ()))
    if kind == "check":
        return f"{record.get('provider')}/{record.get('requested_model')}" in models
    return kind in ("study", "look", "sample", "set_aside", "registration") and record.get("study") == study


def _run_of(attempt_id: Any) -> str:
    return str(attempt_id).rpartition("-")[0]


def _lines(path: Path) -> Iterator[bytes]:
    for _, data in journal_files.whole_lines(path, 0, CHUNK_BYTES):
        yield from data.split(b"\n")[:-1]


def seal_journals(
    paths: list[Path], folder: Path, private: PrivateWords, without: tuple[str, ...], on_bytes: OnBytes
) -> list[SealedJournal]:
    """Write the text of each journal into `folder`; of what was read again only the answers of these journals' runs."""
    folder.mkdir(parents=True, exist_ok=True)
    runs = {journal_run(path) for path in paths}
    of_all, done, sealed = sum(map(journal_files.journal_size, paths)), 0, []
    for path in paths:
        digest, n_lines, n_changed, why = hashlib.sha256(), 0, 0, dict[str, None]()
        with opened(folder / journal_name(path), "xb") as file:
            for line in _lines(path):
                digest.update(line + b"\n")
                n_lines += 1
                own = _of_runs(line, runs)
                shared, reasons = _shared_line(own, private, without, path)
                reasons += ["answers to other studies"] if own != line else []
                n_changed += shared != line
                why |= dict.fromkeys(reasons)
                file.write(shared + b"\n")
                done += len(line) + 1
                if n_lines % 500 == 0:
                    on_bytes(done, of_all)
        sealed.append(SealedJournal(journal_name(path), digest.hexdigest(), n_lines, n_changed, tuple(why)))
    on_bytes(of_all, of_all)
    return sealed


def _of_runs(line: bytes, runs: set[str]) -> bytes:
    """Return a line of readings, which may be of all studies of a database, with those of some runs."""
    if not line.startswith(b'{"kind":"readings"'):
        return line
    record = json.loads(line)
    rows = [row for row in record["rows"] if _run_of(row["attempt_id"]) in runs]
    if len(rows) == len(record["rows"]):
        return line
    record.pop("sum", None)
    return with_sum(encoded(record | {"rows": rows}))[:-1]


def _shared_line(line: bytes, private: PrivateWords, without: tuple[str, ...], path: Path) -> tuple[bytes, list[str]]:
    """Return a line as it may be shared, and why it was changed. One that can't be read stays unchanged, if that is
    allowed.
    """
    is_private, is_of_people = private.are_in(line), PEOPLE in without and b'"source":"human"' in line
    if not is_private and not is_of_people and REASONING not in without:
        return line, []
    try:
        record = json.loads(line)
    except ValueError:
        record = None
    if isinstance(record, dict):
        record.pop("sum", None)
    else:
        return private.in_text(line.decode("utf-8", "replace")).encode() if is_private else line, []
    shared, reasons = record, []
    if REASONING in without and (left := without_reasoning(shared)) != shared:
        shared = left
        reasons.append("texts of reasoning")
    if is_of_people and (left := without_texts_of_people(shared)) != shared:
        shared = left
        reasons.append("texts that people wrote")
    if is_private and (left := private.without(shared)) != shared:
        if record.get("kind") == "study":
            raise SlantError(
                f"Can't seal: the text of the study in {path.name} names a key or a folder of this machine.",
                "Take it out of the study's files, then: collect --study FILE",
            )
        shared = left
        reasons.append("names of a machine, its folders or keys")
    return (with_sum(encoded(shared))[:-1], reasons) if shared is not record else (line, [])


_MIN_KEY, _MIN_NAME_LENGTH = 8, 3
_NAMES_A_KEY = re.compile(r"(?:_|\b)(?:KEY|TOKEN|SECRET|PASSWORD)$")
_NO_NAMES = ("localhost", "127.0.0.1", "::1", "0.0.0.0")
_ABOUT_MACHINE = ("command", "machine", "study_file", "settings", "models", "error", "headers", "source", "answers")
"""List fields of a journal that slant or the system wrote. A name of four letters may be a word anywhere else."""


@dataclass(frozen=True)
class PrivateWords:
    """Hold private words. `anywhere`: keys and folders as they occur in text, with their replacements; `names`: those
    of machines and people, which are sought only in what describes the machine."""

    anywhere: tuple[tuple[str, str], ...]
    names: tuple[str, ...]

    def in_text(self, text: str) -> str:
        """Return the text without keys and folders."""
        for word, instead in self.anywhere:
            text = text.replace(word, instead)
        return text

    def are_in(self, data: bytes) -> bool:
        """Return whether these bytes may have any."""
        words = (*(word for word, _ in self.anywhere), *self.names)
        return any(word.encode() in data for word in words)

    def without(self, record: Any, *, is_about_machine: bool = False) -> Any:
        """Return a record of a journal without them."""
        if isinstance(record, str):
            text = self.in_text(record)
            return self._without_names(text) if is_about_machine else text
        if isinstance(record, list):
            return [self.without(value, is_about_machine=is_about_machine) for value in record]
        if isinstance(record, Mapping):
            return {
                name: self.without(value, is_about_machine=is_about_machine or name in _ABOUT_MACHINE)
                for name, value in record.items()
            }
        return record

    def _without_names(self, text: str) -> str:
        for name in self.names:
            text = re.sub(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", "[name]", text)
        return text


def private_words(*folders: Path, addresses: Iterable[str | None] = ()) -> PrivateWords:
    """Return the private words of this process and machine: keys in its environment, its home, these folders, its name
    and its user's, and the hosts of servers at `addresses`."""
    anywhere = {spelt: "[key]" for key in _keys() for spelt in spellings(key)}
    for folder in (Path.home(), Path.cwd(), *folders):
        for place in {folder, folder.resolve()}:
            if place.is_absolute() and len(place.parts) > 1:
                anywhere |= {f"{place}/": "…/", json.dumps(f"{place}/")[1:-1]: "…/"}
    longest_first = sorted(anywhere.items(), key=lambda item: -len(item[0]))
    hosts = {urlsplit(address).hostname or "" for address in addresses if address}
    names = {*_own_names(), *hosts} - {*_NO_NAMES}
    return PrivateWords(tuple(longest_first), tuple(sorted(name for name in names if len(name) >= _MIN_NAME_LENGTH)))


def _keys() -> Iterator[str]:
    named = {provider.key_variable for provider in all_providers()}
    for name, value in os.environ.items():
        if (name in named or _NAMES_A_KEY.search(name)) and len(value.strip()) >= _MIN_KEY and "/" not in value[:1]:
            yield value.strip()


def _own_names() -> Iterator[str]:
    host = socket.gethostname()
    yield from {host, host.partition(".")[0]}
    try:
        yield getpass.getuser()
    except (OSError, KeyError):  # a user without a name, as in containers
        return
