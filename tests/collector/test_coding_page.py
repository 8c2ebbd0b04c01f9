"""The page on which people code: keys in Chromium, codes kept at once, and what comes of them in the database."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from slant.collector import collect
from slant.collector.keep.database import reading
from slant.collector.studies.new_study import write_new_study
from tests.support.chromium import Browser
from tests.support.commands import run_collect

pytestmark = pytest.mark.needs("chromium")


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Texts that one simulated model has coded, twelve of them drawn for people."""
    folder = tmp_path_factory.mktemp("coding")
    study = write_new_study("reasons", "coding", folder / "reasons")[0]
    db = folder / "a.duckdb"
    collect(db, study, ["simulated/gpt-6-luna"])
    run_collect(
        "sample", "--study", study, "--n", "12", "--by", "gender", "--db", db, "--out", f"{folder}/s.csv", code=0
    )
    return db


@contextmanager
def coding_page(db: Path, coder: str) -> Iterator[tuple[str, Path, subprocess.Popen[str]]]:
    """The command as a coder starts it: its address and the file of codes. It is killed in the end."""
    codes = db.with_name(f"{coder}.csv")
    words = ["view", "--code", "reasons", "--coder", coder, "--notes", str(codes), "--db", str(db), "--no-open"]
    command = [sys.executable, "-c", "from slant.collector.start import collect; collect()", *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip(), codes, process
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait(30)


def rows(file: Path) -> list[dict[str, str]]:
    with file.open(newline="", encoding="utf-8") as text:
        return list(csv.DictReader(text))


def typed(browser: Browser, key: str) -> None:
    """Press a key, and wait for the next text."""
    browser._events.clear()
    browser.evaluate(f"document.body.dispatchEvent(new KeyboardEvent('keydown', {{key: '{key}', bubbles: true}}))")
    browser.wait_for("Page.loadEventFired")


def test_keys_give_codes_that_are_kept_at_once_and_survive_a_kill(drawn: Path, tmp_path: Path) -> None:
    with Browser(tmp_path / "chromium") as browser:
        with coding_page(drawn, "anna") as (address, codes, _):
            browser.open(address)
            page = browser.evaluate("document.body.innerText")
            assert "no time" in page
            assert not {"man", "woman", "gpt-6-luna", "Trials"} & set(page.replace(",", " ").split())
            for key in "121":
                typed(browser, key)
            assert [row["label"] for row in rows(codes)] == ["time", "money", "time"]
            typed(browser, "u")
            assert [row["label"] for row in rows(codes)] == ["time", "money"]
            assert browser.evaluate("document.getElementById('done').innerText") == "2"
            assert browser.said == []
        with coding_page(drawn, "anna") as (address, codes, _):
            browser.open(address)
            for key in "3" * 10:
                typed(browser, key)
            assert "All texts are coded" in browser.evaluate("document.body.innerText")
    assert len(rows(codes)) == 12
    run_collect("import", "--study", "reasons", "--db", drawn, codes, code=0)
    with reading(drawn) as connection:
        sql = "SELECT coder, count(DISTINCT item) FROM codings WHERE is_person GROUP BY coder"
        assert connection.execute(sql).fetchall() == [("anna", 12)]
        sql = "SELECT count(people), min(probability) FROM coded_texts WHERE test = 'time' AND people IS NOT NULL"
        assert connection.execute(sql).fetchall() == [(12, pytest.approx(12 / 144))]
