"""Hostile answers, asked for real and shown everywhere: stored as they came, and inert wherever somebody sees them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from aiohttp import web

from slant import analysis
from slant.collector import collect
from slant.collector.keep.database import reading
from slant.collector.keep.export import export_trials
from slant.collector.keep.journal import journal_folder
from slant.collector.terminal import printable
from tests.hostile.answers import ANSWERS, TEXTS, HostileAnswer
from tests.support.chromium import Browser
from tests.support.commands import run_collect
from tests.support.each_row import each_row
from tests.support.local_server import LocalServer, answers
from tests.support.stored import rows_in
from tests.support.tiny_study import write_tiny

UNSEEN = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
)
COMMANDS = (
    ["collect", "status"], ["collect", "methods"], ["collect", "export", "--out", "-", "--format", "csv"],
    *(["analyze", "tables", "served_models", "--format", format] for format in ("table", "csv", "json")),
)  # fmt: skip


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database of one run in which a server gave each of the hostile answers once, and then usual ones."""
    folder, left = tmp_path_factory.mktemp("asked"), list(ANSWERS)

    async def handler(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        if not left:
            return await answers(request, body)
        hostile = left.pop(0)
        headers = {"content-type": "application/json", **hostile.headers, "x-request-id": hostile.name}
        return web.Response(body=hostile.body, headers=headers)

    with LocalServer(handler) as server:
        options = {"concurrency": 1, "max_retries": 0, "time_limit": 20}
        study = str(write_tiny(folder))
        collect(folder / "a.duckdb", study, ["local/small"], base_url=server.base_url, **options, repetitions=11)
    assert not left
    return folder / "a.duckdb"


@pytest.fixture(scope="module")
def rows(asked: Path) -> dict[str, dict[str, Any]]:
    with reading(asked) as connection:
        cursor = connection.execute("SELECT * FROM attempts")
        columns = [column[0] for column in cursor.description or ()]
        found = [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]
    return {row["request_id"] or json.loads(row["headers"] or "{}").get("x-request-id", ""): row for row in found}


@pytest.mark.parametrize("hostile", ANSWERS, ids=lambda hostile: hostile.name)
def test_an_answer_is_stored_as_it_came_and_its_counts_are_known_or_unknown(
    hostile: HostileAnswer, rows: dict[str, dict[str, Any]]
) -> None:
    row = rows[hostile.name]
    assert {name: row[name] for name in hostile.stored} == dict(hostile.stored)
    assert row["output_tokens"] is None or row["output_tokens"] >= 0


@pytest.mark.slow
def test_the_journal_gives_the_same_rows_again(asked: Path, tmp_path: Path) -> None:
    from slant.collector.keep.journal_loader import load_journals

    again = tmp_path / "again.duckdb"
    shutil.copytree(journal_folder(asked), journal_folder(again))
    report = load_journals(again)
    assert report.problems == []
    query = "SELECT attempt_id, answer, served_model, tokens, outcome, headers, response FROM attempts ORDER BY ALL"
    before = rows_in(asked, query)
    assert rows_in(again, query) == before


def test_no_header_of_the_account_and_no_cookie_is_kept(rows: dict[str, dict[str, Any]]) -> None:
    kept = json.loads(rows["headers of markup"]["headers"])
    assert not {"set-cookie", "openai-organization"} & set(kept)


@pytest.mark.slow
def test_a_csv_holds_answers_to_the_letter_and_a_safe_one_begins_no_formula(asked: Path, tmp_path: Path) -> None:
    said = {text.replace("\0", "\ufffd") for text in TEXTS.values()}
    export_trials(asked, None, tmp_path / "exact.csv", view="trials")
    exact = pl.read_csv(tmp_path / "exact.csv", infer_schema=False)["answer"].to_list()
    assert said - set(exact) == set()
    export_trials(asked, None, tmp_path / "safe.csv", view="trials", spreadsheet_safe=True)
    safe = pl.read_csv(tmp_path / "safe.csv", infer_schema=False)
    assert safe.filter(pl.any_horizontal(pl.all().str.contains(r"^[=+\-@\t\r\n]"))).is_empty()


def on_a_terminal(db: Path) -> str:
    """What the commands write to a terminal, one after the other in one process."""
    ours, theirs = os.openpty()
    script = str(Path(__file__).with_name("typed_on_terminal.py"))
    plain = {**os.environ, "TERM": "dumb", "NO_COLOR": "1", "COLUMNS": "300", "SLANT_DB": str(db)}
    command = [sys.executable, script, json.dumps(COMMANDS)]
    process = subprocess.Popen(command, stdout=theirs, stderr=theirs, env=plain)
    os.close(theirs)
    shown = bytearray()
    with open(ours, "rb", buffering=0) as terminal:
        try:
            while block := terminal.read(65_536):
                shown += block
        except OSError:
            pass  # the other end has gone
    assert process.wait() == 0, shown.decode("utf-8", "replace")
    return shown.decode()


@pytest.mark.slow
def test_a_terminal_is_sent_no_character_that_commands_it_hides_or_turns_a_line(asked: Path) -> None:
    shown = on_a_terminal(asked).replace("\r\n", "\n")
    assert shown.count("HYPERLINK") >= 4
    assert UNSEEN.findall(shown) == []


def test_what_a_pipe_is_sent_is_exact(asked: Path) -> None:
    words = ["export", "--view", "trials", "--out", "-", "--format", "jsonl", "--db", str(asked)]
    done = run_collect(*words)
    said = {json.loads(line)["answer"] for line in done.stdout_bytes.splitlines()}
    assert {text.replace("\0", "\ufffd") for text in TEXTS.values()} - said == set()


@each_row("text", TEXTS.values())
def test_printable_text_commands_hides_and_turns_nothing(text: str) -> None:
    assert UNSEEN.search(printable(text)) is None
    assert printable("naïve 👩‍👩‍👧 می‌خواهم\n\tx") == "naïve 👩‍👩‍👧 می‌خواهم\n\tx"
    printable("\ud83d").encode()


@pytest.mark.slow
@pytest.mark.needs("chromium")
def test_a_browser_runs_nothing_of_what_models_wrote(asked: Path, tmp_path: Path, browser: Browser) -> None:
    page = analysis.report(asked, out=tmp_path / "r.html").as_uri()
    browser.open(page)
    browser.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    browser.evaluate(
        "document.querySelectorAll('a, td, th').forEach(one => one.dispatchEvent(new MouseEvent('mouseover')))"
    )
    assert "HYPERLINK" in browser.evaluate("document.body.textContent")
    assert browser.evaluate("typeof evil") == "undefined"
    assert browser.evaluate("document.querySelectorAll('td img, td script, td svg, td a').length") == 0
    assert browser.evaluate("[...document.links].filter(one => !/^(#|https?:|file:)/.test(one.href)).length") == 0
    assert browser.said == []
    assert [address for address in browser.asked if not address.startswith("data:image/png;")] == [page]


@pytest.mark.slow
@pytest.mark.needs("duckdb")
def test_r_opens_and_prints_them_without_harm(asked: Path, tmp_path: Path, root: Path) -> None:
    export_trials(asked, None, tmp_path / "t.csv")
    script = root / "tests" / "hostile" / "open_answers.R"
    command = ["Rscript", str(script), str(root), str(asked), str(tmp_path / "t.csv")]
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert b"\x1b" not in done.stdout
    assert done.stdout.decode().splitlines()[-1] == "TRUE"
