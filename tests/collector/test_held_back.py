"""What a filter holds back is an outcome of its trial, with its category; no single prompt ends a study."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from slant.collector import collect
from slant.collector.ask.retries import judge
from slant.collector.keep.database import reading
from slant.collector.providers.error_meanings import error_rows, provider_called, provider_error
from slant.collector.providers.exchange import Exchange
from tests.collector.test_providers import ANSWERS, PROVIDERS
from tests.support.each_row import each_row
from tests.support.local_server import LocalServer, standing_for
from tests.support.tiny_study import STIMULI, write_tiny

pytestmark = pytest.mark.usefixtures("keys_of_all")

WORDS = [f"tea{n}" for n in range(23)], [f"coffee{n}" for n in range(23)]
RAW = '{"error": {"message": "Content Exists Risk"}}'
BLOCKED = '{"error": {"message": "…", "type": "censorship_blocked"}}'
HELD_BACK: dict[str, tuple[str, int, dict[str, Any], str | None]] = {
    "deepseek": ("deepseek", 400, {"error": {"message": "Content Exists Risk", "type": "invalid_request_error"}}, None),
    "anthropic": (
        "anthropic", 400,
        {"type": "error", "error": {"type": "x", "message": "Output blocked by content filtering policy"}},
        "output",
    ),
    "openrouter": (
        "openrouter", 200,
        {"error": {"code": 403, "message": "Flagged", "metadata": {"reasons": ["violence"], "flagged_input": "…"}}},
        "violence",
    ),
    "openai": (
        "openai-responses", 200,
        {"status": "failed", "output": [], "model": "m", "error": {"code": "bio_policy", "message": "Held back."}},
        "bio",
    ),
    "xai": (
        "openai", 403,
        {"code": "permission-denied", "error": "Content violates usage guidelines. Check: SAFETY_CHECK_TYPE_BIO"},
        "bio",
    ),
    "gemini": ("gemini", 200, {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}, "PROHIBITED_CONTENT"),
}  # fmt: skip


def write_92(folder: Path) -> str:
    sides = [("group_a,Tea", WORDS[0]), ("group_b,Coffee", WORDS[1])]
    rows = [f"tea_coffee,{side},{word}" for side, words in sides for word in words]
    old = STIMULI[STIMULI.index("tea_coffee,group_a") : STIMULI.index("tea_coffee,attribute_a")]
    return str(write_tiny(folder, stimuli=(old, "\n".join(rows) + "\n")))


def is_held(asked: dict[str, Any]) -> bool:
    return any(f'Sort \\"{word}\\"' in json.dumps(asked) for word in ("tea7", "coffee2", "coffee9"))


@pytest.mark.slow
@pytest.mark.parametrize("whose", HELD_BACK)
def test_92_prompts_of_which_three_are_held_back_are_complete_in_one_call(whose: str, tmp_path: Path) -> None:
    provider, status, body, category = HELD_BACK[whose]
    good = json.loads(json.dumps(ANSWERS[PROVIDERS[provider].dialect]).replace("Career", "Calm"))

    async def filters(request: web.Request, asked: dict[str, Any]) -> web.StreamResponse:
        return web.json_response(body, status=status) if is_held(asked) else web.json_response(good)

    db = tmp_path / "a.duckdb"
    with LocalServer(filters) as server, standing_for(provider, server) as base_url:
        report = collect(db, write_92(tmp_path), [f"{provider}/m"], base_url=base_url, yes=True)
    held = sum(map(is_held, server.bodies))
    assert (report.is_complete, len(server.bodies), held) == (True, 92, 6)  # three words in two conditions
    with reading(db) as connection:
        counts = connection.sql("SELECT condition, n_trials, n_filtered, n_answered FROM outcome_counts").fetchall()
        told = connection.sql("SELECT condition, filter_category, n_trials FROM filter_categories").fetchall()
    assert [row[1:] for row in counts] == [(46, 3, 43)] * 2
    assert [row[1:] for row in told] == [(category, 3)] * 2


def came(status: int, body: dict[str, Any]) -> Exchange:
    return Exchange("", "", status=status, body=json.dumps(body))


@each_row(
    ("status", "body", "category"),
    [
        (400, {"detail": "Content Exists Risk"}, None),
        (400, {"error": {"code": "data_inspection_failed", "message": "…"}}, None),
        (400, {"error": {"code": "content_filter", "innererror": {"content_filter_result": {
            "hate": {"filtered": True}, "violence": {"filtered": True}, "sexual": {"filtered": False}}}}},
         "hate, violence"),
        (403, {"error": {"code": 403, "message": "…", "metadata": {"flagged_input": "…", "reasons": ["ill"]}}}, "ill"),
        (200, {"error": {"code": 403, "metadata": {"error_type": "content_policy_violation"}}}, None),
        (400, {"error": {"code": 400, "message": "Provider returned error", "metadata": {"raw": RAW}}}, None),
        (200, {"choices": [{"error": {"code": 400, "message": "…", "metadata": {"raw": RAW}}}]}, None),
        (200, {"base_resp": {"status_code": 1026, "status_msg": "input new_sensitive"}, "choices": None}, "input"),
        (200, {"error": {"code": 451, "message": "…", "metadata": {"raw": BLOCKED}}}, None),
        (422, {"type": "error", "error": {"type": "api_error", "message": "output new_sensitive (1027)"}}, "output"),
        (400, {"error": {"message": "It triggered Azure OpenAI's content management policy."}}, None),
        (400, {"detail": {"error": {"message": "Content Exists Risk"}}}, None),
        (400, {"errors": [{"message": "Content Exists Risk"}]}, None),
        (400, {"error": "Bad Request", "message": "Content Exists Risk"}, None),
        (400, {"error": {"type": "invalid_request_error", "details": {"message": "Content Exists Risk"}}}, None),
        (403, {"error": {"message": "Your prompt was blocked by our safety system."}}, None),  # no provider's own words
    ],
)  # fmt: skip
def test_each_filter_is_known_by_its_words(status: int, body: dict[str, Any], category: str | None) -> None:
    verdict = judge(came(status, body), 1)
    assert (verdict.action, verdict.category) == ("filtered", category)


@each_row(
    ("status", "body"),
    [
        (401, {"error": {"message": "Authentication fails."}}),
        (402, {"error": {"message": "Insufficient Balance"}}),
        (404, {"error": {"message": "The model `x` does not exist", "code": "model_not_found"}}),
        (400, {"error": {"message": "Your credit balance is too low to access the API."}}),
        (400, {"error": {"message": "Unsupported parameter: 'max_tokens'", "code": "unsupported_parameter"}}),
        (400, {"error": {"message": "temperature: Extra inputs are not permitted"}}),
        (400, {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "API key not valid. Please pass one.",
                         "details": [{"reason": "API_KEY_INVALID"}]}}),
        (403, {"code": "x", "error": "Your team has used all available credits or reached its spending limit."}),
        (200, {"status": "failed", "output": [], "error": {"code": "data_residency_mismatch"}}),
        (200, {"base_resp": {"status_code": 2049, "status_msg": "invalid api key"}, "choices": None}),
        (429, {"error": {"code": "1113", "message": "您的账户已欠费，请充值后重试"}}),
        (403, {"error": {"message": "Access terminated.", "type": "access_terminated_error"}}),
        (400, {"error": {"message": "`temperature` and `top_p` cannot both be specified for this model."}}),
        (400, {"code": "x", "error": "Argument not supported on this model: stop"}),
        (403, {"error": {"code": 403, "status": "PERMISSION_DENIED", "message": "Requests to this API are blocked.",
                         "details": [{"@type": "x", "reason": "API_KEY_SERVICE_BLOCKED"}]}}),
        (403, {"error": {"message": "…", "details": [{"reason": "CONSUMER_SUSPENDED"}]}}),
        (403, {"error": {"message": "Permission denied: Consumer 'api_key:x' has been suspended."}}),
        (403, {"error": {"message": "It has been disabled in this account for violation of Terms of Service."}}),
        (400, {"error": {"message": "This organization has been disabled.", "type": "invalid_request_error"}}),
        (400, {"error": {"message": "max_tokens (384000) exceeds model's maximum output tokens (65536)"}}),
    ],
)  # fmt: skip
def test_keys_models_parameters_and_accounts_stop_the_model_whatever_it_has_answered(
    status: int, body: dict[str, Any]
) -> None:
    assert judge(came(status, body), 1).action == "stop"


@pytest.mark.parametrize(
    "message",
    [
        "length of prompt_tokens (68957) must be less than max_seq_len (65536).",
        "max_total_tokens (33802) must be less than or equal to max_seq_len (32768)",
        "Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)",
        "It requires a sequence length of 4310, but the maximum supported sequence length is just 4096!",
        "Input length 203743 exceeds the maximum length 202752",
        "This model's maximum prompt length is 131072 but the request contains 136973 tokens.",
    ],
)
def test_a_prompt_that_does_not_fit_fails_alone_though_its_words_are_like_those_of_a_parameter(message: str) -> None:
    assert judge(came(400, {"error": {"message": message}}), 1).action == "fail"


@pytest.mark.parametrize("status", [424, 498, 499])
def test_a_provider_that_lacks_means_is_asked_again(status: int) -> None:
    assert judge(came(status, {"error": {"message": "Flex tier capacity exceeded"}}), 1).action == "again"


def test_a_request_that_is_larger_than_the_limit_of_a_minute_fails_for_it_can_never_fit() -> None:
    said = "Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 31000."
    body = {"error": {"message": said, "type": "tokens", "code": "rate_limit_exceeded"}}
    assert judge(came(429, body), 1).action == "fail"
    slow = {
        "error": {"message": "Rate limit reached for gpt-4o on tokens per min (TPM)", "code": "rate_limit_exceeded"}
    }
    assert judge(came(429, slow), 1).action == "again"


def test_a_bad_call_of_a_tool_is_the_models_own_answer() -> None:
    body = {
        "error": {"code": "tool_use_failed", "message": "Failed to call a function.", "failed_generation": "<f>Calm"}
    }
    verdict = judge(came(400, body), 1)
    assert (verdict.action, verdict.answer) == ("malformed", "<f>Calm")


@pytest.mark.parametrize("body", ['[{"error": {"message": "Content Exists Risk"}}]', "Content Exists Risk\n"])
def test_an_error_in_a_list_or_as_bare_text_is_read_as_well(body: str) -> None:
    assert judge(Exchange("", "", status=400, body=body), 1).action == "filtered"
    page = judge(Exchange("", "", status=400, body="<html>Content Exists Risk</html>"), 1)
    assert (page.action, page.reason) == ("decline", "HTTP 400")  # a web page is no provider's word


def test_every_row_of_the_table_has_a_source_and_a_date() -> None:
    for row in error_rows():
        assert all(row[name] for name in ("source", "date", "provider")), row
        assert row["code"] == row["code"].lower()
        assert row["code"] or row["pattern"] or row["field"] or row["status"] in ("446", "451"), row
        is_ambiguous = any(c.isdigit() or c.endswith("_policy") or c == "invalid_prompt" for c in row["code"].split())
        has_words = row["code"] or row["pattern"] or row["field"]
        assert row["decides"] == ("there" if is_ambiguous or not has_words else row["decides"]), row
        assert row["decides"] == "anywhere" or all(provider_called(name) for name in row["provider"].split(", ")), row


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["error", "code", "message", "metadata", "raw", "reasons", "detail"]), inner)
    ),
    max_leaves=10,
)


@given(st.dictionaries(st.sampled_from(["error", "detail", "base_resp", "choices", "code"]), json_values))
def test_an_error_of_any_shape_is_read_without_a_crash(body: dict[str, Any]) -> None:
    provider_error(400, body)
    assert judge(came(400, body), 1).action != "read"
    judge(came(200, body), 1)
