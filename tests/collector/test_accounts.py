"""What a database tells whoever gets it of who collected it: no account of a provider, no home folder, no name."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from slant.collector.ask.attempts import kept_headers
from slant.collector.keep.anonymous import public_path, typed_command
from slant.collector.keep.database import reading
from slant.collector.keep.journal import journal_folder
from tests.support.local_server import LocalServer, completion
from tests.support.stored import rows_in
from tests.support.tiny_study import write_tiny

ACCOUNTS = {
    "anthropic-organization-id": "5b1d6b0e-4a3c-4d9e-9d0b-2f0a1c3e5d7f",
    "openai-organization": "annes-laboratory",
    "openai-project": "proj_Xa8sKd02mSkq0ZpL",
    "x-account-id": "acct_9182736455",
    "x-ratelimit-account": "annes-laboratory",
    "x-goog-user-project": "annes-project",
    "cf-ray": "8e1f0a2b3c4d5e6f-TXL",
    "set-cookie": "__cf_bm=annescookie",
    "x-whatever-comes-next": "annes-laboratory",
}
USEFUL = {
    "openai-processing-ms": "412",
    "openai-version": "2020-10-01",
    "request-id": "req_011",
    "x-request-id": "req_012",
    "x-ratelimit-limit-requests": "500",
    "anthropic-ratelimit-input-tokens-remaining": "39000",
    "retry-after-ms": "20",
}
LIMIT = "Rate limit reached for small in organization org-Ab12Cd34Ef56 on requests per min (RPM) in projects/annes-own"


def test_of_a_responses_headers_only_those_are_kept_that_name_no_account() -> None:
    assert kept_headers(ACCOUNTS | USEFUL) == USEFUL


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run as somebody types it in a home folder: by absolute paths, of a provider that names the account."""
    home = tmp_path_factory.mktemp("home") / "anne"
    (home / "project").mkdir(parents=True)
    (home / "studies").mkdir()
    study = write_tiny(home / "studies")
    asked = 0

    async def answer(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        nonlocal asked
        asked += 1
        headers = ACCOUNTS | USEFUL
        if asked == 1:
            return web.json_response({"error": {"message": LIMIT}}, status=429, headers=headers)
        return web.json_response(completion(), headers=headers)

    with LocalServer(answer) as server:
        command = [sys.executable, "-m", "slant.collector", "--study", study, "--model", "local/small", "--base-url"]
        command += [server.base_url, f"--db={home}/project/a.duckdb"]
        subprocess.run(command, cwd=home, env={**os.environ, "HOME": str(home)}, check=True, capture_output=True)
    return home / "project" / "a.duckdb"


@pytest.mark.slow
def test_the_answers_are_kept_with_what_is_useful(collected: Path) -> None:
    with reading(collected) as connection:
        (headers,) = connection.execute("SELECT headers FROM trials LIMIT 1").fetchall()[0]
        failed = connection.execute("SELECT response FROM attempts WHERE http_status = 429").fetchall()
    assert USEFUL.items() <= json.loads(headers).items()
    assert ["organization [account] on requests" in response for (response,) in failed] == [True]


def test_neither_database_nor_journal_tells_account_home_or_name(collected: Path) -> None:
    files = [collected, *journal_folder(collected).iterdir()]
    kept = b"".join(path.read_bytes() for path in files)
    secrets = [*(value for value in ACCOUNTS.values()), "org-Ab12", "annes", "anne/", str(collected.parent.parent)]
    assert [secret for secret in secrets if secret.encode() in kept] == []


def test_a_runs_row_tells_paths_as_seen_from_the_database(collected: Path) -> None:
    command, file = rows_in(collected, "SELECT command, study_file FROM runs")[0]
    assert file.startswith("../studies/")
    assert command.startswith(f"python -m slant.collector --study {file} --model local/small --base-url http://127.")
    assert command.endswith("--db=a.duckdb")


@pytest.mark.parametrize(
    ("path", "database", "told"),
    [
        ("/home/anne/work/study.toml", "work/a.duckdb", "study.toml"),
        ("/home/anne/work/mine/study.toml", "work/a.duckdb", "mine/study.toml"),
        ("/home/anne/studies/study.toml", "work/a.duckdb", "../studies/study.toml"),
        ("/home/bob/study.toml", "work/a.duckdb", "…/study.toml"),
        ("/srv/lab/study.toml", "work/a.duckdb", "…/study.toml"),
        ("/home/bob/study.toml", "a.duckdb", "…/study.toml"),
        ("/home/anne/mine/study.toml", "a.duckdb", "mine/study.toml"),
    ],
)
def test_a_path_is_told_from_the_database_or_by_its_last_name(
    monkeypatch: pytest.MonkeyPatch, path: str, database: str, told: str
) -> None:
    monkeypatch.setenv("HOME", "/home/anne")
    assert public_path(path, Path("/home/anne") / database) == told


def test_a_command_is_told_without_folders_and_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/anne")
    words = ["/home/anne/.venv/bin/collect", "--study", "~/work/my study.toml", "--prices=/home/anne/p.toml",
             "--base-url", "http://anne:secret@127.0.0.1:8080/v1", "--db", "/home/anne/work/a.duckdb"]  # fmt: skip
    assert typed_command(Path("/home/anne/work/a.duckdb"), words) == (
        "collect --study 'my study.toml' --prices=../p.toml --base-url http://127.0.0.1:8080/v1 --db a.duckdb"
    )
    notebook = ["/usr/lib/ipykernel_launcher.py", "-f", "/home/anne/.local/share/jupyter/runtime/kernel-1.json"]
    assert typed_command(Path("/data/a.duckdb"), notebook) == "ipykernel_launcher.py -f '…/kernel-1.json'"
