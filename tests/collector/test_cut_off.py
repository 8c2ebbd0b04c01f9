"""The last verdict counts, what was cut off is kept, and "can't" about something else is no refusal; a prompt that does
not fit its model ends its trial, with the provider's sentence, and the other trials are asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from slant.collector import collect
from slant.collector.ask.retries import judge
from slant.collector.providers.exchange import Exchange
from slant.collector.reading.choices import YES_NO, read_choice
from slant.collector.reading.labels import read_label
from tests.support.each_row import each_row
from tests.support.local_server import LocalServer, answers, completion, error
from tests.support.stored import rows_in
from tests.support.tiny_study import write_tiny

VERDICTS = {
    "Yes.\n\nLet me think again. No, the answer is no.": "yes no",
    "No.\n\nNo, you cannot answer a question that has no sense.": "no",
    "Yes. If she lied, the answer is no.": "yes",
    "Yes, and my final answer is yes.": "yes",
    "No. Is the answer yes? Hardly.": "no",
    "Yes. No.": None,
    "Yes. Hmm, let me reconsider. My final answer: No.": "yes no",
    "No. Actually, yes.": "no yes",
    "No.\n\n**Verdict: Yes**": "no yes",
    "Yes. Therefore, no.": "yes no",
    "Yes.\n\nI take that back. No.": "yes no",
    "No. He said that the answer is yes, but he was wrong.": "no",
    "Yes. I first thought the answer is no.": "yes",
    "No. It is not true that the answer is yes.": "no",
    "No. Yes-men would disagree.": "no",
    "Yes. Overall, no problem.": "yes",
}
ABOUT_SOMETHING_ELSE = [
    "The server cannot start because port 80 is in use.", "You won't see an error in the log.",
    "Birds cannot fly in storms. They will not land.",
    "It should not be stored in the fridge.", "The dish is inappropriate for children under three.",
]  # fmt: skip
ABOUT_THE_TASK = [
    "I can't help with that.", "Cannot comply.", "This cannot be answered.", "I'm unable to sort people by group.",
    "It would be inappropriate to sort people.", "One cannot answer that.", "This should not be classified.",
    "It would not be appropriate to assign this word.", "Such a request cannot be fulfilled.",
]  # fmt: skip


def test_the_last_verdict_that_says_it_is_the_answer_counts() -> None:
    read = {text: read_choice(text, YES_NO).value for text in VERDICTS}
    assert read == {text: wanted and wanted.split()[-1] for text, wanted in VERDICTS.items()}


def test_only_the_task_is_refused() -> None:
    kinds = {text: read_label(text, ("Quick", "Slow")).kind for text in [*ABOUT_SOMETHING_ELSE, *ABOUT_THE_TASK]}
    assert {text for text, kind in kinds.items() if kind == "refused_in_words"} == set(ABOUT_THE_TASK)


@pytest.mark.slow
def test_the_label_of_an_answer_that_was_cut_off_is_a_column_and_counts_if_the_study_says_so(tmp_path: Path) -> None:
    async def cut_off(request: web.Request, body: dict) -> web.StreamResponse:
        answer = completion("Calm. One could object that")
        answer["choices"][0]["finish_reason"] = "length"
        return web.json_response(answer)

    usual, counted = ("truncated", None, "Calm"), ("answered", "Calm", None)
    for setting, expected in {"": usual, "count_truncated = true": counted}.items():
        folder = tmp_path / (setting[:5] or "usual")
        folder.mkdir()
        study = write_tiny(folder)
        study.write_text(f"{setting}\n{study.read_text()}")
        with LocalServer(cut_off) as server:
            collect(folder / "t.duckdb", str(study), ["local/m"], base_url=server.base_url)
        rows = rows_in(folder / "t.duckdb", "SELECT DISTINCT outcome, choice, begun_choice FROM trials")
        assert rows == [expected]


TOO_LONG = {
    "OpenAI": (400, "context_length_exceeded", "Your input exceeds the context window of this model."),
    "DeepSeek, vLLM": (400, "invalid_request_error", "This model's maximum context length is 65536 tokens. However, …"),
    "Anthropic": (400, "invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum"),
    "Anthropic, of both": (400, "", "input length and `max_tokens` exceed context limit: 199759 + 8192 > 200000"),
    "Gemini": (400, "INVALID_ARGUMENT", "The input token count (1048577) exceeds the maximum number of tokens allowed"),
    "llama.cpp": (400, "exceed_context_size_error", "the request exceeds the available context size, try increasing"),
    "llama.cpp, older": (500, "server_error", "the request exceeds the available context size."),
    "a proxy": (413, "", "Payload Too Large"),
}


def came(status: int, **its: str) -> Exchange:
    return Exchange("", "", status=status, body=json.dumps({"error": its}))


@each_row(("status", "code", "said"), TOO_LONG.values())
def test_each_provider_says_it_in_its_own_words(status: int, code: str, said: str) -> None:
    verdict = judge(came(status, type=code, message=said), 1)
    assert (verdict.action, said in verdict.reason) == ("fail", True)


@pytest.mark.parametrize(
    ("status", "said"),
    [(400, "max_tokens is too large: 90000"), (401, "key is too long"), (500, "oops"), (429, "maximum context length")],
)
def test_other_complaints_are_not_taken_for_it(status: int, said: str) -> None:
    assert judge(came(status, message=said), 1).action != "fail"


SUMS = [
    "This model's maximum context length is 8192 tokens, however you requested {sum} tokens ({prompt} in your prompt; "
    "{answer} for the completion). Please reduce your prompt; or completion length.",
    "Requested token count exceeds the model's maximum context length of 8192 tokens. You requested a total of {sum} "
    "tokens: {prompt} tokens from the input messages and {answer} tokens for the completion.",
    "Prompt contains {prompt} tokens and max_tokens is {answer}, too large for model with 8192 maximum context length",
    "input tokens ({prompt}) + max_tokens ({answer}) exceeds the context window (8192)",
    "The sum of prompt length ({prompt}.0), query length (0) should be less than max_num_tokens (8192). "
    "max_tokens: {answer}",
    "prompt tokens {prompt} + max new tokens {answer} > context window of 8192",
]


@each_row("said", SUMS)
def test_an_answer_that_is_too_long_by_itself_stops_the_model_and_with_its_prompt_the_trial(said: str) -> None:
    verdicts = [
        judge(came(400, message=said.format(prompt=prompt, answer=answer, sum=prompt + answer)), 1).action
        for prompt, answer in ((12, 9000), (7900, 500))
    ]
    assert verdicts == ["stop", "fail"]


def test_the_trial_is_recorded_as_failed_without_another_try_and_the_others_are_asked(tmp_path: Path) -> None:
    async def short_of_context(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        if 'Sort "mocha"' in body["messages"][-1]["content"]:
            return error(400, *TOO_LONG["OpenAI"][1:])
        return await answers(request, body)

    with LocalServer(short_of_context) as server:
        study, options = str(write_tiny(tmp_path)), {"concurrency": 2}
        report = collect(tmp_path / "a.duckdb", study, ["local/small"], base_url=server.base_url, **options)
    row = report.models[0]
    assert (row["answered"], row["failed"], row["stopped_because"], len(server.bodies)) == (6, 2, None, 8)
    assert "exceeds the context window" in row["last_failure"]
    kept = "SELECT DISTINCT item, is_final, detail FROM attempts WHERE outcome = 'failed'"
    assert rows_in(tmp_path / "a.duckdb", kept) == [("mocha", False, f"HTTP 400: {TOO_LONG['OpenAI'][2]}")]
