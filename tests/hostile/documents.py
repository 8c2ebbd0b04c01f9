"""Registrations, lakes and notes of strangers, and the sentence for each.

`become` is handed the path of a true one (a file of JSON, a folder, a file of CSV) and makes another thing of it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import duckdb
import rfc8785

from tests.hostile.become import Hostile, instead, link_to, of_bytes


def _canonical(**changed: Any) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(rfc8785.dumps({**json.loads(path.read_bytes()), **changed}))


def _plan(**changed: Any) -> Callable[[Path], object]:
    def become(path: Path) -> None:
        document = json.loads(path.read_bytes())
        document["plans"][0] |= changed
        path.write_bytes(rfc8785.dumps(document))

    return become


_CHANGED, _NO_JSON = "was changed after", "no JSON that can be canonical"
REGISTRATIONS = (
    Hostile("is a pipe", instead(os.mkfifo), "it is no file"),
    Hostile("is a device", link_to("/dev/zero"), "it is no file"),
    Hostile("has 33 million lists", of_bytes(b"[" + b"[]," * 33_000_000 + b"[]]"), "more parts than any plan"),
    Hostile("nests lists 100,000 deep", of_bytes(b"[" * 100_000), _NO_JSON),
    Hostile("is null bytes", of_bytes(b"\0" * 100), _NO_JSON),
    Hostile("is empty", of_bytes(b""), _NO_JSON),
    Hostile("ends with a line end", lambda path: path.write_bytes(path.read_bytes() + b"\n"), _CHANGED),
    Hostile("has a key twice", lambda p: p.write_bytes(b'{"canonical_form":"",' + p.read_bytes()[1:]), _CHANGED),
    Hostile("has a seed of 5,000 digits", _plan(seed="9" * 5000), "the seed of a plan is no whole number"),
    Hostile("has a seed of words", _plan(seed="seven"), "the seed of a plan is no whole number"),
    Hostile("has models that are a table", _plan(models={}), 'no "models"'),
    Hostile("looks at words", _canonical(looks={"planned": 1, "at": ["x"]}), "at no number of trials"),
    Hostile("looks before the first trial", _canonical(looks={"planned": 1, "at": [-5]}), "at no number of"),
    Hostile("has no study", _canonical(study=None), 'no "study"'),
    Hostile("has prompts that are words", _canonical(prompts={"x": "y"}), "no lists of hashes"),
)


def _part(folder: Path) -> Path:
    return next(folder.glob("attempts/**/*.parquet"))


def _table(folder: Path, name: str) -> Path:
    return next(folder.glob(f"tables/*/{name}.parquet"))


def _written(find: Callable[[Path], Path], query: str) -> Callable[[Path], object]:
    """A Parquet file of the lake, made anew by a query in which IT stands for the file."""

    def become(folder: Path) -> None:
        path = find(folder)
        other = path.with_name("other")
        with duckdb.connect() as connection:
            connection.sql(query.replace("IT", f"'{path}'")).write_parquet(str(other))
        other.replace(path)

    return become


def _of_table(name: str, do: Callable[[Path], object]) -> Callable[[Path], object]:
    return lambda folder: do(_table(folder, name))


def _next_to_runs(name: str, data: bytes) -> Callable[[Path], object]:
    return lambda folder: _table(folder, "runs").with_name(name).write_bytes(data)


def _link_outside(folder: Path) -> None:
    part = _part(folder)
    part.rename(folder.parent / "secret.parquet")
    part.symlink_to(folder.parent / "secret.parquet")


def _footer(n_bytes: int) -> Callable[[Path], object]:
    """A part that says so of the length of its own description."""
    return lambda folder: _part(folder).write_bytes(
        _part(folder).read_bytes()[:-8] + n_bytes.to_bytes(4, "little") + b"PAR1"
    )


def _replaced(expression: str, column: str) -> Callable[[Path], object]:
    return _written(_part, f"SELECT * REPLACE ({expression} AS {column}) FROM IT")  # noqa: S608


_DEEP = "{'a': " * 300 + "1" + "}" * 300
_WITH_DEEP = f"SELECT *, {_DEEP} AS x FROM IT"  # noqa: S608
_WIDE = f"FROM IT, (SELECT {', '.join(f'{n} AS c{n}' for n in range(2000))})"
LAKES = (
    Hostile("a table is a pipe", _of_table("runs", instead(os.mkfifo)), "it is a pipe (runs.parquet)"),
    Hostile(
        "a table is a device", _of_table("runs", link_to("/dev/zero")), "links are not followed here (runs.parquet)"
    ),
    Hostile("a table is called SQL", _next_to_runs("a'; DROP TABLE runs; --.parquet", b"x"), "is damaged"),
    Hostile("a table is called like a view", _next_to_runs("trials.parquet", b"x"), "Can't read the lake"),
    Hostile("a table has other columns", _written(lambda f: _table(f, "runs"), "SELECT 1 AS x"), '"runs" does'),
    Hostile("a part is a link to a file outside", _link_outside, "links are not followed here (part-"),
    Hostile("a part is no Parquet", lambda folder: _part(folder).write_bytes(b"x" * 99), "No magic bytes"),
    Hostile("a part has 2,000 columns more", _written(_part, _WIDE), "its attempts have"),
    Hostile("a part has one column", _written(_part, "SELECT attempt_id FROM IT"), "Can't read the lake"),
    Hostile("counts are words", _replaced("'many'", "tokens"), "is VARCHAR, not BIGINT"),
    Hostile("counts are lists", _replaced("[tokens]", "tokens"), "is BIGINT[], not BIGINT"),
    Hostile("counts have 38 digits", _replaced("1::DECIMAL(38, 0)", "tokens"), "is DECIMAL(38,0), not BIGINT"),
    Hostile("counts are not numbers", _replaced("'nan'::DOUBLE", "tokens"), "is DOUBLE, not BIGINT"),
    Hostile("ids are structures", _replaced("{'a': attempt_id}", "attempt_id"), "STRUCT(a VARCHAR), not VARCHAR"),
    Hostile("answers are bytes", _replaced("'x'::BLOB", "answer"), "is BLOB, not VARCHAR"),
    Hostile("answers are maps", _replaced("MAP {answer: 1}", "answer"), "MAP(VARCHAR, INTEGER), not VARCHAR"),
    Hostile("answers are 300 structures deep", _replaced(_DEEP, "answer"), "…, not VARCHAR"),
    Hostile("a new column is 300 structures deep", _written(_part, _WITH_DEEP), "STRUCT("),
    Hostile("flags are words", _replaced("'yes'", "is_final"), "is VARCHAR, not BOOLEAN"),
    Hostile("times are numbers", _replaced("1", "done_at"), "is INTEGER, not TIMESTAMP"),
    Hostile("a part describes itself in 4 GB", _footer(2**32 - 1), "Can't read the lake"),
    Hostile("a part describes itself in no byte", _footer(0), "Can't read the lake"),
    Hostile("a part is empty", lambda folder: _part(folder).write_bytes(b""), "Can't read the lake"),
)

_NOTES: Mapping[str, tuple[str | bytes, str]] = {
    "has other columns": ("a,b\n1,2\n", "is no file of notes"),
    "is Latin-1": (b"trial_id,label,note\nt,caf\xe9,\n", "it is not UTF-8"),
    "has two notes on one trial": ("trial_id,label,note\nt,a,\nt,b,\n", "two notes on the trial t"),
    "has a note on no trial": ("trial_id,label,note\n,a,b\n", "a note without a trial_id"),
    "has a cell of 200 kB": (f"trial_id,label,note\nt,a,{'x' * 200_000}\n", "is no CSV"),
    "is null bytes": (b"\0" * 100, "is no file of notes"),
}
NOTES = (
    Hostile("is a pipe", instead(os.mkfifo), "it is no file"),
    Hostile("is a device", link_to("/dev/zero"), "it is no file"),
    Hostile("has 2 GB", lambda path: os.truncate(path, 2 * 10**9), "more than 100 MB"),
    *(
        Hostile(name, of_bytes(text if isinstance(text, bytes) else text.encode()), sentence)
        for name, (text, sentence) in _NOTES.items()
    ),
)

CONDITIONS = {
    "a second statement": ("true; DROP TABLE attempts", "more than one statement"),
    "the end of the query": ("true) OR (true", "can't be read"),
    "another file": ("trial_id IN (SELECT content FROM read_text('/etc/passwd'))", "disabled by configuration"),
    "a table that never ends": ("(SELECT sum(a.tokens) FROM a, attempts b) > 0", "DuckDB can't read this"),
    "a text of 4 GB": ("length(repeat('a', 4000000000)) > 0", "can't use repeat()"),
    "the same in quotes": ("\"repeat\"('a', 4000000000) > ''", "can't use repeat()"),
    "the same behind a point": ("trial_id.lpad(2000000000, 'b') > ''", "can't use lpad()"),
    "the same inside": (
        "EXISTS (SELECT 1 WHERE len(list_transform([1], lambda x: range(10**9))) = 1)",
        "can't use range",
    ),
    "SQL in a text": ("EXISTS (FROM query('SELECT 1'))", "can't use query()"),
    "SQL as JSON": (
        "EXISTS (FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1')))",
        "can't use json_execute_serialized_sql()",
    ),
    "a table named in a text": ("EXISTS (FROM query_table('attempts'))", "can't use query_table()"),
    "bits without end": ("bit_count(bitstring('1', 2000000000)) > 1", "can't use bitstring()"),
    "a text that doubles": ("list_reduce(['x', 'x', 'x'], lambda a, b: a || a) > ''", "can't use list_reduce()"),
    "a query of itself": (
        "EXISTS (WITH RECURSIVE t AS (SELECT 'x' AS a UNION ALL SELECT a || a FROM t) FROM t)",
        "can't use WITH RECURSIVE",
    ),
    "a sum over everything": ("sum(tokens) > 5", "DuckDB can't read this"),
    "a setting": ("(SET threads = 64)", "can't be read"),
    "2,001 characters": ("true" + " " * 1997, "2,000 characters at most"),
    "NUL": ("\0", "can't"),
}
"""Conditions of SQL that somebody may type into the viewer, each with a piece of the sentence that refuses it."""
