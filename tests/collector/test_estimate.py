"""Estimates before a run: ranges that hold, what they rest on, and what the answers in the database change. The pilot:
a balanced slice, asked first, kept like every answer, from which the full run goes on."""

from __future__ import annotations

import json
import random
import statistics
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from slant.collector.cost.estimate import Guess, Sizes, Span, dollars, estimate_run, prediction
from slant.collector.cost.quote import balanced_slice, pilot_of, quote_rows, quotes, sentences
from slant.collector.designs.association.simulated import COLUMNS
from slant.collector.errors import UsageError
from slant.collector.keep.database import reading
from slant.collector.plan.conversations import quotas
from slant.collector.providers.prices import Price
from slant.collector.studies.catalogue import load_study
from tests.support.commands import run_collect
from tests.support.given import database
from tests.support.local_server import LocalServer, completion
from tests.support.planned import planned
from tests.support.processes import ROOT, TypedCommand
from tests.support.stored import rows_in
from tests.support.tiny_study import write_tiny
from tests.support.typed import typed

PRICE = Price("p", "m", 1.0, 10.0, None, None, 0.5, "2026-11-21", "")
NOTHING = Guess(400.0, None)
numbers = st.floats(0, 1e5)
sizes = st.builds(
    Sizes,
    st.just(9),
    st.integers(1, 1000),
    st.none() | numbers,
    numbers,
    st.none() | numbers,
    st.just(1),
    st.none() | numbers,
)


@given(
    st.integers(0, 10**6),
    st.none() | sizes,
    st.builds(Guess, numbers, st.none() | numbers),
    st.sampled_from([None, PRICE]),
    st.dictionaries(st.sampled_from(["requests", "tokens", "output_tokens"]), st.floats(1, 1e6)),
    st.integers(1, 999),
)
def test_every_estimate_lies_within_its_range_and_an_unknown_stays_unknown(
    pending: int, known: Sizes | None, guess: Guess, price: Price | None, limits: dict[str, float], slots: int
) -> None:
    found = estimate_run(pending, known, guess, price, limits, slots)
    for span in (found.input_tokens, found.output_tokens, found.cost_usd, found.time_s):
        assert span is None or 0 <= span.low <= span.about * (1 + 1e-9) <= span.high * (1 + 1e-9) + 1e-9
    assert (found.output_tokens is None) == (known is None and guess.output_tokens is None)
    assert (found.cost_usd is None) == (price is None or found.output_tokens is None)


def test_the_range_of_further_answers_holds_nineteen_times_of_twenty() -> None:
    draw = random.Random(1)
    held = 0
    for _ in range(400):
        earlier = [draw.lognormvariate(6, 0.5) for _ in range(50)]
        sizes = Sizes(50, 50, 1, statistics.mean(earlier), statistics.stdev(earlier), 1, 1)
        span = prediction(300, sizes)
        held += span.low <= sum(draw.lognormvariate(6, 0.5) for _ in range(300)) <= span.high
    assert 0.92 <= held / 400 <= 0.98


def test_cost_and_time_of_known_numbers_are_what_one_reckons_by_hand() -> None:
    sizes = Sizes(100, 100, 200.0, 50.0, 0.0, 50, 2.0)
    found = estimate_run(1000, sizes, NOTHING, PRICE, {}, 10)
    assert found.cost_usd == Span(*[pytest.approx(0.2 + 0.5)] * 3)  # 200,000 in at $1, 50,000 out at $10 a million
    assert found.time_s == Span(160, 200, 250)
    batch = estimate_run(1000, sizes, NOTHING, PRICE, {}, 10, is_batch=True)
    assert batch.cost_usd is not None
    assert batch.cost_usd.about == pytest.approx(0.35)
    assert (batch.time_s.high, "a day" in batch.time_rests_on) == (86_400, True)


def test_a_providers_limit_that_is_slower_than_the_answers_decides_the_time() -> None:
    sizes = Sizes(100, 100, 200.0, 50.0, 0.0, 50, 2.0)
    found = estimate_run(1000, sizes, NOTHING, PRICE, {"requests": 100.0, "tokens": 100_000.0}, 10)
    assert found.time_s.about == 600
    assert "100 requests a minute" in found.time_rests_on
    by_tokens = estimate_run(1000, sizes, NOTHING, PRICE, {"requests": 1e6, "tokens": 10_000.0}, 10)
    assert by_tokens.time_s.about == 60 * 250_000 / 10_000


@pytest.mark.parametrize(
    ("amount", "text"), [(None, "?"), (0.0, "$0.00"), (0.0042, "$0.0042"), (12.345, "$12.35"), (1234.5, "$1,234.50")]
)
def test_an_unknown_cost_is_a_question_mark_and_cents_are_not_rounded_to_nothing(
    amount: float | None, text: str
) -> None:
    assert dollars(amount) == text


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")


def quote(db: Path, model: str = "openai/o3-mini") -> tuple[dict[str, Any], str]:
    found = quotes(planned(load_study("rmiat"), [model], db), 16)
    return quote_rows(found)[0], "\n".join(sentences(found))


def test_without_answers_the_published_table_tells_the_length_and_the_range_says_so(tmp_path: Path) -> None:
    row, said = quote(tmp_path / "none.duckdb")
    assert row["to_ask"] == 12920
    assert 1e6 < row["output_tokens_about"] < 1e7
    assert row["output_tokens_low"] * 2 == pytest.approx(row["output_tokens_about"], abs=2)
    assert 0 < row["cost_usd_low"] < row["cost_usd_about"] < row["cost_usd_high"]
    assert "published table" in said
    assert "(assumed)" in said
    assert "as of 2026-05-06" in said
    assert not (tmp_path / "none.duckdb").exists()


def test_a_study_without_a_table_knows_no_lengths_and_one_with_its_own_says_whose_it_is(tmp_path: Path) -> None:
    def said(**changed: tuple[str, str]) -> str:
        study = load_study(str(write_tiny(tmp_path, **changed)))
        run_plan = planned(study, ["local/small"], tmp_path / "none.duckdb", base_url="http://localhost:1/v1")
        return sentences(quotes(run_plan, 16))[0]

    assert "small: tokens: no estimate, because the length of its answers is unknown" in said()
    numbers = ",".join(["100", "20", *["0"] * 7])
    rows = "".join(f"small,tea_coffee,{name},{numbers}\n" for name in ("compatible", "incompatible"))
    (tmp_path / "simulation.csv").write_text(f"model,test,condition,{','.join(COLUMNS)}\n{rows}")
    own = said(study=('stimuli = "stimuli.csv"\n', 'stimuli = "stimuli.csv"\nsimulation = "simulation.csv"\n'))
    assert "tokens: the study's own table for simulations" in own


def test_a_model_that_nobody_knows_has_a_cost_that_is_unknown_and_said_to_be(tmp_path: Path) -> None:
    row, said = quote(tmp_path / "none.duckdb", "openai/gpt-77")
    assert (row["output_tokens_about"], row["cost_usd_about"]) == (None, None)
    assert "no price is known for openai/gpt-77" in said
    assert "without openai/gpt-77, whose cost is not known" in said


def test_earlier_answers_of_the_model_and_the_limits_it_was_told_take_the_place_of_guesses(tmp_path: Path) -> None:
    answered = {
        "source": "collected",
        "provider": "openai",
        "study_version": load_study("rmiat").version,
        "input_tokens": 300,
        "output_tokens": 1000,
        "sent_at": "2026-11-21 10:00:00",
        "done_at": "2026-11-21 10:00:05",
        "headers": json.dumps({"x-ratelimit-limit-requests": "60", "x-ratelimit-remaining-requests": "59"}),
    }
    others = [answered | {"model": "other", "output_tokens": 9}, answered | {"study": "other", "output_tokens": 9}]
    db = database(
        tmp_path / "a.duckdb", [answered] * 40 + others + [answered | {"source": "simulated", "output_tokens": 9}]
    )
    row, said = quote(db)
    assert (row["input_tokens_about"], row["output_tokens_about"]) == (12920 * 300, 12920 * 1000)
    assert row["cost_usd_about"] == pytest.approx(12920 * (300 * 1.1 + 1000 * 4.4) / 1e6)
    assert row["time_s_about"] == 12920 * 60 / 60
    assert "40 earlier answers" in said
    assert "60 requests a minute" in said


@given(st.integers(1, 12), st.integers(1, 4), st.integers(0, 300))
def test_conditions_get_alike_and_tests_differ_by_one_a_condition_at_most(tests: int, arms: int, trials: int) -> None:
    names = [f"t{number}" for number in range(tests)]
    cells = {(test, f"c{arm}") for test in names for arm in range(arms)}
    if trials < arms:
        with pytest.raises(UsageError, match=f"must be {arms} or more"):
            quotas(cells, names, trials)
        return
    found = quotas(cells, names, trials)
    assert trials - arms < sum(found.values()) <= trials
    for test in names:
        assert len({found[cell] for cell in cells if cell[0] == test}) == 1
    assert max(found.values()) - min(found.values()) <= 1


def test_a_pilot_of_rmiat_has_both_arms_of_the_same_words_in_every_test() -> None:
    study = load_study("rmiat")
    model = study.model("simulated/o3-mini")
    trials = [c.trials[0] for c in balanced_slice(study, model, study.seed, 1, 60)]
    assert Counter((trial.test, trial.condition) for trial in trials) == {
        (test.test, condition): 3 for test in study.tests for condition in ("compatible", "incompatible")
    }
    pairs = Counter((trial.test, trial.item, trial.wording) for trial in trials)
    assert set(pairs.values()) == {2}


@pytest.mark.slow
def test_the_same_slice_is_taken_again_and_of_every_model(tmp_path: Path) -> None:
    run_plan = planned(load_study("rmiat"), None, tmp_path / "none.duckdb", simulated=True)
    first, again = pilot_of(run_plan, 50), pilot_of(run_plan, 50)
    assert first.slice == again.slice
    assert [model_plan.planned for model_plan in first.model_plans] == [50] * 5
    assert first.slice is not None
    assert len(first.slice) == 250


class Terminal(TypedCommand):
    """`collect --pilot` on the tiny study, typed on a real terminal or behind a pipe."""

    def __init__(self, folder: Path, server: LocalServer) -> None:
        (folder / "study").mkdir()
        more = ["--base-url", server.base_url, "--repetitions", 10, "--pilot", 12]
        super().__init__(write_tiny(folder / "study"), "local/small", folder / "a.duckdb", *more)

    def piped(self, *more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.words, *more], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )

    def typed(self, answer: str) -> tuple[int, str]:
        return typed(self.words, answer, ROOT)

    def trials(self) -> list[tuple[str, int]]:
        with reading(self.db) as connection:
            query = "SELECT condition, count(DISTINCT trial_id)::INT FROM trials GROUP BY ALL ORDER BY 1"
            return connection.execute(query).fetchall()


@pytest.fixture
def server() -> object:
    with LocalServer() as running:
        yield running


@pytest.fixture
def terminal(tmp_path: Path, server: LocalServer) -> Terminal:
    return Terminal(tmp_path, server)


def test_a_pilot_shows_neither_simulated_answers_nor_those_of_unknown_cost_as_free(tmp_path: Path) -> None:
    async def every_other_is_counted(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        n[0] += 1
        return web.json_response(completion(**({} if n[0] % 2 else {"prompt_tokens": None, "completion_tokens": None})))

    n = [0]
    priced = '[[prices]]\nprovider = "local"\nmodel = "small"\ninput = 1e4\noutput = 0\ndate = 2026-11-21\n'
    (tmp_path / "prices.toml").write_text(priced, "utf-8")
    words = ["--study", write_tiny(tmp_path), "--db", tmp_path / "a.duckdb", "--repetitions", 2]
    run_collect(*words, "--simulated", code=0)
    with LocalServer(every_other_is_counted) as server:
        own = ["--base-url", server.base_url, "--prices", tmp_path / "prices.toml", "--pilot", 8, "--format", "json"]
        (row,) = json.loads(run_collect(*words, *own, code=0).stdout)
    assert (row["model"], row["trials"], row["cost_of_one"]) == ("small", 8, "$1.00")


@pytest.mark.slow
def test_behind_a_pipe_the_pilot_ends_with_what_to_type_and_yes_goes_on_from_it(
    terminal: Terminal, server: LocalServer
) -> None:
    done = terminal.piped()
    assert done.returncode == 0
    assert "The pilot (12 trials) has its answers" in done.stderr
    assert "same command with --yes" in done.stderr
    assert terminal.trials() == [("compatible", 6), ("incompatible", 6)]
    done = terminal.piped("--yes")
    assert done.returncode == 0
    assert terminal.trials() == [("compatible", 40), ("incompatible", 40)]
    assert len(server.bodies) == 80
    assert "The pilot (12 trials) has its answers; all 80 so far:" in terminal.piped().stderr


@pytest.mark.slow
def test_a_program_gets_one_table_of_rows_from_a_pilot_and_from_a_pilot_with_its_rest(terminal: Terminal) -> None:
    alone, whole = terminal.piped("--format", "json"), terminal.piped("--format", "json", "--yes")
    assert [(row["model"], row["trials"]) for row in json.loads(alone.stdout)] == [("small", 12)]
    assert [row["model"] for row in json.loads(whole.stdout)] == ["small"]
    assert "The rest would cost" in alone.stderr
    assert "longest" in whole.stderr


def test_yes_asks_pilot_and_rest_in_one_go(terminal: Terminal, server: LocalServer) -> None:
    done = terminal.piped("--yes")
    assert done.returncode == 0
    assert "earlier answers (95 % range)" in done.stderr
    assert len(server.bodies) == 80
    assert rows_in(terminal.db, "SELECT count(*) FROM runs WHERE end_reason = 'finished'") == [(2,)]


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "asked"), [("n", 12), ("y", 80)])
def test_on_a_terminal_a_person_decides_after_the_pilot(
    terminal: Terminal, server: LocalServer, answer: str, asked: int
) -> None:
    code, shown = terminal.typed(answer)
    assert code == 0, shown
    assert "Collect the other 68 trials?" in shown
    assert len(server.bodies) == asked


@pytest.mark.slow
def test_a_pilot_smaller_than_the_conditions_is_refused_before_anything_is_asked(
    terminal: Terminal, server: LocalServer
) -> None:
    done = terminal.piped("--pilot", "1")
    assert done.returncode == 2
    assert "--pilot must be 2 or more" in done.stderr
    assert server.bodies == []
