"""What the counts of one reply make of each other: parts, wholes, totals, and where they disagree; what is said of
counts that are missing, of two kinds in one model, or contradict each other; and whose charge counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from slant.collector import collect
from slant.collector.ask.uncounted_answers import doubtful_count_notes
from slant.collector.providers import anthropic, chat_completions, gemini, openai, openai_responses
from slant.collector.providers.exchange import LARGEST_COUNT, count
from slant.collector.providers.token_counts import chat_counts, settled
from slant.collector.records import Reply
from tests.support.commands import run_collect
from tests.support.each_row import each_row
from tests.support.local_server import LocalServer, completion
from tests.support.tiny_study import write_tiny

THOUGHT = {"completion_tokens_details": {"reasoning_tokens": 300}}


def chat(prompt: Any, completion: Any, total: Any = None, **more: Any) -> Reply:
    usage = {"prompt_tokens": prompt, "completion_tokens": completion, **more}
    message = {"choices": [{"message": {"content": "Calm"}, "finish_reason": "stop"}]}
    return openai.reply({**message, "usage": usage if total is None else {**usage, "total_tokens": total}}, {})


@each_row(
    ("reply", "output", "reasoning", "conflict"),
    [
        (chat(9, 302, 311, **THOUGHT), 302, 300, None),  # inside, as OpenAI counts
        (chat(9, 2, 311, **THOUGHT), 302, 300, None),  # added to it, as xAI counts
        (chat(9, 2, 311), 302, 300, None),  # in the total only
        (chat(9, 2, **THOUGHT), 302, 300, "taken as added to it"),
        (chat(9, 2, 311, completion_tokens_details={"reasoning_tokens": 0}), 302, 300, "0 are reasoning"),
        (chat(9, 2, 361, **THOUGHT), 352, 300, "not the reasoning's"),
        (chat(9, 2, 11, **THOUGHT), 2, None, "left out"),
        (chat(9, 20, 11), 20, None, "less than its parts"),
        (chat(9, 2, 311, completion_tokens_details={"audio_tokens": 300}), 2, None, None),
        (chat(9, 2, 361, completion_tokens_details={"audio_tokens": 50, "reasoning_tokens": 300}), 302, 300, None),
    ],
)
def test_reasoning_is_part_of_the_output_wherever_its_provider_counts_it(
    reply: Reply, output: int, reasoning: int | None, conflict: str | None
) -> None:
    assert (reply.output_tokens, reply.reasoning_tokens) == (output, reasoning)
    assert (reply.count_conflict is None) == (conflict is None)
    assert (conflict or "") in (reply.count_conflict or "")


def test_a_cache_that_is_larger_than_the_prompt_lies_beside_it() -> None:
    reply = chat(100, 2, 1002, prompt_tokens_details={"cached_tokens": 900})
    assert (reply.input_tokens, reply.cached_input_tokens, reply.output_tokens) == (1000, 900, 2)
    assert "more than the prompt's 100" in (reply.count_conflict or "")


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        ({"input_tokens": 9, "output_tokens": 5, "output_tokens_details": {"reasoning_tokens": 3}}, (9, 5, 3, None)),
        ({"tokens": {"input_tokens": 9, "output_tokens": 5}, "billed_units": {"input_tokens": 8}}, (9, 5, None, None)),
        ({"promptTokens": 9, "completionTokens": 5, "totalTokens": 14}, (9, 5, None, None)),
        ({"prompt_tokens": 9, "completion_tokens": 5, "thinking_tokens": 3}, (9, 5, 3, None)),
        ({"prompt_tokens": 9, "completion_tokens": 5, "cache_read_input_tokens": 4}, (9, 5, None, 4)),
    ],
)
def test_counts_are_read_under_the_names_that_gateways_give_them(usage: dict[str, Any], counts: tuple[Any]) -> None:
    read = chat_counts(usage)
    assert tuple(read[f"{name}_tokens"] for name in ("input", "output", "reasoning", "cached_input")) == counts


numbers = st.none() | st.integers(0, 10**6)


@given(numbers, numbers, numbers, numbers, st.integers(0, 10**6), st.lists(st.integers(1, 10**6), max_size=3))
def test_settled_counts_are_never_negative_and_no_part_is_above_its_whole(
    prompt: int | None, completion: int | None, total: int | None, reasoning: int | None, cached: int, named: list[int]
) -> None:
    found = settled(prompt, completion, total, reasoning, cached, tuple({"audio_tokens": n} for n in named))
    assert (found.input_tokens is None, found.output_tokens is None) == (prompt is None, completion is None)
    if found.input_tokens is not None and found.output_tokens is not None:
        assert found.input_tokens >= (prompt or 0)
        assert found.output_tokens >= max(completion or 0, found.reasoning_tokens or 0)


@pytest.mark.parametrize(
    ("usage", "output", "reasoning", "is_doubtful"),
    [
        ({"promptTokenCount": 9, "candidatesTokenCount": 2, "totalTokenCount": 11}, 2, 0, False),
        ({"promptTokenCount": 9, "totalTokenCount": 9}, 0, 0, False),  # blocked: nothing was generated
        ({"promptTokenCount": 9, "toolUsePromptTokenCount": 5, "totalTokenCount": 14}, 0, 0, False),
        ({"promptTokenCount": 9, "candidatesTokenCount": 2, "totalTokenCount": 311}, 302, None, True),
        ({"promptTokenCount": 9, "candidatesTokenCount": 2}, 2, None, False),
        ({"promptTokenCount": 9, "thoughtsTokenCount": 40, "totalTokenCount": 49}, 40, 40, False),
    ],
)  # fmt: skip
def test_gemini_leaves_out_what_is_0_and_only_the_total_tells(
    usage: Any, output: int, reasoning: int | None, is_doubtful: bool
) -> None:
    reply = gemini.reply({"candidates": [{"finishReason": "STOP"}], "usageMetadata": usage}, {})
    assert (reply.output_tokens, reply.reasoning_tokens) == (output, reasoning)
    assert (reply.count_conflict is not None) == is_doubtful


@pytest.mark.parametrize("seventy", [70, 70.0, "70", "70.0"])
def test_whole_numbers_are_counts_however_they_are_written(seventy: Any) -> None:
    assert count({"n": seventy}, "n") == 70
    assert chat(9, seventy).output_tokens == 70


@each_row(
    "value", [70.5, True, -1, "-1", "", "seventy", "7_0", float("nan"), float("inf"), "9" * 5000, LARGEST_COUNT + 1]
)
def test_what_is_no_whole_number_is_no_count(value: Any) -> None:
    assert count({"n": value}, "n") is None


def test_cache_writes_are_read_from_every_dialect_that_tells_them() -> None:
    anthropics = {"input_tokens": 9, "cache_creation_input_tokens": 50,
                  "cache_creation": {"ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 30}}  # fmt: skip
    reply = anthropic.reply({"content": [], "usage": anthropics}, {})
    assert (reply.input_tokens, reply.cache_write_tokens, reply.cache_write_1h_tokens) == (59, 50, 30)
    assert chat(60, 2, prompt_tokens_details={"cache_write_tokens": 50}).cache_write_tokens == 50
    responses = {"input_tokens": 60, "output_tokens": 2, "input_tokens_details": {"cache_write_tokens": 50}}
    assert openai_responses.reply({"output": [{}], "usage": responses}, {}).cache_write_tokens == 50


def test_a_zero_of_a_server_that_shows_its_reasoning_is_unknown_but_hidden_reasoning_counts() -> None:
    body = {"choices": [{"message": {"content": "Calm", "reasoning": "Hm."}, "finish_reason": "stop"}]}
    usage = {"prompt_tokens": 9, "completion_tokens": 2, "completion_tokens_details": {"reasoning_tokens": 0}}
    assert chat_completions.reply({**body, "usage": {**usage, "total_tokens": 11}}, {}).reasoning_tokens is None
    assert chat_completions.reply({**body, "usage": {**usage, "total_tokens": 31}}, {}).reasoning_tokens == 20


SENTENCE = "local/small: none of {} answers came with a token count. Nothing to analyse: have its server report usage"


async def counts_nothing(request: web.Request, body: dict[str, object]) -> web.StreamResponse:
    return web.json_response({**completion(), "usage": None})


@pytest.fixture
def study(tmp_path: Path) -> Path:
    words = "".join(f"tea_coffee,group_a,Tea,tea{n}\n" for n in range(30))
    return write_tiny(tmp_path, stimuli=("tea_coffee,group_b,Coffee,mocha", f"{words}tea_coffee,group_b,Coffee,mocha"))


def run(study: Path, server: LocalServer, *more: str) -> str:
    words = ["--study", str(study), "--model", "local/small", "--base-url", server.base_url, *more]
    return run_collect(*words, "--db", study.with_name("a.duckdb")).stderr


@pytest.mark.slow
def test_fifty_answers_without_a_count_are_said_while_the_run_goes_on_and_at_its_end(study: Path) -> None:
    with LocalServer(counts_nothing) as server:
        said = run(study, server)
    assert SENTENCE.format(50) in said
    assert SENTENCE.format(68) in said
    status = run_collect("status", "--db", study.with_name("a.duckdb"))
    assert SENTENCE.format(68) in status.stderr


@pytest.mark.slow
def test_a_pilot_without_counts_says_so_before_the_rest_is_asked(study: Path) -> None:
    with LocalServer(counts_nothing) as server:
        assert SENTENCE.format(8) in run(study, server, "--pilot", "8")


@pytest.mark.slow
def test_a_model_that_counts_is_not_spoken_of(study: Path) -> None:
    with LocalServer() as server:
        assert "none of" not in run(study, server)


def asked(folder: Path, *usages: dict[str, Any]) -> list[tuple[Any, ...]]:
    """The kept counts and costs of a study of eight trials, where each usage is told in turn."""
    n = iter(range(10**6))

    async def told(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        return web.json_response(completion() | {"usage": usages[next(n) % len(usages)]})

    db = folder / "t.duckdb"
    with LocalServer(told) as server:
        collect(db, write_tiny(folder), ["local/small"], base_url=server.base_url)
    with duckdb.connect(str(db), read_only=True) as connection:
        query = "SELECT DISTINCT output_tokens, tokens, token_source, cost_usd, price_source FROM attempts ORDER BY ALL"
        return connection.execute(query).fetchall()


PLAIN = {"prompt_tokens": 9, "completion_tokens": 20, "total_tokens": 29}
NEWER = {**PLAIN, "completion_tokens_details": {"reasoning_tokens": 15}}


def test_one_model_with_two_meanings_of_its_tokens_is_told(tmp_path: Path) -> None:
    assert asked(tmp_path, PLAIN, NEWER) == [(20, 15, "usage", None, None), (20, 20, "output", None, None)]
    [note] = doubtful_count_notes(tmp_path / "t.duckdb")
    assert "2 kinds" in note
    assert "4 of output (all output tokens), 4 of usage (the provider's count of the reasoning)" in note


def test_counts_that_contradict_each_other_are_told_with_one_of_them(tmp_path: Path) -> None:
    above = {**PLAIN, "completion_tokens_details": {"reasoning_tokens": 300}}
    assert asked(tmp_path, above) == [(20, None, None, None, None)]  # and not the whole output in its place
    [note] = doubtful_count_notes(tmp_path / "t.duckdb")
    assert "in 8 of 8 answers the provider's counts contradict each other" in note
    assert "300 reasoning tokens are more than the 20 of the output" in note


@pytest.mark.slow
@pytest.mark.parametrize(
    ("charge", "cost"),
    [
        ({"cost": 0.00125}, 0.00125),
        ({"cost": {"total_cost": 0.5}}, 0.5),
        ({"cost_in_usd_ticks": 12_500_000}, 0.00125),
        ({"cost": 0.0, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.25}}, 0.25),
        ({"cost": -1}, None),
        ({"cost": 0.0, "is_byok": True}, None),
    ],
)
def test_what_the_provider_says_that_it_charged_is_the_cost(tmp_path: Path, charge: Any, cost: float | None) -> None:
    [(*_, kept, source)] = asked(tmp_path, {**PLAIN, **charge})
    assert (kept, source) == (cost, None if cost is None else "provider")
