"""Read what an error says of a limit: of lengths, whether the answer's own limit (max_tokens) is more than the model
allows; of Google's quotas, whose span it is (a minute, a day, or nothing at all).
"""

from __future__ import annotations

import re
from typing import Literal

from slant.collector.system.patterns import lazy_pattern

_QUOTE = r"\\{0,6}['\"]"
_IDS = lazy_pattern(rf"(?:quotaId|quota_limit|quotaMetric|quota_metric){_QUOTE} ?: ?{_QUOTE}([\w./-]+)")
_METRICS = lazy_pattern(r"quota exceeded for (?:quota )?(?:metric:?|\S*googleapis\.com/)[^\n]{0,200}", re.IGNORECASE)
_ZERO = lazy_pattern(
    rf"(?:quotaValue|quota_limit_value){_QUOTE} ?: ?(?:{_QUOTE})?0(?![0-9.])|googleapis\.com/[\w/]+, limit: 0(?![0-9.])"
)
_DAY = lazy_pattern(r"per_?day|per day", re.IGNORECASE)
_MINUTE = lazy_pattern(r"per_?(?:minute|second)|per (?:minute|second)", re.IGNORECASE)
_EXHAUSTED = lazy_pattern(
    r"RESOURCE_EXHAUSTED|google\.rpc\.(?:RetryInfo|QuotaFailure)|ai\.google\.dev/gemini-api/docs/rate"
)
_SPENT = lazy_pattern(r"prepa(?:id|yment)|credits|spend", re.IGNORECASE)
_ANY = re.IGNORECASE | re.DOTALL
_NUMBER = r"[0-9][0-9,]{0,14}"
_MODEL = rf"(?:context (?:length|window|size|limit)|sequence length)(?: (?:is|of))?:?(?: only)? (?P<model>{_NUMBER})"
_OF_ANSWER = rf"max[_ ](?:(?:new|completion|output)[_ ])?tokens\W{{0,6}}(?:is |of )?(?P<answer>{_NUMBER})"
_SUMS = (
    # OpenAI, vLLM, DeepSeek, OpenRouter, SGLang: … (9 in the messages, 10000 in the completion)
    lazy_pattern(
        rf"{_MODEL}\b.*?\b(?P<answer>{_NUMBER}) (?:tokens )?(?:in|for|from|of) (?:the |your )?"
        r"(?:completion|output|generation|response)",
        _ANY,
    ),
    # vLLM: you requested 9000 output tokens and your prompt contains …
    lazy_pattern(rf"{_MODEL}\b.*?\brequested (?P<answer>{_NUMBER}) (?:output|completion|new) tokens", _ANY),
    # vLLM: 'max_tokens' is too large: 5000. This model's maximum context length is 4096
    lazy_pattern(rf"too large: (?P<answer>{_NUMBER})\b.*?{_MODEL}", _ANY),
    # text-generation-inference, Together: must be <= 8193. Given: 22 `inputs` tokens and 9000 `max_new_tokens`
    lazy_pattern(rf"must be <= ?(?P<model>{_NUMBER})\b.*?\b(?P<answer>{_NUMBER}) `?max_(?:new_)?tokens", _ANY),
    # Anthropic: 190000 + 21000 > 200000
    lazy_pattern(rf"{_NUMBER} \+ (?P<answer>{_NUMBER}) > (?P<model>{_NUMBER})"),
    # Together, Fireworks: max_tokens (9000) … context length (8193)
    lazy_pattern(
        rf"{_OF_ANSWER}\b.*?context (?:length|window|size|limit)\W{{0,6}}(?:is |of )?\(?(?P<model>{_NUMBER})", _ANY
    ),
    # Mistral: max_tokens is 9000, too large for model with 8192 maximum context length
    lazy_pattern(rf"{_OF_ANSWER}\b.*?\b(?P<model>{_NUMBER}) (?:tokens )?(?:maximum |max )?context\b", _ANY),
    # TensorRT-LLM: less than max_num_tokens (8192). max_tokens: 9000
    lazy_pattern(rf"max_num_tokens \((?P<model>{_NUMBER})\)\W.*?{_OF_ANSWER}", _ANY),
)


def answer_alone_is_too_long(sentence: str) -> bool:
    """Return whether a sentence says that the answer alone may get as long as the model's whole context.

    Then every request to this model is refused, whatever its prompt. A prompt that is too long together with that limit
    is a matter of its own trial.
    """
    for pattern in _SUMS:
        if found := pattern.search(sentence):
            return _whole(found["answer"]) >= _whole(found["model"])
    return False


def _whole(number: str) -> int:
    return int(number.replace(",", ""))


def stated_quota(body: str) -> Literal["stop", "day", "again"] | None:
    """Return the kind of quota of Google's that a body names; None if it names none. A limit of 0 is like a spent one:
    no wait makes room.

    Its sentence ("You exceeded your current quota, please check your plan and billing details") is the same for all of
    them, so the details decide: quotaId, a limit of 0, RetryInfo. Gateways hand them on as text within text, with
    quotation marks of any kind: the names are looked up in the whole body.
    """
    if not _EXHAUSTED.search(body) and not _METRICS.search(body):
        return None
    if _ZERO.search(body):
        return "stop"
    named = " ".join([*_IDS.findall(body), *(found[0] for found in _METRICS.finditer(body))])
    if _DAY.search(named):
        return "day"
    return None if _SPENT.search(body) and not _MINUTE.search(named) else "again"
