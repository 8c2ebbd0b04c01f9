"""Read what an error of a provider means: a filter held the prompt back, the prompt does not fit, the model called a
tool wrongly, or there is a problem with the key, the account, the model or the parameters. One table serves all
providers (errors.csv), for gateways pass on the words of others; the first row that fits counts.

    means       filtered, malformed, too_long (these end one trial), stop, spent (no balance; both end the model),
                day (a limit of a day), again
    provider    whose words they are
    decides     "there": only in answers of these providers (`speakers`), as numbers, ambiguous words and
                unusual statuses must; "anywhere": sentences, and codes that say what they mean
    status      HTTP statuses, with blanks between them; none: any. An error inside a 200 has none, and fits any of
                them. At one that asks to come back (408, 409, 425, 429, 5xx) a row without a status counts only if it
                is about a filter, a spent balance or a limit, and its code decides anywhere
    code        codes with blanks between them: the error has one (code, type, status, reason), in any capitals
    pattern     a regular expression in the error's sentence; its group `category` is the category
    field       "code": the pattern is for the codes. Otherwise a path that the error must have: metadata.flagged_input
    category    what the filter held it back for, if the row says it and the error does not
    source, date    where that is documented or was seen, and when it was looked up

An error of 400, 403, 413 or 422 that is in no row is unknown: collector/ask/declined.py says what happens then.

Say whose words an error speaks: the providers whose documented codes and statuses it may be read by.

A number, an ambiguous word or an unusual status means something only where it was documented (errors.csv: `decides`
there): at the provider's own host; for an address that nobody knows (this machine, a laboratory's gateway), at the
provider that the model names; behind a gateway, if the error itself names the provider."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from slant.collector.providers.exchange import at, first_choice, tables
from slant.collector.system.json_text import json_or
from slant.collector.system.shipped_files import csv_rows

NOBODY: frozenset[str] = frozenset()
_HOSTS = {
    "openai.com": "openai", "openai.azure.com": "azure", "services.ai.azure.com": "azure",
    "cognitiveservices.azure.com": "azure", "models.inference.ai.azure.com": "azure", "models.github.ai": "azure",
    "githubcopilot.com": "github-copilot", "anthropic.com": "anthropic", "claude.com": "anthropic",
    "googleapis.com": "gemini", "ai.google.dev": "gemini", "mistral.ai": "mistral", "bigmodel.cn": "zhipu",
    "z.ai": "zhipu", "minimax.io": "minimax", "minimaxi.com": "minimax", "minimax.chat": "minimax",
    "moonshot.ai": "moonshot",
    "moonshot.cn": "moonshot", "kimi.com": "moonshot", "aliyuncs.com": "dashscope", "aliyun.com": "dashscope",
    "alibabacloud.com": "dashscope", "deepseek.com": "deepseek", "x.ai": "xai", "perplexity.ai": "perplexity",
    "openrouter.ai": "openrouter", "together.xyz": "together", "together.ai": "together",
    "fireworks.ai": "fireworks", "groq.com": "groq", "cerebras.ai": "cerebras", "databricks.com": "databricks",
    "azuredatabricks.net": "databricks", "cloudflare.com": "cloudflare", "huggingface.co": "huggingface",
    "volces.com": "volcengine", "byteplus.com": "volcengine", "bytepluses.com": "volcengine",
    "stepfun.com": "stepfun", "stepfun.ai": "stepfun", "siliconflow.cn": "siliconflow",
    "siliconflow.com": "siliconflow", "amazonaws.com": "bedrock", "baidubce.com": "qianfan", "portkey.ai": "portkey",
    "cohere.com": "cohere", "cohere.ai": "cohere", "sambanova.ai": "sambanova", "nvidia.com": "nvidia",
    "novita.ai": "novita", "ollama.com": "ollama",
}  # fmt: skip
_NAMES = {
    "openai-responses": "openai", "chatgpt": "openai", "azureopenai": "azure", "azureai": "azure",
    "claude": "anthropic", "google": "gemini", "googleaistudio": "gemini", "googlevertex": "gemini",
    "vertex": "gemini", "vertexai": "gemini", "vertexaibeta": "gemini", "mistralai": "mistral", "glm": "zhipu",
    "zai": "zhipu", "z.ai": "zhipu", "zhipuai": "zhipu", "bigmodel": "zhipu", "minimaxai": "minimax",
    "moonshotai": "moonshot", "kimi": "moonshot", "qwen": "dashscope", "alibaba": "dashscope",
    "alibabacloud": "dashscope", "aliyun": "dashscope", "bailian": "dashscope", "grok": "xai",
    "togetherai": "together", "fireworksai": "fireworks", "amazonbedrock": "bedrock", "aws": "bedrock",
    "doubao": "volcengine", "ark": "volcengine", "bytedance": "volcengine", "baidu": "qianfan", "stepai": "stepfun",
    "lmstudio": "lm-studio", "llamacpp": "llama.cpp", "wso2": "portkey",
}  # fmt: skip
_KNOWN = frozenset({*_HOSTS.values(), *_NAMES.values()})
_ALSO = {"azure": ("openai",)}  # the same models with the same codes
_OF_MODEL = re.compile(
    r"(?:(?P<openai>gpt-(?!oss)|o[134](?:-|$)|chatgpt)|(?P<zhipu>glm-)|(?P<minimax>minimax-|abab)|(?P<stepfun>step-)"
    r"|(?P<moonshot>kimi-|moonshot-)|(?P<volcengine>doubao-)|(?P<gemini>gemini-)|(?P<anthropic>claude-)"
    r"|(?P<mistral>mistral-|magistral-|ministral-)|(?P<deepseek>deepseek-)|(?P<xai>grok-))"
)
_EXCEPTION = re.compile(r"\b([A-Za-z]+?)(?:Chat|LLM|BadRequest|API)?(?:Exception|Error)\b(?= ?[-:])")


def speakers(provider: str, base_url: str | None = None, model: str = "") -> frozenset[str]:
    """Return the providers whose codes count in answers from an address, to requests of a provider for a model."""
    if at := _of_host(base_url):
        return _with_kin([at])
    if provider not in ("local", "ollama"):
        return _with_kin(filter(None, [provider_called(provider)]))
    prefix, _, name = model.lower().rpartition("/")
    if named := provider_called(prefix.partition("/")[0]) if prefix else None:
        return _with_kin([named])
    found = _OF_MODEL.match(name)
    return _with_kin([found.lastgroup]) if found and found.lastgroup else NOBODY


def provider_called(name: str) -> str | None:
    """Return a provider by any of its names; None if it is not known."""
    plain = re.sub(r"[^a-z0-9.]", "", name.lower())
    return next((known for key in (name.lower(), plain) if (known := _NAMES.get(key, key)) in _KNOWN), None)


def named_in(texts: Iterable[str], stated: Iterable[object]) -> frozenset[str]:
    """Return the providers that an error names: in a field for it (`stated`), or in a gateway's words ("AzureException
    - …", an address of its pages)."""
    names = [value for value in stated if isinstance(value, str)]
    hosts: list[str | None] = []
    for text in texts:
        names += (found[1] for found in _EXCEPTION.finditer(text))
        hosts += (_of_host(address) for address in re.findall(r"https?://[^\s\"'<>)]{4,200}", text))
    return _with_kin(filter(None, [*map(provider_called, names), *hosts]))


def _of_host(address: str | None) -> str | None:
    try:
        host = urlsplit(address or "").hostname or ""
    except ValueError:
        return None
    parts = host.split(".")
    ends = (".".join(parts[start:]) for start in range(len(parts) - 1))
    return next((_HOSTS[end] for end in ends if end in _HOSTS), None)


def _with_kin(names: Iterable[str]) -> frozenset[str]:
    return frozenset(each for name in names for each in (name, *_ALSO.get(name, ())))


Means = Literal["filtered", "malformed", "too_long", "stop", "spent", "day", "again"]
_EVEN_WHEN_BUSY = ("filtered", "spent", "day", "again")
MAX_READ = 4000
"""Limit how many characters of an error's sentence are searched."""
_LONGEST_CATEGORY = 80


@dataclass(frozen=True, slots=True)
class ProviderError:
    """Hold an error as a provider reported it: its HTTP status (None if it came inside a 200), all its codes in lower
    case, its sentence, the object that it came in, and the providers that it names."""

    status: int | None
    codes: tuple[str, ...]
    sentence: str
    error: Mapping[str, Any]
    named: frozenset[str] = NOBODY


@dataclass(frozen=True, slots=True)
class ErrorMeaning:
    """Hold what an error means and, for a filter, why it held the prompt back, if that was reported. `is_quota`: it is
    known from the names of Google's quotas, which for a limit of a day ask for waits of seconds."""

    means: Means
    category: str | None = None
    is_quota: bool = False


@dataclass(frozen=True, slots=True)
class _Row:
    means: Means
    there: frozenset[str] | None  # None: anywhere
    statuses: frozenset[int]
    codes: frozenset[str]
    pattern: re.Pattern[str] | None
    field: str
    category: str | None

    def match(self, error: ProviderError, speakers: frozenset[str]) -> ErrorMeaning | None:
        """Return this row's meaning of an error of these speakers; None if it does not fit."""
        if self.there is not None and self.there.isdisjoint(speakers):
            return None
        if self.statuses and error.status is not None and error.status not in self.statuses:
            return None
        if not self.statuses and is_busy(error.status) and not self._counts_when_busy:
            return None
        if error.status is None and not (self.codes or self.pattern or self.field):
            return None
        if error.status is None and self.pattern and not self.field and not error.sentence:
            return None
        if self.codes and self.codes.isdisjoint(error.codes):
            return None
        if self.field not in ("", "code") and not at(error.error, *self.field.split(".")):
            return None
        found = self._found(error)
        if self.pattern is not None and found is None:
            return None
        named = found.groupdict().get("category") if found else None
        means: Means = "stop" if self.means == "spent" else self.means
        return ErrorMeaning(means, _stated_category(error.error) or _shortened(named) or self.category)

    @property
    def _counts_when_busy(self) -> bool:
        return self.means in _EVEN_WHEN_BUSY and (self.there is None or not (self.codes or self.field))

    def _found(self, error: ProviderError) -> re.Match[str] | None:
        if self.pattern is None:
            return None
        texts = error.codes if self.field == "code" else (error.sentence,)
        return next((found for text in texts if (found := self.pattern.search(text))), None)


def is_busy(status: int | None) -> bool:
    """Return whether a status says that the same request may be answered later."""
    return status in (408, 409, 425, 429) or (status is not None and status >= 500)


def error_meaning(error: ProviderError, speakers: frozenset[str] = NOBODY) -> ErrorMeaning | None:
    """Return the table's meaning of an error in an answer of these providers; None if it is unknown."""
    speakers |= error.named
    return next((meaning for row in _rows() if (meaning := row.match(error, speakers))), None)


@cache
def _rows() -> tuple[_Row, ...]:
    return tuple(
        _Row(
            row["means"],  # type: ignore[arg-type]
            frozenset(row["provider"].split(", ")) if row["decides"] == "there" else None,
            frozenset(map(int, row["status"].split())),
            frozenset(row["code"].split()),
            re.compile(row["pattern"], re.IGNORECASE | re.DOTALL) if row["pattern"] else None,
            row["field"],
            row["category"] or None,
        )
        for row in error_rows()
    )


def error_rows() -> list[dict[str, str]]:
    """Return the rows of errors.csv."""
    return csv_rows(Path(__file__).parent / "errors.csv")


def provider_error(status: int | None, body: Mapping[str, Any] | str | None) -> ProviderError:
    """Return the error in a body, in any of its usual shapes; for a body that is not JSON, its text."""
    if isinstance(body, str):
        return ProviderError(status, (), " ".join(body[:MAX_READ].split()), {})
    body = body or {}
    # OpenRouter's error is inside the choice once the model had begun
    choice = first_choice(body)
    inner_error, outer = _innermost((choice.get("error") if choice is not None else None) or body)
    error: Mapping[str, Any] = inner_error if isinstance(inner_error, Mapping) else {}
    metadata: Mapping[str, Any] = next(
        (level["metadata"] for level in (error, *outer) if isinstance(level.get("metadata"), Mapping)), {}
    )
    raw = metadata.get("raw")  # what a gateway itself received
    inner = _decoded(raw)
    sentence = inner_error if isinstance(inner_error, str) else _sentence_of(error)
    longer = (
        _sentence_of(outer[-1]) if outer and isinstance(inner_error, str) else None
    )  # "error": "Bad Request", "message": …
    texts = (sentence or body.get("error_msg"), longer, _sentence_of(inner) or raw)
    levels = (error, inner, _decoded(sentence) if isinstance(sentence, str) else {}, *reversed(outer))
    said = " ".join(" ".join(str(text)[:MAX_READ].split()) for text in texts if text)
    codes = [*(code for level in levels for code in _codes(level)), *_QUOTED_CODE.findall(said)]
    stated = [value for level in (metadata, *levels) for name in _PROVIDER for value in [level.get(name)]]
    stated += ["minimax" for level in outer if "base_resp" in level]
    return ProviderError(
        status,
        tuple(dict.fromkeys(code.lower() for code in codes if code)),
        said,
        error or body,
        named_in([said], [*stated, *(code.removesuffix("_error") for code in codes if code.endswith("_error"))]),
    )


_PROVIDER = ("provider_name", "provider")  # fields in which gateways name who answered them
_QUOTED_CODE = re.compile(r"['\"](?:code|type|reason|finishReason)\\?['\"]: ?\\?['\"]?([\w.]{3,60})")


MAX_LEVELS = 6
_INNER = ("error", "detail", "details", "errors", "base_resp")
"""Return where the error is within a body, or within itself. FastAPI and many local servers use `detail`; old vLLM has
its message at the top."""


def _innermost(error: Any) -> tuple[Any, list[Mapping[str, Any]]]:
    """Return the innermost error (an object, or its sentence), and the objects that it came in, outermost
    first.
    """
    outer: list[Mapping[str, Any]] = []
    for _ in range(MAX_LEVELS):
        if isinstance(error, list):
            error = error[0] if error else None
        if not isinstance(error, Mapping) or (outer and _sentence_of(error)):
            break
        inner = next((error[name] for name in _INNER if error.get(name) and _may_say(error[name])), None)
        if inner is None:
            break
        outer.append(error)
        error = inner
    return error, outer


def _may_say(value: Any) -> bool:
    return isinstance(value, str | Mapping) or (isinstance(value, list) and isinstance(value[0], str | Mapping))


def _codes(error: Mapping[str, Any]) -> Iterable[str]:
    for name in ("code", "type", "status", "error_type", "error_code", "status_code"):
        yield _code(error.get(name))
    for name in ("metadata", "innererror"):
        yield from (_code(at(error, name, key)) for key in ("code", "error_type", "provider_code", "reason"))
    for listed in (error.get("details"), error.get("errors")):
        yield from (_code(detail.get("reason")) for detail in tables(listed))


def _code(value: Any) -> str:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _decoded(text: Any) -> Mapping[str, Any]:
    """Return the error in a text of JSON; empty if there is none."""
    value = json_or(text, {}) if isinstance(text, str) and text.lstrip()[:1] in ("{", "[") else text
    value = value[0] if isinstance(value, list) and value else value
    inner = value.get("error", value) if isinstance(value, Mapping) else {}
    return inner if isinstance(inner, Mapping) else {"message": inner}


def _sentence_of(error: Mapping[str, Any]) -> Any:
    return error.get("message") or error.get("msg") or error.get("status_msg")


def _stated_category(error: Mapping[str, Any]) -> str | None:
    """Return the categories that an error itself states: OpenRouter's reasons, Azure's results of its filter."""
    metadata, inner = error.get("metadata"), error.get("innererror")
    reasons = metadata.get("reasons") if isinstance(metadata, Mapping) else None
    if isinstance(reasons, list) and (stated := ", ".join(sorted(r for r in reasons if isinstance(r, str)))):
        return _shortened(stated)
    results = inner if isinstance(inner, Mapping) else error
    return filtered_categories(results.get("content_filter_result") or results.get("content_filter_results"))


def filtered_categories(results: Any) -> str | None:
    """Return the categories of Azure's filter results that held something back, in alphabetical order."""
    filtered = [
        str(name)
        for name, result in (results.items() if isinstance(results, Mapping) else ())
        if isinstance(result, Mapping) and result.get("filtered") is True
    ]
    return _shortened(", ".join(sorted(filtered)))


def _shortened(category: str | None) -> str | None:
    return " ".join(category.split())[:_LONGEST_CATEGORY].lower() or None if category else None
