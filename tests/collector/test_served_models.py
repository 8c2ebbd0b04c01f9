"""A model that answers in place of the one that was asked for is another model: said, counted, and in no cell. When
models end: a dated table next to what the SDKs carry, and a sentence before anybody pays."""

from __future__ import annotations

import re
from datetime import date, datetime
from pathlib import Path

import pytest
from aiohttp import web

from slant.analysis import open_trials
from slant.collector import collect
from slant.collector.keep.database import reading
from slant.collector.progress.status import warnings
from slant.collector.providers import PROVIDERS
from slant.collector.providers.lifecycles import lifecycle_of, lifecycles, read_anthropic, read_openai
from tests.support.commands import run_analyze, run_collect
from tests.support.local_server import LocalServer, completion
from tests.support.tiny_study import write_tiny

COUNTS = "SELECT count(*), count(*) FILTER (is_left_out) FROM trials"


def collected(folder: Path, served: str, asked: str = "local/gemini-2.5-pro") -> tuple[Path, str]:
    """A database whose answers all come from the model `served`, and what `collect` said."""

    async def answers(request: web.Request, body: dict) -> web.StreamResponse:
        return web.json_response(completion() | {"model": served})

    db = folder / "t.duckdb"
    with LocalServer(answers) as server:
        options = ["--study", str(write_tiny(folder)), "--model", asked, "--base-url", server.base_url, "--db", str(db)]
        done = run_collect(*options)
    assert done.exit_code == 0, done.output
    return db, done.output


def test_a_request_that_was_routed_to_another_model_is_in_no_cell_and_said_everywhere(tmp_path: Path) -> None:
    db, said = collected(tmp_path, "gemini-3.8-flash")
    sentence = "came from gemini-3.8-flash and not from gemini-2.5-pro"
    assert sentence in said
    assert any(sentence in warning for warning in warnings(db))
    with reading(db) as connection:
        total, left_out = connection.execute(COUNTS).fetchone()
        assert total == left_out > 0
        assert connection.execute("SELECT count(*) FROM tokens_by_condition").fetchone() == (0,)
        assert connection.execute("SELECT served_model, n_left_out FROM served_models").fetchone()[1] == total


def test_a_name_with_line_breaks_makes_no_line_of_its_own_in_what_is_said(tmp_path: Path) -> None:
    forged = "gemini-3.8-flash\nDone: nothing was charged.\u2028Next: rm -rf /"
    db, said = collected(tmp_path, forged)
    said += run_collect("methods", "--db", str(db)).stdout + run_collect("status", "--db", str(db)).output
    with reading(db) as connection:
        assert connection.execute("SELECT DISTINCT served_model FROM attempts").fetchall() == [(forged,)]
    assert said.count("gemini-3.8-flash Done: nothing was charged.") == 3
    assert [line for line in said.splitlines() if line.startswith(("Done: nothing", "Next: rm"))] == []


@pytest.mark.slow
def test_taken_on_purpose_they_are_rows_of_a_model_of_their_own(tmp_path: Path) -> None:
    db, _ = collected(tmp_path, "gemini-3.8-flash")
    options = ["tables", "tokens_by_condition", "--db", str(db), "--format", "csv"]
    assert "gemini" not in run_analyze(*options).stdout
    taken = run_analyze(*options, "--other-models")
    assert "local/gemini-2.5-pro as gemini-3.8-flash" in taken.stdout, taken.output
    with pytest.warns(UserWarning, match="has no rows"):
        assert open_trials(db).is_empty()
    assert set(open_trials(db, other_models=True)["model"]) == {"local/gemini-2.5-pro as gemini-3.8-flash"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "served", ["gemini-2.5-pro", "models/gemini-2.5-pro", "Gemini-2.5-Pro", "gemini-2.5-pro-06-05", "some.gguf", ""]
)
def test_the_same_model_under_another_spelling_stays_in(served: str, tmp_path: Path) -> None:
    db, said = collected(tmp_path, served)
    assert "another model" not in said
    with reading(db) as connection:
        assert connection.execute(COUNTS).fetchone()[1] == 0


@pytest.mark.slow
def test_a_word_of_unknown_meaning_and_a_moved_alias_are_kept_and_said_once_at_the_end(tmp_path: Path) -> None:
    _, said = collected(tmp_path, "gemini-2.5-pro-kestrel")
    assert said.count('what "kestrel" means there is not known') == 1
    assert "changed during" not in said
    n = iter(range(99))

    async def moved(request: web.Request, body: dict) -> web.StreamResponse:
        return web.json_response(completion() | {"model": f"gemini-2.5-pro-{'05-06' if next(n) < 4 else '06-05'}"})

    db = tmp_path / "moved.duckdb"
    (tmp_path / "s").mkdir()
    with LocalServer(moved) as server:
        options = ["--study", str(write_tiny(tmp_path / "s")), "--model", "local/gemini-2.5-pro", "--db", str(db)]
        said = run_collect(*options, "--base-url", server.base_url, "--concurrency", "1").output
    assert said.count("the model behind local/gemini-2.5-pro changed during run") == 1
    with reading(db) as connection:
        assert connection.execute(COUNTS).fetchone()[1] == 0


@pytest.mark.slow
def test_a_series_splits_where_it_was_routed_elsewhere(tmp_path: Path) -> None:
    """The first repetition is answered by the model that was asked for, the second by another one."""
    served = {"model": "gemini-2.5-pro"}

    async def answers(request: web.Request, body: dict) -> web.StreamResponse:
        return web.json_response(completion() | served)

    study, db = str(write_tiny(tmp_path)), tmp_path / "t.duckdb"
    with LocalServer(answers) as server:
        collect(db, study, ["local/gemini-2.5-pro"], base_url=server.base_url)
        served["model"] = "gemini-3.8-flash"
        collect(db, study, ["local/gemini-2.5-pro"], base_url=server.base_url, repetitions=2)
    with reading(db) as connection:
        query = "SELECT served_model, n_trials, n_left_out, first_done_at, last_done_at FROM served_models"
        (_, n_first, *first), (_, n_second, *second) = connection.execute(f"{query} ORDER BY served_model").fetchall()
        assert connection.execute("SELECT sum(n) FROM tokens_by_condition").fetchone() == (n_first,)
    assert (first[0], second[0]) == (0, n_second)
    assert first[2] <= second[1]


@pytest.mark.slow
def test_one_name_at_two_addresses_is_said_before_asking_and_under_tables(tmp_path: Path) -> None:
    study, db = str(write_tiny(tmp_path)), tmp_path / "t.duckdb"
    options = ["--study", study, "--model", "local/m", "--db", str(db)]
    with LocalServer() as first, LocalServer() as second:
        assert "another address" not in run_collect(*options, "--base-url", first.base_url).output
        more = [*options, "--base-url", second.base_url, "--repetitions", "2"]
        assert f"came from another address: {first.base_url}" in run_collect(*more).output
    said = run_analyze("tables", "tokens_by_condition", "--db", db).output
    assert "was asked at 2 addresses" in said
    assert "their fingerprints are the same" in said


TODAY = date(2026, 11, 26)


def of_openai() -> dict[str, str]:
    """The announced days by model, from the text under the SDK's list of models."""
    from openai.types.shared import chat_model  # takes seconds, in each process that collects tests

    text = Path(chat_model.__file__).read_text("utf-8").partition("Deprecated values:")[2]
    days = {}
    for entry in text.split("\n- "):
        if day := re.search(r"date:\s+(20\d\d-\d\d-\d\d)", " ".join(entry.split())):
            days |= dict.fromkeys(re.findall(r'"([^"\s]+)"', entry), day.group(1))
    return days


def test_the_table_has_every_day_that_openais_sdk_carries() -> None:
    days = of_openai()
    assert len(days) > 50
    assert {name: str(lifecycles()["openai", name].ends) for name in days} == days


def test_the_table_has_every_day_that_anthropics_sdk_carries() -> None:
    from anthropic._data import DEPRECATED_MODELS

    for name, day in DEPRECATED_MODELS.items():
        spelt = re.sub(r"(\d)(st|nd|rd|th)", r"\1", day)
        assert lifecycles()["anthropic", name].ends == datetime.strptime(spelt, "%B %d, %Y").date()


def test_each_row_is_of_a_known_provider_and_has_a_source() -> None:
    for (provider, _), row in lifecycles().items():
        assert provider in PROVIDERS
        assert row.source
        assert row.successor or not row.is_routed


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("openai/o3-mini", "is gone since 23 October 2026 (openai"),
        ("openai-responses/o3-mini-2025-01-31", "is gone since 23 October 2026"),
        ("anthropic/claude-3-7-sonnet-20250219", "is gone since 19 February 2026"),
        ("anthropic/claude-sonnet-4-5", "goes on 30 November 2026, in 4 days"),
        ("openai/gpt-5", "goes on 11 December 2026, in 15 days"),
        ("openai/gpt-5", "Its provider names gpt-6.1-sol as successor."),
        ("gemini/gemini-2.5-pro", "will be answered by gemini-3.8-flash from 1 December 2026"),
    ],
)
def test_the_end_of_a_model_is_one_sentence(name: str, sentence: str) -> None:
    known = lifecycle_of(*name.split("/"))
    assert known is not None
    assert sentence in known.sentence(name, TODAY)


@pytest.mark.parametrize("name", ["openai/gpt-6-luna", "anthropic/claude-sonnet-5-5", "local/o3-mini"])
def test_a_model_without_an_announced_end_has_none(name: str) -> None:
    assert lifecycle_of(*name.split("/")) is None


def test_what_a_provider_says_of_its_model_is_read() -> None:
    assert read_openai({"id": "m", "shutdown_date": "2027-01-14"}).ends == date(2027, 1, 14)
    assert read_openai({"id": "m", "shutdown_date": None}) is None
    deprecated = {"id": "c", "lifecycle": "deprecated", "retires_at": "2026-11-30T00:00:00Z"}
    assert read_anthropic(deprecated).ends == date(2026, 11, 30)
    assert read_anthropic({"id": "c", "lifecycle": "active", "retires_at": None}) is None


def test_a_dry_run_says_that_a_model_is_gone_before_it_says_what_it_would_cost(tmp_path: Path) -> None:
    options = ["--study", "rmiat", "--model", "openai/o3-mini", "--dry-run", "--db", str(tmp_path / "t.duckdb")]
    said = run_collect(*options)
    assert "openai/o3-mini is gone since 23 October 2026" in said.stderr
    assert said.exit_code == 0
