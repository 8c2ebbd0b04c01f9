"""A budget and a pilot with batch jobs: only what surely fits is submitted, and the rest waits to be agreed to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from slant.collector import BatchReport, collect
from slant.collector.errors import UsageError
from slant.collector.keep.batch_jobs import JobFolder
from tests.support.batch_server import BatchServer
from tests.support.commands import run_collect
from tests.support.local_server import LocalServer, completion
from tests.support.stored import rows_in
from tests.support.tiny_study import write_tiny

PLANNED = 8
PRICE = '[[prices]]\nprovider = "openai"\nmodel = "small"\ninput = 0\noutput = 1000.0\ndate = 2026-11-21\n{}'
MOST = 0.05  # US dollars: 100 tokens at half of $0.001
BILLED = 0.037  # 74 tokens


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchServer]:
    with BatchServer() as running:
        for name, value in running.environment().items():
            monkeypatch.setenv(name, value)
        yield running


class Paid:
    """`collect(batch=True)` on the tiny study, asked of a model whose answers have at most 100 tokens."""

    def __init__(self, folder: Path) -> None:
        limited = ('provider = "local"\n', 'provider = "openai"\nsettings = { max_completion_tokens = 100 }\n')
        (folder / "study").mkdir()
        self.study, self.db = str(write_tiny(folder / "study", study=limited)), folder / "a.duckdb"
        self.prices = folder / "prices.toml"
        self.prices.write_text(PRICE.format("batch_factor = 0.5\n"))

    def __call__(self, budget_usd: float | None, **options: bool) -> BatchReport:
        how: dict[str, Any] = {"settle_s": 0.0, "poll_s": 0.01, "budget": budget_usd, **options}
        return collect(self.db, self.study, ["small"], prices=self.prices, yes=True, batch=True, **how)

    def live(self, budget_usd: float) -> str:
        """Why a live run of the same study stopped, with so high a budget."""
        with LocalServer() as server, pytest.MonkeyPatch.context() as patch:
            patch.setenv("OPENAI_BASE_URL", server.base_url)
            report = collect(
                self.db,
                self.study,
                ["small"],
                prices=self.prices,
                budget=budget_usd,
                mixed=True,
                yes=True,
                repetitions=2,
            )  # fmt: skip
            assert server.bodies == []
        return str(report.models[0]["stopped_because"])


@pytest.fixture
def paid(tmp_path: Path, server: BatchServer) -> Paid:
    return Paid(tmp_path)


def test_only_requests_whose_most_fits_are_submitted_and_the_others_are_said(paid: Paid, server: BatchServer) -> None:
    report = paid(5.5 * MOST)
    assert [len(job["requests"]) for job in server.jobs] == [5]
    assert report.made[0].reserved_usd == pytest.approx(5 * MOST)
    said = report.models[0]["stopped_because"]
    assert said.startswith("3 requests held back: the budget of $0.28 can't cover")
    assert "up to $0.2500 is reserved for open jobs" in said


@pytest.mark.slow
def test_what_answers_cost_less_than_was_reserved_is_spent_on_the_others(paid: Paid, server: BatchServer) -> None:
    budget = 5.4 * MOST  # after five answers for 0.185, one more fits; after that none
    paid(budget)
    server.finish()
    report = paid(budget)
    server.finish()
    last = paid(budget)
    assert [len(job["requests"]) for job in server.jobs] == [5, 1]
    assert (report.models[0]["done"], last.models[0]["done"], last.open_jobs) == (5, 6, ())
    assert "$0.2220 is spent" in last.models[0]["stopped_because"]
    assert paid(8 * MOST).models[0]["submitted"] == 2


@pytest.mark.slow
def test_waiting_with_a_budget_goes_on_as_money_comes_back_and_ends(paid: Paid, server: BatchServer) -> None:
    server.finishes_at_once = True
    report = paid(7 * BILLED + MOST, wait=True)
    assert report.is_complete
    assert [len(job["requests"]) for job in server.jobs] == [6, 1, 1]
    assert rows_in(paid.db, "SELECT sum(cost_usd) FROM attempts") == [(pytest.approx(8 * BILLED),)]


def test_a_budget_that_fits_nothing_submits_nothing(paid: Paid, server: BatchServer) -> None:
    report = paid(0.9 * MOST)
    assert (server.jobs, report.models[0]["stopped_because"][:8]) == ([], "8 reques")


@pytest.mark.slow
def test_open_jobs_and_lost_ones_count_against_the_budget_of_a_live_run(paid: Paid, server: BatchServer) -> None:
    paid(None)
    assert "$0.0000 is spent and up to $0.4000 for open batch jobs" in paid.live(8.5 * MOST)
    folder = JobFolder(paid.db)
    (job,) = folder.open_jobs()
    folder.close(job, "lost: HTTP 404: no such batch")
    assert "up to $0.4000 for requests that were interrupted, lost, or answered without" in paid.live(8.5 * MOST)
    held_back = str(paid(8.5 * MOST).models[0]["stopped_because"])
    assert "up to $0.4000 is for requests that were interrupted, lost, or answered without" in held_back
    assert "open jobs" not in held_back
    assert held_back.endswith("To continue: a higher --budget")


@pytest.mark.slow
def test_answers_without_counts_are_told_apart_from_open_jobs_when_their_job_is_closed(
    paid: Paid, server: BatchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.support.batch_server.completion", lambda answer: completion(answer) | {"usage": None})
    paid(5.5 * MOST)
    server.finish()
    said = str(paid(5.5 * MOST).models[0]["stopped_because"])
    assert "$0.0000 is spent, up to $0.2500 is for requests that were interrupted, lost, or answered without" in said
    assert [len(job["requests"]) for job in server.jobs] == [5]
    assert "$0.0000 is spent and up to $0.2500 for requests that were interrupted, lost" in paid.live(5.5 * MOST)


@pytest.mark.slow
def test_a_job_of_an_older_slant_is_reserved_by_what_it_asks(paid: Paid, server: BatchServer) -> None:
    paid(None)
    (file,) = JobFolder(paid.db).folder.glob("*.json")
    text = file.read_text()
    assert ',"reserved_usd":0.' in text
    file.write_text(text.partition(',"reserved_usd"')[0] + "}")
    assert "up to $0.4000" in paid.live(8.5 * MOST)


def test_a_budget_of_batches_wants_their_price_before_anything_is_sent(paid: Paid, server: BatchServer) -> None:
    paid.prices.write_text(PRICE.format(""))
    with pytest.raises(UsageError, match="no price of batch jobs is known for openai/small"):
        paid(5.0)
    with pytest.raises(UsageError, match="budget must be above 0"):
        paid(0.0)
    assert server.calls.total() == 0


@pytest.mark.slow
def test_a_pilot_goes_by_batch_and_the_rest_after_its_answers(paid: Paid, server: BatchServer) -> None:
    def typed(*more: str) -> tuple[int, str]:
        words = ["--study", paid.study, "--model", "small", "--batch", "--db", str(paid.db), "--pilot", "4", *more]
        done = run_collect(*words, "--prices", paid.prices)
        return done.exit_code, done.stderr

    code, said = typed("--yes")
    assert (code, "These are the pilot's 4 trials" in said) == (3, True)
    server.finish()
    code, said = typed()
    assert (code, "The pilot (4 trials) has its answers" in said, "with --yes" in said) == (0, True, True)
    assert "times 0.5" in said
    assert [len(job["requests"]) for job in server.jobs] == [4]
    code, said = typed("--yes", "--budget", "20")
    assert (code, [len(job["requests"]) for job in server.jobs]) == (3, [4, 4])
    server.finish()
    code, said = typed("--yes")
    assert (code, "Done" in said) == (0, True)
    assert len(set(server.asked())) == PLANNED
