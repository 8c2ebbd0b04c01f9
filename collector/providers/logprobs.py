"""Read log-probabilities of all dialects into one shape. What can't be read is left out, never made up.

`collect --logprobs` merges a dialect's constant LOGPROBS into the body that it sends; a dialect without one gives none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from slant.collector.providers.exchange import Request
from slant.collector.records import Prompt, TokenLogprob, Trial
from slant.collector.study.records import StudyModel

MAX_LOGPROBS = 20  # the most that OpenAI, vLLM, Gemini and Ollama give


class DialectMadeFrom:
    """Pass on everything that a dialect does not do itself to the dialect that it wraps. It can be pickled."""

    def __init__(self, dialect: Any) -> None:
        self._dialect = dialect

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # asked of it by pickle, before it has a dialect
            raise AttributeError(name)
        return getattr(self._dialect, name)

    @property
    def made_from(self) -> Any:
        return self._dialect


class AskingLogprobs(DialectMadeFrom):
    """Ask for log-probabilities in every request; otherwise behave as the wrapped dialect."""

    def __init__(self, dialect: Any, settings: Mapping[str, Any]) -> None:
        super().__init__(dialect)
        self.LOGPROBS = settings

    def request(self, base_url: str, key: str | None, model: StudyModel, prompt: Prompt, trial: Trial) -> Request:
        sent: Request = self._dialect.request(base_url, key, model, prompt, trial)
        return replace(sent, body=merged(sent.body, self.LOGPROBS))


def merged(body: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return `body` with the additional settings; a setting that is a table or a list already is extended."""
    whole = dict(body)
    for name, value in settings.items():
        old = whole.get(name)
        if isinstance(value, Mapping) and isinstance(old, Mapping):
            whole[name] = {**old, **value}
        elif isinstance(value, list) and isinstance(old, list):
            whole[name] = [*old, *(item for item in value if item not in old)]
        else:
            whole[name] = value
    return whole


def read_tokens(entries: Any) -> tuple[TokenLogprob, ...]:
    """Read OpenAI's list (also vLLM's, llama.cpp's, Ollama's): `{token, logprob, top_logprobs: [{token, logprob}]}`."""
    if not isinstance(entries, list):
        return ()
    return _whole([_token(entry, _list(entry, "top_logprobs")) for entry in entries])


def read_columns(logprobs: Any) -> tuple[TokenLogprob, ...]:
    """Return the older shape in columns (Together): `{tokens: […], token_logprobs: […], top_logprobs: [{token:
    logprob}]}`.
    """
    tokens, numbers = _list(logprobs, "tokens"), _list(logprobs, "token_logprobs")
    likeliest = _list(logprobs, "top_logprobs") or [{}] * len(tokens)
    if not len(tokens) == len(numbers) == len(likeliest):
        return ()
    tokens_read = []
    for token, number, others in zip(tokens, numbers, likeliest, strict=True):
        listed = others.items() if isinstance(others, Mapping) else ()
        entry = {"token": token, "logprob": number}
        tokens_read.append(_token(entry, [{"token": name, "logprob": value} for name, value in listed]))
    return _whole(tokens_read)


def read_choice(choice: Any) -> tuple[TokenLogprob, ...]:
    """Read either shape from a completion's choice."""
    logprobs = choice.get("logprobs") if isinstance(choice, dict) else None
    if not isinstance(logprobs, dict):
        return ()
    return read_tokens(logprobs.get("content")) or read_columns(logprobs)


def read_gemini(result: Any) -> tuple[TokenLogprob, ...]:
    """Read Gemini's `logprobsResult`: the chosen candidates, and the top candidates at each position."""
    chosen, tops = _list(result, "chosenCandidates"), _list(result, "topCandidates")
    tops = tops or [{}] * len(chosen)
    if len(tops) != len(chosen):
        return ()
    pairs = zip(chosen, tops, strict=True)
    return _whole([_token(entry, _list(top, "candidates"), "logProbability") for entry, top in pairs])


def _token(entry: Any, likeliest: list[Any], name: str = "logprob") -> TokenLogprob | None:
    generated = _pair(entry, name)
    pairs = tuple(pair for other in likeliest if (pair := _pair(other, name)) is not None)
    return None if generated is None else TokenLogprob(*generated, pairs)


def _pair(entry: Any, name: str) -> tuple[str, float] | None:
    token, number = (entry.get("token"), entry.get(name)) if isinstance(entry, Mapping) else (None, None)
    if not isinstance(token, str) or isinstance(number, bool) or not isinstance(number, int | float):
        return None
    return (token, float(number)) if not math.isnan(number) and number <= 1e-6 else None


def _list(mapping: Any, name: str) -> list[Any]:
    value = mapping.get(name) if isinstance(mapping, Mapping) else None
    return value if isinstance(value, list) else []


def _whole(tokens: list[TokenLogprob | None]) -> tuple[TokenLogprob, ...]:
    """Return the tokens, or an empty tuple if one is missing: the sum along them would be wrong."""
    known = tuple(token for token in tokens if token is not None)
    return known if len(known) == len(tokens) else ()
