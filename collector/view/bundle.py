"""Write what the viewer shows as files: its pages, for a supplement, or a reviewer without Python; and trials as
Inspect Scout reads transcripts.

The chosen trials are copied into a small database first, from which the pages are made: nothing else can get in.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl
from duckdb import ColumnExpression, ConstantExpression

from slant.collector.errors import SlantError, UsageError
from slant.collector.keep.anonymous import FIELDS, anonymised, without_texts_of_people
from slant.collector.keep.database import kept_open, reading, writing
from slant.collector.keep.export import write_rows
from slant.collector.keep.frames import frame_of, registered
from slant.collector.request_messages import messages_of, values_of
from slant.collector.system.files import copied, made_folder, moved, real_file, write_file
from slant.collector.system.scratch import scratch_near, temporary_folder, whole_folder
from slant.collector.view.pages import Pages
from slant.collector.view.trial_filter import MEMORY, TrialFilter, guarded

MAX_TRIALS = 20_000
_LIMIT_S = 3600.0
_PAGES = ("trials", "trial", "pairs", "pair", "games", "game")
_DOWNLOADS = ("trials.csv", "trials.parquet")
_ABOUT_RUNS = (
    "runs", "run_models", "run_tests", "run_conditions", "run_participants", "study_files", "study_contents",
)  # fmt: skip
_START = ("trials", "", ())
State = tuple[str, str, tuple[tuple[str, str], ...]]


class FileLinks:
    """Name files. Each new state of a page is remembered, until all have been written."""

    def __init__(self) -> None:
        self.files: dict[State, str] = {_START: "index.html"}
        self.current: State = _START
        self._before: dict[State, State] = {}

    def __call__(self, kind: str, key: str = "", query: Mapping[str, str] | None = None, fragment: str = "") -> str:
        if kind == "download":
            return key if key in _DOWNLOADS else ""
        if kind not in _PAGES:
            return ""
        if query and "before" in query:  # the page that led to this one
            return self.files[self._before[self.current]] + fragment
        kept = {
            name: value for name, value in (query or {}).items() if kind not in ("trial", "game") or name == "whole"
        }
        state = (kind, key, tuple(sorted(kept.items())))
        if state not in self.files:
            self.files[state] = f"{kind}-{len(self.files)}.html"
        if "after" in kept:
            self._before.setdefault(state, self.current)
        return self.files[state] + fragment

    def unwritten(self) -> Iterator[tuple[State, str]]:
        """Yield the pages still to be written, each with its file, also those that turn up meanwhile."""
        written = 0
        while written < len(self.files):
            state, file = list(self.files.items())[written]
            self.current = state
            yield state, file
            written += 1


def write_bundle(
    db: Path,
    folder: Path,
    where: str,
    on_page: Callable[[int, int], None] = lambda done, known: None,
    *,
    anonymous: bool = False,
    people_texts: bool = False,
) -> int:
    """Write the pages of the trials under an SQL condition into a new folder, `index.html` first, and the trials as CSV
    and Parquet; return the number of trials. `on_page` gets how many pages are written, and how many are known so far.
    `anonymous`: without what reveals who collected them. What people wrote in their own words is left out, unless
    `people_texts` is true.

    The folder appears once it is complete. Raise UsageError if the condition is invalid or leaves too many trials or
    none, or if the folder is not empty.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is there already, and not empty.", "Name a new folder: --bundle FOLDER")
    with temporary_folder("bundle") as place:
        small = place / ("slant.duckdb" if anonymous else db.name)
        n_trials = _copy(db, small, where, anonymous, people_texts)
        links = FileLinks()
        try:
            made_folder(real_file(folder.parent))
            with whole_folder(folder) as made, kept_open(small, place, MEMORY):
                pages = Pages(small, links, bundled=where or "all trials")
                for number, ((kind, key, query), file) in enumerate(links.unwritten(), 1):
                    write_file(made / file, pages.rendered(kind, key, dict(query)).encode("utf-8", "replace"))
                    on_page(number, len(links.files))
                for name in _DOWNLOADS:
                    with pages.chosen({}, place, _LIMIT_S) as trials:
                        write_rows(trials, place / name, name.partition(".")[2])
                    copied(place / name, made / name)
        except OSError as error:
            raise SlantError(f"Can't write {folder}: {error.strerror}.") from error
    return n_trials


def _copy(db: Path, small: Path, where: str, anonymous: bool, people_texts: bool) -> int:
    """Return the chosen trials with all their attempts, and what the database knows about their runs, and no others."""
    frames: dict[str, pl.DataFrame] = {}
    with guarded(db, _LIMIT_S) as connection:
        trials = TrialFilter(where=where).rows(connection).select("trial_id")
        n_trials = trials.aggregate("count(*)").fetchall()[0][0]
        if not 0 < n_trials <= MAX_TRIALS:
            raise UsageError(
                f"A bundle holds 1 to {MAX_TRIALS:,} trials, and the condition leaves {n_trials:,}.",
                'Choose others: --where "condition"; collect view shows them',
            )
        attempts = connection.sql("FROM attempts").join(trials, "trial_id", how="semi")
        frames["attempts"] = frame_of(anonymised(attempts, anonymous))
        stored = frames["attempts"]
        if not people_texts and "human" in stored["source"]:
            attempt_rows = stored.select("source", "option_a", "option_b", *FIELDS).iter_rows(named=True)
            shared = pl.DataFrame([without_texts_of_people(row) for row in attempt_rows], infer_schema_length=None)
            frames["attempts"] = stored.with_columns(shared[name].cast(stored.schema[name]) for name in FIELDS)
        for name in _ABOUT_RUNS:
            rows = connection.table(name)
            if "run_id" in rows.columns:
                rows = rows.join(attempts.select("run_id").distinct(), "run_id", how="semi")
            frames[name] = frame_of(anonymised(rows, anonymous))
    with writing(small) as connection:
        for name, frame in frames.items():
            with registered(connection, "chosen_rows", frame):
                connection.execute(f"INSERT INTO {name} BY NAME SELECT * FROM chosen_rows")  # noqa: S608
        # Each page reads trials several times, and reading a table is several times as quick as deriving them again.
        connection.execute("CREATE TABLE bundled_trials AS FROM all_trials")
        connection.execute("CREATE OR REPLACE VIEW all_trials AS FROM bundled_trials")
    return int(n_trials)


_AT_ONCE = 20_480
_ROLES = {"model": "assistant", "developer": "system", "function_call_output": "tool"}
_KNOWN_ROLES = ("system", "user", "assistant", "tool")
_COLUMNS = (
    "transcript_id source_type source_id date task_set task_id task_repeat model_options score success message_count "
    "total_time total_tokens limit trust_content messages"
)
_KINDS: dict[str, Any] = dict.fromkeys(("task_repeat", "message_count", "total_tokens"), pl.Int64)
_KINDS |= {"total_time": pl.Float64, "success": pl.Boolean, "trust_content": pl.Boolean}
_OWN = {name: _KINDS.get(name, pl.String) for name in _COLUMNS.split()}
_WIDE = ("request", "response")  # they are in `messages`, in words


def export_for_scout(
    db: Path, out: Path, study: str | None = None, *, overwrite: bool = False, anonymous: bool = False
) -> int:
    """Write all trials into the Parquet file `out`; return their number. Its folder, which Scout reads, is
    made if it does not exist. `anonymous`: without what reveals who collected them. Raise UsageError if the file exists
    and `overwrite` is false, or does not end in .parquet."""
    if out.suffix != ".parquet":
        raise UsageError(
            f"Inspect Scout reads Parquet, and {out} is not called so.", "--out transcripts/trials.parquet"
        )
    if out.exists() and not overwrite:
        raise UsageError(f"There is a file {out} already.", "To replace it: --overwrite")
    try:
        made_folder(real_file(out.parent))
        with scratch_near(out) as folder:
            rows, whole = folder / "rows.parquet", folder / "whole.parquet"
            with reading(db, writes_to=folder) as connection:
                settings = "SELECT run_id || ' ' || model AS asked, settings FROM run_models"
                asked = anonymised(connection.sql(settings), anonymous).fetchall()
                trials = connection.view("trials")
                if study is not None:
                    trials = trials.filter(ColumnExpression("study") == ConstantExpression(study))
                write_rows(anonymised(trials.order("run_id, sequence"), anonymous), rows, "parquet")
            n_trials, parts = 0, []
            for number, part in enumerate(_parts(rows, dict(asked))):
                part.write_parquet(folder / f"part-{number:06}.parquet")
                parts.append(folder / f"part-{number:06}.parquet")
                n_trials += part.height
            pl.scan_parquet(parts, glob=False).sink_parquet(whole)
            moved(whole, out)
    except OSError as error:
        raise SlantError(f"Can't write {out}: {error.strerror or error}.") from error
    return n_trials


def _parts(rows: Path, settings: Mapping[str, str]) -> Iterator[pl.DataFrame]:
    scan = pl.scan_parquet(rows, glob=False)
    for start in range(0, max(1, scan.select(pl.len()).collect().item()), _AT_ONCE):
        part = scan.slice(start, _AT_ONCE).collect(engine="in-memory")
        own = pl.DataFrame([_transcript(row, settings) for row in part.iter_rows(named=True)], schema=_OWN)
        yield pl.concat([own, part.drop(*_WIDE, *(name for name in _OWN if name in part.columns))], how="horizontal")


def _transcript(row: Mapping[str, Any], settings: Mapping[str, str]) -> dict[str, Any]:
    messages = list(_messages(row))
    counts = [row["input_tokens"], row["output_tokens"]]
    cell = [row["test"], row["condition"], row["item"], row["wording"], row["round"]]
    is_right = row["choice"] == row["expected"] if row["choice"] and row["expected"] else None
    return {
        "transcript_id": row["trial_id"],
        "source_type": "slant",
        "source_id": row["run_id"],
        "date": None if row["done_at"] is None else f"{row['done_at'].isoformat()}+00:00",
        "task_set": row["study"],
        "task_id": "/".join(str(part) for part in cell if part not in (None, "")),
        "task_repeat": row["repetition"],
        "model_options": json.dumps(values_of(settings.get(f"{row['run_id']} {row['model']}"))),
        "score": json.dumps(row["choice"] if row["outcome"] == "answered" else row["outcome"]),
        "success": is_right,
        "message_count": len(messages),
        "total_time": row["latency_s"],
        "total_tokens": None if None in counts else sum(counts),
        "limit": "token" if row["outcome"] == "truncated" else None,
        "trust_content": False,
        "messages": json.dumps(messages, ensure_ascii=False),
    }


def _messages(row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Return messages as Inspect writes them: the reasoning is a part of the answer's content."""
    for number, message in enumerate(messages_of(row["request"])[0]):
        role = _ROLES.get(message.role, message.role)
        known = role if role in _KNOWN_ROLES else "user"
        yield {"id": f"{row['trial_id']}-{number}", "role": known, "content": message.text}
    if row["answer"] is not None or row["reasoning_text"]:
        reasoning = [{"type": "reasoning", "reasoning": row["reasoning_text"]}] if row["reasoning_text"] else []
        content = [*reasoning, {"type": "text", "text": row["answer"] or ""}]
        own = {"role": "assistant", "content": content, "model": row["served_model"] or row["model"]}
        yield {"id": f"{row['trial_id']}-answer", **own, "source": "generate"}
