"""Read when models end: from a dated table (lifecycles.csv), and from what the provider itself says about a model.

A table of dates is out of date some day, so nothing is refused because of it. `how` is "gone" (requests fail) or
"routed" (another model answers them: `successor`); an empty `successor` means that the provider is not known to name
one. Sources: openai/types/shared/chat_model.py and anthropic/_data/deprecated_models.py, which a test compares, and the
providers' own pages.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from slant.collector.providers import Provider, is_on_this_machine
from slant.collector.system.shipped_files import csv_rows

_SAME = {"openai-responses": "openai"}
_SNAPSHOT = re.compile(r"-20\d\d-?[01]\d-?[0-3]\d$")
_PATIENCE_S = 5.0


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """Hold the end of one model: from the day `ends` on it is gone, or its requests are routed to `successor`."""

    model: str
    ends: date
    is_routed: bool
    successor: str | None
    source: str

    def sentence(self, name: str, today: date | None = None) -> str:
        """Return the warning to read before paying for a model; `name` as it was typed."""
        today = today or datetime.now(UTC).date()
        has_ended = self.ends <= today
        day = f"{self.ends.day} {self.ends:%B %Y}"
        if self.is_routed:
            verb, since = ("is", "since") if has_ended else ("will be", "from")
            what = f"{name} {verb} answered by {self.successor} {since} {day}"
            return f"{what}: such answers are another model's, and are excluded from all tables ({self.source})."
        rest = (self.ends - today).days
        when = "tomorrow" if rest == 1 else f"in {rest} days"
        what = f"{name} is gone since {day}" if has_ended else f"{name} goes on {day}, {when}"
        named = f" Its provider names {self.successor} as successor." if self.successor else ""
        return f"{what} ({self.source}).{named}"


@functools.cache
def lifecycles() -> Mapping[tuple[str, str], Lifecycle]:
    """Return the table, by provider and model."""
    known = {}
    for row in csv_rows(Path(__file__).with_name("lifecycles.csv")):
        day, is_routed, successor = date.fromisoformat(row["ends"]), row["how"] == "routed", row["successor"] or None
        known[row["provider"], row["model"]] = Lifecycle(row["model"], day, is_routed, successor, row["source"])
    return known


def lifecycle_of(provider: str, model: str) -> Lifecycle | None:
    """Return a model's end according to the table; a dated snapshot ends with its model, unless it has its own
    row.
    """
    known = lifecycles()
    for name in (model, _SNAPSHOT.sub("", model)):
        if found := known.get((_SAME.get(provider, provider), name)):
            return found
    return None


def follows(new: tuple[str, str], old: tuple[str, str]) -> bool:
    """Return True if a model (provider and name) has the name of an older one, but for the date of a snapshot, or is
    named as its successor."""
    names = [_SNAPSHOT.sub("", name) for _, name in (old, new)]
    end = lifecycle_of(*old)
    return (
        new[0] == old[0]
        and new[1] != old[1]
        and (names[0] == names[1] or (end is not None and end.successor in (new[1], names[1])))
    )


def asked_lifecycle(provider: Provider, model: str) -> Lifecycle | None:
    """Return a model's current end according to OpenAI (`Model.shutdown_date`) or Anthropic (`ModelInfo.lifecycle`,
    `retires_at`); None if it names no end, does not answer within five seconds, or has been moved to another address:
    there it is unknown who answers."""
    key, address = provider.key(), provider.address()
    if provider.is_own or provider.is_moved or key is None or address is None or is_on_this_machine(address):
        return None
    try:
        if provider.name in ("openai", "openai-responses"):
            import openai

            here = openai.DefaultHttpxClient(follow_redirects=False)  # a key stays with its host
            asked: dict[str, Any] = {"max_retries": 0, "timeout": _PATIENCE_S, "http_client": here}
            with openai.OpenAI(api_key=key, base_url=address, **asked) as client:
                return read_openai(client.models.retrieve(model).to_dict())
        if provider.name == "anthropic":
            import anthropic

            home = anthropic.DefaultHttpxClient(follow_redirects=False)
            options: dict[str, Any] = {"max_retries": 0, "timeout": _PATIENCE_S, "http_client": home}
            with anthropic.Anthropic(api_key=key, base_url=address, **options) as claude:
                return read_anthropic(claude.models.retrieve(model).to_dict())
    except Exception:  # a note is not worth losing a run
        return None
    return None


def read_openai(model: Mapping[str, Any]) -> Lifecycle | None:
    return _told(model, model.get("shutdown_date"), "OpenAI says so today")


def read_anthropic(model: Mapping[str, Any]) -> Lifecycle | None:
    """Return the reported end. A past date for a model that is only deprecated is overdue: the model still answers."""
    source = f"Anthropic says so today: {model.get('lifecycle')}"
    return None if model.get("lifecycle") == "active" else _told(model, model.get("retires_at"), source)


def _told(model: Mapping[str, Any], ends: Any, source: str) -> Lifecycle | None:
    try:
        day = date.fromisoformat(str(ends)[:10])
    except ValueError:
        return None
    return Lifecycle(str(model.get("id")), day, False, None, source)
