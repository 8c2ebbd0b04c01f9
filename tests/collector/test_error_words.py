"""What an error means in the words of many providers and gateways: a row in no table names each of them alone. A code
decides only where it was documented, a sentence everywhere; a limit of a minute ends nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from slant.collector.ask.retries import judge
from slant.collector.providers.error_meanings import error_meaning, provider_error, speakers
from slant.collector.providers.exchange import Exchange
from tests.support.each_row import each_row

FILTERED = [
    "The prompt could not be submitted. This prompt contains sensitive words that violate Google's Responsible AI.",
    "Blocked by Model Armor Floor Setting: The prompt violated Prompt Injection and Jailbreak filters.",
    "Prompt blocked due to security configurations",
    "{'error': 'Violated guardrail policy', 'bedrock_guardrail_response': 'Sorry'}",
    "input content audit failed, suspected violation, please readjust input content",
    "输入内容审核不通过，涉嫌违规",
    "Your prompt triggered our moderation system",
    "Guardrail violation: category violence_and_threats",
    "The response was blocked due to safety. finishReason: SAFETY",
    "Text content failed the safety review",
    "Potential violation of usage policies: hate",
]
STOP = [
    "Sorry, your account balance is insufficient",
    "not enough balance",
    "用户额度不足, 剩余额度: $0.00",
    "该令牌额度已用尽",
    "The request failed because your account has an overdue balance.",
    "You have exceeded your monthly included credits for Inference Providers.",
    "Account suspended due to unpaid invoices",
    "Your API key has been revoked",
    "API key USER PROJECT has no access to model `x`",
    "You don't have access to the model with the specified model ID.",
    "The provided model identifier is invalid.",
    "Model Not Exist",
    "模型不存在",
    "Model x has reached its end of life on 2026-05-01",
    "Your free trial has expired",
    "This service is not available in your region",
    "max_tokens is too large: 50000. This model supports at most 16384 completion tokens.",
    "max_tokens (9000) exceeds the model's maximum output (8192)",
    "`max_tokens` must be at most 8192",
    "The value of max_new_tokens (9000) is greater than the model's context length 8192",
    "max output tokens may not exceed 8192",
    "maxOutputTokens must be in the range from 1 (inclusive) to 65537 (exclusive)",
    "max_completion_tokens exceeds limit: 16384 > 8192",
    "You have reached your specified workspace API usage limits.",
    "This request would exceed your organization's monthly spend limit",
    "Monthly limit exceeded for this key",
    "Your monthly quota has been used up",
]
TOO_LONG = [
    "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4310",
    "Input validation error: `inputs` must have less than 1024 tokens. Given: 1100",
    "Input Tokens Exceeded: Number of input tokens exceeds maximum length.",
    "the number of input tokens 5000 cannot exceed the total tokens limit 4096 for this model",
    "Prompt length 5000 is greater than max_seq_len 4096",
    "The estimated number of input and maximum output tokens (9000) exceeded this model context window limit (8000).",
    "the input token count is 33000 but model only supports up to 32768",
    "Requested input length 3000 exceeds maximum input length 2047",
    "Total tokens of image and text exceed max message tokens",
    "输入长度超过限制",
    "Request too large: 9000 tokens were sent, and 8000 are allowed",
    "The sum of prompt tokens and max_tokens must be less than the context length; reduce your prompt",
]
UNKNOWN = [
    "messages: at least one message is required",
    "The stop sequence list length exceeds 4",
    "roles must alternate user/assistant",
    "Invalid token in JSON at position 3",
    "Unsupported content type",
    "Requests must include a policy id",
]


def meaning(status: int, body: dict[str, Any]) -> str | None:
    found = error_meaning(provider_error(status, body))
    return found.means if found else None


@each_row("sentence", [*FILTERED, *STOP, *TOO_LONG, *UNKNOWN])
def test_an_error_is_read_by_the_words_that_providers_share(sentence: str) -> None:
    means = "filtered" if sentence in FILTERED else "stop" if sentence in STOP else "too_long"
    assert meaning(400, {"error": {"message": sentence}}) == (None if sentence in UNKNOWN else means)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (
            424,
            {
                "success": False,
                "errors": [{"code": 2017, "message": "Response blocked due to security configurations"}],
            },
        ),
        (446, {"error": {"message": "The guardrail checks defined in the config failed.", "type": "hooks_failed"}}),
        (500, {"code": "InternalError.Algo.DataInspectionFailed", "message": "…"}),
        (400, {"error_code": "BAD_REQUEST", "message": '{"finishReason": "input_guardrail_triggered"}'}),
    ],
)
def test_a_gateway_s_guardrail_is_a_filter(status: int, body: dict[str, Any]) -> None:
    assert meaning(status, body) == "filtered"


ACTIONS = {"fail": "too_long", "rejected": "decline"}


def meant(provider: str, address: str | None, model: str, status: int, body: Any) -> str:
    exchange = Exchange("", "", status=status, body=body if isinstance(body, str) else json.dumps(body))
    action = judge(exchange, 1, speakers(provider, address, model)).action
    return ACTIONS.get(action, action)


def test_each_error_is_read_as_those_who_said_it_mean_it() -> None:
    """The rows differ in who is asked (host, provider, model), in who is named by a gateway, and in the words."""
    rows = [json.loads(line) for line in (Path(__file__).parent / "errors_of_providers.jsonl").open(encoding="utf-8")]
    wrong = [(row, got) for row in rows if (got := meant(*list(row.values())[:5])) != row["means"]]
    assert wrong == []


def test_the_collected_errors_of_providers_and_gateways_are_read_as_expected(shared: Path) -> None:
    wrong = []
    for line in (shared / "cases" / "door4" / "errors.jsonl").read_text().splitlines():
        case = json.loads(line)
        wanted = case["expected"].replace("too long", "too_long").replace("fail", "too_long").replace(" or ", "/")
        if "?" not in wanted and (got := meant("local", None, "m", case["status"], case["body"])) not in wanted.split(
            "/"
        ):
            wrong.append((case["case"], wanted, got))
    assert wrong == []
