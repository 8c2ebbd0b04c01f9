"""Remove what reveals who collected or answered: from rows that are given away anonymously, from paths and commands
that a database's readers see, and the texts that people wrote.

Rows go by column names, so that tables, views and rows of any layout are treated alike. What a study, a prompt or a
model says is left as it is: it is what was measured.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slant.collector.providers import PROVIDERS
from slant.collector.sources import SOURCES
from slant.collector.system.json_text import json_object

if TYPE_CHECKING:
    import duckdb

_PUBLIC = ", ".join(f"'{p.base_url}'" for p in PROVIDERS.values() if p.base_url and p.key_variable)
_GIVEN_AWAY = ", ".join(f"'{name}'" for name in SOURCES)
# Names of a request's user (OpenAI's and Anthropic's), and what an import calls its files.
_PERSONAL = '\'{"user": null, "metadata": null, "safety_identifier": null, "prompt_cache_key": null, "files": null}\''
_OBJECT = (
    "CASE WHEN json_valid(COLUMN) AND json_type(COLUMN) = 'OBJECT' "
    f"THEN json_merge_patch(COLUMN, {_PERSONAL})::VARCHAR END"
)
# "HTTP 401: …", "ClientConnectorError: Cannot connect to host …": what follows the colon names hosts and accounts
_SAID = r"regexp_replace(COLUMN, '^(HTTP [0-9]+|\w*(?:Error|Timeout)|no connection within 30 s)\b.*$', '\1', 's')"
_FOLDERS = r"""regexp_replace(COLUMN, '(~|[A-Za-z]:)?([\\/][^\\/\s''"]+)+[\\/]', '…/', 'g')"""
# A registration is published under its author's name: its hash or its text leads there.
_REGISTERED = (
    "CASE WHEN starts_with((CASE WHEN json_valid(COLUMN) THEN json_extract_string(COLUMN, '$.format') END), "
    "'slant registration ') IS NOT TRUE THEN COLUMN END"
)
_LAST_NAME = r"regexp_replace(COLUMN, '^([/\\~.…]|[A-Za-z]:).*[/\\]', '')"

INSTEAD: dict[str, str] = {
    **dict.fromkeys(("command", "git_commit", "headers", "request_id", "response", "batch_id", "answers"), "NULL"),
    **dict.fromkeys(("registration", "sha256"), "NULL"),
    "text": _REGISTERED,
    **dict.fromkeys(("request", "settings", "sent"), _OBJECT),
    **dict.fromkeys(("error", "detail"), _SAID),
    **dict.fromkeys(("messages", "problem", "reasons"), _FOLDERS),
    **dict.fromkeys(("served_model", "served_models"), _LAST_NAME),
    "study_file": r"regexp_extract(COLUMN, '[^\\/]*$')",
    "machine": "nullif(regexp_extract(COLUMN, 'Python [0-9.]+'), '')",
    "base_url": f"CASE WHEN COLUMN IN ({_PUBLIC}) THEN COLUMN END",
    "source": f"CASE WHEN COLUMN IN ({_GIVEN_AWAY}) THEN COLUMN ELSE 'another database' END",
    "versions": """CASE WHEN json_valid(COLUMN) THEN json_merge_patch(COLUMN, '{"machine": null}')::VARCHAR END""",
}
"""Map a column of text to the SQL of its replacement, in which COLUMN is the column's value."""


def anonymised(rows: duckdb.DuckDBPyRelation, is_wanted: bool) -> duckdb.DuckDBPyRelation:
    """Return the same rows; if `is_wanted`, without what reveals who collected them. Columns and types stay."""
    if not is_wanted:
        return rows
    columns = []
    for name, kind in zip(rows.columns, map(str, rows.types), strict=True):
        quoted = '"' + name.replace('"', '""') + '"'
        instead = INSTEAD.get(name) if kind == "VARCHAR" else None
        columns.append(f"({instead.replace('COLUMN', quoted)})::VARCHAR AS {quoted}" if instead else quoted)
    return rows.project(", ".join(columns))


_CREDENTIALS = re.compile(r"//[^/@\s]*@")  # in an address that was typed with a name and a password
_LONGEST = 2000


def public_path(path: str | Path, db: Path) -> str:
    """Return a path relative to the database's folder, if it is in that or next to it; else its last name, as in
    …/study.toml.
    """
    place, folder = Path(path).expanduser().resolve(), db.resolve().parent
    for near in (folder, folder.parent):
        if place.is_relative_to(near) and (near == folder or not _holds_homes(near)):
            return os.path.relpath(place, folder)
    return f"…/{place.name}"


def _holds_homes(folder: Path) -> bool:
    """Return whether the entries of this folder may be named after people."""
    home = Path.home().resolve()
    return len(folder.parts) <= 2 or (home.is_relative_to(folder) and home != folder)


def typed_command(db: Path, words: Sequence[str] | None = None) -> str:
    """Return the command that started this process, without its program's folder and with public paths."""
    program, *rest = sys.argv if words is None else words
    name = Path(program).name
    if name == "__main__.py":
        name = f"python -m slant.{Path(program).parent.name}"
    return " ".join([name, *(shlex.quote(_word(word, db)) for word in rest)])[:_LONGEST]


def _word(word: str, db: Path) -> str:
    """Return a word of a command. A path may be a word, or what follows the = in one."""
    option, equals, value = word.partition("=") if word.startswith("-") else ("", "", word)
    if value.startswith(("/", "~", "..")):
        value = public_path(value, db)
    return _CREDENTIALS.sub("//", f"{option}{equals}{value}" if equals else option or value)


COUNTED_WORDS = ("IAT",)
"""List words that a view seeks in reasoning (sql/views/2_tables/iat_mentions.sql); whether a text has them is kept."""
FIELDS = ("answer", "choice", "detail", "factors")
"""List the fields of an attempt that may hold such a text."""


def stand_in(text: str) -> str:
    """Return the replacement of a text: its SHA-256, its length, and those of COUNTED_WORDS that it has."""
    words = "".join(f", with the word {word}" for word in COUNTED_WORDS if word in text)
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    return f"[left out: sha256 {digest}, {len(text)} characters{words}]"


def without_texts_of_people(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return an attempt without what a person wrote in their own words, as is what a model answered."""
    changed = dict(record)
    if record.get("kind") == "answers":
        return changed | {"shared": [without_texts_of_people(shared) for shared in record["shared"]]}
    answer = record.get("answer")
    if record.get("source") != "human" or not answer:
        return changed
    factors = json_object(record.get("factors"))
    pairs = zip(factors.get("kinds") or (), factors.get("values") or (), strict=False)
    written = [value for kind, value in pairs if kind == "text" and value]  # the answers to questions for a text
    known, number = (record.get(name) for name in ("choice", "option_a", "option_b")), str(answer).strip().lstrip("+-")
    if not written and (str(answer) in known or number.replace(".", "", 1).isdecimal()):
        return changed  # it says no more than which option was chosen, or a number
    changed["answer"] = stand_in(str(answer))
    if record.get("choice") in written:
        changed["choice"] = stand_in(str(record["choice"]))
    if written:
        values = [stand_in(value) if value in written else value for value in factors["values"]]
        changed["factors"] = json.dumps({**factors, "values": values}, ensure_ascii=False, separators=(",", ":"))
    return changed
