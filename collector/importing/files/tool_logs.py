"""Records of tools that ask models (and people): batch jobs of OpenAI, Anthropic, Gemini and Bedrock, providers'
responses as they came, Inspect, promptfoo, lm-evaluation-harness, jsPsych.

Each is recognised by the keys that it has; what we have a column for goes there, all else stays under its own name, so
that `--map` reaches it. A provider's response is read by its own dialect (collector/providers/).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from slant.collector.providers import anthropic, gemini, openai, openai_responses
from slant.collector.records import Reply
from slant.collector.system.json_text import json_or

Record = Mapping[str, Any]


class FailedAnswerError(ValueError):
    """Signal a record of a request that failed, which is no answer; its text completes the sentence "this row …"."""


def samples_of(document: Record) -> Iterable[Any] | None:
    """Return the records of a document that is the log of a tool; None if it is none that is known."""
    if isinstance(document.get("eval"), dict) and isinstance(document.get("samples"), list):
        return [with_header(document, sample) for sample in document["samples"]]
    results = document.get("results")
    if isinstance(results, dict) and isinstance(results.get("results"), list):  # promptfoo
        return list(results["results"])
    if isinstance(states := document.get("request_states"), list) and "adapter_spec" in document:  # HELM
        return states
    return None


def with_header(header: Record, sample: Any) -> Any:
    """Return a sample of Inspect with the name of the model of its log."""
    return {"eval": header.get("eval") or {}, **sample} if isinstance(sample, dict) else sample


def cells_of(record: Record) -> Record:
    """Return the cells of a record by our names and its own; FailedAnswerError if it says that a request failed."""
    for is_one, cells in _KINDS:
        if is_one(record):
            own = {name: value for name, value in record.items() if name not in _OF_TOOLS.get(cells.__name__, ())}
            return {**own, **{name: value for name, value in cells(record).items() if value is not None}}
    return record


def _openai_batch(record: Record) -> Record:
    response = record.get("response") or {}
    body = response.get("body") or {}
    error = record.get("error") or body.get("error")
    if error or response.get("status_code", 200) >= 400:
        raise FailedAnswerError(f"is a request that failed ({_said(error) or response.get('status_code')})")
    dialect = openai_responses if "output" in body else openai
    return _cells_of_reply(dialect.reply(body, {})) | {"model": body.get("model")}


def _anthropic_batch(record: Record) -> Record:
    result = record["result"]
    if result["type"] != "succeeded":
        error = result.get("error") or {}
        said = _said(error.get("error") or error)
        raise FailedAnswerError(f"is a request that failed ({': '.join(filter(None, (result['type'], said)))})")
    message = result["message"]
    return _cells_of_reply(anthropic.reply(message, {})) | {"model": message.get("model")}


def _is_gemini_batch(record: Record) -> bool:
    response, error = record.get("response"), record.get("error")
    is_answered = isinstance(response, dict) and not response.keys().isdisjoint(("candidates", "promptFeedback"))
    is_failed = isinstance(error or record.get("status"), dict | str)
    return is_answered or (is_failed and not record.keys().isdisjoint(("request", "key")))


def _gemini_batch(record: Record) -> Record:
    response = record.get("response")
    if not response or record.get("error"):
        raise FailedAnswerError(f"is a request that failed ({_said(record.get('error') or record.get('status'))})")
    return _cells_of_reply(gemini.reply(response, {})) | {"model": response.get("modelVersion")}


def _bedrock_batch(record: Record) -> Record:
    output = record.get("modelOutput")
    if not isinstance(output, dict) or record.get("error"):
        raise FailedAnswerError(f"is a request that failed ({_said(record.get('error'))})")
    if "choices" in output:
        return _cells_of_reply(openai.reply(output, {})) | {"model": output.get("model")}
    if isinstance(said := (output.get("output") or {}).get("message"), dict):  # the Converse API's form
        usage = output.get("usage") or {}
        content = [{"type": "text", **part} for part in said.get("content") or ()]
        output = {"content": content, "stop_reason": output.get("stopReason")} | {
            "usage": {"input_tokens": usage.get("inputTokens"), "output_tokens": usage.get("outputTokens")}
        }
    return _cells_of_reply(anthropic.reply(output, {})) | {"model": output.get("model")}


_RESPONSES: tuple[tuple[Callable[[Record], bool], Any], ...] = (
    (lambda r: r.get("object") == "chat.completion" and isinstance(r.get("choices"), list), openai),
    (lambda r: r.get("object") == "response" and isinstance(r.get("output"), list), openai_responses),
    (lambda r: r.get("type") == "message" and isinstance(r.get("content"), list) and "stop_reason" in r, anthropic),
    (lambda r: isinstance(r.get("candidates"), list) and "usageMetadata" in r, gemini),
)
"""What a provider's response is known by, if somebody kept it as it came, and the dialect that reads it."""


def _response(record: Record) -> Record:
    dialect = next(dialect for is_one, dialect in _RESPONSES if is_one(record))
    return _cells_of_reply(dialect.reply(record, {})) | {"model": record.get("model") or record.get("modelVersion")}


def _lm_eval(record: Record) -> Record:
    said = record["resps"]
    while isinstance(said, list) and said:
        said = said[0]
    if not isinstance(said, str):
        raise FailedAnswerError("is no text: probabilities of choices (resps of lm-evaluation-harness)")
    return _flat(record.get("doc"), record) | {"item": record["doc_id"], "answer": said}


def _helm(record: Record) -> Record:
    completions = record["result"].get("completions") or []
    if not completions:
        raise FailedAnswerError(f"is a request that failed ({_said(record['result'].get('error'))})")
    return {"item": record["instance"].get("id"), "model": record["request"].get("model")} | {
        "text": (record["instance"].get("input") or {}).get("text"),
        "answer": completions[0].get("text"),
    }


def _evals(record: Record) -> Record:
    """Return the answer of a sample of OpenAI's Evals; other events of a sample have none."""
    if record["type"] != "sampling":
        return {"sample_id": "", "answer": ""}
    sampled = record["data"].get("sampled")
    asked = record["data"].get("prompt")
    last = asked[-1] if isinstance(asked, list) and asked else asked
    return {
        "item": record["sample_id"],
        "text": last.get("content") if isinstance(last, dict) else last,
        "answer": sampled[0] if isinstance(sampled, list) and sampled else sampled or "",
    }


_INSPECT_OUTCOMES = {"max_tokens": "truncated", "model_length": "truncated", "content_filter": "filtered"}


def _inspect(record: Record) -> Record:
    output = record["output"]
    if error := record.get("error") or output.get("error"):
        raise FailedAnswerError(f"is a sample that failed ({_said(error)})")
    choice = (output.get("choices") or [{}])[0]
    content = (choice.get("message") or {}).get("content", output.get("completion"))
    usage = output.get("usage") or {}
    stop = choice.get("stop_reason")
    model = (record.get("eval") or {}).get("model") or output.get("model")
    return _flat(record.get("metadata"), record) | {
        "repetition": record["epoch"],
        "model": model,
        "served_model": output.get("model"),
        "answer": _texts(content, "text", "text"),
        "reasoning_text": _texts(content, "reasoning", "reasoning") if isinstance(content, list) else None,
        "outcome": _INSPECT_OUTCOMES.get(stop or ""),
        "finish_reason": stop,
        "input_tokens": usage.get("input_tokens"),
        "output_tokens": usage.get("output_tokens"),
        "reasoning_tokens": usage.get("reasoning_tokens"),
    }


def _promptfoo(record: Record) -> Record:
    response = record.get("response") or {}
    if not isinstance(response, dict):
        response = {"output": response}
    if error := response.get("error") or (record.get("error") if response.get("output") is None else None):
        raise FailedAnswerError(f"is a test that failed ({_said(error)})")
    usage = response.get("tokenUsage") or record.get("tokenUsage") or {}
    provider = record["provider"]
    named = provider.get("id") if isinstance(provider, dict) else provider
    output = response.get("output")
    prompt = record.get("prompt")
    own = {name: value for name, value in (record.get("metadata") or {}).items() if not name.startswith("_")}
    cells = {
        "model": _promptfoo_model(str(named or "")),
        "prompt_label": prompt.get("label") if isinstance(prompt, dict) else None,
        "latency_s": took_ms / 1000 if isinstance(took_ms := record.get("latencyMs"), int | float) else None,
        "answer": output if output is None or isinstance(output, str) else json.dumps(output, ensure_ascii=False),
        "input_tokens": usage.get("prompt"),
        "output_tokens": usage.get("completion"),
        "reasoning_tokens": (usage.get("completionDetails") or {}).get("reasoning"),
        "finish_reason": response.get("finishReason"),
        "outcome": {"length": "truncated", "content_filter": "filtered"}.get(response.get("finishReason") or ""),
        "cost_usd": response.get("cost", record.get("cost")),
    }
    return own | dict(record["vars"]) | cells


def _promptfoo_model(name: str) -> str:
    """Return slant's name of a promptfoo model: openai:chat:gpt-4o is openai/gpt-4o."""
    provider, *rest = name.split(":")
    if rest and rest[0] in ("chat", "completion", "responses", "messages"):
        rest = rest[1:]
    return f"{provider}/{':'.join(rest)}" if rest else name


def _jspsych(record: Record) -> Record:
    response = record.get("response")
    if isinstance(response, dict):  # of surveys: what was answered to each question
        response = next(iter(response.values())) if len(response) == 1 else json.dumps(response, ensure_ascii=False)
    elif isinstance(response, int) and isinstance(choices := record.get("choices"), list) and response < len(choices):
        response = choices[response]
    return {} if "answer" in record else {"answer": response}


def has_choices(columns: Iterable[str]) -> bool:
    """Return whether a CSV of jsPsych has the texts of its buttons (`save_trial_parameters: {choices: true}`)."""
    return {"trial_type", "response", "choices"} <= set(columns)


def with_chosen_text(cells: Record) -> Record:
    """Return the cells of a row of such a CSV with the text of the button in place of its number."""
    response, choices = cells.get("response"), cells.get("choices")
    if not (isinstance(response, str) and response.isdecimal() and isinstance(choices, str)):
        return cells
    texts = json_or(choices)
    is_one = isinstance(texts, list) and int(response) < len(texts) and isinstance(texts[int(response)], str)
    return {**cells, "response": texts[int(response)]} if is_one else cells


_OF_REPLIES = (
    "reasoning_text", "outcome", "detail", "finish_reason", "input_tokens", "output_tokens", "reasoning_tokens",
    "served_model", "fingerprint", "request_id",
)  # fmt: skip


def _cells_of_reply(reply: Reply) -> dict[str, Any]:
    return {"answer": reply.spoken, **{name: getattr(reply, name) for name in _OF_REPLIES}}


def _flat(cells: Any, record: Record) -> dict[str, Any]:
    """Return the cells of an inner table that have no name which the record has itself."""
    return {name: value for name, value in cells.items() if name not in record} if isinstance(cells, dict) else {}


def _texts(content: Any, kind: str, key: str) -> str | None:
    if isinstance(content, str):
        return content
    parts = [str(part.get(key) or "") for part in content or () if isinstance(part, dict) and part.get("type") == kind]
    return "\n".join(filter(None, parts)) or None


def _said(error: Any) -> str:
    names = ("message", "errorMessage", "type", "code")
    said = next((error[name] for name in names if error.get(name)), None) if isinstance(error, dict) else error
    return " ".join(str(said or "").split())[:120]


def _inner(record: Record, name: str) -> set[str]:
    """Return the keys of a table inside a record; none if it has no such table."""
    return set(inner) if isinstance(inner := record.get(name), dict) else set()


_KINDS: tuple[tuple[Callable[[Record], bool], Callable[[Record], Record]], ...] = (
    (
        lambda r: {"custom_id", "response"} <= r.keys() and ("error" in r or "body" in _inner(r, "response")),
        _openai_batch,
    ),
    (lambda r: "custom_id" in r and "type" in _inner(r, "result"), _anthropic_batch),
    (_is_gemini_batch, _gemini_batch),
    (lambda r: "recordId" in r and ("modelOutput" in r or "error" in r), _bedrock_batch),
    (lambda r: any(is_one(r) for is_one, _ in _RESPONSES), _response),
    (lambda r: "doc_id" in r and isinstance(r.get("resps"), list), _lm_eval),
    (lambda r: {"instance", "request"} <= r.keys() and isinstance(r.get("result"), dict), _helm),
    (
        lambda r: {"run_id", "event_id", "sample_id", "type"} <= r.keys() and isinstance(r.get("data"), dict),
        _evals,
    ),
    (lambda r: "epoch" in r and bool(_inner(r, "output") & {"choices", "model"}), _inspect),
    (lambda r: isinstance(r.get("vars"), dict) and {"provider", "response"} <= r.keys(), _promptfoo),
    (lambda r: "trial_type" in r and ("trial_index" in r or "time_elapsed" in r), _jspsych),
)
"""How a record of each tool is recognised, and what its cells are."""
_OF_PROMPTFOO = {
    "id", "cost", "error", "gradingResult", "latencyMs", "namedScores", "prompt", "promptId", "promptIdx", "response",
    "score", "success", "testCase", "testIdx", "failureReason", "metadata", "vars", "provider", "tokenUsage",
    "description", "pluginId",
}  # fmt: skip
"""What promptfoo notes of its own work, which is neither a factor nor an answer: marks, numbers of rows, times."""
_OF_TOOLS: Mapping[str, Collection[str]] = {
    "_promptfoo": _OF_PROMPTFOO,
    "_helm": ("instance", "request", "result"),
    "_evals": ("data", "run_id", "event_id"),
}
"""What a tool's records have for themselves, by the function that reads them."""
