"""Where answers come from: what a run's row says, what `status` warns of, and the paragraph for a paper."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import tomllib
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from slant.collector import collect
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of
from slant.collector.provenance.run_history import public_address
from slant.collector.system import shipped_files as this_version
from slant.collector.system.shipped_files import git_commit
from tests.support.commands import run_collect
from tests.support.given import database
from tests.support.local_server import LocalServer, completion
from tests.support.stored import rows_in
from tests.support.tiny_study import write_tiny

PRICES = '[[prices]]\nprovider = "local"\nmodel = "small"\ninput = 1\noutput = 10\ndate = 2026-11-21\nsource = ""\n'


@pytest.fixture
def tiny(tmp_path: Path) -> str:
    (tmp_path / "study").mkdir()
    with_settings = ('provider = "local"\n', 'provider = "local"\nsettings = { temperature = 0.5 }\n')
    return str(write_tiny(tmp_path / "study", study=with_settings))


class Moved:
    """A server whose clock is an hour ahead, and that serves another model from the fifth answer on."""

    def __init__(self) -> None:
        self.n = 0

    async def __call__(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        self.n += 1
        served = "small-1" if self.n < 5 else "small-2"
        date = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
        return web.json_response(completion() | {"model": served}, headers={"Date": date})


@pytest.fixture
def db(tiny: str, tmp_path: Path) -> Path:
    (tmp_path / "prices.toml").write_text(PRICES, "utf-8")
    with LocalServer(Moved()) as server:
        collect(
            tmp_path / "a.duckdb",
            tiny,
            ["local/small"],
            base_url=server.base_url,
            repetitions=2,
            variant="balanced",
            concurrency=1,
            time_limit=7,
            prices=tmp_path / "prices.toml",
        )
    return tmp_path / "a.duckdb"


def row(db: Path, query: str) -> dict[str, Any]:
    with reading(db) as connection:
        found: list[dict[str, Any]] = frame_of(connection.sql(query)).to_dicts()
    assert len(found) == 1
    return found[0]


def test_a_checkout_that_nobody_has_installed_knows_its_version(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(this_version, "version", missing)
    stated = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert run_collect("--version").stdout == f"slant, version {stated} (a checkout, not installed)\n"


def test_a_runs_row_says_what_was_sent_what_was_not_and_by_which_code(db: Path, tiny: str) -> None:
    run = row(db, "FROM runs")
    assert (run["study_title"], run["study_source"], run["study_file"]) == ("Tea and coffee", None, "study/study.toml")
    assert run["git_commit"] == git_commit()
    model = row(db, "FROM run_models")
    assert json.loads(model["sent"]) == {"temperature": 0.5}
    assert json.loads(model["left_to_default"]) == ["top_p", "top_k", "max_tokens", "reasoning_effort", "seed"]
    assert (model["api_version"], json.loads(model["price"])["output"]) == ("v1", 10.0)
    first = row(db, "SELECT prompt_hash FROM attempts WHERE position = 0")
    assert model["prompt_hash"] == first["prompt_hash"]


def test_a_name_and_password_in_an_address_are_kept_nowhere(db: Path) -> None:
    assert public_address("https://me:secret@host:8080/v1?key=secret") == "https://host:8080/v1"
    assert row(db, "SELECT base_url FROM run_models")["base_url"].startswith("http://127.0.0.1:")
    kept = [path for path in db.parent.rglob("*") if path.is_file()]
    assert [path.name for path in kept if b"somebody:secret" in path.read_bytes()] == []


def test_answers_tell_the_clocks_offset_the_prompts_and_what_they_cost(db: Path) -> None:
    found = row(db, "FROM run_provenance")
    assert found["clock_offset_s"] == pytest.approx(3600, abs=2)
    assert (found["n_trials"], found["n_prompts"], found["served_models"]) == (16, 16, "small-1, small-2")
    assert found["cost_usd"] == pytest.approx(16 * (100 + 10 * 74) / 1e6)


def test_status_shows_cost_and_warns_of_a_model_that_changed_in_mid_run(db: Path) -> None:
    result = run_collect("status", "--db", str(db), "--format", "json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)[0]["cost_usd"] == pytest.approx(0.01344)
    assert "the model behind small changed during run" in result.stderr
    assert "small-1 answered 4 trials" in result.stderr
    assert "small-2 answered 12 trials" in result.stderr


def test_the_paragraph_tells_what_a_reader_of_the_paper_must_know(db: Path) -> None:
    text = run_collect("methods", "--db", str(db)).stdout
    for part in [
        "“Tea and coffee” (drinks, version",
        "variant balanced",
        "provider local",
        "API v1",
        "answered as small-1 and small-2",
        "temperature = 0.5",
        "left to the provider's default: top_p",
        "The outcome was the number of tokens",
        "Different prompts by model: ",
        "16 trials",
        "each cell 2 times",
        "seed 0",
        "16 were answered",
        "cost $0.013 by list prices of 2026-11-21",
        "clocks differed from ours by 3",
        "slant",
        (git_commit() or "slant")[:12],
    ]:
        assert part in text, part


def test_a_model_that_changed_while_several_processes_asked_it_is_told_at_their_end(tiny: str, tmp_path: Path) -> None:
    with LocalServer(Moved()) as server:
        words = ["--study", tiny, "--model", "local/small", "--base-url", server.base_url, "--concurrency", "1"]
        run = run_collect(*words, "--processes", 2, "--repetitions", 2, "--db", tmp_path / "a.duckdb", code=0)
    assert "the model behind small changed during run" in run.stderr


class Charging:
    """A server that counts no token in each fourth answer, and says in the one after it what it charged."""

    def __init__(self) -> None:
        self.n = 0

    async def __call__(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        self.n += 1
        usage = {0: {"prompt_tokens": None, "completion_tokens": None}, 1: {"cost": 2.0}}
        return web.json_response(completion(**usage.get(self.n % 4, {})))


@pytest.mark.parametrize("processes", ["1", "2"])
def test_what_a_run_cost_is_said_without_the_answers_whose_cost_nobody_knows(
    tiny: str, tmp_path: Path, processes: str
) -> None:
    (tmp_path / "prices.toml").write_text(PRICES, "utf-8")
    with LocalServer(Charging()) as server:
        words = ["--study", tiny, "--model", "local/small", "--base-url", server.base_url, "--concurrency", "1"]
        words += ["--prices", str(tmp_path / "prices.toml"), "--processes", processes, "--repetitions", "2"]
        run = run_collect(*words, "--db", str(tmp_path / "a.duckdb"))
    n = len(rows_in(tmp_path / "a.duckdb", "SELECT 1 FROM attempts WHERE cost_usd IS NULL"))
    assert n > 0
    assert "cost_usd of local/small lacks requests that were interrupted, lost, or answered without" in run.stderr
    assert f"counts or a price: {n}." in run.stderr
    charged = "by list prices of 2026-11-21 and by what the provider charged (for 4 attempts)"
    said = run_collect("methods", "--db", str(tmp_path / "a.duckdb")).stdout
    assert f"{charged}, without {n} answers of unknown cost." in said


def test_answers_of_a_model_without_a_price_are_no_part_of_what_they_cost(tiny: str, tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text(PRICES, "utf-8")
    with LocalServer() as server:
        words = ["--model", "local/small", "--model", "local/large", "--base-url", server.base_url]
        words += ["--prices", str(tmp_path / "prices.toml"), "--db", str(tmp_path / "a.duckdb")]
        run_collect("--study", tiny, *words, code=0)
    said = run_collect("methods", "--db", str(tmp_path / "a.duckdb")).stdout
    assert "by list prices of 2026-11-21, without 8 answers of unknown cost." in said


@pytest.mark.slow
def test_the_command_line_asks_for_exactly_what_is_there_already(db: Path, tiny: str) -> None:
    lines = run_collect("methods", "latest", "--db", str(db)).stdout.splitlines()
    words = shlex.split(lines[-1].strip())
    assert words[:5] == ["collect", "--study", tiny, "--model", "small"]
    assert words[-4:] == ["--concurrency", "1", "--time-limit", "7"]
    result = run_collect(*words[1:], "--db", str(db), "--dry-run", "--format", "json")
    assert json.loads(result.stdout)[0]["to_ask"] == 0


@pytest.mark.slow
def test_a_run_that_goes_on_tells_of_the_earlier_ones_and_counts_their_answers(tiny: str, tmp_path: Path) -> None:
    db = tmp_path / "b.duckdb"
    with LocalServer() as server:
        for more in ({"pilot": 2}, {}):
            collect(db, tiny, ["local/small"], base_url=server.base_url, **more)  # type: ignore[arg-type]
    text = run_collect("methods", "--db", str(db)).stdout
    assert "Of 8 trials, 8 were answered." in text
    assert "They come from 2 runs (" in text
    assert re.search(r"Different prompts by model: 2 \(MD5 \w+\) of small in run \S+-drinks-\w+; 6 \(MD5 ", text)
    first, last = (r[0] for r in rows_in(db, "SELECT run_id FROM runs ORDER BY started_at"))
    assert "Of 2 trials" in run_collect("methods", first, "--db", str(db)).stdout
    assert f"run {last}, on" in text


def test_a_study_stands_for_its_last_run_by_name_or_file(db: Path, tiny: str) -> None:
    last = run_collect("methods", "--db", str(db))
    for study in ("drinks", tiny):
        assert run_collect("methods", "--study", study, "--db", str(db)).stdout == last.stdout, study
    for wrong in (("--study", "drnks"), ("latestt", "--study", "drinks")):
        assert run_collect("methods", *wrong, "--db", str(db)).exit_code == 2, wrong


def test_an_unknown_run_is_named_with_the_nearest_and_a_database_without_runs_says_so(db: Path, tmp_path: Path) -> None:
    result = run_collect("methods", "latestt", "--db", str(db))
    assert result.exit_code == 2
    assert 'There is no run "latestt"' in result.stderr
    assert '"latest"' in result.stderr
    none = run_collect("methods", "--db", str(database(tmp_path / "none.duckdb", [], [])))
    assert (none.exit_code, "holds no run yet" in none.stderr) == (1, True), none.output


def test_a_checkout_tells_its_commit_and_whether_files_differ(root: Path) -> None:
    if not (root / ".git").exists():
        pytest.skip("this is no checkout")
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True, check=True)
    assert (git_commit() or "").removesuffix("+") == head.stdout.strip()
