"""Nothing that the commands leave behind names who typed them; what is given away anonymously has no trace at all."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from aiohttp import web

from slant.collector import export_lake, export_trials
from slant.collector.errors import UsageError
from slant.collector.keep.anonymous import anonymised
from slant.collector.keep.database import reading
from slant.collector.view.bundle import export_for_scout, write_bundle
from tests.conftest import ROOT
from tests.support.commands import run_collect
from tests.support.given import database
from tests.support.journals import journal_text
from tests.support.local_server import LocalServer, completion
from tests.support.tiny_study import write_tiny

PERSON, HOST, ACCOUNT, KEY = "janedoe", "vault-of-jane", "org-CanaryAccount42", "sk-te/st+key-0123456789=="
NAMED = {"openai-organization": ACCOUNT, "anthropic-organization-id": ACCOUNT, "x-account": PERSON}
NAMED |= {"set-cookie": f"user={PERSON}", "x-request-id": "req-1"}
PATH = f"/home/{PERSON}/work"
OBJECT = f'{{"user": "{PERSON}", "messages": [], "files": ["{PERSON}.csv"]}}'
NAMES = ("command", "git_commit", "headers", "request_id", "response", "batch_id", "answers")
POISON = {
    **dict.fromkeys((*NAMES, "registration", "sha256"), f"x {PERSON}"),
    "text": f'{{"format": "slant registration 1", "stopping_rule": "{PERSON} decides."}}',
    **dict.fromkeys(("settings", "sent"), OBJECT),
    "detail": f"HTTP 429: rate limit of {ACCOUNT}",
    "error": f"ClientConnectorError: Cannot connect to host {HOST}:8080",
    **dict.fromkeys(("messages", "problem", "reasons"), f"can't read {PATH}/a.csv"),
    **dict.fromkeys(("served_model", "served_models"), f"{PATH}/q.gguf"),
    "study_file": f"../{PERSON}/study.toml",
    "machine": f"Linux-{HOST}, Python 3.11.2",
    "base_url": f"http://{HOST}:8080/v1",
    "source": f"../{PERSON}.duckdb",
    "versions": f'{{"R": "4.2.2", "machine": "{HOST}"}}',
}
FACTS = {(table, "source") for table in ("attempts", "runs")}  # collected, imported or simulated
ANSWERS = "test,condition,item,wording,answer,tokens\ntea_coffee,compatible,oolong,1,Calm,64\n"


def texts(path: Path) -> Iterator[str]:
    """All that a file holds, also what it keeps compressed."""
    yield path.name
    yield path.read_bytes().decode("latin-1")
    if path.name.endswith(".zst"):
        yield journal_text(path).decode()
    elif path.suffix == ".parquet":
        yield str(pl.read_parquet(path).to_dicts())
    elif path.suffix == ".duckdb":
        with duckdb.connect(str(path), read_only=True) as connection:
            for (table,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall():
                yield str(connection.table(table).fetchall())


def holding(folder: Path, words: tuple[str, ...]) -> list[tuple[str, str]]:
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    assert files
    return [
        (str(path.relative_to(folder)), word)
        for path in files
        for text in texts(path)
        for word in words
        if word.lower() in text.lower()
    ]


async def naming(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    """Says in headers whose account it is, and by which path it found its model."""
    said = completion() | {"model": f"/home/{PERSON}/models/gpt-9.gguf"}
    return web.json_response(said, headers=NAMED)


@pytest.fixture(params=["some", pytest.param("all", marks=pytest.mark.slow)])
def left_behind(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    home = tmp_path / PERSON
    (home / "work" / "study").mkdir(parents=True)
    write_tiny(home / "work" / "study")
    (home / "work" / "answers.csv").write_text(ANSWERS)
    (home / "work" / "given" / "scout").mkdir(parents=True)
    words = [sys.executable, "-m", "tests.hostile.every_command"]
    environment = {**os.environ, "HOME": str(home), "USER": PERSON, "LOGNAME": PERSON, "OPENAI_API_KEY": KEY}
    environment |= {"PYTHONPATH": str(ROOT), "R_USER_CACHE_DIR": os.environ.get("R_USER_CACHE_DIR", "/nowhere")}
    own_name = ["unshare", "--uts", "sh", "-c", f'hostname {HOST} && exec "$@"', "sh"]
    is_ours = subprocess.run([*own_name, "true"], capture_output=True, check=False).returncode == 0
    with LocalServer(naming) as server:
        done = subprocess.run(
            [*(own_name if is_ours else []), *words, server.base_url, request.param],
            cwd=home / "work", env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (home / "work" / "said.txt").write_text(done.stdout)
    return home / "work"


@pytest.fixture(scope="module")
def poisoned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database in which every column of text that an export changes holds what names a person or a machine."""
    db = tmp_path_factory.mktemp("poisoned") / f"{PERSON}.duckdb"
    database(db, [{"request": '{"messages": [{"role": "user", "content": "Tea?"}]}'}])
    with duckdb.connect(str(db)) as connection:
        tables = connection.execute("SELECT DISTINCT table_name FROM duckdb_tables()").fetchall()
        for (table,) in tables:
            columns = connection.table(table)
            kinds = zip(columns.columns, map(str, columns.types), strict=True)
            texts_of = [name for name, kind in kinds if kind == "VARCHAR"]
            changed = {name: POISON[name] for name in texts_of if name in POISON and (table, name) not in FACTS}
            if changed and columns.aggregate("count(*)").fetchall() == [(0,)]:
                connection.execute(f"INSERT INTO \"{table}\" ({texts_of[0]}) VALUES ('r1')")  # noqa: S608
            for name, text in changed.items():
                connection.execute(f'UPDATE "{table}" SET "{name}" = ?', [text])  # noqa: S608
    return db


@pytest.mark.slow
def test_what_the_commands_leave_behind_names_nobody(left_behind: Path) -> None:
    said = (left_behind / "said.txt").read_text()
    assert said.count(": exit code 0\n") == said.count(": exit code "), said
    assert holding(left_behind, (HOST, ACCOUNT, KEY)) == []
    told = {name for name, _ in holding(left_behind, (PERSON,))}
    assert told <= {"said.txt"}  # a path that was typed is said again to who typed it


@pytest.mark.slow
def test_every_view_is_given_away_without_a_trace(poisoned: Path, tmp_path: Path) -> None:
    with reading(poisoned) as connection:
        query = "SELECT view_name FROM duckdb_views() WHERE NOT internal"
        views = [name for (name,) in connection.execute(query).fetchall()]
        kept = str(connection.table("attempts").fetchall())
        assert PERSON in kept
        for view in views:
            given = str(anonymised(connection.view(view), True).fetchall()).lower()
            assert [word for word in (PERSON, HOST, ACCOUNT) if word.lower() in given] == [], view
    assert len(views) > 40
    export_trials(poisoned, out=tmp_path / "trials.csv", view="trials", anonymous=True)
    assert holding(tmp_path, (PERSON, HOST, ACCOUNT)) == []


def test_runs_and_registrations_lead_to_no_published_registration(poisoned: Path) -> None:
    with reading(poisoned) as connection:
        for table in ("runs", "registrations"):
            kept = connection.table(table)
            assert PERSON in str(kept.fetchall())
            assert PERSON not in str(anonymised(kept, True).fetchall())
        answers = connection.sql("SELECT unnest(['{\"tea\": 1}', 'Calm.', '{half']) AS text")
        assert anonymised(answers, True).fetchall() == answers.fetchall()


@pytest.mark.slow
def test_lakes_transcripts_and_pages_are_given_away_without_a_trace(poisoned: Path, tmp_path: Path) -> None:
    export_lake(poisoned, tmp_path / "lake", anonymous=True)
    export_for_scout(poisoned, tmp_path / "scout.parquet", anonymous=True)
    write_bundle(poisoned, tmp_path / "pages", "true", anonymous=True)
    assert holding(tmp_path, (PERSON, HOST, ACCOUNT)) == []
    assert "Tea?" in str(pl.read_parquet(tmp_path / "scout.parquet").to_dicts())
    with pytest.raises(UsageError, match="was written anonymously"):
        export_lake(poisoned, tmp_path / "lake")


def test_without_the_option_all_that_is_kept_is_given(poisoned: Path, tmp_path: Path) -> None:
    export_trials(poisoned, out=tmp_path / "all.csv", view="trials")
    assert PERSON in (tmp_path / "all.csv").read_text()
    done = run_collect("view", "--anonymous", "--db", poisoned)
    assert (done.exit_code, "needs --bundle" in done.stderr) == (2, True)


@pytest.mark.slow
def test_a_command_that_crashes_writes_no_image_of_its_memory() -> None:
    code = "from slant.collector.cli import collect; import resource, atexit; "
    code += "atexit.register(lambda: print(resource.getrlimit(resource.RLIMIT_CORE)[0])); collect(['studies'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0"
