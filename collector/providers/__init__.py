"""Who can be asked. A provider is one row: a dialect, an address, the variable that holds its key.

A dialect is a module with two pure functions and no network inside:
    request(base_url, key, model, prompt, trial) -> Request     what to send
    reply(body, headers) -> Reply                               what came back, read but not judged
and, where it gives log-probabilities, LOGPROBS, the settings that ask for them (collector/providers/logprobs.py); where
it can enforce the shape of an answer, structured_output() (collector/providers/structured.py); where it lets models
call tools, TAKES_TOOLS (collector/providers/tools.py); PROMPT_CACHE says how it is asked to cache a conversation.
A new provider of a known dialect costs one row here; a new dialect one file; other packages bring theirs through an
entry point (collector/system/third_party.py).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol
from urllib.parse import urlsplit

from slant.collector.errors import ProviderError, UnknownNameError, UsageError
from slant.collector.providers import (
    anthropic,
    compatible,
    deepseek,
    gemini,
    ollama,
    openai,
    openai_responses,
    openrouter,
    simulated,
    together,
)
from slant.collector.providers.exchange import Request
from slant.collector.providers.logprobs import AskingLogprobs
from slant.collector.providers.structured import Enforcing
from slant.collector.records import Prompt, Reply, Trial
from slant.collector.study.records import StudyModel
from slant.collector.system.third_party import load_third_party, third_party_names

GROUP = "slant.providers"


class Dialect(Protocol):
    def request(self, base_url: str, key: str | None, model: StudyModel, prompt: Prompt, trial: Trial) -> Request: ...

    def reply(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> Reply: ...


@dataclass(frozen=True, slots=True)
class Provider:
    """Where a provider lives and which environment variables hold its key and, if the user moves it, its address."""

    name: str
    dialect: Dialect
    base_url: str | None
    key_variable: str | None
    address_variable: str
    costs_money: bool = True

    def address(self, base_url: str | None = None) -> str | None:
        """The user's own `--base-url`, else the environment's, else the provider's usual one.

        A provider with a key takes no `--base-url`: the key belongs to its host, and one option serves all models.
        """
        own = base_url if self.key_variable is None else None
        return (own or os.environ.get(self.address_variable) or self.base_url or "").rstrip("/") or None

    def key(self) -> str | None:
        return (os.environ.get(self.key_variable) or "").strip() or None if self.key_variable else None

    @property
    def logprobs(self) -> Mapping[str, Any] | None:
        """The settings that ask for log-probabilities; None where there are none to be had."""
        return getattr(self.dialect, "LOGPROBS", None)

    @property
    def can_enforce(self) -> bool:
        """True where the provider can make every answer fit a schema."""
        return hasattr(self.dialect, "structured_output")

    @property
    def takes_tools(self) -> bool:
        """True where the provider lets a model answer by calling a tool."""
        return bool(getattr(self.dialect, "TAKES_TOOLS", False))

    @property
    def tools_need_reasoning(self) -> bool:
        """True where a call that goes back without what the model thought before it is refused."""
        return bool(getattr(self.dialect, "TOOLS_NEED_REASONING", False))

    def enforcing(self, schema: Mapping[str, Any]) -> Provider:
        """This provider, asked in every request to make the answer fit the schema."""
        return replace(self, dialect=Enforcing(self.dialect, schema))

    def asking_logprobs(self) -> Provider:
        """This provider, asked for log-probabilities in every request; unchanged where it gives none."""
        settings = self.logprobs
        return self if settings is None else replace(self, dialect=AskingLogprobs(self.dialect, settings))


_ROWS: tuple[tuple[str, Any, str | None, str | None, str, bool], ...] = (
    ("openai", openai, "https://api.openai.com/v1", "OPENAI_API_KEY", "OPENAI_BASE_URL", True),
    ("openai-responses", openai_responses, "https://api.openai.com/v1", "OPENAI_API_KEY", "OPENAI_BASE_URL", True),
    ("anthropic", anthropic, "https://api.anthropic.com", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", True),
    ("gemini", gemini, "https://generativelanguage.googleapis.com/v1beta", "GEMINI_API_KEY", "GEMINI_BASE_URL", True),
    ("deepseek", deepseek, "https://api.deepseek.com", "DEEPSEEK_API_KEY", "DEEPSEEK_BASE_URL", True),
    ("together", together, "https://api.together.xyz/v1", "TOGETHER_API_KEY", "TOGETHER_BASE_URL", True),
    ("openrouter", openrouter, "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", "OPENROUTER_BASE_URL", True),
    ("ollama", ollama, "http://localhost:11434", None, "OLLAMA_BASE_URL", False),
    ("local", compatible, None, None, "SLANT_LOCAL_BASE_URL", False),
    ("simulated", simulated, None, None, "SLANT_SIMULATED_BASE_URL", False),
)
PROVIDERS: dict[str, Provider] = {row[0]: Provider(*row) for row in _ROWS}


def provider_named(name: str) -> Provider:
    provider = PROVIDERS.get(name) or load_third_party(GROUP, name, Provider, ProviderError)
    if provider is None:
        known = [*PROVIDERS, *third_party_names(GROUP)]
        raise UnknownNameError("provider", name, known, "A model is written PROVIDER/NAME, as in openai/o3-mini.")
    return provider


def is_on_this_machine(url: str) -> bool:
    return urlsplit(url).hostname in {"localhost", "127.0.0.1", "::1"}


def checked_address(url: str, name: str) -> str:
    """The address, if a request can be sent to it; UsageError says what is wrong with it."""
    try:
        parts = urlsplit(url)
        is_one = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # half a bracket, or a port that can't be
        is_one = False
    if not is_one:
        raise UsageError(f'{name} is no address: "{url}".', "It is written like http://localhost:8080/v1")
    if parts.username or parts.password:
        raise UsageError(f"{name} must not hold a name or password: they would be stored with the run.")
    return url
