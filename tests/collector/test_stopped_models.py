"""What is about a key, a model, a setting or an account stops its model after one request; a setting that is ignored
or not taken any more is named, with what to change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from slant.collector import RunReport, collect
from slant.collector.ask.run_warnings import explained, ignored
from slant.collector.providers import PROVIDERS
from slant.collector.records import Reply
from slant.collector.study.records import StudyModel
from tests.collector.test_providers import ANSWERS
from tests.support.local_server import LocalServer, standing_for
from tests.support.tiny_study import write_tiny

pytestmark = pytest.mark.usefixtures("keys_of_all")

Said = tuple[str, int, dict[str, Any]]
GOOGLE = {"code": 400, "status": "INVALID_ARGUMENT"}
STOPPED: dict[str, Said] = {
    "a wrong key of OpenAI's": ("openai", 401, {"error": {"message": "Incorrect API key.", "code": "invalid_api_key"}}),
    "a wrong key of Gemini's, as a 400": (
        "gemini", 400, {"error": GOOGLE | {"message": "Not valid.", "details": [{"reason": "API_KEY_INVALID"}]}},
    ),
    "an unknown model of Anthropic's": (
        "anthropic", 404, {"type": "error", "error": {"type": "not_found_error", "message": "model: m"}},
    ),
    "an unknown model of OpenRouter's, as a 400": (
        "openrouter", 400, {"error": {"code": 400, "message": "m is not a valid model ID"}},
    ),
    "an unknown model of Ollama's": ("ollama", 404, {"error": "model 'm' not found"}),
    "a wrong parameter of xAI's": ("xai", 400, {"code": "x", "error": "Argument not supported on this model: stop"}),
    "a wrong parameter of a Response": (
        "openai-responses", 400, {"error": {"message": "Unsupported value: 'x'", "code": "unsupported_value"}},
    ),
    "an empty account of DeepSeek's": ("deepseek", 402, {"error": {"message": "Insufficient Balance"}}),
    "an empty account of OpenAI's, as a 429": (
        "openai", 429, {"error": {"message": "You exceeded your current quota.", "code": "insufficient_quota"}},
    ),
    "an empty account inside a 200": (
        "openrouter", 200, {"error": {"code": 402, "message": "Insufficient credits. Add more."}},
    ),
}  # fmt: skip


def asked(folder: Path, provider: str, handler: Any, **changed: tuple[str, str]) -> tuple[RunReport, list[Any]]:
    """A run of the tiny study, one request at a time, and what was sent."""
    with LocalServer(handler) as server, standing_for(provider, server) as base_url:
        report = collect(
            folder / "t.duckdb", str(write_tiny(folder, **changed)), [f"{provider}/m"] if not changed else ["small"],
            base_url=base_url, yes=True, concurrency=1, max_retries=1,
        )  # fmt: skip
    return report, server.bodies


@pytest.mark.parametrize("what", STOPPED)
def test_it_stops_the_model_after_one_request(what: str, tmp_path: Path) -> None:
    provider, status, body = STOPPED[what]

    async def refuses(request: web.Request, asked: dict[str, Any]) -> web.StreamResponse:
        return web.json_response(body, status=status)

    report, sent = asked(tmp_path, provider, refuses)
    [model] = report.models
    assert (len(sent), model["asked"], report.is_complete) == (1, 0, False)
    assert model["stopped_because"]


def of_small(provider: str, settings: str) -> tuple[str, str]:
    return 'provider = "local"\n', f'provider = "{provider}"\nsettings = {settings}\n'


def test_a_setting_that_is_refused_is_named_after_one_request(tmp_path: Path) -> None:
    async def refuses(request: web.Request, asked: dict[str, Any]) -> web.StreamResponse:
        assert asked["top_k"] == 5
        error = {"type": "invalid_request_error", "message": "`top_k` is deprecated for this model."}
        return web.json_response({"type": "error", "error": error}, status=400)

    report, sent = asked(tmp_path, "anthropic", refuses, study=of_small("anthropic", "{ top_k = 5 }"))
    [model] = report.models
    assert len(sent) == 1
    assert "small was sent top_k = 5, which its provider does not accept with this model" in model["stopped_because"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "reported", "said"),
    [
        ("{ temperature = 0.0 }", {"temperature": 1.0}, "sent the temperature 0, and its answers report 1"),
        ('{ reasoning = { effort = "low" } }', {"reasoning": {"effort": "high"}}, "effort low, and its answers report"),
    ],
)
def test_a_setting_that_the_answers_show_to_be_ignored_is_said_and_all_are_asked(
    settings: str, reported: dict[str, Any], said: str, tmp_path: Path
) -> None:
    good = json.loads(json.dumps(ANSWERS[PROVIDERS["openai-responses"].dialect]).replace("Career", "Calm"))

    async def answers(request: web.Request, asked: dict[str, Any]) -> web.StreamResponse:
        return web.json_response(good | reported)

    report, sent = asked(tmp_path, "openai-responses", answers, study=of_small("openai-responses", settings))
    assert (report.is_complete, len(sent)) == (True, 8)
    assert [said in note for note in report.notes if "ignored" in note] == [True]


def model(provider: str = "anthropic", **settings: Any) -> StudyModel:
    return StudyModel("m", "m", provider, "m", settings=settings)


@pytest.mark.parametrize(
    ("settings", "said", "named"),
    [
        ({"top_p": 0.5}, "`top_p` is deprecated for this model.", "top_p = 0.5"),
        (
            {"reasoning_effort": "low"},
            "Model grok does not support parameter reasoningEffort.",
            "reasoning_effort = low",
        ),
        ({"stop": "x"}, "Argument not supported on this model: stop", "stop = x"),
        ({"generationConfig": {"topK": 3}}, "Invalid value at 'generation_config.top_k'", "topK = 3"),
        ({"thinking": {"type": "enabled"}}, "'thinking' is not supported for this model", "thinking = {'type'"),
        ({"temperature": 0.5}, "`temperature` is deprecated for this model.", "the temperature 0.5"),
    ],
)
def test_a_refused_setting_is_named_with_what_was_sent(settings: dict[str, Any], said: str, named: str) -> None:
    sentence = explained(f"HTTP 400: {said}", model(**settings))
    assert f"m was sent {named}" in sentence
    assert "study" in sentence


@pytest.mark.parametrize("said", ["HTTP 400: Please stop, wrong type", "HTTP 402: can afford fewer max_tokens"])
def test_a_usual_word_or_an_empty_account_is_no_setting(said: str) -> None:
    assert explained(said, model(stop="x", type="y", max_tokens=9)) == said


def test_a_setting_that_the_answer_reports_otherwise_is_ignored() -> None:
    said = ignored(model("openai", temperature=0.0), Reply("Calm", effective_temperature=1.0))
    assert said is not None
    assert "was sent the temperature 0, and its answers report 1" in said
    effort = ignored(model("openai", reasoning={"effort": "low"}), Reply("Calm", effective_effort="medium"))
    assert effort is not None
    assert "reasoning effort low" in effort


def test_a_setting_that_is_reported_as_sent_or_not_at_all_is_not_called_ignored() -> None:
    sent = model("openai", temperature=1.0, reasoning={"effort": "low"})
    assert ignored(sent, Reply("Calm")) is None
    assert ignored(sent, Reply("Calm", effective_temperature=1, effective_effort="Low")) is None
    assert ignored(model(), Reply("Calm", effective_temperature=1.0, effective_effort="high")) is None
