"""`--structured-output`: what is sent to each provider, who can't, and that such trials are trials of their own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from slant.collector import collect
from slant.collector.designs.forced_choice.design import DESIGN
from slant.collector.errors import ProviderError, StudyError, UsageError
from slant.collector.plan.conversations import plan
from slant.collector.providers import PROVIDERS, provider_named
from slant.collector.providers.anthropic import reply as anthropic_reply
from slant.collector.studies.catalogue import Study, load_study
from tests.support.each_row import each_row
from tests.support.planned import planned
from tests.support.tiny_choice import write_choice

SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "string", "enum": ["A", "B"]}},
    "required": ["answer"],
    "additionalProperties": False,
}
FORMAT = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA}}
TOOL = {"name": "answer", "description": "Gives the answer.", "input_schema": SCHEMA}
SENT: dict[str, dict[str, Any]] = {
    "openai": {"response_format": FORMAT},
    "local": {"response_format": FORMAT},
    "together": {"response_format": FORMAT},
    "simulated": {"response_format": FORMAT},
    **{name: {"response_format": FORMAT} for name in ("xai", "mistral", "groq", "qwen")},
    **{name: {"response_format": FORMAT} for name in ("fireworks", "cerebras", "azure")},
    "openrouter": {"response_format": FORMAT, "provider": {"require_parameters": True}},
    "openai-responses": {"text": {"format": {"type": "json_schema", **FORMAT["json_schema"]}}},  # type: ignore[dict-item]
    "anthropic": {"tools": [TOOL], "tool_choice": {"type": "tool", "name": "answer"}},
    "gemini": {
        "generationConfig": {
            "responseMimeType": "application/json",
            "responseSchema": {
                "type": "OBJECT",
                "properties": {"answer": {"type": "STRING", "enum": ["A", "B"]}},
                "required": ["answer"],
            },
        }
    },
    "ollama": {"format": SCHEMA},
}


@pytest.fixture(scope="module")
def study() -> Study:
    return load_study("interference")


def body(study: Study, provider: str, settings: dict[str, Any], *, enforced: bool) -> dict[str, Any]:
    model = replace(study.model(f"{provider}/x" if provider != "simulated" else "simulated/gpt-5"), settings=settings)
    conversation = next(plan(study, model))
    step = DESIGN.asks.next(study, model, conversation, [])
    assert step is not None
    asked = provider_named(provider)
    asked = asked.enforcing(DESIGN.reads.answer_schema or {}) if enforced else asked
    return dict(asked.dialect.request("http://x", "k", model, step[1], step[0]).body)


@pytest.mark.parametrize("provider", sorted(SENT))
def test_each_provider_is_asked_in_its_own_words_and_for_nothing_else(study: Study, provider: str) -> None:
    plain, enforced = (body(study, provider, {}, enforced=flag) for flag in (False, True))
    assert {key: value for key, value in enforced.items() if key not in plain} == SENT[provider]
    assert {key: enforced[key] for key in plain} == plain


def test_every_provider_is_asked_so_or_refuses() -> None:
    assert {name for name, provider in PROVIDERS.items() if not provider.can_enforce} == {"deepseek"}
    assert set(SENT) == set(PROVIDERS) - {"deepseek"}


def test_settings_of_the_model_stay_beside_the_schema(study: Study) -> None:
    sent = body(study, "gemini", {"generationConfig": {"temperature": 0}}, enforced=True)["generationConfig"]
    assert (sent["temperature"], sent["responseMimeType"]) == (0, "application/json")
    text = body(study, "openai-responses", {"text": {"verbosity": "low"}}, enforced=True)["text"]
    assert sorted(text) == ["format", "verbosity"]


def test_a_claude_that_thinks_is_asked_without_a_tool(study: Study) -> None:
    sent = body(study, "anthropic", {"thinking": {"type": "enabled", "budget_tokens": 2000}}, enforced=True)
    assert sent["output_config"] == {"format": {"type": "json_schema", "schema": SCHEMA}}
    assert "tool_choice" not in sent


def test_the_input_of_the_tool_is_the_answer() -> None:
    used = {"type": "tool_use", "id": "t", "name": "answer", "input": {"answer": "B"}}
    reply = anthropic_reply({"content": [used], "stop_reason": "tool_use"}, {})
    assert (reply.answer, reply.outcome) == ('{"answer": "B"}', None)
    other = anthropic_reply({"content": [used | {"name": "search"}], "stop_reason": "tool_use"}, {})
    assert other.answer is None


def test_enforced_trials_are_trials_of_their_own_and_say_so(study: Study) -> None:
    model = study.model("gpt-5")
    plain, enforced = (list(plan(study, replace(model, structured_output=flag))) for flag in (False, True))
    assert not {c.conversation_id for c in plain} & {c.conversation_id for c in enforced}
    assert {c.trials[0].factors["structured_output"] for c in plain} == {False}
    assert {c.trials[0].factors["structured_output"] for c in enforced} == {True}


@pytest.mark.slow
def test_a_run_with_enforced_output_does_not_go_on_where_one_without_it_stopped(tmp_path: Path) -> None:
    study, db = str(write_choice(tmp_path)), tmp_path / "t.duckdb"
    reports = [collect(db, study, ["simulated/small"], structured_output=how) for how in (False, True, True)]
    assert [report.models[0]["asked"] for report in reports] == [22, 22, 0]
    with duckdb.connect(str(db), read_only=True) as connection:
        query = "SELECT n_planned, n_done, n_done_before, n_missing FROM run_progress"
        assert connection.execute(query).fetchall() == [(22, 22, 0, 0), (22, 22, 0, 0)]
        settings = connection.execute("SELECT settings FROM runs ORDER BY started_at").fetchall()
    assert ["structured_output" in text for (text,) in settings] == [False, True]


def test_a_provider_that_cannot_says_so(study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEEPSEEK_API_KEY", "k" * 12)
    with pytest.raises(ProviderError) as caught:
        planned(study, ["deepseek/deepseek-chat"], tmp_path / "x.duckdb", structured_output=True)
    assert "deepseek can't enforce the shape of an answer, so --structured-output has to be left out" in str(
        caught.value
    )


def test_a_study_without_json_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="its answers are no JSON"):
        planned(load_study("rmiat"), None, tmp_path / "x.duckdb", simulated=True, structured_output=True)


SEVERAL = """
name = "callers"
title = "Who is called back?"
design = "factorial"
factors.name = ["Ann", "Bo"]
templates.plain = "{name} applies."
crossing.questions = "together"
questions.rating = { text = "How suitable?", kind = "scale", min = -3, max = 3 }
questions.invite = { text = "Invite?", kind = "yes_no" }
questions.job = { text = "Which job?", kind = "choice", options = ["nurse", "cook"] }
questions.pay = { text = "Which pay?", kind = "number", whole = true }
questions.why = { text = "Why?", kind = "text" }
models = [{ model = "gpt-6-luna", provider = "openai" }]
"""


@pytest.mark.slow
def test_several_questions_in_one_answer_have_a_key_each(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(SEVERAL)
    several = load_study(str(tmp_path / "study.toml"))
    schema = several.design.reads.schema_of(several)
    assert schema is not None
    assert schema["required"] == ["rating", "invite", "job", "pay", "why"]
    assert [part["type"] for part in schema["properties"].values()] == [
        "integer",
        "string",
        "string",
        "integer",
        "string",
    ]
    assert schema["properties"]["job"]["enum"] == ["nurse", "cook"]
    report = collect(tmp_path / "t.duckdb", several, simulated=True, structured_output=True)
    assert [model["answered"] for model in report.models] == [2]


def test_questions_asked_apart_have_no_schema(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(SEVERAL.replace('crossing.questions = "together"', ""))
    with pytest.raises(UsageError, match="its answers are no JSON"):
        collect(tmp_path / "t.duckdb", str(tmp_path / "study.toml"), simulated=True, structured_output=True)


@each_row(
    ("change", "said"),
    [
        (('text = "Invite?"', 'text = "Invite?", answer = "Be strict."'), "(answer) are not sent"),
        (('questions = "together"', 'together = "Use {keys}."'), 'no key "together"'),
    ],
)
def test_words_that_no_prompt_would_have_are_refused(change: tuple[str, str], said: str, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(SEVERAL.replace(*change))
    with pytest.raises(StudyError) as error:
        load_study(str(tmp_path / "study.toml"))
    assert said in str(error.value)
