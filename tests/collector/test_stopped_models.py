"""What is about a key, a model, a setting or an account stops its model after one request; a setting that is ignored is
named. What a run waits for: minutes as told, hours if it may, a server that loads; never one that is not there."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from slant.collector import RunReport, collect
from slant.collector.ask.call import Call, Watcher
from slant.collector.ask.pace import Pace, Ticket
from slant.collector.ask.retries import LongWaits, NextStep, judge
from slant.collector.ask.run_warnings import explained, ignored
from slant.collector.providers import PROVIDERS
from slant.collector.providers.exchange import Exchange
from slant.collector.records import Reply
from slant.collector.request.record import Request
from slant.collector.study.records import StudyModel
from tests.collector.test_providers import ANSWERS
from tests.support.clusters import free_port
from tests.support.local_server import LocalServer, answers, error, standing_for
from tests.support.tiny_study import write_tiny
from tests.support.typed import typed

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


DAY = "Rate limit reached on tokens per day (TPD): Limit 100000, Used 99999. Please try again in 25m3s."


async def judged(longest_s: float, pause_s: float, *, agrees: bool = False) -> list[NextStep]:
    asked: list[float] = []

    def may_wait(model: str, wait_s: float, reason: str) -> bool:
        asked.append(wait_s)
        return agrees

    waits = LongWaits(longest_s, may_wait)
    steps = [await waits.judged("m", NextStep("stop", "HTTP 429", pause_s=pause_s)) for _ in range(2)]
    assert len(asked) == (pause_s > longest_s)  # once for a model
    return steps


def test_a_long_wait_is_waited_where_it_may_be_else_the_model_stops() -> None:
    waited, stopped = ("again", 1503.0), ("stop", 0.0)
    for longest_s, agrees, expected in [(600, False, stopped), (600, True, waited), (1800, False, waited)]:
        for step in asyncio.run(judged(longest_s, 1503.0, agrees=agrees)):
            assert (step.action, step.pause_s) == expected
            assert ("--longest-wait 1503" in step.reason) == (expected == stopped)


def test_the_limit_of_a_day_stops_its_model_after_one_request_and_says_what_to_type(tmp_path: Path) -> None:
    async def limited(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        return error(429, "rate_limit_exceeded", DAY)

    with LocalServer(limited) as server:
        study = str(write_tiny(tmp_path))
        [row] = collect(tmp_path / "a.duckdb", study, ["local/m"], base_url=server.base_url, concurrency=1).models
    assert (len(server.bodies), row["failed"]) == (1, 0)
    assert "--longest-wait 1503" in row["stopped_because"]


def test_a_wait_that_was_agreed_to_holds_for_the_entire_call() -> None:
    class Agreeing(Watcher):
        asked = 0

        def may_wait(self, model: str, wait_s: float, reason: str) -> bool:
            self.asked += 1
            return True

    watcher = Agreeing()
    call = Call.begun(Request("a.duckdb", "rmiat", longest_wait=600), watcher)
    for part in (call, replace(call, request=replace(call.request, yes=True))):  # a pilot and the rest, or two looks
        step = asyncio.run(part.long_waits.judged("m", NextStep("stop", "HTTP 429", pause_s=1503.0)))
        assert (step.action, watcher.asked) == ("again", 1)


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "asked", "exit_code"), [("y", 9, 0), ("n", 1, 1)])
def test_a_longer_wait_is_asked_for_once_at_a_terminal(
    answer: str, asked: int, exit_code: int, python: list[str], root: Path, tmp_path: Path
) -> None:
    async def limited(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        if len(server.bodies) == 1:
            return web.json_response({"error": {"message": "Slow down."}}, status=429, headers={"retry-after": "1"})
        return await answers(request, body)

    with LocalServer(limited) as server:
        words = [*python, "-m", "slant.collector", "--study", str(write_tiny(tmp_path)), "--model", "local/m"]
        words += ["--base-url", server.base_url, "--db", str(tmp_path / "a.duckdb"), "--concurrency", "1"]
        done, shown = typed([*words, "--longest-wait", "0.5"], answer, root)
    assert (done, len(server.bodies)) == (exit_code, asked), shown
    assert shown.count("Wait 1 s, until it goes on? [y/N]") == 1
    assert ("--longest-wait 1" in " ".join(shown.split())) == (answer == "n")


def test_a_wait_of_years_is_no_setting_and_a_sentence_ends_once() -> None:
    refused = NextStep("stop", "HTTP 429: Come back tomorrow.", pause_s=1e300)
    reason = asyncio.run(LongWaits().judged("m", refused)).reason
    assert reason == (
        "HTTP 429: Come back tomorrow. It requests a wait of years, and this run waits 10 min at most (ask again "
        "after that)"
    )


@pytest.mark.slow
def test_a_server_that_loads_its_model_is_waited_for(tmp_path: Path) -> None:
    async def loads(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        if len(server.bodies) <= 4:
            return error(503, "", "Loading model")
        return await answers(request, body)

    with LocalServer(loads) as server:
        options: dict[str, Any] = {"base_url": server.base_url, "concurrency": 1, "max_retries": 1}
        report = collect(tmp_path / "a.duckdb", str(write_tiny(tmp_path)), ["local/m"], **options)
    assert report.is_complete


def test_a_model_on_its_way_is_told_from_one_that_failed_to_load() -> None:
    on_its_way = [
        "Loading model",
        "model not ready",
        "The endpoint is scaling up from zero",
        "Weights are being downloaded",
    ]
    failed = ["error loading model: out of memory", "Model could not finish loading", "The server is overloaded"]
    said = {text: judge(Exchange(status=503, body=json.dumps({"error": text})), 1) for text in (*on_its_way, *failed)}
    assert [text for text, step in said.items() if step.is_loading] == on_its_way
    assert {step.action for step in said.values()} == {"again"}


def test_nobody_at_an_address_is_one_sentence_and_no_failed_trial(tmp_path: Path) -> None:
    options: dict[str, Any] = {"base_url": f"http://127.0.0.1:{free_port()}/v1", "concurrency": 4, "max_retries": 0}
    [row] = collect(tmp_path / "a.duckdb", str(write_tiny(tmp_path)), ["local/m"], **options).models
    assert row["failed"] == 0
    assert row["stopped_because"].startswith("no server answers at http://127.0.0.1:")


def test_what_is_paused_says_for_how_long_and_counts_its_patience_from_then() -> None:
    now = [100.0]
    pace = Pace(clock=lambda: now[0])
    pace.in_flight = 1
    pace.leave(Ticket(0, 100.0, False), 429, {}, 1500.0)
    assert (pace.paused_s, "waits 25 min" in str(pace)) == (1500.0, True)
    now[0] += 1600
    assert not pace.is_hopeless
