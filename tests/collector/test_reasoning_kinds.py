"""What the text of an answer's reasoning is: raw, a summary, encrypted, none. Bodies have the providers' own shapes."""

from __future__ import annotations

from typing import Any

from slant.collector.providers import anthropic, chat_completions, gemini, ollama, openai_responses
from tests.support.each_row import each_row

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
