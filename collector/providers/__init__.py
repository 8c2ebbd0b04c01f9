"""List the providers that can be asked. A provider is one row: a dialect, an address, the variable that holds its key.

A dialect is a module with two pure functions and no network inside:
    request(base_url, key, model, prompt, trial) -> Request     say what to send
    reply(body, headers) -> Reply                               say what came back, read but not judged
If it gives log-probabilities, it also has LOGPROBS, the settings that ask for them (collector/providers/logprobs.py);
if it can enforce the shape of an answer, structured_output() (collector/providers/tools.py); if it lets models
call tools, TAKES_TOOLS (collector/providers/tools.py); if it shows no reasoning, HIDES_REASONING; if the temperature is
part of a table of settings, TEMPERATURE_INSIDE, the name of that table. PROMPT_CACHE says how it is asked to cache a
conversation. A new provider of a known dialect costs one row here, and a new dialect one file. Users describe theirs in
a provider file (collector/providers/own_providers.py), and other packages add theirs through an entry point
(collector/system/shipped_files.py).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol
from urllib.parse import urlsplit

from slant.collector.errors import ProviderError, UnknownNameError, UsageError
from slant.collector.example_models import EXAMPLE_MODEL
from slant.collector.providers import anthropic as anthropic
from slant.collector.providers import chat_completions as chat_completions
from slant.collector.providers import deepseek as deepseek
from slant.collector.providers import gemini as gemini
from slant.collector.providers import ollama as ollama
from slant.collector.providers import openai as openai
from slant.collector.providers import openai_responses as openai_responses
from slant.collector.providers import openrouter as openrouter
from slant.collector.providers import simulated as simulated
from slant.collector.providers import together as together
from slant.collector.providers.endings import with_own_endings
from slant.collector.providers.exchange import Request
from slant.collector.providers.logprobs import AskingLogprobs
from slant.collector.providers.own_providers import ProviderRow, own_rows, provider_file
from slant.collector.providers.own_providers import checked_address as checked_address
from slant.collector.providers.own_providers import is_on_this_machine as is_on_this_machine
from slant.collector.providers.services import Service, spoken_by
from slant.collector.providers.token_counts import without_false_zero
from slant.collector.providers.tools import Enforcing
from slant.collector.records import Prompt, Reply, Trial
from slant.collector.study.records import StudyModel
from slant.collector.system.shipped_files import load_third_party, third_party_names

GROUP = "slant.providers"


class Dialect(Protocol):
    def request(self, base_url: str, key: str | None, model: StudyModel, prompt: Prompt, trial: Trial) -> Request: ...

    def reply(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> Reply: ...


@dataclass(frozen=True, slots=True)
class Provider:
    """Hold where a provider lives and which environment variables hold its key and, if the user moves it, its address.

    A provider from the user's own file (`is_own`) has no `address_variable`: the file says where it lives. If the
    provider `needs_ending`, an answer without a finish reason does not count, as for all providers that ship with slant
    and have a key. `good_endings` are finish reasons that end a complete answer there, in addition to those of its
    dialect.
    """

    name: str
    dialect: Dialect
    base_url: str | None
    key_variable: str | None
    address_variable: str | None
    costs_money: bool = True
    good_endings: tuple[str, ...] = ()
    is_own: bool = False
    needs_ending: bool = False

    def address(self, base_url: str | None = None) -> str | None:
        """Return the user's own `--base-url`, else the environment's, else the provider's usual one.

        A provider with a key takes no `--base-url`: the key belongs to its host, and one option serves all models.
        """
        own = base_url if self.key_variable is None and not self.is_own else None
        moved = os.environ.get(self.address_variable) if self.address_variable else None
        return (own or moved or self.base_url or "").rstrip("/") or None

    @property
    def is_moved(self) -> bool:
        """Return True if the environment leads elsewhere than to the provider's usual address."""
        return self.base_url is not None and self.address() != self.base_url.rstrip("/")

    def key(self) -> str | None:
        return (os.environ.get(self.key_variable) or "").strip() or None if self.key_variable else None

    def reply(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> Reply:
        """Return the reply in a response, in the dialect of this provider and with its own endings."""
        reply = without_false_zero(self.dialect.reply(body, headers))
        return with_own_endings(reply, self.good_endings, takes_missing=not self.needs_ending)

    @property
    def logprobs(self) -> Mapping[str, Any] | None:
        """Return the settings that ask for log-probabilities; None if the provider gives none."""
        return getattr(self.dialect, "LOGPROBS", None)

    @property
    def can_enforce(self) -> bool:
        """Return True if the provider can make every answer fit a schema."""
        return hasattr(self.dialect, "structured_output")

    @property
    def takes_tools(self) -> bool:
        """Return True if the provider lets a model answer by calling a tool."""
        return bool(getattr(self.dialect, "TAKES_TOOLS", False))

    @property
    def hides_reasoning(self) -> bool:
        """Return True if the provider never shows a model's reasoning itself."""
        return bool(getattr(self.dialect, "HIDES_REASONING", False))

    @property
    def tools_need_reasoning(self) -> bool:
        """Return True if the provider refuses a tool result that comes back without the model's earlier thinking."""
        return bool(getattr(self.dialect, "TOOLS_NEED_REASONING", False))

    def enforcing(self, schema: Mapping[str, Any]) -> Provider:
        """Return this provider with an enforced schema."""
        return replace(self, dialect=Enforcing(self.dialect, schema))

    def asking_logprobs(self) -> Provider:
        """Return this provider with log-probabilities requested; unchanged if it gives none."""
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
    ("xai", Service(chat_completions, max_logprobs=8), "https://api.x.ai/v1", "XAI_API_KEY", "XAI_BASE_URL", True),
    (
        "mistral", Service(chat_completions, max_logprobs=0),
        "https://api.mistral.ai/v1", "MISTRAL_API_KEY", "MISTRAL_BASE_URL", True,
    ),
    (
        "groq", Service(chat_completions, max_logprobs=0),
        "https://api.groq.com/openai/v1", "GROQ_API_KEY", "GROQ_BASE_URL", True,
    ),
    (
        "qwen", Service(chat_completions, max_logprobs=5),  # DashScope; mainland China has another address and key
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "DASHSCOPE_API_KEY", "DASHSCOPE_BASE_URL", True,
    ),
    (
        "fireworks", Service(chat_completions, max_logprobs=5),
        "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY", "FIREWORKS_BASE_URL", True,
    ),
    ("cerebras", chat_completions, "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY", "CEREBRAS_BASE_URL", True),
    (
        "azure", Service(openai, key_header="api-key"),  # each resource has its own address: …/openai/v1
        None, "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_BASE_URL", True,
    ),
    ("ollama", ollama, "http://localhost:11434", None, "OLLAMA_BASE_URL", False),
    ("local", chat_completions, None, None, "SLANT_LOCAL_BASE_URL", False),
    ("simulated", simulated, None, None, "SLANT_SIMULATED_BASE_URL", False),
)  # fmt: skip
PROVIDERS: dict[str, Provider] = {row[0]: Provider(*row, needs_ending=row[3] is not None) for row in _ROWS}
_DIALECTS = {name: spoken_by(row.dialect) for name, row in PROVIDERS.items() if row.name != "simulated"} | {
    "chat-completions": chat_completions
}


_ALSO_CALLED = {
    "google": "gemini", "vertex": "gemini", "claude": "anthropic", "chatgpt": "openai", "gpt": "openai", "grok": "xai",
    "alibaba": "qwen", "dashscope": "qwen", "togetherai": "together", "mistralai": "mistral", "vllm": "local",
    "lmstudio": "local", "llamacpp": "local", "sglang": "local", "huggingface": "local",
}  # fmt: skip
"""Give the provider by which models are asked that people look for under another name."""


def provider_named(name: str) -> Provider:
    """Return the provider of this name: from slant, the user's file or a package, in that order; UnknownNameError if
    none has it."""
    if provider := PROVIDERS.get(name):
        return provider
    rows = own_rows(_DIALECTS)
    if row := rows.get(name):
        return _own(row)
    if provider := load_third_party(GROUP, name, Provider, ProviderError):
        return provider
    known = [*PROVIDERS, *rows, *third_party_names(GROUP)]
    here = _ALSO_CALLED.get(name.lower())
    hints = [f'Its models are asked by the provider "{here}".'] if here else []
    raise UnknownNameError("provider", name, known, *hints, f"A model is written PROVIDER/NAME, as in {EXAMPLE_MODEL}.")


def all_providers() -> list[Provider]:
    """Return slant's own providers and the user's; UsageError if that can't be read."""
    rows = own_rows(_DIALECTS)
    return [*PROVIDERS.values(), *(_own(row) for name, row in rows.items() if name not in PROVIDERS)]


def check_provider_file() -> None:
    """Raise UsageError if a provider file can't be read, or repeats the name or the key of another provider."""
    for row in own_rows(_DIALECTS).values():
        _own(row)


def _own(row: ProviderRow) -> Provider:
    file = provider_file()
    if row.name in PROVIDERS:
        raise UsageError(f'"{row.name}" in {file} is a provider that slant has itself: give yours another name.')
    for known in PROVIDERS.values():
        if row.key_variable == known.key_variable and not _is_at_home(row.address, known):
            raise UsageError(
                f'"{row.name}" in {file} would send the key in {row.key_variable} to {urlsplit(row.address).netloc}.',
                f"That key belongs to {known.name}. Put the key of your service into a variable of its own.",
            )
    dialect = _DIALECTS[row.dialect]
    if row.key_header or row.headers or row.query:
        dialect = Service(dialect, key_header=row.key_header, headers=row.headers, query=row.query)
    return Provider(
        row.name, dialect, row.address, row.key_variable, None, row.costs_money, row.good_endings, is_own=True
    )


def _is_at_home(address: str, provider: Provider) -> bool:
    """Return whether an address leads to a host of this provider (eu.api.openai.com belongs to api.openai.com)."""
    if provider.key_variable is None or provider.base_url is None:
        return True
    host, home = urlsplit(address).hostname or "", urlsplit(provider.base_url).hostname or ""
    return host == home or host.endswith(f".{home}")
