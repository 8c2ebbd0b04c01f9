"""Adapt a dialect to a service: the header of its key, more headers, a query, what it lacks.

Azure       the key in `api-key`; an `api-version` in the query of its older addresses
Groq        no log-probabilities: a request for them is refused
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from slant.collector.providers.exchange import Request
from slant.collector.providers.logprobs import MAX_LOGPROBS, DialectMadeFrom
from slant.collector.records import Prompt, Trial
from slant.collector.study.records import StudyModel


class Service(DialectMadeFrom):
    """Speak a dialect as one service does; otherwise behave as the wrapped dialect.

    `key_header` takes the key in place of the dialect's own header. `headers` and `query` are sent with every request.
    `max_logprobs`: how many alternatives may be asked for; 0 if a request for log-probabilities is refused.
    """

    def __init__(
        self,
        dialect: Any,
        *,
        key_header: str | None = None,
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
        max_logprobs: int = MAX_LOGPROBS,
    ) -> None:
        super().__init__(dialect)
        self._key_header, self._headers, self._query = key_header, dict(headers or {}), dict(query or {})
        self._max_logprobs = max_logprobs

    def __getattr__(self, name: str) -> Any:
        value = super().__getattr__(name)
        if name != "LOGPROBS":
            return value
        if not self._max_logprobs:
            raise AttributeError(name)
        return value | ({"top_logprobs": self._max_logprobs} if "top_logprobs" in value else {})

    def request(self, base_url: str, key: str | None, model: StudyModel, prompt: Prompt, trial: Trial) -> Request:
        sent: Request = self._dialect.request(base_url, None if self._key_header else key, model, prompt, trial)
        headers = {**sent.headers, **self._headers}
        if self._key_header and key:
            headers[self._key_header] = key
        url = f"{sent.url}?{urlencode(self._query)}" if self._query else sent.url
        return replace(sent, url=url, headers=headers)


def spoken_by(dialect: Any) -> Any:
    """Return the innermost dialect that this one wraps, or the dialect itself."""
    while isinstance(dialect, DialectMadeFrom):
        dialect = dialect.made_from
    return dialect
