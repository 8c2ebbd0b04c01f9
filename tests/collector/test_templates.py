"""Reasoning that a local server leaves in the answer's text: split off, counted again, and no part of the answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from slant.collector import collect
from slant.collector.model_checks.recount import recount_reasoning
from slant.collector.providers import chat_completions, ollama, openai, together
from slant.collector.providers.reasoning import split
from tests.support.local_server import LocalServer, completion
from tests.support.stored import rows_in
from tests.support.tiny_study import write_tiny

HARMONY = "<|channel|>analysis<|message|>Tea is calm.<|end|><|start|>assistant<|channel|>final<|message|>Calm"
RAW = {
    "DeepSeek": "<think>\nTea is calm.\n</think>\n\nCalm",
    "opened in the prompt": "Tea is calm.\n</think>\n\nCalm",
    "Magistral": "[THINK]Tea is calm.[/THINK]Calm",
    "Kimi": "◁think▷Tea is calm.◁/think▷Calm",
    "Seed-OSS": "<seed:think>Tea is calm.</seed:think>Calm",
    "LongCat": "Tea is calm.</longcat_think>\nCalm",
    "Gemma 4": "<|channel>thought\nTea is calm.<channel|>Calm",
    "MedGemma": "<unused94>thought\nTea is calm.<unused95>Calm",
    "Apertus": "<|inner_prefix|>Tea is calm.<|inner_suffix|>Calm",
    "Command A": "<|START_THINKING|>Tea is calm.<|END_THINKING|><|START_RESPONSE|>Calm<|END_RESPONSE|>",
    "openPangu": "[unused16]Tea is calm.[unused17]Calm",
    "Granite": "Here is my thought process: Tea is calm.\nHere is my response: Calm",
    "harmony": HARMONY,
    "harmony, ended": f"{HARMONY}<|return|>",
    "harmony without its tokens": "analysisTea is calm.assistantfinalCalm",
    "harmony with a call": HARMONY.replace(
        "<|end|>", "<|end|><|start|>assistant<|channel|>commentary to=f <|constrain|>json<|message|>{}<|call|>", 1
    ),
}


@pytest.mark.parametrize("content", RAW.values(), ids=RAW)
@pytest.mark.parametrize("dialect", [chat_completions, together])
def test_each_template_is_split_into_reasoning_and_answer(dialect: Any, content: str) -> None:
    reply = dialect.reply(completion(content, completion_tokens_details={"reasoning_tokens": 0}), {})
    assert (reply.reasoning_text, reply.answer, reply.output_tokens) == ("Tea is calm.", "Calm", 74)
    assert reply.reasoning_tokens is None  # a 0 next to readable reasoning is no count


def test_ollama_without_think_is_split_too() -> None:
    reply = ollama.reply({"message": {"content": RAW["DeepSeek"]}, "eval_count": 9}, {})
    assert (reply.reasoning_text, reply.answer) == ("Tea is calm.", "Calm")


@pytest.mark.parametrize(
    "content", ["<think>\nTea is", "[THINK]Tea is", "<|channel|>analysis<|message|>Tea is", "◁think▷Tea is"]
)
def test_reasoning_that_was_cut_off_is_no_answer(content: str) -> None:
    assert split(content) == ("Tea is", "")


def test_no_reasoning_between_the_tags_is_none_and_not_an_empty_text() -> None:
    reply = chat_completions.reply(completion("<think>\n\n</think>\n\nCalm"), {})
    assert (reply.reasoning_text, reply.answer, reply.reasoning_tokens) == (None, "Calm", 64)


def test_what_the_server_has_split_itself_and_openais_own_answers_stay_as_they_are() -> None:
    said = completion("a </think> b")
    assert openai.reply(said, {}).answer == "a </think> b"
    said["choices"][0]["message"]["reasoning_content"] = "Hm."
    assert chat_completions.reply(said, {}).answer == "a </think> b"


@given(st.text(st.characters(codec="utf-8", exclude_characters="<[")).filter(lambda text: "assistantfinal" not in text))
def test_an_answer_without_marks_is_left_to_the_letter(content: str) -> None:
    assert split(content) is None
    assert split(f"<think>{content}</think>Calm") == (content.strip(), "Calm")


@pytest.mark.slow
def test_a_live_run_keeps_answer_and_reasoning_apart_and_the_reasoning_is_counted(tmp_path: Path) -> None:
    async def raw(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        if request.path == "/tokenize":
            return web.json_response({"tokens": body["content"].split()})
        said = completion(RAW["DeepSeek"])
        del said["usage"]["completion_tokens_details"]
        return web.json_response(said)

    study, db = str(write_tiny(tmp_path)), tmp_path / "a.duckdb"
    with LocalServer(raw) as server:
        collect(db, study, ["local/small"], base_url=server.base_url)
        recount_reasoning(db, base_url=server.base_url)
    columns = "outcome, answer, choice, reasoning_text, reasoning_tokens, reasoning_tokens_recounted, tokens"
    rows = rows_in(db, f"SELECT DISTINCT {columns} FROM trials")  # noqa: S608
    assert rows == [("answered", "Calm", "Calm", "Tea is calm.", None, 3, 74)]
    assert rows_in(db, "SELECT count(*) FROM attempts WHERE response LIKE '%</think>%'") == [(8,)]
