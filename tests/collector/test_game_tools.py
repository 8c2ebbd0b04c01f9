"""`--answer tool`: games that are played by calling a tool, in each provider's own words, over real sockets."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slant.collector import collect
from slant.collector.designs import design_named
from slant.collector.errors import ProviderError, UnknownNameError
from slant.collector.plan.conversations import plan
from slant.collector.providers.tools import arguments
from slant.collector.records import Reply, ToolCall
from slant.collector.studies.catalogue import load_study
from tests.collector.test_games import cut_off
from tests.support.commands import run_collect
from tests.support.local_server import LocalServer, standing_for
from tests.support.planned import planned
from tests.support.stored import rows_in
from tests.support.tiny_game import QUICK, TRIALS, factors, write_game
from tests.support.tool_servers import DIALECT, LISTED, Body, caller

TOOL = 'answers.tool = { addon = "Call assign.", tool = "assign", tool_description = "Fills the post." }\n'
KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY")
WITH_TOOL = ("answers.cot = {", f"{TOOL}answers.cot = {{")


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for key in KEYS:
        monkeypatch.setenv(key, "sk-nothing-000000")
    return write_game(tmp_path, WITH_TOOL)


def play(study: Path, provider: str, server: LocalServer, db: Path) -> bool:
    with standing_for(provider, server) as base_url:
        report = collect(db, study, [f"{provider}/m"], variant="base.tool", base_url=base_url, **QUICK, yes=True)
    return report.is_complete


@pytest.mark.slow
@pytest.mark.parametrize("provider", DIALECT)
def test_a_game_is_played_by_calls_and_each_call_gets_its_outcome(study: Path, provider: str, db: Path) -> None:
    with LocalServer(caller(provider)) as server:
        assert play(study, provider, server, db)
    assert rows_in(db, "SELECT DISTINCT variant, test, choice FROM trials ORDER BY test DESC") == [
        ("base.tool", "rounds", "Ato"),
        ("base.tool", "questions", "Beno"),
    ]
    assert rows_in(db, "SELECT DISTINCT answer FROM trials WHERE test = 'rounds'") == [('assign({"group":"Ato"})',)]
    last = next(body for body in server.bodies if "the best" in str(body))
    told = [facts["is_success"] for facts in factors(db, "test = 'rounds'")]
    assert str(last).count("did well as") in {sum(told[n : n + 6]) for n in (0, 6, 12)}
    assert "assign" in json.dumps(last["tools"])


@pytest.mark.slow
@pytest.mark.parametrize("provider", DIALECT)
def test_two_calls_for_two_groups_are_answered_by_a_reminder_each(study: Path, provider: str, db: Path) -> None:

    def chosen(body: Body) -> list[str]:
        return ["Ato", "Beno"] if len(body[LISTED[DIALECT[provider]]]) == 1 else ["Beno"]

    with LocalServer(caller(provider, chosen)) as server:
        assert play(study, provider, server, db)
    query = "SELECT DISTINCT turn, outcome, choice FROM attempts WHERE round = 1 ORDER BY turn"
    assert rows_in(db, query) == [(1, "malformed", None), (2, "answered", "Beno")]
    reminded = next(body for body in server.bodies if "Name one of" in str(body))
    assert str(reminded[LISTED[DIALECT[provider]]][-2:]).count("Name one of Ato and Beno.") == 2


@pytest.mark.slow
@pytest.mark.parametrize("provider", ["anthropic", "local"])
def test_a_game_of_calls_that_was_cut_off_goes_on_with_the_same_words(
    study: Path, provider: str, tmp_path: Path
) -> None:
    db, cut = tmp_path / "a.duckdb", tmp_path / "cut.duckdb"
    kept = "SELECT trial_id, choice, prompt_hash FROM trials ORDER BY trial_id"
    with LocalServer(caller(provider)) as server:
        assert play(study, provider, server, db)
        cut_off(db, cut, random.Random(3))
        assert play(study, provider, server, cut)
    assert rows_in(cut, kept) == rows_in(db, kept)
    assert len(rows_in(cut, kept)) == TRIALS


def test_a_round_without_a_call_is_no_answer_whatever_it_says() -> None:
    study = load_study("hiring", "main.tool")
    design, model = design_named("allocation"), study.model("gpt-4o")
    step = design.asks.next(study, model, next(plan(study, model)), [])
    assert step is not None
    read = {
        text: design.reads.read(study, step[0], Reply(answer=text)).outcome
        for text in ("Answer: Tufa", "I can't do that.")
    }
    assert read == {"Answer: Tufa": "malformed", "I can't do that.": "refused"}
    other = Reply(tool_calls=(ToolCall("1", "hire", {"group": "Tufa"}),))
    assert design.reads.read(study, step[0], other).choice is None


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=5) | st.text())
def test_arguments_that_are_no_object_are_none(found: object) -> None:
    assert arguments(found) == {} or isinstance(found, str)
    assert arguments(json.dumps(found)) == {}


def test_who_has_no_tools_is_refused_in_words(study: Path, tmp_path: Path) -> None:
    tool = load_study(study, "base.tool")
    with pytest.raises(ProviderError, match="ollama is offered no tools here, so --answer tool has to be left out"):
        planned(tool, ["ollama/m"], tmp_path / "a.duckdb")
    dropped = load_study(study, "base.tool.dropped")
    with pytest.raises(ProviderError, match=r"anthropic requires the reasoning .* it can't be dropped"):
        planned(dropped, ["anthropic/m"], tmp_path / "a.duckdb")
    assert planned(dropped, ["openai/m"], tmp_path / "a.duckdb").model_plans


def test_a_number_is_no_call_of_a_tool() -> None:
    with pytest.raises(UnknownNameError, match=r"no answer format .*tool"):
        load_study("hiring", "elicited_rates.tool")


def test_a_dry_run_shows_the_tool(study: Path, tmp_path: Path) -> None:
    words = ["--study", str(study), "--model", "openai/m", "--answer", "tool", "--dry-run"]
    said = run_collect(*words, "--db", tmp_path / "a.duckdb").output
    assert "--- tool ---\nassign(group: Ato | Beno)\nFills the post." in said


@pytest.mark.slow
def test_a_participant_can_call_a_tool_too(tmp_path: Path, db: Path) -> None:
    report = collect(db, write_game(tmp_path, WITH_TOOL), ["simulated/greedy"], variant="base.tool", **QUICK)
    assert report.is_complete
    assert rows_in(db, "SELECT count(*) FROM trials WHERE outcome = 'answered'") == [(TRIALS,)]
