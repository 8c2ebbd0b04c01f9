"""What the text of an answer's reasoning is: raw, a summary, encrypted, none (bodies have the providers' own shapes).
Reasoning that a server cuts at its own budget ends with `stop`: it shows in the settings, or as a pile of counts."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from slant.collector import collect
from slant.collector.ask.run_warnings import pile, reasoning_budget
from slant.collector.model_checks.findings import Answered, pile_reason
from slant.collector.providers import anthropic, chat_completions, gemini, ollama, openai_responses
from tests.support.each_row import each_row
from tests.support.local_server import LocalServer, completion
from tests.support.tiny_study import write_tiny

ANSWER = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Calm"}]}


def chat(**message: Any) -> Any:
    return chat_completions, {"choices": [{"message": {"content": "Calm", **message}, "finish_reason": "stop"}]}


def responses(**reasoning: Any) -> Any:
    items = [{"type": "reasoning", **reasoning}] if reasoning else []
    return openai_responses, {"status": "completed", "output": [*items, ANSWER]}


def claude(model: str, *blocks: Any) -> Any:
    return anthropic, {
        "model": model,
        "stop_reason": "end_turn",
        "content": [*blocks, {"type": "text", "text": "Calm"}],
    }


def google(*parts: Any) -> Any:
    content = {"parts": [*parts, {"text": "Calm"}]}
    return gemini, {"candidates": [{"finishReason": "STOP", "content": content}]}


THINKING, RAW = {"type": "thinking", "thinking": "Hm.", "signature": "s"}, {"type": "reasoning_text", "text": "Hm."}
SUMMARY, SEALED = {"type": "summary_text", "text": "It thought."}, {"type": "reasoning.encrypted", "data": "x"}
PART = {"type": "text", "text": "Hm."}
TOLD = {"type": "reasoning.summary", "summary": "It thought."}


@each_row(
    ("answer", "text", "kind"),
    [
        (chat(), None, "none"),
        (chat(reasoning_content="Hm."), "Hm.", "raw"),
        (chat(reasoning="Hm."), "Hm.", "raw"),
        (chat(content="<think>Hm.</think>Calm"), "Hm.", "raw"),
        (chat(content=[{"type": "thinking", "thinking": [PART]}, {**PART, "text": "Calm"}]), "Hm.", "raw"),
        (chat(reasoning_details=[{"type": "reasoning.text", "text": "Hm."}]), "Hm.", "raw"),
        (chat(reasoning="It thought.", reasoning_details=[TOLD, SEALED]), "It thought.", "summary"),
        (chat(reasoning_details=[SEALED]), None, "encrypted"),
        (responses(), None, "none"),
        (responses(summary=[], content=[RAW]), "Hm.", "raw"),
        (responses(summary=[SUMMARY], content=[]), "It thought.", "summary"),
        (responses(summary=[SUMMARY], content=[RAW]), "Hm.", "raw"),
        (responses(summary=[], encrypted_content="x"), None, "encrypted"),
        (claude("claude-3-7-sonnet-20250219", THINKING), "Hm.", "raw"),
        (claude("claude-sonnet-4-5", THINKING), "Hm.", "summary"),
        (claude("claude-sonnet-4-5", {**THINKING, "thinking": ""}), None, "encrypted"),
        (claude("claude-sonnet-4-5", {"type": "redacted_thinking", "data": "x"}), None, "encrypted"),
        (claude("claude-sonnet-4-5"), None, "none"),
        (google({"text": "It thought.", "thought": True}), "It thought.", "summary"),
        (google({"text": "", "thoughtSignature": "x"}), None, "encrypted"),
        ((ollama, {"message": {"content": "Calm", "thinking": "Hm."}, "done": True}), "Hm.", "raw"),
    ],
)  # fmt: skip
def test_each_dialect_says_what_its_reasoning_text_is(answer: Any, text: str | None, kind: str) -> None:
    dialect, body = answer
    reply = dialect.reply(body, {})
    assert (reply.answer, reply.reasoning_text, reply.reasoning_kind) == ("Calm", text, kind)


def test_a_commentary_is_no_part_of_the_final_answer() -> None:
    aside = {**ANSWER, "phase": "commentary", "content": [{"type": "output_text", "text": "First I look. "}]}
    body = {"status": "completed", "output": [aside, {**ANSWER, "phase": "final_answer"}]}
    assert openai_responses.reply(body, {}).answer == "Calm"
    assert openai_responses.reply({**body, "output": [aside]}, {}).answer is None


@pytest.mark.parametrize(
    ("settings", "budget"),
    [
        ({"thinking_budget": 2048}, 2048),
        ({"reasoning_budget": 512}, 512),
        ({"chat_template_kwargs": {"thinking_budget": 99}}, 99),
        ({"thinking": {"type": "enabled", "budget_tokens": 4000}}, 4000),
        ({"generationConfig": {"thinkingConfig": {"thinkingBudget": -1}}}, None),
        ({"reasoning_budget": True}, None),
        ({}, None),
    ],
)
def test_a_budget_is_found_in_the_words_of_each_server(settings: dict[str, Any], budget: int | None) -> None:
    assert reasoning_budget(settings) == budget


@pytest.mark.parametrize(
    ("counts", "found"),
    [
        ([10, 20, 30, 40, *[64] * 6], (64, 6)),
        ([10, 20, 30, 40, *[64] * 4], None),  # too few
        ([*[0] * 50, 64, 128, 192, 256], None),  # steps: the largest is one of many
        ([64] * 40, None),  # all alike: no pile, but no measure either
        ([*[50] * 5, 10, 20, 30, *[64] * 6], None),  # the next one is as high
    ],
)
def test_a_pile_is_many_answers_at_the_largest_count(counts: list[int], found: tuple[int, int] | None) -> None:
    assert pile(Counter(counts)) == found


@pytest.mark.slow
@pytest.mark.parametrize("budget", [None, 100])
def test_cut_reasoning_is_said_at_the_end_of_a_run(tmp_path: Path, budget: int | None) -> None:
    async def cut(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        tokens = min(100, 20 * len(server.bodies))
        details = {"reasoning_tokens": tokens}
        return web.json_response(completion(completion_tokens=tokens + 2, completion_tokens_details=details))

    old = 'frame = "plain"\n\n[variants'
    new = old if budget is None else f'frame = "plain"\nsettings = {{ reasoning_budget = {budget} }}\n\n[variants'
    words = "".join(f"tea_coffee,group_a,Tea,tea{n}\n" for n in range(4))
    study = str(write_tiny(tmp_path, study=(old, new), stimuli=("tea_coffee,group_a,Tea,sencha\n", words)))
    with LocalServer(cut) as server:
        report = collect(tmp_path / "a.duckdb", study, ["local/small"], base_url=server.base_url)
    told = "largest count there is, 100 tokens" if budget is None else "the reasoning budget of 100 tokens"
    assert any(told in note for note in report.notes)


def test_a_check_of_a_model_says_it_too() -> None:
    counts = [10, 20, 30, 40, 50, *[64] * 15]
    answers = [Answered(purpose="calibration", difficulty=1, expected="1", reasoning_tokens=n) for n in counts]
    assert "15 of 20 counts are the largest, 64" in (pile_reason(answers, "reasoning") or "")
    assert pile_reason(answers[:5], "reasoning") is None
